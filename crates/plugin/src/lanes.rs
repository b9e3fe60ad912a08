//! Which lanes of a loaded vector a program uses.

use rustc_hash::FxHashSet;

use crate::llvm::{Value, llvm};
use crate::operation::Mask;
use crate::sys::LLVMOpcode as Opcode;
use crate::sys::core::*;

/// Returns the lanes of a load that are used, if not all are: those that all its users pick, or those for which a
/// condition holds, if all its users select between it and something else.
pub fn used(load: Value, count: u32) -> Option<Mask> {
    picked(load, count).or_else(|| chosen(load))
}

/// Returns the lanes that the users extract from the vector or reorder, possibly after computing something for each
/// lane.
fn picked(load: Value, count: u32) -> Option<Mask> {
    /// Maximum number of values to follow.
    const MOST: usize = 256;
    let all = if count == 64 { u64::MAX } else { (1 << count) - 1 };
    let (mut used, mut seen, mut pending): (u64, _, _) = (0, FxHashSet::from_iter([load]), vec![load]);
    while let Some(value) = pending.pop() {
        for (user, operand) in value.uses() {
            match user.opcode()? {
                Opcode::LLVMExtractElement => {
                    let lane = u32::try_from(user.operand(1).constant_integer()?).ok().filter(|&lane| lane < count)?;
                    used |= 1 << lane;
                }
                Opcode::LLVMShuffleVector if user.operand(0) != user.operand(1) => {
                    let first = operand * count;
                    let elements = llvm!(LLVMGetNumMaskElements(user.0));
                    let lanes = (0..elements).map(|at| llvm!(LLVMGetMaskValue(user.0, at)));
                    let own = lanes.filter_map(|lane| u32::try_from(lane).ok()?.checked_sub(first));
                    used |= own.filter(|&lane| lane < count).fold(0, |bits, lane| bits | 1 << lane);
                }
                opcode if is_lane_by_lane(opcode) && user.ty().lanes() == Some(count) => {
                    if seen.insert(user) {
                        pending.push(user);
                    }
                }
                _ => return None,
            }
        }
        if used == all || seen.len() > MOST {
            return None;
        }
    }
    (used != 0).then(|| Mask::Bits(constant(load, used, count)))
}

/// Returns true if each lane of the result depends only on the same lane of the operands.
fn is_lane_by_lane(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFNeg
            | LLVMTrunc
            | LLVMZExt
            | LLVMSExt
            | LLVMFPToUI
            | LLVMFPToSI
            | LLVMUIToFP
            | LLVMSIToFP
            | LLVMFPTrunc
            | LLVMFPExt
            | LLVMICmp
            | LLVMFCmp
            | LLVMSelect
            | LLVMPHI
    )
}

/// Returns the bits as a vector of `i1`.
fn constant(load: Value, bits: u64, count: u32) -> Value {
    let context = llvm!(LLVMGetTypeContext(load.ty().0));
    let bit = llvm!(LLVMInt1TypeInContext(context));
    let mut lanes: Vec<_> = (0..count).map(|lane| llvm!(LLVMConstInt(bit, bits >> lane & 1, 0))).collect();
    Value(llvm!(LLVMConstVector(lanes.as_mut_ptr(), count)))
}

/// Returns the condition by which the users select, lane by lane. The optimiser turns a masked load of memory that is
/// known to exist into this; the condition then comes before the load.
fn chosen(load: Value) -> Option<Mask> {
    let mut choice = None;
    for (user, operand) in load.uses() {
        let this = (user.operand(0), operand);
        if user.opcode()? != Opcode::LLVMSelect || operand == 0 || choice.is_some_and(|known| known != this) {
            return None;
        }
        choice = Some(this);
    }
    let (condition, operand) = choice.filter(|(condition, _)| condition.ty().lanes().is_some())?;
    let mask = if operand == 1 { Mask::Bits(condition) } else { Mask::ClearBits(condition) };
    comes_before(condition, load).then_some(mask)
}

/// Returns true if a value is available at an instruction. If that is not obvious, the whole vector counts.
fn comes_before(value: Value, instruction: Value) -> bool {
    let before = std::iter::successors(instruction.previous(), |&at| at.previous());
    value.opcode().is_none() || before.into_iter().any(|earlier| earlier == value)
}
