//! Follows control through all instances: which locks a thread surely holds at an instruction, and which of the threads
//! that it brought into the world may be running then.

mod calls;
mod counts;
mod events;
mod facts;
mod memory;
mod tickets;

use crate::address::{Addresses, Base, BaseId, Offset};
use crate::again::Again;
use crate::beliefs::Beliefs;
use crate::cells::{CellId, Cells};
use crate::crews::Crews;
use crate::cycles::range;
use crate::effects::{Effects, Lock};
use crate::linear::Linear;
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use crate::ranges::Ranges;
use crate::threads::Family;
use crate::unwinding::Unwinding;
use crate::verdict::Gaps;
use racehunter_ir::{Instruction, Operation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

pub use memory::held;
pub use tickets::{Row, are_apart};

/// What is locked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// The lock at this address, which is one lock and no other.
    At(BaseId, i64),
    /// The lock at an address of which only the form is known: position in [`Follower::sums`].
    Relative(u32),
    /// The variable at this address, which is used as a lock: zero while nobody has it.
    Flag(BaseId, i64),
    /// The section in which a thread is alone.
    Atomic,
}

/// Something that happens while threads run, and that others can see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// A cell is not zero any more.
    Set(CellId),
    /// A semaphore that began with zero was raised.
    Raised(Key),
    /// What is called once, for this variable, has returned.
    Once(Key),
    /// A thread adds one to a counter.
    Adds(CellId),
    /// A counter is at least so much.
    Counted(CellId, i64),
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
    /// Of locks that are held, how many times more they were taken.
    pub again: BTreeMap<(BaseId, i64), u8>,
    /// Locks that may be held, surely or not: what makes a pair less convincing, and never decides.
    pub may_hold: BTreeSet<Lock>,
    /// Threads, descendants of this one, that may be running.
    pub active: BTreeSet<ThreadId>,
    /// Those that surely are, as far as loops are passed at all and threads do not end by themselves: this never decides, either.
    pub running: BTreeSet<ThreadId>,
    /// Bases whose latest piece of memory surely nobody else has yet.
    pub owned: BTreeSet<BaseId>,
    /// Values that are known on this way through the program.
    pub facts: BTreeMap<Name, i64>,
    /// Values of cells, as long as nobody else can change them.
    pub cells: BTreeMap<CellId, i64>,
    /// Values that are what a cell is now, as long as nobody else can change it.
    pub current: BTreeMap<CellId, BTreeSet<Name>>,
    /// Values that nobody else gets, and the counters that they were taken from.
    pub tickets: BTreeMap<Name, CellId>,
    /// Whether this may be the only thread that there is; only where cells are followed.
    pub may_be_alone: bool,
    /// Events that surely have happened.
    pub seen: BTreeSet<Event>,
    /// Events that this thread may have made happen.
    pub done: BTreeSet<Event>,
    /// Events that surely happen when a function that has been called returns.
    pub inside: BTreeSet<Event>,
    /// How often this thread has waited at barriers: a number, or up to multiples of another.
    pub rounds: BTreeMap<Key, Offset>,
}

impl State {
    /// Barriers that were passed so often on one way, and so often on the other; whether that is new.
    fn join_rounds(&mut self, other: &BTreeMap<Key, Offset>) -> bool {
        let never = Offset::exact(0);
        let keys: BTreeSet<Key> = self.rounds.keys().chain(other.keys()).cloned().collect();
        let mut changed = false;
        for key in keys {
            let mine = self.rounds.get(&key).copied().unwrap_or(never);
            let both = mine.union(other.get(&key).copied().unwrap_or(never));
            changed |= both != mine;
            self.rounds.insert(key, both);
        }
        changed
    }

    /// Whether both have the same values.
    fn is_way_of(&self, other: &Self) -> bool {
        self.facts == other.facts && self.cells == other.cells && self.may_be_alone == other.may_be_alone
    }

