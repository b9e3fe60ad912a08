//! Two published analyses, written from their definitions as simply as possible: sets of events are lists of booleans,
//! and closures repeat until nothing changes.
//!
//! * *Sync-preserving* races: Mathur, Pavlogiannis and Viswanathan, 2021.
//! * *Optimistic sync-reversal* races: Shi, Mathur and Pavlogiannis, 2024.

use racehunter_trace::{EventId, Op, Trace};
use std::collections::BTreeMap;

/// A trace of reads, writes, locks, forks and joins.
pub struct Peers<'t> {
    trace: &'t Trace,
    /// Events that each event needs in every reordering: the previous one of its thread, the write that it reads, the
    /// fork of its thread, the last event of the thread that it joins.
    needs: Vec<Vec<usize>>,
    /// The release that ends each acquisition's section.
    release: BTreeMap<usize, usize>,
}

impl<'t> Peers<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let (mut last, mut written, mut forks) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut held: BTreeMap<(u16, u32), usize> = BTreeMap::new();
        let mut release = BTreeMap::new();
        let mut needs = Vec::new();
        for (id, event) in trace.events().enumerate() {
            let mut before: Vec<usize> = Vec::new();
            before.extend(last.insert(event.thread, id).or_else(|| forks.get(&event.thread).copied()));
            if event.op.reads() {
                before.extend(written.get(&event.object));
            }
            if event.op.writes() {
                written.insert(event.object, id);
            }
            if event.op.acquires() {
                held.insert((event.thread, event.object), id);
            }
            if event.op.releases() {
                release.extend(held.remove(&(event.thread, event.object)).map(|acquire| (acquire, id)));
            }
            if event.op == Op::Fork {
                forks.insert(event.object as u16, id);
            }
            if event.op.joins() {
                before.extend(last.get(&(event.object as u16)));
            }
            needs.push(before);
        }
        Self { trace, needs, release }
    }

    fn thread(&self, event: usize) -> u16 {
        self.trace.thread(event as EventId)
    }

    fn object(&self, event: usize) -> u32 {
        self.trace.object(event as EventId)
    }

    fn op(&self, event: usize) -> Op {
        self.trace.op(event as EventId)
    }

    /// Adds what the events of a set need.
    fn close(&self, set: &mut [bool]) {
        for event in (0..set.len()).rev() {
            if set[event] {
                self.needs[event].iter().for_each(|&before| set[before] = true);
            }
        }
    }

    /// Returns what must have happened before some events are about to happen. What they read themselves is not needed.
    fn before(&self, events: &[usize]) -> Vec<bool> {
        let mut set = vec![false; self.needs.len()];
        for &event in events {
            let previous = (0..event).rev().find(|&other| self.thread(other) == self.thread(event));
            let fork = || {
                (0..event).find(|&other| self.op(other) == Op::Fork && self.object(other) == self.thread(event).into())
            };
            if let Some(before) = previous.or_else(fork) {
                set[before] = true;
            }
        }
        self.close(&mut set);
        set
    }

    fn acquisitions<'a>(&'a self, set: &'a [bool]) -> impl Iterator<Item = usize> + 'a {
        (0..set.len()).filter(|&event| set[event] && self.op(event).acquires())
    }

    /// Returns true if some reordering that keeps the order of critical sections ends with both about to happen.
    pub fn sync_preserving(&self, first: usize, second: usize) -> bool {
        let mut set = self.before(&[first, second]);
        loop {
            let mut ends = Vec::new();
            for one in self.acquisitions(&set) {
                let later = |other: usize| other > one && self.object(other) == self.object(one);
                if self.acquisitions(&set).any(later) {
                    match self.release.get(&one) {
                        Some(&end) => ends.push(end),
                        None => return false,
                    }
                }
            }
            if ends.iter().all(|&end| set[end]) {
                return !set[first] && !set[second];
            }
            ends.iter().for_each(|&end| set[end] = true);
            self.close(&mut set);
        }
    }

    /// Returns true if both can be about to happen after an optimistic reversal of critical sections.
    pub fn sync_reversal(&self, first: usize, second: usize) -> bool {
        let mut set = self.before(&[first, second]);
        // Nothing after the second event counts.
        let end_of = |acquire: usize| self.release.get(&acquire).copied().filter(|&end| end < second);
        loop {
            let before = set.clone();
            for acquire in self.acquisitions(&before) {
                let Some(end) = end_of(acquire) else { continue };
                let mut with_end = vec![false; set.len()];
                with_end[end] = true;
                self.close(&mut with_end);
                if !with_end[first] && !with_end[second] {
                    set[end] = true;
                }
            }
            self.close(&mut set);
            if set == before {
                break;
            }
        }
        if set[first] || set[second] {
            return false;
        }
        let is_open = |acquire: usize| self.release.get(&acquire).is_none_or(|&end| !set[end]);
        let open: Vec<usize> = self.acquisitions(&set).filter(|&acquire| is_open(acquire)).collect();
        if open.iter().any(|&one| open.iter().any(|&other| one != other && self.object(one) == self.object(other))) {
            return false;
        }
        !self.has_cycle(&set, &open)
    }

    /// Returns true if the order within threads, of conflicting accesses and of sections, with the open ones last, has
    /// a cycle.
    fn has_cycle(&self, set: &[bool], open: &[usize]) -> bool {
        let events: Vec<usize> = (0..set.len()).filter(|&event| set[event]).collect();
        let precedes = |one: usize, other: usize| {
            let same = self.object(one) == self.object(other);
            if self.op(one).releases() && open.contains(&other) {
                return same;
            }
            let conflict = self.op(one).is_access() && self.op(other).is_access();
            one < other
                && (self.thread(one) == self.thread(other)
                    || self.needs[other].contains(&one)
                    || (same && conflict && (self.op(one).writes() || self.op(other).writes()))
                    || (same && self.op(one).releases() && self.op(other).acquires()))
        };
        // Events without predecessors are removed until none is left, or none can be.
        let mut left = events;
        loop {
            let removed = left.iter().position(|&event| !left.iter().any(|&other| precedes(other, event)));
            match removed {
                Some(at) => drop(left.remove(at)),
                None => return !left.is_empty(),
            }
        }
    }
}
