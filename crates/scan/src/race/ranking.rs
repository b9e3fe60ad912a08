//! Ranking: candidates that are most likely to be a race come first.

use crate::locks::lockset::may_exclude;
use crate::pointer::address::Base;
use crate::pointer::{InstanceId, PointsTo};
use crate::race::access::Access;
use crate::race::candidates::Candidate;

/// What speaks against a candidate, the most important first. Candidates with the least doubt come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// The memory is unknown.
    nowhere: bool,
    /// Something speaks against it: several pieces of memory, a lock that may be held, a thread that may not exist.
    unsure: bool,
    /// One lock may be held at both.
    guarded: bool,
    /// It is a local variable of threads created at one place: each call of its function has its own.
    local: bool,
    /// How many of the accesses have an inexact address: any element of an array, any node of a list.
    vague: u8,
    /// One of them is atomic, so its author has considered other threads.
    atomic: bool,
    /// The locks of both.
    locks: Locks,
    /// Only one of them writes.
    one_reads: bool,
    /// Number of calls from the start of the threads: short stacks are easier to understand.
    depth: usize,
}

/// The locks of both accesses, the most suspicious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Locks {
    /// One access is locked and the other is not: the author considered a lock necessary.
    OneSided,
    /// Neither is locked.
    None,
    /// They hold different locks; a common one may just be unknown.
    Different,
}

/// Sorts the most convincing candidates first; equal ones stay in the order of the code.
pub fn rank(points_to: &PointsTo<'_>, candidates: &mut [Candidate<'_>]) {
    candidates.sort_by_cached_key(|candidate| doubt(points_to, candidate));
}

fn doubt(points_to: &PointsTo<'_>, candidate: &Candidate<'_>) -> Doubt {
    let (first, second) = (candidate.first, candidate.second);
    let is_vague = |access: &Access| {
        let known = access.offset.only().is_some() && points_to.operand(access.instance, &access.address).0.len() == 1;
        u8::from(!known)
    };
    let locked = |access: &Access| {
        !access.state.may_hold.is_empty() || access.state.lockset.iter().any(|held| held.if_zero.is_none())
    };
    let locks = match (locked(first), locked(second)) {
        (false, false) => Locks::None,
        (true, true) => Locks::Different,
        _ => Locks::OneSided,
    };
    let depth = |access: &Access| {
        let outer = |id: &InstanceId| points_to.instances[*id].caller.map(|(outer, _)| outer);
        std::iter::successors(Some(access.instance), outer).take(1000).count()
    };
    Doubt {
        nowhere: points_to.describe(candidate.base).is_unknown(),
        unsure: !candidate.sure,
        guarded: may_exclude(first, second),
        local: matches!(points_to.describe(candidate.base), Base::Local(..)) && first.thread == second.thread,
        vague: is_vague(first) + is_vague(second),
        atomic: first.atomic || second.atomic,
        locks,
        one_reads: !(first.write && second.write),
        depth: depth(first) + depth(second),
    }
}

impl Doubt {
    #[cfg(test)]
    const NONE: Self = Self {
        nowhere: false,
        unsure: false,
        guarded: false,
        local: false,
        vague: 0,
        atomic: false,
        locks: Locks::OneSided,
        one_reads: false,
        depth: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_weighs_more_decides() {
        let far = Doubt { depth: 90, ..Doubt::NONE };
        let reads = Doubt { one_reads: true, ..Doubt::NONE };
        let unlocked = Doubt { locks: Locks::None, ..Doubt::NONE };
        let different = Doubt { locks: Locks::Different, ..Doubt::NONE };
        let vague = Doubt { vague: 1, ..Doubt::NONE };
        let local = Doubt { local: true, ..Doubt::NONE };
        let guarded = Doubt { guarded: true, ..Doubt::NONE };
        let unsure = Doubt { unsure: true, ..Doubt::NONE };
        let nowhere = Doubt { nowhere: true, ..Doubt::NONE };
        let order = [Doubt::NONE, far, reads, unlocked, different, vague, local, guarded, unsure, nowhere];
        assert!(order.is_sorted_by(|one, next| one < next));
    }
}
