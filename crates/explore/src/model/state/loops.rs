//! Waiting loops: a thread that returns to the same state has to wait for others.

use super::{Operation, State, Status, VARIABLES, Visit};
use crate::Wait;
use racehunter_log::{Attempt, Event};

impl State<'_> {
    pub(super) fn has_still(&self, values: &[(usize, i64)]) -> bool {
        values.iter().all(|&(variable, value)| self.variables[variable] == value)
    }

    /// Returns whether all threads that have not ended are blocked, some of them in loops.
    pub fn spins_for_ever(&self) -> bool {
        (0..self.threads()).any(|thread| self.status(thread) == Status::Blocked(Wait::Change))
    }

    /// Notes what a thread has just done.
    pub(super) fn retrace(&mut self, number: u32, operation: &Operation) {
        let Operation { at, event } = operation;
        let looks = match event {
            Event::Acquire { attempt, .. } => *attempt == Attempt::Blocking,
            Event::Access(access) => !access.mode.writes(),
            _ => false,
        };
        let thread = self.thread_mut(number);
        if !matches!(event, Event::WaitEnd { .. }) {
            // Consecutive events only.
            thread.woken = thread.woken.filter(|woken| looks && woken + 1 == at.number.0).map(|woken| woken + 1);
        }
        self.thread_mut(number).awaits = None;
        if !matches!(event, Event::Access(_) | Event::Yield | Event::Sleep) {
            let thread = self.thread_mut(number);
            thread.visits.clear();
            thread.touched.clear();
        }
    }

    /// Checks whether a thread is about to repeat an access in the same state.
    pub(super) fn look_back(&mut self, number: u32) {
        let Some(access) = self.next_access(number).filter(|_| self.spins_are_waits) else { return };
        let thread = self.thread(number);
        let (position, registers) = (thread.position, thread.registers);
        let is_here = |visit: &&Visit| visit.position == position && visit.registers == registers;
        if let Some(visit) = thread.visits.iter().rev().find(is_here) {
            // The values before the first access since.
            let mut awaited: Vec<(usize, i64)> = Vec::new();
            for &(variable, value) in &thread.touched[visit.touched..] {
                if awaited.iter().all(|&(known, _)| known != variable) {
                    awaited.push((variable, value));
                }
            }
            if self.has_still(&awaited) {
                self.thread_mut(number).awaits = Some(awaited);
            }
        }
        let variable = ((access.object() - VARIABLES) / 8) as usize;
        let value = self.variables[variable];
        let thread = self.thread_mut(number);
        let touched = thread.touched.len();
        thread.visits.push(Visit { position, registers, touched });
        thread.touched.push((variable, value));
    }
}
