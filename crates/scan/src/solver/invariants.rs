//! Global invariants: facts about the whole program that are assumed until control is seen to refute them.
//!
//! They only become weaker: sets of values grow, sets of locks shrink. Control is followed again until none changes.
//! Then the invariants hold by induction over the steps of an execution: each step preserves what held before it, since
//! otherwise the solver would have refuted it.
//!
//! Start at [`Invariants`], then [`CellInvariant`].

use crate::domain::constants::ConstantSet;
use crate::domain::lattice::{Lattice, MustSet};
use crate::index::IndexVec;
use crate::locks::lockset::LockId;
use crate::order::SyncEvent;
use crate::order::barrier::BarrierInvariant;
use crate::order::semaphore::SemaphoreInvariant;
use crate::pointer::ThreadId;
use crate::solver::cells::{CellId, Cells};
use std::collections::{BTreeMap, BTreeSet};

/// What excludes the writers of a cell while several threads are running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is not written then.
    Settled,
    /// Each writer holds all of these.
    Locks(MustSet<LockId>),
}

impl Lattice for Guard {
    fn join(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (_, Self::Settled) => false,
            (Self::Locks(known), Self::Locks(locks)) => known.join(locks),
            (Self::Settled, Self::Locks(_)) => {
                *self = other.clone();
                true
            }
        }
    }
}

/// The invariants of one cell.
#[derive(Clone, Debug)]
pub struct CellInvariant {
    /// All values that it ever has.
    pub values: ConstantSet,
    /// Values that it has when the second thread starts.
    pub start: ConstantSet,
    /// Values that it has when a lock of its guard is released.
    pub rest: BTreeMap<LockId, ConstantSet>,
    /// What excludes its writers.
    pub guard: Guard,
    /// Once it is nonzero it stays so, while several threads are running.
    pub is_flag: bool,
    /// A write of a nonzero value releases everything that was done before it.
    pub is_released: bool,
    /// The smallest increment while several threads run; zero if it is also changed in other ways.
    pub step: u64,
    /// It is used as a lock: a thread that changes it from zero owns it until it changes it back.
    pub is_lock: bool,
    /// While several threads are running, each of them adds one, once, and nothing else changes it.
    pub counts: bool,
    /// These additions are atomic and release everything that was done before.
    pub is_added_in_one_step: bool,
}

/// All invariants.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    cells: IndexVec<CellId, CellInvariant>,
    keys: IndexVec<CellId, LockId>,
    /// Semaphores, by their addresses.
    pub semaphores: BTreeMap<LockId, SemaphoreInvariant>,
    /// A semaphore with an unknown address was posted.
    pub any_semaphore: bool,
    /// Barriers, by their addresses.
    pub barriers: BTreeMap<LockId, BarrierInvariant>,
    /// A thread waits at a barrier with an unknown address.
    pub any_barrier: bool,
    /// The threads that cause each event.
    pub makers: BTreeMap<SyncEvent, BTreeSet<ThreadId>>,
    changed: bool,
}

impl Invariants {
    /// Returns the strongest invariants, before anything is followed.
    pub fn of(cells: &Cells) -> Self {
        let invariant = |initial: Option<i64>| {
            let mut values = ConstantSet::default();
            values.add(initial);
            CellInvariant {
                values,
                start: ConstantSet::default(),
                rest: BTreeMap::new(),
                guard: Guard::Settled,
                is_flag: initial == Some(0),
                is_released: true,
                is_lock: initial == Some(0),
                counts: true,
                is_added_in_one_step: true,
                step: u64::MAX,
            }
        };
        Self {
            cells: cells.all.iter().map(|cell| invariant(cell.initial)).collect(),
            keys: cells.all.iter().map(|cell| LockId::Flag(cell.base, cell.at)).collect(),
            ..Self::default()
        }
    }

    /// Returns the invariants of a cell.
    pub fn cell(&self, cell: CellId) -> &CellInvariant {
        &self.cells[cell]
    }

    /// Notes a possible value of a cell.
    pub fn may_be(&mut self, cell: CellId, value: Option<i64>) {
        self.changed |= self.cells[cell].values.add(value);
    }

    /// Notes a possible value of a cell when the second thread starts.
    pub fn may_start_at(&mut self, cell: CellId, value: Option<i64>) {
        self.changed |= self.cells[cell].start.add(value);
    }

    /// Notes a possible value of a cell when a lock is released.
    pub fn may_rest_at(&mut self, cell: CellId, key: &LockId, value: Option<i64>) {
        self.changed |= self.cells[cell].rest.entry(key.clone()).or_default().add(value);
    }

    /// Returns the values that a thread may find in a cell when it takes a lock of its guard.
    pub fn found_under(&self, cell: CellId, key: &LockId) -> ConstantSet {
        let invariant = self.cell(cell);
        let mut all = invariant.start.clone();
        if let Some(rest) = invariant.rest.get(key) {
            all.join(rest);
        }
        all
    }

    /// Returns the cell as a lock.
    pub fn key(&self, cell: CellId) -> &LockId {
        &self.keys[cell]
    }

