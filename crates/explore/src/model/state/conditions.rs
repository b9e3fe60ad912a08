//! Condition variables: which waiter a signal wakes.

use super::{Phase, State, Status, Thread};
use crate::Wait;

impl State<'_> {
    /// Returns the signal that a waiter may take.
    pub(super) fn permit(&self, condition: usize, ticket: u64) -> Option<usize> {
        self.permits.iter().position(|&(on, after)| on == condition && after > ticket)
    }

    /// Returns whether a thread waits on a condition variable and may wake up spuriously.
    pub fn may_wake(&self, number: u32) -> bool {
        self.chooses_wakeups && self.status(number) == Status::Blocked(Wait::Condition)
    }

    /// Leaves a signal for one of the waiters, if more than one could take it.
    pub(super) fn grant(&mut self, condition: usize) -> bool {
        let tickets: Vec<u64> = self
            .threads
            .iter()
            .filter_map(|thread| match thread.phase {
                Phase::Waiting { condition: on, ticket, .. } if on == condition => Some(ticket),
                _ => None,
            })
            .collect();
        let Some(&first) = tickets.iter().min() else { return false };
        let granted = self.permits.iter().filter(|&&(on, after)| on == condition && after > first).count();
        if !self.chooses_wakeups || tickets.len() == 1 && granted == 0 {
            return false;
        }
        if tickets.len() > granted {
            self.tickets += 1;
            self.permits.push((condition, self.tickets));
        }
        true
    }

    /// Returns whether a thread waits again as if it had not been woken: it woke up spuriously, and since then no other
    /// thread has done anything and it has only read.
    pub(super) fn waits_again(&mut self, number: u32) -> bool {
        let thread = self.thread(number);
        let (place, woken) = ((thread.position, thread.registers), thread.woken);
        let again = woken.is_some_and(|woken| woken + 1 == self.events) && thread.waited == place;
        let thread = self.thread_mut(number);
        thread.waited = place;
        thread.woken = None;
        again
    }

    /// Wakes the thread that has waited longest on a condition variable, if there is one.
    pub(super) fn wake(&mut self, condition: usize) -> bool {
        let waiting = |thread: &&mut Thread| match thread.phase {
            Phase::Waiting { condition: on, ticket, .. } if on == condition => Some(ticket),
            _ => None,
        };
        let longest = self.threads.iter_mut().filter(|thread| waiting(thread).is_some()).min_by_key(waiting);
        let Some(thread) = longest else { return false };
        if let Phase::Waiting { mutex, .. } = thread.phase {
            thread.phase = Phase::Relocking { mutex };
            thread.deadline = None;
        }
        true
    }
}
