//! What has happened so far, up to the order of independent operations.

use crate::entry::Entry;
use crate::event::Event;
use crate::footprint::Footprint;
use racehunter_abi::{EventNumber, Record, ThreadId};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The past of an execution, as a hash: equal for equal pasts, and different for different ones except with a probability of
/// one in 2^128. Every operation is identified by its thread, its place, and its own past. (CHESS and RankChecker call the
/// partial order of the operations the happens-before graph.)
#[derive(Default)]
pub struct Past {
    /// The sum of all operations, which does not depend on their order.
    sum: u128,
    /// The last operation of each thread.
    threads: Vec<u128>,
    /// The last change of each object, and the sum of its reads since.
    objects: HashMap<u64, (u128, u128), BuildHasherDefault<ObjectHasher>>,
    /// The last operation that conflicts with everything.
    barrier: u128,
}

impl Past {
    /// Adds an operation.
    pub fn note(&mut self, entry: Entry<'_>, footprint: &Footprint) {
        let Record { code, thread, kind, detail, .. } = *entry.0;
        let index = thread.index();
        if self.threads.len() <= index {
            self.threads.resize(index + 1, 0);
        }
        let mut event = mix(self.threads[index], u128::from(thread.0) << 64 | u128::from(code.0));
        event = mix(event, u128::from(kind as u8) << 8 | u128::from(detail));
        event = mix(event, if footprint.is_everything() { self.sum } else { self.barrier });
        for touch in footprint.touches() {
            let (changed, read) = self.objects.get(&touch.object).copied().unwrap_or_default();
            event = mix(event, changed.wrapping_add(if touch.changes { read } else { 0 }));
        }
        for touch in footprint.touches() {
            let known = self.objects.entry(touch.object).or_default();
            *known = if touch.changes { (event, 0) } else { (known.0, known.1.wrapping_add(event)) };
        }
        if footprint.is_everything() {
            self.barrier = event;
        }
        self.threads[index] = event;
        self.sum = self.sum.wrapping_add(event);
    }

    /// Returns the hash.
    #[must_use]
    pub fn number(&self) -> u128 {
        self.sum
    }
}

/// Adds a word to a hash.
#[must_use]
pub const fn mix(state: u128, word: u128) -> u128 {
    let mixed = (state.rotate_left(41) ^ word).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    mixed ^ (mixed >> 67)
}

/// Object numbers differ in their lower bits, which is enough for a hash table.
#[derive(Default)]
pub struct ObjectHasher(u64);

impl std::hash::Hasher for ObjectHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

/// Reads a log from its start, and knows the [`Past`] before each event. Must be queried in the order of the events.
///
/// Unlike a bounded search, it also includes yields and sleeps: priority schedulers depend on their order, whatever memory
/// the threads touch.
pub struct History<'l> {
    records: &'l [Record],
    next: usize,
    past: Past,
    /// Threads that can continue only because time passes.
    suspended: Vec<ThreadId>,
    /// The number of known threads, and those that have ended.
    threads: u32,
    ended: Vec<ThreadId>,
}

impl<'l> History<'l> {
    /// Starts at the beginning of a log.
    #[must_use]
    pub fn new(records: &'l [Record]) -> Self {
        Self { records, next: 0, past: Past::default(), suspended: Vec::new(), threads: 1, ended: Vec::new() }
    }

    /// Returns a hash of the events before `at`, the same for all orders that differ only in independent events.
    pub fn before(&mut self, at: EventNumber) -> u64 {
        while let Some(entry) = self.records.get(self.next).map(Entry::of) {
            if entry.is_operation() && entry.number() >= at {
                break;
            }
            self.next += 1;
            self.note(entry);
        }
        let number = self.past.number();
        (number ^ number >> 64) as u64
    }

    fn note(&mut self, entry: Entry<'_>) {
        let event = entry.event();
        let thread = entry.thread();
        if entry.is_operation() {
            let time_passes = self.wake(thread);
            let is_about_order = matches!(event, Event::Yield | Event::Sleep);
            let footprint = Footprint::of_event(thread, &event, time_passes || is_about_order);
            self.past.note(entry, &footprint);
            self.threads = self.threads.max(thread.0.saturating_add(1));
        }
        match event {
            Event::Suspended { .. } => self.suspended.push(thread),
            Event::Woken => {
                self.wake(thread);
            }
            Event::WokenSet(set) => {
                for thread in set.iter() {
                    self.wake(thread);
                }
            }
            Event::Create { child, .. } => self.threads = self.threads.max(child.0.saturating_add(1)),
            Event::Exit => self.ended.push(thread),
            _ => {}
        }
    }

    /// Notes that the thread can continue. Returns whether it had to wait for time.
    fn wake(&mut self, thread: ThreadId) -> bool {
        let before = self.suspended.len();
        self.suspended.retain(|&suspended| suspended != thread);
        self.suspended.len() < before
    }

    /// Returns the threads that have not ended.
    pub fn live(&self) -> impl Iterator<Item = ThreadId> + '_ {
        (0..self.threads).map(ThreadId).filter(|thread| !self.ended.contains(thread))
    }
}
