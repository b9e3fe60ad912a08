//! Threads that a loop creates: what each of them has for itself, and loops that wait for all of them.

use crate::address::{Base, BaseId, Offset};
use crate::ends::{ended, ends};
use crate::fresh;
use crate::linear::{Linear, Value, linear, number};
use crate::loops::{Counter, Loop, Loops};
use crate::models::Model;
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use crate::program::FunctionId;
use crate::races::touched;
use racehunter_ir::{Instruction, InstructionId, Operand, Operation};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// How the members of a crew are told apart by what they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    /// Memory of its own.
    Object,
    /// The address of an element of an array, of so many bytes.
    Element {
        /// The address in the loop.
        address: Linear,
        /// Distance from one to the next.
        bytes: u64,
    },
    /// A number.
    Number,
}

/// Threads that one loop creates, one in each round.
struct Crew {
    creator: InstanceId,
    at: u32,
    header: u32,
    counter: Counter,
    given: Option<Given>,
}

/// A member of a crew that is told apart by the number of its round.
#[derive(Clone, Debug)]
pub struct Member {
    /// Who creates it.
    pub creator: InstanceId,
    /// Where.
    pub at: u32,
    /// Its number, there.
    pub number: Operand,
    /// How far from the number of the next.
    pub step: u64,
    /// The address that it is given, and the bytes from one to the next; otherwise it is given the number.
    pub element: Option<(Linear, u64)>,
}

/// What a member of a crew has for itself; equal ones of different members are different memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Own {
    /// Within what its argument leads to.
    Argument,
    /// Within the row of its number, in an array that begins there.
    Row {
        /// Offset of the array in its base.
        begin: i64,
        /// Bytes of a row.
        bytes: u64,
        /// Rows further.
        row: i64,
    },
}

/// All crews, and where they are waited for.
#[derive(Default)]
pub struct Crews {
    crews: FxHashMap<ThreadId, Crew>,
    loops: FxHashMap<FunctionId, Loops>,
    /// Threads that are all over when control leaves a loop: by instance, header and next block.
    pub waited_for: FxHashMap<(InstanceId, u32, u32), Vec<ThreadId>>,
}

