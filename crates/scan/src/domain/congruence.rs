//! Congruences: sets of offsets whose residue is known.
//!
//! `a[i].x` is at the offset of `x` plus a multiple of the element size. Two such sets with different residues are
//! disjoint, so `a[i].x` and `a[j].y` never overlap. A join may add members but never removes one, as soundness
//! requires: an access is assumed to be at every offset of the set.

use super::lattice::Lattice;

/// A set of offsets: `at`, and all that differ from it by a multiple of `stride`; with stride 0 only `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Congruence {
    at: i64,
    stride: u64,
}

impl Congruence {
    /// Returns a set with one offset.
    pub const fn exact(at: i64) -> Self {
        Self { at, stride: 0 }
    }

    /// All offsets.
    pub const ANY: Self = Self { at: 0, stride: 1 };

    /// Returns an offset, and all that differ from it by multiples of a number of bytes.
    pub fn strided(at: i64, stride: u64) -> Self {
        match i64::try_from(stride) {
            Ok(0) => Self { at, stride },
            Ok(step) => Self { at: at.rem_euclid(step), stride },
            Err(_) => Self::ANY,
        }
    }

    /// Returns the offset, if there is only one.
    pub fn only(self) -> Option<i64> {
        (self.stride == 0).then_some(self.at)
    }

    /// Returns the index of another offset in an array of such offsets, if it is one of them.
    pub fn element(self, other: Self) -> Option<i64> {
        let step = i64::try_from(self.stride).ok().filter(|&step| step > 1)?;
        let distance = other.only()?.checked_sub(self.at)?;
        (distance % step == 0).then_some(distance / step)
    }

    /// Returns the set moved by a number of bytes.
    #[must_use]
    pub fn plus(self, bytes: i64) -> Self {
        Self::strided(self.at.wrapping_add(bytes), self.stride)
    }

    /// Returns the set plus all multiples of a number.
    #[must_use]
    pub fn plus_multiples(self, of: u64) -> Self {
        Self::strided(self.at, gcd(self.stride, of))
    }

    /// Returns a set that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let distance = self.at.abs_diff(other.at);
        Self::strided(self.at, gcd(gcd(self.stride, other.stride), distance))
    }

    /// Returns true if ranges of this number of bytes at different offsets of the set are disjoint.
    pub fn is_apart(self, bytes: u64) -> bool {
        self.stride == 0 || self.stride >= bytes
    }

    /// Returns true if ranges of this number of bytes at these offsets can overlap.
    pub fn overlaps(self, bytes: u64, other: Self, other_bytes: u64) -> bool {
        let step = gcd(self.stride, other.stride);
        if step == 0 {
            let (first, second) = (i128::from(self.at), i128::from(other.at));
            return first < second + i128::from(other_bytes) && second < first + i128::from(bytes);
        }
        // The distance from `self` to `other`, modulo the stride.
        let behind = (i128::from(other.at) - i128::from(self.at)).rem_euclid(i128::from(step));
        behind < i128::from(bytes) || i128::from(step) - behind < i128::from(other_bytes)
    }
}

impl Lattice for Congruence {
    fn join(&mut self, other: &Self) -> bool {
        let both = self.union(*other);
        std::mem::replace(self, both) != both
    }
}

/// Returns the greatest common divisor; every number divides zero.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use proptest::prelude::*;

    /// Returns all members of a set within a window.
    fn members(offset: Congruence) -> Vec<i64> {
        (-60..60)
            .filter(|&at| match offset.stride {
                0 => at == offset.at,
                stride => (at - offset.at).rem_euclid(stride as i64) == 0,
            })
            .collect()
    }

    fn samples() -> Vec<Congruence> {
        let mut all = Vec::new();
        for at in [-4, 0, 1, 4, 7, 8, 12] {
            all.extend([0, 1, 3, 4, 6, 8, 12].map(|stride| Congruence::strided(at, stride)));
        }
        all
    }

    #[test]
    fn a_union_has_the_members_of_both() {
        for a in samples() {
            for b in samples() {
                let union = members(a.union(b));
                assert!(members(a).iter().chain(&members(b)).all(|at| union.contains(at)), "{a:?} {b:?}");
                assert_eq!(a.union(b), b.union(a));
            }
        }
    }

    #[test]
    fn ranges_overlap_exactly_when_members_do() {
        for a in samples() {
            for b in samples() {
                for (bytes, other) in [(1, 1), (4, 4), (1, 8), (8, 4)] {
                    let expected = members(a)
                        .iter()
                        .filter(|&&x| x.abs() < 30)
                        .any(|x| members(b).iter().any(|y| *x < y + other as i64 && *y < x + bytes as i64));
                    let told = a.overlaps(bytes, b, other);
                    assert!(told || !expected, "{a:?} {bytes} {b:?} {other}");
                    assert_eq!(told, expected, "{a:?} {bytes} {b:?} {other}");
                }
            }
        }
    }

    #[test]
    fn congruences_are_a_lattice() {
        check((-20..20_i64, 0..13_u64).prop_map(|(at, stride)| Congruence::strided(at, stride)));
    }
}
