//! Instructions, one by one.

use racehunter_ir as ir;

use super::{Body, Exporter};
use crate::llvm::{Block, Value, llvm};
use crate::operation;
use crate::sys::core::*;
use crate::sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp as Update, LLVMIntPredicate as Predicate, LLVMOpcode as Opcode,
    LLVMValueKind as Kind,
};

impl Exporter<'_> {
    /// Describes an instruction.
    pub fn instruction(&mut self, instruction: Value, body: &Body) -> ir::Instruction {
        let (operation, operands) = self.operation(instruction, body);
        ir::Instruction {
            operation,
            ty: self.ty(instruction.ty()),
            operands,
            location: instruction.location().map(|location| self.location(location)),
            site: self.plan.site(instruction),
        }
    }

    /// Describes an operand.
    pub fn operand(&mut self, value: Value, body: &Body) -> ir::Operand {
        if let Some(&instruction) = body.instructions.get(&value) {
            return ir::Operand::Instruction(ir::InstructionId(instruction));
        }
        if let Some(&parameter) = body.parameters.get(&value) {
            return ir::Operand::Parameter(parameter);
        }
        match value.kind() {
            Kind::LLVMBasicBlockValueKind => block(Block(llvm!(LLVMValueAsBasicBlock(value.0))), body),
            // Metadata, and constants that LLVM's C API treats as instructions.
            Kind::LLVMMetadataAsValueValueKind | Kind::LLVMInstructionValueKind => ir::Operand::Constant(Vec::new()),
            _ => self.constant(value),
        }
    }

    fn operands(&mut self, values: impl Iterator<Item = Value>, body: &Body) -> Vec<ir::Operand> {
        values.map(|value| self.operand(value, body)).collect()
    }

    fn operation(&mut self, instruction: Value, body: &Body) -> (ir::Operation, Vec<ir::Operand>) {
        use ir::Operation as To;
        let Some(opcode) = instruction.opcode() else { return (To::Other(0), Vec::new()) };
        match opcode {
            Opcode::LLVMGetElementPtr => return self.offset(instruction, body),
            Opcode::LLVMCall | Opcode::LLVMInvoke => return self.call(instruction, opcode, body),
            Opcode::LLVMPHI => return (To::Phi, self.phi(instruction, body)),
            Opcode::LLVMBr | Opcode::LLVMSwitch => return self.branch(instruction, opcode, body),
            _ => {}
        }
        let indices = || {
            let count = llvm!(LLVMGetNumIndices(instruction.0)) as usize;
            // SAFETY: LLVM returned the indices of this instruction, and their number.
            unsafe { std::slice::from_raw_parts(LLVMGetIndices(instruction.0), count) }.to_vec()
        };
        let operation = match opcode {
            Opcode::LLVMLoad => To::Load {
                bytes: self.module.store_size(instruction.ty()),
                order: order(instruction.ordering()),
                volatile: instruction.is_volatile(),
            },
            Opcode::LLVMStore => To::Store {
                bytes: self.module.store_size(instruction.operand(0).ty()),
                order: order(instruction.ordering()),
                volatile: instruction.is_volatile(),
            },
            Opcode::LLVMAtomicRMW => To::Update {
                operator: update(llvm!(LLVMGetAtomicRMWBinOp(instruction.0))),
                bytes: self.module.store_size(instruction.operand(1).ty()),
                order: atomic_order(instruction.ordering()),
            },
            Opcode::LLVMAtomicCmpXchg => To::CompareExchange {
                bytes: self.module.store_size(instruction.operand(1).ty()),
                success: atomic_order(llvm!(LLVMGetCmpXchgSuccessOrdering(instruction.0))),
                failure: atomic_order(llvm!(LLVMGetCmpXchgFailureOrdering(instruction.0))),
                weak: llvm!(LLVMGetWeak(instruction.0)) != 0,
            },
            // A fence for signal handlers orders nothing between threads.
            Opcode::LLVMFence if instruction.is_single_thread() => To::Fence(ir::Order::Relaxed),
            Opcode::LLVMFence => To::Fence(atomic_order(instruction.ordering())),
            Opcode::LLVMAlloca => {
                let ty = crate::llvm::Type(llvm!(LLVMGetAllocatedType(instruction.0)));
                To::Local { bytes: self.module.stride(ty) }
            }
            Opcode::LLVMExtractValue => To::Extract(indices()),
            Opcode::LLVMInsertValue => To::Insert(indices()),
            Opcode::LLVMICmp => To::Compare(predicate(llvm!(LLVMGetICmpPredicate(instruction.0)))),
            other => simple(other),
        };
        (operation, self.operands(instruction.operands(), body))
    }

    fn offset(&mut self, gep: Value, body: &Body) -> (ir::Operation, Vec<ir::Operand>) {
        let Some(computation) = self.computation(gep) else {
            let operands = self.operands(gep.operands(), body);
            return (ir::Operation::Other(Opcode::LLVMGetElementPtr as u8), operands);
        };
        let scales = computation.variable.iter().map(|&(scale, _)| scale).collect();
        let indices = computation.variable.into_iter().map(|(_, index)| index);
        let operands = self.operands(std::iter::once(gep.operand(0)).chain(indices), body);
        (ir::Operation::Offset { constant: computation.constant, scales }, operands)
    }

    fn call(&mut self, call: Value, opcode: Opcode, body: &Body) -> (ir::Operation, Vec<ir::Operand>) {
        let arguments = (0..call.argument_count()).map(|index| call.operand(index));
        let operands = self.operands(std::iter::once(call.callee()).chain(arguments), body);
        let block = |block| ir::BlockId(body.blocks.get(&Block(block)).copied().unwrap_or_default());
        let operation = match opcode {
            Opcode::LLVMInvoke => ir::Operation::Invoke {
                normal: block(llvm!(LLVMGetNormalDest(call.0))),
                unwind: block(llvm!(LLVMGetUnwindDest(call.0))),
            },
            _ => ir::Operation::Call,
        };
        (operation, operands)
    }

    fn phi(&mut self, phi: Value, body: &Body) -> Vec<ir::Operand> {
        let mut operands = Vec::new();
        for index in 0..llvm!(LLVMCountIncoming(phi.0)) {
            operands.push(self.operand(Value(llvm!(LLVMGetIncomingValue(phi.0, index))), body));
            operands.push(block(Block(llvm!(LLVMGetIncomingBlock(phi.0, index))), body));
        }
        operands
    }

    fn branch(&mut self, branch: Value, opcode: Opcode, body: &Body) -> (ir::Operation, Vec<ir::Operand>) {
        let successor = |index: u32| block(Block(llvm!(LLVMGetSuccessor(branch.0, index))), body);
        let count = llvm!(LLVMGetNumSuccessors(branch.0));
        if opcode == Opcode::LLVMSwitch {
            let mut operands = vec![self.operand(branch.operand(0), body), successor(0)];
            for index in 1..count {
                operands.push(self.constant(branch.case_value(index)));
                operands.push(successor(index));
            }
            return (ir::Operation::Switch, operands);
        }
        if count == 1 {
            return (ir::Operation::Jump, vec![successor(0)]);
        }
        let condition = self.operand(Value(llvm!(LLVMGetCondition(branch.0))), body);
        (ir::Operation::Branch, vec![condition, successor(0), successor(1)])
    }
}

