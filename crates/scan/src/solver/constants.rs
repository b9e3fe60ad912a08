//! Constants of a path: values that are known because they are computed from constants, were compared, or were
//! returned.
//!
//! They decide branches, so that `if (failed) unlock();` is not taken on the path on which nothing failed. A constant
//! is about the latest value of an instruction; executing the instruction again replaces it. Recursive functions have
//! no constants, because the same name stands for several values there.

use super::{Solver, State};
use crate::cfg::blocks::range;
use crate::domain::linear::{linear, passed};
use crate::locks::lockset::{HeldLock, LockId, may_be};
use crate::models::Model;
use crate::pointer::InstanceId;
use racehunter_ir::{
    BinaryOperator, CastOperator, Function, Instruction, InstructionId, Operand, Operation, Predicate, Type,
};
use std::collections::BTreeSet;

impl Solver<'_, '_> {
    /// Returns true if the values of an instance have unique names.
    pub(crate) fn can_know(&self, id: InstanceId) -> bool {
        self.most_paths > 1 && !self.points_to.instances[id].shared
    }

    /// Returns the value of an operand, if it is known.
    pub(crate) fn known(&self, id: InstanceId, operand: &Operand, state: &State) -> Option<i64> {
        match operand {
            Operand::Integer(value) => Some(*value),
            Operand::Null => Some(0),
            Operand::Instruction(at) => {
                let always = || self.ranges.and_then(|ranges| ranges.only(id, at.0));
                state.constants.get(&(id, at.0)).copied().or_else(always)
            }
            // The caller is waiting, so its values do not change.
            Operand::Parameter(_) if self.can_know(id) => {
                let (caller, argument) = passed(self.points_to, id, operand)?;
                self.known(caller, &argument, state)
            }
            _ => None,
        }
    }

    /// Notes the result of an instruction.
    pub(super) fn know(&self, id: InstanceId, at: u32, instruction: &Instruction, state: &mut State) {
        // The value of a phi was determined when its block was chosen.
        if !self.can_know(id) || instruction.operation == Operation::Phi {
            return;
        }
        let operand = |index: usize| instruction.operands.get(index).and_then(|operand| self.known(id, operand, state));
        let value = match &instruction.operation {
            Operation::Compare(predicate) => match (operand(0), operand(1)) {
                (Some(left), Some(right)) => compare(*predicate, left, right).map(bit),
                _ => None,
            },
            Operation::Binary(operator) => match (operand(0), operand(1)) {
                (Some(left), Some(right)) => compute(*operator, left, right),
                _ => None,
            },
            Operation::Cast(CastOperator::SignExtend) => operand(0),
            Operation::Cast(CastOperator::ZeroExtend) => match self.type_of(id, &instruction.operands[0]) {
                Some(Type::Integer(1)) => operand(0).map(|value| value & 1),
                _ => operand(0).filter(|value| *value >= 0),
            },
            Operation::Cast(CastOperator::Truncate) => match instruction.ty {
                Type::Integer(1) => operand(0).map(|value| bit(value & 1 != 0)),
                _ => operand(0),
            },
            Operation::Freeze => operand(0),
            Operation::Extract(path) => match instruction.operands[..] {
                [Operand::Instruction(exchange)] if path[..] == [1] && self.is_exchange(id, exchange) => {
                    state.constants.get(&(id, exchange.0)).map(|&took_place| bit(took_place != 0))
                }
                _ => None,
            },
            Operation::Select => match operand(0) {
                Some(0) => operand(2),
                Some(_) => operand(1),
                None => None,
            },
            _ => None,
        };
        let value = value.filter(|value| fits(*value, instruction.ty));
        match value {
            Some(value) => state.constants.insert((id, at), value),
            None => state.constants.remove(&(id, at)),
        };
    }

    fn is_exchange(&self, id: InstanceId, at: InstructionId) -> bool {
        matches!(self.points_to.code(id).instruction(at).operation, Operation::CompareExchange { .. })
    }

