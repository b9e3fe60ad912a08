//! The interleaving of a finding, line by line.

use crate::place::{Places, file_step};
use crate::threads::Threads;
use crate::{Culprit, misuse, values};
use racehunter_explore::{Outcome, Step as Choice, decisions};
use racehunter_finding::Step;
use racehunter_log::{
    Access, AccessMode, Entry, Event, EventNumber, LockMode, OncePhase, SemaphoreAttempt, SignalWaitPhase, ThreadId,
    Wait, WaitEndReason, descriptor_at, entries,
};
use racehunter_report::messages;
use racehunter_symbols::{is_rust_library, own_frame, shortened};
use std::collections::{BTreeMap, HashSet};

/// The step of a thread that panics.
pub(crate) const PANIC: &str = "panic";

/// A step, and where in the log it is.
pub(crate) struct Done {
    pub(crate) step: Step,
    pub(crate) at: usize,
}

/// Returns what each thread did, in order.
pub(crate) fn steps(places: &Places<'_>, culprit: Option<Culprit>) -> Vec<Done> {
    let mut steps: Vec<Done> = Vec::new();
    let preemptions: HashSet<EventNumber> = (decisions(places.execution))
        .filter(|decision| decision.step == Choice::Preemption)
        .map(|decision| decision.at)
        .collect();
    let mut preempted = false;
    let mut running = ThreadId::MAIN;
    // Threads whose last step is a wait, with the index of that step.
    let mut waits: BTreeMap<ThreadId, usize> = BTreeMap::new();
    let records = &places.execution.records;
    for (at, entry) in entries(records).enumerate() {
        let (thread, event) = (entry.thread(), entry.event());
        let is_culprit = culprit.is_some_and(|culprit| culprit.is(entry, &event));
        let is_wait = match event {
            Event::Switch { to, .. } => {
                preempted = preemptions.contains(&entry.number());
                running = to;
                continue;
            }
            // The running thread is about to take what this one wants too: a note, not a step of this thread.
            Event::Blocked { .. } | Event::Suspended { .. } if thread != running => continue,
            Event::Blocked { .. } | Event::Suspended { .. } => true,
            // The place of a waiting thread matters only in a deadlock.
            Event::ThreadState { on: Some(_) } if places.execution.outcome != Outcome::Deadlock => continue,
            Event::ThreadState { on: Some(_) } => {
                if let Some(&last) = waits.get(&thread) {
                    steps[last].step.culprit |= is_culprit;
                    continue;
                }
                true
            }
            _ => false,
        };
        if !is_culprit && is_of_library(places, entry, &event) {
            continue;
        }
        let Some(what) = describe(places, entry, &event) else { continue };
        if is_wait {
            waits.insert(thread, steps.len());
        } else {
            waits.remove(&thread);
        }
        let placed = match event {
            _ if is_futex(&event) => places.began(entry),
            // Code of the library is where the program called it.
            Event::Blocked { .. } | Event::Suspended { .. } if !places.is_placed(entry) => places.with_stack(at),
            _ => entry,
        };
        let (frames, _) = places.stack(placed);
        let frame = if !entry.code().is_known() && !matches!(event, Event::Panic { .. }) {
            None
        } else {
            own_frame(&frames).and_then(|own| frames.get(own))
        };
        let step = Step {
            thread: thread.0,
            path: places.threads.path(thread),
            what,
            file: frame.map_or_else(String::new, |frame| frame.file.clone()),
            line: frame.map_or(0, |frame| frame.line),
            preempted: std::mem::take(&mut preempted),
            culprit: is_culprit,
            event: entry.number().0,
            value: values::value(places, entry, &records[at + 1..]),
            number: 0,
            matters: false,
        };
        steps.push(Done { step, at });
    }
    // The steps after a panic only print its message and unwind.
    if let Some(panic) = steps.iter().position(|done| done.step.culprit && done.step.what == PANIC) {
        steps.truncate(panic + 1);
    }
    without_repetitions(places, &mut steps);
    steps
}

/// Returns true if a thread begins to wait on a futex.
fn is_futex(event: &Event) -> bool {
    match event {
        Event::Blocked { on, .. } | Event::Suspended { on } | Event::ThreadState { on: Some(on) } => {
            on.wait == Wait::Futex
        }
        _ => false,
    }
}

