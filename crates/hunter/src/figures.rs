//! The figures that the paper on watchpoints gives for a verification.

use crate::{Clock, Error};
use racehunter_explore::{Executor as _, Observe, Plan, figures};
use racehunter_finding::Figures;
use racehunter_launch::Processes;
use std::time::Duration;

/// Events of an execution that is measured, at most: every one of them takes a record.
const MONITORED: u64 = 1_000_000;

/// Measures two executions: one that nothing is looked for in, and one of which everything is logged.
pub(crate) fn measure(processes: &mut Processes, clock: &Clock) -> Result<Figures, Error> {
    let plain = Plan { detect_races: false, max_events: MONITORED, ..Plan::default() };
    let began = clock.now();
    processes.run(std::slice::from_ref(&plain))?;
    let plain_us = microseconds(clock.since(began));
    let monitored = processes.run(&[Plan { observe: Observe::Code, stacks: true, ..plain }])?.pop();
    let measured = monitored.map(|execution| figures(&execution)).unwrap_or_default();
    Ok(Figures { plain_us, ..measured })
}

/// Returns a time in microseconds.
pub(crate) fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the most memory that this process had, in KiB; 0 when the system does not tell.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
