//! Orders between accesses that do not come from locks: happens-before by events that one thread causes and another one
//! sees.
//!
//! [`semaphore`], [`barrier`] and [`once`] handle these primitives, [`counter`] counts finished threads, [`unique`] has
//! values that no other thread gets, and a variable that is set and never reset is a flag ([`SyncEvent::Set`]).
//! [`objects`] finds programs that overwrite such objects.
//!
//! The solver notes which events a thread must have *seen*, may have *caused*, and is *inside* of. An access that ends
//! before its thread causes an event is ordered before every access of a thread that has seen it. Start at
//! [`is_ordered`].

pub mod barrier;
pub mod counter;
pub mod gate;
pub mod objects;
pub mod once;
pub mod semaphore;
pub mod unique;

use crate::domain::constants::ConstantSet;
use crate::locks::lockset::{LockId, held};
use crate::order::gate::Gates;
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::race::access::Access;
use crate::solver::cells::CellId;
use crate::solver::invariants::{Guard, Invariants};
use crate::threads::groups::ThreadGroups;
use std::collections::BTreeSet;

/// An event that other threads can see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncEvent {
    /// A cell becomes nonzero.
    Set(CellId),
    /// A semaphore that started at 0 was posted.
    Raised(LockId),
    /// The function called once for this variable has returned.
    Once(LockId),
    /// A thread adds one to a counter.
    Adds(CellId),
    /// A counter has at least this value.
    Counted(CellId, i64),
    /// A function was registered that runs when the program ends.
    Registered(InstanceId),
    /// A thread that one place creates has taken a lock ([`gate`]).
    Passed(ThreadId, LockId),
}

/// Returns true if two accesses cannot happen at the same time.
pub fn is_ordered(
    points_to: &PointsTo<'_>,
    groups: &ThreadGroups,
    invariants: &Invariants,
    gates: &Gates,
    first: &Access,
    second: &Access,
) -> bool {
    // A function called once is called by one thread.
    first.state.inside.iter().any(|event| second.state.inside.contains(event))
        || is_taken_and_free(invariants, first, second)
        || is_taken_and_free(invariants, second, first)
        || is_before(points_to, groups, invariants, gates, first, second)
        || is_before(points_to, groups, invariants, gates, second, first)
        || gates.are_ordered(points_to, first, second)
        || gates.are_ordered(points_to, second, first)
        || barrier::are_in_different_rounds(points_to, groups, invariants, first, second)
}

/// Returns true if one access holds a variable that is a lock, and the other, under a lock that all its writers hold,
/// finds it free.
fn is_taken_and_free(invariants: &Invariants, first: &Access, second: &Access) -> bool {
    let is_free = |cell: &CellId| match &invariants.cell(*cell).guard {
        Guard::Settled => false,
        Guard::Locks(locks) => held(&second.state).any(|lock| locks.contains(&lock.id)),
    };
    let mut zero = second.state.cells.iter().filter(|(_, value)| **value == 0).map(|(cell, _)| cell);
    zero.any(|cell| is_free(cell) && held(&first.state).any(|lock| lock.id == *invariants.key(*cell)))
}

fn is_before(
    points_to: &PointsTo<'_>,
    groups: &ThreadGroups,
    invariants: &Invariants,
    gates: &Gates,
    first: &Access,
    second: &Access,
) -> bool {
    // A created thread comes after everything that its creator had seen.
    second.state.seen.iter().chain(gates.seen(second.thread)).any(|event| match event {
        SyncEvent::Once(_) => first.state.inside.contains(event),
        SyncEvent::Raised(key) => {
            let counts = |known: &semaphore::SemaphoreInvariant| known.begins_with(0);
            !invariants.any_semaphore
                && invariants.semaphores.get(key).is_some_and(counts)
                && is_before_all(points_to, invariants, first, event)
        }
        SyncEvent::Set(cell) => {
            let invariant = invariants.cell(*cell);
            // It is still zero, and cannot change while a lock that all its writers hold is held.
            let is_zero = match &invariant.guard {
                Guard::Settled => false,
                Guard::Locks(locks) => {
                    first.state.cells.get(cell) == Some(&0) && held(&first.state).any(|lock| locks.contains(&lock.id))
                }
            };
            invariant.is_flag && (is_zero || is_before_all(points_to, invariants, first, event))
        }
        SyncEvent::Counted(cell, count) => {
            let (invariant, adds) = (invariants.cell(*cell), SyncEvent::Adds(*cell));
            let Some(threads) = invariants.makers.get(&adds) else { return false };
            // If the count has reached the maximum, the thread of the access has already added its own.
            invariant.counts
                && invariant.start == ConstantSet::Some(BTreeSet::from([0]))
                && threads.contains(&first.thread)
                && !first.state.done.contains(&adds)
                && size(points_to, groups, threads)
                    .is_some_and(|most| i64::try_from(most).is_ok_and(|most| most <= *count))
        }
        // Gates are compared on their own. To register a function orders nothing.
        SyncEvent::Adds(_) | SyncEvent::Passed(..) | SyncEvent::Registered(_) => false,
    })
}

/// Returns the maximum number of threads that these places create.
pub(super) fn size(points_to: &PointsTo<'_>, groups: &ThreadGroups, threads: &BTreeSet<ThreadId>) -> Option<u64> {
    let members = |thread: &ThreadId| {
        let root = points_to.threads[*thread].root;
        if points_to.is_once(root) { Some(1) } else { groups.size(points_to, *thread) }
    };
    threads.iter().map(members).sum()
}

/// Returns true if the thread of an access is the only one that causes an event, exists only once, and has not caused
/// the event yet.
fn is_before_all(points_to: &PointsTo<'_>, invariants: &Invariants, access: &Access, event: &SyncEvent) -> bool {
    let root = points_to.threads[access.thread].root;
    let mut makers = invariants.makers.get(event).into_iter().flatten();
    makers.all(|&maker| maker == access.thread) && points_to.is_once(root) && !access.state.done.contains(event)
}
