//! Incorrect uses of locks and threads: what was done, and why it is wrong.

use crate::place::{Places, operation_name};
use crate::{Culprit, Shown};
use racehunter_finding::Finding;
use racehunter_log::{CodeAddress, Entry, Event, Misuse, Record, ThreadId, entries};

/// An entry of the log that reports a misuse.
struct Report<'l> {
    entry: Entry<'l>,
    what: Misuse,
    object: u64,
    other: Option<ThreadId>,
}

impl<'l> Report<'l> {
    fn of(entry: Entry<'l>) -> Option<Self> {
        match entry.event() {
            Event::Misuse { what, object, other } => Some(Self { entry, what, object, other }),
            _ => None,
        }
    }

    /// Returns the name of the misused object in the source.
    fn name(&self, places: &Places<'_>) -> String {
        match self.what {
            Misuse::JoinDetached
            | Misuse::JoinTwice
            | Misuse::DetachTwice
            | Misuse::HandleOver
            | Misuse::HandleUsed => places.threads.label(ThreadId(self.object as u32)),
            _ => places.lock_name(self.object),
        }
    }

    /// Returns the thread that makes it a misuse.
    fn other_name(&self, places: &Places<'_>) -> String {
        let other = if self.what == Misuse::EndHolding { Some(self.entry.thread()) } else { self.other };
        other.map_or_else(|| "another thread".to_owned(), |thread| places.threads.label(thread))
    }
}

pub(crate) fn describe(places: &Places<'_>, what: Misuse, code: CodeAddress, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Misuse;
    let execution = places.execution;
    let mut reports = execution.entries().enumerate().filter_map(|(at, entry)| Some((at, Report::of(entry)?)));
    let found = reports.find(|(_, report)| report.what == what && report.entry.code() == code);
    let Some((at, report)) = found else {
        finding.message = phrase(what, "an object", "another thread");
        finding.sites = vec![places.bare(code)];
        return None;
    };
    let name = report.name(places);
    let reason = reason(&report, &execution.records[..at]).map(|(entry, event)| {
        let is_wait = matches!(event, Event::Blocked { .. } | Event::Suspended { .. });
        let mut site = places.site(entry, if is_wait { "wait" } else { operation_name(&event) }, 0);
        // It is held from here on.
        site.locks.retain(|lock| *lock != name);
        site
    });
    finding.message = phrase(what, &name, &report.other_name(places));
    let site = places.site(report.entry, operation(report.entry, &execution.records), 0);
    finding.sites = match (what, reason) {
        // The end of a thread has no place, but the acquisition of the lock does.
        (Misuse::EndHolding, Some(taken)) => vec![taken],
        (_, Some(reason)) => vec![site, reason],
        (_, None) => vec![site],
    };
    Some(Culprit { number: report.entry.number(), shown: Shown::Misuse })
}

/// Returns the operation that is the misuse: it has the same number.
fn operation(report: Entry<'_>, all: &[Record]) -> &'static str {
    let is_it = |entry: &Entry<'_>| {
        entry.is_operation()
            && !entry.is_access()
            && (entry.number(), entry.thread()) == (report.number(), report.thread())
    };
    entries(all).find(is_it).map_or("", |entry| operation_name(&entry.event()))
}

