//! What accesses read and write, in the one execution that is explained.
//!
//! A hook comes before its access. What the access finds is there already; what it leaves is there when the program
//! comes back to the runtime, before anything else can have touched it. Until then it is owed.

use crate::{Global, log, schedule, sys};
use racehunter_event::control::{FLAG_VALUES, VALUE_AFTER, VALUE_BEFORE};
use racehunter_event::{Kind, Record};

/// A write whose outcome is to be looked at.
#[derive(Clone, Copy)]
struct Owed {
    /// Where the outcome goes, null when nothing is owed.
    record: *mut Record,
    /// The event of the write.
    index: u64,
    address: usize,
    size: usize,
}

const NOTHING: Owed = Owed { record: core::ptr::null_mut(), index: 0, address: 0, size: 0 };

#[unsafe(link_section = ".data.racehunter")]
static OWED: Global<Owed> = Global::new(NOTHING);

/// Nothing is owed to the execution that begins.
pub(crate) fn begin() {
    OWED.set(NOTHING);
}

/// Logs what is at the place of an access that was just logged, and is about to happen.
pub(crate) unsafe fn note(access: &Record) {
    let size = access.extra as usize;
    if schedule::flags() & FLAG_VALUES == 0 || !matches!(size, 1 | 2 | 4 | 8) {
        return;
    }
    let (address, index) = (access.object as usize, access.index);
    let Some(before) = peek(address, size) else { return };
    let record = log::next();
    log::put(Record {
        index,
        code: access.code,
        object: before,
        thread: access.thread,
        kind: Kind::Value,
        size: size as u8,
        detail: VALUE_BEFORE,
        ..Record::default()
    });
    if access.kind.is_write() && log::next() != record {
        OWED.set(Owed { record, index, address, size });
    }
}

/// Looks at what the last write has left. The program must have gone on since its hook.
#[inline]
pub(crate) unsafe fn settle() {
    if !OWED.get().record.is_null() {
        pay();
    }
}

/// As [`settle`], when event `index` is one after the write.
#[inline]
pub(crate) unsafe fn settle_before(index: u64) {
    let owed = OWED.get();
    if !owed.record.is_null() && owed.index < index {
        pay();
    }
}

#[cold]
unsafe fn pay() {
    let Owed { record, address, size, .. } = OWED.get();
    OWED.set(NOTHING);
    if let Some(after) = peek(address, size) {
        (*record).extra = after;
        (*record).detail |= VALUE_AFTER;
    }
}

/// What the memory holds, if it can be read: the access may be the one that crashes.
unsafe fn peek(address: usize, size: usize) -> Option<u64> {
    if !is_readable(address) || !is_readable(address + size - 1) {
        return None;
    }
    let mut bytes = [0; 8];
    core::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size);
    Some(u64::from_le_bytes(bytes))
}

/// Asks the kernel to read a new signal mask from there, for a purpose that does not exist: it tells a bad address first.
unsafe fn is_readable(address: usize) -> bool {
    const NO_PURPOSE: usize = usize::MAX;
    const INVALID_ARGUMENT: isize = -22;
    sys::call(sys::SIGPROCMASK, NO_PURPOSE, address & !7, 0, 8) == INVALID_ARGUMENT
}
