//! The solver: a state for each point of each thread, computed until a fixed point.
//!
//! It follows control through all instances of functions with a worklist. A [`State`] contains the lockset, the threads
//! that may be active, and what is known about values and memory; [`paths`] keeps several of them apart. Transfer
//! functions are here (control), in [`calls`], in [`constants`] (values and branches), in [`memory`] (variables), and
//! beside the primitives in [`crate::locks`] and [`crate::order`].
//!
//! Some facts hold for the whole program, such as "all writers of this variable hold this lock" ([`invariants`]). They
//! are assumed first and refuted where control violates them; then all threads are followed again. At the end, every
//! state was computed under invariants that no state refutes, so both are true.
//!
//! Start at [`Solver::run`], then [`State`].

mod calls;
pub mod cells;
mod constants;
mod exits;
pub mod invariants;
pub(crate) mod memory;
mod paths;
mod state;

use crate::cfg::blocks::range;
use crate::domain::lattice::{Lattice, MaySet};
use crate::domain::linear::Linear;
use crate::locks::lockset::{HeldLock, LockId};
use crate::locks::recursion::RecursiveMutexes;
use crate::locks::summary::Summaries;
use crate::pointer::address::{Addresses, Base, BaseId};
use crate::pointer::{InstanceId, MAIN, PointsTo, ThreadId};
use crate::race::lifetime::{allocated, ended};
use crate::race::touch::touched;
use crate::ranges::Ranges;
use crate::report::Gaps;
use crate::solver::cells::Cells;
use crate::solver::invariants::Invariants;
use crate::solver::memory::releases;
use crate::threads::groups::ThreadGroups;
use crate::threads::parallel::ThreadTree;
use racehunter_ir::{Instruction, InstructionId, Operand, Operation, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

use paths::{Paths, fewer};
pub use state::{State, ValueName};

type Node = (InstanceId, u32);

/// The number of known values up to which a step costs one; each further multiple costs one more.
const KNOWN_PER_STEP: usize = 16;

/// The result: the states at each reachable instruction.
#[derive(Default)]
pub struct Solution {
    entries: FxHashMap<Node, Paths>,
    exits: FxHashMap<InstanceId, Paths>,
    /// The states in which exceptions leave instances.
    throws: FxHashMap<InstanceId, Paths>,
    /// Threads that are still running when this one ends.
    leavings: BTreeMap<ThreadId, State>,
    /// States before calls that create threads.
    pub before_create: FxHashMap<Node, State>,
    waiting: FxHashMap<InstanceId, FxHashSet<Node>>,
}

/// Follows control through the program.
pub struct Solver<'a, 'p> {
    /// The points-to sets.
    pub points_to: &'a PointsTo<'p>,
    /// Memory that more than one thread can reach.
    pub escaped: &'a FxHashSet<BaseId>,
    /// Threads that loops create.
    pub groups: &'a ThreadGroups,
    /// The effects of calls.
    pub summaries: &'a Summaries,
    /// Mutexes that are counted.
    pub recursive: &'a RecursiveMutexes,
    /// The ranges of numbers, if they are used.
    pub ranges: Option<&'a Ranges<'a, 'p>>,
    /// Addresses of locks that are known only by their form, and their targets.
    pub sums: Vec<(Linear, Addresses)>,
    /// Memory whose values are tracked.
    pub cells: &'a Cells,
    /// Assumptions about the whole program.
    pub invariants: Invariants,
    /// Maximum number of paths to a point that are distinguished.
    pub most_paths: usize,
    /// Number of instruction visits that are left.
    pub steps_left: u64,
    /// Everything that could not be modelled.
    pub gaps: &'a mut Gaps,
}

impl Solver<'_, '_> {
    /// Follows control through all threads, until nothing changes.
    pub fn run(&mut self, tree: &mut ThreadTree) -> Solution {
        loop {
            let solution = self.round(tree);
            if !(tree.learn(self.points_to, &solution) | self.invariants.settle()) || self.steps_left == 0 {
                return solution;
            }
        }
    }

    fn round(&mut self, tree: &ThreadTree) -> Solution {
        let mut solution = Solution::default();
        let mut work: BTreeSet<Node> = BTreeSet::new();
        for (thread, described) in self.points_to.threads.entries() {
            let active = tree.inherited(thread).clone();
            let mut state = State { active: MaySet(active), ..State::default() };
            self.begin(thread, &mut state);
            let root = self.points_to.before_main.first().copied().filter(|_| thread == MAIN).unwrap_or(described.root);
            for state in self.enter(root, state) {
                solution.entries.entry((root, 0)).or_default().add(&state, self.most_paths);
            }
            work.insert((root, 0));
        }
        while self.steps_left > 0
            && let Some(node) = self.next(&work)
        {
            work.remove(&node);
            self.block(node, &mut solution, &mut work, tree);
        }
        solution
    }

    /// Returns what to visit next. In a large program, a function with many callers comes before them, so that they see
    /// its final effect rather than every change.
    fn next(&self, work: &BTreeSet<Node>) -> Option<Node> {
        if !self.points_to.merged {
            return work.first().copied();
        }
        let (deepest, _) = work.last()?;
        work.range((*deepest, 0)..).next().copied()
    }

    /// Returns the states after entering a function.
    fn enter(&mut self, id: InstanceId, mut state: State) -> Vec<State> {
        self.rename(id, None, &mut state);
        let name = self.points_to.program.function_name(self.points_to.instances[id].function);
        if !self.points_to.models.is_atomic(name) {
            return vec![state];
        }
        let before = state.clone();
        state.lockset.insert(HeldLock { id: LockId::Atomic, shared: false, if_zero: None });
        self.after_change(id, &before, state)
    }

    fn arrive(&self, node: Node, state: &State, solution: &mut Solution, work: &mut BTreeSet<Node>) {
        if solution.entries.entry(node).or_default().add(state, self.most_paths) {
            work.insert(node);
        }
    }

    fn block(&mut self, node: Node, solution: &mut Solution, work: &mut BTreeSet<Node>, tree: &ThreadTree) {
        let paths = solution.entries.get(&node).map(|paths| paths.states.clone()).unwrap_or_default();
        for mut state in paths {
            self.refresh(node.0, &mut state);
            for end in self.pass(node, state, solution, work, tree, &mut |_, _| {}) {
                self.go_on(node, &end, solution, work, tree);
            }
        }
    }

    /// Follows control from the start of a block to its end; a call can return on several paths.
    fn pass(
        &mut self,
        node: Node,
        state: State,
        solution: &mut Solution,
        work: &mut BTreeSet<Node>,
        tree: &ThreadTree,
        visit: &mut dyn FnMut(u32, &State),
    ) -> Vec<State> {
        let (id, block) = node;
        let code = self.points_to.code(id);
        let (first, end) = range(code, block as usize);
        let mut states = vec![state];
        for at in first..end {
            let instruction = &code.instructions[at];
            let mut after: Vec<State> = Vec::new();
            for mut state in states {
                self.rename(id, Some(at as u32), &mut state);
                visit(at as u32, &state);
                self.fence(id, at as u32, instruction, &mut state);
                self.let_out(id, at as u32, instruction, &mut state);
                match &instruction.operation {
                    Operation::Call | Operation::Invoke { .. } => {
                        state.constants.remove(&(id, at as u32));
                        self.name_unique_value(id, at as u32, instruction, &mut state);
                        let left = self.call(node, at as u32, instruction, state, solution, work, tree);
                        after.extend(left.returned);
                        for mut thrown in left.thrown {
                            match instruction.operation {
                                Operation::Invoke { unwind, .. } => {
                                    self.choose(id, block, unwind.0, &mut thrown);
                                    self.arrive((id, unwind.0), &thrown, solution, work);
                                }
                                _ => {
                                    // The function ends here, and so do its locals.
                                    visit(at as u32, &thrown);
                                    self.leave_function(id, None, true, thrown, solution, work);
                                }
                            }
                        }
                        continue;
                    }
                    Operation::Return | Operation::Resume => {
                        let is_thrown = instruction.operation == Operation::Resume;
                        self.leave_function(id, instruction.operands.first(), is_thrown, state.clone(), solution, work);
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
                        self.name_unique_value(id, at as u32, instruction, &mut state);
                        let before = self.may_lock(instruction).then(|| state.clone());
                        self.write(id, at as u32, instruction, &mut state);
                        self.know(id, at as u32, instruction, &mut state);
                        if let Some(before) = before {
                            let changed = before.lockset != state.lockset;
                            let found = self.found(id, at as u32, instruction, &before, state);
                            for state in found {
                                match changed {
                                    true => after.extend(self.after_change(id, &before, state)),
                                    false => after.push(state),
                                }
                            }
                            continue;
                        }
                    }
                }
                after.push(state);
            }
            // Facts are copied and compared on each path.
            let known = after.first().map_or(0, |state| state.constants.len() + state.cells.len());
            let steps = after.len() * (1 + known / KNOWN_PER_STEP);
            self.steps_left = self.steps_left.saturating_sub(steps.max(1) as u64);
            states = fewer(after, self.most_paths);
        }
        states
    }

    /// Follows control from the end of a block to its successors.
    fn go_on(
        &mut self,
        (id, block): Node,
        state: &State,
        solution: &mut Solution,
        work: &mut BTreeSet<Node>,
        tree: &ThreadTree,
    ) {
        let points_to = self.points_to;
        let function = points_to.instances[id].function;
        let code = points_to.program.function(function).0;
        let (_, end) = range(code, block as usize);
        for &next in &points_to.blocks[function].successors[block as usize] {
            if self.ranges.is_some_and(|ranges| ranges.is_dead(id, next) || ranges.is_dead_edge(id, block, next)) {
                continue;
            }
            let last = code.instructions.get(end.wrapping_sub(1)).map(|last| &last.operation);
            // An exception has taken this way already.
            if matches!(last, Some(Operation::Invoke { normal, unwind }) if unwind.0 == next && normal != unwind) {
                continue;
            }
            let mut state = state.clone();
            for &thread in self.groups.waited_for.get(&(id, block, next)).into_iter().flatten() {
                self.end(thread, &mut state, tree);
            }
            self.leave_loop(id, block, next, &mut state);
            if let Some(last) = code.instructions.get(end.wrapping_sub(1))
                && !self.decide(id, last, next, &mut state)
            {
                continue;
            }
            self.choose(id, block, next, &mut state);
            self.arrive((id, next), &state, solution, work);
        }
    }

    /// Assumes that a loop which creates threads has done so when control leaves it, although it may have had no
    /// iteration.
    fn leave_loop(&self, id: InstanceId, block: u32, next: u32, state: &mut State) {
        let instance = &self.points_to.instances[id];
        let blocks = &self.points_to.blocks[instance.function];
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

    /// Handles a release fence, and what ends its effect: another access to fresh memory, or a read that may find an
    /// address that the thread did not have at the fence.
    fn fence(&self, id: InstanceId, at: u32, instruction: &Instruction, state: &mut State) {
        if let Operation::Fence(order) = instruction.operation {
            state.fenced.0 |= releases(order);
            return;
        }
        if !state.fenced.0 {
            return;
        }
        let is_atomic_store = matches!(instruction.operation, Operation::Store { order: Some(_), .. });
        let ends = |(base, _)| {
            matches!(self.points_to.describe(base), Base::Unknown(_))
                || if is_atomic_store { state.owned.contains(&base) } else { self.escaped.contains(&base) }
        };
        let touched = touched(self.points_to, id, at).into_iter().chain(ended(self.points_to, id, at));
        let mut touched = touched.chain(allocated(self.points_to, id, at));
        if touched.any(|touch| touch.addresses.is_empty() || touch.addresses.iter().any(ends)) {
            state.fenced.0 = false;
        }
    }

    /// Handles memory that an instruction allocates or passes on.
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

    /// Notes that the latest piece of some memory belongs only to this thread. Memory that no other thread ever reaches
    /// needs no note, and memory without a unique name cannot have one.
    fn own_new(&self, id: InstanceId, base: &Base, state: &mut State) {
        if !self.points_to.instances[id].shared {
            state.owned.extend(self.points_to.find_base(base).filter(|base| self.escaped.contains(base)));
        }
    }

    /// Handles an address whose bytes become a number: others may get it back from any number.
    fn let_out(&self, id: InstanceId, at: u32, instruction: &Instruction, state: &mut State) {
        if !state.owned.is_empty() && matches!(instruction.ty, Type::Integer(_) | Type::Float(_)) {
            self.give(&self.points_to.operand(id, &Operand::Instruction(InstructionId(at))), state);
        }
    }

    /// Notes that others may reach this memory from now on.
    fn give(&self, addresses: &Addresses, state: &mut State) {
        state.owned.retain(|base| !addresses.0.contains_key(base));
    }

    fn leave_function(
        &mut self,
        id: InstanceId,
        value: Option<&Operand>,
        is_thrown: bool,
        mut state: State,
        solution: &mut Solution,
        work: &mut BTreeSet<Node>,
    ) {
        let instance = &self.points_to.instances[id];
        if self.points_to.models.is_atomic(self.points_to.program.function_name(instance.function)) {
            let before = state.clone();
            state.lockset.retain(|held| held.id != LockId::Atomic);
            // Nothing is taken, so there is one path.
            state = self.after_change(id, &before, state).swap_remove(0);
        }
        if instance.caller.is_none() {
            match self.points_to.before_main.iter().position(|earlier| *earlier == id) {
                // An exception that was not caught ends the program at once.
                Some(_) if is_thrown => {}
                Some(index) => {
                    let next = self.points_to.before_main.get(index + 1);
                    let next = next.copied().unwrap_or(self.points_to.threads[MAIN].root);
                    for state in self.enter(next, state.clone()) {
                        self.arrive((next, 0), &state, solution, work);
                    }
                }
                None if instance.thread == MAIN && !is_thrown => self.after_main(id, &state, solution, work),
                None => leave_thread(instance.thread, &state, solution),
            }
        }
        // The caller knows the result by the name of the call.
        let value = value.filter(|_| !is_thrown);
        let unique_value = value.and_then(|operand| self.unique_value(id, operand, &state));
        let value = value.and_then(|operand| self.known(id, operand, &state));
        state.constants.retain(|(owner, _), _| *owner != id);
        state.unique_values.retain(|(owner, _), _| *owner != id);
        if let (Some(cell), Some(caller)) = (unique_value, instance.caller)
            && self.can_know(caller.0)
            && !instance.shared
        {
            state.unique_values.insert(caller, cell);
        }
        if let (Some(value), Some(caller)) = (value, instance.caller)
            && self.can_know(caller.0)
            && !instance.shared
        {
            state.constants.insert(caller, value);
        }
        let exits = if is_thrown { &mut solution.throws } else { &mut solution.exits };
        if exits.entry(id).or_default().add(&state, self.most_paths) {
            work.extend(solution.waiting.get(&id).into_iter().flatten().copied());
        }
    }
}

fn leave_thread(thread: ThreadId, state: &State, solution: &mut Solution) {
    match solution.leavings.get_mut(&thread) {
        Some(known) => {
            known.join(state);
        }
        None => {
            solution.leavings.insert(thread, state.clone());
        }
    }
}

impl Solution {
    /// Returns the threads that may still be running when a thread ends.
    pub fn left_by(&self, thread: ThreadId) -> BTreeSet<ThreadId> {
        self.leavings.get(&thread).map(|state| state.active.0.clone()).unwrap_or_default()
    }

    /// Returns a scratch solution to which effects can be applied again: at the fixed point, nothing new results.
    pub fn scratch(&self) -> Self {
        Self { exits: self.exits.clone(), throws: self.throws.clone(), ..Self::default() }
    }

    /// Calls `visit` with the state before each reachable instruction of a block.
    pub fn each_state(
        &self,
        solver: &mut Solver<'_, '_>,
        tree: &ThreadTree,
        (id, block): (InstanceId, u32),
        scratch: &mut Self,
        visit: &mut dyn FnMut(u32, &State),
    ) {
        for mut state in self.entries.get(&(id, block)).map(|paths| paths.states.clone()).unwrap_or_default() {
            solver.refresh(id, &mut state);
            solver.pass((id, block), state, scratch, &mut BTreeSet::new(), tree, visit);
        }
    }
}
