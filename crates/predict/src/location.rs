//! The accesses to one location: which groups of them can come together at all.
//!
//! If a program has many sites, most groups are small, and most pairs of them lie so far apart that one needs the
//! other. Pairs are therefore not enumerated: for each group, along its accesses, the code goes through the intervals
//! that cones leave in other threads, each part once.

use crate::candidates::{Key, first_without};
use crate::cones::Cones;
use crate::index::Index;
use racehunter_trace::{EventId, Op};
use std::ops::Range;

/// The accesses to one location, by group. Created once, and refilled for each location.
#[derive(Default)]
pub(crate) struct Location {
    /// In the order of their groups, each in order.
    entries: Vec<Entry>,
    /// The key of each group, and the range of its entries.
    groups: Vec<(Key, Range<usize>)>,
    /// Entries by thread and class, each in order.
    timed: Vec<u32>,
    sides: Vec<Side>,
    /// For each group, the last group as whose partner it was found.
    stamps: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Entry {
    event: EventId,
    position: u32,
    /// The row of the cones with what it needs.
    row: u32,
    group: u32,
}

/// The accesses of one class of one thread.
struct Side {
    thread: u16,
    class: Class,
    /// Their range in `timed`.
    entries: Range<usize>,
    /// The number of their groups.
    groups: usize,
}

/// What determines the conflicts of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    writes: bool,
    atomic: bool,
}

impl Class {
    fn of(op: Op) -> Self {
        Self { writes: op.writes(), atomic: op.is_atomic() }
    }

    fn conflicts(self, other: Self) -> bool {
        (self.writes || other.writes) && !(self.atomic && other.atomic)
    }
}

impl Location {
    /// Adds accesses that are sorted by key.
    pub(crate) fn fill(&mut self, index: &Index<'_>, cones: &Cones, accesses: impl Iterator<Item = (Key, EventId)>) {
        self.entries.clear();
        self.groups.clear();
        for (key, event) in accesses {
            let at = self.entries.len();
            match self.groups.last_mut() {
                Some((last, entries)) if *last == key => entries.end = at + 1,
                _ => self.groups.push((key, at..at + 1)),
            }
            let position = index.position[event as usize];
            let row = cones.row_of(key.thread.into(), position);
            self.entries.push(Entry { event, position, row, group: self.groups.len() as u32 - 1 });
        }
        self.stamps.clear();
        self.stamps.resize(self.groups.len(), usize::MAX);
        self.collect_sides();
    }

    fn collect_sides(&mut self) {
        let Self { entries, groups, timed, sides, .. } = self;
        let side_of = |entry: &u32| {
            let (key, _) = &groups[entries[*entry as usize].group as usize];
            (key.thread, Class::of(key.op))
        };
        timed.clear();
        timed.extend(0..entries.len() as u32);
        timed.sort_unstable_by_key(|entry| (side_of(entry), entries[*entry as usize].event));
        sides.clear();
        let mut begin = 0;
        for side in timed.chunk_by(|one, other| side_of(one) == side_of(other)) {
            let (thread, class) = side_of(&side[0]);
            let in_side = |(key, _): &&(Key, Range<usize>)| (key.thread, Class::of(key.op)) == (thread, class);
            let range = begin..begin + side.len();
            begin = range.end;
            sides.push(Side { thread, class, entries: range, groups: groups.iter().filter(in_side).count() });
        }
    }

    /// Returns the groups: the key and the accesses of each.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Key, impl Iterator<Item = EventId>)> {
        self.groups.iter().map(|(key, entries)| (*key, self.entries[entries.clone()].iter().map(|entry| entry.event)))
    }

    /// Returns the key of a group.
    pub(crate) fn key(&self, group: usize) -> Key {
        self.groups[group].0
    }

    /// Collects the groups of threads with larger numbers that a group conflicts with, and that have an access which
    /// neither needs one of this group nor is needed by it, ascending.
    pub(crate) fn partners(&mut self, cones: &Cones, group: usize, partners: &mut Vec<usize>) {
        let Self { entries, groups, timed, sides, stamps } = self;
        let (key, own) = &groups[group];
        partners.clear();
        let class = Class::of(key.op);
        for side in sides.iter().filter(|side| side.thread > key.thread && side.class.conflicts(class)) {
            let (thread, other) = (usize::from(key.thread), usize::from(side.thread));
            let others = &timed[side.entries.clone()];
            let mut left = side.groups;
            let (mut interval, mut looked_at) = (0..0, 0);
            for access in &entries[own.clone()] {
                let needed = cones.row(access.row)[other];
                let is_needed = |&partner: &u32| entries[partner as usize].position < needed;
                let has_no_need = |&partner: &u32| cones.row(entries[partner as usize].row)[thread] <= access.position;
                interval =
                    first_without(others, interval.start, is_needed)..first_without(others, interval.end, has_no_need);
                for &partner in others.get(interval.start.max(looked_at)..interval.end).unwrap_or_default() {
                    let found = entries[partner as usize].group as usize;
                    if std::mem::replace(&mut stamps[found], group) != group {
                        partners.push(found);
                        left -= 1;
                    }
                }
                if left == 0 {
                    break;
                }
                looked_at = looked_at.max(interval.end);
            }
        }
        partners.sort_unstable();
    }
}