    fn type_of(&self, id: InstanceId, operand: &Operand) -> Option<Type> {
        let Operand::Instruction(at) = operand else { return None };
        let code = self.points_to.code(id);
        Some(code.instruction(*at).ty)
    }

    /// Notes the values of the phis of the next block.
    pub(super) fn choose(&self, id: InstanceId, block: u32, next: u32, state: &mut State) {
        let code = self.points_to.code(id);
        let (first, end) = range(code, next as usize);
        let mut chosen = Vec::new();
        for at in first..end {
            let instruction = &code.instructions[at];
            if instruction.operation != Operation::Phi {
                break;
            }
            let mut pairs = instruction.operands.chunks_exact(2);
            let value = pairs.find_map(|pair| match pair {
                [value, Operand::Block(from)] if from.0 == block => {
                    Some((self.known(id, value, state), self.unique_value(id, value, state)))
                }
                _ => None,
            });
            let (value, unique_value) = value.filter(|_| self.can_know(id)).unwrap_or_default();
            chosen.push((at as u32, value, unique_value));
        }
        for (at, value, unique_value) in chosen {
            match unique_value {
                Some(cell) => state.unique_values.insert((id, at), cell),
                None => state.unique_values.remove(&(id, at)),
            };
            match value {
                Some(value) => state.constants.insert((id, at), value),
                None => state.constants.remove(&(id, at)),
            };
        }
    }

    /// Applies what a branch implies on the edge to a successor; returns false if that edge cannot be taken.
    pub(super) fn decide(&self, id: InstanceId, last: &Instruction, next: u32, state: &mut State) -> bool {
        match (&last.operation, &last.operands[..]) {
            (Operation::Branch, [condition, Operand::Block(yes), Operand::Block(no)]) if yes != no => {
                let taken = next == yes.0;
                if let Operand::Instruction(condition) = condition {
                    self.count(id, *condition, taken, state);
                }
                if let Some(value) = self.known(id, condition, state) {
                    // A known condition is zero or nonzero.
                    return (value != 0) == taken;
                }
                if let Operand::Instruction(condition) = condition {
                    self.learn(id, *condition, taken, state);
                }
                true
            }
            (Operation::Switch, [value, Operand::Block(default), cases @ ..]) => {
                let Some(value) = self.known(id, value, state) else { return true };
                let matching = cases.chunks_exact(2).find_map(|case| match case {
                    [Operand::Integer(case), Operand::Block(block)] if *case == value => Some(block.0),
                    _ => None,
                });
                matching.unwrap_or(default.0) == next
            }
            _ => true,
        }
    }

    /// Applies that a condition holds, or does not.
    fn learn(&self, id: InstanceId, condition: InstructionId, holds: bool, state: &mut State) {
        if self.can_know(id) {
            state.constants.insert((id, condition.0), bit(holds));
        }
        let code = self.points_to.code(id);
        if let Some((inner, is_same)) = inner_condition(code, condition) {
            self.learn(id, inner, holds == is_same, state);
        }
        let compare = code.instruction(condition);
        // Whether an exchange took place.
        if let (Operation::Extract(path), [Operand::Instruction(exchange)]) =
            (&compare.operation, &compare.operands[..])
            && path[..] == [1]
        {
            self.tried(id, exchange.0, holds, state);
        }
        let (Operation::Compare(predicate), [Operand::Instruction(value), Operand::Integer(constant)]) =
            (&compare.operation, &compare.operands[..])
        else {
            return;
        };
        let equal = match predicate {
            Predicate::Equal => holds,
            Predicate::NotEqual => !holds,
            _ => return,
        };
        if equal && self.can_know(id) {
            state.constants.insert((id, value.0), *constant);
        }
        if *constant != 0 && equal {
            self.failed(id, value.0, state);
        }
        if *constant == 0 {
            if !equal {
                self.failed(id, value.0, state);
            }
            // The old value is the first part of an exchange's result.
            let found = code.instruction(*value);
            match (&found.operation, &found.operands[..]) {
                (Operation::Extract(path), [Operand::Instruction(exchange)]) if path[..] == [0] => {
                    self.tried(id, exchange.0, equal, state);
                }
                _ => self.tried(id, value.0, equal, state),
            }
        }
    }