impl Crews {
    /// Finds all crews of a program.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut found = Self::default();
        for index in 0..points_to.threads.len() {
            let thread = ThreadId(index as u32);
            if let Some(crew) = found.crew(points_to, thread) {
                found.wait(points_to, thread, &crew);
                found.crews.insert(thread, crew);
            }
        }
        found
    }

    fn loops(&mut self, points_to: &PointsTo<'_>, function: FunctionId) -> &Loops {
        self.loops.entry(function).or_insert_with(|| Loops::of(&points_to.blocks[function.0 as usize]))
    }

    fn crew(&mut self, points_to: &PointsTo<'_>, thread: ThreadId) -> Option<Crew> {
        let described = &points_to.threads[thread.0 as usize];
        let (creator, at) = described.creator?;
        // The loop is passed through once; else a number could come again.
        if described.recursive || !points_to.is_once(creator) {
            return None;
        }
        let instance = &points_to.instances[creator.0 as usize];
        let function = instance.function;
        let blocks = &points_to.blocks[function.0 as usize];
        let code = points_to.program.function(function).0;
        let loops = self.loops(points_to, function);
        let around = loops.innermost(blocks.block_of[at as usize])?.clone();
        // In the header control is also in the round that is none any more.
        let block = blocks.block_of[at as usize];
        if !loops.is_outermost(blocks, &around) || block == around.header || !around.is_once_a_round(blocks, block) {
            return None;
        }
        let call = &code.instructions[at as usize];
        let (Model::Create(create), _) = only_model(points_to, creator, at)? else { return None };
        let argument = call.operands.get(create.argument + 1)?;
        let handle = linear(points_to, creator, call.operands.get(create.handle? + 1)?);
        let counters: Vec<Counter> = around.counters(code).into_iter().filter(Counter::is_distinct).collect();
        let is_counter = |counter: &Counter, value: &Value| *value == (creator, instruction(counter.phi));
        let by = |value: &Value| counters.iter().find(|counter| is_counter(counter, value)).cloned();
        let given = given(points_to, creator, argument, &around, loops, &counters);
        // The counter is the one of the argument, or else of the handle.
        let counter = match &given {
            Some((_, Some(counter))) => counter.clone(),
            _ => handle
                .terms
                .iter()
                .find_map(|(_, value)| by(&plain(points_to, value)))
                .or_else(|| counters.first().cloned())?,
        };
        let given = given.map(|(given, _)| given);
        Some(Crew { creator, at, header: around.header, counter, given })
    }

    /// Finds loops after which all members are over.
    fn wait(&mut self, points_to: &PointsTo<'_>, thread: ThreadId, crew: &Crew) {
        let instance = &points_to.instances[crew.creator.0 as usize];
        let function = instance.function;
        let blocks = &points_to.blocks[function.0 as usize];
        let code = points_to.program.function(function).0;
        let Some((Model::Create(create), call)) = only_model(points_to, crew.creator, crew.at) else { return };
        let Some(handle) = create.handle.and_then(|index| call.operands.get(index + 1)) else { return };
        let stored = linear(points_to, crew.creator, handle);
        let [(scale, index)] = &stored.terms[..] else { return };
        let loops = self.loops(points_to, function);
        let mut found = Vec::new();
        let Some(creating) = loops.all.iter().find(|other| other.header == crew.header) else { return };
        let Some(filled) = (creating.counters(code).into_iter())
            .find(|counter| plain(points_to, index) == (crew.creator, instruction(counter.phi)))
        else {
            return;
        };
        for &at in instance.outside.keys() {
            let Some((Model::Join(join), call)) = only_model(points_to, crew.creator, at) else { continue };
            let Some(around) = loops.innermost(blocks.block_of[at as usize]) else { continue };
            let Some(Operand::Instruction(load)) = call.operands.get(join.handle + 1) else { continue };
            let load = &code.instructions[load.0 as usize];
            let (Operation::Load { .. }, [address]) = (&load.operation, &load.operands[..]) else { continue };
            let loaded = linear(points_to, crew.creator, address);
            let [(other_scale, other_index)] = &loaded.terms[..] else { continue };
            let same_array =
                loaded.root == stored.root || one_place(points_to, &loaded.root) == one_place(points_to, &stored.root);
            let is_one = one_place(points_to, &stored.root).is_some();
            if !same_array || !is_one || scale != other_scale || loaded.constant != stored.constant {
                continue;
            }
            let counters = around.counters(code);
            let Some(emptied) = (counters.iter())
                .find(|counter| plain(points_to, other_index) == (crew.creator, instruction(counter.phi)))
            else {
                continue;
            };
            let same_end = match (&emptied.below, &filled.below) {
                (Some((one, end)), Some((other, filled_to))) if one == other => {
                    let is_one_value =
                        end == filled_to && around.is_outside(blocks, end) && creating.is_outside(blocks, end);
                    let kept = |end: &Operand| kept(points_to, crew.creator, creating, end);
                    is_one_value || kept(end).is_some_and(|place| Some(place) == kept(filled_to))
                }
                _ => false,
            };
            let same_range = emptied.start == filled.start
                && matches!(emptied.start, Operand::Integer(_))
                && (emptied.step, filled.step) == (1, 1)
                && same_end;
            let always = around.latches.iter().all(|&latch| loops.dominates(blocks.block_of[at as usize], latch));
            if !same_range || !always || !around.ends_at_header(blocks) || around.header == crew.header {
                continue;
            }
            // Nobody else changes the handles.
            let handles = points_to.operand(crew.creator, address);
            let untouched = handles.only().is_some_and(|(base, offset)| {
                points_to.writers(base, offset) == BTreeSet::from([(crew.creator, crew.at)])
            });
            if untouched {
                for &next in &blocks.successors[around.header as usize] {
                    if !around.body.contains(&next) {
                        found.push((crew.creator, around.header, next));
                    }
                }
            }
        }
        for edge in found {
            self.waited_for.entry(edge).or_default().push(thread);
        }
    }

    /// What tells the members of a crew apart, if it is a number that they are given or an element of an array.
    pub fn member(&self, thread: ThreadId) -> Option<Member> {
        let crew = self.crews.get(&thread)?;
        let element = match crew.given.as_ref()? {
            Given::Number => None,
            Given::Element { address, bytes } => Some((address.clone(), *bytes)),
            Given::Object => return None,
        };
        let (creator, at, step) = (crew.creator, crew.at, crew.counter.step.unsigned_abs());
        Some(Member { creator, at, number: instruction(crew.counter.phi), step, element })
    }

    /// How many members a crew has at most.
    pub fn members(&self, points_to: &PointsTo<'_>, thread: ThreadId) -> Option<u64> {
        let crew = self.crews.get(&thread)?;
        let instance = &points_to.instances[crew.creator.0 as usize];
        let around = self.loops.get(&instance.function)?.all.iter().find(|other| other.header == crew.header)?;
        let code = points_to.program.function(instance.function).0;
        let bounds = around.counters(code).into_iter().filter_map(|counter| counter.rounds());
        bounds.min()
    }

    /// What a member of a crew accesses of its own, if it does.
    pub fn own(
        &self,
        points_to: &PointsTo<'_>,
        thread: ThreadId,
        id: InstanceId,
        address: &Operand,
        bytes: u64,
    ) -> Option<Own> {
        let crew = self.crews.get(&thread)?;
        let argument = (points_to.threads[thread.0 as usize].root, Operand::Parameter(0));
        let sum = linear(points_to, id, address);
        match crew.given.as_ref()? {
            Given::Object => (sum.root == argument).then_some(Own::Argument),
            Given::Element { bytes: element, .. } => {
                let fits = sum.constant >= 0 && (sum.constant as u64).checked_add(bytes)? <= *element;
                (sum.root == argument && sum.terms.is_empty() && fits).then_some(Own::Argument)
            }
            Given::Number => row(points_to, &sum, &argument, bytes),
        }
    }

    /// What the creator of a crew accesses of that which the next member will get, if it does.
    pub fn of_next(
        &self,
        points_to: &PointsTo<'_>,
        thread: ThreadId,
        access: (InstanceId, u32),
        address: &Operand,
        bytes: u64,
    ) -> Option<Own> {
        let (id, at) = access;
        let crew = self.crews.get(&thread).filter(|crew| crew.creator == id)?;
        let function = points_to.instances[id.0 as usize].function;
        let blocks = &points_to.blocks[function.0 as usize];
        let loops = self.loops.get(&function)?;
        let (block, creates) = (blocks.block_of[at as usize], blocks.block_of[crew.at as usize]);
        let around = loops.all.iter().find(|other| other.header == crew.header)?;
        // In the same round, and before the member is there.
        let before = if block == creates { at < crew.at } else { loops.dominates(block, creates) };
        if !around.body.contains(&block) || !before {
            return None;
        }
        let sum = linear(points_to, id, address);
        match crew.given.as_ref()? {
            Given::Object => None,
            Given::Element { address, bytes: element } => {
                let behind = sum.behind(address)?;
                (behind >= 0 && (behind as u64).checked_add(bytes)? <= *element).then_some(Own::Argument)
            }
            Given::Number => row(points_to, &sum, &(id, instruction(crew.counter.phi)), bytes),
        }
    }
}