    /// What is known if control may have come either way; whether that is less than before.
    fn join(&mut self, other: &Self) -> bool {
        let size = |state: &Self| {
            let order = (state.seen.len(), state.done.len(), state.inside.len());
            let current: usize = state.current.values().map(BTreeSet::len).sum();
            let values = (state.facts.len(), state.cells.len(), state.may_be_alone, current, state.tickets.len());
            let again: u64 = state.again.values().copied().map(u64::from).sum();
            let guesses = (again, state.may_hold.len(), state.running.len());
            (state.locks.len(), state.active.len(), state.owned.len(), values, order, guesses)
        };
        let before = size(self);
        self.locks.retain(|held| other.locks.contains(held));
        self.again.retain(|lock, times| {
            *times = (*times).min(other.again.get(lock).copied().unwrap_or(0));
            *times > 0
        });
        self.may_hold.extend(&other.may_hold);
        self.running.retain(|thread| other.running.contains(thread));
        self.active.extend(&other.active);
        self.owned.retain(|base| other.owned.contains(base));
        self.facts.retain(|name, value| other.facts.get(name) == Some(value));
        self.cells.retain(|cell, value| other.cells.get(cell) == Some(value));
        self.may_be_alone |= other.may_be_alone;
        for (cell, names) in &mut self.current {
            names.retain(|name| other.current.get(cell).is_some_and(|known| known.contains(name)));
        }
        self.tickets.retain(|name, cell| other.tickets.get(name) == Some(cell));
        self.seen.retain(|event| other.seen.contains(event));
        self.done.extend(other.done.iter().cloned());
        self.inside.retain(|event| other.inside.contains(event));
        // Not `||`: rounds are joined whatever else has changed.
        self.join_rounds(&other.rounds) | (before != size(self))
    }
}

type Node = (InstanceId, u32);

/// Values that may be known for a step to count as one; with so many more it counts as two, and so on.
const KNOWN_PER_STEP: usize = 16;

/// A value of an instance: the instruction that makes it.
pub type Name = (InstanceId, u32);

/// What is known for each of several ways to get to a point, told apart by what is known about values.
#[derive(Clone, Debug, Default)]
struct Ways {
    states: Vec<State>,
    /// There were too many of them: from now on there is one.
    joined: bool,
}

impl Ways {
    /// Adds a way; whether that is new.
    fn add(&mut self, state: &State, most: usize) -> bool {
        if !self.joined {
            if let Some(known) = self.states.iter_mut().find(|known| known.is_way_of(state)) {
                return known.join(state);
            }
            if self.states.len() < most {
                self.states.push(state.clone());
                return true;
            }
            self.joined = true;
        }
        let mut all = std::mem::take(&mut self.states).into_iter();
        let Some(mut one) = all.next() else {
            self.states.push(state.clone());
            return true;
        };
        let was_one = all.len() == 0;
        for other in all {
            one.join(&other);
        }
        let changed = one.join(state);
        self.states.push(one);
        changed || !was_one
    }
}

/// The result: what is known at each instruction that control reaches.
#[derive(Default)]
pub struct Flow {
    entries: FxHashMap<Node, Ways>,
    exits: FxHashMap<InstanceId, Ways>,
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
    /// What calls do all in all.
    pub effects: &'a Effects,
    /// Locks that are counted.
    pub again: &'a Again,
    /// What numbers can be, where that is looked at.
    pub ranges: Option<&'a Ranges<'a, 'p>>,
    /// Addresses of locks of which only the form is known, and where they can lead.
    pub sums: Vec<(Linear, Addresses)>,
    /// Memory whose values are followed.
    pub cells: &'a Cells,
    /// What is taken to be true of the whole program.
    pub beliefs: Beliefs,
    /// Ways to a point that are told apart, at most.
    pub most_ways: usize,
    /// Whether there are functions that have something to do when a thread is ended in them.
    pub cleans_up: bool,
    /// Where exceptions lead.
    pub unwinding: &'a Unwinding,
    /// Instructions that may still be followed.
    pub steps_left: u64,
    /// What could not be modelled.
    pub gaps: &'a mut Gaps,
}

