//! Thread groups: threads that one loop creates, one in each iteration, and the memory that each member has for itself.
//!
//! What the loop gives the members distinguishes them: an allocation, an array element, or a number that differs in
//! each iteration. Accesses of two members to their own elements never overlap. This requires a loop that is entered
//! once, creates one thread in each iteration, and has a counter that does not wrap around.
//!
//! Start at [`ThreadGroups`].

use crate::cfg::loops::{Counter, Loop, Loops};
use crate::domain::linear::{InstanceValue, Linear, linear, number};
use crate::models::Model;
use crate::pointer::address::{Base, BaseId};
use crate::pointer::fresh;
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::program::FunctionId;
use racehunter_ir::{Instruction, InstructionId, Operand};
use rustc_hash::FxHashMap;

/// What distinguishes the members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    /// Separate memory.
    Object,
    /// The address of an element of an array, and the size of an element in bytes.
    Element {
        /// The address in the loop.
        address: Linear,
        /// Distance between elements.
        bytes: u64,
    },
    /// A number.
    Number,
}

/// Threads that one loop creates, one in each iteration.
pub(super) struct Group {
    pub(super) creator: InstanceId,
    pub(super) at: u32,
    pub(super) header: u32,
    pub(super) counter: Counter,
    given: Option<Given>,
}

/// A member of a group that the number of its iteration distinguishes.
#[derive(Clone, Debug)]
pub struct Member {
    /// The instance that creates it.
    pub creator: InstanceId,
    /// The instruction that creates it.
    pub at: u32,
    /// Its number there.
    pub number: Operand,
    /// The distance between numbers.
    pub step: u64,
    /// The address that it is given, and the distance between addresses; otherwise it is given the number.
    pub element: Option<(Linear, u64)>,
}

/// Memory that a member of a group has for itself; equal values of different members mean different memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Own {
    /// Within the memory behind its argument.
    Argument,
    /// Within the row of its number, in an array that starts there.
    Row {
        /// Offset of the array in its base.
        begin: i64,
        /// Bytes of a row.
        bytes: u64,
        /// Number of rows further on.
        row: i64,
    },
}

/// A call in a loop that joins the member of the loop's number.
pub(super) struct JoinedByNumber {
    /// The call.
    pub(super) at: u32,
    /// The loop.
    pub(super) header: u32,
    /// The value that counts its iterations.
    pub(super) number: u32,
}

/// All thread groups, and where they are joined.
#[derive(Default)]
pub struct ThreadGroups {
    groups: FxHashMap<ThreadId, Group>,
    loops: FxHashMap<FunctionId, Loops>,
    /// Calls in loops that join the member of the loop's number.
    pub(super) joins: FxHashMap<ThreadId, Vec<JoinedByNumber>>,
    /// Threads that have all ended when control leaves a loop: by instance, header and next block.
    pub waited_for: FxHashMap<(InstanceId, u32, u32), Vec<ThreadId>>,
}