fn instruction(at: u32) -> Operand {
    Operand::Instruction(InstructionId(at))
}

/// Where a number comes from.
fn plain(points_to: &PointsTo<'_>, value: &Value) -> Value {
    number(points_to, value.0, &value.1)
}

/// The one function outside of the program that a call leads to.
fn only_model<'p>(points_to: &PointsTo<'p>, id: InstanceId, at: u32) -> Option<(Model, &'p Instruction)> {
    let instance = &points_to.instances[id.0 as usize];
    let mut names = instance.outside.get(&at)?.iter();
    let name = names.next()?;
    let is_only = names.next().is_none() && !instance.callees.contains_key(&at);
    let call = &points_to.program.function(instance.function).0.instructions[at as usize];
    points_to.models.of(name).filter(|_| is_only).map(|model| (model, call))
}

/// The one place in memory that a value leads to.
pub(crate) fn one_place(points_to: &PointsTo<'_>, value: &Value) -> Option<(BaseId, i64)> {
    let (base, offset) = points_to.operand(value.0, &value.1).only()?;
    let begin = offset.only()?;
    points_to.is_strong(base).then_some((base, begin))
}

/// The place that a number is read from, and how many bytes, if nothing writes there any more when control has come to a loop.
fn kept(points_to: &PointsTo<'_>, id: InstanceId, from: &Loop, number: &Operand) -> Option<(BaseId, i64, u64)> {
    let function = points_to.instances[id.0 as usize].function;
    let blocks = &points_to.blocks[function.0 as usize];
    let Operand::Instruction(load) = number else { return None };
    let load = &points_to.program.function(function).0.instructions[load.0 as usize];
    let (Operation::Load { bytes, volatile: false, .. }, [address]) = (&load.operation, &load.operands[..]) else {
        return None;
    };
    let (base, at) = one_place(points_to, &(id, address.clone()))?;
    let mut after = BTreeSet::from([from.header]);
    let mut work = vec![from.header];
    while let Some(block) = work.pop() {
        work.extend(blocks.successors[block as usize].iter().copied().filter(|&next| after.insert(next)));
    }
    let is_before = |(mut writer, mut at): (InstanceId, u32)| {
        while writer != id {
            let instance = &points_to.instances[writer.0 as usize];
            match instance.caller.filter(|_| !instance.shared) {
                Some(call) => (writer, at) = call,
                None => return false,
            }
        }
        !after.contains(&blocks.block_of[at as usize])
    };
    writers(points_to, id, (base, at, *bytes)).into_iter().all(is_before).then_some((base, at, *bytes))
}

