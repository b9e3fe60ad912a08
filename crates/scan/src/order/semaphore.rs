//! Semaphores as ordering, and as locks.
//!
//! If a semaphore starts at 0 and only one thread posts it, code after a wait is ordered after everything that thread
//! did before its first post. If it starts at 1 and only threads that hold it post it, it is a lock. Both are assumed
//! until control is seen to violate them ([`SemaphoreInvariant`]).

use super::SyncEvent;
use crate::locks::lockset::{HeldLock, held};
use crate::locks::summary;
use crate::models::{Does, Semaphore};
use crate::pointer::InstanceId;
use crate::solver::{Solver, State};
use racehunter_ir::Instruction;
use std::collections::BTreeMap;

/// What holds for a semaphore in the whole program, as far as control was followed.
#[derive(Clone, Debug, Default)]
pub struct SemaphoreInvariant {
    /// Places that set its initial value, and that value.
    pub begins: BTreeMap<(u32, u32), Option<i64>>,
    /// It is used in a way that the other fields do not cover.
    pub is_odd: bool,
    /// A thread that did not hold it posted it.
    pub is_no_lock: bool,
}

impl SemaphoreInvariant {
    /// Returns true if its initial value is, or may still turn out to be, this one.
    pub fn begins_with(&self, value: i64) -> bool {
        !self.is_odd && self.begins.len() < 2 && self.begins.values().all(|begin| *begin == Some(value))
    }
}

impl Solver<'_, '_> {
    /// Handles a call of a semaphore function.
    pub(crate) fn semaphore(
        &mut self,
        id: InstanceId,
        at: u32,
        call: &Instruction,
        model: &Semaphore,
        state: &mut State,
    ) {
        let operand = |index: usize| call.operands.get(index + 1);
        let addresses = operand(model.semaphore).map(|operand| self.points_to.operand(id, operand)).unwrap_or_default();
        let locks = summary::locks(self.points_to, &addresses);
        match model.does {
            Does::Lower => state.may_hold.extend(locks),
            _ => state.may_hold.retain(|lock| !locks.contains(lock)),
        }
        let Some(key) = self.key(&addresses) else {
            if model.does != Does::Lower {
                self.invariants.raised_unknown();
            }
            return;
        };
        let thread = self.points_to.instances[id].thread;
        let event = SyncEvent::Raised(key.clone());
        match model.does {
            Does::Begin => {
                let value = model.value.and_then(operand).and_then(|operand| self.known(id, operand, state));
                let is_new = self.is_alone(thread, state) && !held(state).any(|lock| lock.id == key);
                self.invariants.semaphore(&key, |known| {
                    known.is_odd |= !is_new || known.begins.insert((id.0, at), value).is_some_and(|old| old != value);
                });
            }
            Does::Raise => {
                let has = held(state).any(|lock| lock.id == key);
                self.invariants.semaphore(&key, |known| known.is_no_lock |= !has);
                self.invariants.made(event.clone(), thread);
                state.done.insert(event);
                state.lockset.retain(|lock| lock.id != key);
            }
            Does::Lower => {
                self.invariants.semaphore(&key, |_| {});
                if self.invariants.any_semaphore {
                    return;
                }
                let known = &self.invariants.semaphores[&key];
                if known.begins_with(1) && !known.is_no_lock {
                    let if_zero = model.tries.then_some((id, at));
                    state.lockset.insert(HeldLock { id: key, shared: false, if_zero });
                } else if known.begins_with(0) && !model.tries {
                    state.seen.insert(event);
                }
            }
        }
    }
}
