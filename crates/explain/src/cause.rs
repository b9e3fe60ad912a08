//! The cause of a finding in one sentence.
//!
//! A sentence only repeats what the log of the replayed execution shows: which thread did what, and in which order. If
//! the log does not show it, there is no sentence.

use crate::deadlock::{Looked, Waiter, is_never_signalled, lost_signal, taken_signal, waiters, woken_after};
use crate::place::Places;
use crate::relevance::{self, Away};
use crate::steps::{Done, memory};
use crate::threads::Threads;
use racehunter_finding::{Finding, Kind, Site};
use racehunter_log::{Access, AccessMode, Entry, Event, ThreadId, Wait};
use racehunter_report::causes::{self, Meets};

/// Maximum number of steps for which all memory is compared.
const SEARCHED: usize = 200_000;

/// A sentence, and the steps that it names.
pub(crate) struct Cause {
    pub(crate) sentence: String,
    /// As indices into all steps.
    pub(crate) steps: Vec<usize>,
}

/// Returns the cause of a finding, if the log shows it.
pub(crate) fn of(places: &Places<'_>, finding: &Finding, steps: &[Done]) -> Option<Cause> {
    match finding.kind {
        Kind::DataRace => race(finding),
        Kind::UseAfterFree | Kind::DoubleFree => freed(finding, steps),
        Kind::LostWakeup => lost_wakeup(places, steps),
        Kind::Deadlock => stuck(places, steps),
        Kind::Assertion | Kind::Crash => failure(places, steps),
        Kind::ExitStatus | Kind::Output => preempted(places, steps).or_else(|| changed_while_away(places, steps, None)),
        Kind::Misuse | Kind::Atomicity => None,
    }
}

/// Returns `T1` for the path of a thread.
fn name(finding: &Finding, site: &Site) -> Option<String> {
    let number = finding.threads.iter().position(|thread| thread.path == site.thread)?;
    Some(Threads::short(ThreadId(u32::try_from(number).ok()?)))
}

/// Returns which locks the two threads of a race hold.
fn race(finding: &Finding) -> Option<Cause> {
    let [first, second] = finding.sites.as_slice() else { return None };
    // The locks at an access that is not in the log are unknown.
    if first.event == 0 || second.event == 0 {
        return None;
    }
    let names = [name(finding, first)?, name(finding, second)?];
    // A signal handler races with the thread that it interrupts, and locks do not help.
    if names[0] == names[1] || first.locks.iter().any(|lock| second.locks.contains(lock)) {
        return None;
    }
    let atomic = [first, second].map(|site| site.access.starts_with("atomic"));
    let access = |site: &Site| site.access.trim_start_matches("atomic-").to_owned();
    let sentence = match atomic {
        [true, false] => causes::half_atomic(&names[0], &access(first), &names[1], &access(second)),
        [false, true] => causes::half_atomic(&names[1], &access(second), &names[0], &access(first)),
        _ => causes::no_common_lock((&names[0], &first.locks), (&names[1], &second.locks)),
    };
    Some(Cause { sentence, steps: Vec::new() })
}

/// Returns the step of a site.
fn step_of(steps: &[Done], site: &Site) -> Option<usize> {
    let is_it = |done: &Done| done.step.event == site.event && done.step.path == site.thread;
    let is_free = |done: &Done| (done.step.what.split(' ').next() == Some("free")) == (site.access == "free");
    (site.event > 0).then(|| steps.iter().position(|done| is_it(done) && is_free(done))).flatten()
}

/// Explains memory that one thread frees and another one uses or frees.
fn freed(finding: &Finding, steps: &[Done]) -> Option<Cause> {
    let [first, second] = finding.sites.as_slice() else { return None };
    let (a, b) = (step_of(steps, first)?, step_of(steps, second)?);
    let names = [name(finding, first)?, name(finding, second)?];
    let is_freed = first.access == "free" || second.access == "free";
    if a >= b || !is_freed || first.access.is_empty() || second.access.is_empty() {
        return None;
    }
    let side = |name: &str, site: &Site, step: usize| (name.to_owned(), site.access.replace('-', " "), number(step));
    let sentence = causes::freed_in_order(&side(&names[0], first, a), &side(&names[1], second, b));
    Some(Cause { sentence, steps: vec![a, b] })
}

