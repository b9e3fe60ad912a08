//! Races that the trace itself shows: schedulable happens-before, in one linear pass.
//!
//! Besides the order within threads, forks and joins, and each lock from its release to its next acquisition, a read
//! happens after the write that it sees. Two conflicting accesses that are unordered in spite of this can be put next to
//! each other without changing what anything before them saw. So each is a race under every policy; most races that need
//! a reordering are missed.

use crate::index::{Index, NONE};
use racehunter_trace::{EventId, Op, Subject};
use rustc_hash::FxHashMap;

/// Pairs of accesses that the trace shows to race: each access with the last conflicting one of each other thread.
#[must_use]
pub fn happens_before(index: &Index<'_>) -> Vec<(EventId, EventId)> {
    let threads = index.threads();
    let mut shared = 0;
    let slot = (0..index.trace.objects().len() as u32)
        .map(|object| {
            shared += usize::from(index.is_shared(object));
            if index.is_shared(object) { shared as u32 - 1 } else { NONE }
        })
        .collect();
    let mut pass = Pass {
        index,
        clocks: vec![vec![0; threads]; threads],
        objects: FxHashMap::default(),
        slot,
        locations: vec![0; shared * ROWS * threads],
        races: Vec::new(),
    };
    for event in 0..index.trace.len() as EventId {
        pass.event(event);
    }
    pass.races
}

/// Rows of each shared location, by thread: one more than the position of the last access of each kind, and the clock of
/// the last write.
const ROWS: usize = 5;
const PLAIN_READ: usize = 0;
const ATOMIC_READ: usize = 1;
const PLAIN_WRITE: usize = 2;
const ATOMIC_WRITE: usize = 3;
const LAST_WRITE: usize = 4;

/// What an object of synchronisation passes on.
struct Passed {
    /// From those who changed it for themselves.
    exclusive: Vec<u32>,
    /// From everybody.
    all: Vec<u32>,
    /// From those who took it.
    taken: Vec<u32>,
}

/// A clock says of each thread how many of its events happened before.
struct Pass<'a, 't> {
    index: &'a Index<'t>,
    clocks: Vec<Vec<u32>>,
    objects: FxHashMap<u32, Passed>,
    slot: Vec<u32>,
    locations: Vec<u32>,
    races: Vec<(EventId, EventId)>,
}

fn join(into: &mut [u32], from: &[u32]) {
    for (into, &from) in into.iter_mut().zip(from) {
        *into = from.max(*into);
    }
}

impl Pass<'_, '_> {
    fn event(&mut self, event: EventId) {
        let index = self.index;
        let (thread, position) = index.place(event);
        let op = index.trace.op(event);
        let object = index.trace.object(event);
        self.clocks[thread][thread] = position + 1;
        match op.subject() {
            Subject::Memory => {
                let slot = self.slot[object as usize];
                if slot != NONE {
                    self.access(thread, op, event, slot as usize);
                }
            }
            Subject::Thread => {
                let (from, to) = if op == Op::Fork { (thread, object as usize) } else { (object as usize, thread) };
                let clock = std::mem::take(&mut self.clocks[from]);
                join(&mut self.clocks[to], &clock);
                self.clocks[from] = clock;
            }
            Subject::Nothing => {}
            Subject::Lock if op != Op::TryFailed && !index.is_outermost(event) => {}
            _ => self.synchronise(thread, op, object),
        }
    }

    fn synchronise(&mut self, thread: usize, op: Op, object: u32) {
        let threads = self.index.threads();
        let clock = &mut self.clocks[thread];
        let passed = self.objects.entry(object).or_insert_with(|| Passed {
            exclusive: vec![0; threads],
            all: vec![0; threads],
            taken: vec![0; threads],
        });
        match op {
            Op::Acquire | Op::TryAcquire => {
                join(clock, &passed.all);
                join(&mut passed.taken, clock);
            }
            Op::AcquireShared | Op::TryAcquireShared => {
                join(clock, &passed.exclusive);
                join(&mut passed.taken, clock);
            }
            Op::ReleaseShared => join(&mut passed.all, clock),
            Op::TryFailed => join(clock, &passed.taken),
            Op::Depart => join(clock, &passed.all),
            _ => {
                join(clock, &passed.all);
                join(&mut passed.all, clock);
                join(&mut passed.exclusive, clock);
            }
        }
    }

    fn access(&mut self, thread: usize, op: Op, event: EventId, slot: usize) {
        let index = self.index;
        let threads = index.threads();
        let rows = &mut self.locations[slot * ROWS * threads..][..ROWS * threads];
        let clock = &mut self.clocks[thread];
        let conflicting: &[usize] = match op {
            Op::Read => &[PLAIN_WRITE, ATOMIC_WRITE],
            Op::AtomicRead => &[PLAIN_WRITE],
            Op::Write => &[PLAIN_READ, ATOMIC_READ, PLAIN_WRITE, ATOMIC_WRITE],
            _ => &[PLAIN_READ, PLAIN_WRITE],
        };
        for &row in conflicting {
            let last = &rows[row * threads..][..threads];
            for (other, (&last, &known)) in last.iter().zip(clock.iter()).enumerate() {
                if last > known {
                    self.races.push((index.events[other][last as usize - 1], event));
                }
            }
        }
        if op.reads() {
            join(clock, &rows[LAST_WRITE * threads..][..threads]);
        }
        let now = clock[thread];
        if op.reads() {
            rows[if op == Op::Read { PLAIN_READ } else { ATOMIC_READ } * threads + thread] = now;
        }
        if op.writes() {
            rows[if op == Op::Write { PLAIN_WRITE } else { ATOMIC_WRITE } * threads + thread] = now;
            rows[LAST_WRITE * threads..][..threads].copy_from_slice(clock);
        }
    }
}
