//! Lattices: facts, ordered by how many possibilities they leave open.
//!
//! Where two control paths meet, the facts of both are *joined*: the result leaves open whatever either of them leaves
//! open. An analysis that starts with nothing and joins until nothing changes has covered every execution, provided
//! that [`Lattice::join`] is an upper bound. The law tests of this crate check that for each domain, and also that
//! joins are idempotent, commutative, associative and monotone, so that the order in which a solver works does not
//! matter.
//!
//! *Widening* shortens long ascending chains ([`super::interval::Interval::widen`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

/// A fact, as an element of a join-semilattice.
pub trait Lattice: Clone {
    /// Makes this the join of both; returns true if that leaves more open than before.
    fn join(&mut self, other: &Self) -> bool;

    /// Returns true if this leaves open everything that the other does.
    fn includes(&self, other: &Self) -> bool {
        !self.clone().join(other)
    }
}

/// `None` is the bottom element: no possibility at all.
impl<L: Lattice> Lattice for Option<L> {
    fn join(&mut self, other: &Self) -> bool {
        match (self.as_mut(), other) {
            (_, None) => false,
            (Some(known), Some(other)) => known.join(other),
            (None, Some(other)) => {
                *self = Some(other.clone());
                true
            }
        }
    }
}

/// A fact that may be true.
impl Lattice for bool {
    fn join(&mut self, other: &Self) -> bool {
        let changed = *other && !*self;
        *self |= *other;
        changed
    }
}

/// A set of facts that may be true: a join is the union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaySet<T>(pub BTreeSet<T>);

/// A set of facts that must be true: a join is the intersection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MustSet<T>(pub BTreeSet<T>);

/// Facts about keys that must be true: a join keeps the keys on which both agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MustMap<K, V>(pub BTreeMap<K, V>);

impl<T: Ord + Clone> Lattice for MaySet<T> {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.extend(other.0.iter().cloned());
        before != self.0.len()
    }
}

impl<T: Ord + Clone> Lattice for MustSet<T> {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.retain(|member| other.0.contains(member));
        before != self.0.len()
    }
}

impl<K: Ord + Clone, V: Clone + PartialEq> Lattice for MustMap<K, V> {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.retain(|key, value| other.0.get(key) == Some(value));
        before != self.0.len()
    }
}

impl<T> Default for MaySet<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T> Default for MustSet<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<K, V> Default for MustMap<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Deref for MaySet<T> {
    type Target = BTreeSet<T>;

    fn deref(&self) -> &BTreeSet<T> {
        &self.0
    }
}

impl<T> DerefMut for MaySet<T> {
    fn deref_mut(&mut self) -> &mut BTreeSet<T> {
        &mut self.0
    }
}

impl<T> Deref for MustSet<T> {
    type Target = BTreeSet<T>;

    fn deref(&self) -> &BTreeSet<T> {
        &self.0
    }
}

impl<T> DerefMut for MustSet<T> {
    fn deref_mut(&mut self) -> &mut BTreeSet<T> {
        &mut self.0
    }
}

impl<K, V> Deref for MustMap<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.0
    }
}

impl<K, V> DerefMut for MustMap<K, V> {
    fn deref_mut(&mut self) -> &mut BTreeMap<K, V> {
        &mut self.0
    }
}

/// The laws that every domain obeys.
#[cfg(test)]
pub(crate) mod laws {
    use super::Lattice;
    use proptest::prelude::*;
    use std::fmt::Debug;

    fn joined<L: Lattice>(one: &L, other: &L) -> L {
        let mut both = one.clone();
        both.join(other);
        both
    }

    /// Checks the laws with random elements of a lattice.
    pub(crate) fn check<L: Lattice + PartialEq + Debug>(elements: impl Strategy<Value = L>) {
        let elements = &elements;
        proptest!(|(a in elements, b in elements, c in elements)| {
            let both = joined(&a, &b);
            prop_assert!(both.includes(&a) && both.includes(&b), "no upper bound: {both:?}");
            prop_assert_eq!(a.clone().join(&b), both != a, "says wrongly whether it has changed");
            prop_assert_eq!(&joined(&a, &a), &a, "not idempotent");
            prop_assert_eq!(&both, &joined(&b, &a), "not commutative");
            prop_assert_eq!(joined(&both, &c), joined(&a, &joined(&b, &c)), "not associative");
            let more = joined(&a, &c);
            prop_assert!(joined(&more, &b).includes(&both), "not monotone");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::laws::check;
    use super::*;
    use proptest::collection::{btree_map, btree_set};
    use proptest::prelude::*;

    #[test]
    fn sets_and_maps_are_lattices() {
        check(btree_set(0..6_u8, 0..6).prop_map(MaySet));
        check(btree_set(0..6_u8, 0..6).prop_map(MustSet));
        check(btree_map(0..4_u8, 0..3_u8, 0..4).prop_map(MustMap));
        check(any::<bool>());
        check(proptest::option::of(btree_set(0..6_u8, 0..6).prop_map(MustSet)));
    }
}