/// Converts an index to a step number, counted from 1.
fn number(step: usize) -> u64 {
    step as u64 + 1
}

/// Returns the signal that came too early, or that woke the wrong thread. Of several threads that wait, those come first that
/// would find something new if they looked again: the others may have nothing to do.
fn lost_wakeup(places: &Places<'_>, steps: &[Done]) -> Option<Cause> {
    let waiting = waiters(places.execution);
    let has_news = |waiter: &&Waiter<'_>| Looked::before(places, waiter).is_some_and(|looked| looked.changed.is_some());
    let (first, others): (Vec<_>, Vec<_>) = waiting.iter().partition(has_news);
    let missed = first
        .into_iter()
        .find_map(|waiter| early_signal(places, waiter, steps).or_else(|| signal_of_another(places, waiter, steps)));
    missed.or_else(|| others.into_iter().find_map(|waiter| early_signal(places, waiter, steps)))
}

/// Explains a thread that waits on a condition variable by a signal before the wait.
fn early_signal(places: &Places<'_>, waiter: &Waiter<'_>, steps: &[Done]) -> Option<Cause> {
    let (signal, wait) = lost_signal(places, waiter)?;
    let step_at = |at: usize| steps.iter().position(|done| done.at == at);
    let (signal_step, wait_step) = (step_at(signal)?, step_at(wait)?);
    let entry = Entry::of(&places.execution.records[signal]);
    let does = if matches!(entry.event(), Event::Broadcast { .. }) { "broadcasts" } else { "signals" };
    let condition = places.lock_name(waiter.on.object);
    let by = (Threads::short(entry.thread()), number(signal_step));
    // A signal that woke a thread is not lost: that thread was the wrong one, or had nothing to do.
    if let Some(woken) = woken_after(places, signal, waiter.on.object) {
        let woken_step = step_at(woken).filter(|_| matches!(entry.event(), Event::Signal { .. }))?;
        let thread = Entry::of(&places.execution.records[woken]).thread();
        let sentence = causes::taken_signal(&condition, &by, &(Threads::short(thread), number(woken_step)), None);
        return Some(Cause { sentence, steps: vec![signal_step, woken_step, wait_step] });
    }
    let of = (Threads::short(waiter.entry.thread()), number(wait_step));
    let sentence = causes::early_signal(does, &condition, &by, &of);
    Some(Cause { sentence, steps: vec![signal_step, wait_step] })
}

/// Explains a thread that waits on a condition variable by a signal that wakes another one.
fn signal_of_another(places: &Places<'_>, waiter: &Waiter<'_>, steps: &[Done]) -> Option<Cause> {
    let (signal, woken) = taken_signal(places, waiter)?;
    let wait = Looked::before(places, waiter)?.began;
    let step_at = |at: usize| steps.iter().position(|done| done.at == at);
    let thread = |at: usize| Threads::short(Entry::of(&places.execution.records[at]).thread());
    let (signal_step, woken_step, wait_step) = (step_at(signal)?, step_at(woken)?, step_at(wait)?);
    let waits = (Threads::short(waiter.entry.thread()), number(wait_step));
    let sentence = causes::taken_signal(
        &places.lock_name(waiter.on.object),
        &(thread(signal), number(signal_step)),
        &(thread(woken), number(woken_step)),
        Some(&waits),
    );
    Some(Cause { sentence, steps: vec![signal_step, woken_step, wait_step] })
}

