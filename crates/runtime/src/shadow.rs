//! The happens-before detector (FastTrack), on shadow memory.
//!
//! Every 8 bytes of the program's memory have a [`Cell`] of 32 bytes: the last write and the last read, each as an
//! epoch and the code address of the access. An epoch has, from the top: the thread's clock (40 bits), its number (15),
//! whether the access was atomic (1), and which of the 8 bytes it touched (8).
//!
//! Two epochs are not always enough: concurrent readers, accesses to different bytes, atomics mixed with plain
//! accesses. Then the read half becomes the head of a list that holds every access that is not yet covered by a later
//! one, and nothing is lost. Its epoch is [`LIST`], which looks like that of another thread to everyone: the fast path in
//! [`crate::hooks`] needs no check of its own for it.

use crate::clock::{RH_DETECT, RH_EPOCH};
use crate::thread::{CURRENT, current};
use crate::{Global, arena, log, outcome, schedule, server, sys};
use racehunter_event::control::{FLAG_STOP_AT_RACE, OUTCOME_RACE, SITE_POINT};
use racehunter_event::{Kind, Record};

/// Shadow of 8 bytes.
#[repr(C)]
pub(crate) struct Cell {
    write: u64,
    read: u64,
    write_code: usize,
    /// Code address of the read, or the list.
    read_code: usize,
}

#[repr(C)]
struct Entry {
    epoch: u64,
    code: usize,
    is_write: bool,
    next: *mut Entry,
}

const ATOMIC: u64 = 1 << 8;
const MASK: u64 = 0xff;
/// In place of an epoch: the other half is a list. No thread has this number or clock, and no access an empty mask.
const LIST: u64 = !0 << 9;

/// Added to the scaled low 44 bits of an address.
#[unsafe(no_mangle)]
pub(crate) static RH_SHADOW: Global<usize> = Global::new(BASE);
const BASE: usize = 0x1000_0000_0000;
const SIZE: usize = 0x4000_0000_0000;
/// Bits of an address that select its shadow. The executable, the heap, libraries and stacks differ in them.
const ADDRESS_BITS: u32 = 44;

/// Entries that lists have given back.
static SPARE: Global<*mut Entry> = Global::new(core::ptr::null_mut());

/// Pairs of places whose race was already logged in this execution.
static SEEN: Global<[(usize, usize); SEEN_PAIRS]> = Global::new([(0, 0); SEEN_PAIRS]);
const SEEN_PAIRS: usize = 256;

/// An access to check.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub kind: Kind,
    pub code: usize,
    /// The site's flag byte, or null.
    pub site: *mut u8,
}

pub(crate) unsafe fn init() -> bool {
    !sys::reserve(BASE, SIZE).is_null()
}

/// Forgets the lists and what was reported, for the next iteration of an in-process loop. Cells stay: their epochs
/// are in the past of everything.
pub(crate) unsafe fn reset() {
    SPARE.set(core::ptr::null_mut());
    core::ptr::write_bytes(SEEN.ptr(), 0, 1);
}

#[inline(always)]
fn cell_of(address: usize) -> *mut Cell {
    (BASE + ((address << (64 - ADDRESS_BITS)) >> (64 - ADDRESS_BITS - 2) & !31)) as *mut Cell
}

#[inline(always)]
fn thread_of(epoch: u64) -> u32 {
    (epoch >> 9) as u32 & 0x7fff
}

/// The access happened before everything that the running thread does now.
#[inline(always)]
unsafe fn is_ordered(epoch: u64) -> bool {
    (epoch >> 24) <= u64::from(*(*current()).clock.add(thread_of(epoch) as usize))
}

/// Checks and notes an access of `size` bytes.
pub(crate) unsafe fn check(address: usize, size: usize, access: Access) {
    if RH_DETECT.get() == 0 || size == 0 {
        return;
    }
    let end = address + size;
    let mut at = address;
    while at < end {
        let in_cell = (end - at).min(8 - (at & 7));
        let mask = ((1_u64 << in_cell) - 1) << (at & 7);
        check_cell(at, mask, access);
        at += in_cell;
    }
}

unsafe fn check_cell(address: usize, mask: u64, access: Access) {
    let cell = cell_of(address);
    let atomic = access.kind.is_atomic();
    let is_write = access.kind.is_write();
    let me = RH_EPOCH.get() | mask | if atomic { ATOMIC } else { 0 };
    if (*cell).write == me || (!is_write && (*cell).read == me) {
        return;
    }
    let mut shared = false;
    let mut look = |epoch: u64, code: usize, was_write: bool| {
        if epoch & mask != 0 && (is_write || was_write) && thread_of(epoch) != CURRENT.get() {
            shared |= epoch >> 24 > u64::from(*(*current()).family.add(thread_of(epoch) as usize));
            if !(atomic && epoch & ATOMIC != 0) && !is_ordered(epoch) {
                race(address, (epoch, code, was_write), mask, access);
            }
        }
    };
    look((*cell).write, (*cell).write_code, true);
    if (*cell).read == LIST {
        let mut entry = (*cell).read_code as *mut Entry;
        while !entry.is_null() {
            look((*entry).epoch, (*entry).code, (*entry).is_write);
            entry = (*entry).next;
        }
    } else {
        look((*cell).read, (*cell).read_code, false);
    }
    if shared {
        note_shared(address, access);
    }
    note(cell, me, is_write, access.code);
}

/// Whether a later access by the running thread makes the old one unnecessary: whoever races with the old one races
/// with the new one too.
unsafe fn covers(me: u64, is_write: bool, old: u64, was_write: bool) -> bool {
    old == 0
        || (old & MASK & !me == 0
            && (is_write || !was_write)
            && (me & ATOMIC == 0 || old & ATOMIC != 0)
            && is_ordered(old))
}

