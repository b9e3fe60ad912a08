//! Strided intervals: numbers between two bounds, at a fixed distance from each other, with arithmetic, comparisons and
//! widening.
//!
//! Numbers are represented like the program's constants: with a width in bits, sign-extended to 64. A result that may
//! exceed its type may be any number of the type, so nothing depends on whether it wraps around.

use super::congruence::{Congruence, gcd};
use super::lattice::Lattice;
use racehunter_ir::{BinaryOperator, Predicate};

/// The numbers from `low` to `high` that differ from `low` by a multiple of `stride`; with stride 0 there is only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    low: i64,
    high: i64,
    stride: u64,
}

impl Interval {
    /// Returns an interval with one number.
    pub const fn exact(value: i64) -> Self {
        Self { low: value, high: value, stride: 0 }
    }

    /// Returns all numbers of `bits` bits.
    pub const fn all(bits: u32) -> Self {
        let shift = if bits == 0 || bits > 64 { 0 } else { 64 - bits };
        Self { low: i64::MIN >> shift, high: i64::MAX >> shift, stride: 1 }
    }

    /// Returns the numbers between two bounds, both included; all numbers if these exceed `bits` bits.
    fn new(low: i128, high: i128, stride: u64, bits: u32) -> Self {
        let all = Self::all(bits);
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) if all.low <= low && high <= all.high => Self::between(low, high, stride),
            _ => all,
        }
    }

    fn between(low: i64, high: i64, stride: u64) -> Self {
        let stride = stride.max(1);
        let high = high.wrapping_sub_unsigned(low.abs_diff(high) % stride);
        Self { low, high, stride: if low == high { 0 } else { stride } }
    }

    /// Returns the lower bound.
    pub const fn low(self) -> i64 {
        self.low
    }

    /// Returns the upper bound.
    pub const fn high(self) -> i64 {
        self.high
    }

    /// Returns the number, if there is only one.
    pub fn only(self) -> Option<i64> {
        (self.stride == 0).then_some(self.low)
    }

    /// Returns true if all of them fit into `bits` bits.
    pub fn fits(self, bits: u32) -> bool {
        let all = Self::all(bits);
        all.low <= self.low && self.high <= all.high
    }

    /// Returns an interval that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let stride = gcd(gcd(self.stride, other.stride), self.low.abs_diff(other.low));
        Self::between(self.low.min(other.low), self.high.max(other.high), stride)
    }

    /// Returns the numbers between two bounds, if there are any.
    pub fn within(self, low: i128, high: i128) -> Option<Self> {
        let stride = i128::from(self.stride.max(1));
        let first = i128::from(self.low);
        let low = if low <= first { first } else { first + (low - first + stride - 1) / stride * stride };
        let high = high.min(i128::from(self.high));
        (low <= high).then(|| Self::new(low, high, self.stride, 64))
    }

    /// Returns a widened union: a bound that still moves jumps to the next threshold; thresholds are sorted.
    #[must_use]
    pub fn widen(self, other: Self, thresholds: &[i64], bits: u32) -> Self {
        let union = self.union(other);
        let all = Self::all(bits);
        let low = if union.low < self.low {
            thresholds.iter().rev().copied().find(|&bound| bound <= union.low).unwrap_or(all.low).max(all.low)
        } else {
            union.low
        };
        let high = if union.high > self.high {
            thresholds.iter().copied().find(|&bound| bound >= union.high).unwrap_or(all.high).min(all.high)
        } else {
            union.high
        };
        // The numbers keep their distance, counted from one of them.
        let below = union.low.abs_diff(low) % union.stride.max(1);
        let low = if below == 0 { low } else { low.checked_add_unsigned(below).unwrap_or(all.low) };
        Self::between(low.min(union.low), high.max(union.high), union.stride)
    }

    /// Returns the result of an operator on two numbers of `bits` bits.
    #[must_use]
    pub fn compute(self, operator: BinaryOperator, other: Self, bits: u32) -> Self {
        let all = Self::all(bits);
        if !(self.fits(bits) && other.fits(bits)) {
            return all;
        }
        match operator {
            BinaryOperator::Add => self.plus(other, bits),
            BinaryOperator::Subtract => self.minus(other, bits),
            BinaryOperator::Multiply => self.times(other, bits),
            BinaryOperator::Divide => self.divided_by(other, bits),
            BinaryOperator::UnsignedDivide if self.low >= 0 && other.low >= 0 => self.divided_by(other, bits),
            BinaryOperator::UnsignedDivide if other.low >= 2 && bits < 64 => {
                Self::new(0, ((1_i128 << bits) - 1) / i128::from(other.low), 1, bits)
            }
            BinaryOperator::Remainder => self.remainder(other, bits),
            BinaryOperator::UnsignedRemainder if self.low >= 0 && other.low >= 0 => self.remainder(other, bits),
            BinaryOperator::UnsignedRemainder if other.low >= 1 => Self::new(0, i128::from(other.high) - 1, 1, bits),
            BinaryOperator::ShiftLeft => match other.shift(bits) {
                Some(shift) if shift < 63 => self.times(Self::exact(1 << shift), 64).kept(bits),
                _ => all,
            },
            BinaryOperator::ShiftRight => match other.shift(bits) {
                Some(shift) => Self::between(self.low >> shift, self.high >> shift, 1),
                None => all,
            },
            BinaryOperator::UnsignedShiftRight => match other.shift(bits) {
                Some(0) => self,
                Some(shift) if self.low >= 0 => Self::between(self.low >> shift, self.high >> shift, 1),
                Some(shift) => Self::new(0, (1_i128 << (bits - shift)) - 1, 1, bits),
                None => all,
            },
            BinaryOperator::And => match (self.only(), other.only()) {
                (Some(one), Some(two)) => Self::exact(one & two),
                _ if self.low >= 0 && other.low >= 0 => Self::between(0, self.high.min(other.high), 1),
                _ if self.low >= 0 => Self::between(0, self.high, 1),
                _ if other.low >= 0 => Self::between(0, other.high, 1),
                _ => all,
            },
            BinaryOperator::Or | BinaryOperator::Xor => match (self.only(), other.only()) {
                (Some(one), Some(two)) if operator == BinaryOperator::Or => Self::exact(one | two),
                (Some(one), Some(two)) => Self::exact(one ^ two),
                _ if self.low >= 0 && other.low >= 0 => {
                    // The result has no bit above the highest one of both.
                    let bits = 64 - (self.high | other.high).leading_zeros();
                    Self::between(0, if bits >= 63 { i64::MAX } else { (1 << bits) - 1 }, 1)
                }
                _ => all,
            },
            BinaryOperator::UnsignedDivide | BinaryOperator::UnsignedRemainder | BinaryOperator::Float => all,
        }
    }

    /// Returns all of them if they fit into `bits` bits, and otherwise all numbers of that width.
    fn kept(self, bits: u32) -> Self {
        if self.fits(bits) { self } else { Self::all(bits) }
    }

    /// Returns the one shift distance, if it is less than the number of bits.
    fn shift(self, bits: u32) -> Option<u32> {
        self.only().and_then(|shift| u32::try_from(shift).ok()).filter(|&shift| shift < bits)
    }

    fn plus(self, other: Self, bits: u32) -> Self {
        let low = i128::from(self.low) + i128::from(other.low);
        let high = i128::from(self.high) + i128::from(other.high);
        Self::new(low, high, gcd(self.stride, other.stride), bits)
    }

    fn minus(self, other: Self, bits: u32) -> Self {
        let low = i128::from(self.low) - i128::from(other.high);
        let high = i128::from(self.high) - i128::from(other.low);
        Self::new(low, high, gcd(self.stride, other.stride), bits)
    }

    fn times(self, other: Self, bits: u32) -> Self {
        let corners =
            [self.low, self.high].map(|one| [other.low, other.high].map(|two| i128::from(one) * i128::from(two)));
        let corners = corners.concat();
        let (Some(&low), Some(&high)) = (corners.iter().min(), corners.iter().max()) else { return Self::all(bits) };
        let product = |number: u64, stride: u64| number.checked_mul(stride);
        let strides = [
            product(self.low.unsigned_abs(), other.stride),
            product(other.low.unsigned_abs(), self.stride),
            product(self.stride, other.stride),
        ];
        let stride = strides.into_iter().try_fold(0, |all, next| next.map(|next| gcd(all, next))).unwrap_or(1);
        Self::new(low, high, stride, bits)
    }

    fn divided_by(self, other: Self, bits: u32) -> Self {
        // A division by zero does not happen; on either side of zero, quotients are monotone.
        let divisors =
            [other.low, other.high, -1, 1].into_iter().filter(|&by| by != 0 && other.low <= by && by <= other.high);
        let quotients = divisors.flat_map(|by| [self.low, self.high].map(|number| i128::from(number) / i128::from(by)));
        let quotients: Vec<i128> = quotients.collect();
        match (quotients.iter().min(), quotients.iter().max()) {
            (Some(&low), Some(&high)) => Self::new(low, high, 1, bits),
            _ => Self::all(bits),
        }
    }

    fn remainder(self, by: Self, bits: u32) -> Self {
        let most = i128::from(by.low).abs().max(i128::from(by.high).abs()) - 1;
        if most < 0 {
            return Self::all(bits);
        }
        if self.low >= 0 && by.low > self.high {
            return self;
        }
        let low = if self.low >= 0 { 0 } else { i128::from(self.low).max(-most) };
        let high = if self.high <= 0 { 0 } else { i128::from(self.high).min(most) };
        Self::new(low, high, 1, bits)
    }

    /// Returns the numbers zero-extended to more bits.
    #[must_use]
    pub fn zero_extended(self, from: u32, to: u32) -> Self {
        if self.low >= 0 {
            return self;
        }
        let wrap = 1_i128 << from.min(64);
        match self.only() {
            Some(value) => Self::new(i128::from(value) + wrap, i128::from(value) + wrap, 0, to),
            None => Self::new(0, wrap - 1, 1, to),
        }
    }

    /// Returns those for which a comparison with one of the others can hold, if there are any.
    pub fn if_compared(self, predicate: Predicate, other: Self) -> Option<Self> {
        let (low, high) = (i128::from(other.low), i128::from(other.high));
        let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
        // A number that is below a nonnegative one in an unsigned comparison is not negative.
        match predicate {
            Predicate::Equal => {
                let common = self.within(low, high)?;
                other.within(i128::from(common.low), i128::from(common.high))?;
                let (one, two) =
                    (Congruence::strided(self.low, self.stride), Congruence::strided(other.low, other.stride));
                one.overlaps(1, two, 1).then_some(common)
            }
            Predicate::NotEqual => match other.only() {
                Some(value) if value == self.low => self.within(low + 1, most),
                Some(value) if value == self.high => self.within(least, high - 1),
                _ => Some(self),
            },
            Predicate::Less => self.within(least, high - 1),
            Predicate::LessEqual => self.within(least, high),
            Predicate::Greater => self.within(low + 1, most),
            Predicate::GreaterEqual => self.within(low, most),
            Predicate::UnsignedLess if other.low >= 0 => self.within(0, high - 1),
            Predicate::UnsignedLessEqual if other.low >= 0 => self.within(0, high),
            Predicate::UnsignedGreater if other.low >= 0 && self.low >= 0 => self.within(low + 1, most),
            Predicate::UnsignedGreaterEqual if other.low >= 0 && self.low >= 0 => self.within(low, most),
            _ => Some(self),
        }
    }

    /// Returns true if ranges of this number of bytes at these offsets are disjoint.
    pub fn is_apart(self, bytes: u64, other: Self, other_bytes: u64) -> bool {
        let end = |interval: Self, bytes: u64| i128::from(interval.high) + i128::from(bytes);
        i128::from(other.low) >= end(self, bytes)
            || i128::from(self.low) >= end(other, other_bytes)
            || !Congruence::strided(self.low, self.stride).overlaps(
                bytes,
                Congruence::strided(other.low, other.stride),
                other_bytes,
            )
    }
}

