//! Brief logs: of the accesses at points, only the first at each place in the code is logged. The others are counted.
//!
//! Walks ask for brief logs. They need to know which places there are, and how many decisions with a choice: both follow from a brief log. What
//! the detector and the rest of the runtime notice is logged as always.

use crate::Global;
use crate::thread::CURRENT;
use racehunter_abi::{EventNumber, Kind, Record, ThreadId};

/// Places that are remembered. Two that have the same position here are logged again when they alternate.
const PLACES: usize = 2048;

struct Brief {
    is_on: bool,
    /// The number of this log, in the bits that code addresses leave free: what [`SEEN`] has of earlier logs does not count.
    number: usize,
    /// Accesses that were left out since the last record that is in the order of events, without those whose numbers are in the log.
    passed: u64,
    /// Number of the last of them, and its thread.
    passed_at: EventNumber,
    thread: ThreadId,
    /// The last event that is in the log or counted in `passed`.
    last: EventNumber,
    /// The event of the last record about threads that can run, or cannot, from then on.
    changed: EventNumber,
}

#[unsafe(link_section = ".data.racehunter")]
static BRIEF: Global<Brief> = Global::new(Brief {
    is_on: false,
    number: 0,
    passed: 0,
    passed_at: EventNumber::START,
    thread: ThreadId::MAIN,
    last: EventNumber::START,
    changed: EventNumber::START,
});

/// The lowest bit of a log's number.
const NUMBER_SHIFT: u32 = 48;

/// Code addresses at which an access was logged, each with the number of the log.
static SEEN: Global<[usize; PLACES]> = Global::new([0; PLACES]);

/// A log begins: no place is known.
pub(super) unsafe fn begin() {
    let brief = BRIEF.ptr();
    (*brief).number = (*brief).number.wrapping_add(1 << NUMBER_SHIFT);
    if (*brief).number == 0 {
        (*SEEN.ptr()).fill(0);
        (*brief).number = 1 << NUMBER_SHIFT;
    }
    (*brief).passed = 0;
    ((*brief).last, (*brief).changed) = (EventNumber::START, EventNumber::START);
}

/// Whether the log is brief from here on.
pub(crate) unsafe fn set(is_on: bool) {
    (*BRIEF.ptr()).is_on = is_on;
}

/// Whether the access that is event `n`, at `code`, is left out. If so, it is counted.
#[inline(always)]
pub(crate) unsafe fn passes(n: EventNumber, code: usize) -> bool {
    let brief = BRIEF.ptr();
    if !(*brief).is_on {
        return false;
    }
    let seen = &mut (*SEEN.ptr())[(code ^ code >> 11) % PLACES];
    // What changed with its own event did not hold yet at the decision before it: that can only be seen if it is logged.
    if *seen != (code | (*brief).number) || (*brief).changed == n {
        *seen = code | (*brief).number;
        return false;
    }
    // A decision, or another access of the same event, already stands for it.
    if (*brief).last != n {
        (*brief).last = n;
        (*brief).passed += 1;
        (*brief).passed_at = n;
        (*brief).thread = CURRENT.get();
    }
    true
}

/// The record that has to come before this one: what was left out until here.
#[inline(always)]
pub(super) unsafe fn before(record: &Record) -> Option<Record> {
    let brief = BRIEF.ptr();
    let stands_for_event = record.kind.is_event() || matches!(record.kind, Kind::Switch);
    if stands_for_event {
        (*brief).last = record.index;
    } else if record.kind.is_in_order() {
        (*brief).changed = record.index;
    }
    if (*brief).passed == 0 || !record.kind.is_in_order() {
        return None;
    }
    // The event of this record is not left out any more.
    (*brief).passed -= u64::from(stands_for_event && (*brief).passed_at == record.index);
    rest()
}

/// What was left out and is not yet in the log.
pub(super) unsafe fn rest() -> Option<Record> {
    let brief = BRIEF.ptr();
    let object = core::mem::take(&mut (*brief).passed);
    let (index, thread) = ((*brief).passed_at, (*brief).thread);
    (object > 0).then(|| Record { index, object, thread, kind: Kind::Passed, ..Record::default() })
}