/// Explains a thread that waits while it holds what another one waits for, or that waits for a signal that woke another thread,
/// or that no thread has ever sent. Threads that wait in a cycle are in the message.
fn stuck(places: &Places<'_>, steps: &[Done]) -> Option<Cause> {
    let waiting = waiters(places.execution);
    let waits_for = |waiter: &Waiter<'_>| places.waiting(&waiter.on, waiter.entry).1.object;
    let is_lock = |waiter: &Waiter<'_>| matches!(waiter.on.wait, Wait::Mutex | Wait::ReadLock | Wait::WriteLock);
    let holder = waiting.iter().filter(|waiter| waiter.on.owner.is_none() && !is_lock(waiter)).find_map(|waiter| {
        let behind = waiting.iter().filter(|other| is_lock(other));
        let mut behind = behind.filter(|other| other.on.owner == Some(waiter.entry.thread()));
        behind.next().map(|behind| (waiter, behind))
    });
    let sentence = match holder {
        Some((waiter, behind)) => causes::waits_holding(
            &Threads::short(waiter.entry.thread()),
            &waits_for(waiter),
            &places.lock_name(behind.on.object),
            &Threads::short(behind.entry.thread()),
        ),
        None => {
            if let Some(cause) = waiting.iter().find_map(|waiter| signal_of_another(places, waiter, steps)) {
                return Some(cause);
            }
            let Some(waiter) = waiting.iter().find(|waiter| is_never_signalled(places, waiter)) else {
                return stuck_on_words(places, &waiting, steps);
            };
            causes::never_signalled(&Threads::short(waiter.entry.thread()), &places.lock_name(waiter.on.object))
        }
    };
    Some(Cause { sentence, steps: Vec::new() })
}

/// Explains threads that wait on futexes, as the locks of Rust do. A futex has no owner: the last other thread that changed
/// its word comes closest, if it waits for ever too.
fn stuck_on_words(places: &Places<'_>, waiting: &[Waiter<'_>], steps: &[Done]) -> Option<Cause> {
    let changed_by_other = |waiter: &Waiter<'_>| {
        steps.iter().rposition(|done| {
            let entry = Entry::of(&places.execution.records[done.at]);
            let changes = |access: Access| {
                let (start, end) = access.range();
                access.mode.writes() && access.mode != AccessMode::Free && (start..end).contains(&waiter.on.object)
            };
            entry.thread() != waiter.entry.thread() && entry.access().is_some_and(changes)
        })
    };
    let waits = waiting.iter().filter(|waiter| waiter.on.wait == Wait::Futex).filter_map(|waiter| {
        let step = changed_by_other(waiter)?;
        let other = ThreadId(steps[step].step.thread);
        let waits_too = waiting.iter().any(|waiter| waiter.entry.thread() == other);
        waits_too.then_some((waiter.entry.thread(), other, step))
    });
    let waits: Vec<(ThreadId, ThreadId, usize)> = waits.collect();
    let &(first, other, step) = waits.first()?;
    let back = waits.iter().find(|&&(waiter, changer, _)| (waiter, changer) == (other, first)).map(|&(.., step)| step);
    let changed = (Threads::short(other), number(step));
    let sentence = causes::changed_last(&Threads::short(first), &changed, back.map(number));
    Some(Cause { sentence, steps: back.into_iter().chain([step]).collect() })
}

/// An access to the memory that a failure is about.
struct Touch<'e> {
    step: usize,
    entry: Entry<'e>,
    access: Access,
}

impl Touch<'_> {
    fn thread(&self) -> ThreadId {
        self.entry.thread()
    }

    fn word(&self) -> &'static str {
        if self.access.mode.writes() { "write" } else { "read" }
    }
}

/// Returns all accesses to the memory that the failure is about, in order.
fn touches<'e>(places: &Places<'e>, steps: &[Done]) -> Vec<Touch<'e>> {
    let topic = places.topic.borrow();
    touches_of(places, steps, |access| topic.has(access))
}

fn touches_of<'e>(places: &Places<'e>, steps: &[Done], counts: impl Fn(&Access) -> bool) -> Vec<Touch<'e>> {
    let touch = |(step, done): (usize, &Done)| {
        let access = relevance::access(places, done).filter(&counts)?;
        Some(Touch { step, entry: Entry::of(&places.execution.records[done.at]), access })
    };
    steps.iter().enumerate().filter_map(touch).collect()
}

/// Returns the thread that failed.
fn failed(places: &Places<'_>) -> Option<ThreadId> {
    places.execution.thread_states().next().map(|(entry, _)| entry.thread())
}

/// Returns true if a thread is preempted after one of its steps, and before or at a later one.
fn is_preempted_between(steps: &[Done], first: usize, last: usize) -> bool {
    let thread = steps[last].step.thread;
    (first + 1..=last).any(|at| steps[at].step.preempted && steps[at - 1].step.thread == thread)
}