impl Lattice for Interval {
    fn join(&mut self, other: &Self) -> bool {
        let both = self.union(*other);
        std::mem::replace(self, both) != both
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use proptest::prelude::*;

    const BITS: u32 = 3;

    type Relation = fn(i64, i64) -> bool;

    fn members(interval: Interval) -> Vec<i64> {
        let step = interval.stride.max(1) as usize;
        (i128::from(interval.low)..=i128::from(interval.high)).step_by(step).map(|number| number as i64).collect()
    }

    fn has(interval: Interval, number: i64) -> bool {
        interval.within(i128::from(number), i128::from(number)).is_some()
    }

    /// Returns all 3-bit intervals.
    fn samples() -> Vec<Interval> {
        let mut all = Vec::new();
        for low in -4..4 {
            all.push(Interval::exact(low));
            for high in low + 1..4 {
                all.extend([1, 2, 3].map(|stride| Interval::between(low, high, stride)));
            }
        }
        all
    }

    fn wrap(number: i64, bits: u32) -> i64 {
        number << (64 - bits) >> (64 - bits)
    }

    fn unsigned(number: i64, bits: u32) -> i64 {
        number & ((1 << bits) - 1)
    }

    /// Returns what the program computes; nothing if the operation is undefined.
    fn truth(operator: BinaryOperator, a: i64, b: i64) -> Option<i64> {
        let (ua, ub) = (unsigned(a, BITS), unsigned(b, BITS));
        let shift = u32::try_from(b).ok().filter(|&shift| shift < BITS);
        let result = match operator {
            BinaryOperator::Add => a + b,
            BinaryOperator::Subtract => a - b,
            BinaryOperator::Multiply => a * b,
            BinaryOperator::Divide => a.checked_div(b)?,
            BinaryOperator::UnsignedDivide => ua.checked_div(ub)?,
            BinaryOperator::Remainder => a.checked_rem(b)?,
            BinaryOperator::UnsignedRemainder => ua.checked_rem(ub)?,
            BinaryOperator::ShiftLeft => a << shift?,
            BinaryOperator::ShiftRight => a >> shift?,
            BinaryOperator::UnsignedShiftRight => ua >> shift?,
            BinaryOperator::And => a & b,
            BinaryOperator::Or => a | b,
            BinaryOperator::Xor => a ^ b,
            BinaryOperator::Float => return None,
        };
        Some(wrap(result, BITS))
    }

    const OPERATORS: [BinaryOperator; 13] = [
        BinaryOperator::Add,
        BinaryOperator::Subtract,
        BinaryOperator::Multiply,
        BinaryOperator::Divide,
        BinaryOperator::UnsignedDivide,
        BinaryOperator::Remainder,
        BinaryOperator::UnsignedRemainder,
        BinaryOperator::ShiftLeft,
        BinaryOperator::ShiftRight,
        BinaryOperator::UnsignedShiftRight,
        BinaryOperator::And,
        BinaryOperator::Or,
        BinaryOperator::Xor,
    ];

    #[test]
    fn results_have_all_that_can_be_computed() {
        for operator in OPERATORS {
            for one in samples() {
                for two in samples() {
                    let result = one.compute(operator, two, BITS);
                    assert!(result.fits(BITS));
                    for a in members(one) {
                        for b in members(two) {
                            let Some(expected) = truth(operator, a, b) else { continue };
                            assert!(has(result, expected), "{one:?} {operator:?} {two:?}: {a} {b} {result:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sums_and_products_that_fit_are_exact_at_their_ends() {
        let one = Interval::between(0, 9, 3);
        let two = one.compute(BinaryOperator::Multiply, Interval::exact(8), 32);
        assert_eq!(two, Interval::between(0, 72, 24));
        assert_eq!(two.compute(BinaryOperator::Add, Interval::exact(4), 32), Interval::between(4, 76, 24));
        assert_eq!(Interval::all(64).compute(BinaryOperator::Add, Interval::exact(1), 64), Interval::all(64));
    }

    #[test]
    fn conversions_have_all_that_can_come_of_them() {
        for one in samples() {
            for number in members(one) {
                assert!(has(one.zero_extended(BITS, 8), unsigned(number, BITS)), "{one:?} {number}");
                assert!(has(one.kept(2), wrap(number, 2)), "{one:?} {number}");
            }
        }
    }

    #[test]
    fn comparisons_leave_all_for_which_they_can_hold() {
        let predicates: [(Predicate, Relation); 10] = [
            (Predicate::Equal, |a, b| a == b),
            (Predicate::NotEqual, |a, b| a != b),
            (Predicate::Less, |a, b| a < b),
            (Predicate::LessEqual, |a, b| a <= b),
            (Predicate::Greater, |a, b| a > b),
            (Predicate::GreaterEqual, |a, b| a >= b),
            (Predicate::UnsignedLess, |a, b| unsigned(a, BITS) < unsigned(b, BITS)),
            (Predicate::UnsignedLessEqual, |a, b| unsigned(a, BITS) <= unsigned(b, BITS)),
            (Predicate::UnsignedGreater, |a, b| unsigned(a, BITS) > unsigned(b, BITS)),
            (Predicate::UnsignedGreaterEqual, |a, b| unsigned(a, BITS) >= unsigned(b, BITS)),
        ];
        for (predicate, holds) in predicates {
            for one in samples() {
                for two in samples() {
                    let left = one.if_compared(predicate, two);
                    for a in members(one) {
                        if members(two).into_iter().any(|b| holds(a, b)) {
                            assert!(
                                left.is_some_and(|left| has(left, a)),
                                "{one:?} {predicate:?} {two:?}: {a} {left:?}"
                            );
                        }
                    }
                    assert!(left.is_none_or(|left| members(left).into_iter().all(|a| has(one, a))));
                }
            }
        }
    }

    #[test]
    fn unions_have_both_and_widening_comes_to_an_end() {
        let thresholds = [-2, 0, 2];
        for one in samples() {
            for two in samples() {
                let (union, wide) = (one.union(two), one.widen(two, &thresholds, BITS));
                for number in members(one).into_iter().chain(members(two)) {
                    assert!(has(union, number) && has(wide, number), "{one:?} {two:?} {union:?} {wide:?}");
                }
                assert!(wide.fits(BITS), "{one:?} {two:?} {wide:?}");
            }
        }
        let mut counter = Interval::exact(0);
        for rounds in 0.. {
            let next = counter.compute(BinaryOperator::Add, Interval::exact(1), 32);
            let wide = counter.widen(next, &thresholds, 32);
            if wide == counter {
                break;
            }
            counter = wide;
            assert!(rounds < 10, "{counter:?}");
        }
    }

    #[test]
    fn ranges_are_apart_only_if_no_byte_is_in_both() {
        for one in samples() {
            for two in samples() {
                for (bytes, others) in [(1, 1), (1, 2), (2, 1), (3, 2)] {
                    let meets = |a: i64, b: i64| a < b + others as i64 && b < a + bytes as i64;
                    let met = members(one).into_iter().any(|a| members(two).into_iter().any(|b| meets(a, b)));
                    assert!(!(met && one.is_apart(bytes, two, others)), "{one:?} {bytes} {two:?} {others}");
                }
            }
        }
        assert!(Interval::between(0, 400, 8).is_apart(4, Interval::between(4, 404, 8), 4));
    }

    fn intervals() -> impl Strategy<Value = Interval> {
        (-40..40_i64, 0..40_i64, 0..7_u64).prop_map(|(low, more, stride)| Interval::between(low, low + more, stride))
    }

    #[test]
    fn intervals_are_a_lattice() {
        check(intervals());
    }

    proptest! {
        /// Whatever is added in turn, widening changes an interval only a few times: each bound stops at every
        /// threshold once, and the stride is replaced by a divisor.
        #[test]
        fn widening_terminates(more in proptest::collection::vec(intervals(), 1..200)) {
            let thresholds = [-16, 0, 16];
            let mut known = more[0];
            let mut changes = 0;
            for next in more {
                let wide = known.widen(next, &thresholds, 8);
                prop_assert!(wide.includes(&known) && wide.includes(&next));
                changes += u32::from(wide != known);
                known = wide;
            }
            prop_assert!(changes <= 2 * (thresholds.len() as u32 + 1) + 4, "{changes}");
        }
    }
}
