//! Affine numbers: a multiple of a thread's number in its group, plus an interval.
//!
//! `for (i = id * 100; i < (id + 1) * 100; i++)` has `i` in `100 * id + [0, 99]`, which is a different range for each
//! `id`.

use super::interval::Interval;
use racehunter_ir::{BinaryOperator, Predicate};

/// `times` the thread's number, plus one of `rest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The factor of the thread's number.
    pub times: i64,
    /// The interval that is added.
    pub rest: Interval,
}

impl Affine {
    /// Returns one number.
    pub const fn exact(value: i64) -> Self {
        Self::of(Interval::exact(value))
    }

    /// Returns a number that does not depend on the thread.
    pub const fn of(rest: Interval) -> Self {
        Self { times: 0, rest }
    }

    /// Any number of `bits` bits.
    pub const fn any(bits: u32) -> Self {
        Self::of(Interval::all(bits))
    }

    /// The thread's number itself.
    pub const OWN: Self = Self { times: 1, rest: Interval::exact(0) };

    /// Returns all possible values if the thread's number is one of `span`; any 64-bit number if they do not fit.
    pub fn flat(self, span: Interval) -> Interval {
        if self.times == 0 {
            return self.rest;
        }
        let own = span.compute(BinaryOperator::Multiply, Interval::exact(self.times), 64);
        if own == Interval::all(64) || self.rest == Interval::all(64) {
            return Interval::all(64);
        }
        own.compute(BinaryOperator::Add, self.rest, 64)
    }

    /// Returns the number if it definitely fits into this many bits, and otherwise any number of them.
    fn kept(self, span: Interval, bits: u32) -> Self {
        let flat = self.flat(span);
        if flat == Interval::all(64) || !flat.fits(bits) { Self::any(bits) } else { self }
    }

    /// Returns a number that is one or the other.
    #[must_use]
    pub fn union(self, other: Self, span: Interval) -> Self {
        if self.times == other.times {
            return Self { times: self.times, rest: self.rest.union(other.rest) };
        }
        Self::of(self.flat(span).union(other.flat(span)))
    }

    /// Returns a widened union.
    #[must_use]
    pub fn widen(self, other: Self, span: Interval, thresholds: &[i64], bits: u32) -> Self {
        if self.times == other.times {
            let rest = self.rest.widen(other.rest, thresholds, bits);
            return Self { times: self.times, rest }.kept(span, bits);
        }
        Self::of(self.flat(span).widen(other.flat(span), thresholds, bits))
    }

    /// Returns the result of an operator on two numbers of `bits` bits.
    #[must_use]
    pub fn compute(self, operator: BinaryOperator, other: Self, span: Interval, bits: u32) -> Self {
        if self.times == 0 && other.times == 0 {
            return Self::of(self.rest.compute(operator, other.rest, bits));
        }
        let constant = |number: Self| number.rest.only().filter(|_| number.times == 0);
        let scaled = |number: Self, by: i64| {
            let rest = number.rest.compute(BinaryOperator::Multiply, Interval::exact(by), 64);
            number.times.checked_mul(by).map(|times| Self { times, rest })
        };
        let sum = match operator {
            BinaryOperator::Add => self.times.checked_add(other.times),
            BinaryOperator::Subtract => self.times.checked_sub(other.times),
            _ => None,
        };
        let exact = match (operator, sum) {
            (_, Some(times)) => Some(Self { times, rest: self.rest.compute(operator, other.rest, 64) }),
            (BinaryOperator::Multiply, _) => match (constant(self), constant(other)) {
                (_, Some(by)) => scaled(self, by),
                (Some(by), None) => scaled(other, by),
                _ => None,
            },
            (BinaryOperator::ShiftLeft, _) => match constant(other) {
                Some(shift @ 0..62) => scaled(self, 1 << shift),
                _ => None,
            },
            (BinaryOperator::Divide | BinaryOperator::UnsignedDivide, _) => {
                constant(other).and_then(|by| self.divided(by, span))
            }
            _ => None,
        };
        match exact {
            Some(exact) => exact.kept(span, bits),
            None => Self::of(self.flat(span).compute(operator, other.flat(span), bits)),
        }
    }

