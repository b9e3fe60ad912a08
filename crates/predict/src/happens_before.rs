//! Races that the trace itself shows: schedulable happens-before, in one linear pass.
//!
//! Besides the order within threads, forks and joins, and each lock from its release to its next acquisition, a read
//! happens after the write that it sees. Two conflicting accesses that are still unordered can be made adjacent without
//! changing what anything before them saw. So each such pair is a race under every policy, but most races that need a
//! reordering are missed.

//!
//! The pass is bound by memory bandwidth, so it uses little memory. Most accesses are to locations that cannot race, as
//! one bit shows. Of the others, most come after everything that was done to their location, as under a lock; then one
//! comparison with the last access is enough. The pass still records what all threads did, but does not examine it.

use crate::index::{Index, NONE};
use racehunter_trace::{EventId, Op, Subject};

/// Returns the pairs of accesses that the trace shows to race: each access with the last conflicting one of each other
/// thread.
#[must_use]
pub fn happens_before(index: &Index<'_>) -> Vec<(EventId, EventId)> {
    let mut pass = Pass::new(index);
    for event in 0..index.trace.len() as EventId {
        pass.event(event);
    }
    pass.races
}

/// Rows of each shared location, by thread: one more than the position of the last access of each kind, and the clock
/// of the last write.
const ROWS: usize = 5;
const PLAIN_READ: usize = 0;
const PLAIN_WRITE: usize = 1;
const LAST_WRITE: usize = 2;
const ATOMIC_READ: usize = 3;
const ATOMIC_WRITE: usize = 4;

/// Rows of each synchronisation object: what it passes on from threads that changed it exclusively, from all threads,
/// and from threads that took it.
const PASSED: usize = 3;
const EXCLUSIVE: usize = 0;
const ALL: usize = 1;
const TAKEN: usize = 2;

/// An event of a thread, as one more than its position. A thread that knows it knows everything that happened before
/// it.
#[derive(Clone, Copy)]
struct Epoch {
    thread: u32,
    time: u32,
}

impl Epoch {
    /// An epoch that no thread can know.
    const NEVER: Self = Self { thread: 0, time: NONE };
    /// An epoch that every thread knows.
    const START: Self = Self { thread: 0, time: 0 };

    fn is_known(self, clock: &[u32]) -> bool {
        self.time <= clock[self.thread as usize]
    }
}

/// The pass. A clock says for each thread how many of its events happened before.
struct Pass<'a, 't> {
    index: &'a Index<'t>,
    threads: usize,
    /// A row for each thread.
    clocks: Vec<u32>,
    /// One bit for each object: set if it is a shared location.
    shared: Vec<u64>,
    /// The number of each object among the shared locations, or among the synchronisation objects.
    slot: Vec<u32>,
    /// The last access to each shared location, if all others happened before it; otherwise [`Epoch::NEVER`].
    last: Vec<Epoch>,
    locations: Vec<u32>,
    passed: Vec<u32>,
    races: Vec<(EventId, EventId)>,
}

/// Joins another clock.
fn join(into: &mut [u32], from: &[u32]) {
    for (into, &from) in into.iter_mut().zip(from) {
        *into = from.max(*into);
    }
}

impl<'a, 't> Pass<'a, 't> {
    fn new(index: &'a Index<'t>) -> Self {
        let threads = index.threads();
        let objects = index.trace.objects();
        let mut shared = vec![0; objects.len().div_ceil(64)];
        let (mut locations, mut others) = (0, 0);
        let number = |(object, kind): (usize, Subject)| {
            let count = if kind != Subject::Memory {
                &mut others
            } else if index.is_shared(object as u32) {
                shared[object / 64] |= 1 << (object % 64);
                &mut locations
            } else {
                return NONE;
            };
            *count += 1;
            *count - 1
        };
        let slot = objects.iter().map(|object| object.subject).enumerate().map(number).collect();
        Self {
            index,
            threads,
            clocks: vec![0; threads * threads],
            shared,
            slot,
            last: vec![Epoch::START; locations as usize],
            locations: vec![0; locations as usize * ROWS * threads],
            passed: vec![0; others as usize * PASSED * threads],
            races: Vec::new(),
        }
    }