/// Explains a failed assertion or a crash. What is close to the failure says most.
fn failure(places: &Places<'_>, steps: &[Done]) -> Option<Cause> {
    let mut written = last_write(places, steps);
    let preempted = written.take_if(|(_, is_preempted)| *is_preempted);
    interrupted(places, steps)
        .or(preempted.map(|(cause, _)| cause))
        .or_else(|| stale_anywhere(places, steps))
        .or_else(|| changed_while_away(places, steps, failed(places)))
        .or(written.map(|(cause, _)| cause))
}

/// Explains a preemption between two consecutive accesses of a thread to the memory that the failure is about, while
/// another thread writes it: between a read and a write, so that the write is based on an old value; or between two
/// accesses of the thread that fails.
fn interrupted(places: &Places<'_>, steps: &[Done]) -> Option<Cause> {
    let touches = touches(places, steps);
    let failed = failed(places)?;
    let last_read = touches.iter().rposition(|touch| touch.thread() == failed && touch.access.mode.reads())?;
    written_between(places, steps, &touches[..=last_read], |first, last| {
        last.thread() == failed || is_stale(first, last)
    })
}

/// Explains a failure by other memory than that which the failing thread read last, such as entries of a table whose sum is
/// wrong: a write that is based on an old value.
fn stale_anywhere(places: &Places<'_>, steps: &[Done]) -> Option<Cause> {
    if steps.len() > SEARCHED {
        return None;
    }
    let memory = relevance::changed_meanwhile(places, steps);
    let is_in = |access: &Access| {
        let (start, end) = access.range();
        memory.iter().any(|range| start < range.end && range.start < end)
    };
    written_between(places, steps, &touches_of(places, steps, is_in), is_stale)
}

/// Explains a value that a thread reads after another one has written it while the thread was preempted. `of` is the thread,
/// if only one of them counts.
fn changed_while_away(places: &Places<'_>, steps: &[Done], of: Option<ThreadId>) -> Option<Cause> {
    let access = |at: usize| relevance::access(places, &steps[at]);
    let preemptions = (1..steps.len()).rev().filter(|&at| steps[at].step.preempted);
    let away = preemptions.filter_map(|at| Some((at, Away::from(steps, at)?)));
    away.filter(|(_, away)| of.is_none_or(|of| of.0 == away.thread)).find_map(|(at, away)| {
        let writes =
            away.meanwhile().rev().filter_map(|at| Some((at, access(at).filter(|access| access.mode.writes())?)));
        let writes: Vec<(usize, Access)> = writes.collect();
        let mut own: Vec<Access> = Vec::new();
        let (write, read, seen) = away.afterwards(steps).find_map(|at| {
            let here = access(at)?;
            let write = writes.iter().find(|(_, write)| write.overlaps(&here)).map(|&(at, _)| at);
            let is_own = own.iter().any(|before| before.overlaps(&here));
            if here.mode.writes() {
                own.push(here);
            }
            let counts = here.mode.reads() && !is_own && !relevance::is_unnamed(&steps[at].step);
            Some((write.filter(|_| counts)?, at, here))
        })?;
        let name = memory(places, Entry::of(&places.execution.records[steps[read].at]), seen);
        let by = (Threads::short(ThreadId(steps[write].step.thread)), number(write));
        let of = (Threads::short(ThreadId(away.thread)), number(read));
        let sentence = causes::changed_while_away(&name, &by, number(at - 1), &of);
        Some(Cause { sentence, steps: vec![at - 1, write, read] })
    })
}

/// Explains a status or output that depends on the schedule: a thread is preempted between two accesses to memory that
/// another thread writes meanwhile. A write that is based on an old value says most.
fn preempted(places: &Places<'_>, steps: &[Done]) -> Option<Cause> {
    let touches = touches(places, steps);
    written_between(places, steps, &touches, is_stale).or_else(|| written_between(places, steps, &touches, |_, _| true))
}

/// Returns true if the later of two accesses writes what follows from the value that the earlier one read.
fn is_stale(first: &Touch<'_>, last: &Touch<'_>) -> bool {
    first.word() == "read" && last.word() == "write"
}

