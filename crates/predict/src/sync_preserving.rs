//! The cheap stage: reorderings that keep the order of the trace among critical sections of each lock.
//!
//! The events of a cut, in the order of the trace, are then a correct reordering as soon as every critical section that
//! begins in the cut, and is not the last of its lock there, also ends there. The least such cut is found by jumping
//! from cone to cone, without examining the events in between.

use crate::cones::Cones;
use crate::ideal::Ideal;
use crate::index::{Index, NONE};
use crate::{Question, Witness};
use racehunter_trace::EventId;

/// Returns a witness that keeps the order of critical sections, if there is one with at most this many events after its
/// common prefix with the trace.
pub(crate) fn witness(index: &Index<'_>, cones: &Cones, question: &Question, limit: usize) -> Option<Witness> {
    // This stage cannot change the order of two events.
    if question.before.iter().any(|(first, second)| first > second) {
        return None;
    }
    // If everything before the question's first event may happen, the witness is short: threads that take no part in it
    // need not stop where they were last needed.
    let first = question.events().min()?;
    witness_from(index, cones, question, first, limit).or_else(|| witness_from(index, cones, question, 0, limit))
}

/// The same, for reorderings in which all events of the trace before one happen.
fn witness_from(index: &Index<'_>, cones: &Cones, question: &Question, from: EventId, limit: usize) -> Option<Witness> {
    let mut ideal = Ideal::new(index, cones, question, from);
    loop {
        if ideal.overtakes(question) {
            return None;
        }
        if !end_sections(&mut ideal)? {
            return ideal.witness(&[], limit);
        }
    }
}

/// Adds the ends of critical sections after which others of the same lock begin. Returns true if there were any;
/// `None` if one has no end.
fn end_sections(ideal: &mut Ideal<'_, '_>) -> Option<bool> {
    let index = ideal.index;
    let mut ends = Vec::new();
    for thread in 0..index.threads() {
        for acquire in index.held_at(thread, ideal.high[thread]) {
            let begins_later = |other: usize| {
                let last = index.last_section(acquire, other, ideal.high[other]);
                last.is_some_and(|section| index.events[other][section.acquire as usize] > acquire)
            };
            if (0..index.threads()).any(|other| other != thread && begins_later(other)) {
                let end = index.other_end(acquire);
                if end == NONE {
                    return None;
                }
                ends.push(end);
            }
        }
    }
    for &end in &ends {
        ideal.include(end);
    }
    Some(!ends.is_empty())
}
