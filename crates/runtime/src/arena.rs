//! Memory for the runtime's own structures: taken once, handed out in order, never given back.
//!
//! An execution ends with its process, or, in an in-process loop, with [`rewind`].

use crate::{Global, sys};

const SIZE: usize = 1 << 36;

static NEXT: Global<usize> = Global::new(0);
static START: Global<usize> = Global::new(0);

/// Zeroed, 16-byte aligned memory.
pub(crate) unsafe fn take(bytes: usize) -> *mut u8 {
    if START.get() == 0 {
        let memory = sys::reserve(0, SIZE) as usize;
        assert!(memory != 0);
        START.set(memory);
        NEXT.set(memory);
    }
    let at = NEXT.get();
    NEXT.set(at + ((bytes + 15) & !15));
    assert!(NEXT.get() < START.get() + SIZE);
    at as *mut u8
}

/// A mark for [`rewind`].
pub(crate) fn mark() -> usize {
    NEXT.get()
}

/// Forgets everything taken since the mark; the memory is zeroed again.
pub(crate) unsafe fn rewind(mark: usize) {
    let used = NEXT.get() - mark;
    if used == 0 {
        return;
    }
    const LARGE: usize = 1 << 20;
    if used > LARGE {
        let page = (mark + 4095) & !4095;
        core::ptr::write_bytes(mark as *mut u8, 0, page - mark);
        sys::discard(page, (NEXT.get() - page + 4095) & !4095);
    } else {
        core::ptr::write_bytes(mark as *mut u8, 0, used);
    }
    NEXT.set(mark);
}