fn block(block: Block, body: &Body) -> ir::Operand {
    ir::Operand::Block(ir::BlockId(body.blocks.get(&block).copied().unwrap_or_default()))
}

/// Operations that are described by their opcode alone.
fn simple(opcode: Opcode) -> ir::Operation {
    use ir::Operation as To;
    use ir::{BinaryOperator as Binary, CastOperator as Cast};
    match opcode {
        Opcode::LLVMAdd => To::Binary(Binary::Add),
        Opcode::LLVMSub => To::Binary(Binary::Subtract),
        Opcode::LLVMMul => To::Binary(Binary::Multiply),
        Opcode::LLVMSDiv => To::Binary(Binary::Divide),
        Opcode::LLVMUDiv => To::Binary(Binary::UnsignedDivide),
        Opcode::LLVMSRem => To::Binary(Binary::Remainder),
        Opcode::LLVMURem => To::Binary(Binary::UnsignedRemainder),
        Opcode::LLVMShl => To::Binary(Binary::ShiftLeft),
        Opcode::LLVMAShr => To::Binary(Binary::ShiftRight),
        Opcode::LLVMLShr => To::Binary(Binary::UnsignedShiftRight),
        Opcode::LLVMAnd => To::Binary(Binary::And),
        Opcode::LLVMOr => To::Binary(Binary::Or),
        Opcode::LLVMXor => To::Binary(Binary::Xor),
        Opcode::LLVMFAdd | Opcode::LLVMFSub | Opcode::LLVMFMul | Opcode::LLVMFDiv | Opcode::LLVMFRem => {
            To::Binary(Binary::Float)
        }
        Opcode::LLVMFNeg => To::Negate,
        Opcode::LLVMTrunc => To::Cast(Cast::Truncate),
        Opcode::LLVMZExt => To::Cast(Cast::ZeroExtend),
        Opcode::LLVMSExt => To::Cast(Cast::SignExtend),
        Opcode::LLVMPtrToInt => To::Cast(Cast::PointerToInteger),
        Opcode::LLVMIntToPtr => To::Cast(Cast::IntegerToPointer),
        Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => To::Cast(Cast::Reinterpret),
        Opcode::LLVMFPToUI
        | Opcode::LLVMFPToSI
        | Opcode::LLVMUIToFP
        | Opcode::LLVMSIToFP
        | Opcode::LLVMFPTrunc
        | Opcode::LLVMFPExt => To::Cast(Cast::Float),
        Opcode::LLVMFCmp => To::CompareFloat,
        Opcode::LLVMSelect => To::Select,
        Opcode::LLVMRet => To::Return,
        Opcode::LLVMResume => To::Resume,
        Opcode::LLVMUnreachable => To::Unreachable,
        Opcode::LLVMIndirectBr => To::IndirectJump,
        Opcode::LLVMLandingPad => To::LandingPad,
        Opcode::LLVMExtractElement => To::ExtractLane,
        Opcode::LLVMInsertElement => To::InsertLane,
        Opcode::LLVMShuffleVector => To::Shuffle,
        Opcode::LLVMFreeze => To::Freeze,
        Opcode::LLVMVAArg => To::VariableArgument,
        other => To::Other(other as u8),
    }
}