/// Removes steps that a reader takes for a repetition: an operation on a descriptor first looks at the descriptor, or
/// changes which files are open.
fn without_repetitions(places: &Places<'_>, steps: &mut Vec<Done>) {
    let event = |done: &Done| Entry::of(&places.execution.records[done.at]).event();
    let is_repetition = |pair: &[Done]| {
        let [state, operation] = pair else { return false };
        let place = |done: &Done| (done.step.thread, done.step.line, done.step.file.clone());
        let waits_or_works =
            matches!(event(operation), Event::Io { .. } | Event::Blocked { .. } | Event::Suspended { .. });
        matches!(event(state), Event::State { .. })
            && waits_or_works
            && place(state) == place(operation)
            && !state.step.culprit
    };
    let mut repeats: Vec<bool> = steps.windows(2).map(is_repetition).collect();
    repeats.push(false);
    let mut preempted = false;
    for (done, repeats) in steps.iter_mut().zip(&repeats) {
        done.step.preempted |= std::mem::take(&mut preempted);
        preempted = *repeats && done.step.preempted;
    }
    let mut repeats = repeats.into_iter();
    steps.retain(|_| !repeats.next().unwrap_or(false));
}

/// Returns true for a step inside Rust's standard library that no code of the program asked for, or that concerns the
/// library's internal state.
fn is_of_library(places: &Places<'_>, entry: Entry<'_>, event: &Event) -> bool {
    // What it is about: the address, if it is about one.
    let object = match *event {
        Event::Access(access) => access.address.0,
        Event::Io { file, .. } => file,
        Event::State { cell, .. } => cell.into(),
        Event::Once { object, .. } | Event::Found { object } | Event::Fence { annotation: object } => object.0,
        Event::SignalSetup { signal } => signal,
        _ => return false,
    };
    let (frames, _) = places.stack(entry);
    let Some(innermost) = frames.first().filter(|frame| is_rust_library(frame)) else { return false };
    if own_frame(&frames).and_then(|own| frames.get(own)).is_none_or(|own| own.line == 0 || is_rust_library(own)) {
        return true;
    }
    let symbol = places.symbols.data_symbol(object.wrapping_sub(places.load_address));
    let is_its_own = |name: &str| {
        ["std::", "core::", "alloc::", "test::"].iter().any(|of| name.trim_start_matches('<').starts_with(of))
    };
    symbol.is_some_and(|symbol| is_its_own(&symbol.name)) || innermost.file.ends_with("/panicking.rs")
}

