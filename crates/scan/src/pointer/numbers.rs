//! Numbers that are used as pointers: they may point anywhere.
//!
//! The targets of an integer are known only as far as it was derived from pointers. A number from elsewhere (text, a
//! file, a calculation) points nowhere by itself; once the program converts it to a pointer, or loads it where it
//! expects a pointer, it points anywhere. This is decided after all pointers have been followed, because only then it
//! is known which values are derived from pointers; then they are followed again.

use super::{InstanceId, POINTER, PointsTo, ProgramPoint};
use crate::domain::linear::passed;
use racehunter_ir::{CastOperator, Operand, Operation, Type};
use rustc_hash::FxHashSet;

impl PointsTo<'_> {
    /// Finds instructions that turn numbers into pointers; returns true if there are new ones.
    pub(super) fn find_numbers(&mut self) -> bool {
        while self.mark_memory() {}
        let mut found: Vec<ProgramPoint> = Vec::new();
        for id in self.instances.ids() {
            let code = self.code(id);
            for (at, instruction) in code.instructions.iter().enumerate() {
                let is_one = match (&instruction.operation, &instruction.operands[..]) {
                    (Operation::Cast(CastOperator::IntegerToPointer), [value]) => self.is_number(id, value),
                    (Operation::Load { bytes, .. }, [address]) => {
                        *bytes >= POINTER
                            && matches!(instruction.ty, Type::Pointer | Type::Aggregate(_) | Type::Other)
                            && self.has_numbers(id, address, *bytes)
                    }
                    _ => false,
                };
                if is_one && !self.from_numbers.contains(&(id, at as u32)) {
                    found.push((id, at as u32));
                }
            }
        }
        self.work.extend(&found);
        let before = self.from_numbers.len();
        self.from_numbers.extend(found);
        self.from_numbers.len() != before
    }

    /// Notes where pointer-sized numbers are stored; returns true if that is new.
    fn mark_memory(&mut self) -> bool {
        let mut changed = false;
        for id in self.instances.ids() {
            let code = self.code(id);
            for instruction in &code.instructions {
                let (value, address) = match (&instruction.operation, &instruction.operands[..]) {
                    (Operation::Store { bytes, .. }, [value, address]) if *bytes >= POINTER => (value, address),
                    (Operation::Update { bytes: POINTER, .. }, [address, value]) => (value, address),
                    (Operation::CompareExchange { bytes: POINTER, .. }, [address, _, value]) => (value, address),
                    _ => continue,
                };
                if self.is_pointer(id, value) || !self.is_number(id, value) {
                    continue;
                }
                for (base, offset) in self.operand(id, address).iter() {
                    changed |= self.memory.entry(base).or_default().mark(offset);
                }
            }
        }
        changed
    }

    /// Returns true if numbers may be found at an address.
    fn has_numbers(&self, id: InstanceId, address: &Operand, bytes: u64) -> bool {
        self.operand(id, address)
            .iter()
            .any(|(base, offset)| self.memory.get(&base).is_some_and(|cells| cells.has_numbers(offset, bytes)))
    }

    fn is_pointer(&self, id: InstanceId, operand: &Operand) -> bool {
        self.type_of(id, operand) == Some(Type::Pointer)
    }

    /// Returns the type of a value; none for constants.
    pub fn type_of(&self, id: InstanceId, operand: &Operand) -> Option<Type> {
        let code = self.code(id);
        match operand {
            Operand::Instruction(at) => Some(code.instruction(*at).ty),
            Operand::Parameter(index) => code.parameters.get(*index as usize).copied(),
            _ => None,
        }
    }

    /// Returns true if an integer may be a number that is not derived from a pointer.
    fn is_number(&self, id: InstanceId, operand: &Operand) -> bool {
        self.may_be_number(id, operand, &mut FxHashSet::default())
    }

    fn may_be_number(&self, id: InstanceId, operand: &Operand, seen: &mut FxHashSet<ProgramPoint>) -> bool {
        let at = match operand {
            Operand::Instruction(at) => at.0,
            Operand::Parameter(_) => {
                return match passed(self, id, operand) {
                    Some((caller, argument)) => self.may_be_number(caller, &argument, seen),
                    None => true,
                };
            }
            // A constant is not an address that the program could have.
            _ => return false,
        };
        if !seen.insert((id, at)) {
            return false;
        }
        let code = self.code(id);
        let instruction = &code.instructions[at as usize];
        let operands = &instruction.operands[..];
        match (&instruction.operation, operands) {
            (Operation::Cast(CastOperator::PointerToInteger), [pointer]) => {
                self.operand(id, pointer).iter().any(|(base, _)| self.describe(base).is_unknown())
            }
            (Operation::Cast(CastOperator::Float), _) => true,
            (Operation::Cast(_) | Operation::Freeze, [value]) => self.may_be_number(id, value, seen),
            // A distance added to an address is not an address; the sum of two numbers is a number.
            (Operation::Binary(_), [left, right]) => {
                let leads = |operand: &Operand| !self.operand(id, operand).is_empty();
                match (leads(left), leads(right)) {
                    (true, true) => self.may_be_number(id, left, seen) || self.may_be_number(id, right, seen),
                    (true, false) => self.may_be_number(id, left, seen),
                    (false, true) => self.may_be_number(id, right, seen),
                    (false, false) => true,
                }
            }
            (Operation::Phi, paths) => paths.iter().any(|path| self.may_be_number(id, path, seen)),
            (Operation::Select, [_, one, other]) => {
                self.may_be_number(id, one, seen) || self.may_be_number(id, other, seen)
            }
            (Operation::Load { bytes, .. }, [address]) => {
                let address = self.operand(id, address);
                address.is_empty()
                    || self.values_of(id, at).is_empty()
                    || address.iter().any(|(base, offset)| {
                        self.memory.get(&base).is_some_and(|cells| cells.has_numbers(offset, *bytes))
                    })
                    || self.get(&address, *bytes).0.iter().any(|(base, _)| self.describe(base).is_unknown())
            }
            (Operation::Extract(_), [value @ Operand::Instruction(_)]) => self.may_be_number(id, value, seen),
            (Operation::CompareExchange { .. } | Operation::Update { .. }, [address, ..]) => {
                self.values_of(id, at).is_empty()
                    || self.operand(id, address).iter().any(|(base, offset)| {
                        self.memory.get(&base).is_some_and(|cells| cells.has_numbers(offset, POINTER))
                    })
            }
            _ => true,
        }
    }
}
