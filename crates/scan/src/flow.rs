//! Follows control through all instances: which locks a thread surely holds at an instruction, and which of the threads
//! that it brought into the world may be running then.

use crate::address::{Addresses, Base, BaseId, Offset};
use crate::cycles::range;
use crate::models::Model;
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use crate::threads::Family;
use crate::verdict::Gaps;
use racehunter_ir::{Instruction, Operand, Operation, Predicate};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// What is locked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// The lock at this address, which is one lock and no other.
    At(BaseId, i64),
    /// The section in which a thread is alone.
    Atomic,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Held {
    /// The lock.
    pub key: Key,
    /// Whether others can hold it too.
    pub shared: bool,
    /// The call whose result must be zero for it to be held; none if it surely is.
    pub if_zero: Option<(InstanceId, u32)>,
}

/// What is known at a point of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct State {
    /// Locks that are surely held.
    pub locks: BTreeSet<Held>,
    /// Threads, descendants of this one, that may be running.
    pub active: BTreeSet<ThreadId>,
}

impl State {
    /// What is known if control may have come either way; whether that is less than before.
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.locks.len(), self.active.len());
        self.locks.retain(|held| other.locks.contains(held));
        self.active.extend(&other.active);
        before != (self.locks.len(), self.active.len())
    }
}

type Node = (InstanceId, u32);

/// The result: what is known at each instruction that control reaches.
#[derive(Default)]
pub struct Flow {
    entries: FxHashMap<Node, State>,
    exits: FxHashMap<InstanceId, State>,
    /// Threads that are still running when this one is at its end.
    leavings: BTreeMap<ThreadId, State>,
    /// States before calls that create threads.
    pub before_create: FxHashMap<Node, State>,
    waiting: FxHashMap<InstanceId, FxHashSet<Node>>,
}

/// Follows control.
pub struct Follower<'a, 'p> {
    /// Where pointers lead.
    pub points_to: &'a PointsTo<'p>,
    /// What could not be modelled.
    pub gaps: &'a mut Gaps,
}

impl Follower<'_, '_> {
    /// Follows control through all threads, until nothing changes.
    pub fn run(&mut self, family: &mut Family) -> Flow {
        loop {
            let flow = self.round(family);
            if !family.learn(self.points_to, &flow) {
                return flow;
            }
        }
    }

    fn round(&mut self, family: &Family) -> Flow {
        let mut flow = Flow::default();
        let mut work: BTreeSet<Node> = BTreeSet::new();
        let roots: Vec<InstanceId> = self.points_to.threads.iter().map(|thread| thread.root).collect();
        for (index, &root) in roots.iter().enumerate() {
            let active = family.inherited(ThreadId(index as u32)).clone();
            let mut state = State { locks: BTreeSet::new(), active };
            self.enter(root, &mut state);
            flow.entries.insert((root, 0), state);
            work.insert((root, 0));
        }
        while let Some(node) = work.pop_first() {
            self.block(node, &mut flow, &mut work, family);
        }
        flow
    }

    /// What entering a function does.
    fn enter(&self, id: InstanceId, state: &mut State) {
        let name = self.points_to.program.function_name(self.points_to.instances[id.0 as usize].function);
        if self.points_to.models.is_atomic(name) {
            state.locks.insert(Held { key: Key::Atomic, shared: false, if_zero: None });
        }
    }

    fn arrive(&self, node: Node, state: &State, flow: &mut Flow, work: &mut BTreeSet<Node>) {
        match flow.entries.get_mut(&node) {
            Some(known) => {
                if known.join(state) {
                    work.insert(node);
                }
            }
            None => {
                flow.entries.insert(node, state.clone());
                work.insert(node);
            }
        }
    }

    fn block(&mut self, node: Node, flow: &mut Flow, work: &mut BTreeSet<Node>, family: &Family) {
        let (id, block) = node;
        let points_to = self.points_to;
        let function = points_to.instances[id.0 as usize].function;
        let code = points_to.program.function(function).0;
        let (first, end) = range(code, block as usize);
        let Some(mut state) = flow.entries.get(&node).cloned() else { return };
        for at in first..end {
            let instruction = &code.instructions[at];
            match &instruction.operation {
                Operation::Call | Operation::Invoke { .. } => {
                    if !self.call(node, at as u32, instruction, &mut state, flow, work, family) {
                        return;
                    }
                }
                Operation::Return | Operation::Resume => self.leave_function(id, state.clone(), flow, work),
                _ => {}
            }
        }
        for &next in &points_to.blocks[function.0 as usize].successors[block as usize] {
            let mut state = state.clone();
            if let Some(last) = code.instructions.get(end.wrapping_sub(1)) {
                self.decide(id, last, next, &mut state);
            }
            self.arrive((id, next), &state, flow, work);
        }
    }