impl ThreadGroups {
    /// Finds all thread groups of a program.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut found = Self::default();
        for thread in points_to.threads.ids() {
            if let Some(group) = found.group(points_to, thread) {
                found.find_joins(points_to, thread, &group);
                found.groups.insert(thread, group);
            }
        }
        found
    }

    pub(super) fn loops(&mut self, points_to: &PointsTo<'_>, function: FunctionId) -> &Loops {
        self.loops.entry(function).or_insert_with(|| Loops::of(&points_to.blocks[function]))
    }

    fn group(&mut self, points_to: &PointsTo<'_>, thread: ThreadId) -> Option<Group> {
        let described = &points_to.threads[thread];
        let (creator, at) = described.creator?;
        // The loop is entered once; otherwise a number could repeat.
        if described.recursive || !points_to.is_once(creator) {
            return None;
        }
        let instance = &points_to.instances[creator];
        let function = instance.function;
        let blocks = &points_to.blocks[function];
        let code = points_to.program.function(function).0;
        let loops = self.loops(points_to, function);
        let around = loops.innermost(blocks.block_of[at as usize])?.clone();
        // Control also reaches the header after the last iteration.
        let block = blocks.block_of[at as usize];
        if !loops.is_outermost(blocks, &around) || block == around.header || !around.is_once_a_round(blocks, block) {
            return None;
        }
        let call = &code.instructions[at as usize];
        let (Model::Create(create), _) = only_model(points_to, creator, at)? else { return None };
        let argument = call.operands.get(create.argument + 1)?;
        let handle = linear(points_to, creator, call.operands.get(create.handle? + 1)?);
        let counters: Vec<Counter> = around.counters(code).into_iter().filter(Counter::is_distinct).collect();
        let is_counter = |counter: &Counter, value: &InstanceValue| *value == (creator, instruction(counter.phi));
        let by = |value: &InstanceValue| counters.iter().find(|counter| is_counter(counter, value)).cloned();
        let given = given(points_to, creator, argument, &around, loops, &counters);
        // The counter is that of the argument, or else of the handle.
        let counter = match &given {
            Some((_, Some(counter))) => counter.clone(),
            _ => handle
                .terms
                .iter()
                .find_map(|(_, value)| by(&plain(points_to, value)))
                .or_else(|| counters.first().cloned())?,
        };
        let given = given.map(|(given, _)| given);
        Some(Group { creator, at, header: around.header, counter, given })
    }

    /// Returns the number or array element that distinguishes the members of a group.
    pub fn member(&self, thread: ThreadId) -> Option<Member> {
        let group = self.groups.get(&thread)?;
        let element = match group.given.as_ref()? {
            Given::Number => None,
            Given::Element { address, bytes } => Some((address.clone(), *bytes)),
            Given::Object => return None,
        };
        let (creator, at, step) = (group.creator, group.at, group.counter.step.unsigned_abs());
        Some(Member { creator, at, number: instruction(group.counter.phi), step, element })
    }

    /// Returns the maximum number of members of a group.
    pub fn size(&self, points_to: &PointsTo<'_>, thread: ThreadId) -> Option<u64> {
        let group = self.groups.get(&thread)?;
        let instance = &points_to.instances[group.creator];
        let around = self.loops.get(&instance.function)?.all.iter().find(|other| other.header == group.header)?;
        let code = points_to.program.function(instance.function).0;
        let bounds = around.counters(code).into_iter().filter_map(|counter| counter.rounds());
        bounds.min()
    }

    /// Returns the memory of its own that a member of a group accesses, if any.
    pub fn own(
        &self,
        points_to: &PointsTo<'_>,
        thread: ThreadId,
        id: InstanceId,
        address: &Operand,
        bytes: u64,
    ) -> Option<Own> {
        let group = self.groups.get(&thread)?;
        let argument = (points_to.threads[thread].root, Operand::Parameter(0));
        let sum = linear(points_to, id, address);
        match group.given.as_ref()? {
            Given::Object => (sum.root == argument).then_some(Own::Argument),
            Given::Element { bytes: element, .. } => {
                let fits = sum.constant >= 0 && (sum.constant as u64).checked_add(bytes)? <= *element;
                (sum.root == argument && sum.terms.is_empty() && fits).then_some(Own::Argument)
            }
            Given::Number => row(points_to, &sum, &argument, bytes),
        }
    }

    /// Returns the memory of the member that the creator of a group has just joined and accesses, if any: in a loop, after
    /// a call that joins the member of the same number.
    pub fn of_joined(
        &self,
        points_to: &PointsTo<'_>,
        thread: ThreadId,
        access: (InstanceId, u32),
        address: &Operand,
        bytes: u64,
    ) -> Option<Own> {
        let (id, at) = access;
        let group = self.groups.get(&thread).filter(|group| group.creator == id)?;
        let function = points_to.instances[id].function;
        let blocks = &points_to.blocks[function];
        let loops = self.loops.get(&function)?;
        let block = blocks.block_of[at as usize];
        let sum = linear(points_to, id, address);
        self.joins.get(&thread)?.iter().find_map(|join| {
            let joins = blocks.block_of[join.at as usize];
            let around = loops.all.iter().find(|other| other.header == join.header)?;
            // In the same iteration, and after the join.
            let after = if block == joins { join.at < at } else { loops.dominates(joins, block) };
            if !around.body.contains(&block) || !after {
                return None;
            }
            let number = (id, instruction(join.number));
            match group.given.as_ref()? {
                Given::Object => None,
                Given::Element { address, bytes: element } => {
                    let ([(scale, index)], [(other_scale, _)]) = (&sum.terms[..], &address.terms[..]) else {
                        return None;
                    };
                    let is_same = scale == other_scale && sum.root == address.root && plain(points_to, index) == number;
                    let behind = sum.constant.checked_sub(address.constant).filter(|_| is_same)?;
                    (behind >= 0 && (behind as u64).checked_add(bytes)? <= *element).then_some(Own::Argument)
                }
                Given::Number => row(points_to, &sum, &number, bytes),
            }
        })
    }

    /// Returns the memory of the next member that the creator of a group accesses, if any.
    pub fn of_next(
        &self,
        points_to: &PointsTo<'_>,
        thread: ThreadId,
        access: (InstanceId, u32),
        address: &Operand,
        bytes: u64,
    ) -> Option<Own> {
        let (id, at) = access;
        let group = self.groups.get(&thread).filter(|group| group.creator == id)?;
        let function = points_to.instances[id].function;
        let blocks = &points_to.blocks[function];
        let loops = self.loops.get(&function)?;
        let (block, creates) = (blocks.block_of[at as usize], blocks.block_of[group.at as usize]);
        let around = loops.all.iter().find(|other| other.header == group.header)?;
        // In the same iteration, and before the member exists.
        let before = if block == creates { at < group.at } else { loops.dominates(block, creates) };
        if !around.body.contains(&block) || !before {
            return None;
        }
        let sum = linear(points_to, id, address);
        match group.given.as_ref()? {
            Given::Object => None,
            Given::Element { address, bytes: element } => {
                let behind = sum.behind(address)?;
                (behind >= 0 && (behind as u64).checked_add(bytes)? <= *element).then_some(Own::Argument)
            }
            Given::Number => row(points_to, &sum, &(id, instruction(group.counter.phi)), bytes),
        }
    }
}

