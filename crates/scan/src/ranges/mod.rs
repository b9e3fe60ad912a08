//! Value ranges: intervals for values, parameters and memory, with widening and narrowing.
//!
//! Each value of each instance has one range, which holds whenever the value is computed. At a block it is narrowed by
//! the conditions that hold there ([`crate::cfg::conditions`]). Ranges grow until they cover everything that the
//! instructions do. A bound that keeps moving is widened to the next constant of the program. Afterwards all ranges are
//! recomputed from the result (narrowing), which makes them smaller where a loop is bounded.
//!
//! A number distinguishes the members of a thread group; values that they compute from it are kept as multiples of it
//! ([`crate::domain::affine`]). Start at [`Ranges::of`].

mod apart;
mod fields;
mod memory;
mod transfer;

use crate::cfg::blocks::range;
use crate::cfg::conditions::{Condition, Conditions, edge, mirrored, opposite};
use crate::domain::affine::Affine;
use crate::domain::interval::Interval;
use crate::domain::linear::InstanceValue;
use crate::index::IndexVec;
use crate::pointer::address::BaseId;
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::program::FunctionId;
use crate::threads::groups::ThreadGroups;
use fields::Fields;
pub use memory::Initialised;
use memory::{MemoryRange, Writes};
use racehunter_ir::{Function, Instruction, InstructionId, Operand, Operation, Predicate, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

/// Maximum number of instruction visits before the analysis gives up.
const MOST_STEPS: u64 = 8_000_000;
/// Maximum size of a program in instructions.
const MOST_INSTRUCTIONS: usize = 200_000;
/// Number of exact growth steps before a range is widened.
const WIDENING_DELAY: u8 = 3;
/// Thresholds for widening, besides the constants of the program.
const THRESHOLDS: [i64; 5] = [0, 1 << 8, 1 << 16, 1 << 24, 1 << 28];
/// Maximum number of the program's constants that are thresholds.
const MOST_THRESHOLDS: usize = 400;
/// Number of narrowing passes.
const NARROWINGS: usize = 2;

/// Ranges that flow from one function to another.
#[derive(Clone, Default)]
struct Shared {
    parameters: IndexVec<InstanceId, Vec<Option<Affine>>>,
    results: IndexVec<InstanceId, Option<Affine>>,
    memory: FxHashMap<MemoryRange, Affine>,
}

/// The ranges of all numbers.
pub struct Ranges<'a, 'p> {
    points_to: &'a PointsTo<'p>,
    conditions: IndexVec<FunctionId, Conditions>,
    writes: Writes,
    thresholds: Vec<i64>,
    /// For each thread, the number that distinguishes it from others of its group, and the distance between these.
    numbers: FxHashMap<ThreadId, (Interval, u64)>,
    /// Threads that are given the number itself.
    given: FxHashSet<ThreadId>,
    /// What the other threads find in the structures they are given.
    fields: Fields,
    values: IndexVec<InstanceId, Vec<Option<Affine>>>,
    growth: FxHashMap<Spot, u8>,
    shared: Shared,
    /// Ranges that are being recomputed.
    next: Option<Shared>,
    readers: FxHashMap<BaseId, BTreeSet<InstanceId>>,
    work: BTreeSet<InstanceId>,
    steps: u64,
    /// Cached offsets of accesses in a base.
    reaches: RefCell<FxHashMap<Reach, Option<Affine>>>,
}

/// Ranges that are computed on demand: most programs do not need them.
pub struct LazyRanges<'a, 'p> {
    points_to: &'a PointsTo<'p>,
    groups: &'a ThreadGroups,
    found: OnceCell<Option<Ranges<'a, 'p>>>,
}

impl<'a, 'p> LazyRanges<'a, 'p> {
    /// Creates them without computing anything.
    pub fn new(points_to: &'a PointsTo<'p>, groups: &'a ThreadGroups) -> Self {
        Self { points_to, groups, found: OnceCell::new() }
    }

    /// Returns the ranges, unless the program is too large.
    pub fn get(&self) -> Option<&Ranges<'a, 'p>> {
        self.found.get_or_init(|| Ranges::of(self.points_to, self.groups)).as_ref()
    }
}

/// An instruction, one of its addresses, and a base.
type Reach = (InstanceId, u32, Operand, BaseId);

/// Something that has a range.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Spot {
    Value(InstanceId, u32),
    Parameter(InstanceId, u32),
    Result(InstanceId),
    Memory(MemoryRange),
}

/// Returns the number of bits of an integer type, if it fits.
fn bits(ty: Type) -> Option<u32> {
    match ty {
        Type::Integer(bits @ 1..=64) => Some(bits),
        Type::Pointer => Some(64),
        _ => None,
    }
}

