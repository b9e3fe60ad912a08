//! Which beginnings of executions differ only in the order of independent events.
//!
//! Two events depend on each other when one thread performs both, when they are about the same memory and one of them
//! writes, when they are about the same object of synchronisation, or when one creates or joins the thread of the other.
//! Beginnings that have the same events with the same dependences lead to the same state of the program. (The graph of
//! them is what CHESS and RankChecker call the happens-before graph.)

use crate::points::bytes;
use crate::{Execution, Kind, Record, Touched, Variables, state_object};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// What is known to have happened before: for each thread how many of its events.
type Clock = Vec<u32>;

/// Reads a log from its beginning. Asked for in the order of the events.
pub struct Causes<'e> {
    execution: &'e Execution,
    variables: Variables,
    next: usize,
    threads: Vec<Clock>,
    objects: FxHashMap<u64, Object>,
    over: Vec<u32>,
    sum: u64,
}

#[derive(Default)]
struct Object {
    written: Clock,
    read: Clock,
}

/// Stands for whatever orders events in ways that the log does not tell: time, files, signals.
const WORLD: u64 = u64::MAX;
/// Accesses to more memory than this are ordered as if they were about the world.
const MOST_BYTES: u64 = 4096;

impl<'e> Causes<'e> {
    /// At the beginning of an execution.
    #[must_use]
    pub fn new(execution: &'e Execution) -> Self {
        let (variables, threads, objects) = (Variables::default(), Vec::new(), FxHashMap::default());
        Self { execution, variables, next: 0, threads, objects, over: Vec::new(), sum: 0 }
    }

    /// A number for the events before `at`, and their dependences; whatever their order was apart from that.
    pub fn before(&mut self, at: u64) -> u64 {
        while let Some(record) = self.execution.records.get(self.next) {
            if record.kind.is_event() && record.index >= at {
                break;
            }
            self.next += 1;
            let _ = self.variables.note(self.execution, record);
            if record.kind.is_event() {
                self.event(record);
            }
        }
        self.sum
    }

    /// The threads that had not ended then.
    pub fn live(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.threads.len().max(1) as u32).filter(|thread| !self.over.contains(thread))
    }

    fn clock(&mut self, thread: u32) -> &mut Clock {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Clock::new());
        }
        let clock = &mut self.threads[index];
        if clock.len() <= index {
            clock.resize(index + 1, 0);
        }
        clock
    }

    fn event(&mut self, record: &Record) {
        let thread = record.thread;
        let mut clock = std::mem::take(self.clock(thread));
        clock[thread as usize] += 1;
        let changes = !matches!(record.kind, Kind::Read | Kind::AtomicRead | Kind::ReadRange);
        for key in keys(record) {
            let object = self.objects.entry(key).or_default();
            join(&mut clock, &object.written);
            if changes {
                join(&mut clock, &object.read);
            }
        }
        if record.kind == Kind::Exit {
            self.over.push(thread);
        }
        if record.kind == Kind::Join {
            let over = self.clock(record.object as u32).clone();
            join(&mut clock, &over);
        }
        for key in keys(record) {
            let object = self.objects.entry(key).or_default();
            join(if changes { &mut object.written } else { &mut object.read }, &clock);
        }
        if record.kind == Kind::Create {
            let child = self.clock(record.object as u32);
            join(child, &clock);
        }
        // Threads by their paths: their numbers depend on the order of creation. A sum, since order is not to matter.
        let known = clock.iter().enumerate().filter(|&(_, &count)| count > 0);
        let past = known.map(|(other, &count)| hash((self.variables.path(other as u32), count)));
        let past = past.fold(0_u64, u64::wrapping_add);
        self.sum = self.sum.wrapping_add(hash((self.variables.path(thread), past)));
        self.threads[thread as usize] = clock;
    }
}

/// What an event is about.
fn keys(record: &Record) -> Vec<u64> {
    match record.kind {
        Kind::Create | Kind::Join | Kind::Exit | Kind::Detach => Vec::new(),
        kind if kind.is_access() => {
            let granules: Vec<u64> =
                bytes(record).map(|(granule, _)| granule).take(MOST_BYTES as usize / 8 + 1).collect();
            if granules.len() as u64 > MOST_BYTES / 8 { vec![WORLD] } else { granules }
        }
        // Objects of synchronisation and memory have different keys: granules are eighths of addresses.
        Kind::Lock | Kind::Unlock | Kind::Signal | Kind::Broadcast | Kind::SemWait | Kind::SemPost => {
            vec![!record.object]
        }
        Kind::Wait => vec![!record.object, !record.extra],
        Kind::State => Touched::unpack(record.extra).parts().map(|(cell, _)| state_object(cell)).collect(),
        kind if kind.is_synchronisation() => vec![!record.object, WORLD],
        _ => vec![WORLD],
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    // Sums of them must not be as regular as they are.
    let mixed = hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ModelExecutor, Op, Program, Value};
    use crate::{Plan, Switch};

    /// The number of a program's execution in which the threads perform events in this order.
    fn sum(program: &Program, order: &[u32]) -> u64 {
        let mut executor = ModelExecutor::new(program.clone());
        executor.add_all_points();
        let (mut switches, mut from) = (Vec::new(), 0);
        for (at, &to) in order.iter().enumerate() {
            if to != from {
                switches.push(Switch { at: at as u64 + 1, to, from, code: 0 });
            }
            from = to;
        }
        let execution = executor.run_one(&Plan::replay(switches));
        assert_eq!(crate::model::order(&execution), order);
        Causes::new(&execution).before(u64::MAX)
    }

    #[test]
    fn independent_events_can_change_places_and_dependent_ones_cannot() {
        let two = |a: Vec<Op>, b: Vec<Op>| Program::bare(vec![a, b]);
        let write = |variable| Op::Write(variable, Value::Const(1));
        let orders = |program: &Program| (sum(program, &[0, 0, 1, 1]), sum(program, &[0, 1, 0, 1]));
        let (serial, mixed) = orders(&two(vec![write(0), write(1)], vec![write(2), write(3)]));
        assert_eq!(serial, mixed);
        let (serial, mixed) = orders(&two(vec![Op::Read(0, 0), Op::Read(1, 1)], vec![Op::Read(1, 0), Op::Read(0, 1)]));
        assert_eq!(serial, mixed, "reads");
        let (serial, mixed) = orders(&two(vec![write(0), write(1)], vec![write(1), write(2)]));
        assert_ne!(serial, mixed, "writes");
        let (serial, mixed) = orders(&two(vec![write(0), Op::Read(1, 1)], vec![write(1), write(2)]));
        assert_ne!(serial, mixed, "a read and a write");
        let (serial, mixed) = orders(&two(vec![write(0), Op::SemPost(0)], vec![Op::SemPost(0), write(2)]));
        assert_ne!(serial, mixed, "synchronisation");
    }
}
