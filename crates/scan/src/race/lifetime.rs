//! Begins and ends of lifetimes: memory that is allocated; locals that end with their blocks and functions, which counts
//! as a write to them. Also locks that are released.

use crate::domain::congruence::Congruence;
use crate::locks::summary::{self, LockBase};
use crate::models::Model;
use crate::pointer::address::{Addresses, Base};
use crate::pointer::{InstanceId, PointsTo};
use crate::race::touch::{ALL, Mode, Touch};
use racehunter_ir::{Instruction, InstructionId, Operand, Operation};
use std::collections::BTreeSet;

/// Returns true if an instruction ends its function.
pub fn ends(operation: &Operation) -> bool {
    matches!(operation, Operation::Return | Operation::Resume)
}

/// The intrinsic at the end of a local's block.
const END_OF_BLOCK: &str = "llvm.lifetime.end";

/// The intrinsic at the end of a block with variable-length arrays.
const END_OF_ARRAYS: &str = "llvm.stackrestore";

/// Returns the locals of functions that end: their memory will be reused. As with `free`, that is a write. A call that
/// ends the thread ends all functions that have not returned yet, and an exception those that do not catch it.
pub(crate) fn ended(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> Vec<Touch> {
    let code = points_to.code(id);
    let outside = points_to.instances[id].outside.get(&at);
    let leaves = outside.into_iter().flatten().any(|name| points_to.models.of(name) == Some(Model::Leave));
    if outside.into_iter().flatten().any(|name| name.starts_with(END_OF_ARRAYS)) {
        // Variable-length arrays have no separate mark.
        let is_array = |instruction: &Instruction| {
            matches!(instruction.operation, Operation::Local { .. })
                && !matches!(instruction.operands.first(), Some(Operand::Integer(_)))
        };
        let arrays = (0..).zip(&code.instructions).filter(|(_, instruction)| is_array(instruction));
        let touch = |(local, _): (u32, &Instruction)| {
            let address = Operand::Instruction(InstructionId(local));
            let addresses = points_to.operand(id, &address);
            // Control may not have reached the array; then there is nothing to end, and its address is not that of
            // another one.
            Touch { addresses, address: Operand::Undefined, bytes: ALL, mode: Mode::Write }
        };
        return arrays.map(touch).collect();
    }
    if outside.into_iter().flatten().any(|name| name.starts_with(END_OF_BLOCK)) {
        // The block of a local has ended; the next block may reuse its memory.
        let local = code.instructions[at as usize].operands.iter().skip(1).next_back().cloned();
        let touch = |address: Operand| {
            let addresses = points_to.operand(id, &address);
            Touch { addresses, address, bytes: ALL, mode: Mode::Write }
        };
        return local.map(touch).into_iter().collect();
    }
    let is_left = points_to.unwinding.ends_at(points_to, id, at);
    if !ends(&code.instructions[at as usize].operation) && !leaves && !is_left {
        return Vec::new();
    }
    let mut over = BTreeSet::from([id]);
    let mut work = if leaves { vec![id] } else { Vec::new() };
    while let Some(id) = work.pop() {
        work.extend(points_to.callers(id).filter(|caller| over.insert(*caller)));
    }
    let mut touches = Vec::new();
    for id in over {
        let code = points_to.code(id);
        for (local, instruction) in (0..).zip(&code.instructions) {
            if matches!(instruction.operation, Operation::Local { .. }) {
                let addresses = points_to.operand(id, &Operand::Instruction(InstructionId(local)));
                // The address as seen from elsewhere: value names belong to the function that ends.
                let address = Operand::Instruction(InstructionId(local));
                let address = if leaves { Operand::Undefined } else { address };
                touches.push(Touch { addresses, address, bytes: ALL, mode: Mode::Write });
            }
        }
    }
    touches
}

/// Returns the memory that a call allocates. Some functions also fill it, and all of them may reuse memory, so another
/// thread must not get the address without order.
pub(crate) fn allocated(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> Option<Touch> {
    let mut names = points_to.instances[id].outside.get(&at)?.iter();
    let base = points_to.find_base(&Base::Heap(id, at))?;
    let is_new = |name: &String| matches!(points_to.models.of(name), Some(Model::Allocate(allocate)) if !allocate.own);
    names.any(is_new).then(|| Touch {
        address: Operand::Instruction(InstructionId(at)),
        addresses: Addresses::one(base, Congruence::exact(0)),
        bytes: ALL,
        mode: Mode::Write,
    })
}

/// Returns the locks that a call releases, if only the holding thread may do that, and the locks are known.
pub fn given_back(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> Option<BTreeSet<LockBase>> {
    let instance = &points_to.instances[id];
    let mut names = instance.outside.get(&at)?.iter();
    let unlock = names.find_map(|name| match points_to.models.of(name) {
        Some(Model::Unlock(unlock)) if unlock.owned => Some(unlock),
        _ => None,
    })?;
    let call = &points_to.program.function(instance.function).0.instructions[at as usize];
    let locks = summary::locks(points_to, &points_to.operand(id, call.operands.get(unlock.lock + 1)?));
    (!locks.contains(&None)).then_some(locks)
}
