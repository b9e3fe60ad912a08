//! Cells whose bytes are accessed separately: two slots for each byte.

use super::{Access, BYTES, Cell, LISTS_SIZE, MASK, MASK_SHIFT, Slot, clock_of, look, push, replaceable, thread_of};
use crate::clock::RH_FAMILY;
use crate::{Global, sys};

/// Slots for each of the 4 bytes of a cell. A slot may occur at several bytes: those that its access touched.
#[repr(C)]
pub(super) struct Bytes {
    write: [Slot; 4],
    read: [Slot; 4],
}

/// Memory for them. Cells outlive an iteration of an in-process loop, and so must these.
#[unsafe(export_name = "RH_BYTES")]
#[unsafe(link_section = ".data.racehunter")]
static SLOTS: Global<*mut Bytes> = Global::new(core::ptr::null_mut());
#[unsafe(link_section = ".data.racehunter")]
static USED: Global<usize> = Global::new(0);
/// Free entries; the first word of each points to the next.
#[unsafe(link_section = ".data.racehunter")]
static SPARE: Global<*mut Bytes> = Global::new(core::ptr::null_mut());

pub(super) unsafe fn init() -> bool {
    SLOTS.set(sys::reserve(0, LISTS_SIZE) as *mut Bytes);
    !SLOTS.get().is_null()
}

/// Notes a plain access to a byte that has only this thread's own history.
#[inline(always)]
unsafe fn note_byte(bytes: *mut Bytes, byte: usize, me: Slot, is_write: bool) -> bool {
    let (write, read) = ((*bytes).write[byte], (*bytes).read[byte]);
    let same_epoch = |slot: Slot| (slot ^ me) >> 27 == 0;
    if same_epoch(write) || (!is_write && same_epoch(read)) {
        return true;
    }
    let family = RH_FAMILY.get();
    let is_past = |slot: Slot| clock_of(slot) <= *family.add(thread_of(slot).index());
    if !is_past(write) || !is_past(read) {
        return false;
    }
    if is_write {
        (*bytes).write[byte] = me;
        (*bytes).read[byte] = 0;
    } else {
        (*bytes).read[byte] = me;
    }
    true
}

/// The same for all bytes that the access touches.
#[inline(always)]
pub(super) unsafe fn note_some(cell: *mut Cell, me: Slot, is_write: bool) -> bool {
    let bytes = at((*cell).read);
    (0..4).all(|byte| me >> (MASK_SHIFT + byte) & 1 == 0 || note_byte(bytes, byte as usize, me, is_write))
}

/// The same for a whole cell.
#[inline(always)]
pub(super) unsafe fn note_all(cell: *mut Cell, me: Slot, is_write: bool) -> bool {
    let bytes = at((*cell).read);
    let Bytes { write, read } = *bytes;
    let same_epoch = |slot: Slot| (slot ^ me) >> 27 == 0;
    if (0..4).all(|byte| same_epoch(write[byte]) || (!is_write && same_epoch(read[byte]))) {
        return true;
    }
    let family = RH_FAMILY.get();
    let is_past = |slot: Slot| clock_of(slot) <= *family.add(thread_of(slot).index());
    if !(0..4).all(|byte| is_past(write[byte]) && is_past(read[byte])) {
        return false;
    }
    if is_write {
        *cell = Cell { write: me, read: 0 };
        give_back(bytes);
    } else {
        (*bytes).read = [me; 4];
    }
    true
}

/// Checks and notes an access to a cell with slots per byte. Returns false, without noting anything, if the slots are
/// not enough.
pub(super) unsafe fn check(cell: *mut Cell, address: usize, me: Slot, is_write: bool, access: &Access) -> bool {
    let bytes = at((*cell).read);
    let touched = (0..4).filter(|byte| me >> (MASK_SHIFT + byte) & 1 != 0).map(|byte| byte as usize);
    // The same epoch, and both atomic or both not.
    let same_epoch = |slot: Slot| (slot ^ me) >> 27 == 0;
    let known = |byte: usize| same_epoch((*bytes).write[byte]) || (!is_write && same_epoch((*bytes).read[byte]));
    if touched.clone().all(known) {
        return true;
    }
    for byte in touched.clone() {
        look(address, (*bytes).write[byte], true, me, is_write, access);
        look(address, (*bytes).read[byte], false, me, is_write, access);
    }
    note(cell, me, is_write)
}

/// Stores the access in the slots of its bytes. Returns false, without changing anything, if the slots are not enough.
pub(super) unsafe fn note(cell: *mut Cell, me: Slot, is_write: bool) -> bool {
    let bytes = at((*cell).read);
    let touched = (0..4).filter(|byte| me >> (MASK_SHIFT + byte) & 1 != 0).map(|byte| byte as usize);
    let enough =
        |byte: usize| replaceable(me, (*bytes).read[byte]) && (!is_write || replaceable(me, (*bytes).write[byte]));
    if !touched.clone().all(enough) {
        return false;
    }
    if is_write && me & MASK == MASK {
        // One access to the whole cell, and nothing else to remember.
        *cell = Cell { write: me, read: 0 };
        give_back(bytes);
        return true;
    }
    for byte in touched {
        if is_write {
            (*bytes).write[byte] = me;
            (*bytes).read[byte] = 0;
        } else {
            (*bytes).read[byte] = me;
        }
    }
    true
}

pub(super) unsafe fn give_back(bytes: *mut Bytes) {
    (*bytes).write[0] = SPARE.get() as u64;
    SPARE.set(bytes);
}

pub(super) unsafe fn at(tag: Slot) -> *mut Bytes {
    SLOTS.get().add((tag & !BYTES) as usize)
}

/// Gives the cell, which has two slots, slots for each byte.
pub(super) unsafe fn split(cell: *mut Cell) {
    let mut bytes = SPARE.get();
    if bytes.is_null() {
        bytes = SLOTS.get().add(USED.get());
        USED.set(USED.get() + 1);
        assert!(USED.get() * size_of::<Bytes>() < LISTS_SIZE);
    } else {
        SPARE.set((*bytes).write[0] as *mut Bytes);
    }
    let spread = |slot: Slot, byte: u32| if slot >> (MASK_SHIFT + byte) & 1 != 0 { slot } else { 0 };
    for byte in 0..4 {
        (*bytes).write[byte as usize] = spread((*cell).write, byte);
        (*bytes).read[byte as usize] = spread((*cell).read, byte);
    }
    *cell = Cell { write: 0, read: BYTES | bytes.offset_from(SLOTS.get()) as u64 };
}

/// Moves everything into a list, because slots per byte are no longer enough.
pub(super) unsafe fn to_list(cell: *mut Cell) {
    let bytes = at((*cell).read);
    *cell = Cell { write: 0, read: 0 };
    for (slots, is_write) in [((*bytes).write, true), ((*bytes).read, false)] {
        let mut last = 0;
        for slot in slots {
            if slot != 0 && slot != last {
                push(cell, slot, is_write);
                last = slot;
            }
        }
    }
    give_back(bytes);
}

/// Returns whether one of the recorded accesses satisfies the predicate.
pub(super) unsafe fn any(tag: Slot, is: impl Fn(Slot) -> bool) -> bool {
    let Bytes { write, read } = *at(tag);
    write.into_iter().chain(read).any(is)
}
