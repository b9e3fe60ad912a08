//! Which bytes of a base accesses can touch, and whether they overlap.

use super::Ranges;
use super::bits;
use crate::domain::affine::Affine;
use crate::domain::linear::passed;
use crate::pointer::InstanceId;
use crate::pointer::address::BaseId;
use crate::race::access::Access;
use racehunter_ir::{BinaryOperator, CastOperator, Operand, Operation};

impl Ranges<'_, '_> {
    /// Returns the offset of an address from the start of a base.
    fn reach(&self, id: InstanceId, block: u32, address: &Operand, base: BaseId) -> Option<Affine> {
        let span = self.span(self.thread(id));
        let code = self.code(id);
        if let Operand::Instruction(at) = address {
            let instruction = code.instruction(*at);
            match &instruction.operation {
                Operation::Offset { constant, scales } => {
                    let mut sum = self.reach(id, block, &instruction.operands[0], base)?;
                    sum = sum.compute(BinaryOperator::Add, Affine::exact(*constant), span, 64);
                    for (&scale, index) in scales.iter().zip(&instruction.operands[1..]) {
                        // An index may itself be computed from addresses.
                        let is_number = self.type_of(id, index).is_none_or(|ty| bits(ty).is_some());
                        if !is_number || self.points_to.operand(id, index).0.contains_key(&base) {
                            return None;
                        }
                        let scale = Affine::exact(i64::try_from(scale).ok()?);
                        let part = self.at(id, block, index)?.compute(BinaryOperator::Multiply, scale, span, 64);
                        sum = sum.compute(BinaryOperator::Add, part, span, 64);
                    }
                    return Some(sum);
                }
                Operation::Cast(CastOperator::Reinterpret) => {
                    return self.reach(id, block, &instruction.operands[0], base);
                }
                _ => {}
            }
        }
        let offset = self.points_to.operand(id, address).0.get(&base).copied()?;
        if let Some(at) = offset.only() {
            return Some(Affine::exact(at));
        }
        let (caller, argument) = passed(self.points_to, id, address)?;
        let (_, at) = self.points_to.instances[id].caller?;
        let function = self.points_to.instances[caller].function;
        let block = self.points_to.blocks[function].block_of[at as usize];
        self.reach(caller, block, &argument, base)
    }

    fn reach_of(&self, access: &Access, base: BaseId) -> Option<Affine> {
        let key = (access.instance, access.at, access.address.clone(), base);
        if let Some(known) = self.reaches.borrow().get(&key) {
            return *known;
        }
        let block = self.block_of(access);
        let reach = self.reach(access.instance, block, &access.address, base);
        self.reaches.borrow_mut().insert(key, reach);
        reach
    }

    fn block_of(&self, access: &Access) -> u32 {
        let function = self.points_to.instances[access.instance].function;
        self.points_to.blocks[function].block_of[access.at as usize]
    }

    /// Returns true if two accesses to a base are disjoint, or one of them never happens.
    pub fn are_apart(&self, base: BaseId, first: &Access, second: &Access) -> bool {
        let is_dead = |access: &Access| self.is_dead(access.instance, self.block_of(access));
        if is_dead(first) || is_dead(second) {
            return true;
        }
        let (Some(one), Some(other)) = (self.reach_of(first, base), self.reach_of(second, base)) else { return false };
        let [left, right] =
            [(one, first), (other, second)].map(|(number, access)| number.flat(self.span(access.thread)));
        if left.is_apart(first.bytes, right, second.bytes) {
            return true;
        }
        // Two members of a group, each with its own number: how far apart are the shares of neighbours?
        let Some((_, step)) = self.numbers.get(&first.thread).filter(|_| first.thread == second.thread) else {
            return false;
        };
        let share = u128::from(one.times.unsigned_abs()) * u128::from(*step);
        let end = |number: Affine, access: &Access| i128::from(number.rest.high()) + i128::from(access.bytes);
        let begin = |number: Affine| i128::from(number.rest.low());
        let needed = (end(one, first) - begin(other)).max(end(other, second) - begin(one));
        one.times == other.times && u128::try_from(needed).is_ok_and(|needed| needed <= share)
    }
}
