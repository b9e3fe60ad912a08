//! Barriers: accesses in different rounds of a barrier are ordered.

use super::size;
use crate::locks::lockset::LockId;
use crate::models::{Barrier, Model};
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::race::access::Access;
use crate::solver::invariants::Invariants;
use crate::solver::{Solver, State};
use crate::threads::groups::ThreadGroups;
use racehunter_ir::Instruction;
use std::collections::{BTreeMap, BTreeSet};

/// What holds for a barrier in the whole program, as far as control was followed.
#[derive(Clone, Debug, Default)]
pub struct BarrierInvariant {
    /// Places that set the number of threads, and that number.
    pub begins: BTreeMap<(u32, u32), Option<i64>>,
    /// It may be initialised again while it is in use.
    pub is_odd: bool,
    /// The threads that wait at it.
    pub threads: BTreeSet<ThreadId>,
}

impl BarrierInvariant {
    /// Returns the number of threads that it is for.
    pub fn count(&self) -> Option<u64> {
        let mut begins = self.begins.values();
        let count = begins.next().copied().flatten().filter(|_| !self.is_odd && begins.next().is_none())?;
        u64::try_from(count).ok()
    }
}

impl Solver<'_, '_> {
    /// Handles a call of a barrier function.
    pub(crate) fn barrier(&mut self, id: InstanceId, at: u32, call: &Instruction, model: &Barrier, state: &mut State) {
        let operand = |index: usize| call.operands.get(index + 1);
        let addresses = operand(model.barrier).map(|operand| self.points_to.operand(id, operand)).unwrap_or_default();
        let Some(key) = self.key(&addresses) else {
            self.invariants.unknown_barrier();
            return;
        };
        let thread = self.points_to.instances[id].thread;
        match model.count {
            Some(count) => {
                let count = operand(count).and_then(|operand| self.known(id, operand, state));
                let is_new = self.is_alone(thread, state) && self.points_to.is_place_once(id, at);
                self.invariants.barrier(&key, |known| {
                    known.is_odd |= !is_new || known.begins.insert((id.0, at), count).is_some_and(|old| old != count);
                });
            }
            None => {
                self.invariants.barrier(&key, |known| {
                    known.threads.insert(thread);
                });
                state.rounds.pass(key);
            }
        }
    }
}

/// Returns true if one of the threads passes a barrier between the two accesses, and only together with the other.
///
/// A barrier lets threads pass when its count is reached. If no more threads than that ever wait at it, they all pass
/// together, and a thread that has passed it more often comes after everything that the others did before.
pub(super) fn are_in_different_rounds(
    points_to: &PointsTo<'_>,
    groups: &ThreadGroups,
    invariants: &Invariants,
    first: &Access,
    second: &Access,
) -> bool {
    let rounds = |access: &Access, key| access.state.rounds.of(key);
    !invariants.any_barrier
        && invariants.barriers.iter().any(|(key, barrier)| {
            let takes_part = |access: &Access| barrier.threads.contains(&access.thread);
            // The numbers of rounds are never equal; in a loop with two rounds, one is even and the other odd.
            let differ = !rounds(first, key).overlaps(1, rounds(second, key), 1);
            differ
                && !leaves_it(points_to, first, second, key)
                && !leaves_it(points_to, second, first, key)
                && takes_part(first)
                && takes_part(second)
                && barrier
                    .count()
                    .zip(size(points_to, groups, &barrier.threads))
                    .is_some_and(|(count, waiting)| waiting <= count)
        })
}

/// Returns true if an access is a wait at this barrier that may not have returned yet when other waits have. Barrier
/// functions handle that; other uses of the barrier's memory do not.
fn leaves_it(points_to: &PointsTo<'_>, access: &Access, other: &Access, key: &LockId) -> bool {
    let LockId::At(base, _) = key else { return false };
    let models = |access: &Access| {
        let names = points_to.instances[access.instance].outside.get(&access.at);
        names.into_iter().flatten().filter_map(|name| points_to.models.of(name)).collect::<Vec<_>>()
    };
    let waits = |model: &Model| matches!(model, Model::Barrier(barrier) if barrier.count.is_none());
    let is_of_barriers = |model: &Model| match model {
        Model::Barrier(_) => true,
        Model::Access(access) => !access.whole.is_empty(),
        _ => false,
    };
    points_to.operand(access.instance, &access.address).0.contains_key(base)
        && models(access).iter().any(waits)
        && !models(other).iter().any(is_of_barriers)
}