/// Returns the last place where a thread is preempted between two consecutive accesses of its own while another thread writes
/// the memory, among the pairs that count.
fn written_between<'e>(
    places: &Places<'e>,
    steps: &[Done],
    touches: &[Touch<'e>],
    counts: impl Fn(&Touch<'e>, &Touch<'e>) -> bool,
) -> Option<Cause> {
    (0..touches.len()).rev().find_map(|at| {
        let last = &touches[at];
        let is_before = |touch: &Touch<'_>| touch.thread() == last.thread() && touch.access.overlaps(&last.access);
        let own = touches[..at].iter().rposition(is_before)?;
        let first = &touches[own];
        let between = touches[own..at].iter().rev().find(|touch| {
            touch.thread() != last.thread()
                && touch.access.mode.writes()
                && touch.access.overlaps(&first.access)
                && touch.access.overlaps(&last.access)
        })?;
        if !counts(first, last) || !is_preempted_between(steps, first.step, last.step) {
            return None;
        }
        let of = |touch: &Touch<'_>| (touch.word(), number(touch.step));
        let sentence = causes::between(&Meets {
            name: memory(places, last.entry, last.access),
            by: (Threads::short(between.thread()), number(between.step)),
            of: Threads::short(last.thread()),
            first: of(first),
            last: of(last),
        });
        Some(Cause { sentence, steps: vec![first.step, between.step, last.step] })
    })
}

/// Explains a value that the failing thread has read and another thread has written. Returns also whether that thread was
/// preempted after that.
fn last_write(places: &Places<'_>, steps: &[Done]) -> Option<(Cause, bool)> {
    let touches = touches(places, steps);
    let failed = failed(places)?;
    let reads = (0..touches.len()).rev().take_while(|&at| touches[at].thread() == failed);
    reads.filter(|&at| touches[at].access.mode.reads()).find_map(|at| {
        let read = &touches[at];
        let is_write = |touch: &&Touch<'_>| touch.access.mode.writes() && touch.access.overlaps(&read.access);
        let written = touches[..at].iter().rev().find(is_write)?;
        let seen = steps[read.step].step.value.as_ref()?.before.as_ref()?;
        let left = steps[written.step].step.value.as_ref()?.after.as_ref()?;
        // A write that is not in the log would have left another value.
        if written.thread() == failed || seen != left || written.access.range() != read.access.range() {
            return None;
        }
        let name = memory(places, read.entry, read.access);
        let by = (Threads::short(written.thread()), number(written.step));
        let is_preempted = (written.step + 1..read.step)
            .any(|at| steps[at].step.preempted && steps[at - 1].step.thread == written.thread().0);
        let mut sentence = causes::last_written(&name, seen, (&by, is_preempted), number(read.step));
        let mut cited = vec![written.step, read.step];
        if is_preempted && let Some((reason, more)) = reason_to_continue(places, steps, read, written.thread()) {
            sentence += &reason;
            cited.extend(more);
        }
        Some((Cause { sentence, steps: cited }, is_preempted))
    })
}

/// Returns what the failing thread has read before `read`, since it was switched to, of what another thread had written: the
/// reason why it did not wait for that thread.
fn reason_to_continue(
    places: &Places<'_>,
    steps: &[Done],
    read: &Touch<'_>,
    by: ThreadId,
) -> Option<(String, [usize; 2])> {
    let access = |at: usize| relevance::access(places, &steps[at]);
    let thread = read.thread().0;
    let own = (0..read.step).rev().take_while(|&at| steps[at].step.thread == thread);
    own.filter(|&at| !relevance::is_unnamed(&steps[at].step)).find_map(|at| {
        let seen = access(at).filter(|seen| seen.mode.reads() && !seen.overlaps(&read.access))?;
        let is_write =
            |before: &usize| access(*before).is_some_and(|write| write.mode.writes() && write.overlaps(&seen));
        let write = (0..at).rev().find(is_write).filter(|&write| steps[write].step.thread == by.0)?;
        let value = steps[at].step.value.as_ref()?.before.as_ref()?;
        if steps[write].step.value.as_ref()?.after.as_ref() != Some(value) {
            return None;
        }
        let name = memory(places, Entry::of(&places.execution.records[steps[at].at]), seen);
        let (of, by) = (Threads::short(read.thread()), Threads::short(by));
        Some((causes::continued(&of, (&name, value), number(at), (&by, number(write))), [write, at]))
    })
}
