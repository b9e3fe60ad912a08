//! The interleaving of a finding, line by line.

use crate::place::{Places, file_step};
use crate::threads::Threads;
use crate::{Culprit, misuse, values};
use racehunter_explore::{Cause, File, Kind, Outcome, Record, descriptor_at};
use racehunter_finding::Step;
use racehunter_report::messages;
use racehunter_symbols::{is_rust_library, own_frame};
use std::collections::BTreeMap;

/// Steps that a finding keeps. A longer interleaving keeps its last part, which is where the bug is.
const MOST: usize = 400;

/// The step of a thread that panics.
const PANIC: &str = "panic";

/// What each thread did, in order.
pub(crate) fn steps(places: &Places<'_>, culprit: Option<Culprit>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut preempted = false;
    let mut running = 0;
    // Threads whose last step is a wait, and which step that is.
    let mut waits: BTreeMap<u32, usize> = BTreeMap::new();
    let records = &places.execution.records;
    for (at, record) in records.iter().enumerate() {
        let is_culprit = culprit.is_some_and(|culprit| culprit.is(record));
        let is_wait = match record.kind {
            Kind::Switch => {
                let cause = Cause::from_byte(record.detail).unwrap_or_default();
                let forced = matches!(cause, Cause::Plan | Cause::Strategy);
                preempted = forced && could_go_on(places, record);
                running = record.object as u32;
                continue;
            }
            // The running thread is about to take what this one wants to take too: a note, not a step of this one.
            Kind::Blocked | Kind::Suspended if record.thread != running => continue,
            Kind::Blocked | Kind::Suspended => true,
            // Where a waiting thread stands matters in a deadlock only.
            Kind::ThreadState if record.detail != 0 && places.execution.outcome != Outcome::Deadlock => continue,
            Kind::ThreadState if record.detail != 0 => {
                if let Some(&last) = waits.get(&record.thread) {
                    steps[last].culprit |= is_culprit;
                    continue;
                }
                true
            }
            _ => false,
        };
        if !is_culprit && is_of_library(places, record) {
            continue;
        }
        let Some(what) = describe(places, record) else { continue };
        if is_wait {
            waits.insert(record.thread, steps.len());
        } else {
            waits.remove(&record.thread);
        }
        let (frames, _) = places.stack(record);
        let frame = if record.code == 0 && record.kind != Kind::Panic {
            None
        } else {
            own_frame(&frames).and_then(|own| frames.get(own))
        };
        steps.push(Step {
            thread: record.thread,
            path: places.threads.path(record.thread),
            what,
            file: frame.map_or_else(String::new, |frame| frame.file.clone()),
            line: frame.map_or(0, |frame| frame.line),
            preempted: std::mem::take(&mut preempted),
            culprit: is_culprit,
            event: record.index,
            value: values::value(places, record, &records[at + 1..]),
        });
    }
    // The steps after a panic only print its message and unwind.
    if let Some(panic) = steps.iter().position(|step| step.culprit && step.what == PANIC) {
        steps.truncate(panic + 1);
    }
    let skipped = steps.len().saturating_sub(MOST);
    steps.drain(..skipped);
    steps
}

/// Whether it is a step inside of Rust's standard library that no code of the program asked for, or that is about what the library
/// keeps for itself.
fn is_of_library(places: &Places<'_>, record: &Record) -> bool {
    if !record.kind.is_access()
        && !matches!(record.kind, Kind::Io | Kind::State | Kind::Once | Kind::Found | Kind::Fence | Kind::SignalSetup)
    {
        return false;
    }
    let (frames, _) = places.stack(record);
    let Some(innermost) = frames.first().filter(|frame| is_rust_library(frame)) else { return false };
    if own_frame(&frames).and_then(|own| frames.get(own)).is_none_or(|own| own.line == 0 || is_rust_library(own)) {
        return true;
    }
    let symbol = places.symbols.data_symbol(record.object.wrapping_sub(places.load_address));
    let is_its_own = |name: &str| {
        ["std::", "core::", "alloc::", "test::"].iter().any(|of| name.trim_start_matches('<').starts_with(of))
    };
    symbol.is_some_and(|symbol| is_its_own(&symbol.name)) || innermost.file.ends_with("/panicking.rs")
}

/// Whether the thread that a switch leaves could have gone on: it was not blocked, over, or yielding just before.
fn could_go_on(places: &Places<'_>, switch: &Record) -> bool {
    let records = &places.execution.records;
    let at = records.partition_point(|record| std::ptr::from_ref(record) < std::ptr::from_ref(switch));
    let last = records[..at].iter().rev().find(|record| record.thread == switch.thread);
    !last.is_some_and(|record| {
        matches!(record.kind, Kind::Blocked | Kind::Suspended | Kind::Exit | Kind::Yield | Kind::Sleep | Kind::End)
    })
}

