//! Threads that wait for ever: for each other, or for a signal that came too early.

use crate::Culprit;
use crate::place::Places;
use crate::threads::Threads;
use racehunter_explore::Execution;
use racehunter_finding::{Finding, Kind, Site};
use racehunter_log::{AccessMode, Address, Blockage, Entry, Event, ThreadId, Wait, entries};
use racehunter_report::causes::{self, Link};
use racehunter_report::messages;

/// A thread that waits at the end of an execution, and what it waits for.
pub(crate) struct Waiter<'e> {
    pub(crate) entry: Entry<'e>,
    pub(crate) on: Blockage,
}

/// Returns the threads that wait at the end of an execution.
pub(crate) fn waiters(execution: &Execution) -> Vec<Waiter<'_>> {
    execution.thread_states().filter_map(|(entry, on)| on.map(|on| Waiter { entry, on })).collect()
}

pub(crate) fn describe(places: &Places<'_>, finding: &mut Finding) -> Option<Culprit> {
    let execution = places.execution;
    let waiting = waiters(execution);
    let cycle = cycle(&waiting);
    // Threads that wait for each other come first, in the order of the cycle: the others wait because of them. So do threads
    // that wait for the end of another one that waits.
    let turn = |waiter: &Waiter<'_>| cycle.iter().position(|&thread| thread == waiter.entry.thread());
    let joins = |waiter: &Waiter<'_>| {
        let is_waiting = |thread| waiting.iter().any(|other| other.entry.thread() == thread);
        waiter.on.wait == Wait::Join && is_waiting(waiter.on.target())
    };
    let mut ordered: Vec<&Waiter<'_>> = waiting.iter().collect();
    ordered.sort_by_key(|waiter| (turn(waiter).unwrap_or(usize::MAX), joins(waiter)));
    for Waiter { entry, on } in ordered {
        let (operation, waiting) = places.waiting(on, *entry);
        let mut site = places.site(*entry, operation, 0);
        site.waits_for = Some(waiting);
        finding.sites.push(site);
    }
    let all = waiting.len() == execution.thread_states().count();
    finding.message = match cycle.as_slice() {
        [] => messages::deadlock(waiting.len(), all),
        cycle => causes::cycle(&links(places, &waiting, cycle)),
    };
    let is_lost = cycle.is_empty() && waiting.iter().any(|waiter| lost_signal(places, waiter).is_some());
    finding.kind = if is_lost { Kind::LostWakeup } else { Kind::Deadlock };
    waiting.iter().for_each(|waiter| note_topic(places, waiter));
    execution.entries().next_back().and_then(|entry| Culprit::state(entry.number()))
}

/// Returns what each thread of a cycle holds, and what it waits for.
fn links(places: &Places<'_>, waiting: &[Waiter<'_>], cycle: &[ThreadId]) -> Vec<Link> {
    let waiter_of = |thread: ThreadId| waiting.iter().find(|waiter| waiter.entry.thread() == thread);
    let before = cycle.iter().cycle().skip(cycle.len() - 1);
    cycle
        .iter()
        .zip(before)
        .filter_map(|(&thread, &before)| {
            let wanted = waiter_of(before)?;
            let is_lock = matches!(wanted.on.wait, Wait::Mutex | Wait::ReadLock | Wait::WriteLock);
            let holds = is_lock.then(|| places.lock_name(wanted.on.object));
            let waiter = waiter_of(thread)?;
            let waits_for = match waiter.on.wait {
                Wait::Join => format!("the end of {}", Threads::short(waiter.on.target())),
                Wait::Once => places.awaited(&waiter.on, waiter.entry),
                _ => format!("`{}`", places.waiting(&waiter.on, waiter.entry).1.object),
            };
            Some(Link { thread: Threads::short(thread), holds, waits_for })
        })
        .collect()
}

