//! The writes that can change what the necessary reads of a cut see.
//!
//! They are collected from the cut rather than looked up among all writes of the trace: the cost of a question depends
//! on the size of its cut, not on the length of the trace.

use crate::cut::Cut;
use crate::index::Index;
use rustc_hash::FxHashMap;

/// Thread and position of a write.
pub(crate) type Place = (usize, u32);

/// The writes of a cut after its frozen part, by necessary read.
pub(crate) struct Writes {
    /// For each necessary read the number of its location.
    locations: Vec<u32>,
    /// Where the writes of each location begin.
    starts: Vec<u32>,
    /// All writes to these locations, ascending by thread and position within each.
    places: Vec<Place>,
}

impl Writes {
    pub(crate) fn new(index: &Index<'_>, cut: &Cut) -> Self {
        let trace = index.trace;
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let number_of = |&read: &u32| {
            let next = numbers.len() as u32;
            *numbers.entry(trace.object(read)).or_insert(next)
        };
        let locations: Vec<u32> = cut.necessary.iter().map(number_of).collect();
        let mut starts = vec![0; numbers.len() + 1];
        let mut found: Vec<(u32, Place)> = Vec::new();
        for (thread, events) in index.events.iter().enumerate() {
            for position in cut.low[thread]..cut.high[thread] {
                let event = events[position as usize];
                if trace.op(event).writes()
                    && let Some(&number) = numbers.get(&trace.object(event))
                {
                    found.push((number, (thread, position)));
                    starts[number as usize + 1] += 1;
                }
            }
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![(0, 0); found.len()];
        for (number, place) in found {
            let slot = &mut next[number as usize];
            places[*slot as usize] = place;
            *slot += 1;
        }
        Self { locations, starts, places }
    }

    /// Returns the writes to the location of one of the necessary reads, by thread, each ascending.
    pub(crate) fn of(&self, read: usize) -> impl Iterator<Item = &[Place]> {
        let location = self.locations[read] as usize;
        let all = &self.places[self.starts[location] as usize..self.starts[location + 1] as usize];
        all.chunk_by(|one, other| one.0 == other.0)
    }
}

/// Returns the last of a thread's writes before a position.
pub(crate) fn last_before(writes: &[Place], position: u32) -> Option<u32> {
    let end = writes.partition_point(|&(_, write)| write < position);
    end.checked_sub(1).map(|last| writes[last].1)
}

/// Returns the first of a thread's writes at or after a position.
pub(crate) fn first_from(writes: &[Place], position: u32) -> Option<u32> {
    writes.get(writes.partition_point(|&(_, write)| write < position)).map(|&(_, write)| write)
}
