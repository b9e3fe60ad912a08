//! Locksets: the locks that a thread surely holds at a point, and when two locksets exclude each other.
//!
//! A lock counts by its address if that is one address ([`LockId::At`]), and otherwise by how its address is computed
//! ([`LockId::Relative`]). The lockset only ever has locks that are held on every path, so it may prove that two accesses are never at the
//! same time; locks that *may* be held are kept beside it, and say only how convincing a pair is.

use crate::domain::congruence::Congruence;
use crate::domain::linear::linear;
use crate::locks::summary::LockBase;
use crate::pointer::address::{Addresses, Base, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use crate::race::access::Access;
use crate::solver::{Solver, State};
use racehunter_ir::Operand;
use std::collections::BTreeSet;

/// What is locked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockId {
    /// The lock at this address, which is one lock and no other.
    At(BaseId, i64),
    /// The lock at an address of which only the form is known: position in [`Solver::sums`].
    Relative(u32),
    /// The variable at this address, which is used as a lock: zero while it is free.
    Flag(BaseId, i64),
    /// The section in which a thread is alone.
    Atomic,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeldLock {
    /// The lock.
    pub id: LockId,
    /// Whether others can hold it too.
    pub shared: bool,
    /// The call whose result must be zero for it to be held; none if it surely is.
    pub if_zero: Option<(InstanceId, u32)>,
}

/// Locks that are surely held.
pub fn held(state: &State) -> impl Iterator<Item = &HeldLock> {
    state.lockset.iter().filter(|lock| lock.if_zero.is_none())
}

/// Returns true if a lock may be at one of these addresses.
pub(crate) fn may_be(points_to: &PointsTo<'_>, addresses: &Addresses, key: &LockId) -> bool {
    let LockId::At(base, at) = *key else { return false };
    addresses.iter().any(|(other, offset)| {
        *points_to.describe(other) == Base::Unknown || (base == other && offset.overlaps(1, Congruence::exact(at), 1))
    })
}

/// Distance from an address to a lock that is held there, and whether others can hold the lock, too.
pub type Distance = (i64, bool);

/// Returns how far from its address the locks are that are held at an access.
pub fn distances(
    points_to: &PointsTo<'_>,
    solver: &Solver<'_, '_>,
    id: InstanceId,
    address: &Operand,
    state: &State,
) -> Vec<Distance> {
    let mut found = Vec::new();
    let held = state.lockset.iter().filter(|held| held.if_zero.is_none());
    for (index, shared) in held.filter_map(|held| match held.id {
        LockId::Relative(index) => Some((index, held.shared)),
        _ => None,
    }) {
        let distance = solver.sums[index as usize].0.behind(&linear(points_to, id, address));
        found.extend(distance.map(|distance| (distance, shared)));
    }
    found
}

/// Returns true if one lock may be held at both places.
pub fn may_exclude(first: &Access, second: &Access) -> bool {
    let (one, other) = (&first.state.may_hold, &second.state.may_hold);
    let is_any = |locks: &BTreeSet<LockBase>, others: &BTreeSet<LockBase>| locks.contains(&None) && !others.is_empty();
    is_any(one, other) || is_any(other, one) || one.iter().any(|lock| other.contains(lock))
}

/// Returns true if there is a lock that cannot be held in both places at once. A lock of which only the form of its
/// address is known is not one of these: in another thread the same form leads to another lock. It counts by its
/// distance from the access.
pub fn excludes(first: &BTreeSet<HeldLock>, second: &BTreeSet<HeldLock>) -> bool {
    first.iter().filter(|held| held.if_zero.is_none()).any(|held| {
        !matches!(held.id, LockId::Relative(_))
            && second
                .iter()
                .any(|other| other.if_zero.is_none() && other.id == held.id && !(held.shared && other.shared))
    })
}

/// Returns true if both hold a lock that is as far from the one address as from the other: if the addresses are the
/// same, so are the locks.
pub fn excludes_by_distance(first: &Access, second: &Access) -> bool {
    // Accesses that have a byte in common have all in common.
    if first.bytes != second.bytes || !first.offset.union(second.offset).is_apart(first.bytes) {
        return false;
    }
    first.guards.iter().any(|(distance, shared)| {
        second.guards.iter().any(|(other, also_shared)| distance == other && !(*shared && *also_shared))
    })
}
