//! Constants: what they point to, and address computations.

use racehunter_ir as ir;

use super::Exporter;
use crate::llvm::{Value, llvm};
use crate::sys::core::*;
use crate::sys::{LLVMOpcode as Opcode, LLVMTypeKind, LLVMValueKind as Kind};

/// Constants are nested only a few levels in practice; deeper ones are not described.
const MAX_DEPTH: u32 = 32;

/// Maximum number of integers exported from one initialiser; larger tables are not worth it.
const MOST_NUMBERS: usize = 64;

/// Maximum number of characters exported from a text: enough for formats.
const MOST_LETTERS: usize = 200;

/// The parts of an address computation.
pub struct Computation {
    /// Fixed part in bytes.
    pub constant: i64,
    /// The variable indices, each with its bytes per unit.
    pub variable: Vec<(u64, Value)>,
}

impl Exporter<'_> {
    /// Describes a constant.
    pub fn constant(&mut self, value: Value) -> ir::Operand {
        match value.kind() {
            Kind::LLVMConstantIntValueKind => {
                value.constant_integer().map_or_else(|| ir::Operand::Constant(Vec::new()), ir::Operand::Integer)
            }
            Kind::LLVMConstantPointerNullValueKind => ir::Operand::Null,
            Kind::LLVMUndefValueValueKind | Kind::LLVMPoisonValueKind => ir::Operand::Undefined,
            Kind::LLVMInlineAsmValueKind => ir::Operand::Assembler { memory: value.assembler_touches_memory() },
            _ => match self.address(value) {
                Some((symbol, offset)) => ir::Operand::Symbol(symbol, offset),
                None => {
                    let mut mentioned = Vec::new();
                    self.mentioned(value, 0, &mut mentioned);
                    ir::Operand::Constant(mentioned)
                }
            },
        }
    }

    /// Returns the symbol that a constant pointer points into, and the offset.
    fn address(&mut self, value: Value) -> Option<(ir::SymbolId, i64)> {
        let mut offset = 0i64;
        let mut value = value;
        for _ in 0..MAX_DEPTH {
            match value.kind() {
                Kind::LLVMFunctionValueKind
                | Kind::LLVMGlobalVariableValueKind
                | Kind::LLVMGlobalAliasValueKind
                | Kind::LLVMGlobalIFuncValueKind => return Some((self.symbol(value), offset)),
                Kind::LLVMConstantExprValueKind => {}
                _ => return None,
            }
            match llvm!(LLVMGetConstOpcode(value.0)) {
                Opcode::LLVMGetElementPtr => {
                    let computation = self.computation(value).filter(|found| found.variable.is_empty())?;
                    offset = offset.wrapping_add(computation.constant);
                }
                Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => {}
                _ => return None,
            }
            value = value.operand(0);
        }
        None
    }

    /// All symbols inside a constant.
    fn mentioned(&mut self, value: Value, depth: u32, found: &mut Vec<ir::SymbolId>) {
        if depth > MAX_DEPTH {
            return;
        }
        match value.kind() {
            Kind::LLVMFunctionValueKind
            | Kind::LLVMGlobalVariableValueKind
            | Kind::LLVMGlobalAliasValueKind
            | Kind::LLVMGlobalIFuncValueKind => {
                let symbol = self.symbol(value);
                if !found.contains(&symbol) {
                    found.push(symbol);
                }
            }
            Kind::LLVMConstantExprValueKind
            | Kind::LLVMConstantArrayValueKind
            | Kind::LLVMConstantStructValueKind
            | Kind::LLVMConstantVectorValueKind => {
                for operand in value.operands() {
                    self.mentioned(operand, depth + 1, found);
                }
            }
            _ => {}
        }
    }

    /// The pointers in an initialiser, which begins `at` bytes into its variable.
    pub fn initial_pointers(&mut self, value: Value, at: u64, found: &mut Vec<ir::InitialPointer>) {
        let ty = value.ty();
        match value.kind() {
            Kind::LLVMConstantStructValueKind => {
                for (index, field) in value.operands().enumerate() {
                    self.initial_pointers(field, at + self.module.field_offset(ty, index as u32), found);
                }
            }
            Kind::LLVMConstantArrayValueKind | Kind::LLVMConstantVectorValueKind => {
                let stride = self.module.stride(ty.element());
                for (index, element) in value.operands().enumerate() {
                    self.initial_pointers(element, at + stride * index as u64, found);
                }
            }
            _ => {
                if let Some((symbol, offset)) = self.address(value) {
                    found.push(ir::InitialPointer { at, symbol, offset });
                }
            }
        }
    }

    /// Collects the nonzero integers in an initialiser; returns true if these are all, and the rest is zero or an
    /// address.
    pub fn initial_numbers(&mut self, value: Value, at: u64, found: &mut Vec<ir::InitialNumber>) -> bool {
        let ty = value.ty();
        match value.kind() {
            Kind::LLVMConstantStructValueKind => value.operands().enumerate().all(|(index, field)| {
                let further = self.module.field_offset(ty, index as u32);
                self.initial_numbers(field, at + further, found)
            }),
            Kind::LLVMConstantArrayValueKind => {
                let stride = self.module.stride(ty.element());
                (value.operands().enumerate())
                    .all(|(index, element)| self.initial_numbers(element, at + stride * index as u64, found))
            }
            Kind::LLVMConstantIntValueKind => {
                let Some(number) = value.constant_integer() else { return false };
                if number != 0 {
                    found.push(ir::InitialNumber { at, bytes: self.module.store_size(ty), value: number });
                }
                found.len() <= MOST_NUMBERS
            }
            Kind::LLVMConstantAggregateZeroValueKind | Kind::LLVMConstantPointerNullValueKind => true,
            Kind::LLVMConstantDataArrayValueKind if llvm!(LLVMIsConstantString(value.0)) != 0 => {
                let mut length = 0;
                let data = llvm!(LLVMGetAsString(value.0, &raw mut length));
                // SAFETY: LLVM returned the text and its length, and keeps it as long as the constant.
                let text = unsafe { std::slice::from_raw_parts(data.cast::<i8>(), length) };
                if length > MOST_LETTERS {
                    return false;
                }
                let letters = (at..).zip(text).filter(|(_, letter)| **letter != 0);
                found.extend(letters.map(|(at, &letter)| ir::InitialNumber { at, bytes: 1, value: i64::from(letter) }));
                true
            }
            _ => self.address(value).is_some(),
        }
    }

    /// Splits a GEP instruction or constant into its parts, unless it computes several addresses at once.
    pub fn computation(&self, gep: Value) -> Option<Computation> {
        let mut ty = gep.source_element_type();
        let mut computation = Computation { constant: 0, variable: Vec::new() };
        if !gep.operand(0).ty().is_ordinary_pointer() {
            return None;
        }
        for (position, index) in gep.operands().enumerate().skip(1) {
            if !index.ty().is_integer() {
                return None;
            }
            // The first index counts whole objects; the others lead into them.
            if position > 1 {
                match ty.kind() {
                    LLVMTypeKind::LLVMStructTypeKind => {
                        let field = u32::try_from(index.constant_integer()?).ok()?;
                        let offset = self.module.field_offset(ty, field);
                        computation.constant = computation.constant.wrapping_add(offset as i64);
                        ty = ty.field(field);
                        continue;
                    }
                    LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => ty = ty.element(),
                    _ => return None,
                }
            }
            let scale = self.module.stride(ty);
            match index.constant_integer() {
                Some(count) => {
                    computation.constant = computation.constant.wrapping_add(count.wrapping_mul(scale as i64));
                }
                None => computation.variable.push((scale, index)),
            }
        }
        Some(computation)
    }
}
