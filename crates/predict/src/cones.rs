//! The events that each event needs, in one linear pass.
//!
//! The *cone* of an event is the least set of events that must have happened for it to be about to happen, leaving
//! locks aside: the order within threads, what events require, and the writes that necessary reads see. It is a prefix
//! of each thread, so a cone is one position per thread. Cones grow along a thread; where they do not change, nothing
//! is stored.

use crate::index::{Index, NONE};
use crate::policy::{Demands, Flow};
use racehunter_trace::EventId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cones of all events.
pub(crate) struct Cones {
    threads: usize,
    /// Rows of one position per thread.
    rows: Vec<u32>,
    /// For each thread, ascending: from which position on which row applies.
    marks: Vec<Vec<(u32, u32)>>,
}

impl Cones {
    /// Returns the cones of all events under a policy.
    pub(crate) fn new(index: &Index<'_>, demands: &Demands) -> Self {
        let threads = index.threads();
        let mut pass = Pass {
            index,
            demands,
            cones: Self { threads, rows: vec![0; threads], marks: vec![Vec::new(); threads] },
            now: vec![0; threads * threads],
            row: vec![0; threads],
            passed_on: vec![0; threads * threads],
            passed_row: vec![0; threads],
            pending: vec![BinaryHeap::new(); threads],
            last_read: vec![Write::NONE; threads],
            written: vec![Write::NONE; index.trace.objects().len()],
            seen: Vec::new(),
        };
        if !demands.is_strict() {
            pass.seen = vec![0; index.trace.len()];
        }
        for event in 0..index.trace.len() as EventId {
            pass.event(event);
        }
        pass.cones
    }

    /// Returns how far each thread must have advanced for the event at a position of a thread to be about to happen.
    /// The entry of the thread itself must not be used: it is the position.
    pub(crate) fn of(&self, thread: usize, position: u32) -> &[u32] {
        self.row(self.row_of(thread, position))
    }

    /// Returns the number of that row.
    pub(crate) fn row_of(&self, thread: usize, position: u32) -> u32 {
        let marks = &self.marks[thread];
        let at = marks.partition_point(|&(from, _)| from <= position);
        if at == 0 { 0 } else { marks[at - 1].1 }
    }

    /// Returns a row: one position per thread.
    pub(crate) fn row(&self, number: u32) -> &[u32] {
        &self.rows[number as usize * self.threads..][..self.threads]
    }
}

struct Pass<'a, 't> {
    index: &'a Index<'t>,
    demands: &'a Demands,
    cones: Cones,
    /// The cone of each thread's current event.
    now: Vec<u32>,
    /// The row number of each of these.
    row: Vec<u32>,
    /// What the values of all earlier reads of a thread need, and its row, if values flow from all of them.
    passed_on: Vec<u32>,
    passed_row: Vec<u32>,
    /// Reads that become necessary at a position.
    pending: Vec<BinaryHeap<Reverse<(u32, EventId)>>>,
    /// The write that the previous read sees, if every read becomes necessary at once.
    last_read: Vec<Write>,
    /// The last write to each object.
    written: Vec<Write>,
    /// For each read, the row of what its write needs.
    seen: Vec<u32>,
}

/// A write.
#[derive(Clone, Copy)]
struct Write {
    thread: u32,
    /// The number of events of its thread up to it; 0 if there is no write.
    done: u32,
    /// What it needs in order to be seen.
    row: u32,
    /// True if that is exactly what it needs to happen.
    plain: bool,
}

impl Write {
    const NONE: Self = Self { thread: 0, done: 0, row: 0, plain: true };
}

/// Joins a row and one position into another row. Returns true if it changed.
fn join(into: &mut [u32], row: &[u32], thread: usize, position: u32) -> bool {
    let mut changed = false;
    for (into, &from) in into.iter_mut().zip(row) {
        changed |= from > *into;
        *into = from.max(*into);
    }
    changed |= position > into[thread];
    into[thread] = position.max(into[thread]);
    changed
}

