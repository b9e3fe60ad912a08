//! The state at a point of a thread, as a product of lattices.
//!
//! Every component is a separate lattice, and the join of two states joins all of them; none may be left out. Facts
//! that
//! *must* hold lose members in a join, facts that *may* hold gain them.

use super::cells::CellId;
use crate::domain::congruence::Congruence;
use crate::domain::lattice::{Lattice, MaySet, MustMap, MustSet};
use crate::locks::lockset::{HeldLock, LockId};
use crate::locks::recursion::Depths;
use crate::locks::summary::LockBase;
use crate::order::SyncEvent;
use crate::pointer::address::BaseId;
use crate::pointer::{InstanceId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// A value of an instance: the instruction that makes it.
pub type ValueName = (InstanceId, u32);

/// What is known at a point of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct State {
    /// The lockset: locks that are definitely held.
    pub lockset: MustSet<HeldLock>,
    /// How many additional times the recursive mutexes of the lockset were locked.
    pub depths: Depths,
    /// Locks that may be held. They make a pair less convincing, but never decide.
    pub may_hold: MaySet<LockBase>,
    /// Descendants of this thread that may be running.
    pub active: MaySet<ThreadId>,
    /// Descendants that must be running, if loops are entered at all and threads do not end by themselves. They never
    /// decide, either.
    pub running: MustSet<ThreadId>,
    /// Bases whose latest piece of memory no other thread has yet.
    pub owned: MustSet<BaseId>,
    /// True if a release fence orders everything that this thread has done to fresh memory, and every address that it
    /// has, before its next atomic store.
    pub fenced: Fenced,
    /// Values that are constant on this path.
    pub constants: MustMap<ValueName, i64>,
    /// Values of cells, as long as no other thread can change them.
    pub cells: MustMap<CellId, i64>,
    /// Values that equal the current contents of a cell, as long as no other thread can change it.
    pub current: CurrentValues,
    /// Values that no other thread gets, with the counters from which they were taken.
    pub unique_values: MustMap<ValueName, CellId>,
    /// True if this may be the only thread; only where cells are tracked.
    pub may_be_alone: bool,
    /// Events that must have happened.
    pub seen: MustSet<SyncEvent>,
    /// Events that this thread may have caused.
    pub done: MaySet<SyncEvent>,
    /// Locks that this thread has definitely taken at least once.
    pub taken: MustSet<LockId>,
    /// Threads that this one has created, with locks that it may have released while they may have been running.
    pub released: MaySet<(ThreadId, LockBase)>,
    /// Events that must happen before a called function returns.
    pub inside: MustSet<SyncEvent>,
    /// How often this thread has waited at barriers.
    pub rounds: Rounds,
}

impl State {
    /// Returns true if both have the same values, and so belong to the same path.
    pub(super) fn is_same_path(&self, other: &Self) -> bool {
        self.constants == other.constants && self.cells == other.cells && self.may_be_alone == other.may_be_alone
    }
}

impl Lattice for State {
    fn join(&mut self, other: &Self) -> bool {
        // Join every component, whatever the others return: `|`, not `||`.
        self.lockset.join(&other.lockset)
            | self.depths.join(&other.depths)
            | self.may_hold.join(&other.may_hold)
            | self.active.join(&other.active)
            | self.running.join(&other.running)
            | self.owned.join(&other.owned)
            | self.fenced.join(&other.fenced)
            | self.constants.join(&other.constants)
            | self.cells.join(&other.cells)
            | self.current.join(&other.current)
            | self.unique_values.join(&other.unique_values)
            | self.may_be_alone.join(&other.may_be_alone)
            | self.seen.join(&other.seen)
            | self.done.join(&other.done)
            | self.taken.join(&other.taken)
            | self.released.join(&other.released)
            | self.inside.join(&other.inside)
            | self.rounds.join(&other.rounds)
    }
}

/// Whether a release fence is still in force. It must be on every path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fenced(pub bool);

impl Lattice for Fenced {
    fn join(&mut self, other: &Self) -> bool {
        let changed = self.0 && !other.0;
        self.0 &= other.0;
        changed
    }
}

/// For each cell, the values that equal its current contents.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CurrentValues(BTreeMap<CellId, BTreeSet<ValueName>>);

impl CurrentValues {
    /// Returns true if a value equals the current contents of a cell.
    pub fn contains(&self, cell: CellId, name: ValueName) -> bool {
        self.0.get(&cell).is_some_and(|names| names.contains(&name))
    }

    /// Notes that a value equals the current contents of a cell.
    pub fn insert(&mut self, cell: CellId, name: ValueName) {
        self.0.entry(cell).or_default().insert(name);
    }

    /// Notes that the cell may have changed; returns the values that it had.
    pub fn forget(&mut self, cell: CellId) -> BTreeSet<ValueName> {
        self.0.remove(&cell).unwrap_or_default()
    }

    /// Notes that a value is recomputed.
    pub fn rename(&mut self, name: ValueName) {
        self.0.retain(|_, names| {
            names.remove(&name);
            !names.is_empty()
        });
    }

    /// Keeps only what is known about some cells.
    pub fn retain(&mut self, is_kept: impl Fn(CellId) -> bool) {
        self.0.retain(|&cell, _| is_kept(cell));
    }

