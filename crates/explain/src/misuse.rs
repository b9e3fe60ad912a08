//! Locks and threads that are used as they must not be: what was done, and what makes it wrong.

use crate::place::{Places, access_name};
use crate::{Culprit, Shown};
use racehunter_explore::{Kind, Misuse, Record};
use racehunter_finding::Finding;

pub(crate) fn describe(places: &Places<'_>, what: Misuse, code: u64, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Misuse;
    let records = &places.execution.records;
    let is_it = |record: &Record| record.kind == Kind::Misuse && record.detail == what as u8 && record.code == code;
    let Some(at) = records.iter().position(is_it) else {
        finding.message = phrase(what, "an object", "another thread");
        finding.sites = vec![places.bare(code)];
        return None;
    };
    let (record, before) = (&records[at], &records[..at]);
    let other = record.extra.checked_sub(1).and_then(|number| u32::try_from(number).ok());
    let name = name(places, what, record);
    let reason = reason(what, record, other, before).map(|record| {
        let mut site = places.site(record, record.kind, 0);
        if matches!(record.kind, Kind::Blocked | Kind::Suspended) {
            "wait".clone_into(&mut site.access);
        }
        // It is held from here on.
        site.locks.retain(|lock| *lock != name);
        site
    });
    let by = match what {
        Misuse::EndHolding => Some(record.thread),
        _ => other,
    };
    let by = by.map_or_else(|| "another thread".to_owned(), |thread| places.threads.label(thread));
    finding.message = phrase(what, &name, &by);
    let mut site = places.site(record, record.kind, 0);
    site.access = operation(record, records);
    finding.sites = match (what, reason) {
        // The end of a thread has no place; where the lock was taken has.
        (Misuse::EndHolding, Some(taken)) => vec![taken],
        (_, Some(reason)) => vec![site, reason],
        (_, None) => vec![site],
    };
    Some(Culprit { index: record.index, shown: Shown::Misuse })
}

/// The operation that was the misuse: it has the same number.
fn operation(record: &Record, all: &[Record]) -> String {
    let event = all.iter().find(|event| {
        event.kind.is_event() && !event.kind.is_access() && (event.index, event.thread) == (record.index, record.thread)
    });
    event.map_or("", |event| access_name(event.kind)).to_owned()
}

/// What makes it a misuse: where the lock was taken, the object destroyed, the thread joined.
fn reason<'r>(what: Misuse, record: &Record, other: Option<u32>, before: &'r [Record]) -> Option<&'r Record> {
    let last = |fits: &dyn Fn(&Record) -> bool| before.iter().rev().find(|earlier| fits(earlier));
    let about = |earlier: &Record| earlier.object == record.object;
    // The operation itself is in the log too.
    let is_earlier = |earlier: &Record| (earlier.index, earlier.thread) != (record.index, record.thread);
    match what {
        Misuse::UnlockOther | Misuse::DestroyHeld => {
            last(&|earlier| about(earlier) && takes(earlier) && other.is_none_or(|owner| earlier.thread == owner))
        }
        Misuse::EndHolding => last(&|earlier| about(earlier) && takes(earlier) && earlier.thread == record.thread),
        Misuse::DestroyAwaited | Misuse::TwoMutexes => last(&|earlier| {
            about(earlier)
                && is_earlier(earlier)
                && other.is_none_or(|waiter| earlier.thread == waiter)
                && matches!(earlier.kind, Kind::Wait | Kind::BarrierWait | Kind::Blocked | Kind::Suspended)
        }),
        Misuse::Destroyed => last(&|earlier| about(earlier) && earlier.kind == Kind::Lifetime && earlier.detail == 1),
        Misuse::JoinTwice => last(&|earlier| about(earlier) && is_earlier(earlier) && earlier.kind == Kind::Join),
        Misuse::JoinDetached | Misuse::DetachTwice => last(&|earlier| {
            about(earlier) && is_earlier(earlier) && matches!(earlier.kind, Kind::Detach | Kind::Join | Kind::Create)
        }),
        Misuse::UnlockFree => last(&|earlier| {
            about(earlier) && is_earlier(earlier) && matches!(earlier.kind, Kind::Unlock | Kind::RwUnlock)
        }),
        Misuse::NotInitialised => last(&|earlier| about(earlier) && earlier.kind == Kind::Initialised),
        Misuse::WaitUnlocked | Misuse::NeverInitialised | Misuse::None => None,
    }
}

fn takes(record: &Record) -> bool {
    match record.kind {
        Kind::Lock | Kind::ReadLock | Kind::WriteLock => true,
        Kind::TryLock | Kind::TryReadLock | Kind::TryWriteLock => record.detail == 1,
        _ => false,
    }
}

/// How the source calls what is misused.
fn name(places: &Places<'_>, what: Misuse, record: &Record) -> String {
    match what {
        Misuse::JoinDetached | Misuse::JoinTwice | Misuse::DetachTwice => places.threads.label(record.object as u32),
        _ => places.lock_name(record.object),
    }
}

/// What is wrong, in words.
fn phrase(what: Misuse, name: &str, other: &str) -> String {
    match what {
        Misuse::UnlockFree => format!("`{name}` is unlocked, but nobody holds it"),
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
        Misuse::None => format!("`{name}` is misused"),
    }
}

/// The step in the interleaving.
pub(crate) fn step(places: &Places<'_>, record: &Record) -> String {
    let what = Misuse::from_byte(record.detail).unwrap_or_default();
    let other = record.extra.checked_sub(1).and_then(|number| u32::try_from(number).ok());
    let by = if what == Misuse::EndHolding { Some(record.thread) } else { other };
    let by = by.map_or_else(|| "another thread".to_owned(), |thread| places.threads.label(thread));
    phrase(what, &name(places, what, record), &by)
}