impl Follower<'_, '_> {
    /// Follows control through all threads, until nothing changes.
    pub fn run(&mut self, family: &mut Family) -> Flow {
        loop {
            let flow = self.round(family);
            if !(family.learn(self.points_to, &flow) | self.beliefs.settle()) || self.steps_left == 0 {
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
            self.begin(ThreadId(index as u32), &mut state);
            let root = self.points_to.before_main.first().copied().filter(|_| index == 0).unwrap_or(root);
            for state in self.enter(root, state) {
                flow.entries.entry((root, 0)).or_default().add(&state, self.most_ways);
            }
            work.insert((root, 0));
        }
        while self.steps_left > 0
            && let Some(node) = self.next(&work)
        {
            work.remove(&node);
            self.block(node, &mut flow, &mut work, family);
        }
        flow
    }

    /// What to look at next. A function of a large program has many callers: it comes before them, so that they hear of what
    /// it does when that is known, and not each time it changes.
    fn next(&self, work: &BTreeSet<Node>) -> Option<Node> {
        if !self.points_to.merged {
            return work.first().copied();
        }
        let (deepest, _) = work.last()?;
        work.range((*deepest, 0)..).next().copied()
    }

    /// What entering a function does.
    fn enter(&mut self, id: InstanceId, mut state: State) -> Vec<State> {
        self.rename(id, None, &mut state);
        let name = self.points_to.program.function_name(self.points_to.instances[id.0 as usize].function);
        if !self.points_to.models.is_atomic(name) {
            return vec![state];
        }
        let before = state.clone();
        state.locks.insert(Held { key: Key::Atomic, shared: false, if_zero: None });
        self.after_change(id, &before, state)
    }

    fn arrive(&self, node: Node, state: &State, flow: &mut Flow, work: &mut BTreeSet<Node>) {
        if flow.entries.entry(node).or_default().add(state, self.most_ways) {
            work.insert(node);
        }
    }

    fn block(&mut self, node: Node, flow: &mut Flow, work: &mut BTreeSet<Node>, family: &Family) {
        let ways = flow.entries.get(&node).map(|ways| ways.states.clone()).unwrap_or_default();
        for mut state in ways {
            self.refresh(node.0, &mut state);
            for end in self.pass(node, state, flow, work, family, &mut |_, _| {}) {
                self.go_on(node, &end, flow, work, family);
            }
        }
    }

    /// Follows control from the beginning of a block to its end; a call can come back in several ways.
    fn pass(
        &mut self,
        node: Node,
        state: State,
        flow: &mut Flow,
        work: &mut BTreeSet<Node>,
        family: &Family,
        visit: &mut dyn FnMut(u32, &State),
    ) -> Vec<State> {
        let (id, block) = node;
        let code = self.points_to.program.function(self.points_to.instances[id.0 as usize].function).0;
        let (first, end) = range(code, block as usize);
        let mut states = vec![state];
        for at in first..end {
            let instruction = &code.instructions[at];
            let mut after: Vec<State> = Vec::new();
            for mut state in states {
                self.rename(id, Some(at as u32), &mut state);
                visit(at as u32, &state);
                match &instruction.operation {
                    Operation::Call | Operation::Invoke { .. } => {
                        state.facts.remove(&(id, at as u32));
                        self.name_ticket(id, at as u32, instruction, &mut state);
                        after.extend(self.call(node, at as u32, instruction, state, flow, work, family));
                        continue;
                    }
                    Operation::Return | Operation::Resume => {
                        self.leave_function(id, instruction, state.clone(), flow, work)
                    }
                    Operation::Load { .. } => {
                        after.extend(self.load(id, at as u32, instruction, state));
                        continue;
                    }
                    Operation::Other(_) => {
                        self.gaps.add(self.points_to, id, at as u32, "an instruction that is not known");
                    }
                    _ => {
                        self.own(id, at as u32, instruction, &mut state);
                        self.name_ticket(id, at as u32, instruction, &mut state);
                        let before = self.may_lock(instruction).then(|| state.clone());
                        self.write(id, at as u32, instruction, &mut state);
                        self.know(id, at as u32, instruction, &mut state);
                        if let Some(before) = before.filter(|before| before.locks != state.locks) {
                            after.extend(self.after_change(id, &before, state));
                            continue;
                        }
                    }
                }
                after.push(state);
            }
            // What is known is copied and compared on each way.
            let known = after.first().map_or(0, |state| state.facts.len() + state.cells.len());
            let steps = after.len() * (1 + known / KNOWN_PER_STEP);
            self.steps_left = self.steps_left.saturating_sub(steps.max(1) as u64);
            states = fewer(after, self.most_ways);
        }
        states
    }

    /// From the end of a block to the next ones.
    fn go_on(&mut self, (id, block): Node, state: &State, flow: &mut Flow, work: &mut BTreeSet<Node>, family: &Family) {
        let points_to = self.points_to;
        let function = points_to.instances[id.0 as usize].function;
        let code = points_to.program.function(function).0;
        let (_, end) = range(code, block as usize);
        for &next in &points_to.blocks[function.0 as usize].successors[block as usize] {
            if self.ranges.is_some_and(|ranges| ranges.is_dead(id, next) || ranges.is_dead_edge(id, block, next)) {
                continue;
            }
            let last = code.instructions.get(end.wrapping_sub(1)).map(|last| &last.operation);
            if matches!(last, Some(Operation::Invoke { normal, unwind }) if unwind.0 == next && normal != unwind)
                && !self.unwinding.may(id)
            {
                continue;
            }
            let mut state = state.clone();
            for &thread in self.crews.waited_for.get(&(id, block, next)).into_iter().flatten() {
                self.end(thread, &mut state, family);
            }
            self.leave_loop(id, block, next, &mut state);
            if let Some(last) = code.instructions.get(end.wrapping_sub(1))
                && !self.decide(id, last, next, &mut state)
            {
                continue;
            }
            self.choose(id, block, next, &mut state);
            self.arrive((id, next), &state, flow, work);
        }
    }

    /// A loop that creates threads is taken to have done so when control leaves it, although it may have had no round at all.
    fn leave_loop(&self, id: InstanceId, block: u32, next: u32, state: &mut State) {
        let instance = &self.points_to.instances[id.0 as usize];
        let blocks = &self.points_to.blocks[instance.function.0 as usize];
        let around = blocks.cycle[block as usize];
        if around.is_none() || blocks.cycle[next as usize] == around {
            return;
        }
        for (&at, threads) in &instance.creates {
            if blocks.cycle[blocks.block_of[at as usize] as usize] == around && threads.len() == 1 {
                let left = threads.iter().filter(|thread| state.active.contains(thread));
                state.running.extend(left);
            }
        }
    }

    /// What an instruction makes, and what it gives away.
    fn own(&self, id: InstanceId, at: u32, instruction: &Instruction, state: &mut State) {
        let value = match instruction.operation {
            Operation::Local { .. } => {
                self.own_new(id, &Base::Local(id, at), state);
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

    /// The latest piece of some memory belongs to this thread alone. What nobody else ever gets at needs no such note, and
    /// neither does what has no name of its own: to carry them along would be for nothing.
    fn own_new(&self, id: InstanceId, base: &Base, state: &mut State) {
        if !self.points_to.instances[id.0 as usize].shared {
            state.owned.extend(self.points_to.find_base(base).filter(|base| self.escaped.contains(base)));
        }
    }

    /// Others may get at this memory from now on.
    fn give(&self, addresses: &Addresses, state: &mut State) {
        state.owned.retain(|base| !addresses.0.contains_key(base));
    }

    fn leave_function(
        &mut self,
        id: InstanceId,
        end: &Instruction,
        mut state: State,
        flow: &mut Flow,
        work: &mut BTreeSet<Node>,
    ) {
        let instance = &self.points_to.instances[id.0 as usize];
        if self.points_to.models.is_atomic(self.points_to.program.function_name(instance.function)) {
            let before = state.clone();
            state.locks.retain(|held| held.key != Key::Atomic);
            // Nothing is taken, so there is one way.
            state = self.after_change(id, &before, state).swap_remove(0);
        }
        if instance.caller.is_none() {
            match self.points_to.before_main.iter().position(|earlier| *earlier == id) {
                Some(index) => {
                    let next = self.points_to.before_main.get(index + 1);
                    let next = next.copied().unwrap_or(self.points_to.threads[0].root);
                    for state in self.enter(next, state.clone()) {
                        self.arrive((next, 0), &state, flow, work);
                    }
                }
                None => leave_thread(instance.thread, &state, flow),
            }
        }
        // What it returns is known to the caller by the name of the call.
        let value = end.operands.first().and_then(|operand| self.known(id, operand, &state));
        state.facts.retain(|(owner, _), _| *owner != id);
        let ticket = end.operands.first().and_then(|operand| self.ticket(id, operand, &state));
        state.tickets.retain(|(owner, _), _| *owner != id);
        if let (Some(cell), Some(caller)) = (ticket, instance.caller)
            && self.can_know(caller.0)
            && !instance.shared
        {
            state.tickets.insert(caller, cell);
        }
        if let (Some(value), Some(caller)) = (value, instance.caller)
            && self.can_know(caller.0)
            && !instance.shared
        {
            state.facts.insert(caller, value);
        }
        if flow.exits.entry(id).or_default().add(&state, self.most_ways) {
            work.extend(flow.waiting.get(&id).into_iter().flatten().copied());
        }
    }
}

/// Joins ways that there are too many of.
fn fewer(states: Vec<State>, most: usize) -> Vec<State> {
    if states.len() < 2 {
        return states;
    }
    let mut ways = Ways::default();
    for state in &states {
        ways.add(state, most);
    }
    ways.states
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

    /// Something to apply effects to once more: nothing new comes of it at the fixed point.
    pub fn scratch(&self) -> Self {
        Self { exits: self.exits.clone(), ..Self::default() }
    }

    /// What is known before each instruction of a block, as far as control comes.
    pub fn each_state(
        &self,
        follower: &mut Follower<'_, '_>,
        family: &Family,
        (id, block): (InstanceId, u32),
        scratch: &mut Self,
        visit: &mut dyn FnMut(u32, &State),
    ) {
        for mut state in self.entries.get(&(id, block)).map(|ways| ways.states.clone()).unwrap_or_default() {
            follower.refresh(id, &mut state);
            follower.pass((id, block), state, scratch, &mut BTreeSet::new(), family, visit);
        }
    }
}
