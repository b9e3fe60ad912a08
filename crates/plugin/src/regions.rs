//! Regions: consecutive accesses of one block, with nothing between them that another thread or the runtime could
//! notice.
//!
//! Executions that track few accesses run most regions as the program was written: one subtraction counts all events of
//! a region, and none is announced. The flag byte of the region's first site says whether they may. Every other
//! execution takes the announced copy, and so does this one if an event of the region needs attention.

use std::ops::Range;

use crate::copies::CopiedLoop;
use crate::kinds::Kinds;
use crate::llvm::{Value, llvm};
use crate::operation::{Length, Operation};
use crate::plan::Announcement;
use crate::sys::core::*;
use crate::sys::{LLVMOpcode as Opcode, LLVMTypeKind};

/// Returns the regions of a function, as runs of its announcements. Accesses that no region may contain are in none,
/// nor are those of a loop that is copied whole.
pub fn find(
    announcements: &[Announcement],
    copied: &[CopiedLoop],
    is_repeatable: &dyn Fn(Value) -> bool,
) -> Vec<Range<usize>> {
    let mut regions: Vec<Range<usize>> = Vec::new();
    for (index, announcement) in announcements.iter().enumerate() {
        let is_countable = announcement.operations.iter().all(is_one_event);
        let is_copied = copied.iter().any(|copied| copied.has(index));
        if is_copied || !is_countable || !is_repeatable(announcement.instruction) {
            continue;
        }
        match regions.last_mut() {
            Some(last)
                if last.end == index
                    && reaches(announcements[index - 1].instruction, announcement.instruction, is_repeatable) =>
            {
                last.end = index + 1;
            }
            _ => regions.push(index..index + 1),
        }
    }
    regions
}

/// Returns true if the operation is exactly one event, for all values that the program computes.
pub fn is_one_event(operation: &Operation) -> bool {
    match *operation {
        Operation::Plain(..) | Operation::VirtualTableRead(_) | Operation::VirtualTableUpdate(..) => true,
        Operation::Range(_, _, Length::Bytes(bytes)) => bytes > 0,
        Operation::Range(_, _, Length::Computed(bytes)) => bytes.constant_integer().is_some_and(|bytes| bytes > 0),
        _ => false,
    }
}

/// Returns true if `to` comes after `from` in the same block, and everything between them can be duplicated.
fn reaches(from: Value, to: Value, is_repeatable: &dyn Fn(Value) -> bool) -> bool {
    let mut at = from;
    loop {
        if !is_repeatable(at) {
            return false;
        }
        if at == to {
            return true;
        }
        match at.next() {
            Some(next) => at = next,
            None => return false,
        }
    }
}

/// Returns true if the instruction can have a copy that is executed instead of it.
pub fn is_repeatable(instruction: Value, kinds: &Kinds) -> bool {
    if instruction.ty().kind() == LLVMTypeKind::LLVMTokenTypeKind {
        return false;
    }
    match instruction.opcode() {
        // Only functions that the compiler knows: other code may have events.
        Some(Opcode::LLVMCall) => instruction.callee_function().is_some_and(|callee| {
            llvm!(LLVMGetIntrinsicID(callee.0)) != 0
                && kinds.single_copy.iter().all(|&kind| !kinds.function_has(callee, kind))
        }),
        Some(Opcode::LLVMInvoke | Opcode::LLVMCallBr | Opcode::LLVMAlloca) => false,
        _ => true,
    }
}
