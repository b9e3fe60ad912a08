//! Exchanges of a variable that is a lock.

use super::{INTEGER, Lowering, symbol_of};
use crate::source::{Object, Test};
use racehunter_ir::{BinaryOperator, CastOperator, Operand, Operation, Order, Predicate, Type, UpdateOperator};

impl Lowering {
    /// Writes an exchange of the flag; returns two values that are equal if it has found zero.
    pub(super) fn exchange(&mut self, order: Order, value: i64, test: Test) -> (Operand, Operand) {
        let flag = Operand::Symbol(symbol_of(Object::Flag), 0);
        let (no, yes) = (Operand::Integer(0), Operand::Integer(-1));
        let bit = Type::Integer(1);
        let negated = |lowering: &mut Self, truth: Operand| {
            lowering.put(Operation::Binary(BinaryOperator::Xor), bit, vec![truth, yes.clone()])
        };
        if matches!(test, Test::Swapped | Test::NotSwapped) {
            let operation =
                Operation::CompareExchange { bytes: 8, success: order, failure: Order::Relaxed, weak: false };
            let pair = self.put(operation, Type::Aggregate(16), vec![flag, no.clone(), Operand::Integer(value)]);
            let is_done = self.put(Operation::Extract(vec![1]), bit, vec![pair]);
            return match test {
                Test::NotSwapped => (negated(self, is_done), no),
                _ => (is_done, yes),
            };
        }
        let operation = Operation::Update { operator: UpdateOperator::Exchange, bytes: 8, order };
        let found = self.put(operation, INTEGER, vec![flag, Operand::Integer(value)]);
        let truth =
            |lowering: &mut Self| lowering.put(Operation::Cast(CastOperator::Truncate), bit, vec![found.clone()]);
        match test {
            Test::Truth => (truth(self), no),
            Test::Inverted => {
                let truth = truth(self);
                (negated(self, truth), yes)
            }
            Test::Extended => {
                let truth = truth(self);
                (self.put(Operation::Cast(CastOperator::ZeroExtend), INTEGER, vec![truth]), no)
            }
            _ => (found, no),
        }
    }

    /// Returns two values that are equal if a number is zero: it may pass through truth values in several ways.
    pub(super) fn tested(&mut self, number: Operand, test: Test) -> (Operand, Operand) {
        let bit = Type::Integer(1);
        let (no, yes) = (Operand::Integer(0), Operand::Integer(-1));
        let is_zero = self.put(Operation::Compare(Predicate::Equal), bit, vec![number.clone(), no.clone()]);
        let extended = |lowering: &mut Self| {
            lowering.put(Operation::Cast(CastOperator::ZeroExtend), INTEGER, vec![is_zero.clone()])
        };
        let negated = |lowering: &mut Self, truth: Operand| {
            lowering.put(Operation::Binary(BinaryOperator::Xor), bit, vec![truth, yes.clone()])
        };
        match test {
            Test::Zero => (number, no),
            Test::Truth => (is_zero, yes),
            Test::Inverted => (negated(self, is_zero.clone()), no),
            Test::Extended => {
                let extended = extended(self);
                let is_not = self.put(Operation::Compare(Predicate::Equal), bit, vec![extended, no.clone()]);
                (is_not, no)
            }
            Test::Swapped => {
                let extended = extended(self);
                (self.put(Operation::Cast(CastOperator::Truncate), bit, vec![extended]), yes)
            }
            Test::NotSwapped => {
                let extended = extended(self);
                let truth = self.put(Operation::Cast(CastOperator::Truncate), bit, vec![extended]);
                (negated(self, truth), no)
            }
        }
    }
}