/// Returns what makes it a misuse: where the lock was taken, the object destroyed, the thread joined.
fn reason<'l>(report: &Report<'_>, before: &'l [Record]) -> Option<(Entry<'l>, Event)> {
    let Report { entry: misuse, object, other, .. } = *report;
    let last = |fits: &dyn Fn(Entry<'_>, &Event) -> bool| {
        let mut all = entries(before).rev().map(|entry| (entry, entry.event()));
        all.find(|(entry, event)| fits(*entry, event))
    };
    // The operation itself is in the log too.
    let is_earlier = |entry: Entry<'_>| (entry.number(), entry.thread()) != (misuse.number(), misuse.thread());
    let takes = |event: &Event| event.acquired().is_some_and(|lock| lock.0 == object);
    let is_thread = |thread: ThreadId| u64::from(thread.0) == object;
    match report.what {
        Misuse::UnlockOther | Misuse::DestroyHeld => {
            last(&|entry, event| takes(event) && other.is_none_or(|owner| entry.thread() == owner))
        }
        Misuse::EndHolding => last(&|entry, event| takes(event) && entry.thread() == misuse.thread()),
        Misuse::DestroyAwaited | Misuse::TwoMutexes => last(&|entry, event| {
            let awaited = match event {
                Event::Wait { condition, .. } => condition.0,
                Event::BarrierArrive { barrier } => barrier.0,
                Event::Blocked { on, .. } | Event::Suspended { on } => on.object,
                _ => return false,
            };
            awaited == object && is_earlier(entry) && other.is_none_or(|waiter| entry.thread() == waiter)
        }),
        Misuse::Destroyed => last(
            &|_, event| matches!(event, Event::Lifetime { object: destroyed, is_destroyed: true } if destroyed.0 == object),
        ),
        Misuse::JoinTwice => {
            last(&|entry, event| is_earlier(entry) && matches!(event, Event::Join { target, .. } if is_thread(*target)))
        }
        Misuse::JoinDetached | Misuse::DetachTwice | Misuse::HandleOver => last(&|entry, event| {
            let thread = match event {
                Event::Detach { target } | Event::Join { target, .. } => target,
                Event::Create { child, .. } => child,
                _ => return false,
            };
            is_thread(*thread) && is_earlier(entry)
        }),
        Misuse::UnlockFree => {
            last(&|entry, event| is_earlier(entry) && event.released().is_some_and(|lock| lock.0 == object))
        }
        Misuse::NotInitialised => {
            last(&|_, event| matches!(event, Event::Initialised { object: initialised } if initialised.0 == object))
        }
        Misuse::WaitUnlocked | Misuse::NeverInitialised | Misuse::HandleUsed | Misuse::None => None,
    }
}

/// Returns what is wrong, in words.
fn phrase(what: Misuse, name: &str, other: &str) -> String {
    match what {
        Misuse::UnlockFree => format!("`{name}` is unlocked, but no thread holds it"),
        Misuse::UnlockOther => format!("`{name}` is unlocked, but {other} holds it"),
        Misuse::DestroyHeld => format!("`{name}` is destroyed while {other} holds it"),
        Misuse::DestroyAwaited => format!("`{name}` is destroyed while {other} waits for it"),
        Misuse::EndHolding => format!("`{name}` is still held at the end of {other}"),
        Misuse::Destroyed => format!("`{name}` is used after it was destroyed"),
        Misuse::WaitUnlocked => format!("a thread waits with mutex `{name}`, which it does not hold"),
        Misuse::TwoMutexes => format!("two threads wait on `{name}` with different mutexes"),
        Misuse::JoinDetached => format!("{name} is joined, but it is detached"),
        Misuse::JoinTwice => format!("{name} is joined twice"),
        Misuse::DetachTwice => format!("{name} is detached, but it was detached or joined before"),
        Misuse::NotInitialised => {
            format!("`{name}` is used, and nothing makes sure that {other} has initialised it before")
        }
        Misuse::NeverInitialised => format!("`{name}` is used, but it was never initialised"),
        Misuse::HandleOver => format!("the handle of {name} is used after {name} was joined, or has ended detached"),
        Misuse::HandleUsed => format!("the handle of {name} ends here, and {other} may still use it"),
        Misuse::None => format!("`{name}` is misused"),
    }
}

/// Returns the step in the interleaving.
pub(crate) fn step(places: &Places<'_>, entry: Entry<'_>) -> Option<String> {
    let report = Report::of(entry)?;
    Some(phrase(report.what, &report.name(places), &report.other_name(places)))
}