pub(super) fn instruction(at: u32) -> Operand {
    Operand::Instruction(InstructionId(at))
}

/// Returns the origin of a number.
pub(super) fn plain(points_to: &PointsTo<'_>, value: &InstanceValue) -> InstanceValue {
    number(points_to, value.0, &value.1)
}

/// Returns the one function outside the program that a call leads to.
pub(super) fn only_model<'p>(points_to: &PointsTo<'p>, id: InstanceId, at: u32) -> Option<(Model, &'p Instruction)> {
    let instance = &points_to.instances[id];
    let mut names = instance.outside.get(&at)?.iter();
    let name = names.next()?;
    let is_only = names.next().is_none() && !instance.callees.contains_key(&at);
    let call = &points_to.program.function(instance.function).0.instructions[at as usize];
    points_to.models.of(name).filter(|_| is_only).map(|model| (model, call))
}

/// Returns the one place in memory that a value points to.
pub(crate) fn one_place(points_to: &PointsTo<'_>, value: &InstanceValue) -> Option<(BaseId, i64)> {
    let (base, offset) = points_to.operand(value.0, &value.1).only()?;
    let begin = offset.only()?;
    points_to.is_strong(base).then_some((base, begin))
}

/// Returns how the argument of a call distinguishes the threads that it creates, and by which counter.
fn given(
    points_to: &PointsTo<'_>,
    creator: InstanceId,
    argument: &Operand,
    around: &Loop,
    loops: &Loops,
    counters: &[Counter],
) -> Option<(Given, Option<Counter>)> {
    let function = points_to.instances[creator].function;
    let blocks = &points_to.blocks[function];
    let by =
        |value: &InstanceValue| counters.iter().find(|counter| *value == (creator, instruction(counter.phi))).cloned();
    // Allocated in the same iteration, and in each one.
    if let Some(base) = fresh::latest(points_to, creator, argument)
        && let Base::Heap(id, at) = *points_to.describe(base)
        && id == creator
        && loops.innermost(blocks.block_of[at as usize]).is_some_and(|made| made.header == around.header)
    {
        return Some((Given::Object, None));
    }
    if let Some(counter) = by(&number(points_to, creator, argument)) {
        return Some((Given::Number, Some(counter)));
    }
    let address = linear(points_to, creator, argument);
    let [(scale, index)] = &address.terms[..] else { return None };
    let counter = by(&plain(points_to, index))?;
    if address.root.0 != creator || !around.is_outside(blocks, &address.root.1) {
        return None;
    }
    let bytes = scale.checked_mul(counter.step.unsigned_abs())?;
    Some((Given::Element { address: address.clone(), bytes }, Some(counter)))
}

/// Returns the row of an array that a number selects.
fn row(points_to: &PointsTo<'_>, sum: &Linear, number: &InstanceValue, bytes: u64) -> Option<Own> {
    let [(scale, index)] = &sum.terms[..] else { return None };
    if plain(points_to, index) != *number {
        return None;
    }
    let (_, begin) = one_place(points_to, &sum.root)?;
    let width = i64::try_from(*scale).ok().filter(|&width| width > 0)?;
    let within = sum.constant.rem_euclid(width) as u64;
    let row = sum.constant.div_euclid(width);
    (within.checked_add(bytes)? <= *scale).then_some(Own::Row { begin, bytes: *scale, row })
}
