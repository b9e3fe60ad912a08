//! Brief logs: of the accesses at points, only the first at each place in the code is logged. The others are counted.
//!
//! Walks ask for brief logs. They need to know which places there are, and how many decisions with a choice: both follow from a brief log. What
//! the detector and the rest of the runtime notice is logged as always.

use crate::thread::CURRENT;
use crate::{Global, swift};
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
    /// Whether the log leaves out anything.
    is_outline: bool,
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
    is_outline: false,
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
    ((*brief).is_outline, (*brief).passed) = (false, 0);
    ((*brief).last, (*brief).changed) = (EventNumber::START, EventNumber::START);
}

/// What a copy of this process has to know when nothing that was left out is missing in the log: the events of
/// [`Brief::last`] and [`Brief::changed`].
pub(super) unsafe fn state() -> (EventNumber, EventNumber) {
    ((*BRIEF.ptr()).last, (*BRIEF.ptr()).changed)
}

/// Continues from this state, in a log that has just begun.
pub(super) unsafe fn go_on((last, changed): (EventNumber, EventNumber)) {
    ((*BRIEF.ptr()).last, (*BRIEF.ptr()).changed) = (last, changed);
}

/// Whether the log is brief from here on.
pub(crate) unsafe fn set(is_on: bool) {
    swift::end();
    (*BRIEF.ptr()).is_on = is_on;
}

/// Whether the access that is event `n`, at `code`, is left out. If so, it is counted.
#[inline(always)]
pub(crate) unsafe fn passes(n: EventNumber, code: usize) -> bool {
    let brief = BRIEF.ptr();
    if !(*brief).is_on {
        return false;
    }
    swift::end();
    let here = code | (*brief).number;
    let is_known = core::mem::replace(&mut (*SEEN.ptr())[(code ^ code >> 11) % PLACES], here) == here;
    // What changed with its own event did not hold yet at the decision before it: that can only be seen if it is logged.
    if !is_known || (*brief).changed == n {
        return false;
    }
    (*brief).is_outline = true;
    // A decision, or another access of the same event, already stands for it.
    if (*brief).last != n {
        (*brief).last = n;
        (*brief).passed += 1;
        (*brief).passed_at = n;
        (*brief).thread = CURRENT.get();
    }
    true
}

/// Counts accesses that the hooks have left out, of which the last is event `last`.
pub(crate) unsafe fn has_passed(accesses: u64, last: EventNumber, thread: ThreadId) {
    let brief = BRIEF.ptr();
    (*brief).passed += accesses;
    ((*brief).passed_at, (*brief).last, (*brief).thread) = (last, last, thread);
}

/// The record that has to come before this one: what was left out until here.
#[inline(always)]
pub(super) unsafe fn before(record: &Record) -> Option<Record> {
    swift::end();
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
    passed()
}

/// What was left out and is not yet in the log, when the log ends. A log that leaves out anything has such a record at its end.
pub(super) unsafe fn rest() -> Option<Record> {
    swift::end();
    let brief = BRIEF.ptr();
    let (index, thread) = ((*brief).passed_at, (*brief).thread);
    let nothing = Record { index, thread, kind: Kind::Passed, ..Record::default() };
    passed().or((*brief).is_outline.then_some(nothing))
}

/// What was left out and is not yet in the log.
unsafe fn passed() -> Option<Record> {
    let brief = BRIEF.ptr();
    let object = core::mem::take(&mut (*brief).passed);
    let (index, thread) = ((*brief).passed_at, (*brief).thread);
    (object > 0).then(|| Record { index, object, thread, kind: Kind::Passed, ..Record::default() })
}
