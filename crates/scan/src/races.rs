//! Accesses, and pairs of them that nothing keeps apart.

use crate::address::{Addresses, Base, BaseId, Offset};
use crate::beliefs::Beliefs;
use crate::crews::Crews;
use crate::effects::Lock;
use crate::ends::{ended, ends, given_back};
use crate::flow::{Flow, Follower, Held, Key, Row, State, are_apart};
use crate::format;
use crate::fresh;
use crate::linear::linear;
use crate::models::{Does, Model, Semaphore, Wait};
use crate::order::is_ordered;
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use crate::program::VariableId;
use crate::ranges::LazyRanges;
use crate::ranking::rank;
use crate::rows::{self, RowLock};
use crate::threads::Family;
use racehunter_ir::{CastOperator, Instruction, Operand, Operation, SymbolKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// A range of memory that an instruction touches.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where control is.
    pub instance: InstanceId,
    /// The instruction.
    pub at: u32,
    /// The thread.
    pub thread: ThreadId,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Where in its base.
    pub offset: Offset,
    /// How many bytes.
    pub bytes: u64,
    /// The address as the program has it.
    pub address: Operand,
    /// What is known there.
    pub state: State,
    /// The element that it is of, by a number that nobody else has.
    pub row: Option<Row>,
    /// Distances from its address to locks that are held, and whether others can hold them too.
    pub guards: Vec<(i64, bool)>,
    /// Locks that are held by the number of its row.
    pub row_locks: Vec<RowLock>,
}

/// Two accesses that may be a race.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What they touch.
    pub base: BaseId,
    /// One.
    pub first: &'a Access,
    /// The other.
    pub second: &'a Access,
    /// Whether nothing that is known speaks against it.
    pub sure: bool,
}

/// Memory that two accesses have in common: a base, and where in it either of them is.
pub type Common = (BaseId, Offset, Offset);

impl Candidate<'_> {
    /// What both touch.
    pub fn common(&self) -> Common {
        let (one, other) = (self.first.offset, self.second.offset);
        (self.base, one.min(other), one.max(other))
    }
}

/// Memory that an instruction touches.
pub(crate) struct Touch {
    pub(crate) address: Operand,
    pub(crate) addresses: Addresses,
    pub(crate) bytes: u64,
    pub(crate) write: bool,
    pub(crate) atomic: bool,
}

/// As many bytes as there may be.
pub(crate) const ALL: u64 = 1 << 40;

/// Collects the accesses of all threads, by what they touch.
pub fn accesses(
    points_to: &PointsTo<'_>,
    flow: &Flow,
    family: &Family,
    follower: &mut Follower<'_, '_>,
) -> FxHashMap<BaseId, Vec<Access>> {
    let mut found: FxHashMap<BaseId, Vec<Access>> = FxHashMap::default();
    let mut scratch = flow.scratch();
    let mut missing: Vec<(InstanceId, u32)> = Vec::new();
    let mut foreign: BTreeMap<(InstanceId, u32), bool> = BTreeMap::new();
    for index in 0..points_to.instances.len() {
        let id = InstanceId(index as u32);
        let instance = &points_to.instances[index];
        let code = points_to.program.function(instance.function).0;
        for block in 0..code.blocks.len() as u32 {
            let escaped = follower.escaped;
            let mut states: Vec<(u32, State)> = Vec::new();
            flow.each_state(follower, family, (id, block), &mut scratch, &mut |at, state| {
                let operation = &code.instructions[at as usize].operation;
                if !touches(operation) && !ends(operation) {
                    return;
                }
                if let Some(locks) = given_back(points_to, id, at) {
                    let may_have =
                        state.may_hold.contains(&None) || locks.iter().any(|lock| state.may_hold.contains(lock));
                    *foreign.entry((id, at)).or_insert(true) &= !may_have;
                }
                // Which way it is does not matter any more.
                let mut state = State { facts: BTreeMap::new(), ..state.clone() };
                state.cells.retain(|_, value| *value == 0);
                if !states.iter().rev().take(16).any(|known| known.0 == at && known.1 == state) {
                    states.push((at, state));
                }
            });
            for (at, state) in states {
                let touched = touched(points_to, id, at).into_iter().chain(ended(points_to, id, at));
                for Touch { address, addresses, bytes, write, atomic } in touched {
                    if addresses.is_empty() {
                        missing.push((id, at));
                    }
                    for (base, offset) in addresses.iter() {
                        match points_to.describe(base) {
                            // It is said that this is not known; pairs of such accesses would say nothing more.
                            Base::Unknown => {
                                missing.push((id, at));
                                continue;
                            }
                            Base::Function(_) | Base::Outside(_) | Base::Handle(_) => continue,
                            _ if !escaped.contains(&base) => continue,
                            _ => {}
                        }
                        // What each thread has for itself is followed only as long as no other can get at it.
                        if is_own_of_thread(points_to, base) {
                            missing.push((id, at));
                            continue;
                        }
                        if state.owned.contains(&base) && fresh::latest(points_to, id, &address) == Some(base) {
                            continue;
                        }
                        // The handle of a thread may be written when the thread is already running.
                        let mut state = state.clone();
                        let created = instance.creates.get(&at).into_iter().flatten().filter(|_| write);
                        for &created in created {
                            state.active.insert(created);
                            state.active.extend(family.descendants(created));
                        }
                        let thread = instance.thread;
                        let guards = guards(points_to, follower, id, &address, &state);
                        let row = follower.row(id, &address, &state);
                        let row_locks = rows::held(points_to, follower, id, &address, &state);
                        let address = address.clone();
                        let access = Access {
                            instance: id,
                            at,
                            thread,
                            write,
                            atomic,
                            offset,
                            bytes,
                            address,
                            state,
                            row,
                            guards,
                            row_locks,
                        };
                        found.entry(base).or_default().push(access);
                    }
                }
            }
        }
    }
    for ((id, at), _) in foreign.into_iter().filter(|(_, is_foreign)| *is_foreign) {
        follower.gaps.add(points_to, id, at, "a lock that is given back by a thread that has not taken it");
    }
    for (id, at) in missing {
        follower.gaps.add(points_to, id, at, "an address that is not known");
    }
    for (&base, accesses) in &found {
        let Base::Variable(variable) = points_to.bases[base.0 as usize] else { continue };
        for access in accesses.iter().filter(|access| is_of_others(points_to, variable, access.write)) {
            follower.gaps.add(points_to, access.instance, access.at, "a variable of the C library");
        }
    }
    found
}

