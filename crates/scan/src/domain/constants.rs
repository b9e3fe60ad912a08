//! Small sets of constants: the few values that a variable can have, or any.

use super::lattice::Lattice;
use std::collections::BTreeSet;

/// Maximum number of distinct values; more become any.
const MOST_VALUES: usize = 4;

/// A set of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstantSet {
    /// These.
    Some(BTreeSet<i64>),
    /// Any.
    Any,
}

impl Default for ConstantSet {
    fn default() -> Self {
        Self::Some(BTreeSet::new())
    }
}

impl ConstantSet {
    /// Adds a number, or any number; returns true if that is new.
    pub fn add(&mut self, value: Option<i64>) -> bool {
        let Self::Some(known) = self else { return false };
        match value {
            Some(value) if known.contains(&value) => return false,
            Some(value) if known.len() < MOST_VALUES => {
                known.insert(value);
            }
            _ => *self = Self::Any,
        }
        true
    }
}

impl Lattice for ConstantSet {
    fn join(&mut self, other: &Self) -> bool {
        match other {
            Self::Some(values) => values.iter().fold(false, |changed, &value| self.add(Some(value)) | changed),
            Self::Any => self.add(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use proptest::prelude::*;

    #[test]
    fn sets_of_values_grow_until_they_are_any() {
        let mut values = ConstantSet::default();
        assert!(values.add(Some(1)) && !values.add(Some(1)));
        for value in 2..=MOST_VALUES as i64 {
            assert!(values.add(Some(value)));
        }
        assert_ne!(values, ConstantSet::Any);
        assert!(values.add(Some(99)) && values == ConstantSet::Any && !values.add(None));
    }

    #[test]
    fn sets_of_constants_are_a_lattice() {
        let some = proptest::collection::btree_set(0..7_i64, 0..MOST_VALUES + 1).prop_map(ConstantSet::Some);
        check(prop_oneof![4 => some, 1 => Just(ConstantSet::Any)]);
    }
}
