//! The cheap stage: reorderings that keep the order of the trace among critical sections of each lock.
//!
//! The events of a cut, in the order of the trace, are then a correct reordering as soon as every critical section that
//! begins in the cut, and is not the last of its lock there, also ends there. The least such cut is found by jumping
//! from cone to cone, without examining the events in between.

use crate::cones::Cones;
use crate::index::{Index, NONE};
use crate::{Question, Witness};
use racehunter_trace::EventId;

/// If at least one in this many events happens, going through all of them is cheaper than sorting.
const DENSE: usize = 16;

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
    let high = index.events.iter().map(|events| events.partition_point(|&event| event < from) as u32).collect();
    let mut ideal = Ideal { index, cones, high };
    for &event in &question.next {
        let (thread, position) = index.place(event);
        ideal.high[thread] = position;
    }
    for &event in &question.next {
        let (thread, position) = index.place(event);
        ideal.need(thread, position);
    }
    let done = question.done.iter().copied().chain(question.before.iter().flat_map(|&(a, b)| [a, b]));
    for event in done {
        ideal.include(event);
    }
    let overtaken = |ideal: &Ideal<'_, '_>| {
        question.next.iter().any(|&event| {
            let (thread, position) = index.place(event);
            ideal.high[thread] > position
        })
    };
    loop {
        if overtaken(&ideal) {
            return None;
        }
        if !ideal.end_sections()? {
            return ideal.witness(limit);
        }
    }
}

struct Ideal<'a, 't> {
    index: &'a Index<'t>,
    cones: &'a Cones,
    high: Vec<u32>,
}

impl Ideal<'_, '_> {
    /// Adds what the event at a position needs.
    fn need(&mut self, thread: usize, position: u32) {
        for (other, &needed) in self.cones.of(thread, position).iter().enumerate() {
            if other != thread {
                self.high[other] = self.high[other].max(needed);
            }
        }
    }

    fn include(&mut self, event: EventId) {
        let (thread, position) = self.index.place(event);
        self.need(thread, position);
        self.high[thread] = self.high[thread].max(position + 1);
    }

    /// Adds the ends of critical sections after which others of the same lock begin. Returns true if there were any;
    /// `None` if one has no end.
    fn end_sections(&mut self) -> Option<bool> {
        let index = self.index;
        let mut ends = Vec::new();
        for thread in 0..index.threads() {
            for acquire in index.held_at(thread, self.high[thread]) {
                let shared = index.trace.op(acquire).shares();
                let lock = index.trace.object(acquire);
                let mut others = (0..index.threads()).filter(|&other| other != thread && self.high[other] > 0);
                let later = others.any(|other| {
                    let sections = index.sections_of(lock, other);
                    let begun = sections.partition_point(|section| section.acquire < self.high[other]);
                    sections[..begun]
                        .iter()
                        .rev()
                        .find(|section| !(shared && section.shared))
                        .is_some_and(|section| index.events[other][section.acquire as usize] > acquire)
                });
                if later {
                    let end = index.other_end(acquire);
                    if end == NONE {
                        return None;
                    }
                    ends.push(end);
                }
            }
        }
        for &end in &ends {
            self.include(end);
        }
        Some(!ends.is_empty())
    }

    fn witness(&self, limit: usize) -> Option<Witness> {
        let index = self.index;
        // The first event that does not happen.
        let frozen = index
            .events
            .iter()
            .zip(&self.high)
            .filter_map(|(events, &high)| events.get(high as usize).copied())
            .min()
            .unwrap_or(index.trace.len() as EventId);
        let begin = |thread: usize| index.events[thread].partition_point(|&event| event < frozen);
        let size: usize = (0..index.threads()).map(|thread| self.high[thread] as usize - begin(thread)).sum();
        if size > limit {
            return None;
        }
        let happening =
            (0..index.threads()).flat_map(|thread| &index.events[thread][begin(thread)..self.high[thread] as usize]);
        let span = happening.clone().copied().max().map_or(0, |last| (last - frozen) as usize + 1);
        let tail = if span <= size * DENSE {
            let happens = |&event: &EventId| {
                let (thread, position) = index.place(event);
                position < self.high[thread]
            };
            (frozen..frozen + span as EventId).filter(happens).collect()
        } else {
            let mut tail: Vec<EventId> = happening.copied().collect();
            tail.sort_unstable();
            tail.into_iter().collect()
        };
        Some(Witness { frozen, tail })
    }
}
