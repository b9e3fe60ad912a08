//! How a hunt ended: which exit code it deserves, and why finding nothing may mean nothing.

use crate::exit::{Exit, Signal};
use anyhow::{Context as _, Result};
use racehunter_explore::{Endings, Outcome, Summary, THREADS};
use racehunter_finding::Coverage;
use racehunter_report::messages;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Signals that ask the command to stop. The first one is a request, a second one ends the process at once.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    any: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupts {
    /// Catches them from now on.
    pub fn catch() -> Result<Self> {
        let interrupts = Self::default();
        let catch = |signal, code: Signal| {
            signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(code.status()),
                Arc::clone(&interrupts.any),
            )
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupts.any)))
        };
        catch(signal_hook::consts::SIGINT, Signal::Interrupt)
            .and_then(|_| signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&interrupts.terminated)))
            .and_then(|_| catch(signal_hook::consts::SIGTERM, Signal::Terminate))
            .context("cannot catch interrupts")?;
        Ok(interrupts)
    }

    /// The flag that is set by the first one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<Signal> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        match (is_set(&self.any), is_set(&self.terminated)) {
            (false, _) => None,
            (true, true) => Some(Signal::Terminate),
            (true, false) => Some(Signal::Interrupt),
        }
    }
}

/// The exit code of a hunt; `counted` is the number of confirmed findings that are not suppressed.
pub fn exit(counted: usize, coverage: &Coverage, require_complete: bool, signal: Option<Signal>) -> Exit {
    match signal {
        _ if counted > 0 => Exit::Findings,
        Some(signal) => Exit::Interrupted(signal),
        None if !coverage.unclear.is_empty() || require_complete && !coverage.complete => Exit::Incomplete,
        None => Exit::Clean,
    }
}

/// What executions were allowed to take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    pub memory_mib: u64,
}

/// Why it would mean nothing that this campaign found nothing. `seen` failures were not confirmed.
pub fn unclear(summary: &Summary, limits: Limits, seen: usize) -> Vec<String> {
    let Endings { completed, lost, .. } = &summary.endings;
    let mut reasons = Vec::new();
    let executions = summary.counts.executions;
    if executions > 0 && *completed == 0 {
        reasons.push(format!("no execution completed: {}", how_they_ended(summary, limits)));
    } else if executions == 0 {
        reasons.push("no execution completed: there was no time for one; --time raises the limit".to_owned());
    } else {
        if summary.fruitless {
            let how = how_they_ended(summary, limits);
            reasons.push(format!("no execution of one of the analyses completed: {how}"));
        }
        let killed: u64 = lost.values().sum();
        if let Some(why) = lost.keys().next() {
            reasons.push(format!("{} lost ({why})", were(killed, "execution")));
        }
    }
    if seen > 0 {
        reasons.push(format!("{} seen, and not confirmed by replay", were(seen as u64, "failure")));
    }
    if summary.unreported > 0 {
        let what = were(summary.unreported, "failure");
        reasons.push(format!("{what} seen, and there was no time to replay; --time raises the limit"));
    }
    reasons
}

/// What became of executions that did not complete: the limits, and the options that lift them.
fn how_they_ended(summary: &Summary, limits: Limits) -> String {
    let executions = summary.counts.executions;
    let Endings { limits: stopped, lost, .. } = &summary.endings;
    let number = |count: u64| match count {
        1 if executions == 1 => "the only one was".to_owned(),
        count if count == executions => format!("all {count} were"),
        1 => "1 was".to_owned(),
        count => format!("{count} were"),
    };
    let mut parts: Vec<String> = stopped
        .iter()
        .map(|(what, &count)| {
            let number = number(count);
            match what.as_str() {
                "time" => {
                    let time = humantime::format_duration(limits.time);
                    format!("{number} stopped after {time}; --timeout raises the limit")
                }
                "memory" => {
                    let most = limits.memory_mib;
                    format!("{number} stopped at {most} MiB of memory; --memory raises the limit")
                }
                "events" => {
                    let events = summary.coverage.events;
                    format!("{number} stopped after up to {events} events; an input with less work may end")
                }
                THREADS => format!("{number} stopped for making threads without end"),
                Outcome::STOPPED => format!("{number} interrupted"),
                other => format!("{number} stopped by the limit of {other}"),
            }
        })
        .collect();
    parts.extend(lost.iter().map(|(why, &count)| format!("{} lost ({why})", number(count))));
    let diverged = summary.counts.diverged;
    if diverged > 0 {
        parts.push(format!("{} unable to follow the schedule", number(diverged)));
    }
    parts.join("; ")
}

/// The first execution failed, and no other did.
pub fn failed_at_first(outcome: &Outcome) -> String {
    let how = match outcome {
        Outcome::Crashed { signal, fault } => messages::crash(*signal, Some(*fault).filter(|&fault| fault != 0)),
        Outcome::Asserted { message, .. } => messages::assertion(message),
        Outcome::Deadlock => "a deadlock".to_owned(),
        Outcome::Exited(status) if *status != 0 => format!("status {status}"),
        _ => "a data race".to_owned(),
    };
    format!("the first execution failed, and none after it ({how})")
}

/// `1 execution was`, `2 executions were`
fn were(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun} was") } else { format!("{number} {noun}s were") }
}
