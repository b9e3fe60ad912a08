//! Orders that do not come from locks: semaphores, functions that are called once, waiting for a condition.

use super::calls::may_be;
use super::{Event, Follower, Held, State};
use crate::address::Offset;
use crate::effects;
use crate::linear::linear;
use crate::models::{Barrier, Does, Model, Semaphore};
use crate::points_to::InstanceId;
use racehunter_ir::{Instruction, Operand};

impl Follower<'_, '_> {
    /// What a call does with a semaphore.
    pub(super) fn semaphore(
        &mut self,
        id: InstanceId,
        at: u32,
        call: &Instruction,
        model: &Semaphore,
        state: &mut State,
    ) {
        let operand = |index: usize| call.operands.get(index + 1);
        let addresses = operand(model.semaphore).map(|operand| self.points_to.operand(id, operand)).unwrap_or_default();
        let locks = effects::locks(self.points_to, &addresses);
        match model.does {
            Does::Lower => state.may_hold.extend(locks),
            _ => state.may_hold.retain(|lock| !locks.contains(lock)),
        }
        let Some(key) = self.key(&addresses) else {
            if model.does != Does::Lower {
                self.beliefs.raised_unknown();
            }
            return;
        };
        let thread = self.points_to.instances[id.0 as usize].thread;
        let event = Event::Raised(key.clone());
        match model.does {
            Does::Begin => {
                let value = model.value.and_then(operand).and_then(|operand| self.known(id, operand, state));
                let is_new = self.is_alone(thread, state) && !super::memory::held(state).any(|lock| lock.key == key);
                self.beliefs.semaphore(&key, |known| {
                    known.is_odd |= !is_new || known.begins.insert((id.0, at), value).is_some_and(|old| old != value);
                });
            }
            Does::Raise => {
                let has = super::memory::held(state).any(|lock| lock.key == key);
                self.beliefs.semaphore(&key, |known| known.is_no_lock |= !has);
                self.beliefs.made(event.clone(), thread);
                state.done.insert(event);
                state.locks.retain(|lock| lock.key != key);
            }
            Does::Lower => {
                self.beliefs.semaphore(&key, |_| {});
                if self.beliefs.any_semaphore {
                    return;
                }
                let known = &self.beliefs.semaphores[&key];
                if known.begins_with(1) && !known.is_no_lock {
                    let if_zero = model.tries.then_some((id, at));
                    state.locks.insert(Held { key, shared: false, if_zero });
                } else if known.begins_with(0) && !model.tries {
                    state.seen.insert(event);
                }
            }
        }
    }

    /// What a call does with a barrier.
    pub(super) fn barrier(&mut self, id: InstanceId, at: u32, call: &Instruction, model: &Barrier, state: &mut State) {
        let operand = |index: usize| call.operands.get(index + 1);
        let addresses = operand(model.barrier).map(|operand| self.points_to.operand(id, operand)).unwrap_or_default();
        let Some(key) = self.key(&addresses) else {
            self.beliefs.unknown_barrier();
            return;
        };
        let thread = self.points_to.instances[id.0 as usize].thread;
        match model.count {
            Some(count) => {
                let count = operand(count).and_then(|operand| self.known(id, operand, state));
                let is_new = self.is_alone(thread, state) && self.points_to.is_place_once(id, at);
                self.beliefs.barrier(&key, |known| {
                    known.is_odd |= !is_new || known.begins.insert((id.0, at), count).is_some_and(|old| old != count);
                });
            }
            None => {
                self.beliefs.barrier(&key, |known| {
                    known.threads.insert(thread);
                });
                let passed = state.rounds.get(&key).copied().unwrap_or(Offset::exact(0));
                state.rounds.insert(key, passed.plus(1));
            }
        }
    }

    /// A function that gives a lock back, waits, and takes it again.
    pub(super) fn wait(&mut self, id: InstanceId, lock: Option<&Operand>, state: &State) -> Vec<State> {
        let Some(lock) = lock else { return vec![state.clone()] };
        let addresses = self.points_to.operand(id, lock);
        let mut without = state.clone();
        self.given_back(id, state, |key| may_be(self.points_to, &addresses, key));
        self.unlock(&linear(self.points_to, id, lock), &addresses, &mut without);
        let mut after = Vec::new();
        for waiting in self.after_change(id, state, without) {
            let mut back = waiting.clone();
            back.locks.clone_from(&state.locks);
            after.extend(self.after_change(id, &waiting, back));
        }
        after
    }

    /// The event that is over when a call returns: its argument has been called, by whomever.
    pub(super) fn once(&self, id: InstanceId, at: u32, call: &Instruction) -> Option<Event> {
        let instance = &self.points_to.instances[id.0 as usize];
        let mut names = instance.outside.get(&at)?.iter();
        let name = names.next().filter(|_| names.next().is_none())?;
        let Some(Model::Call(call_back)) = self.points_to.models.of(name) else { return None };
        let control = call.operands.get(call_back.once? + 1)?;
        self.key(&self.points_to.operand(id, control)).map(Event::Once)
    }
}
