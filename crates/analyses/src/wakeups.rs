//! Which spurious wake-ups to try.
//!
//! A thread that wakes up while another thread holds its mutex only waits for that mutex: the running thread continues,
//! at no cost. As long as the mutex is not released and no thread signals the condition variable, the time of the
//! wake-up does not matter: all orders have the same past and the same cost. It is therefore tried once, at the first
//! decision.

use racehunter_explore::{Execution, Record};
use racehunter_log::{Address, Entry, Event, EventNumber, LockMode, ThreadId};
use std::collections::{HashMap, HashSet};

/// The waits on condition variables up to some event of an execution.
pub(crate) struct Wakeups<'e> {
    records: std::iter::Peekable<std::slice::Iter<'e, Record>>,
    waits: HashMap<ThreadId, Wait>,
    held: HashSet<Address>,
}

struct Wait {
    condition: Address,
    mutex: Address,
    tried: bool,
}

impl<'e> Wakeups<'e> {
    pub fn new(execution: &'e Execution) -> Self {
        Self { records: execution.records.iter().peekable(), waits: HashMap::default(), held: HashSet::default() }
    }

    /// Advances to the decision about event `at`.
    pub fn reach(&mut self, at: EventNumber) {
        while let Some(record) = self.records.next_if(|record| Entry::of(record).number() < at) {
            self.note(Entry::of(record));
        }
    }

    fn note(&mut self, entry: Entry<'_>) {
        match entry.event() {
            Event::Acquire { lock, mode: LockMode::Mutex, attempt } if attempt.succeeds() => self.holds(lock, true),
            Event::Release { lock, is_rwlock: false, is_refused: false } => self.holds(lock, false),
            Event::Wait { condition, mutex, .. } => {
                self.holds(mutex, false);
                self.waits.insert(entry.thread(), Wait { condition, mutex, tried: false });
            }
            Event::Signal { condition } | Event::Broadcast { condition } => {
                let waits = self.waits.values_mut().filter(|wait| wait.condition == condition);
                waits.for_each(|wait| wait.tried = false);
            }
            _ => {}
        }
    }

    fn holds(&mut self, mutex: Address, held: bool) {
        if held {
            self.held.insert(mutex);
        } else {
            self.held.remove(&mutex);
        }
        self.waits.values_mut().filter(|wait| wait.mutex == mutex).for_each(|wait| wait.tried = false);
    }

    /// Returns whether waking this thread now would show anything that was not tried before.
    pub fn are_new_for(&mut self, thread: ThreadId) -> bool {
        let Some(wait) = self.waits.get_mut(&thread) else { return true };
        !(self.held.contains(&wait.mutex) && std::mem::replace(&mut wait.tried, true))
    }
}