impl Pass<'_, '_> {
    fn event(&mut self, event: EventId) {
        let index = self.index;
        let (thread, position) = index.place(event);
        let op = index.trace.op(event);
        let mut changed = false;
        if position == 0 && index.start_of(thread) != NONE {
            changed |= self.follow(thread, index.start_of(thread));
        }
        let required = index.required(event);
        if required != NONE {
            changed |= self.follow(thread, required);
        }
        if self.demands.is_strict() {
            let write = std::mem::replace(&mut self.last_read[thread], Write::NONE);
            if write.done > 0 {
                let threads = index.threads();
                let now = &mut self.now[thread * threads..][..threads];
                // An event that needs the write, or a later event of its thread, needs everything that the write
                // needs.
                if !write.plain || write.done > now[write.thread as usize] {
                    changed |= join(now, self.cones.row(write.row), write.thread as usize, write.done);
                }
            }
        } else {
            while let Some(&Reverse((boundary, read))) = self.pending[thread].peek()
                && boundary <= position
            {
                self.pending[thread].pop();
                changed |= self.observe(thread, read, self.seen[read as usize]);
            }
        }
        if changed {
            self.row[thread] = self.push_row(thread);
            self.cones.marks[thread].push((position, self.row[thread]));
        }
        if op.is_access() {
            self.access(event, thread);
        }
    }

    /// Orders the thread's current event after another event.
    fn follow(&mut self, thread: usize, other: EventId) -> bool {
        let (other_thread, position) = self.index.place(other);
        let row = self.cones.of(other_thread, position);
        let threads = self.index.threads();
        join(&mut self.now[thread * threads..][..threads], row, other_thread, position + 1)
    }

    /// Handles a read of the thread that has become necessary; `row` is what its write needs.
    fn observe(&mut self, thread: usize, read: EventId, row: u32) -> bool {
        let threads = self.index.threads();
        let mut now = std::mem::take(&mut self.now);
        let changed = self.join_seen(&mut now[thread * threads..][..threads], read, row);
        self.now = now;
        changed
    }

    fn access(&mut self, event: EventId, thread: usize) {
        let index = self.index;
        let op = index.trace.op(event);
        let object = index.trace.object(event) as usize;
        let threads = index.threads();
        let last = self.written[object];
        let seen = last.row;
        if op.reads() {
            if self.demands.is_strict() {
                // What a thread needed for its own write it needs anyway.
                if last.thread as usize != thread || !last.plain {
                    self.last_read[thread] = last;
                }
            } else {
                self.seen[event as usize] = seen;
                let boundary = self.demands.boundary(index, event);
                if boundary != NONE {
                    self.pending[thread].push(Reverse((boundary, event)));
                }
            }
            if matches!(self.demands.flow(), Flow::Earlier) {
                self.pass_on(thread, event, seen);
            }
        }
        if !op.writes() {
            return;
        }
        let write = |row, plain| Write { thread: thread as u32, done: index.position[event as usize] + 1, row, plain };
        if !op.reads() && matches!(self.demands.flow(), Flow::Own) {
            self.written[object] = write(self.row[thread], true);
            return;
        }
        // What must have happened for this write to happen and to have its value.
        let mut needs = self.now[thread * threads..][..threads].to_vec();
        let mut more = false;
        if op.reads() {
            more |= self.join_seen(&mut needs, event, seen);
        }
        for &read in self.demands.known_flow(event) {
            more |= self.join_seen(&mut needs, read, self.seen[read as usize]);
        }
        if matches!(self.demands.flow(), Flow::Earlier) {
            more |= join(&mut needs, &self.passed_on[thread * threads..][..threads], thread, 0);
        }
        let row = if more {
            let passed = self.cones.row(self.passed_row[thread]);
            if passed == needs { self.passed_row[thread] } else { self.add_row(&needs) }
        } else {
            self.row[thread]
        };
        self.written[object] = write(row, false);
        if matches!(self.demands.flow(), Flow::Earlier) {
            self.passed_row[thread] = row;
        }
    }

    /// Joins what a read needs to see its write, whose row is given.
    fn join_seen(&self, needs: &mut [u32], read: EventId, row: u32) -> bool {
        let write = self.index.read_from(read);
        if write == NONE {
            return false;
        }
        let (other, position) = self.index.place(write);
        join(needs, self.cones.row(row), other, position + 1)
    }

    /// Lets the value of a read flow into every later write of its thread.
    fn pass_on(&mut self, thread: usize, read: EventId, row: u32) {
        let threads = self.index.threads();
        let mut all = std::mem::take(&mut self.passed_on);
        self.join_seen(&mut all[thread * threads..][..threads], read, row);
        self.passed_on = all;
    }

    fn push_row(&mut self, thread: usize) -> u32 {
        let threads = self.index.threads();
        let number = (self.cones.rows.len() / threads) as u32;
        self.cones.rows.extend_from_slice(&self.now[thread * threads..][..threads]);
        number
    }

    fn add_row(&mut self, row: &[u32]) -> u32 {
        let number = (self.cones.rows.len() / self.index.threads()) as u32;
        self.cones.rows.extend_from_slice(row);
        number
    }
}
