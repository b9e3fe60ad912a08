//! Reports of the detector: pairs of accesses that are a bug, and memory that threads share.

use crate::shadow::{ATOMIC, Access, RH_CODES, Slot, bytes_of, code_of, thread_of};
use crate::thread::{CURRENT, current};
use crate::{Global, annotations, escapes, log, modules, outcome, schedule, server};
use racehunter_abi::control::{FLAG_INFER_NOTHING, FLAG_STOP_AT_RACE, OUTCOME_RACE, SITE_POINT};
use racehunter_abi::{Kind, Record, ThreadId};

/// Pairs of places that were already logged in this execution.
static SEEN: Global<[(usize, usize); SEEN_PAIRS]> = Global::new([(0, 0); SEEN_PAIRS]);
const SEEN_PAIRS: usize = 256;
#[unsafe(link_section = ".data.racehunter")]
static SEEN_ANY: Global<bool> = Global::new(false);

/// Forgets earlier reports, for the next iteration of an in-process loop.
pub(crate) unsafe fn reset() {
    if SEEN_ANY.get() {
        SEEN_ANY.set(false);
        core::ptr::write_bytes(SEEN.ptr(), 0, 1);
    }
}

/// The earlier half of a pair.
pub(crate) struct First {
    pub thread: ThreadId,
    pub code: usize,
    pub kind: Kind,
    pub size: u8,
    /// Further details, see [`Kind::RaceFirst`].
    pub extra: u64,
}

/// Reports two accesses of which neither happens before the other.
#[cold]
pub(crate) unsafe fn race(address: usize, slot: Slot, was_write: bool, me: Slot, access: &Access) {
    let kind = match (was_write, slot & ATOMIC != 0) {
        (true, true) => Kind::AtomicWrite,
        (true, false) => Kind::Write,
        (false, true) => Kind::AtomicRead,
        (false, false) => Kind::Read,
    };
    let size = bytes_of(slot).count_ones() as u8;
    let first = First { thread: thread_of(slot), code: code_of(slot), kind, size, extra: 0 };
    let byte = (address & !3) as u64 + u64::from(bytes_of(slot & me).trailing_zeros());
    pair(&first, byte, bytes_of(me).count_ones() as u8, access);
}

/// Logs a pair of accesses, once for each pair of places.
#[cold]
pub(crate) unsafe fn pair(first: &First, byte: u64, size: u8, access: &Access) {
    if !schedule::running() {
        return;
    }
    if annotations::is_benign(byte as usize) {
        return escapes::excused();
    }
    // A use of memory after its lifetime was seen in that order. Any other race is inferred.
    let is_seen = matches!(first.kind, Kind::Free | Kind::Exit);
    if !is_seen && schedule::flags() & FLAG_INFER_NOTHING != 0 {
        return;
    }
    (*server::slot()).races += 1;
    if !is_new(first.code.min(access.code), first.code.max(access.code)) {
        return;
    }
    let t = current();
    (*t).code = access.code;
    let earlier = Record {
        index: schedule::now(),
        code: log::relative(first.code),
        object: byte,
        extra: first.extra,
        thread: first.thread,
        kind: Kind::RaceFirst,
        size: first.size,
        detail: first.kind as u8,
        ..Record::default()
    };
    log::put(earlier);
    log::put(Record {
        code: log::relative(access.code),
        extra: 0,
        thread: CURRENT.get(),
        stack: log::stack_of(t),
        kind: Kind::RaceSecond,
        size,
        detail: access.kind as u8,
        ..earlier
    });
    if schedule::flags() & FLAG_STOP_AT_RACE != 0 {
        outcome::finish(OUTCOME_RACE);
    }
}

/// Returns whether nothing was reported about this pair of places so far. When the table is full, new pairs replace others.
unsafe fn is_new(low: usize, high: usize) -> bool {
    let seen = &mut *SEEN.ptr();
    let mut at = (low ^ high.rotate_left(7)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    for _ in 0..SEEN_PAIRS {
        if seen[at] == (low, high) {
            return false;
        }
        if seen[at] == (0, 0) {
            break;
        }
        at = (at + 1) % SEEN_PAIRS;
    }
    seen[at] = (low, high);
    SEEN_ANY.set(true);
    true
}

/// Bit of a site's flag byte, in this process only: its sharing was logged.
const SITE_SHARED_LOGGED: u8 = 0x10;

/// Reports that two threads use this memory, and this site should be a point.
pub(crate) unsafe fn shared(address: usize, site: usize) {
    let flags = modules::flags_of(site);
    let known = SITE_POINT | SITE_SHARED_LOGGED;
    if flags.is_null() || !schedule::running() || *flags & known != 0 || modules::is_quiet(flags) {
        return;
    }
    *flags |= SITE_SHARED_LOGGED;
    log::put(Record {
        index: schedule::now(),
        code: log::relative(*RH_CODES.get().add(site)),
        object: address as u64,
        thread: CURRENT.get(),
        kind: Kind::Shared,
        site: site as u32 + 1,
        ..Record::default()
    });
}