    /// Handles a nonzero result of a call: if it was to take a lock, it has not. Programs that check this continue
    /// without the lock.
    fn failed(&self, id: InstanceId, call: u32, state: &mut State) {
        let points_to = self.points_to;
        let instance = &points_to.instances[id];
        let instruction = &points_to.program.function(instance.function).0.instructions[call as usize];
        for name in instance.outside.get(&call).into_iter().flatten() {
            if let Some(Model::Lock(lock)) = points_to.models.of(name)
                && !lock.tries
                && let Some(operand) = instruction.operands.get(lock.lock + 1)
            {
                let addresses = points_to.operand(id, operand);
                state.taken.retain(|key| !may_be(points_to, &addresses, key));
                self.unlock(&linear(points_to, id, operand), &addresses, state);
            }
        }
        // A function of the program that passes such a result on, as those of `std::mutex` do.
        for &callee in instance.callees.get(&call).into_iter().flatten() {
            if self.may_return_failure(callee, &mut BTreeSet::new()) {
                let takes = |key: &LockId| match *key {
                    LockId::At(base, _) => {
                        self.summaries.takes(callee, &Some(base)) || self.summaries.takes(callee, &None)
                    }
                    LockId::Relative(_) => true,
                    LockId::Atomic | LockId::Flag(..) => false,
                };
                state.taken.retain(|key| !takes(key));
                state.lockset.retain(|held| !takes(&held.id));
                state.depths.forget(|base, at| takes(&LockId::At(base, at)));
            }
        }
    }

    /// Returns true if the result of a function may be that of a call that was to take a lock.
    fn may_return_failure(&self, id: InstanceId, seen: &mut BTreeSet<(InstanceId, u32)>) -> bool {
        let (points_to, instance) = (self.points_to, &self.points_to.instances[id]);
        let code = points_to.code(id);
        let locks = |at: u32| {
            let mut names = instance.outside.get(&at).into_iter().flatten();
            names.any(|name| matches!(points_to.models.of(name), Some(Model::Lock(_))))
        };
        let returns = code.instructions.iter().filter(|instruction| instruction.operation == Operation::Return);
        let mut work: Vec<&Operand> = returns.flat_map(|instruction| &instruction.operands).collect();
        while let Some(operand) = work.pop() {
            let &Operand::Instruction(value) = operand else { continue };
            if !seen.insert((id, value.0)) {
                continue;
            }
            let instruction = code.instruction(value);
            match instruction.operation {
                Operation::Call | Operation::Invoke { .. } => {
                    let mut callees = instance.callees.get(&value.0).into_iter().flatten();
                    if locks(value.0) || callees.any(|&callee| self.may_return_failure(callee, seen)) {
                        return true;
                    }
                }
                // What was stored there is not followed.
                Operation::Load { .. } => {
                    let mut calls = instance.callees.values().flatten();
                    let any = instance.outside.keys().any(|&at| locks(at));
                    if any || calls.any(|&callee| self.may_return_failure(callee, seen)) {
                        return true;
                    }
                }
                _ => work.extend(&instruction.operands),
            }
        }
        false
    }

    /// Returns true if it depends on a result whether a lock is held.
    pub(super) fn tries(&self, id: InstanceId, at: u32, state: &State) -> bool {
        state.lockset.iter().any(|held| held.if_zero == Some((id, at)))
    }

    /// Handles the result of a call that tried to take a lock: zero, or not.
    pub(super) fn tried(&self, id: InstanceId, call: u32, is_zero: bool, state: &mut State) {
        let tried: Vec<HeldLock> =
            state.lockset.iter().filter(|held| held.if_zero == Some((id, call))).cloned().collect();
        for held in tried {
            state.lockset.remove(&held);
            if is_zero {
                state.lockset.insert(HeldLock { if_zero: None, ..held });
            }
        }
    }
}