    /// Notes that a thread writes the cell while it holds these locks.
    pub fn written_under(&mut self, cell: CellId, locks: BTreeSet<LockId>) {
        self.changed |= self.cells[cell].guard.join(&Guard::Locks(MustSet(locks)));
    }

    /// Notes that the cell is increased, or changed in another way if the step is zero.
    pub fn increased(&mut self, cell: CellId, step: u64) {
        let known = &mut self.cells[cell].step;
        self.changed |= step < *known;
        *known = step.min(*known);
    }

    /// Returns the smallest increment of a cell; zero if it is also changed in other ways.
    pub fn step(&self, cell: CellId) -> u64 {
        self.cell(cell).step
    }

    /// Refutes one invariant of a cell.
    pub fn refute(&mut self, cell: CellId, which: impl Fn(&mut CellInvariant) -> &mut bool) {
        self.changed |= std::mem::replace(which(&mut self.cells[cell]), false);
    }

    /// Notes that a thread causes an event.
    pub fn made(&mut self, event: SyncEvent, thread: ThreadId) {
        self.changed |= self.makers.entry(event).or_default().insert(thread);
    }

    /// Changes the invariants of a semaphore.
    pub fn semaphore(&mut self, key: &LockId, change: impl FnOnce(&mut SemaphoreInvariant)) {
        let known = self.semaphores.entry(key.clone()).or_default();
        let before = (known.begins.len(), known.is_odd, known.is_no_lock);
        change(known);
        self.changed |= before != (known.begins.len(), known.is_odd, known.is_no_lock);
    }

    /// Drops everything that is known about semaphores.
    pub fn raised_unknown(&mut self) {
        self.changed |= !std::mem::replace(&mut self.any_semaphore, true);
    }

    /// Changes the invariants of a barrier.
    pub fn barrier(&mut self, key: &LockId, change: impl FnOnce(&mut BarrierInvariant)) {
        let known = self.barriers.entry(key.clone()).or_default();
        let before = (known.begins.len(), known.is_odd, known.threads.len());
        change(known);
        self.changed |= before != (known.begins.len(), known.is_odd, known.threads.len());
    }

    /// Drops everything that is known about barriers.
    pub fn unknown_barrier(&mut self) {
        self.changed |= !std::mem::replace(&mut self.any_barrier, true);
    }

    /// Gives up on semaphores that never got an initial value; returns true if anything has changed since the last
    /// call.
    pub fn settle(&mut self) -> bool {
        for known in self.semaphores.values_mut() {
            if known.begins.is_empty() && !known.is_odd {
                known.is_odd = true;
                self.changed = true;
            }
        }
        std::mem::take(&mut self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use crate::pointer::address::BaseId;
    use crate::solver::cells::Cell;
    use proptest::prelude::*;

    #[test]
    fn a_guard_is_what_all_writers_hold() {
        let cell = Cell { base: BaseId(1), at: 0, bytes: 4, initial: Some(0), thread_local: false };
        let mut cells = Cells::default();
        cells.all.push(cell);
        let mut invariants = Invariants::of(&cells);
        let key = |at| LockId::At(BaseId(0), at);
        invariants.written_under(CellId(0), BTreeSet::from([key(0), key(8)]));
        assert!(invariants.settle());
        invariants.written_under(CellId(0), BTreeSet::from([key(8)]));
        assert_eq!(invariants.cell(CellId(0)).guard, Guard::Locks(MustSet(BTreeSet::from([key(8)]))));
        assert!(invariants.settle() && !invariants.settle());
    }

    #[test]
    fn what_is_found_under_a_lock_is_what_was_left_under_it() {
        let cell = Cell { base: BaseId(1), at: 0, bytes: 4, initial: Some(0), thread_local: false };
        let mut cells = Cells::default();
        cells.all.push(cell);
        let mut invariants = Invariants::of(&cells);
        let (one, other) = (LockId::At(BaseId(0), 0), LockId::At(BaseId(0), 8));
        invariants.may_start_at(CellId(0), Some(5));
        invariants.may_rest_at(CellId(0), &one, Some(6));
        assert_eq!(invariants.found_under(CellId(0), &one), ConstantSet::Some(BTreeSet::from([5, 6])));
        assert_eq!(invariants.found_under(CellId(0), &other), ConstantSet::Some(BTreeSet::from([5])));
        invariants.may_rest_at(CellId(0), &one, None);
        assert_eq!(invariants.found_under(CellId(0), &one), ConstantSet::Any);
    }

    #[test]
    fn a_semaphore_without_a_first_value_is_odd() {
        let mut invariants = Invariants::default();
        invariants.semaphore(&LockId::Atomic, |_| {});
        assert!(invariants.semaphores[&LockId::Atomic].begins_with(1));
        assert!(invariants.settle() && !invariants.semaphores[&LockId::Atomic].begins_with(1));
    }

    #[test]
    fn guards_are_a_lattice() {
        let lock = (0..4_i64).prop_map(|at| LockId::At(BaseId(0), at));
        let locks = proptest::collection::btree_set(lock, 0..4).prop_map(|locks| Guard::Locks(MustSet(locks)));
        check(prop_oneof![1 => Just(Guard::Settled), 4 => locks]);
    }
}
