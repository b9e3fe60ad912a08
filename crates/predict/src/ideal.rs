//! A prefix of each thread, grown by jumping from cone to cone: the events in between are not examined.

use crate::cones::Cones;
use crate::index::Index;
use crate::{Question, Witness};
use racehunter_trace::EventId;

/// If at least one in this many events happens, going through all of them is cheaper than sorting.
const DENSE: usize = 16;

/// The events that happen: for each thread, those before a position.
pub(crate) struct Ideal<'a, 't> {
    pub(crate) index: &'a Index<'t>,
    pub(crate) cones: &'a Cones,
    pub(crate) high: Vec<u32>,
}

impl<'a, 't> Ideal<'a, 't> {
    /// Returns what a question needs, leaving locks aside, and all events of the trace before one.
    pub(crate) fn new(index: &'a Index<'t>, cones: &'a Cones, question: &Question, from: EventId) -> Self {
        let mut ideal = Self { index, cones, high: index.done_at(from.max(index.trace.opening())) };
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
        ideal
    }

    /// Adds what the event at a position needs.
    fn need(&mut self, thread: usize, position: u32) {
        for (other, &needed) in self.cones.of(thread, position).iter().enumerate() {
            if other != thread {
                self.high[other] = self.high[other].max(needed);
            }
        }
    }

    /// Adds an event, and what it needs.
    pub(crate) fn include(&mut self, event: EventId) {
        let (thread, position) = self.index.place(event);
        self.need(thread, position);
        self.high[thread] = self.high[thread].max(position + 1);
    }

    /// Returns true if an event has happened that the question wants to be only about to happen.
    pub(crate) fn overtakes(&self, question: &Question) -> bool {
        question.next.iter().any(|&event| {
            let (thread, position) = self.index.place(event);
            self.high[thread] > position
        })
    }

    /// Returns the events in turns, each in the order of the trace: the first turn ends at the first of these positions
    /// of each thread, the next one at the second, and the last one at the end. Returns `None` if more than `limit`
    /// events differ from the start of the trace.
    pub(crate) fn witness(&self, turns: &[Vec<u32>], limit: usize) -> Option<Witness> {
        let index = self.index;
        let first = turns.first().unwrap_or(&self.high);
        // The first event that does not happen where it did.
        let frozen = index
            .events
            .iter()
            .zip(first)
            .filter_map(|(events, &high)| events.get(high as usize).copied())
            .min()
            .unwrap_or(index.trace.len() as EventId);
        let mut low = index.done_at(frozen);
        let size: usize = low.iter().zip(&self.high).map(|(low, high)| (high - low) as usize).sum();
        if size > limit {
            return None;
        }
        let mut tail = Vec::with_capacity(size);
        for end in turns.iter().chain([&self.high]) {
            tail.extend(self.in_order(&low, end));
            low.clone_from(end);
        }
        Some(Witness { frozen, tail: tail.into_iter().collect() })
    }

    /// Returns the events between two positions of each thread, in the order of the trace.
    fn in_order(&self, low: &[u32], high: &[u32]) -> Vec<EventId> {
        let index = self.index;
        let ranges =
            || (0..index.threads()).map(|thread| &index.events[thread][low[thread] as usize..high[thread] as usize]);
        let size: usize = ranges().map(<[EventId]>::len).sum();
        let first = ranges().filter_map(|events| events.first().copied()).min().unwrap_or(0);
        let end = ranges().filter_map(|events| events.last().copied()).max().map_or(first, |last| last + 1);
        if (end - first) as usize <= size * DENSE {
            let happens = |&event: &EventId| {
                let (thread, position) = index.place(event);
                low[thread] <= position && position < high[thread]
            };
            return (first..end).filter(happens).collect();
        }
        let mut events: Vec<EventId> = ranges().flatten().copied().collect();
        events.sort_unstable();
        events
    }
}
