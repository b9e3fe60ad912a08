//! Pairs of accesses that events keep in order: one is over before the event, the other comes after someone saw it.

use crate::address::Offset;
use crate::beliefs::{Beliefs, Guard, Values};
use crate::cells::CellId;
use crate::crews::Crews;
use crate::flow::{Event, Key, held};
use crate::models::Model;
use crate::points_to::{PointsTo, ThreadId};
use crate::races::Access;
use std::collections::BTreeSet;

/// Whether two accesses cannot be at the same time.
pub fn is_ordered(points_to: &PointsTo<'_>, crews: &Crews, beliefs: &Beliefs, first: &Access, second: &Access) -> bool {
    // What is called once is called by one thread.
    first.state.inside.iter().any(|event| second.state.inside.contains(event))
        || is_taken_and_free(beliefs, first, second)
        || is_taken_and_free(beliefs, second, first)
        || is_before(points_to, crews, beliefs, first, second)
        || is_before(points_to, crews, beliefs, second, first)
        || are_in_different_rounds(points_to, crews, beliefs, first, second)
}

/// Whether one access has a variable that is a lock, and the other, under a lock of all who write it, finds it free.
fn is_taken_and_free(beliefs: &Beliefs, first: &Access, second: &Access) -> bool {
    let is_free = |cell: &CellId| match &beliefs.cell(*cell).guard {
        Guard::Settled => false,
        Guard::Locks(locks) => held(&second.state).any(|lock| locks.contains(&lock.key)),
    };
    let mut zero = second.state.cells.iter().filter(|(_, value)| **value == 0).map(|(cell, _)| cell);
    zero.any(|cell| is_free(cell) && held(&first.state).any(|lock| lock.key == *beliefs.key(*cell)))
}

fn is_before(points_to: &PointsTo<'_>, crews: &Crews, beliefs: &Beliefs, first: &Access, second: &Access) -> bool {
    second.state.seen.iter().any(|event| match event {
        Event::Once(_) => first.state.inside.contains(event),
        Event::Raised(key) => {
            let counts = |known: &crate::beliefs::Semaphore| known.begins_with(0);
            !beliefs.any_semaphore
                && beliefs.semaphores.get(key).is_some_and(counts)
                && is_before_all(points_to, beliefs, first, event)
        }
        Event::Set(cell) => {
            let belief = beliefs.cell(*cell);
            // It is still zero, and cannot change while a lock of all its writers is held.
            let is_zero = match &belief.guard {
                Guard::Settled => false,
                Guard::Locks(locks) => {
                    first.state.cells.get(cell) == Some(&0) && held(&first.state).any(|lock| locks.contains(&lock.key))
                }
            };
            belief.is_flag && (is_zero || is_before_all(points_to, beliefs, first, event))
        }
        Event::Counted(cell, count) => {
            let (belief, adds) = (beliefs.cell(*cell), Event::Adds(*cell));
            let Some(threads) = beliefs.makers.get(&adds) else { return false };
            // If it is as much as all of them can make it together, the thread of the access has added its own.
            belief.counts
                && belief.start == Values::Some(BTreeSet::from([0]))
                && threads.contains(&first.thread)
                && !first.state.done.contains(&adds)
                && members(points_to, crews, threads)
                    .is_some_and(|most| i64::try_from(most).is_ok_and(|most| most <= *count))
        }
        Event::Adds(_) => false,
    })
}

/// How many threads there are at most of these places.
fn members(points_to: &PointsTo<'_>, crews: &Crews, threads: &BTreeSet<ThreadId>) -> Option<u64> {
    let members = |thread: &ThreadId| {
        let root = points_to.threads[thread.0 as usize].root;
        if points_to.is_once(root) { Some(1) } else { crews.members(points_to, *thread) }
    };
    threads.iter().map(members).sum()
}

/// Whether the thread of an access, of which there is one only, is the only one that makes an event happen, and has not
/// done so yet.
fn is_before_all(points_to: &PointsTo<'_>, beliefs: &Beliefs, access: &Access, event: &Event) -> bool {
    let root = points_to.threads[access.thread.0 as usize].root;
    let mut makers = beliefs.makers.get(event).into_iter().flatten();
    makers.all(|&maker| maker == access.thread) && points_to.is_once(root) && !access.state.done.contains(event)
}

/// Whether there is a barrier that one of the threads passes between the two accesses, and only together with the other.
///
/// A barrier lets threads pass when as many wait as it is for. If no more than these ever wait at it, they all pass
/// together, and a thread that has passed it more often is later than all that the others did before.
fn are_in_different_rounds(
    points_to: &PointsTo<'_>,
    crews: &Crews,
    beliefs: &Beliefs,
    first: &Access,
    second: &Access,
) -> bool {
    let rounds = |access: &Access, key| access.state.rounds.get(key).copied().unwrap_or(Offset::exact(0));
    !beliefs.any_barrier
        && beliefs.barriers.iter().any(|(key, barrier)| {
            let takes_part = |access: &Access| barrier.threads.contains(&access.thread);
            // Numbers that are never the same; in a loop with two rounds, even ones and odd ones.
            let differ = !rounds(first, key).overlaps(1, rounds(second, key), 1);
            differ
                && !leaves_it(points_to, first, second, key)
                && !leaves_it(points_to, second, first, key)
                && takes_part(first)
                && takes_part(second)
                && barrier
                    .count()
                    .zip(members(points_to, crews, &barrier.threads))
                    .is_some_and(|(count, waiting)| waiting <= count)
        })
}

/// Whether an access is a wait at this barrier, which may not have returned yet when other waits have. The functions of barriers know
/// that; nothing else that is done with the memory of the barrier does.
fn leaves_it(points_to: &PointsTo<'_>, access: &Access, other: &Access, key: &Key) -> bool {
    let Key::At(base, _) = key else { return false };
    let models = |access: &Access| {
        let names = points_to.instances[access.instance.0 as usize].outside.get(&access.at);
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
