//! The figures of a verification that the paper on watchpoints gives.

use crate::{Clock, Error};
use racehunter_explore::{Executor as _, Observe, Plan, figures};
use racehunter_finding::Figures;
use racehunter_launch::Processes;
use std::time::Duration;

/// Maximum number of events of a measured execution: each of them takes a record.
const MONITORED: u64 = 1_000_000;

/// Measures two executions: one without any detection, and one that logs everything.
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

/// Returns the peak memory of this process in KiB; 0 if the system does not say.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
