//! Summaries of calls: locks that a call may release or take, and threads that it may join, including everything that
//! it calls.
//!
//! A function with many callers is analysed once, with the facts that hold for all of them. Its result would tell each
//! caller only what holds for all; but a lock that the caller holds, and that nothing in the call can release, is still
//! held.

use crate::domain::congruence::Congruence;
use crate::domain::lattice::{Lattice, MaySet};
use crate::index::IndexVec;
use crate::locks::lockset::LockId;
use crate::models::{Does, Model};
use crate::pointer::address::{Addresses, Base, BaseId};
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use std::collections::BTreeSet;

/// The base of a lock that may be held, or `None` if it is unknown.
pub type LockBase = Option<BaseId>;

/// Maximum number of bases; with more, any lock is possible.
const MOST_LOCKS: usize = 3;

/// The effects of calls.
pub struct Summaries {
    of: IndexVec<InstanceId, Summary>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Summary {
    /// Locks that may be released.
    gives: Addresses,
    /// True if an atomic section may end.
    ends_atomic: bool,
    /// Locks that may be taken.
    takes: MaySet<LockBase>,
    /// Threads that may be joined; `None` stands for any.
    waits: MaySet<Option<ThreadId>>,
}

impl Lattice for Summary {
    fn join(&mut self, other: &Self) -> bool {
        self.gives.join(&other.gives)
            | self.ends_atomic.join(&other.ends_atomic)
            | self.takes.join(&other.takes)
            | self.waits.join(&other.waits)
    }
}

impl Summaries {
    /// Propagates effects from functions to their callers, until nothing changes.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut of: IndexVec<InstanceId, Summary> = points_to.instances.ids().map(|id| own(points_to, id)).collect();
        let mut work: BTreeSet<InstanceId> = of.ids().filter(|&id| of[id] != Summary::default()).collect();
        while let Some(id) = work.pop_last() {
            let summary = of[id].clone();
            work.extend(points_to.callers(id).filter(|&caller| of[caller].join(&summary)));
        }
        Self { of }
    }

    /// Returns true if a lock that is held before a call is definitely held after it.
    pub fn keeps(&self, points_to: &PointsTo<'_>, callee: InstanceId, key: &LockId) -> bool {
        let summary = &self.of[callee];
        match *key {
            LockId::At(base, at) => !summary.gives.iter().any(|(other, offset)| {
                points_to.describe(other).is_unknown()
                    || (base == other && offset.overlaps(1, Congruence::exact(at), 1))
            }),
            LockId::Relative(_) => summary.gives.is_empty(),
            LockId::Atomic => !summary.ends_atomic,
            // Any store may release it.
            LockId::Flag(..) => false,
        }
    }

    /// Returns true if a call may have taken a lock that is held after it.
    pub fn takes(&self, callee: InstanceId, lock: &LockBase) -> bool {
        self.of[callee].takes.contains(lock)
    }

    /// Returns true if a call may have joined a thread.
    pub fn waits_for(&self, callee: InstanceId, thread: ThreadId) -> bool {
        let waits = &self.of[callee].waits;
        waits.contains(&None) || waits.contains(&Some(thread))
    }
}

/// Returns the effect of an instance without its callees.
fn own(points_to: &PointsTo<'_>, id: InstanceId) -> Summary {
    let instance = &points_to.instances[id];
    let code = points_to.program.function(instance.function).0;
    let mut summary = Summary {
        ends_atomic: points_to.models.is_atomic(points_to.program.function_name(instance.function)),
        ..Summary::default()
    };
    for (&at, names) in &instance.outside {
        let operand = |index: usize| {
            let operand = code.instructions[at as usize].operands.get(index + 1);
            operand.map(|operand| points_to.operand(id, operand)).unwrap_or_default()
        };
        for name in names {
            match points_to.models.of(name) {
                Some(Model::Lock(lock)) => summary.takes.extend(locks(points_to, &operand(lock.lock))),
                Some(Model::Unlock(unlock)) => {
                    summary.gives.add_all(&operand(unlock.lock));
                }
                Some(Model::Semaphore(semaphore)) => {
                    let addresses = operand(semaphore.semaphore);
                    if semaphore.does == Does::Lower {
                        summary.takes.extend(locks(points_to, &addresses));
                    } else {
                        summary.gives.add_all(&addresses);
                    }
                }
                Some(Model::AtomicEnd) => summary.ends_atomic = true,
                Some(Model::Join(join)) => summary.waits.extend(waited_for(points_to, &operand(join.handle))),
                _ => {}
            }
        }
    }
    summary
}

/// Returns the locks at these addresses.
pub fn locks(points_to: &PointsTo<'_>, addresses: &Addresses) -> BTreeSet<LockBase> {
    let is_known = |base: BaseId| !points_to.describe(base).is_unknown();
    if (1..=MOST_LOCKS).contains(&addresses.0.len()) && addresses.iter().all(|(base, _)| is_known(base)) {
        addresses.iter().map(|(base, _)| Some(base)).collect()
    } else {
        BTreeSet::from([None])
    }
}

/// Returns the threads that a handle may stand for.
pub fn waited_for(points_to: &PointsTo<'_>, handle: &Addresses) -> BTreeSet<Option<ThreadId>> {
    let thread = |(base, _): (BaseId, Congruence)| match *points_to.describe(base) {
        Base::Handle(thread) => Some(thread),
        _ => None,
    };
    if handle.is_empty() { BTreeSet::from([None]) } else { handle.iter().map(thread).collect() }
}
