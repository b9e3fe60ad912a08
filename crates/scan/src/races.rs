//! Accesses, and pairs of them that nothing keeps apart.

use crate::address::{Addresses, Base, BaseId, Offset};
use crate::flow::{Flow, Follower, Held, State};
use crate::models::Model;
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use crate::threads::Family;
use racehunter_ir::{Operand, Operation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

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
    /// What is known there.
    pub state: State,
}

/// Two accesses that may be a race.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What they touch.
    pub base: BaseId,
    /// One.
    pub first: Access,
    /// The other.
    pub second: Access,
}

/// As many bytes as there may be.
const ALL: u64 = 1 << 40;

/// Collects the accesses of all threads, by what they touch.
pub fn accesses(
    points_to: &PointsTo<'_>,
    flow: &Flow,
    family: &Family,
    follower: &mut Follower<'_, '_>,
) -> FxHashMap<BaseId, Vec<Access>> {
    let escaped = escaped(points_to);
    let mut found: FxHashMap<BaseId, Vec<Access>> = FxHashMap::default();
    let mut missing: Vec<(InstanceId, u32)> = Vec::new();
    for index in 0..points_to.instances.len() {
        let id = InstanceId(index as u32);
        let instance = &points_to.instances[index];
        let code = points_to.program.function(instance.function).0;
        for block in 0..code.blocks.len() as u32 {
            flow.each_state(follower, family, id, block, &mut |at, state| {
                for (addresses, bytes, write, atomic) in touched(points_to, id, at) {
                    if addresses.is_empty() {
                        missing.push((id, at));
                    }
                    for (base, offset) in addresses.iter() {
                        match points_to.describe(base) {
                            Base::Unknown => missing.push((id, at)),
                            Base::Function(_) | Base::Outside(_) | Base::Handle(_) => continue,
                            _ if !escaped.contains(&base) => continue,
                            _ => {}
                        }
                        let state = state.clone();
                        let thread = instance.thread;
                        let access = Access { instance: id, at, thread, write, atomic, offset, bytes, state };
                        found.entry(base).or_default().push(access);
                    }
                }
            });
        }
    }
    for (id, at) in missing {
        follower.gaps.add(points_to, id, at, "an address that is not known");
    }
    found
}

/// The memory that an instruction touches: addresses, bytes, whether it writes, whether it is atomic.
fn touched(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> Vec<(Addresses, u64, bool, bool)> {
    let instance = &points_to.instances[id.0 as usize];
    let instruction = &points_to.program.function(instance.function).0.instructions[at as usize];
    let operand = |index: usize| points_to.operand(id, &instruction.operands[index]);
    match &instruction.operation {
        Operation::Load { bytes, order, .. } => vec![(operand(0), *bytes, false, order.is_some())],
        Operation::Store { bytes, order, .. } => vec![(operand(1), *bytes, true, order.is_some())],
        Operation::Update { bytes, .. } | Operation::CompareExchange { bytes, .. } => {
            vec![(operand(0), *bytes, true, true)]
        }
        Operation::Call | Operation::Invoke { .. } => {
            let mut all = Vec::new();
            for name in instance.outside.get(&at).into_iter().flatten() {
                let Some(model) = points_to.models.of(name) else { continue };
                let arguments = instruction.operands.len().saturating_sub(1);
                let mut add = |index: usize, bytes: u64, write: bool| {
                    if let Some(argument) = instruction.operands.get(index + 1) {
                        let addresses = points_to.operand(id, argument);
                        // A number or a null pointer is no memory.
                        if !addresses.is_empty() {
                            all.push((addresses, bytes, write, false));
                        }
                    }
                };
                match model {
                    Model::Access(access) => {
                        let length = access.length.and_then(|index| instruction.operands.get(index + 1));
                        let bytes = match length {
                            Some(Operand::Integer(bytes)) => u64::try_from(*bytes).unwrap_or(ALL),
                            _ => ALL,
                        };
                        for index in 0..arguments {
                            if access.writes.contains(index) {
                                add(index, bytes, true);
                            }
                            if access.reads.contains(index) {
                                add(index, bytes, false);
                            }
                        }
                    }
                    Model::Allocate(allocate) => {
                        allocate.reads.iter().for_each(|&index| add(index, ALL, false));
                        allocate.into.into_iter().for_each(|index| add(index, 8, true));
                        allocate.copies.into_iter().for_each(|index| add(index, ALL, true));
                    }
                    Model::Release(release) => add(release.pointer, ALL, true),
                    Model::Create(create) => add(create.handle, 8, true),
                    Model::Join(_) => add(1, 8, true),
                    _ => {}
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Bases that more than one thread can get at: variables, what threads are given, and all that these lead to.
fn escaped(points_to: &PointsTo<'_>) -> FxHashSet<BaseId> {
    let mut all: FxHashSet<BaseId> = FxHashSet::default();
    let mut work: Vec<BaseId> = points_to.passed.0.keys().copied().collect();
    for (index, base) in points_to.bases.iter().enumerate() {
        let seen = match base {
            Base::Variable(variable) => !points_to.program.variable_flags(*variable).1,
            Base::Environment | Base::Unknown => true,
            _ => false,
        };
        if seen {
            work.push(BaseId(index as u32));
        }
    }
    // What a thread leaves behind is seen by those who wait for it.
    for thread in &points_to.threads {
        work.extend(points_to.result(thread.root).0.keys().copied());
    }
    while let Some(base) = work.pop() {
        if all.insert(base) {
            work.extend(points_to.contents(base));
        }
    }
    all
}

/// All pairs that nothing keeps apart.
pub fn candidates(points_to: &PointsTo<'_>, family: &Family, accesses: &FxHashMap<BaseId, Vec<Access>>) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut bases: Vec<&BaseId> = accesses.keys().collect();
    bases.sort();
    for &base in bases {
        if let Base::Variable(variable) = points_to.describe(base)
            && points_to.program.variable_flags(*variable).0
        {
            continue;
        }
        let list = &accesses[&base];
        // The same instruction in other instances is the same to the user.
        let mut told: FxHashSet<_> = FxHashSet::default();
        for (index, first) in list.iter().enumerate() {
            for second in &list[index..] {
                if !(first.write || second.write) || (first.atomic && second.atomic) {
                    continue;
                }
                if !first.offset.overlaps(first.bytes, second.offset, second.bytes)
                    || !family.is_parallel((first.thread, &first.state), (second.thread, &second.state))
                    || excluded(&first.state.locks, &second.state.locks)
                {
                    continue;
                }
                let function = |access: &Access| points_to.instances[access.instance.0 as usize].function;
                if told.insert((function(first), first.at, function(second), second.at)) {
                    found.push(Candidate { base, first: first.clone(), second: second.clone() });
                }
            }
        }
    }
    found
}

/// Whether there is a lock that cannot be held in both places at once.
fn excluded(first: &BTreeSet<Held>, second: &BTreeSet<Held>) -> bool {
    first.iter().filter(|held| held.if_zero.is_none()).any(|held| {
        second.iter().any(|other| other.if_zero.is_none() && other.key == held.key && !(held.shared && other.shared))
    })
}