fn any(ty: Type) -> Affine {
    Affine::any(bits(ty).unwrap_or(64))
}

impl<'a, 'p> Ranges<'a, 'p> {
    /// Computes the ranges of a program; nothing if it is too large.
    pub fn of(points_to: &'a PointsTo<'p>, groups: &ThreadGroups) -> Option<Self> {
        let size: usize = points_to
            .instances
            .iter()
            .map(|instance| points_to.program.function(instance.function).0.instructions.len())
            .sum();
        if size > MOST_INSTRUCTIONS {
            return None;
        }
        let mut plain = Self::empty(points_to);
        plain.solve()?;
        // The possible numbers of threads are now known.
        let mut numbers = FxHashMap::default();
        for thread in points_to.threads.ids() {
            let Some(member) = groups.member(thread) else { continue };
            let function = points_to.instances[member.creator].function;
            let block = points_to.blocks[function].block_of[member.at as usize];
            // On its way to the thread it may be converted to other types, all of which can represent these.
            let own = plain.at(member.creator, block, &member.number).map(|own| own.flat(Interval::exact(0)));
            if let Some(own) = own.filter(|own| own.low() >= 0 && own.fits(32)) {
                numbers.insert(thread, (own, member.step));
            }
        }
        if numbers.is_empty() {
            return Some(plain);
        }
        let given = numbers
            .keys()
            .copied()
            .filter(|&thread| groups.member(thread).is_some_and(|member| member.element.is_none()));
        let given = given.collect();
        let fields = plain.fields(groups, &numbers);
        let mut again = Self { numbers, given, fields, ..Self::empty(points_to) };
        again.solve()?;
        Some(again)
    }

    fn empty(points_to: &'a PointsTo<'p>) -> Self {
        let program = points_to.program;
        let conditions = program
            .functions()
            .map(|function| Conditions::of(program.function(function).0, &points_to.blocks[function]));
        let instances = &points_to.instances;
        let code = |id: InstanceId| points_to.code(id);
        let parameters = instances.ids().map(|id| vec![None; code(id).parameters.len()]).collect();
        Self {
            points_to,
            conditions: conditions.collect(),
            writes: Writes::of(points_to),
            thresholds: thresholds(points_to),
            numbers: FxHashMap::default(),
            given: FxHashSet::default(),
            fields: Fields::default(),
            values: instances.ids().map(|id| vec![None; code(id).instructions.len()]).collect(),
            growth: FxHashMap::default(),
            shared: Shared { parameters, results: instances.map(|_| None), memory: FxHashMap::default() },
            next: None,
            readers: FxHashMap::default(),
            work: instances.ids().collect(),
            steps: 0,
            reaches: RefCell::default(),
        }
    }

    fn solve(&mut self) -> Option<()> {
        self.begin();
        while let Some(id) = self.work.pop_first() {
            while self.visit(id) {}
            if self.steps > MOST_STEPS {
                return None;
            }
        }
        for _ in 0..NARROWINGS {
            let empty = |list: &Vec<Option<Affine>>| vec![None; list.len()];
            let parameters = self.shared.parameters.map(empty);
            let results = self.shared.results.map(|_| None);
            self.next = Some(Shared { parameters, results, memory: FxHashMap::default() });
            self.begin();
            for id in self.points_to.instances.ids() {
                self.visit(id);
            }
            self.shared = self.next.take()?;
        }
        Some(())
    }

    /// Initialises values from outside: the parameters of functions that nothing in the program calls.
    fn begin(&mut self) {
        let points_to = self.points_to;
        let roots = points_to.threads.iter().map(|thread| (thread.root, thread.creator.is_some()));
        let others = points_to.before_main.iter().copied().chain(points_to.exits.instances());
        let roots: Vec<_> = roots.chain(others.map(|id| (id, false))).collect();
        for (id, is_created) in roots {
            let code = points_to.code(id);
            // The argument of a thread comes from where it is created.
            for (index, &ty) in code.parameters.iter().enumerate().skip(usize::from(is_created)) {
                self.grow(Spot::Parameter(id, index as u32), any(ty), ty);
            }
        }
    }

    fn thread(&self, id: InstanceId) -> ThreadId {
        self.points_to.instances[id].thread
    }