/// Whether what happens to a variable is decided by the C library too, which reads `stdout` and writes `environ`.
fn is_of_others(points_to: &PointsTo<'_>, variable: VariableId, is_written: bool) -> bool {
    /// What only the program writes.
    const READ: [&str; 3] = ["stdin", "stdout", "stderr"];
    const WRITTEN: [&str; 19] = [
        "environ",
        "_environ",
        "__environ",
        "optarg",
        "optind",
        "opterr",
        "optopt",
        "timezone",
        "__timezone",
        "daylight",
        "__daylight",
        "tzname",
        "__tzname",
        "signgam",
        "getdate_err",
        "program_invocation_name",
        "program_invocation_short_name",
        "error_message_count",
        "error_one_per_line",
    ];
    let described = points_to.program.variable_of(variable);
    let kind = &points_to.program.modules[described.module].symbols[described.symbol.0 as usize].kind;
    let is_elsewhere = matches!(kind, SymbolKind::Variable { defined: false, .. });
    let is_named = |names: &[&str]| names.contains(&described.name.as_str());
    is_elsewhere && (is_named(&WRITTEN) || is_written && is_named(&READ))
}

/// Whether an instruction can touch memory.
fn touches(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Update { .. }
            | Operation::CompareExchange { .. }
            | Operation::Call
            | Operation::Invoke { .. }
    )
}

/// Whether memory is what a function of a library keeps for each thread.
fn is_own_of_thread(points_to: &PointsTo<'_>, base: BaseId) -> bool {
    let Base::Heap(id, at) = *points_to.describe(base) else { return false };
    let mut names = points_to.instances[id.0 as usize].outside.get(&at).into_iter().flatten();
    names.any(|name| matches!(points_to.models.of(name), Some(Model::Allocate(allocate)) if allocate.own))
}

/// How far from its address the locks are that are held at an access.
fn guards(
    points_to: &PointsTo<'_>,
    follower: &Follower<'_, '_>,
    id: InstanceId,
    address: &Operand,
    state: &State,
) -> Vec<(i64, bool)> {
    let mut found = Vec::new();
    let held = state.locks.iter().filter(|held| held.if_zero.is_none());
    for (index, shared) in held.filter_map(|held| match held.key {
        Key::Relative(index) => Some((index, held.shared)),
        _ => None,
    }) {
        let distance = follower.sums[index as usize].0.behind(&linear(points_to, id, address));
        found.extend(distance.map(|distance| (distance, shared)));
    }
    found
}