fn describe(places: &Places<'_>, record: &Record) -> Option<String> {
    let lock = || places.lock_name(record.object);
    let failed = |done: &str, not: &str| if record.detail == 1 { done.to_owned() } else { not.to_owned() };
    Some(match record.kind {
        Kind::Read | Kind::Write if let Some(descriptor) = descriptor_at(record.object) => {
            let does = if record.kind == Kind::Write { "close" } else { "use" };
            format!("{does} fd {descriptor}")
        }
        Kind::Read | Kind::ReadRange => format!("read {}", memory(places, record)),
        Kind::Write | Kind::WriteRange => format!("write {}", memory(places, record)),
        Kind::AtomicRead => format!("atomic read {}", memory(places, record)),
        Kind::AtomicWrite => format!("atomic write {}", memory(places, record)),
        Kind::AtomicUpdate => format!("atomic update {}", memory(places, record)),
        Kind::Fence => "fence".to_owned(),
        Kind::Free => "free".to_owned(),
        Kind::Create => format!("create {}", places.threads.label(record.object as u32)),
        Kind::Join => format!("join {}", Threads::short(record.object as u32)),
        Kind::Exit => "end".to_owned(),
        Kind::End => failed("end of the process", "exit"),
        Kind::Lock | Kind::WriteLock => format!("lock {}", lock()),
        Kind::Unlock | Kind::RwUnlock => format!("unlock {}", lock()),
        Kind::TryLock | Kind::TryWriteLock => format!("{} {}", failed("lock", "fail to lock"), lock()),
        Kind::ReadLock => format!("read-lock {}", lock()),
        Kind::TryReadLock => format!("{} {}", failed("read-lock", "fail to read-lock"), lock()),
        Kind::Wait => format!("wait on {}", lock()),
        Kind::WaitEnd => match record.detail {
            0 => format!("woken from wait on {}", lock()),
            2 => format!("spurious wake-up of wait on {}", lock()),
            3 => format!("cancelled in wait on {}", lock()),
            _ => format!("time-out of wait on {}", lock()),
        },
        Kind::Signal => format!("signal {}", lock()),
        Kind::Broadcast => format!("broadcast {}", lock()),
        Kind::SemWait => format!("decrement {}", lock()),
        Kind::SemPost => format!("increment {}", lock()),
        Kind::SemTryWait if record.detail == 2 => format!("look at the value of {}", lock()),
        Kind::SemTryWait => format!("{} {}", failed("decrement", "fail to decrement"), lock()),
        Kind::BarrierWait => format!("arrive at {}", lock()),
        Kind::Once => match record.detail {
            1 => "begin one-time initialisation".to_owned(),
            2 => "end one-time initialisation".to_owned(),
            _ => "find it initialised".to_owned(),
        },
        Kind::FutexWait => "wait on a futex".to_owned(),
        Kind::FutexWake => "wake a futex".to_owned(),
        Kind::Yield => "yield".to_owned(),
        Kind::Io => File::unpack(record.object)
            .map_or_else(|| "input or output".to_owned(), |file| file_step(file, record.detail == 1)),
        Kind::State if record.detail == 1 => "change files".to_owned(),
        Kind::State => "look at files".to_owned(),
        Kind::Kill => format!("send {}", signal(record)),
        Kind::Handler if record.detail != 0 => return None,
        Kind::Handler => format!("handle {}", signal(record)),
        Kind::SignalWait => match record.detail {
            0 => "wait for a signal".to_owned(),
            1 => format!("take {}", signal(record)),
            _ => "stop waiting for a signal".to_owned(),
        },
        Kind::SignalSetup if record.object != 0 => {
            format!("set what {} does", signal(record))
        }
        Kind::SignalSetup => "set the signal mask".to_owned(),
        Kind::Cancel if record.detail == 1 => "look whether it is cancelled".to_owned(),
        Kind::Cancelled => "act on the cancellation".to_owned(),
        Kind::Timer if record.detail == 1 => "expire".to_owned(),
        Kind::Timer if record.extra == 0 => "stop a timer".to_owned(),
        Kind::Timer => "set a timer".to_owned(),
        Kind::Cancel => format!("cancel {}", places.threads.label(record.object as u32)),
        Kind::Sleep => "sleep".to_owned(),
        Kind::Panic => PANIC.to_owned(),
        Kind::Misuse => misuse::step(places, record),
        Kind::ThreadState if record.detail == 0 && record.thread == current(places) => "fails here".to_owned(),
        Kind::ThreadState if record.detail == 0 => return None,
        Kind::Blocked | Kind::Suspended | Kind::ThreadState => {
            let wait = racehunter_explore::Wait::from_byte(record.detail).unwrap_or_default();
            format!("waits for {}", places.awaited(wait, record))
        }
        _ => return None,
    })
}

/// The signal of a record, as users know it.
fn signal(record: &Record) -> String {
    let number = record.object as u32;
    messages::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
}

fn current(places: &Places<'_>) -> u32 {
    places.execution.records.iter().find(|record| record.kind == Kind::ThreadState).map_or(0, |record| record.thread)
}

/// What an access touches: a variable of the program, or how the source spells it.
fn memory(places: &Places<'_>, record: &Record) -> String {
    let relative = record.object.wrapping_sub(places.load_address);
    if let Some(symbol) = places.symbols.data_symbol_of(relative, record.extra.max(1)) {
        return symbol.name;
    }
    let allocated = || places.allocated_part(record.object, record.extra).map(|(part, _)| part);
    places.spelled(record).or_else(allocated).unwrap_or_else(|| match record.extra {
        1 => "1 byte".to_owned(),
        size => format!("{size} bytes"),
    })
}