    /// Returns the cells about which something is known.
    pub fn cells(&self) -> impl Iterator<Item = CellId> + '_ {
        self.0.keys().copied()
    }
}

impl Lattice for CurrentValues {
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        self.0.retain(|cell, names| {
            let before = names.len();
            names.retain(|name| other.contains(*cell, *name));
            changed |= before != names.len();
            !names.is_empty()
        });
        changed
    }
}

/// How often a thread has waited at barriers: a number, or a residue.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rounds(BTreeMap<LockId, Congruence>);

impl Rounds {
    const NEVER: Congruence = Congruence::exact(0);

    /// Returns how often the thread has waited at one barrier.
    pub fn of(&self, barrier: &LockId) -> Congruence {
        self.0.get(barrier).copied().unwrap_or(Self::NEVER)
    }

    /// Notes that the thread waits at a barrier once more.
    pub fn pass(&mut self, barrier: LockId) {
        let passed = self.of(&barrier).plus(1);
        self.0.insert(barrier, passed);
    }
}

impl Lattice for Rounds {
    fn join(&mut self, other: &Self) -> bool {
        let barriers: BTreeSet<LockId> = self.0.keys().chain(other.0.keys()).cloned().collect();
        let mut changed = false;
        for barrier in barriers {
            let known = self.of(&barrier);
            let mut both = known;
            changed |= both.join(&other.of(&barrier));
            self.0.insert(barrier, both);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lattice::laws::check;
    use proptest::collection::{btree_map, btree_set, vec};
    use proptest::prelude::*;

    fn barrier() -> impl Strategy<Value = LockId> {
        (0..2_i64).prop_map(|at| LockId::At(BaseId(0), 64 * at))
    }

    fn names() -> impl Strategy<Value = ValueName> {
        (0..4_u32).prop_map(|at| (InstanceId(0), at))
    }

    fn rounds() -> impl Strategy<Value = Rounds> {
        vec(barrier(), 0..4).prop_map(|passed| {
            let mut rounds = Rounds::default();
            passed.into_iter().for_each(|barrier| rounds.pass(barrier));
            rounds
        })
    }

    fn current() -> impl Strategy<Value = CurrentValues> {
        vec((0..2_u32, names()), 0..5).prop_map(|all| {
            let mut current = CurrentValues::default();
            all.into_iter().for_each(|(cell, name)| current.insert(CellId(cell), name));
            current
        })
    }

    fn states() -> impl Strategy<Value = State> {
        let lock = barrier().prop_map(|id| HeldLock { id, shared: false, if_zero: None });
        let events = || btree_set((0..3_u32).prop_map(|cell| SyncEvent::Set(CellId(cell))), 0..3);
        let threads = || btree_set((0..3_u32).prop_map(ThreadId), 0..3);
        let locks = (btree_set(lock, 0..2), btree_set(proptest::option::of((0..2_u32).prop_map(BaseId)), 0..3));
        let depths = vec((0..2_i64).prop_map(|at| (BaseId(0), at)), 0..4);
        let values = (
            btree_map(names(), 0..3_i64, 0..3),
            btree_map((0..3_u32).prop_map(CellId), 0..3_i64, 0..3),
            btree_map(names(), (0..2_u32).prop_map(CellId), 0..3),
            current(),
            (any::<bool>(), any::<bool>()),
        );
        let released = (0..2_u32, proptest::option::of((0..2_u32).prop_map(BaseId)));
        let released = released.prop_map(|(thread, lock)| (ThreadId(thread), lock));
        let gates = (btree_set(barrier(), 0..2), btree_set(released, 0..3));
        let orders = (events(), events(), events(), rounds(), gates);
        let others = (threads(), threads(), btree_set((0..3_u32).prop_map(BaseId), 0..3));
        (locks, depths, values, orders, others).prop_map(|(locks, depths, values, orders, others)| {
            let mut taken = Depths::default();
            depths.into_iter().for_each(|lock| taken.lock(lock));
            State {
                lockset: MustSet(locks.0),
                depths: taken,
                may_hold: MaySet(locks.1),
                active: MaySet(others.0),
                running: MustSet(others.1),
                owned: MustSet(others.2),
                constants: MustMap(values.0),
                cells: MustMap(values.1),
                current: values.3,
                unique_values: MustMap(values.2),
                may_be_alone: values.4.0,
                fenced: Fenced(values.4.1),
                seen: MustSet(orders.0),
                done: MaySet(orders.1),
                taken: MustSet(orders.4.0),
                released: MaySet(orders.4.1),
                inside: MustSet(orders.2),
                rounds: orders.3,
            }
        })
    }

    #[test]
    fn states_are_a_lattice() {
        check(rounds());
        check(current());
        check(states());
    }

    #[test]
    fn barriers_of_one_path_count_even_if_its_locks_differ() {
        let barrier = LockId::At(BaseId(0), 0);
        let mut without = State::default();
        let mut with = State::default();
        with.may_hold.insert(Some(BaseId(1)));
        with.rounds.pass(barrier.clone());
        assert!(without.join(&with));
        assert!(without.rounds.of(&barrier).overlaps(1, Congruence::exact(1), 1));
    }
}
