//! Candidates in the form of a report: names of memory, locks and functions, call stacks, places in the source.

use super::access::Access;
use super::candidates::{Candidate, Candidates, CommonMemory};
use super::explanation;
use crate::locks::lockset::LockId;
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use crate::report::{Pair, Side};
use racehunter_ir::{InstructionId, Operand, Operation};
use rustc_hash::FxHashMap;

/// Returns the pairs of a report, in the order of the candidates.
pub fn pairs(points_to: &PointsTo<'_>, found: &Candidates<'_>) -> Vec<Pair> {
    let mut numbers: FxHashMap<CommonMemory, usize> = FxHashMap::default();
    let mut all = Vec::new();
    for candidate in &found.best {
        let common = candidate.common();
        let next = numbers.len();
        let memory = *numbers.entry(common).or_insert(next);
        all.push(Pair { memory, alike: found.alike[&common], ..pair(points_to, candidate) });
    }
    all
}

fn pair(points_to: &PointsTo<'_>, candidate: &Candidate<'_>) -> Pair {
    let sides = [side(points_to, candidate.first), side(points_to, candidate.second)];
    let parallel = explanation::why(points_to, candidate.first, candidate.second);
    let (one, other) = (candidate.first.offset, candidate.second.offset);
    let element = one.element(other).or_else(|| other.element(one));
    let what = name(points_to, points_to.describe(candidate.base));
    Pair { what, sides, parallel, sure: candidate.sure, element, alike: 1, memory: 0 }
}

fn side(points_to: &PointsTo<'_>, access: &Access) -> Side {
    let program = points_to.program;
    let outer = |(id, _): &(InstanceId, u32)| points_to.instances[*id].caller;
    let mut frames: Vec<(InstanceId, u32)> = std::iter::successors(Some((access.instance, access.at)), outer).collect();
    frames.reverse();
    let function = |id: InstanceId| points_to.instances[id].function;
    let stack = frames.iter().map(|(id, _)| program.function_name(function(*id)).to_owned()).collect();
    let calls = frames.iter().map(|(id, at)| program.place(function(*id), *at)).collect();
    let locks = access.state.lockset.iter().filter(|held| held.if_zero.is_none()).filter_map(|held| {
        Some(match &held.id {
            LockId::At(base, 0) => name(points_to, points_to.describe(*base)),
            LockId::At(base, at) => format!("{}+{at}", name(points_to, points_to.describe(*base))),
            LockId::Flag(base, _) => name(points_to, points_to.describe(*base)),
            LockId::Atomic => "atomic section".to_owned(),
            LockId::Relative(_) => return None,
        })
    });
    let is_surely_held = |lock: &BaseId| {
        access
            .state
            .lockset
            .iter()
            .any(|held| held.if_zero.is_none() && matches!(&held.id, LockId::At(base, _) if base == lock))
    };
    let may_hold = access.state.may_hold.iter().filter_map(|lock| match lock {
        None => Some("a lock that is not known".to_owned()),
        Some(base) if is_surely_held(base) => None,
        Some(base) => Some(name(points_to, points_to.describe(*base))),
    });
    Side {
        place: program.place(points_to.instances[access.instance].function, access.at),
        write: access.write,
        atomic: access.atomic,
        thread: program.function_name(points_to.function_of(access.thread)).to_owned(),
        locks: locks.collect(),
        may_hold: may_hold.collect(),
        is_instruction: is_instruction(points_to, access),
        site: program.site(points_to.instances[access.instance].function, access.at),
        stack,
        calls,
    }
}

/// Returns true if executions show an access as it is: it is not made by a library, and does not end the lifetime of
/// memory.
fn is_instruction(points_to: &PointsTo<'_>, access: &Access) -> bool {
    let instance = &points_to.instances[access.instance];
    let code = points_to.program.function(instance.function).0;
    let is_access = matches!(
        code.instructions[access.at as usize].operation,
        Operation::Load { .. } | Operation::Store { .. } | Operation::Update { .. } | Operation::CompareExchange { .. }
    );
    let mut outside = instance.outside.get(&access.at).into_iter().flatten().peekable();
    let is_copy = outside.peek().is_some() && outside.all(|name| name.starts_with("llvm.mem"));
    is_access || is_copy
}

/// Returns a name for a base.
fn name(points_to: &PointsTo<'_>, base: &Base) -> String {
    let place = |id: InstanceId, at: u32| points_to.program.place(points_to.instances[id].function, at);
    match base {
        Base::Variable(variable) => points_to.program.variable_of(*variable).name.clone(),
        Base::Function(function) => points_to.program.function_name(*function).to_owned(),
        Base::Outside(name) => name.clone(),
        Base::Local(id, at) => local_name(points_to, *id, *at),
        Base::Heap(id, at) => format!("memory allocated at {}", place(*id, *at)),
        Base::Handle(_) => "the handle of a thread".to_owned(),
        Base::Variadic(_) => "variable arguments".to_owned(),
        Base::Thrown(_) => "what a thread throws".to_owned(),
        Base::Kept(_) => "what a thread keeps".to_owned(),
        Base::Descriptors => "a file descriptor".to_owned(),
        Base::Environment => "the arguments of the program".to_owned(),
        Base::Exposed => "numbers".to_owned(),
        Base::Unknown(_) => "unknown memory".to_owned(),
    }
}

fn local_name(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> String {
    let (code, module) = points_to.program.function(points_to.instances[id].function);
    let is_it = |value: &Operand| *value == Operand::Instruction(InstructionId(at));
    let declared = code.variables.iter().find(|variable| variable.is_address && is_it(&variable.value));
    let name = declared.and_then(|variable| points_to.program.modules[module].declaration(variable.declaration));
    name.map_or_else(|| "a local variable".to_owned(), |declaration| declaration.name.clone())
}
