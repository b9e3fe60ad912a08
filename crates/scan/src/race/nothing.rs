//! Values that are no addresses: null pointers and numbers.
//!
//! If a pointer has no targets, it was usually not followed, so nothing can be proved. But if it can only be null, there is nothing
//! to follow: most arguments for attributes and deadlines are null. Start at [`is_nothing`].

use crate::pointer::{InstanceId, PointsTo};
use racehunter_ir::{CastOperator, Function, Operand, Operation, Type};
use rustc_hash::FxHashSet;

/// Size of a pointer in bytes.
const POINTER: u64 = 8;

/// Returns true if a value without targets is null or a number, wherever it comes from.
pub fn is_nothing(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> bool {
    let mut seen: FxHashSet<(InstanceId, Operand)> = FxHashSet::default();
    let mut work = vec![(id, operand.clone())];
    while let Some((id, operand)) = work.pop() {
        if !seen.insert((id, operand.clone())) || is_number(points_to, id, &operand) {
            continue;
        }
        match &operand {
            Operand::Instruction(at) => match sources(points_to.code(id), at.0) {
                Some(sources) => work.extend(sources.into_iter().map(|source| (id, source.clone()))),
                None => return false,
            },
            Operand::Parameter(index) => match arguments(points_to, id, *index) {
                Some(arguments) => work.extend(arguments),
                None => return false,
            },
            // It may be anything.
            Operand::Undefined => return false,
            _ => {}
        }
    }
    true
}

fn is_number(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> bool {
    matches!(points_to.type_of(id, operand), Some(Type::Integer(_) | Type::Float(_)))
}

/// Returns the values that the result of an instruction can be.
fn sources(code: &Function, at: u32) -> Option<Vec<&Operand>> {
    let instruction = &code.instructions[at as usize];
    match (&instruction.operation, &instruction.operands[..]) {
        (Operation::Phi, paths) => Some(paths.iter().collect()),
        (Operation::Select, [_, one, other]) => Some(vec![one, other]),
        (Operation::Cast(CastOperator::Reinterpret) | Operation::Freeze, [value]) => Some(vec![value]),
        (Operation::Load { bytes: POINTER, order: None, .. }, [address]) => stored(code, at, address),
        _ => None,
    }
}

/// Returns the values that a local variable can have where it is read. The variable has no address but for loads and stores of
/// all of it, and one store comes before everything that is not in the first block.
fn stored<'a>(code: &'a Function, at: u32, address: &Operand) -> Option<Vec<&'a Operand>> {
    let Operand::Instruction(local) = address else { return None };
    if !matches!(code.instruction(*local).operation, Operation::Local { .. }) {
        return None;
    }
    let first_block_ends = code.blocks.get(1).map_or(code.instructions.len() as u32, |second| second.0);
    let mut values = Vec::new();
    let mut is_set = false;
    for (number, instruction) in (0..).zip(&code.instructions) {
        if !instruction.operands.contains(address) {
            continue;
        }
        match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Load { bytes: POINTER, .. }, _) => {}
            (Operation::Store { bytes: POINTER, .. }, [value, _]) if value != address => {
                values.push(value);
                is_set |= number < first_block_ends.min(at);
            }
            _ => return None,
        }
    }
    is_set.then_some(values)
}

/// Returns the arguments for a parameter, in all calls of the function.
fn arguments(points_to: &PointsTo<'_>, id: InstanceId, index: u32) -> Option<Vec<(InstanceId, Operand)>> {
    // Who starts a thread, or the program, is not among the callers.
    points_to.instances[id].caller?;
    let argument = |(caller, at): (InstanceId, u32)| {
        if points_to.instances[caller].outside.contains_key(&at) {
            return None;
        }
        let call = points_to.instruction(caller, at);
        Some((caller, call.operands.get(index as usize + 1)?.clone()))
    };
    points_to.calls(id).map(argument).collect()
}
