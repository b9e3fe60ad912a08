//! Follows control through all instances: which locks a thread surely holds at an instruction, and which of the threads
//! that it brought into the world may be running then.

use crate::address::{Addresses, Base, BaseId, Offset};
use crate::crews::Crews;
use crate::cycles::range;
use crate::linear::{Linear, linear};
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
    /// The lock at an address of which only the form is known: position in [`Follower::sums`].
    Relative(u32),
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
    /// Bases whose latest piece of memory surely nobody else has yet.
    pub owned: BTreeSet<BaseId>,
}

impl State {
    /// What is known if control may have come either way; whether that is less than before.
    fn join(&mut self, other: &Self) -> bool {
        let size = |state: &Self| (state.locks.len(), state.active.len(), state.owned.len());
        let before = size(self);
        self.locks.retain(|held| other.locks.contains(held));
        self.active.extend(&other.active);
        self.owned.retain(|base| other.owned.contains(base));
        before != size(self)
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
    /// Memory that more than one thread can get at.
    pub escaped: &'a FxHashSet<BaseId>,
    /// Threads that loops create.
    pub crews: &'a Crews,
    /// Addresses of locks of which only the form is known, and where they can lead.
    pub sums: Vec<(Linear, Addresses)>,
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
            let mut state = State { active, ..State::default() };
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
        self.rename(id, None, state);
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
            self.rename(id, Some(at as u32), &mut state);
            match &instruction.operation {
                Operation::Call | Operation::Invoke { .. } => {
                    if !self.call(node, at as u32, instruction, &mut state, flow, work, family) {
                        return;
                    }
                }
                Operation::Return | Operation::Resume => self.leave_function(id, state.clone(), flow, work),
                _ => self.own(id, at as u32, instruction, &mut state),
            }
        }
        for &next in &points_to.blocks[function.0 as usize].successors[block as usize] {
            let mut state = state.clone();
            for &thread in self.crews.waited_for.get(&(id, block, next)).into_iter().flatten() {
                self.end(thread, &mut state, family);
            }
            if let Some(last) = code.instructions.get(end.wrapping_sub(1)) {
                self.decide(id, last, next, &mut state);
            }
            self.arrive((id, next), &state, flow, work);
        }
    }

    /// What an instruction makes, and what it gives away.
    fn own(&self, id: InstanceId, at: u32, instruction: &Instruction, state: &mut State) {
        let value = match instruction.operation {
            Operation::Local { .. } => {
                state.owned.extend(self.points_to.find_base(&Base::Local(id, at)));
                return;
            }
            Operation::Store { .. } => 0,
            Operation::Update { .. } => 1,
            Operation::CompareExchange { .. } => 2,
            _ => return,
        };
        let address = if value == 0 { 1 } else { 0 };
        let into = instruction.operands.get(address).map(|operand| self.points_to.operand(id, operand));
        if into.is_some_and(|into| into.iter().any(|(base, _)| self.escaped.contains(&base)))
            && let Some(value) = instruction.operands.get(value)
        {
            self.give(&self.points_to.operand(id, value), state);
        }
    }

    /// Others may get at this memory from now on.
    fn give(&self, addresses: &Addresses, state: &mut State) {
        state.owned.retain(|base| !addresses.0.contains_key(base));
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
            match call.operands.first() {
                Some(Operand::Assembler { memory: false }) => {}
                Some(Operand::Assembler { memory: true }) => self.gaps.add(self.points_to, id, at, "assembler"),
                _ => self.gaps.add(self.points_to, id, at, "a call of a function that is not known"),
            }
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
                let addresses = argument(lock.lock);
                let if_zero = lock.tries.then_some((id, at));
                if let Some(key) = self.key(&addresses) {
                    state.locks.insert(Held { key, shared: lock.shared, if_zero });
                }
                if let Some(key) = call.operands.get(lock.lock + 1).and_then(|operand| self.relative(id, operand, addresses)) {
                    state.locks.insert(Held { key, shared: lock.shared, if_zero });
                }
            }
            Some(Model::Unlock(unlock)) => {
                if let Some(operand) = call.operands.get(unlock.lock + 1) {
                    self.unlock(&linear(points_to, id, operand), &argument(unlock.lock), state);
                }
            }
            Some(Model::AtomicBegin) => {
                state.locks.insert(Held { key: Key::Atomic, shared: false, if_zero: None });
            }
            Some(Model::AtomicEnd) => state.locks.retain(|held| held.key != Key::Atomic),
            Some(Model::Create(create)) => {
                if argument(create.entry).iter().any(|(base, _)| !matches!(points_to.describe(base), Base::Function(_))) {
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
                for &thread in points_to.instances[id.0 as usize].creates.get(&at).into_iter().flatten() {
                    state.active.insert(thread);
                    state.active.extend(family.descendants(thread));
                }
            }
            Some(Model::Join(join)) => {
                let handle = argument(join.handle);
                if let Some(thread) = self.joined(id, call.operands.get(join.handle + 1), &handle, family) {
                    self.end(thread, state, family);
                }
            }
            Some(Model::Allocate(allocate)) => {
                for (base, _) in allocate.copies.map(argument).unwrap_or_default().iter() {
                    let content: BTreeSet<BaseId> = points_to.contents(base).collect();
                    state.owned.retain(|owned| !content.contains(owned));
                }
                state.owned.extend(points_to.find_base(&Base::Heap(id, at)));
            }
            // What is copied from memory to memory is not followed.
            Some(Model::Access(access)) if access.copies => {
                for (base, _) in argument(1).iter() {
                    let content: BTreeSet<BaseId> = points_to.contents(base).collect();
                    state.owned.retain(|owned| !content.contains(owned));
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

    /// A thread is over, and those of its descendants that it does not leave behind.
    fn end(&self, thread: ThreadId, state: &mut State, family: &Family) {
        state.active.remove(&thread);
        for &descendant in family.descendants(thread) {
            if !family.left_by(thread).contains(&descendant) {
                state.active.remove(&descendant);
            }
        }
    }

    /// The one lock that these addresses are.
    fn key(&self, addresses: &Addresses) -> Option<Key> {
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
    fn rename(&self, id: InstanceId, at: Option<u32>, state: &mut State) {
        if state.locks.iter().any(|held| matches!(held.key, Key::Relative(_))) {
            state.locks.retain(|held| match held.key {
                Key::Relative(index) => !self.sums[index as usize].0.depends_on(id, at),
                _ => true,
            });
        }
    }

    /// Whatever may be unlocked is no longer surely held.
    fn unlock(&self, sum: &Linear, addresses: &Addresses, state: &mut State) {
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
            follower.rename(id, Some(at as u32), &mut state);
            visit(at as u32, &state);
            let instruction = &code.instructions[at];
            match instruction.operation {
                Operation::Call | Operation::Invoke { .. } => {
                    let work = &mut BTreeSet::new();
                    if !follower.call((id, block), at as u32, instruction, &mut state, &mut scratch, work, family) {
                        return;
                    }
                }
                _ => follower.own(id, at as u32, instruction, &mut state),
            }
        }
    }

    /// Whether control reaches a block.
    pub fn reaches(&self, id: InstanceId, block: u32) -> bool {
        self.entries.contains_key(&(id, block))
    }
}