/// Returns the condition that another one is about, and whether it holds if the other one does: a negation, or a truth value
/// that was extended to a number and back.
fn inner_condition(code: &Function, condition: InstructionId) -> Option<(InstructionId, bool)> {
    let is_truth = |at: InstructionId| code.instruction(at).ty == Type::Integer(1);
    let extended = |at: InstructionId| match (&code.instruction(at).operation, &code.instruction(at).operands[..]) {
        (Operation::Cast(CastOperator::ZeroExtend), &[Operand::Instruction(inner)]) if is_truth(inner) => Some(inner),
        _ => None,
    };
    let outer = code.instruction(condition);
    match (&outer.operation, &outer.operands[..]) {
        (Operation::Freeze, &[Operand::Instruction(inner)]) if is_truth(inner) => Some((inner, true)),
        (Operation::Binary(BinaryOperator::Xor), &[Operand::Instruction(inner), Operand::Integer(mask)])
            if is_truth(inner) =>
        {
            Some((inner, mask & 1 == 0))
        }
        (Operation::Cast(CastOperator::Truncate), &[Operand::Instruction(number)]) => Some((extended(number)?, true)),
        (Operation::Compare(predicate), &[Operand::Instruction(number), Operand::Integer(0)]) => match predicate {
            Predicate::NotEqual => Some((extended(number)?, true)),
            Predicate::Equal => Some((extended(number)?, false)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a truth value in the form of the program's constants: sign-extended.
fn bit(holds: bool) -> i64 {
    -i64::from(holds)
}

/// Returns true if a number fits its type, in the form of the program's constants.
pub(super) fn fits(value: i64, ty: Type) -> bool {
    match ty {
        Type::Integer(1) => matches!(value, 0 | -1),
        Type::Integer(bits @ 2..=63) => (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(&value),
        Type::Integer(64) => true,
        _ => false,
    }
}

/// Compares numbers; unsigned ones only if their order is that of signed ones.
fn compare(predicate: Predicate, left: i64, right: i64) -> Option<bool> {
    let both_positive = left >= 0 && right >= 0;
    Some(match predicate {
        Predicate::Equal => left == right,
        Predicate::NotEqual => left != right,
        Predicate::Less => left < right,
        Predicate::LessEqual => left <= right,
        Predicate::Greater => left > right,
        Predicate::GreaterEqual => left >= right,
        Predicate::UnsignedLess if both_positive => left < right,
        Predicate::UnsignedLessEqual if both_positive => left <= right,
        Predicate::UnsignedGreater if both_positive => left > right,
        Predicate::UnsignedGreaterEqual if both_positive => left >= right,
        _ => return None,
    })
}

/// Computes with numbers, if that cannot overflow.
fn compute(operator: BinaryOperator, left: i64, right: i64) -> Option<i64> {
    match operator {
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Subtract => left.checked_sub(right),
        BinaryOperator::Multiply => left.checked_mul(right),
        BinaryOperator::And => Some(left & right),
        BinaryOperator::Or => Some(left | right),
        BinaryOperator::Xor => Some(left ^ right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_into_their_types() {
        assert!(fits(127, Type::Integer(8)) && fits(-128, Type::Integer(8)));
        assert!(
            !fits(128, Type::Integer(8))
                && !fits(1, Type::Integer(1))
                && fits(bit(true), Type::Integer(1))
                && !fits(0, Type::Pointer)
        );
    }

    #[test]
    fn unsigned_order_is_known_for_positive_numbers_only() {
        assert_eq!(compare(Predicate::UnsignedLess, 1, 2), Some(true));
        assert_eq!(compare(Predicate::UnsignedLess, 1, -2), None);
        assert_eq!(compare(Predicate::Less, 1, -2), Some(false));
    }
}