    /// Returns the quotient by a constant that divides the factor, if rounding drops the same from all numbers: nothing is
    /// negative, so it rounds down, and a multiple of the divisor does not change what is dropped.
    fn divided(self, by: i64, span: Interval) -> Option<Self> {
        let is_even = by > 0 && self.times % by == 0 && self.rest.low() >= 0 && self.flat(span).low() >= 0;
        let rest = || self.rest.compute(BinaryOperator::Divide, Interval::exact(by), 64);
        is_even.then(|| Self { times: self.times / by, rest: rest() })
    }

    /// Returns the number zero-extended to more bits.
    #[must_use]
    pub fn zero_extended(self, span: Interval, from: u32, to: u32) -> Self {
        let flat = self.flat(span);
        if flat.low() >= 0 { self } else { Self::of(flat.zero_extended(from, to)) }
    }

    /// Returns the number truncated to fewer bits.
    #[must_use]
    pub fn truncated(self, span: Interval, to: u32) -> Self {
        self.kept(span, to)
    }

    /// Returns what it can be if a comparison with another number holds; nothing if it cannot hold.
    pub fn if_compared(self, predicate: Predicate, other: Self, span: Interval) -> Option<Self> {
        if self.times == 0 {
            return self.rest.if_compared(predicate, other.flat(span)).map(Self::of);
        }
        let (own, others) = (self.flat(span), other.flat(span));
        own.if_compared(predicate, others)?;
        // If nothing is negative, signed and unsigned comparisons agree.
        let is_plain = own.low() >= 0 && others.low() >= 0;
        let predicate = match predicate {
            Predicate::UnsignedLess if is_plain => Predicate::Less,
            Predicate::UnsignedLessEqual if is_plain => Predicate::LessEqual,
            Predicate::UnsignedGreater if is_plain => Predicate::Greater,
            Predicate::UnsignedGreaterEqual if is_plain => Predicate::GreaterEqual,
            Predicate::UnsignedLess
            | Predicate::UnsignedLessEqual
            | Predicate::UnsignedGreater
            | Predicate::UnsignedGreaterEqual => return Some(self),
            signed => signed,
        };
        if self.times != other.times {
            return Some(self);
        }
        // The number of the thread is the same on both sides.
        let rest = self.rest.if_compared(predicate, other.rest)?;
        Some(Self { rest, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::Lattice;
    use crate::domain::lattice::laws::check;
    use proptest::prelude::*;

    const BITS: u32 = 5;

    fn samples() -> Vec<Affine> {
        let mut all = Vec::new();
        for times in [-2, -1, 0, 1, 2, 3] {
            for low in [-3, 0, 2] {
                for high in [low, low + 1, low + 4] {
                    all.push(Affine { times, rest: Interval::exact(low).union(Interval::exact(high)) });
                }
            }
        }
        all
    }

    fn has(number: Affine, own: i64, value: i64) -> bool {
        let rest = i128::from(value) - i128::from(number.times) * i128::from(own);
        number.rest.within(rest, rest).is_some()
    }

    fn wrap(number: i64) -> i64 {
        number << (64 - BITS) >> (64 - BITS)
    }

    /// Calls with the number of the thread, and a number of each that goes with it and is of the type.
    fn each(one: Affine, two: Affine, mut check: impl FnMut(i64, i64, i64)) {
        for own in 0..4 {
            let of = |number: Affine| (-16..16).filter(move |&value| has(number, own, value));
            for a in of(one) {
                of(two).for_each(|b| check(own, a, b));
            }
        }
    }

    fn span() -> Interval {
        Interval::exact(0).union(Interval::exact(1)).union(Interval::exact(3))
    }

    #[test]
    fn results_have_all_that_can_be_computed() {
        for one in samples() {
            for two in samples() {
                for operator in [
                    BinaryOperator::Add,
                    BinaryOperator::Subtract,
                    BinaryOperator::Multiply,
                    BinaryOperator::Divide,
                    BinaryOperator::UnsignedDivide,
                ] {
                    let result = one.compute(operator, two, span(), BITS);
                    each(one, two, |own, a, b| {
                        let unsigned = |value: i64| value & ((1 << BITS) - 1);
                        let is_division = !matches!(
                            operator,
                            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply
                        );
                        if is_division && b == 0 {
                            return;
                        }
                        let expected = wrap(match operator {
                            BinaryOperator::Add => a + b,
                            BinaryOperator::Subtract => a - b,
                            BinaryOperator::Multiply => a * b,
                            BinaryOperator::Divide => a / b,
                            _ => unsigned(a) / unsigned(b),
                        });
                        assert!(has(result, own, expected), "{own}: {one:?} {operator:?} {two:?}: {a} {b} {result:?}");
                    });
                }
                let union = one.union(two, span());
                let wide = one.widen(two, span(), &[-4, 4], BITS);
                each(one, two, |own, a, b| {
                    assert!(has(union, own, a) && has(union, own, b), "{one:?} {two:?} {union:?}");
                    assert!(has(wide, own, a) && has(wide, own, b), "{one:?} {two:?} {wide:?}");
                });
            }
        }
    }

    #[test]
    fn comparisons_leave_all_for_which_they_can_hold() {
        let unsigned = |value: i64| value & ((1 << BITS) - 1);
        for one in samples() {
            for two in samples() {
                let left = |predicate| one.if_compared(predicate, two, span());
                let (less, equal, below) =
                    (left(Predicate::Less), left(Predicate::Equal), left(Predicate::UnsignedLess));
                each(one, two, |own, a, b| {
                    let keeps = |left: Option<Affine>| left.is_some_and(|left| has(left, own, a));
                    assert!(a >= b || keeps(less), "{own}: {one:?} {two:?} {a} {b} {less:?}");
                    assert!(a != b || keeps(equal), "{own}: {one:?} {two:?} {a} {b} {equal:?}");
                    assert!(unsigned(a) >= unsigned(b) || keeps(below), "{own}: {one:?} {two:?} {a} {b} {below:?}");
                });
            }
        }
    }

    #[test]
    fn a_share_of_an_array_has_a_range_of_its_own() {
        let span = Interval::exact(0).union(Interval::exact(1)).union(Interval::exact(7));
        let begin = Affine::OWN.compute(BinaryOperator::Multiply, Affine::exact(100), span, 32);
        let end = begin.compute(BinaryOperator::Add, Affine::exact(100), span, 32);
        let inside = begin.widen(Affine { rest: Interval::exact(1), ..begin }, span, &[], 32);
        assert_eq!(inside, Affine::any(32));
        let inside = begin.widen(Affine { rest: Interval::exact(1), ..begin }, span, &[1000], 32);
        let inside = inside.if_compared(Predicate::Less, end, span).unwrap();
        assert_eq!((inside.times, inside.rest.low(), inside.rest.high()), (100, 0, 99));
    }

    #[test]
    fn a_share_by_division_keeps_the_number_of_its_thread() {
        let divided = |times: i64, rest: i64, by: i64| {
            let number = Affine { times, rest: Interval::exact(rest) };
            number.compute(BinaryOperator::Divide, Affine::exact(by), span(), 32)
        };
        assert_eq!(divided(16, 19, 4), Affine { times: 4, rest: Interval::exact(4) });
        // -1 / 4 is 0, and 15 / 4 is 3: not the same step.
        assert_eq!(divided(16, -1, 4).times, 0);
        assert_eq!(divided(10, 0, 4).times, 0);
    }

    /// An affine number for threads whose numbers are in [`span`], on which the join depends.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Spanned(Affine);

    impl Lattice for Spanned {
        fn join(&mut self, other: &Self) -> bool {
            let both = Self(self.0.union(other.0, span()));
            std::mem::replace(self, both) != both
        }
    }

    #[test]
    fn numbers_of_threads_are_a_lattice() {
        let rest =
            (-40..40_i64, 0..40_i64).prop_map(|(low, more)| Interval::exact(low).union(Interval::exact(low + more)));
        check((-2..3_i64, rest).prop_map(|(times, rest)| Spanned(Affine { times, rest })));
    }
}
