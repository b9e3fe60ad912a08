//! Addresses: a base (a variable, a local, an allocation, ...) and an offset in it.

use crate::domain::congruence::Congruence;
use crate::domain::lattice::Lattice;
use crate::index::ids;
use crate::pointer::{InstanceId, ThreadId};
use crate::program::{FunctionId, VariableId};
use std::collections::BTreeMap;
use std::fmt;

/// Position in the table of bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BaseId(pub u32);

ids!(BaseId);

/// A piece of memory that addresses point into. No address arithmetic leads from one base to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A variable of the program.
    Variable(VariableId),
    /// A function.
    Function(FunctionId),
    /// A function outside the program.
    Outside(String),
    /// A local variable of one instance of a function.
    Local(InstanceId, u32),
    /// Memory that one call of an instance allocates.
    Heap(InstanceId, u32),
    /// The handle of a thread, which is not memory.
    Handle(ThreadId),
    /// The variable arguments of one instance of a function.
    Variadic(InstanceId),
    /// Thread-specific pointers of a thread.
    Kept(ThreadId),
    /// The exceptions that a thread has thrown, and that it may catch: not memory.
    Thrown(ThreadId),
    /// Arguments and environment of the program.
    Environment,
    /// The file descriptors of the process, at their numbers: not memory, but shared like it.
    Descriptors,
    /// What the program has let out: not memory, but its contents are the addresses that a number, or data from outside, can
    /// be ([`super::exposed`]).
    Exposed,
    /// Unknown memory.
    Unknown(Origin),
}

/// Why it is not known where an address leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// A function outside the program returned it.
    Returned(String),
    /// A function outside the program stored it.
    Stored(String),
    /// A variable that the program does not define contained it.
    Variable(String),
    /// It was a number, or data from outside, and the program lets out many addresses.
    Exposed,
    /// It points to more things than are followed.
    TooMany,
    /// Assembler computed it.
    Assembler,
    /// It comes from a thread that is not known, and that the program joined.
    Joined,
    /// It was read from variable arguments.
    VariableArgument,
    /// It is an exception.
    Exception,
    /// An instruction that is not modelled computed it.
    Instruction,
}

impl fmt::Display for Origin {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned(name) => write!(to, "`{name}` returned it"),
            Self::Stored(name) => write!(to, "`{name}` stored it"),
            Self::Variable(name) => write!(to, "it was in `{name}`, which the program does not define"),
            Self::Exposed => to.write_str("it was a number or data from outside, and may be one of many addresses"),
            Self::TooMany => to.write_str("it can lead to too many things"),
            Self::Assembler => to.write_str("assembler computed it"),
            Self::Joined => to.write_str("a joined thread returned it, and it is not known which thread"),
            Self::VariableArgument => to.write_str("it is a variable argument"),
            Self::Exception => to.write_str("it is an exception"),
            Self::Instruction => to.write_str("an instruction that is not modelled computed it"),
        }
    }
}

impl Base {
    /// Returns true for unknown memory.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// What a value can point to.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Addresses(pub BTreeMap<BaseId, Congruence>);

impl Addresses {
    /// Returns a set with one address.
    pub fn one(base: BaseId, offset: Congruence) -> Self {
        Self(BTreeMap::from([(base, offset)]))
    }

    /// Adds an address; returns true if it is new.
    pub fn add(&mut self, base: BaseId, offset: Congruence) -> bool {
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

    /// Returns true if it contains all of these. Both are sorted, so one pass over both is enough.
    fn has_all(&self, other: &Self) -> bool {
        let mut own = self.0.iter();
        other.0.len() <= self.0.len()
            && other.0.iter().all(|(base, &offset)| {
                own.find(|(known, _)| *known >= base)
                    .is_some_and(|(known, &has)| known == base && has.union(offset) == has)
            })
    }

    /// Adds addresses; returns true if any of them is new.
    pub fn add_all(&mut self, other: &Self) -> bool {
        // Usually nothing is new. Walking over a large set for a few additions is not worth it.
        if other.0.len() * 8 > self.0.len() && self.has_all(other) {
            return false;
        }
        other.0.iter().fold(false, |changed, (&base, &offset)| self.add(base, offset) | changed)
    }

    /// Returns the addresses with each offset changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(Congruence) -> Congruence) -> Self {
        Self(self.0.iter().map(|(&base, &offset)| (base, change(offset))).collect())
    }

    /// Returns the only base and offset.
    pub fn only(&self) -> Option<(BaseId, Congruence)> {
        let mut all = self.0.iter();
        let (&base, &offset) = all.next()?;
        all.next().is_none().then_some((base, offset))
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all addresses.
    pub fn iter(&self) -> impl Iterator<Item = (BaseId, Congruence)> + '_ {
        self.0.iter().map(|(&base, &offset)| (base, offset))
    }
}

impl Lattice for Addresses {
    fn join(&mut self, other: &Self) -> bool {
        self.add_all(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use proptest::prelude::*;

    #[test]
    fn a_set_has_all_exactly_when_adding_changes_nothing() {
        let sets: Vec<Addresses> = (0..64_u32)
            .map(|bits| {
                let bases = (0..3).filter(|base| bits >> base & 1 == 1);
                let offset = [Congruence::exact(0), Congruence::exact(4), Congruence::strided(0, 4), Congruence::ANY]
                    [(bits >> 3) as usize % 4];
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
    fn addresses_are_a_lattice() {
        let offset = (-8..8_i64, 0..9_u64).prop_map(|(at, stride)| Congruence::strided(at, stride));
        let base = (0..3_u32).prop_map(BaseId);
        check(proptest::collection::btree_map(base, offset, 0..4).prop_map(Addresses));
    }
}