/// Finds a lost signal: the condition variable on which a thread waits was signalled by another thread before the wait
/// began, and never after. Returns where in the log the last such signal and the beginning of the wait are.
pub(crate) fn lost_signal(places: &Places<'_>, waiter: &Waiter<'_>) -> Option<(usize, usize)> {
    if waiter.on.wait != Wait::Condition {
        return None;
    }
    let (awaited, thread) = (Address(waiter.on.object), waiter.entry.thread());
    let records = &places.execution.records;
    let began = wait_of(places, waiter)?;
    let signals = |entry: &Entry<'_>| signalled(entry) == Some(awaited);
    let (before, after) = records.split_at(began);
    if entries(after).any(|entry| signals(&entry)) {
        return None;
    }
    let signal = entries(before).rposition(|entry| entry.thread() != thread && signals(&entry))?;
    Some((signal, began))
}

/// Returns true if nothing has ever signalled the condition variable on which a thread waits.
pub(crate) fn is_never_signalled(places: &Places<'_>, waiter: &Waiter<'_>) -> bool {
    let awaited = Address(waiter.on.object);
    waiter.on.wait == Wait::Condition && !places.execution.entries().any(|entry| signalled(&entry) == Some(awaited))
}

/// Returns the condition variable that an entry signals.
fn signalled(entry: &Entry<'_>) -> Option<Address> {
    match entry.event() {
        Event::Signal { condition } | Event::Broadcast { condition } => Some(condition),
        _ => None,
    }
}

/// Returns where in the log the last wait of a thread on a condition variable began.
fn wait_of(places: &Places<'_>, waiter: &Waiter<'_>) -> Option<usize> {
    let (awaited, thread) = (Address(waiter.on.object), waiter.entry.thread());
    places.execution.entries().rposition(|entry| {
        entry.thread() == thread && matches!(entry.event(), Event::Wait { condition, .. } if condition == awaited)
    })
}

/// Notes what the report must show of a waiting thread: operations on what it waits for, where it took the locks that
/// it holds, and what it read before it began to wait.
fn note_topic(places: &Places<'_>, waiter: &Waiter<'_>) {
    let mut topic = places.topic.borrow_mut();
    let (_, locks) = places.stack(waiter.entry);
    topic.locks.extend(locks.into_iter().map(|lock| (waiter.entry.thread(), lock, waiter.entry.number())));
    if matches!(waiter.on.wait, Wait::Condition | Wait::Semaphore | Wait::Barrier | Wait::Futex) {
        topic.objects.push(waiter.on.object);
    }
    let Some(began) = wait_of(places, waiter).filter(|_| waiter.on.wait == Wait::Condition) else { return };
    let own = entries(&places.execution.records[..began]).rev().filter(|entry| entry.thread() == waiter.entry.thread());
    let inside = own.take_while(|entry| !matches!(entry.event(), Event::Acquire { .. } | Event::Release { .. }));
    let read =
        |entry: Entry<'_>| entry.access().filter(|access| access.mode.reads() && access.mode != AccessMode::Free);
    topic.memory.extend(inside.filter_map(read).map(|access| access.address.0..access.address.0 + access.size.max(1)));
}

/// Returns the threads of a cycle, each waiting for something that the next one owns, from the one that was created
/// first.
fn cycle(waiting: &[Waiter<'_>]) -> Vec<ThreadId> {
    let owner_of = |thread: ThreadId| waiting.iter().find(|waiter| waiter.entry.thread() == thread)?.on.owner;
    for start in waiting.iter().map(|waiter| waiter.entry.thread()) {
        let mut seen = vec![start];
        while let Some(next) = owner_of(seen[seen.len() - 1]) {
            if next == start {
                let first = (0..seen.len()).min_by_key(|&at| seen[at].0).unwrap_or(0);
                seen.rotate_left(first);
                return seen;
            }
            if seen.contains(&next) {
                break;
            }
            seen.push(next);
        }
    }
    Vec::new()
}

/// Returns the lock that a thread waits for, if the source has a name for it. A function that locks its argument is the
/// place of many deadlocks.
pub(crate) fn lock_of(site: &Site) -> Option<String> {
    let named = |name: &&String| name.chars().all(|letter| letter.is_alphanumeric() || "_.:[]".contains(letter));
    let waiting = site.waits_for.as_ref().filter(|_| site.access == "lock")?;
    Some(&waiting.object).filter(named).map(|name| format!("lock {name}"))
}