fn describe(places: &Places<'_>, entry: Entry<'_>, event: &Event) -> Option<String> {
    let object = event.synchronisation().unwrap_or_default();
    let name = || places.lock_name(object.0);
    let either = |done: bool, yes: &str, no: &str| if done { yes.to_owned() } else { no.to_owned() };
    Some(match *event {
        Event::Access(access) => describe_access(places, entry, access),
        Event::Fence { .. } => "fence".to_owned(),
        Event::Create { child, .. } => format!("create {}", places.threads.label(child)),
        Event::Join { target, .. } => format!("join {}", Threads::short(target)),
        Event::Exit => "end".to_owned(),
        Event::End { is_final } => either(is_final, "end of the process", "exit"),
        Event::Acquire { mode, attempt, .. } => {
            let operation = if mode == LockMode::Read { "read-lock" } else { "lock" };
            let failed = if attempt.succeeds() { "" } else { "fail to " };
            format!("{failed}{operation} {}", name())
        }
        Event::Release { is_refused, .. } => {
            let failed = if is_refused { "fail to " } else { "" };
            format!("{failed}unlock {}", name())
        }
        Event::Wait { .. } => format!("wait on {}", name()),
        Event::WaitEnd { reason, .. } => match reason {
            WaitEndReason::Signalled => format!("woken from wait on {}", name()),
            WaitEndReason::Spurious => format!("spurious wake-up of wait on {}", name()),
            WaitEndReason::Cancelled => format!("cancelled in wait on {}", name()),
            WaitEndReason::TimedOut => format!("time-out of wait on {}", name()),
        },
        Event::Signal { .. } => format!("signal {}", name()),
        Event::Broadcast { .. } => format!("broadcast {}", name()),
        Event::SemaphoreWait { attempt, .. } => match attempt {
            SemaphoreAttempt::Inspected => format!("look at the value of {}", name()),
            SemaphoreAttempt::Failed => format!("fail to decrement {}", name()),
            SemaphoreAttempt::Blocking | SemaphoreAttempt::Succeeded => format!("decrement {}", name()),
        },
        Event::SemaphorePost { .. } => format!("increment {}", name()),
        Event::BarrierArrive { .. } => format!("arrive at {}", name()),
        Event::Once { phase, .. } => match phase {
            OncePhase::Begins => "begin one-time initialisation".to_owned(),
            OncePhase::Done => "end one-time initialisation".to_owned(),
            OncePhase::Found => "find it initialised".to_owned(),
        },
        Event::FutexWait { .. } => {
            places.futex(entry).map_or_else(|| "wait on a futex".to_owned(), |name| format!("wait for `{name}`"))
        }
        Event::FutexWake { .. } => "wake a futex".to_owned(),
        Event::Yield => "yield".to_owned(),
        Event::Io { is_done, .. } => {
            event.file().map_or_else(|| "input or output".to_owned(), |file| file_step(file, is_done))
        }
        Event::State { is_change, .. } => either(is_change, "change files", "look at files"),
        Event::Kill { signal, .. } => format!("send {}", signal_name(signal)),
        Event::Handler { is_entry: false, .. } => return None,
        Event::Handler { signal, .. } => format!("handle {}", signal_name(signal)),
        Event::SignalWait { signal, phase } => match phase {
            SignalWaitPhase::Begins => "wait for a signal".to_owned(),
            SignalWaitPhase::Taken => format!("take {}", signal_name(signal)),
            SignalWaitPhase::Ended => "stop waiting for a signal".to_owned(),
        },
        Event::Other => return None,
        Event::SignalSetup { signal: 0 } => "set the signal mask".to_owned(),
        Event::SignalSetup { signal } => format!("set what {} does", signal_name(signal)),
        Event::Cancel { is_test: true, .. } => "look whether it is cancelled".to_owned(),
        Event::Cancel { target, .. } => format!("cancel {}", places.threads.label(target)),
        Event::Cancelled => "act on the cancellation".to_owned(),
        Event::Timer { is_expired: true, .. } => "expire".to_owned(),
        Event::Timer { nanoseconds, .. } => either(nanoseconds == 0, "stop a timer", "set a timer"),
        Event::Sleep => "sleep".to_owned(),
        Event::Panic { .. } => PANIC.to_owned(),
        Event::Misuse { .. } => return misuse::step(places, entry),
        Event::ThreadState { on: None } if entry.thread() == current(places) => "fails here".to_owned(),
        Event::ThreadState { on: None } => return None,
        Event::Blocked { on, .. } | Event::Suspended { on } | Event::ThreadState { on: Some(on) } => {
            format!("waits for {}", places.awaited(&on, entry))
        }
        _ => return None,
    })
}

fn describe_access(places: &Places<'_>, entry: Entry<'_>, access: Access) -> String {
    let does = match access.mode {
        AccessMode::Read | AccessMode::Write if let Some(descriptor) = descriptor_at(access.address.0) => {
            let does = if access.mode == AccessMode::Write { "close" } else { "use" };
            return format!("{does} fd {descriptor}");
        }
        AccessMode::Read | AccessMode::ReadRange => "read",
        AccessMode::Write | AccessMode::WriteRange => "write",
        AccessMode::AtomicRead => "atomic read",
        AccessMode::AtomicWrite => "atomic write",
        AccessMode::AtomicUpdate => "atomic update",
        AccessMode::Free => {
            return places.freed(entry).map_or_else(|| "free".to_owned(), |freed| format!("free {freed}"));
        }
    };
    format!("{does} {}", memory(places, entry, access))
}

/// Returns a signal, as users know it.
fn signal_name(signal: u64) -> String {
    let number = signal as u32;
    messages::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
}

fn current(places: &Places<'_>) -> ThreadId {
    places.execution.thread_states().next().map_or(ThreadId::MAIN, |(entry, _)| entry.thread())
}

/// Returns what an access touches: a variable of the program, or how the source spells it.
pub(crate) fn memory(places: &Places<'_>, entry: Entry<'_>, access: Access) -> String {
    let (address, size) = (access.address.0, access.size);
    if let Some(symbol) = places.global(address, size.max(1)) {
        return shortened(&symbol.name).into_owned();
    }
    let allocated = || places.allocated_part(address, size).map(|(part, _)| part);
    places.spelled(entry).or_else(allocated).unwrap_or_else(|| match size {
        1 => "1 byte".to_owned(),
        size => format!("{size} bytes"),
    })
}