/// Stores the access, keeping every earlier one that it does not cover.
unsafe fn note(cell: *mut Cell, me: u64, is_write: bool, code: usize) {
    let is_list = (*cell).read == LIST;
    if is_list {
        prune(cell, me, is_write);
    }
    let is_list = (*cell).read == LIST;
    if is_write {
        if !covers(me, true, (*cell).write, true) {
            push(cell, (*cell).write, (*cell).write_code, true);
        }
        if (*cell).read != LIST && covers(me, true, (*cell).read, false) {
            (*cell).read = 0;
            (*cell).read_code = 0;
        }
        (*cell).write = me;
        (*cell).write_code = code;
    } else if is_list {
        push(cell, me, code, false);
    } else if covers(me, false, (*cell).read, false) {
        (*cell).read = me;
        (*cell).read_code = code;
    } else {
        push(cell, me, code, false);
    }
}

/// Adds an access to the cell's list, which begins with the single read if there was none.
unsafe fn push(cell: *mut Cell, epoch: u64, code: usize, is_write: bool) {
    if (*cell).read != LIST {
        let (read, read_code) = ((*cell).read, (*cell).read_code);
        (*cell).read = LIST;
        (*cell).read_code = 0;
        if read != 0 {
            push(cell, read, read_code, false);
        }
    }
    let mut entry = SPARE.get();
    if entry.is_null() {
        entry = arena::take(size_of::<Entry>()) as *mut Entry;
    } else {
        SPARE.set((*entry).next);
    }
    *entry = Entry { epoch, code, is_write, next: (*cell).read_code as *mut Entry };
    (*cell).read_code = entry as usize;
}

/// Removes from the list what the access covers; an empty list becomes "no read".
unsafe fn prune(cell: *mut Cell, me: u64, is_write: bool) {
    let mut link = &raw mut (*cell).read_code as *mut *mut Entry;
    while !(*link).is_null() {
        let entry = *link;
        if covers(me, is_write, (*entry).epoch, (*entry).is_write) {
            *link = (*entry).next;
            (*entry).next = SPARE.get();
            SPARE.set(entry);
        } else {
            link = &raw mut (*entry).next;
        }
    }
    if (*cell).read_code == 0 {
        (*cell).read = 0;
    }
}

#[cold]
unsafe fn race(address: usize, (epoch, code, was_write): (u64, usize, bool), mask: u64, access: Access) {
    if !schedule::running() {
        return;
    }
    let slot = server::slot();
    (*slot).races += 1;
    let pair = (code.min(access.code), code.max(access.code));
    let seen = &mut *SEEN.ptr();
    let mut at = (pair.0 ^ pair.1.rotate_left(7)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    for _ in 0..SEEN_PAIRS {
        if seen[at] == pair {
            return;
        }
        if seen[at] == (0, 0) {
            break;
        }
        at = (at + 1) % SEEN_PAIRS;
    }
    seen[at] = pair;
    let first_kind = match (was_write, epoch & ATOMIC != 0) {
        (true, true) => Kind::AtomicWrite,
        (true, false) => Kind::Write,
        (false, true) => Kind::AtomicRead,
        (false, false) => Kind::Read,
    };
    let both = epoch & mask & MASK;
    let object = (address & !7) as u64 + u64::from(both.trailing_zeros());
    log::put(Record {
        index: schedule::now(),
        code: log::relative(code),
        object,
        thread: thread_of(epoch),
        kind: Kind::RaceFirst,
        size: (epoch & MASK).count_ones() as u8,
        detail: first_kind as u8,
        ..Record::default()
    });
    let t = current();
    (*t).code = access.code;
    log::put(Record {
        index: schedule::now(),
        code: log::relative(access.code),
        object,
        thread: CURRENT.get(),
        stack: log::stack_of(t),
        kind: Kind::RaceSecond,
        size: mask.count_ones() as u8,
        detail: access.kind as u8,
        ..Record::default()
    });
    if schedule::flags() & FLAG_STOP_AT_RACE != 0 {
        outcome::finish(OUTCOME_RACE);
    }
}

/// Bit of a site's flag byte, in this process only: its sharing was logged.
pub(crate) const SITE_SHARED_LOGGED: u8 = 0x80;

unsafe fn note_shared(address: usize, access: Access) {
    let known = SITE_POINT | SITE_SHARED_LOGGED;
    if access.site.is_null() || !schedule::running() || *access.site & known != 0 {
        return;
    }
    *access.site |= SITE_SHARED_LOGGED;
    log::put(Record {
        index: schedule::now(),
        code: log::relative(access.code),
        object: address as u64,
        thread: CURRENT.get(),
        kind: Kind::Shared,
        site: crate::hooks::site_number(access.site),
        detail: access.kind as u8,
        ..Record::default()
    });
}

/// Memory begins a new life: nothing that happened to it before counts.
pub(crate) unsafe fn clear(address: usize, len: usize) {
    if RH_DETECT.get() == 0 || len == 0 {
        return;
    }
    let start = cell_of(address) as usize;
    let end = start + (((address & 7) + len + 7) / 8) * size_of::<Cell>();
    const LARGE: usize = 64 << 10;
    if end - start < LARGE {
        core::ptr::write_bytes(start as *mut u8, 0, end - start);
        return;
    }
    let (first_page, last_page) = ((start + 4095) & !4095, end & !4095);
    core::ptr::write_bytes(start as *mut u8, 0, first_page - start);
    sys::discard(first_page, last_page - first_page);
    core::ptr::write_bytes(last_page as *mut u8, 0, end - last_page);
}