/// All memory that an instruction touches.
pub(crate) fn touched(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> Vec<Touch> {
    let instance = &points_to.instances[id.0 as usize];
    let instruction = &points_to.program.function(instance.function).0.instructions[at as usize];
    let touch = |index: usize, bytes: u64, write: bool, atomic: bool| {
        let address = instruction.operands[index].clone();
        Touch { addresses: points_to.operand(id, &address), address, bytes, write, atomic }
    };
    match &instruction.operation {
        Operation::Load { bytes, order, .. } => vec![touch(0, *bytes, false, order.is_some())],
        Operation::Store { bytes, order, .. } => vec![touch(1, *bytes, true, order.is_some())],
        Operation::Update { bytes, .. } | Operation::CompareExchange { bytes, .. } => {
            vec![touch(0, *bytes, true, true)]
        }
        Operation::Call | Operation::Invoke { .. } => {
            let mut all = Vec::new();
            // The call copies what some of its arguments point to; which ones is not said.
            let copies = |callee: &InstanceId| points_to.gets_copies(*callee);
            if instance.callees.get(&at).into_iter().flatten().any(copies) {
                let arguments = (1..instruction.operands.len()).map(|index| touch(index, ALL, false, false));
                all.extend(arguments.filter(|touch| !touch.addresses.is_empty()));
            }
            for name in instance.outside.get(&at).into_iter().flatten() {
                let Some(model) = points_to.models.of(name) else { continue };
                touched_outside(points_to, id, instruction, &model, &mut all);
            }
            all
        }
        _ => Vec::new(),
    }
}

/// The memory of a lock, a semaphore or the like. What they do to it excludes nobody but those who do something else there.
const OBJECT: u64 = 1;

/// What a function outside of the program touches.
fn touched_outside(points_to: &PointsTo<'_>, id: InstanceId, call: &Instruction, model: &Model, all: &mut Vec<Touch>) {
    let arguments = call.operands.len().saturating_sub(1);
    let mut add = |index: usize, bytes: u64, write: bool, atomic: bool| {
        let Some(address) = call.operands.get(index + 1).filter(|_| index < arguments) else { return };
        let addresses = points_to.operand(id, address);
        // A null pointer is no memory, and neither is a number; a pointer that leads nowhere is one that was not followed.
        if !addresses.is_empty() || !is_nothing(points_to, id, address) {
            all.push(Touch { addresses, address: address.clone(), bytes, write, atomic });
        }
    };
    let sync = |index: usize, add: &mut dyn FnMut(usize, u64, bool, bool)| {
        add(index, OBJECT, false, true);
    };
    match model {
        Model::Access(access) => {
            let length = access.length.and_then(|index| call.operands.get(index + 1));
            let bytes = match length {
                Some(Operand::Integer(bytes)) => u64::try_from(*bytes).unwrap_or(ALL),
                _ => ALL,
            };
            let counts = access.format.is_some_and(|format| {
                call.operands.get(format + 1).is_none_or(|text| format::may_count(points_to, id, text))
            });
            for index in 0..arguments {
                let is_counted = counts && access.format.is_some_and(|format| index > format);
                if access.writes_argument(index) || is_counted {
                    add(index, bytes, true, false);
                }
                if access.reads_argument(index) {
                    add(index, bytes, false, false);
                }
                if access.uses.contains(&index) {
                    sync(index, &mut add);
                }
                if access.whole.contains(&index) {
                    add(index, OBJECT, true, false);
                }
            }
            for &index in access.lists.iter().filter(|&&index| index < arguments) {
                let address = call.operands[index + 1].clone();
                let addresses = listed(points_to, &points_to.operand(id, &address));
                if !addresses.is_empty() {
                    all.push(Touch { addresses, address, bytes: ALL, write: counts, atomic: false });
                }
            }
        }
        Model::Allocate(allocate) => {
            allocate.reads.iter().for_each(|&index| add(index, ALL, false, false));
            allocate.into.into_iter().for_each(|index| add(index, 8, true, false));
            allocate.copies.into_iter().for_each(|index| add(index, ALL, true, false));
        }
        Model::Lock(lock) => sync(lock.lock, &mut add),
        Model::Unlock(unlock) => add(unlock.lock, OBJECT, unlock.whole, !unlock.whole),
        Model::Wait(Wait { lock, uses, reads }) => {
            sync(*lock, &mut add);
            uses.iter().for_each(|&index| sync(index, &mut add));
            reads.iter().for_each(|&index| add(index, ALL, false, false));
        }
        Model::Semaphore(Semaphore { does, semaphore, reads, .. }) => {
            let is_made = *does == Does::Begin;
            add(*semaphore, OBJECT, is_made, !is_made);
            reads.iter().for_each(|&index| add(index, ALL, false, false));
        }
        Model::Barrier(barrier) => add(barrier.barrier, OBJECT, barrier.count.is_some(), barrier.count.is_none()),
        Model::Call(call) => call.once.into_iter().for_each(|index| sync(index, &mut add)),
        Model::Release(release) => add(release.pointer, ALL, true, false),
        Model::Create(create) => create.handle.into_iter().for_each(|index| add(index, 8, true, false)),
        Model::Variadic => add(0, ALL, true, false),
        Model::Key(key) => add(key.key, 4, true, false),
        Model::Join(_) => add(1, 8, true, false),
        _ => {}
    }
}

/// Whether a value that leads nowhere does so because it is null, or a number.
fn is_nothing(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![operand.clone()];
    while let Some(operand) = work.pop() {
        let at = match &operand {
            Operand::Instruction(at) => at.0,
            Operand::Parameter(_) => match points_to.type_of(id, &operand) {
                Some(Type::Integer(_) | Type::Float(_)) => continue,
                _ => return false,
            },
            // Whatever happens to be there.
            Operand::Undefined => return false,
            _ => continue,
        };
        let code = points_to.program.function(points_to.instances[id.0 as usize].function).0;
        let instruction = &code.instructions[at as usize];
        if !seen.insert(at) || matches!(instruction.ty, Type::Integer(_) | Type::Float(_)) {
            continue;
        }
        match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Phi, ways) => work.extend(ways.iter().cloned()),
            (Operation::Select, [_, one, other]) => work.extend([one.clone(), other.clone()]),
            (Operation::Cast(CastOperator::Reinterpret) | Operation::Freeze, [value]) => work.push(value.clone()),
            _ => return false,
        }
    }
    true
}

