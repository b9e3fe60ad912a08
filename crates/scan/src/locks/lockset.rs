//! Locksets: the locks that a thread definitely holds at a point, and when two locksets exclude each other.
//!
//! A lock is identified by its address if there is only one ([`LockId::At`]), and otherwise by how its address is
//! computed ([`LockId::Relative`]). The lockset contains only locks that are held on every path, so it can prove that
//! two accesses never happen at the same time. Locks that *may* be held are kept separately, and only affect the
//! ranking of pairs.

use crate::domain::congruence::Congruence;
use crate::domain::linear::linear;
use crate::locks::summary::LockBase;
use crate::pointer::address::{Addresses, BaseId};
use crate::pointer::{InstanceId, PointsTo};
use crate::race::access::Access;
use crate::solver::{Solver, State};
use racehunter_ir::Operand;
use std::collections::BTreeSet;

/// The identity of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockId {
    /// The lock at this address, which stands for exactly one lock.
    At(BaseId, i64),
    /// A lock whose address is known only by its form: position in [`Solver::sums`].
    Relative(u32),
    /// The variable at this address, which is used as a lock: zero while it is free.
    Flag(BaseId, i64),
    /// An atomic section.
    Atomic,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeldLock {
    /// The lock.
    pub id: LockId,
    /// True if others can hold it too.
    pub shared: bool,
    /// The call whose result must be zero for it to be held; none if it definitely is held.
    pub if_zero: Option<(InstanceId, u32)>,
}

/// Returns the locks that are definitely held.
pub fn held(state: &State) -> impl Iterator<Item = &HeldLock> {
    state.lockset.iter().filter(|lock| lock.if_zero.is_none())
}

/// Returns true if a lock may be at one of these addresses.
pub(crate) fn may_be(points_to: &PointsTo<'_>, addresses: &Addresses, key: &LockId) -> bool {
    let LockId::At(base, at) = *key else { return false };
    addresses.iter().any(|(other, offset)| {
        points_to.describe(other).is_unknown() || (base == other && offset.overlaps(1, Congruence::exact(at), 1))
    })
}

/// Distance from an address to a lock that is held there, and whether others can hold the lock too.
pub type Distance = (i64, bool);

/// Returns the distances between the address of an access and the locks held there.
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

/// Returns true if there is a lock that cannot be held in both places at once. A lock that is known only by the form of
/// its address does not count: in another thread, the same form means another lock. Such a lock counts by its distance
/// from the access.
pub fn excludes(first: &BTreeSet<HeldLock>, second: &BTreeSet<HeldLock>) -> bool {
    first.iter().filter(|held| held.if_zero.is_none()).any(|held| {
        !matches!(held.id, LockId::Relative(_))
            && second
                .iter()
                .any(|other| other.if_zero.is_none() && other.id == held.id && !(held.shared && other.shared))
    })
}

/// Returns true if both hold a lock at the same distance from their address: if the addresses are equal, so are the
/// locks.
pub fn excludes_by_distance(first: &Access, second: &Access) -> bool {
    // Accesses that overlap at all must overlap completely.
    if first.bytes != second.bytes || !first.offset.union(second.offset).is_apart(first.bytes) {
        return false;
    }
    first.guards.iter().any(|(distance, shared)| {
        second.guards.iter().any(|(other, also_shared)| distance == other && !(*shared && *also_shared))
    })
}