    fn leave_function(&self, id: InstanceId, mut state: State, flow: &mut Flow, work: &mut BTreeSet<Node>) {
        let instance = &self.points_to.instances[id.0 as usize];
        if self.points_to.models.is_atomic(self.points_to.program.function_name(instance.function)) {
            state.locks.retain(|held| held.key != Key::Atomic);
        }
        if instance.caller.is_none() {
            leave_thread(instance.thread, &state, flow);
        }
        let changed = match flow.exits.get_mut(&id) {
            Some(known) => known.join(&state),
            None => {
                flow.exits.insert(id, state);
                true
            }
        };
        if changed {
            work.extend(flow.waiting.get(&id).into_iter().flatten().copied());
        }
    }

    /// What a branch tells about a lock that was tried.
    fn decide(&self, id: InstanceId, last: &Instruction, next: u32, state: &mut State) {
        let code = self.points_to.program.function(self.points_to.instances[id.0 as usize].function).0;
        let (Operation::Branch, [Operand::Instruction(condition), Operand::Block(yes), Operand::Block(no)]) =
            (&last.operation, &last.operands[..])
        else {
            return;
        };
        let compare = &code.instructions[condition.0 as usize];
        if yes == no {
            return;
        }
        let (Operation::Compare(predicate), [Operand::Instruction(call), Operand::Integer(0)]) =
            (&compare.operation, &compare.operands[..])
        else {
            return;
        };
        let is_zero = match predicate {
            Predicate::Equal => next == yes.0,
            Predicate::NotEqual => next == no.0,
            _ => return,
        };
        let tried: Vec<Held> =
            state.locks.iter().filter(|held| held.if_zero == Some((id, call.0))).cloned().collect();
        for held in tried {
            state.locks.remove(&held);
            if is_zero {
                state.locks.insert(Held { if_zero: None, ..held });
            }
        }
    }

