//! What happens before what: a vector clock for each thread, and for everything that threads synchronise by.
//!
//! The rules are those of C20: a load that acquires synchronises with the store that it reads from, if that releases or
//! follows a release fence in its thread; updates continue the release sequence of what they change, plain atomic
//! stores begin anew.

use racehunter_ir::Order;
use std::collections::BTreeMap;

/// By thread, the number of its releases that have happened before.
type Clock = BTreeMap<usize, u32>;

/// The state of the order.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Clocks {
    /// Threads, locks and other objects, and atomic memory by its address.
    threads: BTreeMap<usize, Clock>,
    locks: BTreeMap<i64, Clock>,
    memory: BTreeMap<i64, Clock>,
    /// By thread: its clock at the last release fence, and what an acquire fence would acquire.
    fenced: BTreeMap<usize, Clock>,
    pending: BTreeMap<usize, Clock>,
    /// By address, thread, whether it is a write, and whether it is atomic: the time of the last access.
    accesses: BTreeMap<(i64, usize, bool, bool), u32>,
}

fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
}

fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&thread, &time) in other {
        let known = clock.entry(thread).or_default();
        *known = time.max(*known);
    }
}

impl Clocks {
    fn of(&self, thread: usize) -> Clock {
        self.threads.get(&thread).cloned().unwrap_or_else(|| Clock::from([(thread, 1)]))
    }

    /// Makes later accesses of a thread distinct from those that it has released.
    fn tick(&mut self, thread: usize) {
        let mut clock = self.of(thread);
        *clock.entry(thread).or_insert(1) += 1;
        self.threads.insert(thread, clock);
    }

    fn learn(&mut self, thread: usize, other: &Clock) {
        let mut clock = self.of(thread);
        join(&mut clock, other);
        self.threads.insert(thread, clock);
    }

    /// A thread creates the next one.
    pub fn create(&mut self, thread: usize) {
        let new = self.threads.keys().copied().chain([thread]).max().unwrap_or(0) + 1;
        let parent = self.of(thread);
        self.threads.insert(thread, parent.clone());
        self.threads.insert(new, Clock::from([(new, 1)]));
        self.learn(new, &parent);
        self.tick(thread);
    }

    /// A thread joins another.
    pub fn acquire_all_of(&mut self, thread: usize, other: usize) {
        let left = self.of(other);
        self.learn(thread, &left);
    }

    /// A thread takes a lock, or is let through by something like it.
    pub fn acquire(&mut self, thread: usize, lock: i64) {
        let left = self.locks.get(&lock).cloned().unwrap_or_default();
        self.learn(thread, &left);
    }

    /// A thread releases a lock, or lets others through.
    pub fn release(&mut self, thread: usize, lock: i64) {
        let clock = self.of(thread);
        join(self.locks.entry(lock).or_default(), &clock);
        self.tick(thread);
    }

    /// A thread loads atomically.
    pub fn load(&mut self, thread: usize, address: i64, order: Order) {
        let found = self.memory.get(&address).cloned().unwrap_or_default();
        if acquires(order) {
            self.learn(thread, &found);
        } else {
            join(self.pending.entry(thread).or_default(), &found);
        }
    }

    /// A thread stores atomically.
    pub fn store(&mut self, thread: usize, address: i64, order: Order) {
        self.memory.remove(&address);
        self.pass_on(thread, address, order);
    }

    /// A thread updates memory atomically.
    pub fn update(&mut self, thread: usize, address: i64, order: Order) {
        self.load(thread, address, order);
        self.pass_on(thread, address, order);
    }

    fn pass_on(&mut self, thread: usize, address: i64, order: Order) {
        let fenced = self.fenced.get(&thread).cloned().unwrap_or_default();
        join(self.memory.entry(address).or_default(), &fenced);
        if releases(order) {
            let clock = self.of(thread);
            join(self.memory.entry(address).or_default(), &clock);
            self.tick(thread);
        }
    }

    /// A thread executes a fence.
    pub fn fence(&mut self, thread: usize, order: Order) {
        if acquires(order) {
            let pending = self.pending.get(&thread).cloned().unwrap_or_default();
            self.learn(thread, &pending);
        }
        if releases(order) {
            let clock = self.of(thread);
            self.fenced.insert(thread, clock);
            self.tick(thread);
        }
    }

    /// A thread accesses memory; returns true if that races with an earlier access.
    pub fn access(&mut self, thread: usize, address: i64, write: bool, atomic: bool) -> bool {
        let clock = self.of(thread);
        let mut there = self.accesses.range((address, 0, false, false)..(address + 1, 0, false, false));
        let is_race = there.any(|(&(_, other, written, was_atomic), &time)| {
            other != thread
                && (write || written)
                && !(atomic && was_atomic)
                && time > clock.get(&other).copied().unwrap_or(0)
        });
        self.accesses.insert((address, thread, write, atomic), clock[&thread]);
        is_race
    }
}