fn order(ordering: LLVMAtomicOrdering) -> Option<ir::Order> {
    (ordering != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic).then(|| atomic_order(ordering))
}

fn atomic_order(ordering: LLVMAtomicOrdering) -> ir::Order {
    match operation::order(ordering) {
        2 => ir::Order::Acquire,
        3 => ir::Order::Release,
        4 => ir::Order::AcquireRelease,
        5 => ir::Order::SequentiallyConsistent,
        _ => ir::Order::Relaxed,
    }
}

fn update(operator: Update) -> ir::UpdateOperator {
    use ir::UpdateOperator as To;
    match operator {
        Update::LLVMAtomicRMWBinOpXchg => To::Exchange,
        Update::LLVMAtomicRMWBinOpAdd => To::Add,
        Update::LLVMAtomicRMWBinOpSub => To::Subtract,
        Update::LLVMAtomicRMWBinOpAnd => To::And,
        Update::LLVMAtomicRMWBinOpNand => To::Nand,
        Update::LLVMAtomicRMWBinOpOr => To::Or,
        Update::LLVMAtomicRMWBinOpXor => To::Xor,
        Update::LLVMAtomicRMWBinOpMax => To::Max,
        Update::LLVMAtomicRMWBinOpMin => To::Min,
        Update::LLVMAtomicRMWBinOpUMax => To::UnsignedMax,
        Update::LLVMAtomicRMWBinOpUMin => To::UnsignedMin,
        _ => To::Other,
    }
}

fn predicate(predicate: Predicate) -> ir::Predicate {
    match predicate {
        Predicate::LLVMIntEQ => ir::Predicate::Equal,
        Predicate::LLVMIntNE => ir::Predicate::NotEqual,
        Predicate::LLVMIntUGT => ir::Predicate::UnsignedGreater,
        Predicate::LLVMIntUGE => ir::Predicate::UnsignedGreaterEqual,
        Predicate::LLVMIntULT => ir::Predicate::UnsignedLess,
        Predicate::LLVMIntULE => ir::Predicate::UnsignedLessEqual,
        Predicate::LLVMIntSGT => ir::Predicate::Greater,
        Predicate::LLVMIntSGE => ir::Predicate::GreaterEqual,
        Predicate::LLVMIntSLT => ir::Predicate::Less,
        Predicate::LLVMIntSLE => ir::Predicate::LessEqual,
    }
}