/// What the variable arguments of a list point to.
fn listed(points_to: &PointsTo<'_>, list: &Addresses) -> Addresses {
    let mut found = Addresses::default();
    for (list, _) in list.iter() {
        for arguments in points_to.contents(list) {
            for base in points_to.contents(arguments) {
                found.add(base, Offset::ANY);
            }
        }
    }
    found
}

/// Pairs that nothing keeps apart.
#[derive(Debug, Default)]
pub struct Candidates<'a> {
    /// The most convincing ones first.
    pub best: Vec<Candidate<'a>>,
    /// How many there are, up to a limit.
    pub total: usize,
    /// How many of them are about the same memory.
    pub alike: FxHashMap<Common, usize>,
}

/// Pairs that are kept: nobody reads more of them.
const MOST_KEPT: usize = 2000;
/// Pairs that are looked for: a program with so many is far from being proved.
const MOST_FOUND: usize = 1_000_000;
/// The same for one piece of memory, so that others have their turn.
const MOST_OF_ONE: usize = 20_000;

/// Finds all pairs that nothing keeps apart.
pub fn candidates<'a>(
    points_to: &PointsTo<'_>,
    family: &Family,
    crews: &Crews,
    beliefs: &Beliefs,
    ranges: &LazyRanges<'_, '_>,
    accesses: &'a FxHashMap<BaseId, Vec<Access>>,
) -> Candidates<'a> {
    let mut found = Candidates::default();
    let mut bases: Vec<&BaseId> = accesses.keys().collect();
    bases.sort();
    'search: for &base in bases {
        if let Base::Variable(variable) = points_to.describe(base)
            && points_to.program.variable_flags(*variable).0
        {
            continue;
        }
        let list = &accesses[&base];
        // The same instruction in other instances is the same to the user.
        let mut told: FxHashSet<_> = FxHashSet::default();
        'base: for (index, first) in list.iter().enumerate() {
            for second in &list[index..] {
                if !(first.write || second.write) || (first.atomic && second.atomic) {
                    continue;
                }
                if !first.offset.overlaps(first.bytes, second.offset, second.bytes)
                    || !family.is_parallel((first.thread, &first.state), (second.thread, &second.state))
                    || excluded(&first.state.locks, &second.state.locks)
                    || excluded_by_distance(first, second)
                    || rows::are_excluded(ranges, first, second)
                    || is_own(points_to, crews, first, second)
                    || are_apart(beliefs, first, second)
                    || is_ordered(points_to, crews, beliefs, first, second)
                    || ranges.get().is_some_and(|ranges| ranges.are_apart(base, first, second))
                    || rows::are_in_different_parts(points_to, ranges, first, second)
                {
                    continue;
                }
                let function = |access: &Access| points_to.instances[access.instance.0 as usize].function;
                if told.insert((function(first), first.at, function(second), second.at)) {
                    let sure = is_sure(points_to, family, base, first, second);
                    let candidate = Candidate { base, first, second, sure };
                    found.total += 1;
                    *found.alike.entry(candidate.common()).or_default() += 1;
                    found.best.push(candidate);
                    if found.best.len() >= 4 * MOST_KEPT {
                        found.choose(points_to);
                    }
                    if found.total == MOST_FOUND {
                        break 'search;
                    }
                    if told.len() == MOST_OF_ONE {
                        break 'base;
                    }
                }
            }
        }
    }
    found.choose(points_to);
    found
}

