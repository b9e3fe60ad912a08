//! Loops with two entries.

use super::{INTEGER, Lowering, Operand, Operation, Predicate, Type, block};
use crate::source::Statement;
use racehunter_ir::BinaryOperator;

impl Lowering {
    /// Writes a loop with two entries, chosen by an input: at its start, or in its middle.
    pub(super) fn tangle(&mut self, register: usize, times: i64, one: &[Statement], other: &[Statement]) {
        self.registers.numbers[register] = Operand::Integer(0);
        let input = self.call("__VERIFIER_nondet_long", INTEGER, Vec::new());
        let is_middle =
            self.put(Operation::Compare(Predicate::Equal), Type::Integer(1), vec![input, Operand::Integer(0)]);
        let (top, middle, after, from) = (self.label(), self.label(), self.label(), self.here());
        self.put(Operation::Branch, Type::Void, vec![is_middle, block(middle), block(top)]);
        let before = self.registers.clone();
        self.begin(top);
        let first = self.phis(&before, from);
        let counter = self.registers.numbers[register].clone();
        self.body(one);
        // Whatever the body does with the register, the loop terminates.
        self.registers.numbers[register] = counter;
        let half = (self.registers.clone(), self.here());
        self.jump(middle);
        self.begin(middle);
        let second = self.phis(&before, from);
        self.more_ways(second, &half.0, half.1);
        let counter = self.registers.numbers[register].clone();
        self.body(other);
        let next = self.put(Operation::Binary(BinaryOperator::Add), INTEGER, vec![counter, Operand::Integer(1)]);
        self.registers.numbers[register] = next.clone();
        let below = vec![next, Operand::Integer(times)];
        let below = self.put(Operation::Compare(Predicate::Less), Type::Integer(1), below);
        let back = (self.registers.clone(), self.here());
        self.put(Operation::Branch, Type::Void, vec![below, block(top), block(after)]);
        self.more_ways(first, &back.0, back.1);
        self.begin(after);
    }
}
