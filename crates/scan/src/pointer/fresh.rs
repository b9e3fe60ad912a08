//! Fresh memory: a value that comes straight from an allocation, and has not been handed to another thread.
//!
//! A base stands for all memory that one place allocates, so it is not enough that the place has not passed on anything
//! recently: another thread may have done so before. But if the address is computed directly from the result of the
//! allocation, without a detour through memory, it is the latest piece, and [`crate::solver`] tracks whether that is
//! still unshared.

use crate::models::Model;
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use racehunter_ir::{Operand, Operation};

/// Maximum depth to which values are followed.
const MOST: u32 = 40;

/// Returns the base whose latest piece of memory an address must point into.
pub fn latest(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand) -> Option<BaseId> {
    follow(points_to, id, operand, MOST)
}

fn follow(points_to: &PointsTo<'_>, id: InstanceId, operand: &Operand, left: u32) -> Option<BaseId> {
    let left = left.checked_sub(1)?;
    let instance = &points_to.instances[id];
    // In a recursive function, the same name stands for values of several activations.
    if instance.shared {
        return None;
    }
    match operand {
        Operand::Instruction(at) => {
            let instruction = points_to.program.function(instance.function).0.instruction(*at);
            match &instruction.operation {
                Operation::Offset { .. } | Operation::Cast(_) => {
                    follow(points_to, id, instruction.operands.first()?, left)
                }
                Operation::Local { .. } => points_to.find_base(&Base::Local(id, at.0)),
                Operation::Call | Operation::Invoke { .. } => {
                    let mut names = instance.outside.get(&at.0)?.iter();
                    let name = names.next()?;
                    let is_only = names.next().is_none() && !instance.callees.contains_key(&at.0);
                    match points_to.models.of(name) {
                        Some(Model::Allocate(allocate)) if is_only && allocate.into.is_none() => {
                            points_to.find_base(&Base::Heap(id, at.0))
                        }
                        _ => None,
                    }
                }
                _ => None,
            }
        }
        Operand::Parameter(index) => {
            let (caller, at) = instance.caller?;
            let code = points_to.code(caller);
            let call = &code.instructions[at as usize];
            // A function that another function calls back has other arguments.
            if points_to.instances[caller].outside.contains_key(&at) {
                return None;
            }
            follow(points_to, caller, call.operands.get(*index as usize + 1)?, left)
        }
        _ => None,
    }
}
