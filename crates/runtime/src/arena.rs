//! Memory for the runtime's own structures: allocated once, handed out in order, never freed.
//!
//! An execution ends with its process, or, in an in-process loop, with [`rewind`].

#![deny(unsafe_op_in_unsafe_fn)]

use crate::{Global, sys};

const SIZE: usize = 1 << 36;

#[unsafe(link_section = ".data.racehunter")]
static NEXT: Global<usize> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
static START: Global<usize> = Global::new(0);

#[unsafe(link_section = ".data.racehunter")]
static LASTING: Global<usize> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
static LASTING_END: Global<usize> = Global::new(0);

/// Returns zeroed, 16-byte aligned memory.
pub(crate) unsafe fn take(bytes: usize) -> *mut u8 {
    if START.get() == 0 {
        // SAFETY: new memory, wherever there is room.
        let memory = unsafe { sys::reserve(0, SIZE) } as usize;
        assert!(memory != 0);
        START.set(memory);
        NEXT.set(memory);
    }
    let at = NEXT.get();
    NEXT.set(at + ((bytes + 15) & !15));
    assert!(NEXT.get() < START.get() + SIZE);
    at as *mut u8
}

/// Returns zeroed memory that [`rewind`] does not touch.
pub(crate) unsafe fn take_lasting(bytes: usize) -> *mut u8 {
    const CHUNK: usize = 1 << 20;
    if LASTING.get() + bytes > LASTING_END.get() {
        let size = bytes.max(CHUNK);
        // SAFETY: as above.
        LASTING.set(unsafe { sys::reserve(0, size) } as usize);
        assert!(LASTING.get() != 0);
        LASTING_END.set(LASTING.get() + size);
    }
    let at = LASTING.get();
    LASTING.set(at + ((bytes + 15) & !15));
    at as *mut u8
}

/// Returns whether an address belongs to the runtime.
pub(crate) fn is_own(address: usize) -> bool {
    address.wrapping_sub(START.get()) < SIZE && START.get() != 0
}

/// Returns a mark for [`rewind`].
pub(crate) fn mark() -> usize {
    NEXT.get()
}

/// Frees everything allocated since the mark, and zeroes the memory.
pub(crate) unsafe fn rewind(mark: usize) {
    let used = NEXT.get() - mark;
    if used == 0 {
        return;
    }
    const LARGE: usize = 1 << 20;
    if used > LARGE {
        let page = (mark + 4095) & !4095;
        // SAFETY: the arena's own memory, which the caller no longer uses.
        unsafe {
            core::ptr::write_bytes(mark as *mut u8, 0, page - mark);
            sys::discard(page, (NEXT.get() - page + 4095) & !4095);
        }
    } else {
        // SAFETY: as above.
        unsafe { core::ptr::write_bytes(mark as *mut u8, 0, used) };
    }
    NEXT.set(mark);
}
