//! Calls: of the program's functions, and the effect of functions outside it on locks and threads.

use super::{Node, Solution, Solver, State, leave_thread};
use crate::cfg::unwinding::{self, Throws};
use crate::domain::lattice::Lattice;
use crate::domain::linear::{Linear, linear};
use crate::locks::lockset::{HeldLock, LockId, held, may_be};
use crate::locks::summary;
use crate::models::{Lock, Model};
use crate::order::{SyncEvent, gate};
use crate::pointer::address::{Addresses, Base, BaseId};
use crate::pointer::{InstanceId, ThreadId};
use crate::threads::parallel::ThreadTree;
use racehunter_ir::{Instruction, Operand, Operation};
use std::collections::BTreeSet;

/// The states after a call.
#[derive(Default)]
pub(super) struct AfterCall {
    /// Those in which it returns.
    pub returned: Vec<State>,
    /// Those in which an exception leaves it, or the end of the thread.
    pub thrown: Vec<State>,
}

impl Solver<'_, '_> {
    /// Returns the effect of a call: a state for each path on which it returns or throws.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call(
        &mut self,
        node: Node,
        at: u32,
        call: &Instruction,
        state: State,
        solution: &mut Solution,
        work: &mut BTreeSet<Node>,
        tree: &ThreadTree,
    ) -> AfterCall {
        let (id, _) = node;
        let instance = &self.points_to.instances[id];
        // Elsewhere nothing is caught, so that throwing ends the program.
        let unwinds = self.points_to.unwinding.may(id);
        let (mut after, mut thrown): (Vec<State>, Vec<State>) = (Vec::new(), Vec::new());
        let mut known = false;
        let once = self.once(id, at, call);
        for &callee in instance.callees.get(&at).into_iter().flatten() {
            known = true;
            let mut entering = state.clone();
            entering.inside.extend(once.clone());
            for entering in self.enter(callee, entering) {
                self.arrive((callee, 0), &entering, solution, work);
            }
            solution.waiting.entry(callee).or_default().insert(node);
            let come_back = |mut back: State| {
                // Control returns from all call sites; but only threads that were running before, or that the call
                // creates, can be running.
                back.active.retain(|&thread| state.active.contains(&thread) || tree.is_made_by(thread, callee));
                if self.points_to.instances[callee].shared {
                    self.keep(callee, &state, &mut back);
                }
                back
            };
            let exits = solution.exits.get(&callee).into_iter().flat_map(|paths| paths.states.iter().cloned());
            after.extend(exits.map(come_back));
            let throws = solution.throws.get(&callee).into_iter().flat_map(|paths| paths.states.iter().cloned());
            thrown.extend(throws.filter(|_| unwinds).map(come_back));
        }
        let mut state = state;
        self.note_release(id, at, &mut state);
        for name in instance.outside.get(&at).into_iter().flatten() {
            known = true;
            let model = self.points_to.models.of(name);
            // It throws before it has done anything, or afterwards. Cleanup also runs while a thread ends.
            let throws = if unwinds { unwinding::of_outside(self.points_to, name) } else { Throws::Never };
            if throws != Throws::Never {
                thrown.push(state.clone());
            }
            if matches!(model, Some(Model::Call(_))) && instance.callees.contains_key(&at) {
                // It may have been called before, and then does nothing.
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
            if model == Some(Model::Exit) {
                self.exit(id, at, &state, solution, work);
            }
            if let Some(Model::Wait(wait)) = &model {
                after.extend(self.wait(id, call.operands.get(wait.lock + 1), &state));
                continue;
            }
            let mut changed = state.clone();
            if self.outside(id, at, call, name, model.as_ref(), &mut changed, solution, tree) {
                let changed = self.after_change(id, &state, changed);
                if throws == Throws::Maybe {
                    thrown.extend(changed.iter().cloned());
                }
                after.extend(changed);
            }
        }
        for back in &mut after {
            if let Some(event) = &once {
                back.inside.remove(event);
                back.seen.insert(event.clone());
            }
            self.refresh(id, back);
        }
        for back in &mut thrown {
            // A function that has thrown is called again.
            if let Some(event) = &once {
                back.inside.remove(event);
            }
            self.refresh(id, back);
        }
        if !known {
            match call.operands.first() {
                // It promises not to touch memory, but may pass an address on.
                Some(Operand::Assembler { memory: false }) => {
                    let leads = |operand| !self.points_to.operand(id, operand).is_empty();
                    if call.operands[1..].iter().any(leads) {
                        self.gaps.add(self.points_to, id, at, "assembler");
                    }
                }
                Some(Operand::Assembler { memory: true }) => self.gaps.add(self.points_to, id, at, "assembler"),
                _ => self.gaps.add(self.points_to, id, at, "a call of a function that is not known"),
            }
            return AfterCall { returned: vec![state], thrown: Vec::new() };
        }
        let targets = call.operands.first().map(|callee| self.points_to.operand(id, callee)).unwrap_or_default();
        if targets.iter().any(|(base, _)| self.points_to.describe(base).is_unknown()) {
            self.gaps.add(self.points_to, id, at, "a call of a function that is not known");
        }
        AfterCall { returned: after, thrown }
    }

    /// Restores what the caller of a shared function still knows when it returns.
    fn keep(&self, callee: InstanceId, before: &State, back: &mut State) {
        // What has happened once has happened.
        back.taken.extend(before.taken.iter().cloned());
        let kept = held(before).filter(|lock| self.summaries.keeps(self.points_to, callee, &lock.id));
        back.lockset.extend(kept.cloned());
        back.may_hold.retain(|lock| before.may_hold.contains(lock) || self.summaries.takes(callee, lock));
        let running = before.running.iter().filter(|&&thread| !self.summaries.waits_for(callee, thread));
        back.running.extend(running);
    }

    /// Notes locks that a call may release, for the threads that this one has created and that may be running.
    fn note_release(&self, id: InstanceId, at: u32, state: &mut State) {
        let locks = gate::released(self.points_to, id, at);
        if locks.is_empty() {
            return;
        }
        // A lock that was only tried may be known to be held by now.
        let taken: Vec<LockId> = held(state).map(|held| held.id.clone()).collect();
        state.taken.extend(taken);
        let thread = self.points_to.instances[id].thread;
        let is_own = |created: &ThreadId| {
            let creator = self.points_to.threads[*created].creator;
            creator.is_some_and(|(creator, _)| self.points_to.instances[creator].thread == thread)
        };
        let running: Vec<ThreadId> = state.active.iter().copied().filter(is_own).collect();
        state.released.extend(running.iter().flat_map(|&running| locks.iter().map(move |&lock| (running, lock))));
    }

    /// Takes a lock, for the first time or again.
    fn take(&self, key: LockId, model: &Lock, if_zero: Option<(InstanceId, u32)>, state: &mut State) {
        let new = HeldLock { id: key, shared: model.shared, if_zero };
        if let LockId::At(base, at) = new.id
            && !model.shared
            && state.lockset.contains(&new)
            && self.recursive.counts(self.points_to, base, at)
        {
            state.depths.lock((base, at));
        }
        if if_zero.is_none() {
            state.taken.insert(new.id.clone());
        }
        state.lockset.insert(new);
    }

    /// Releases a lock once; returns true if it was taken more often than released.
    fn is_left(&self, addresses: &Addresses, state: &mut State) -> bool {
        let Some(LockId::At(base, at)) = self.key(addresses) else { return false };
        state.depths.unlock((base, at))
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
        solution: &mut Solution,
        tree: &ThreadTree,
    ) -> bool {
        let points_to = self.points_to;
        let argument = |index: usize| {
            call.operands.get(index + 1).map(|operand| points_to.operand(id, operand)).unwrap_or_default()
        };
        match model {
            Some(Model::Lock(lock)) => {
                let addresses = argument(lock.lock);
                let if_zero = lock.tries.then_some((id, at));
                state.may_hold.extend(summary::locks(points_to, &addresses));
                if let Some(key) = self.key(&addresses) {
                    self.take(key, lock, if_zero, state);
                }
                if let Some(key) =
                    call.operands.get(lock.lock + 1).and_then(|operand| self.relative(id, operand, addresses))
                {
                    state.lockset.insert(HeldLock { id: key, shared: lock.shared, if_zero });
                }
            }
            Some(Model::Unlock(unlock)) => {
                if let Some(operand) = call.operands.get(unlock.lock + 1) {
                    let addresses = argument(unlock.lock);
                    if self.is_left(&addresses, state) {
                        return true;
                    }
                    let given = summary::locks(points_to, &addresses);
                    state.may_hold.retain(|lock| !given.contains(lock));
                    self.given_back(id, state, |key| may_be(points_to, &addresses, key));
                    self.unlock(&linear(points_to, id, operand), &argument(unlock.lock), state);
                }
            }
            Some(Model::Semaphore(semaphore)) => self.semaphore(id, at, call, semaphore, state),
            Some(Model::Barrier(barrier)) => self.barrier(id, at, call, barrier, state),
            Some(Model::AtomicBegin) => {
                state.lockset.insert(HeldLock { id: LockId::Atomic, shared: false, if_zero: None });
            }
            Some(Model::AtomicEnd) => {
                self.given_back(id, state, |key| *key == LockId::Atomic);
                state.lockset.retain(|held| held.id != LockId::Atomic);
            }
            Some(Model::Create(create)) => {
                if !self.are_functions(&argument(create.entry)) {
                    self.gaps.add(points_to, id, at, "a thread that runs a function that is not known");
                }
                self.give(&argument(create.argument), state);
                match solution.before_create.get_mut(&(id, at)) {
                    Some(known) => {
                        known.join(state);
                    }
                    None => {
                        solution.before_create.insert((id, at), state.clone());
                    }
                }
                let created = points_to.instances[id].creates.get(&at);
                for &thread in created.into_iter().flatten() {
                    state.may_be_alone = false;
                    state.active.insert(thread);
                    state.active.extend(tree.descendants(thread));
                }
                if let Some(only) = created.filter(|created| created.len() == 1) {
                    state.running.extend(only);
                }
            }
            Some(Model::Join(join)) => {
                let handle = argument(join.handle);
                let ended = summary::waited_for(points_to, &handle);
                state.running.retain(|&thread| !ended.contains(&None) && !ended.contains(&Some(thread)));
                if let Some(thread) = self.joined(id, call.operands.get(join.handle + 1), &handle, tree) {
                    self.end(thread, state, tree);
                }
            }
            Some(Model::Allocate(allocate)) => {
                for (base, _) in allocate.copies.map(argument).unwrap_or_default().iter() {
                    let content: BTreeSet<BaseId> = points_to.contents(base).collect();
                    state.owned.retain(|owned| !content.contains(owned));
                }
                self.own_new(id, &Base::Heap(id, at), state);
            }
            // Copies from memory to memory are not followed.
            Some(Model::Access(access)) if access.copies => {
                for (base, _) in argument(access.copied().1).iter() {
                    let content: BTreeSet<BaseId> = points_to.contents(base).collect();
                    state.owned.retain(|owned| !content.contains(owned));
                }
            }
            Some(Model::Access(access)) => {
                // It stores the address of one argument in the memory of another.
                if let Some([_, target]) = access.points {
                    self.give(&argument(target), state);
                }
                if !state.owned.is_empty() {
                    let out = points_to.let_out(id, call, access);
                    state.owned.retain(|owned| !out.contains(owned));
                }
            }
            Some(Model::Call(call_back)) if !self.are_functions(&argument(call_back.entry)) => {
                self.gaps.add(points_to, id, at, "a call of a function that is not known");
            }
            Some(Model::Key(key)) if call.operands.get(key.destructor + 1) != Some(&Operand::Null) => {
                self.gaps.add(points_to, id, at, "a function that is called at the end of threads");
            }
            Some(Model::AtExit(model)) => {
                self.register(id, at, &argument(model.entry));
                if let Some(index) = model.argument {
                    self.give(&argument(index), state);
                }
                let mut registered = points_to.exits.of_call((id, at));
                if let (Some(only), None) = (registered.next(), registered.next()) {
                    state.seen.insert(SyncEvent::Registered(only));
                }
            }
            Some(Model::Stop | Model::Throw | Model::Exit) => return false,
            Some(Model::Leave) => {
                self.ends_in(id, at);
                leave_thread(points_to.instances[id].thread, state, solution);
                return false;
            }
            Some(_) => {}
            None => self.gaps.add(points_to, id, at, &format!("a call of `{name}`, which is not known")),
        }
        true
    }

    /// Returns true if the addresses are those of functions of the program, and there is at least one.
    fn are_functions(&self, addresses: &Addresses) -> bool {
        let is_function = |(base, _)| matches!(self.points_to.describe(base), Base::Function(_));
        !addresses.is_empty() && addresses.iter().all(is_function)
    }

    /// Handles the end of a thread, and of those descendants that it does not leave behind.
    pub(super) fn end(&self, thread: ThreadId, state: &mut State, tree: &ThreadTree) {
        state.active.remove(&thread);
        state.running.remove(&thread);
        for &descendant in tree.descendants(thread) {
            if !tree.left_by(thread).contains(&descendant) {
                state.active.remove(&descendant);
            }
        }
    }

    /// Returns the one lock at these addresses.
    pub(crate) fn key(&self, addresses: &Addresses) -> Option<LockId> {
        let (base, offset) = addresses.only()?;
        let at = offset.only()?;
        self.points_to.is_strong(base).then_some(LockId::At(base, at))
    }

    /// Returns a lock by the form of its address. In recursive functions there is no form, because the same name stands
    /// for several values.
    fn relative(&mut self, id: InstanceId, operand: &Operand, addresses: Addresses) -> Option<LockId> {
        let sum = linear(self.points_to, id, operand);
        let mut owners = std::iter::once(&sum.root).chain(sum.terms.iter().map(|(_, value)| value));
        if owners.any(|(owner, _)| self.points_to.instances[*owner].shared) {
            return None;
        }
        let entry = (sum, addresses);
        let index = self.sums.iter().position(|known| *known == entry).unwrap_or_else(|| {
            self.sums.push(entry);
            self.sums.len() - 1
        });
        Some(LockId::Relative(index as u32))
    }

    /// Handles a recomputed value: locks whose address depends on it are no longer known by it.
    pub(super) fn rename(&self, id: InstanceId, at: Option<u32>, state: &mut State) {
        if state.lockset.iter().any(|held| matches!(held.id, LockId::Relative(_))) {
            state.lockset.retain(|held| match held.id {
                LockId::Relative(index) => !self.sums[index as usize].0.depends_on(self.points_to, id, at),
                _ => true,
            });
        }
    }

    /// Handles an unlock: every lock that it may release is no longer definitely held.
    pub(crate) fn unlock(&self, sum: &Linear, addresses: &Addresses, state: &mut State) {
        state.lockset.retain(|held| match held.id {
            LockId::Relative(index) => {
                let (other, leads) = &self.sums[index as usize];
                match sum.behind(other) {
                    Some(bytes) => bytes != 0,
                    None => !leads.iter().any(|(base, at)| {
                        addresses.iter().any(|(other, offset)| {
                            let is_unknown = |base| self.points_to.describe(base).is_unknown();
                            is_unknown(base) || is_unknown(other) || (base == other && offset.overlaps(1, at, 1))
                        })
                    }),
                }
            }
            _ => !may_be(self.points_to, addresses, &held.id),
        });
        state.depths.forget(|base, at| may_be(self.points_to, addresses, &LockId::At(base, at)));
    }

    /// Returns the thread that was definitely joined.
    fn joined(
        &self,
        id: InstanceId,
        operand: Option<&Operand>,
        handle: &Addresses,
        tree: &ThreadTree,
    ) -> Option<ThreadId> {
        let (base, _) = handle.only()?;
        let Base::Handle(thread) = *self.points_to.describe(base) else { return None };
        if tree.is_self_parallel(thread) {
            return None;
        }
        let (creator, at) = self.points_to.threads[thread].creator?;
        if self.points_to.is_place_once(creator, at) && !self.points_to.threads[thread].recursive {
            return Some(thread);
        }
        // One of several threads that never exist at the same time: it must be the last one, so the handle must come
        // from where only the creation stores it.
        let code = self.points_to.code(id);
        let Some(Operand::Instruction(load)) = operand else { return None };
        let load = code.instruction(*load);
        let (Operation::Load { .. }, [address]) = (&load.operation, &load.operands[..]) else { return None };
        let (cell, offset) = self.points_to.operand(id, address).only()?;
        offset.only()?;
        let only_writer = self.points_to.writers(cell, offset) == BTreeSet::from([(creator, at)]);
        let is_one = self.points_to.is_strong(cell)
            || matches!(self.points_to.describe(cell), Base::Local(owner, _) if *owner == id && creator == id);
        (only_writer && is_one).then_some(thread)
    }
}