    fn code(&self, id: InstanceId) -> &'p Function {
        self.points_to.code(id)
    }

    fn instruction(&self, id: InstanceId, at: u32) -> &'p Instruction {
        &self.code(id).instructions[at as usize]
    }

    fn span(&self, thread: ThreadId) -> Interval {
        self.numbers.get(&thread).map_or(Interval::exact(0), |(span, _)| *span)
    }

    /// Grows a range; returns true if it has become larger.
    fn grow(&mut self, spot: Spot, more: Affine, ty: Type) -> bool {
        let thread = match spot {
            Spot::Value(id, _) | Spot::Parameter(id, _) | Spot::Result(id) => self.thread(id),
            Spot::Memory(_) => crate::pointer::MAIN,
        };
        let span = self.span(thread);
        let narrows = self.next.is_some();
        // Every cycle passes through one of these.
        let is_knot = match spot {
            Spot::Value(id, at) => self.instruction(id, at).operation == Operation::Phi,
            _ => true,
        };
        let shared = self.next.as_mut().unwrap_or(&mut self.shared);
        let known = match spot {
            Spot::Value(id, at) => self.values[id][at as usize],
            Spot::Parameter(id, index) => shared.parameters[id].get(index as usize).copied().flatten(),
            Spot::Result(id) => shared.results[id],
            Spot::Memory(place) => shared.memory.get(&place).copied(),
        };
        let wanted = match known {
            None => more,
            Some(known) => known.union(more, span),
        };
        if known == Some(wanted) {
            return false;
        }
        let mut grown = wanted;
        if let Some(known) = known.filter(|_| is_knot && !narrows) {
            let times = self.growth.entry(spot).or_default();
            *times = times.saturating_add(1);
            if *times > WIDENING_DELAY {
                grown = known.widen(more, span, &self.thresholds, bits(ty).unwrap_or(64));
            }
            // A range that still changes its stride or its multiple may be anything.
            if *times == u8::MAX {
                grown = any(ty);
            }
        }
        match spot {
            Spot::Value(id, at) => self.values[id][at as usize] = Some(grown),
            Spot::Parameter(id, index) => {
                if let Some(parameter) = shared.parameters[id].get_mut(index as usize) {
                    *parameter = Some(grown);
                }
            }
            Spot::Result(id) => shared.results[id] = Some(grown),
            Spot::Memory(place) => {
                shared.memory.insert(place, grown);
            }
        }
        known != Some(grown)
    }

    /// Visits all instructions of an instance; returns true if a value has changed.
    fn visit(&mut self, id: InstanceId) -> bool {
        let code = self.code(id);
        let narrows = self.next.is_some();
        let mut changed = false;
        for block in 0..code.blocks.len() as u32 {
            let (first, end) = range(code, block as usize);
            self.steps += (end - first) as u64;
            let dead = self.is_dead(id, block);
            for at in first..end {
                let instruction = &code.instructions[at];
                let value = if dead { None } else { self.value(id, block, at as u32, instruction) };
                if narrows {
                    self.values[id][at] = value;
                } else if let Some(value) = value {
                    changed |= self.grow(Spot::Value(id, at as u32), value, instruction.ty);
                }
            }
        }
        changed && self.steps <= MOST_STEPS
    }

    /// Returns the constant value of an instruction, if it is the same whenever it is computed.
    pub fn only(&self, id: InstanceId, at: u32) -> Option<i64> {
        let number = self.values[id][at as usize].filter(|number| number.times == 0)?;
        number.rest.only()
    }

    /// Returns the minimum and maximum of a value, whenever it is computed.
    pub fn bounds(&self, (id, operand): &InstanceValue) -> Option<(i64, i64)> {
        self.type_of(*id, operand).is_none_or(|ty| bits(ty).is_some()).then_some(())?;
        let number = self.plain(*id, operand)?.flat(self.span(self.thread(*id)));
        Some((number.low(), number.high()))
    }

    /// Returns true if control never reaches a block.
    pub fn is_dead(&self, id: InstanceId, block: u32) -> bool {
        let function = self.points_to.instances[id].function;
        self.conditions[function].at(block).iter().any(|condition| !self.can_hold(id, condition))
    }

    /// Returns true if control never passes from one block to another.
    pub fn is_dead_edge(&self, id: InstanceId, from: u32, to: u32) -> bool {
        let code = self.code(id);
        edge(code, from, to).is_some_and(|condition| !self.can_hold(id, &condition))
    }

    fn can_hold(&self, id: InstanceId, condition: &Condition) -> bool {
        match condition {
            Condition::Is(value, number) => {
                let value = self.plain(id, value);
                value.is_some_and(|value| self.compared(id, value, Predicate::Equal, Affine::exact(*number)).is_some())
            }
            Condition::Holds(at, holds) => {
                let Some(value) = self.values[id][at.0 as usize] else { return false };
                let wanted = if *holds { Predicate::NotEqual } else { Predicate::Equal };
                if self.compared(id, value, wanted, Affine::exact(0)).is_none() {
                    return false;
                }
                match self.comparison(id, *at, *holds) {
                    Some((predicate, left, right)) => match (self.plain(id, left), self.plain(id, right)) {
                        (Some(left), Some(right)) => self.compared(id, left, predicate, right).is_some(),
                        _ => false,
                    },
                    None => true,
                }
            }
        }
    }

    fn compared(&self, id: InstanceId, left: Affine, predicate: Predicate, right: Affine) -> Option<Affine> {
        left.if_compared(predicate, right, self.span(self.thread(id)))
    }

    /// Returns the comparison of a condition, if it holds or if it does not.
    fn comparison(
        &self,
        id: InstanceId,
        condition: InstructionId,
        holds: bool,
    ) -> Option<(Predicate, &'p Operand, &'p Operand)> {
        let compare = self.instruction(id, condition.0);
        let (Operation::Compare(predicate), [left, right]) = (&compare.operation, &compare.operands[..]) else {
            return None;
        };
        let fits = |operand: &Operand| self.type_of(id, operand).is_none_or(|ty| bits(ty).is_some());
        (fits(left) && fits(right)).then_some((if holds { *predicate } else { opposite(*predicate) }, left, right))
    }

    /// Returns the type of a value; none for constants, which have the type of the other operand.
    fn type_of(&self, id: InstanceId, operand: &Operand) -> Option<Type> {
        let code = self.code(id);
        match operand {
            Operand::Instruction(at) => Some(code.instruction(*at).ty),
            Operand::Parameter(index) => code.parameters.get(*index as usize).copied(),
            Operand::Integer(_) | Operand::Null => None,
            _ => Some(Type::Other),
        }
    }

    /// Returns the range of an operand, wherever it is used.
    fn plain(&self, id: InstanceId, operand: &Operand) -> Option<Affine> {
        match operand {
            Operand::Integer(value) => Some(Affine::exact(*value)),
            Operand::Null => Some(Affine::exact(0)),
            Operand::Instruction(at) => self.values[id][at.0 as usize],
            Operand::Parameter(index) => {
                self.shared.parameters[id].get(*index as usize).copied().unwrap_or(Some(Affine::any(64)))
            }
            _ => Some(Affine::any(64)),
        }
    }

    /// Returns the range of an operand at a block.
    fn at(&self, id: InstanceId, block: u32, operand: &Operand) -> Option<Affine> {
        let function = self.points_to.instances[id].function;
        let told = self.conditions[function].at(block);
        // Twice: one condition may be useful only after another.
        told.iter()
            .chain(told)
            .fold(self.plain(id, operand), |value, condition| self.told(id, operand, value?, condition))
    }

    /// Returns the range of an operand on the edge from one block to the next.
    fn on_edge(&self, id: InstanceId, from: u32, to: u32, operand: &Operand) -> Option<Affine> {
        let code = self.code(id);
        let value = self.at(id, from, operand)?;
        match edge(code, from, to) {
            Some(condition) if !self.can_hold(id, &condition) => None,
            Some(condition) => self.told(id, operand, value, &condition),
            None => Some(value),
        }
    }

    /// Narrows a value by a condition.
    fn told(&self, id: InstanceId, operand: &Operand, value: Affine, condition: &Condition) -> Option<Affine> {
        match condition {
            Condition::Is(other, number) if other == operand => {
                self.compared(id, value, Predicate::Equal, Affine::exact(*number))
            }
            Condition::Is(..) => Some(value),
            Condition::Holds(at, holds) => {
                let Some((predicate, left, right)) = self.comparison(id, *at, *holds) else { return Some(value) };
                if left == operand {
                    self.compared(id, value, predicate, self.plain(id, right)?)
                } else if right == operand {
                    self.compared(id, value, mirrored(predicate), self.plain(id, left)?)
                } else {
                    Some(value)
                }
            }
        }
    }
}

/// Returns the constants of the program and their neighbours: where loops end.
fn thresholds(points_to: &PointsTo<'_>) -> Vec<i64> {
    let mut found: BTreeSet<i64> = THRESHOLDS.into_iter().collect();
    let functions: FxHashSet<_> = points_to.instances.iter().map(|instance| instance.function).collect();
    for function in functions {
        let code = points_to.program.function(function).0;
        let counts = |instruction: &&Instruction| {
            matches!(instruction.operation, Operation::Compare(_) | Operation::Binary(_) | Operation::Phi)
        };
        for operand in code.instructions.iter().filter(counts).flat_map(|instruction| &instruction.operands) {
            if let Operand::Integer(value) = operand {
                found.extend([value.saturating_sub(1), *value, value.saturating_add(1)]);
            }
        }
    }
    let step = found.len().div_ceil(MOST_THRESHOLDS).max(1);
    found.into_iter().step_by(step).collect()
}
