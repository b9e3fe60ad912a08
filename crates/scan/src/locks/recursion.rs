//! Recursive mutexes: their owner may lock them again.
//!
//! A recursive mutex is free once it was unlocked as often as it was locked. Counting is right for every mutex except
//! error-checking ones: these refuse to be locked again, and are free after one unlock. The solver therefore counts
//! only where the program shows that a mutex is recursive ([`RecursiveMutexes`]); the count is the minimum over all
//! paths ([`Depths`]).

use crate::domain::congruence::Congruence;
use crate::domain::lattice::Lattice;
use crate::order::objects::written_plainly;
use crate::pointer::PointsTo;
use crate::pointer::address::{Base, BaseId};
use racehunter_ir::{Operand, SymbolKind};
use std::collections::BTreeMap;

/// Functions whose second argument is the kind of a mutex.
const KINDS: [&str; 2] = ["pthread_mutexattr_settype", "pthread_mutexattr_setkind_np"];
/// The same for C11, which has no error-checking kind.
const WITHOUT_CHECKS: &str = "mtx_init";
/// `PTHREAD_MUTEX_RECURSIVE`.
const RECURSIVE: i64 = 1;
/// Maximum size of a mutex in bytes.
const MUTEX: u64 = 40;

/// How many times more than once mutexes are definitely locked. A join has the smaller number of both.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Depths(BTreeMap<(BaseId, i64), u8>);

impl Depths {
    /// Locks a mutex that is already held.
    pub fn lock(&mut self, mutex: (BaseId, i64)) {
        let depth = self.0.entry(mutex).or_default();
        *depth = depth.saturating_add(1);
    }

    /// Unlocks a mutex; returns true if it is definitely still held.
    pub fn unlock(&mut self, mutex: (BaseId, i64)) -> bool {
        let Some(depth) = self.0.get_mut(&mutex) else { return false };
        *depth -= 1;
        if *depth == 0 {
            self.0.remove(&mutex);
        }
        true
    }

    /// Forgets the depth of some mutexes.
    pub fn forget(&mut self, is_forgotten: impl Fn(BaseId, i64) -> bool) {
        self.0.retain(|&(base, at), _| !is_forgotten(base, at));
    }
}

impl Lattice for Depths {
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        self.0.retain(|mutex, depth| {
            let least = (*depth).min(other.0.get(mutex).copied().unwrap_or(0));
            changed |= least != *depth;
            *depth = least;
            least > 0
        });
        changed
    }
}

/// The mutexes that are counted.
pub struct RecursiveMutexes {
    /// True if mutexes get their kind at run time, and none of them is error-checking.
    by_calls: bool,
    /// Memory that is written other than by lock functions: such a write may set a kind too.
    written: Vec<(BaseId, Congruence, u64)>,
}

impl RecursiveMutexes {
    /// Collects what the program says about kinds.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut kinds = Vec::new();
        for instance in &points_to.instances {
            let code = points_to.program.function(instance.function).0;
            for (&at, names) in &instance.outside {
                if names.contains(WITHOUT_CHECKS) {
                    kinds.push(true);
                }
                if KINDS.iter().any(|name| names.contains(*name)) {
                    let kind = code.instructions[at as usize].operands.get(2);
                    kinds.push(kind == Some(&Operand::Integer(RECURSIVE)));
                }
            }
        }
        let is_said = !kinds.is_empty() || has_initial_kinds(points_to);
        let written = if is_said { written_plainly(points_to) } else { Vec::new() };
        Self { by_calls: !kinds.is_empty() && !kinds.contains(&false), written }
    }

    /// Returns true if the lock at an address is definitely not an error-checking mutex.
    pub fn counts(&self, points_to: &PointsTo<'_>, base: BaseId, at: i64) -> bool {
        let mut written = self.written.iter().filter(|(other, ..)| *other == base);
        if written.any(|(_, offset, bytes)| offset.overlaps(*bytes, Congruence::exact(at), MUTEX)) {
            return false;
        }
        let Base::Variable(variable) = *points_to.describe(base) else { return self.by_calls };
        let kind = points_to.program.variable_kind(variable);
        let SymbolKind::Variable { numbers: Some(numbers), .. } = kind else { return false };
        let Ok(begin) = u64::try_from(at) else { return false };
        let mut inside =
            numbers.iter().filter(|number| (begin..begin + MUTEX).contains(&number.at) && number.value != 0).peekable();
        match inside.peek() {
            None => self.by_calls,
            Some(_) => inside.all(|number| number.value == RECURSIVE),
        }
    }
}

/// Returns true if a variable's initialiser contains a number that may be the kind of a lock.
fn has_initial_kinds(points_to: &PointsTo<'_>) -> bool {
    points_to.program.variables().any(|variable| {
        let kind = points_to.program.variable_kind(variable);
        matches!(kind, SymbolKind::Variable { numbers: Some(numbers), .. } if numbers.iter().any(|number| number.value == RECURSIVE))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use proptest::prelude::*;

    #[test]
    fn depths_are_a_lattice() {
        check(proptest::collection::vec((0..3_i64).prop_map(|at| (BaseId(0), at)), 0..6).prop_map(|all| {
            let mut depths = Depths::default();
            all.into_iter().for_each(|mutex| depths.lock(mutex));
            depths
        }));
    }

    #[test]
    fn a_mutex_is_held_until_it_was_unlocked_as_often_as_it_was_locked() {
        let mut depths = Depths::default();
        depths.lock((BaseId(0), 0));
        assert!(depths.unlock((BaseId(0), 0)) && !depths.unlock((BaseId(0), 0)));
    }
}