/// All instructions that may write to a place, but for the end of a function that uses it: nothing of the function comes after that.
fn writers(points_to: &PointsTo<'_>, user: InstanceId, place: (BaseId, i64, u64)) -> Vec<(InstanceId, u32)> {
    let (base, at, bytes) = place;
    let mut found = Vec::new();
    for (index, instance) in (0..).zip(&points_to.instances) {
        let id = InstanceId(index);
        let code = points_to.program.function(instance.function).0;
        for (number, instruction) in (0..).zip(&code.instructions) {
            let is_over = id == user && ends(&instruction.operation);
            let over = if is_over { Vec::new() } else { ended(points_to, id, number) };
            let touches = touched(points_to, id, number).into_iter().chain(over);
            let is_hit = |(other, offset): (BaseId, Offset), length: u64| {
                other == base && offset.overlaps(length, Offset::exact(at), bytes)
            };
            let mut writes = touches.filter(|touch| touch.write);
            if writes.any(|touch| touch.addresses.iter().any(|address| is_hit(address, touch.bytes))) {
                found.push((id, number));
            }
        }
    }
    found
}

/// How the argument of a call tells the threads apart that it creates, and by which counter.
fn given(
    points_to: &PointsTo<'_>,
    creator: InstanceId,
    argument: &Operand,
    around: &Loop,
    loops: &Loops,
    counters: &[Counter],
) -> Option<(Given, Option<Counter>)> {
    let function = points_to.instances[creator.0 as usize].function;
    let blocks = &points_to.blocks[function.0 as usize];
    let by = |value: &Value| counters.iter().find(|counter| *value == (creator, instruction(counter.phi))).cloned();
    // Made in the same round, and in each.
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

/// The row of an array that a number leads to.
fn row(points_to: &PointsTo<'_>, sum: &Linear, number: &Value, bytes: u64) -> Option<Own> {
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
