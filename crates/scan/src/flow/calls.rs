//! Calls: into the functions of the program, and what those outside of it do with locks and threads.

use super::{Flow, Follower, Held, Key, Node, State, held, leave_thread};
use crate::address::{Addresses, Base, BaseId, Offset};
use crate::effects;
use crate::linear::{Linear, linear};
use crate::models::{Lock, Model};
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use crate::threads::Family;
use racehunter_ir::{Instruction, Operand, Operation};
use std::collections::BTreeSet;

impl Follower<'_, '_> {
    /// What a call does: all the ways in which control comes back.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call(
        &mut self,
        node: Node,
        at: u32,
        call: &Instruction,
        state: State,
        flow: &mut Flow,
        work: &mut BTreeSet<Node>,
        family: &Family,
    ) -> Vec<State> {
        let (id, _) = node;
        let instance = &self.points_to.instances[id.0 as usize];
        let mut after: Vec<State> = Vec::new();
        let mut known = false;
        let once = self.once(id, at, call);
        for &callee in instance.callees.get(&at).into_iter().flatten() {
            known = true;
            let mut entering = state.clone();
            entering.inside.extend(once.clone());
            for entering in self.enter(callee, entering) {
                self.arrive((callee, 0), &entering, flow, work);
            }
            flow.waiting.entry(callee).or_default().insert(node);
            let exits = flow.exits.get(&callee).into_iter().flat_map(|ways| ways.states.iter().cloned());
            after.extend(exits.map(|mut back| {
                // It comes back from all places that call it; but no thread is running that was not, unless it is new.
                back.active.retain(|&thread| state.active.contains(&thread) || family.is_made_by(thread, callee));
                if self.points_to.instances[callee.0 as usize].shared {
                    self.keep(callee, &state, &mut back);
                }
                back
            }));
        }
        for name in instance.outside.get(&at).into_iter().flatten() {
            known = true;
            let model = self.points_to.models.of(name);
            if matches!(model, Some(Model::Call(_))) && instance.callees.contains_key(&at) {
                // It may have been called before, and do nothing.
                after.push(state.clone());
                if let Some(Model::Call(call_back)) = &model {
                    let entry = call.operands.get(call_back.entry + 1);
                    let entry = entry.map(|entry| self.points_to.operand(id, entry)).unwrap_or_default();
                    if !self.are_functions(&entry) {
                        self.gaps.add(self.points_to, id, at, "a call of a function that is not known");
                    }
                }
                continue;
            }
            if let Some(Model::Wait(wait)) = &model {
                after.extend(self.wait(id, call.operands.get(wait.lock + 1), &state));
                continue;
            }
            if model == Some(Model::Leave) && self.cleans_up {
                // What functions clean up is done while the thread ends, from the last one to the first.
                let left = Instruction { operation: Operation::Resume, operands: Vec::new(), ..call.clone() };
                self.leave_function(id, &left, state.clone(), flow, work);
                after.push(state.clone());
            }
            let mut changed = state.clone();
            if self.outside(id, at, call, name, model.as_ref(), &mut changed, flow, family) {
                after.extend(self.after_change(id, &state, changed));
            }
        }
        for back in &mut after {
            if let Some(event) = &once {
                back.inside.remove(event);
                back.seen.insert(event.clone());
            }
            self.refresh(id, back);
        }
        if !known {
            match call.operands.first() {
                // It has promised not to touch memory; but it may hand an address on.
                Some(Operand::Assembler { memory: false }) => {
                    let leads = |operand| !self.points_to.operand(id, operand).is_empty();
                    if call.operands[1..].iter().any(leads) {
                        self.gaps.add(self.points_to, id, at, "assembler");
                    }
                }
                Some(Operand::Assembler { memory: true }) => self.gaps.add(self.points_to, id, at, "assembler"),
                _ => self.gaps.add(self.points_to, id, at, "a call of a function that is not known"),
            }
            return vec![state];
        }
        let targets = call.operands.first().map(|callee| self.points_to.operand(id, callee)).unwrap_or_default();
        if targets.iter().any(|(base, _)| *self.points_to.describe(base) == Base::Unknown) {
            self.gaps.add(self.points_to, id, at, "a call of a function that is not known");
        }
        after
    }

    /// What the caller of a function that others call too still knows when it returns.
    fn keep(&self, callee: InstanceId, before: &State, back: &mut State) {
        let kept = held(before).filter(|lock| self.effects.keeps(self.points_to, callee, &lock.key));
        back.locks.extend(kept.cloned());
        back.may_hold.retain(|lock| before.may_hold.contains(lock) || self.effects.takes(callee, lock));
        let running = before.running.iter().filter(|&&thread| !self.effects.waits_for(callee, thread));
        back.running.extend(running);
    }

    /// Takes a lock, for the first time or once more.
    fn take(&self, key: Key, model: &Lock, if_zero: Option<(InstanceId, u32)>, state: &mut State) {
        let new = Held { key, shared: model.shared, if_zero };
        if let Key::At(base, at) = new.key
            && !model.shared
            && state.locks.contains(&new)
            && self.again.counts(self.points_to, base, at)
        {
            let times = state.again.entry((base, at)).or_default();
            *times = times.saturating_add(1);
        }
        state.locks.insert(new);
    }

    /// Whether a lock was taken more often than it has been given back, after it is given back once more.
    fn is_left(&self, addresses: &Addresses, state: &mut State) -> bool {
        let Some(Key::At(base, at)) = self.key(addresses) else { return false };
        let Some(times) = state.again.get_mut(&(base, at)) else { return false };
        *times -= 1;
        if *times == 0 {
            state.again.remove(&(base, at));
        }
        true
    }

    #[allow(clippy::too_many_arguments)]
    fn outside(
        &mut self,
        id: InstanceId,
        at: u32,
        call: &Instruction,
        name: &str,
        model: Option<&Model>,
        state: &mut State,
        flow: &mut Flow,
        family: &Family,
    ) -> bool {
        let points_to = self.points_to;
        let argument = |index: usize| {
            call.operands.get(index + 1).map(|operand| points_to.operand(id, operand)).unwrap_or_default()
        };
        match model {
            Some(Model::Lock(lock)) => {
                let addresses = argument(lock.lock);
                let if_zero = lock.tries.then_some((id, at));
                state.may_hold.extend(effects::locks(points_to, &addresses));
                if let Some(key) = self.key(&addresses) {
                    self.take(key, lock, if_zero, state);
                }
                if let Some(key) =
                    call.operands.get(lock.lock + 1).and_then(|operand| self.relative(id, operand, addresses))
                {
                    state.locks.insert(Held { key, shared: lock.shared, if_zero });
                }
            }
            Some(Model::Unlock(unlock)) => {
                if let Some(operand) = call.operands.get(unlock.lock + 1) {
                    let addresses = argument(unlock.lock);
                    if self.is_left(&addresses, state) {
                        return true;
                    }
                    let given = effects::locks(points_to, &addresses);
                    state.may_hold.retain(|lock| !given.contains(lock));
                    self.given_back(id, state, |key| may_be(points_to, &addresses, key));
                    self.unlock(&linear(points_to, id, operand), &argument(unlock.lock), state);
                }
            }
            Some(Model::Semaphore(semaphore)) => self.semaphore(id, at, call, semaphore, state),
            Some(Model::Barrier(barrier)) => self.barrier(id, at, call, barrier, state),
            Some(Model::AtomicBegin) => {
                state.locks.insert(Held { key: Key::Atomic, shared: false, if_zero: None });
            }
            Some(Model::AtomicEnd) => {
                self.given_back(id, state, |key| *key == Key::Atomic);
                state.locks.retain(|held| held.key != Key::Atomic);
            }
            Some(Model::Create(create)) => {
                if !self.are_functions(&argument(create.entry)) {
                    self.gaps.add(points_to, id, at, "a thread that runs a function that is not known");
                }
                self.give(&argument(create.argument), state);
                match flow.before_create.get_mut(&(id, at)) {
                    Some(known) => {
                        known.join(state);
                    }
                    None => {
                        flow.before_create.insert((id, at), state.clone());
                    }
                }
                let created = points_to.instances[id.0 as usize].creates.get(&at);
                for &thread in created.into_iter().flatten() {
                    state.may_be_alone = false;
                    state.active.insert(thread);
                    state.active.extend(family.descendants(thread));
                }
                if let Some(only) = created.filter(|created| created.len() == 1) {
                    state.running.extend(only);
                }
            }
            Some(Model::Join(join)) => {
                let handle = argument(join.handle);
                let ended = effects::waited_for(points_to, &handle);
                state.running.retain(|&thread| !ended.contains(&None) && !ended.contains(&Some(thread)));
                if let Some(thread) = self.joined(id, call.operands.get(join.handle + 1), &handle, family) {
                    self.end(thread, state, family);
                }
            }
            Some(Model::Allocate(allocate)) => {
                for (base, _) in allocate.copies.map(argument).unwrap_or_default().iter() {
                    let content: BTreeSet<BaseId> = points_to.contents(base).collect();
                    state.owned.retain(|owned| !content.contains(owned));
                }
                self.own_new(id, &Base::Heap(id, at), state);
            }
            // What is copied from memory to memory is not followed.
            Some(Model::Access(access)) if access.copies => {
                for (base, _) in argument(1).iter() {
                    let content: BTreeSet<BaseId> = points_to.contents(base).collect();
                    state.owned.retain(|owned| !content.contains(owned));
                }
            }
            Some(Model::Call(call_back)) if !self.are_functions(&argument(call_back.entry)) => {
                self.gaps.add(points_to, id, at, "a call of a function that is not known");
            }
            Some(Model::Key(key)) if call.operands.get(key.destructor + 1) != Some(&Operand::Null) => {
                self.gaps.add(points_to, id, at, "a function that is called at the end of threads");
            }
            Some(Model::Stop) => return false,
            Some(Model::Leave) => {
                leave_thread(points_to.instances[id.0 as usize].thread, state, flow);
                return false;
            }
            Some(_) => {}
            None => self.gaps.add(points_to, id, at, &format!("a call of `{name}`, which is not known")),
        }
        true
    }

    /// Whether addresses are those of functions of the program, and there is one.
    fn are_functions(&self, addresses: &Addresses) -> bool {
        let is_function = |(base, _)| matches!(self.points_to.describe(base), Base::Function(_));
        !addresses.is_empty() && addresses.iter().all(is_function)
    }

    /// A thread is over, and those of its descendants that it does not leave behind.
    pub(super) fn end(&self, thread: ThreadId, state: &mut State, family: &Family) {
        state.active.remove(&thread);
        state.running.remove(&thread);
        for &descendant in family.descendants(thread) {
            if !family.left_by(thread).contains(&descendant) {
                state.active.remove(&descendant);
            }
        }
    }

    /// The one lock that these addresses are.
    pub(super) fn key(&self, addresses: &Addresses) -> Option<Key> {
        let (base, offset) = addresses.only()?;
        let at = offset.only()?;
        self.points_to.is_strong(base).then_some(Key::At(base, at))
    }

    /// A lock by the form of its address. Values of functions that are entered again before they return have no form:
    /// the same name stands for several values then.
    fn relative(&mut self, id: InstanceId, operand: &Operand, addresses: Addresses) -> Option<Key> {
        let sum = linear(self.points_to, id, operand);
        let mut owners = std::iter::once(&sum.root).chain(sum.terms.iter().map(|(_, value)| value));
        if owners.any(|(owner, _)| self.points_to.instances[owner.0 as usize].shared) {
            return None;
        }
        let entry = (sum, addresses);
        let index = self.sums.iter().position(|known| *known == entry).unwrap_or_else(|| {
            self.sums.push(entry);
            self.sums.len() - 1
        });
        Some(Key::Relative(index as u32))
    }

    /// A value gets its name anew: locks whose address was made of it are not known by it any more.
    pub(super) fn rename(&self, id: InstanceId, at: Option<u32>, state: &mut State) {
        if state.locks.iter().any(|held| matches!(held.key, Key::Relative(_))) {
            state.locks.retain(|held| match held.key {
                Key::Relative(index) => !self.sums[index as usize].0.depends_on(self.points_to, id, at),
                _ => true,
            });
        }
    }

    /// Whatever may be unlocked is no longer surely held.
    pub(super) fn unlock(&self, sum: &Linear, addresses: &Addresses, state: &mut State) {
        state.locks.retain(|held| match held.key {
            Key::Relative(index) => {
                let (other, leads) = &self.sums[index as usize];
                match sum.behind(other) {
                    Some(bytes) => bytes != 0,
                    None => !leads.iter().any(|(base, at)| {
                        addresses.iter().any(|(other, offset)| {
                            let is_unknown = |base| *self.points_to.describe(base) == Base::Unknown;
                            is_unknown(base) || is_unknown(other) || (base == other && offset.overlaps(1, at, 1))
                        })
                    }),
                }
            }
            _ => !may_be(self.points_to, addresses, &held.key),
        });
        state.again.retain(|&(base, at), _| !may_be(self.points_to, addresses, &Key::At(base, at)));
    }

    /// The thread whose end was surely waited for.
    fn joined(
        &self,
        id: InstanceId,
        operand: Option<&Operand>,
        handle: &Addresses,
        family: &Family,
    ) -> Option<ThreadId> {
        let (base, _) = handle.only()?;
        let Base::Handle(thread) = *self.points_to.describe(base) else { return None };
        if family.is_self_parallel(thread) {
            return None;
        }
        let (creator, at) = self.points_to.threads[thread.0 as usize].creator?;
        if self.points_to.is_place_once(creator, at) && !self.points_to.threads[thread.0 as usize].recursive {
            return Some(thread);
        }
        // One of several, which are not there at the same time: it must be the last one, so the handle must come from
        // where only the creation puts it.
        let code = self.points_to.program.function(self.points_to.instances[id.0 as usize].function).0;
        let Some(Operand::Instruction(load)) = operand else { return None };
        let load = &code.instructions[load.0 as usize];
        let (Operation::Load { .. }, [address]) = (&load.operation, &load.operands[..]) else { return None };
        let (cell, offset) = self.points_to.operand(id, address).only()?;
        offset.only()?;
        let only_writer = self.points_to.writers(cell, offset) == BTreeSet::from([(creator, at)]);
        let is_one = self.points_to.is_strong(cell)
            || matches!(self.points_to.describe(cell), Base::Local(owner, _) if *owner == id && creator == id);
        (only_writer && is_one).then_some(thread)
    }
}

/// Whether a lock may be at one of these addresses.
pub(super) fn may_be(points_to: &PointsTo<'_>, addresses: &Addresses, key: &Key) -> bool {
    let Key::At(base, at) = *key else { return false };
    addresses.iter().any(|(other, offset)| {
        *points_to.describe(other) == Base::Unknown || (base == other && offset.overlaps(1, Offset::exact(at), 1))
    })
}
