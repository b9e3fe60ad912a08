//! The shadow call stack: each function pushes its return address and the address where that is stored, without a call.
//!
//! A frame is two words. `__rh_stack` points to the next free frame. A function puts its frame there, moves the
//! pointer up, and sets it back to its own frame when it returns. Code that catches an exception or comes back from
//! `longjmp` sets the pointer to just above its own frame, which drops the frames that were left without returning.

use crate::emit::Emitter;
use crate::kinds::Kinds;
use crate::llvm::{Value, llvm};
use crate::sys::LLVMOpcode as Opcode;
use crate::sys::core::*;

/// Bytes of a frame.
const FRAME: u64 = 16;

/// The frame of a function: what later instructions refer to.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Address of the frame.
    own: Value,
    /// Address of the next one.
    next: Value,
    /// Last instruction of the prologue.
    end: Value,
}

/// Where a function's frame must be popped or restored.
#[derive(Default)]
pub struct Exits {
    /// The frame is popped before these instructions.
    leaving: Vec<Value>,
    /// Before these instructions, the frame becomes the topmost one again.
    healing: Vec<Value>,
}

impl Exits {
    /// Finds these instructions, before anything is inserted.
    pub fn find(function: Value, kinds: &Kinds) -> Self {
        let mut exits = Self::default();
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            match instruction.opcode() {
                Some(Opcode::LLVMRet | Opcode::LLVMResume) => exits.leaving.push(before_tail_call(instruction)),
                Some(Opcode::LLVMLandingPad) => exits.healing.extend(instruction.next()),
                Some(Opcode::LLVMCall) if kinds.call_has(instruction, kinds.returns_twice) => {
                    exits.healing.extend(instruction.next());
                }
                _ => {}
            }
        }
        exits
    }
}

/// Emits the prologue.
pub fn enter(emitter: &mut Emitter, function: Value) -> Frame {
    emitter.before(first_instruction(function, None));
    let own = emitter.load_pointer(emitter.stack);
    let caller = emitter.intrinsic(c"llvm.returnaddress", &[emitter.zero()]);
    let slot = emitter.intrinsic(c"llvm.addressofreturnaddress", &[]);
    emitter.store(caller, own);
    let second = emitter.constant_offset(own, FRAME / 2);
    emitter.store(slot, second);
    let next = emitter.constant_offset(own, FRAME);
    let end = emitter.store(next, emitter.stack);
    Frame { own, next, end }
}

/// Emits code that makes the frame the topmost one again. It is emitted before other hooks, and so runs before them.
pub fn heal(emitter: &Emitter, frame: Frame, exits: &Exits) {
    for &at in &exits.healing {
        emitter.before(at);
        emitter.store(frame.next, emitter.stack);
    }
}

/// Emits code that pops the frame. It is emitted after other hooks, and so runs after them.
pub fn leave(emitter: &Emitter, frame: Frame, exits: &Exits) {
    for &at in &exits.leaving {
        emitter.before(at);
        emitter.store(frame.own, emitter.stack);
    }
}

/// Returns where code at the start of a function goes: after its allocas, and after the prologue of its frame.
pub fn first_instruction(function: Value, frame: Option<Frame>) -> Value {
    if let Some(next) = frame.and_then(|frame| frame.end.next()) {
        return next;
    }
    let entry = crate::llvm::Block(llvm!(LLVMGetEntryBasicBlock(function.0)));
    let is_alloca = |instruction: &Value| instruction.opcode() == Some(Opcode::LLVMAlloca);
    let first = entry.instructions().find(|instruction| !is_alloca(instruction));
    first.or_else(|| entry.terminator()).expect("a block has a terminator")
}

/// Returns the position before `instruction`, or before the tail call that belongs to it if it is a return.
pub fn before_tail_call(instruction: Value) -> Value {
    if instruction.opcode() != Some(Opcode::LLVMRet) {
        return instruction;
    }
    let previous = instruction.previous();
    let is_cast = |value: &Value| value.opcode() == Some(Opcode::LLVMBitCast);
    let call = match previous {
        Some(cast) if is_cast(&cast) => cast.previous(),
        other => other,
    };
    call.filter(|call| call.is_must_tail()).unwrap_or(instruction)
}
