//! Addresses: a base, and an offset of which the residue is known.

use crate::points_to::{InstanceId, ThreadId};
use crate::program::{FunctionId, VariableId};
use std::collections::BTreeMap;

/// Position in the table of bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BaseId(pub u32);

/// Something that an address leads into. No address arithmetic leads from one base to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A variable of the program.
    Variable(VariableId),
    /// A function.
    Function(FunctionId),
    /// A function outside of the program.
    Outside(String),
    /// A variable of a function, in one instance of the function.
    Local(InstanceId, u32),
    /// What one call of an instance allocates.
    Heap(InstanceId, u32),
    /// Not memory, but the handle of a thread.
    Handle(ThreadId),
    /// The variable arguments of one instance of a function.
    Variadic(InstanceId),
    /// What a thread keeps for itself under keys.
    Kept(ThreadId),
    /// Arguments and environment of the program.
    Environment,
    /// Anything.
    Unknown,
}

/// A set of offsets: `at`, and all that are multiples of `stride` away; with stride 0 only `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offset {
    at: i64,
    stride: u64,
}

impl Offset {
    /// One offset.
    pub const fn exact(at: i64) -> Self {
        Self { at, stride: 0 }
    }

    /// All offsets.
    pub const ANY: Self = Self { at: 0, stride: 1 };

    /// An offset, and all that are multiples of a number of bytes away.
    pub fn strided(at: i64, stride: u64) -> Self {
        match i64::try_from(stride) {
            Ok(0) => Self { at, stride },
            Ok(step) => Self { at: at.rem_euclid(step), stride },
            Err(_) => Self::ANY,
        }
    }

    /// The offset, if there is only one.
    pub fn only(self) -> Option<i64> {
        (self.stride == 0).then_some(self.at)
    }

    /// Which element of an array of such offsets another one is, if it is one of them.
    pub fn element(self, other: Self) -> Option<i64> {
        let step = i64::try_from(self.stride).ok().filter(|&step| step > 1)?;
        let distance = other.only()?.checked_sub(self.at)?;
        (distance % step == 0).then_some(distance / step)
    }

    /// The set moved by a number of bytes.
    #[must_use]
    pub fn plus(self, bytes: i64) -> Self {
        Self::strided(self.at.wrapping_add(bytes), self.stride)
    }

    /// The set plus all multiples of a number.
    #[must_use]
    pub fn plus_multiples(self, of: u64) -> Self {
        Self::strided(self.at, gcd(self.stride, of))
    }

    /// A set that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let distance = self.at.abs_diff(other.at);
        Self::strided(self.at, gcd(gcd(self.stride, other.stride), distance))
    }

    /// Whether ranges of so many bytes at different offsets of the set have no byte in common.
    pub fn is_apart(self, bytes: u64) -> bool {
        self.stride == 0 || self.stride >= bytes
    }

    /// Whether ranges of so many bytes at these offsets can have a byte in common.
    pub fn overlaps(self, bytes: u64, other: Self, other_bytes: u64) -> bool {
        let step = gcd(self.stride, other.stride);
        if step == 0 {
            let (first, second) = (i128::from(self.at), i128::from(other.at));
            return first < second + i128::from(other_bytes) && second < first + i128::from(bytes);
        }
        // How far `other` begins behind `self`, up to multiples of the step.
        let behind = (i128::from(other.at) - i128::from(self.at)).rem_euclid(i128::from(step));
        behind < i128::from(bytes) || i128::from(step) - behind < i128::from(other_bytes)
    }
}

/// The greatest common divisor; zero is one of all numbers.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What a value can point to.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Addresses(pub BTreeMap<BaseId, Offset>);

impl Addresses {
    /// One address.
    pub fn one(base: BaseId, offset: Offset) -> Self {
        Self(BTreeMap::from([(base, offset)]))
    }

    /// Adds an address; whether that is new.
    pub fn add(&mut self, base: BaseId, offset: Offset) -> bool {
        match self.0.get_mut(&base) {
            None => {
                self.0.insert(base, offset);
                true
            }
            Some(known) => {
                let joined = known.union(offset);
                std::mem::replace(known, joined) != joined
            }
        }
    }

    /// Whether all of these are among them. Both are in order, so one walk over both tells.
    fn has_all(&self, other: &Self) -> bool {
        let mut own = self.0.iter();
        other.0.len() <= self.0.len()
            && other.0.iter().all(|(base, &offset)| {
                own.find(|(known, _)| *known >= base)
                    .is_some_and(|(known, &has)| known == base && has.union(offset) == has)
            })
    }

    /// Adds addresses; whether any is new.
    pub fn add_all(&mut self, other: &Self) -> bool {
        // Mostly nothing is. Walking over a large set for the sake of a few is not worth it.
        if other.0.len() * 8 > self.0.len() && self.has_all(other) {
            return false;
        }
        other.0.iter().fold(false, |changed, (&base, &offset)| self.add(base, offset) | changed)
    }

    /// Each offset changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(Offset) -> Offset) -> Self {
        Self(self.0.iter().map(|(&base, &offset)| (base, change(offset))).collect())
    }

    /// The only base and offset.
    pub fn only(&self) -> Option<(BaseId, Offset)> {
        let mut all = self.0.iter();
        let (&base, &offset) = all.next()?;
        all.next().is_none().then_some((base, offset))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (BaseId, Offset)> + '_ {
        self.0.iter().map(|(&base, &offset)| (base, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All members of a set within a window.
    fn members(offset: Offset) -> Vec<i64> {
        (-60..60)
            .filter(|&at| match offset.stride {
                0 => at == offset.at,
                stride => (at - offset.at).rem_euclid(stride as i64) == 0,
            })
            .collect()
    }

    fn samples() -> Vec<Offset> {
        let mut all = Vec::new();
        for at in [-4, 0, 1, 4, 7, 8, 12] {
            all.extend([0, 1, 3, 4, 6, 8, 12].map(|stride| Offset::strided(at, stride)));
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
    fn a_set_has_all_exactly_when_adding_changes_nothing() {
        let sets: Vec<Addresses> = (0..64_u32)
            .map(|bits| {
                let bases = (0..3).filter(|base| bits >> base & 1 == 1);
                let offset =
                    [Offset::exact(0), Offset::exact(4), Offset::strided(0, 4), Offset::ANY][(bits >> 3) as usize % 4];
                Addresses(bases.map(|base| (BaseId(base), offset)).collect())
            })
            .collect();
        for set in &sets {
            for other in &sets {
                let mut grown = set.clone();
                let changed = other.iter().fold(false, |changed, (base, offset)| grown.add(base, offset) | changed);
                assert_eq!(set.has_all(other), !changed, "{set:?} {other:?}");
                let mut added = set.clone();
                assert_eq!((added.add_all(other), added), (changed, grown));
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
}
