//! The values that accesses read and write, in the execution that is explained.
//!
//! A hook comes before its access. The value before the access can be read at once; the value after it when the program
//! next enters the runtime, before anything else can have touched it. Until then it is pending.

#![deny(unsafe_op_in_unsafe_fn)]

use crate::{Global, log, schedule, sys};
use racehunter_abi::control::{FLAG_VALUES, VALUE_AFTER, VALUE_BEFORE, VALUE_BYTES};
use racehunter_abi::{EventNumber, Kind, Record};
use racehunter_machine::memory::pieces;

/// A write whose result has to be read.
#[derive(Clone, Copy)]
struct Owed {
    /// The first of the records for the result. Null if nothing is pending.
    record: *mut Record,
    /// The event of the write.
    index: EventNumber,
    address: usize,
    size: usize,
}

const NOTHING: Owed = Owed { record: core::ptr::null_mut(), index: EventNumber::START, address: 0, size: 0 };

#[unsafe(link_section = ".data.racehunter")]
static OWED: Global<Owed> = Global::new(NOTHING);

/// Clears the pending write when an execution begins.
pub(crate) fn begin() {
    OWED.set(NOTHING);
}

/// Logs the value at the place of an access that was just logged, and is about to happen.
pub(crate) unsafe fn note(access: &Record) {
    if schedule::flags() & FLAG_VALUES == 0 {
        return;
    }
    let (address, index) = (access.object as usize, access.index);
    let size = access.extra.min(VALUE_BYTES) as usize;
    let first = log::next();
    let mut noted = 0;
    for (at, len) in pieces(size) {
        // SAFETY: at most eight bytes, which are checked.
        let Some(before) = (unsafe { peek(address + at, len) }) else { break };
        let record = log::next();
        let value = Record {
            index,
            code: access.code,
            object: before,
            thread: access.thread,
            kind: Kind::Value,
            size: len as u8,
            detail: VALUE_BEFORE,
            ..Record::default()
        };
        // SAFETY: an execution runs, and logs.
        unsafe { log::put(value) };
        // The log may be full.
        if log::next() == record {
            break;
        }
        noted = at + len;
    }
    if access.kind.is_write() && noted > 0 {
        OWED.set(Owed { record: first, index, address, size: noted });
    }
}

/// Reads the result of the last write. The program must have continued since its hook.
#[inline]
pub(crate) unsafe fn settle() {
    if !OWED.get().record.is_null() {
        // SAFETY: a write is pending.
        unsafe { pay() };
    }
}

/// Like [`settle`], when event `index` is one after the write.
#[inline]
pub(crate) unsafe fn settle_before(index: EventNumber) {
    let owed = OWED.get();
    if !owed.record.is_null() && owed.index < index {
        // SAFETY: a write is pending.
        unsafe { pay() };
    }
}

#[cold]
unsafe fn pay() {
    let Owed { record, address, size, .. } = OWED.get();
    OWED.set(NOTHING);
    for (nth, (at, len)) in pieces(size).enumerate() {
        // SAFETY: at most eight bytes, which are checked; `note` has logged a record for each piece.
        unsafe {
            if let Some(after) = peek(address + at, len) {
                let record = record.add(nth);
                (*record).extra = after;
                (*record).detail |= VALUE_AFTER;
            }
        }
    }
}

/// Returns the content of the memory, if it can be read: the access may be the one that crashes. Nothing else runs
/// meanwhile, so checking first is enough; if other threads run, use [`sys::peek`], which not every container allows.
unsafe fn peek(address: usize, size: usize) -> Option<u64> {
    // SAFETY: queries, and changes nothing.
    if unsafe { !is_readable(address) || !is_readable(address + size - 1) } {
        return None;
    }
    let mut bytes = [0; 8];
    // SAFETY: both ends can be read, and at most eight bytes lie in at most two pages.
    unsafe { core::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size) };
    Some(u64::from_le_bytes(bytes))
}

/// Asks the kernel to read a new signal mask from there, for an operation that does not exist: it reports a bad address
/// first.
unsafe fn is_readable(address: usize) -> bool {
    const NO_PURPOSE: usize = usize::MAX;
    const INVALID_ARGUMENT: isize = -22;
    // SAFETY: no such operation exists, so the mask stays as it is.
    unsafe { sys::call(sys::SIGPROCMASK, NO_PURPOSE, address & !7, 0, 8) == INVALID_ARGUMENT }
}
