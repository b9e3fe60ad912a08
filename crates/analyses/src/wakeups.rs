//! Which spurious wake-ups are worth a try.
//!
//! A thread that wakes up while another one has its mutex only waits for that mutex: the running thread goes on, at no
//! cost. When it wakes up then does not matter, as long as the mutex is not released and no thread signals the condition
//! variable: the two orders have the same past, and cost the same. So it is tried once, at the first decision.

use racehunter_explore::{Execution, Kind, Record};
use std::collections::{HashMap, HashSet};

/// The waits on condition variables of an execution, up to a moment.
pub(crate) struct Wakeups<'e> {
    records: std::iter::Peekable<std::slice::Iter<'e, Record>>,
    waits: HashMap<u32, Wait>,
    held: HashSet<u64>,
}

struct Wait {
    condition: u64,
    mutex: u64,
    tried: bool,
}

impl<'e> Wakeups<'e> {
    pub fn new(execution: &'e Execution) -> Self {
        Self { records: execution.records.iter().peekable(), waits: HashMap::default(), held: HashSet::default() }
    }

    /// On to the decision about event `at`.
    pub fn reach(&mut self, at: u64) {
        while let Some(record) = self.records.next_if(|record| record.index < at) {
            self.note(record);
        }
    }

    fn note(&mut self, record: &Record) {
        let Record { object, extra, thread, .. } = *record;
        match record.kind {
            Kind::Lock => self.holds(object, true),
            Kind::TryLock if record.detail == 1 => self.holds(object, true),
            Kind::Unlock => self.holds(object, false),
            Kind::Wait => {
                self.holds(extra, false);
                self.waits.insert(thread, Wait { condition: object, mutex: extra, tried: false });
            }
            Kind::Signal | Kind::Broadcast => {
                self.waits.values_mut().filter(|wait| wait.condition == object).for_each(|wait| wait.tried = false);
            }
            _ => {}
        }
    }

    fn holds(&mut self, mutex: u64, held: bool) {
        if held {
            self.held.insert(mutex);
        } else {
            self.held.remove(&mutex);
        }
        self.waits.values_mut().filter(|wait| wait.mutex == mutex).for_each(|wait| wait.tried = false);
    }

    /// Whether to wake up this thread at the moment shows anything that was not tried before.
    pub fn are_new_for(&mut self, thread: u32) -> bool {
        let Some(wait) = self.waits.get_mut(&thread) else { return true };
        !(self.held.contains(&wait.mutex) && std::mem::replace(&mut wait.tried, true))
    }
}