    fn event(&mut self, event: EventId) {
        let trace = self.index.trace;
        let (thread, op, object) = (usize::from(trace.thread(event)), trace.op(event), trace.object(event) as usize);
        self.clocks[thread * self.threads + thread] += 1;
        if op.is_access() {
            if self.shared[object / 64] >> (object % 64) & 1 == 1 {
                self.access(thread, op, event, self.slot[object] as usize);
            }
            return;
        }
        match op.subject() {
            Subject::Thread => {
                let (from, to) = if op == Op::Fork { (thread, object) } else { (object, thread) };
                let clock = self.clocks[from * self.threads..][..self.threads].to_vec();
                join(&mut self.clocks[to * self.threads..][..self.threads], &clock);
            }
            Subject::Memory | Subject::Nothing => {}
            Subject::Lock if op != Op::TryFailed && !self.index.is_outermost(event) => {}
            _ => self.synchronise(thread, op, self.slot[object] as usize),
        }
    }

    fn synchronise(&mut self, thread: usize, op: Op, slot: usize) {
        let threads = self.threads;
        let clock = &mut self.clocks[thread * threads..][..threads];
        let passed = &mut self.passed[slot * PASSED * threads..][..PASSED * threads];
        let (exclusive, rest) = passed.split_at_mut((ALL - EXCLUSIVE) * threads);
        let (all, taken) = rest.split_at_mut((TAKEN - ALL) * threads);
        match op {
            Op::Acquire | Op::TryAcquire => {
                join(clock, all);
                // All threads that took it before have released it, and that is known now.
                taken.copy_from_slice(clock);
            }
            Op::AcquireShared | Op::TryAcquireShared => {
                join(clock, exclusive);
                join(taken, clock);
            }
            Op::Release => {
                // No thread has passed anything on since this thread took it.
                all.copy_from_slice(clock);
                exclusive.copy_from_slice(clock);
            }
            Op::ReleaseShared => join(all, clock),
            Op::TryFailed => join(clock, taken),
            Op::Depart => join(clock, all),
            _ => {
                join(clock, all);
                all.copy_from_slice(clock);
            }
        }
    }

    fn access(&mut self, thread: usize, op: Op, event: EventId, slot: usize) {
        let threads = self.threads;
        let rows = &mut self.locations[slot * ROWS * threads..][..ROWS * threads];
        let clock = &mut self.clocks[thread * threads..][..threads];
        let last = &mut self.last[slot];
        let comes_after_all = last.is_known(clock) || {
            for &row in conflicting(op) {
                for (other, (&last, &known)) in rows[row * threads..][..threads].iter().zip(&*clock).enumerate() {
                    if last > known {
                        self.races.push((self.index.events[other][last as usize - 1], event));
                    }
                }
            }
            if op.reads() {
                join(clock, &rows[LAST_WRITE * threads..][..threads]);
            }
            let known =
                |row: usize| rows[row * threads..][..threads].iter().zip(&*clock).all(|(last, known)| last <= known);
            [PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE].into_iter().all(known)
        };
        let time = clock[thread];
        *last = if comes_after_all { Epoch { thread: thread as u32, time } } else { Epoch::NEVER };
        if op.reads() {
            rows[if op == Op::Read { PLAIN_READ } else { ATOMIC_READ } * threads + thread] = time;
        }
        if op.writes() {
            rows[if op == Op::Write { PLAIN_WRITE } else { ATOMIC_WRITE } * threads + thread] = time;
            rows[LAST_WRITE * threads..][..threads].copy_from_slice(clock);
        }
    }
}

/// Returns the rows of the accesses that an operation conflicts with.
fn conflicting(op: Op) -> &'static [usize] {
    match op {
        Op::Read => &[PLAIN_WRITE, ATOMIC_WRITE],
        Op::AtomicRead => &[PLAIN_WRITE],
        Op::Write => &[PLAIN_READ, ATOMIC_READ, PLAIN_WRITE, ATOMIC_WRITE],
        _ => &[PLAIN_READ, PLAIN_WRITE],
    }
}