impl Candidates<'_> {
    /// Puts the most convincing first. Of more than are kept, the best one of each piece of memory comes before all others.
    fn choose(&mut self, points_to: &PointsTo<'_>) {
        rank(points_to, &mut self.best);
        if self.best.len() > MOST_KEPT {
            let mut told = FxHashSet::default();
            let (mut first, others): (Vec<_>, Vec<_>) =
                self.best.drain(..).partition(|candidate| told.insert(candidate.common()));
            first.extend(others);
            first.truncate(MOST_KEPT);
            self.best = first;
            rank(points_to, &mut self.best);
        }
    }
}

/// Whether a pair that may be a race must be one, as far as can be seen: it is one piece of memory, nothing else is touched
/// there, no lock may be held at both, and both threads surely are there. Values that decide whether control comes there at all
/// are not looked at, so even this is only suspected.
fn is_sure(points_to: &PointsTo<'_>, family: &Family, base: BaseId, first: &Access, second: &Access) -> bool {
    let is_exact = |access: &Access| {
        let addresses = points_to.operand(access.instance, &access.address);
        access.offset.only().is_some() && addresses.only().is_some() && !access.atomic
    };
    points_to.is_strong(base)
        && is_exact(first)
        && is_exact(second)
        && !may_exclude(first, second)
        && family.is_surely_parallel((first.thread, &first.state), (second.thread, &second.state))
}

/// Whether one lock may be held at both places.
pub(crate) fn may_exclude(first: &Access, second: &Access) -> bool {
    let (one, other) = (&first.state.may_hold, &second.state.may_hold);
    let is_any = |locks: &BTreeSet<Lock>, others: &BTreeSet<Lock>| locks.contains(&None) && !others.is_empty();
    is_any(one, other) || is_any(other, one) || one.iter().any(|lock| other.contains(lock))
}

/// Whether there is a lock that cannot be held in both places at once. A lock of which only the form of its address is known is
/// not one of these: in another thread the same form leads to another lock. It counts by its distance from the access.
fn excluded(first: &BTreeSet<Held>, second: &BTreeSet<Held>) -> bool {
    first.iter().filter(|held| held.if_zero.is_none()).any(|held| {
        !matches!(held.key, Key::Relative(_))
            && second
                .iter()
                .any(|other| other.if_zero.is_none() && other.key == held.key && !(held.shared && other.shared))
    })
}

/// Whether both hold a lock that is as far from the one address as from the other: if the addresses are the same, so are
/// the locks.
fn excluded_by_distance(first: &Access, second: &Access) -> bool {
    // Accesses that have a byte in common have all in common.
    if first.bytes != second.bytes || !first.offset.union(second.offset).is_apart(first.bytes) {
        return false;
    }
    first.guards.iter().any(|(distance, shared)| {
        second.guards.iter().any(|(other, also_shared)| distance == other && !(*shared && *also_shared))
    })
}

/// Whether both accesses are to what threads have for themselves: two members of a crew, or one and its creator.
fn is_own(points_to: &PointsTo<'_>, crews: &Crews, first: &Access, second: &Access) -> bool {
    let (one, other) = (&first.address, &second.address);
    let (left, right) = if first.thread == second.thread {
        let own = |crews: &Crews, access: &Access, address: &Operand| {
            crews.own(points_to, access.thread, access.instance, address, access.bytes)
        };
        (own(crews, first, one), own(crews, second, other))
    } else if let Some(next) = crews.of_next(points_to, second.thread, (first.instance, first.at), one, first.bytes) {
        (Some(next), crews.own(points_to, second.thread, second.instance, other, second.bytes))
    } else if let Some(next) = crews.of_next(points_to, first.thread, (second.instance, second.at), other, second.bytes)
    {
        (crews.own(points_to, first.thread, first.instance, one, first.bytes), Some(next))
    } else {
        return false;
    };
    left.is_some() && left == right
}
