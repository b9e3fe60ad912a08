//! Threads that wait for ever: for each other, or for a signal that came too early.

use crate::Culprit;
use crate::place::Places;
use crate::threads::Threads;
use racehunter_explore::Execution;
use racehunter_finding::{Finding, Kind, Site};
use racehunter_log::{Access, AccessMode, Address, Blockage, Entry, Event, ThreadId, Wait, WaitEndReason, entries};
use racehunter_report::causes::{self, Link};
use racehunter_report::messages;
use std::ops::Range;

/// Maximum number of threads for which the log is searched for what each of them missed.
const MANY: usize = 200;
/// Maximum number of entries of a thread that are searched for what it read before it began to wait.
const SEARCHED: usize = 1_000;

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
    // A thread that would find something new if it looked again says more than one that has nothing to do.
    let has_nothing_new =
        |waiter: &Waiter<'_>| Looked::before(places, waiter).is_none_or(|looked| looked.changed.is_none());
    let mut ordered: Vec<&Waiter<'_>> = waiting.iter().collect();
    ordered.sort_by_cached_key(|waiter| (turn(waiter).unwrap_or(usize::MAX), joins(waiter), has_nothing_new(waiter)));
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

/// Finds a signal that wakes another thread than the one that needs it: that one began to wait before the signal, and would
/// find something new if it looked again. Returns where in the log the last signal and the end of the other wait are.
pub(crate) fn taken_signal(places: &Places<'_>, waiter: &Waiter<'_>) -> Option<(usize, usize)> {
    let awaited = Address(waiter.on.object);
    let looked = Looked::before(places, waiter).filter(|looked| looked.changed.is_some())?;
    let records = &places.execution.records;
    let later = entries(&records[looked.began..]).rposition(|entry| signalled(&entry) == Some(awaited))?;
    let signal = looked.began + later;
    let is_for_one = matches!(Entry::of(&records[signal]).event(), Event::Signal { .. });
    let woken = woken_after(places, signal, waiter.on.object).filter(|_| is_for_one)?;
    (Entry::of(&records[woken]).thread() != waiter.entry.thread()).then_some((signal, woken))
}

/// Returns where in the log a signal of a condition variable wakes a thread, after a given position.
pub(crate) fn woken_after(places: &Places<'_>, signal: usize, condition: u64) -> Option<usize> {
    let is_woken = |event: Event| matches!(event, Event::WaitEnd { condition: of, reason: WaitEndReason::Signalled, .. } if of.0 == condition);
    let after = entries(&places.execution.records[signal..]).position(|entry| is_woken(entry.event()))?;
    Some(signal + after)
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

/// What a thread has looked at before it began to wait on a condition variable.
pub(crate) struct Looked {
    /// Where in the log the wait begins.
    pub(crate) began: usize,
    /// The memory that it read since it took the lock.
    memory: Vec<Range<u64>>,
    /// Where in the log another thread last wrote some of it after that. Not known if there are very many threads.
    pub(crate) changed: Option<usize>,
}

impl Looked {
    pub(crate) fn before(places: &Places<'_>, waiter: &Waiter<'_>) -> Option<Self> {
        if waiter.on.wait != Wait::Condition {
            return None;
        }
        let began = wait_of(places, waiter)?;
        let (records, thread) = (&places.execution.records, waiter.entry.thread());
        let own = (0..began).rev().filter(|&at| Entry::of(&records[at]).thread() == thread);
        let inside = own.take_while(|&at| {
            !matches!(Entry::of(&records[at]).event(), Event::Acquire { .. } | Event::Release { .. })
        });
        let read = |at: usize| {
            let access = Entry::of(&records[at]).access()?;
            (access.mode.reads() && access.mode != AccessMode::Free).then_some((at, access))
        };
        let reads: Vec<(usize, Access)> = inside.take(SEARCHED).filter_map(read).collect();
        let first = reads.last().map_or(began, |&(at, _)| at);
        let mut memory: Vec<Range<u64>> =
            reads.iter().map(|(_, read)| read.address.0..read.address.0 + read.size.max(1)).collect();
        memory.sort_by_key(|range| (range.start, range.end));
        memory.dedup();
        let changes = |access: Access| {
            let (start, end) = access.range();
            access.mode.writes()
                && access.mode != AccessMode::Free
                && memory.iter().any(|range| start < range.end && range.start < end)
        };
        let is_change = |entry: Entry<'_>| entry.thread() != thread && entry.access().is_some_and(changes);
        let is_worth_it = places.threads.number() <= MANY;
        let changed = || entries(&records[first..]).rposition(is_change).map(|after| first + after);
        let changed = is_worth_it.then(changed).flatten();
        Some(Self { began, memory, changed })
    }
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
    topic.memory.extend(Looked::before(places, waiter).into_iter().flat_map(|looked| looked.memory));
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