    /// What a call does; whether control comes back.
    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        node: Node,
        at: u32,
        call: &Instruction,
        state: &mut State,
        flow: &mut Flow,
        work: &mut BTreeSet<Node>,
        family: &Family,
    ) -> bool {
        let (id, _) = node;
        let instance = &self.points_to.instances[id.0 as usize];
        let mut after: Option<State> = None;
        let mut come_back = |state: State| match &mut after {
            Some(known) => {
                known.join(&state);
            }
            None => after = Some(state),
        };
        let mut known = false;
        for &callee in instance.callees.get(&at).into_iter().flatten() {
            known = true;
            let mut entering = state.clone();
            self.enter(callee, &mut entering);
            self.arrive((callee, 0), &entering, flow, work);
            flow.waiting.entry(callee).or_default().insert(node);
            if let Some(exit) = flow.exits.get(&callee) {
                come_back(exit.clone());
            }
        }
        for name in instance.outside.get(&at).into_iter().flatten() {
            known = true;
            let model = self.points_to.models.of(name);
            if matches!(model, Some(Model::Call(_))) && instance.callees.contains_key(&at) {
                // It may have been called before, and do nothing.
                come_back(state.clone());
                continue;
            }
            let mut changed = state.clone();
            if self.outside(id, at, call, name, model.as_ref(), &mut changed, flow, family) {
                come_back(changed);
            }
        }
        if !known {
            let is_assembler = call.operands.first() == Some(&Operand::Assembler);
            let what = if is_assembler { "assembler" } else { "a call of a function that is not known" };
            self.gaps.add(self.points_to, id, at, what);
            return true;
        }
        let targets = call.operands.first().map(|callee| self.points_to.operand(id, callee)).unwrap_or_default();
        if targets.iter().any(|(base, _)| *self.points_to.describe(base) == Base::Unknown) {
            self.gaps.add(self.points_to, id, at, "a call of a function that is not known");
        }
        match after {
            Some(found) => {
                *state = found;
                true
            }
            None => false,
        }
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
        let argument =
            |index: usize| call.operands.get(index + 1).map(|operand| points_to.operand(id, operand)).unwrap_or_default();
        match model {
            Some(Model::Lock(lock)) => {
                if let Some(key) = self.key(&argument(lock.lock)) {
                    let if_zero = lock.tries.then_some((id, at));
                    state.locks.insert(Held { key, shared: lock.shared, if_zero });
                }
            }
            Some(Model::Unlock(unlock)) => self.unlock(&argument(unlock.lock), state),
            Some(Model::AtomicBegin) => {
                state.locks.insert(Held { key: Key::Atomic, shared: false, if_zero: None });
            }
            Some(Model::AtomicEnd) => state.locks.retain(|held| held.key != Key::Atomic),
            Some(Model::Create(create)) => {
                if argument(create.entry).iter().any(|(base, _)| !matches!(points_to.describe(base), Base::Function(_))) {
                    self.gaps.add(points_to, id, at, "a thread that runs a function that is not known");
                }
                match flow.before_create.get_mut(&(id, at)) {
                    Some(known) => {
                        known.join(state);
                    }
                    None => {
                        flow.before_create.insert((id, at), state.clone());
                    }
                }
                for &thread in points_to.instances[id.0 as usize].creates.get(&at).into_iter().flatten() {
                    state.active.insert(thread);
                    state.active.extend(family.descendants(thread));
                }
            }
            Some(Model::Join(join)) => {
                let handle = argument(join.handle);
                if let Some(thread) = self.joined(id, call.operands.get(join.handle + 1), &handle, family) {
                    state.active.remove(&thread);
                    for &descendant in family.descendants(thread) {
                        if !family.left_by(thread).contains(&descendant) {
                            state.active.remove(&descendant);
                        }
                    }
                }
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

    /// The one lock that these addresses are.
    fn key(&self, addresses: &Addresses) -> Option<Key> {
        let (base, offset) = addresses.only()?;
        let at = offset.only()?;
        self.points_to.is_strong(base).then_some(Key::At(base, at))
    }

    /// Whatever may be unlocked is no longer surely held.
    fn unlock(&self, addresses: &Addresses, state: &mut State) {
        state.locks.retain(|held| match held.key {
            Key::At(base, at) => !addresses.iter().any(|(other, offset)| {
                *self.points_to.describe(other) == Base::Unknown
                    || (base == other && offset.overlaps(1, Offset::exact(at), 1))
            }),
            Key::Atomic => true,
        });
    }

    /// The thread whose end was surely waited for.
    fn joined(&self, id: InstanceId, operand: Option<&Operand>, handle: &Addresses, family: &Family) -> Option<ThreadId> {
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
        let is_one = self.points_to.is_strong(cell) || matches!(self.points_to.describe(cell), Base::Local(owner, _) if *owner == id && creator == id);
        (only_writer && is_one).then_some(thread)
    }
}

fn leave_thread(thread: ThreadId, state: &State, flow: &mut Flow) {
    match flow.leavings.get_mut(&thread) {
        Some(known) => {
            known.join(state);
        }
        None => {
            flow.leavings.insert(thread, state.clone());
        }
    }
}

impl Flow {
    /// Threads that may still be running when a thread is at its end.
    pub fn left_by(&self, thread: ThreadId) -> BTreeSet<ThreadId> {
        self.leavings.get(&thread).map(|state| state.active.clone()).unwrap_or_default()
    }

    /// What is known before each instruction of a block, as far as control comes.
    pub fn each_state(
        &self,
        follower: &mut Follower<'_, '_>,
        family: &Family,
        id: InstanceId,
        block: u32,
        visit: &mut dyn FnMut(u32, &State),
    ) {
        let Some(mut state) = self.entries.get(&(id, block)).cloned() else { return };
        let points_to = follower.points_to;
        let code = points_to.program.function(points_to.instances[id.0 as usize].function).0;
        let (first, end) = range(code, block as usize);
        // The effects are those of the fixed point: nothing new comes of applying them once more.
        let mut scratch = Self { exits: self.exits.clone(), ..Self::default() };
        for at in first..end {
            visit(at as u32, &state);
            let instruction = &code.instructions[at];
            if matches!(instruction.operation, Operation::Call | Operation::Invoke { .. })
                && !follower.call((id, block), at as u32, instruction, &mut state, &mut scratch, &mut BTreeSet::new(), family)
            {
                return;
            }
        }
    }

    /// Whether control reaches a block.
    pub fn reaches(&self, id: InstanceId, block: u32) -> bool {
        self.entries.contains_key(&(id, block))
    }
}
