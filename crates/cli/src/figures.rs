//! The figures that the paper on watchpoints gives for a verification.

use crate::progress::Meter;
use anyhow::Result;
use racehunter_explore::{Executor as _, Observe, Plan, figures};
use racehunter_finding::Figures;
use racehunter_launch::Processes;
use std::time::{Duration, Instant};

/// Events of an execution that is measured, at most: every one of them takes a record.
const MONITORED: u64 = 1_000_000;

/// Measures two executions: one that nothing is looked for in, and one of which everything is logged.
pub fn measure(processes: &mut Processes, meter: &Meter) -> Result<Figures> {
    let plain = Plan { detect_races: false, max_events: MONITORED, ..Plan::default() };
    let began = Instant::now();
    processes.run(std::slice::from_ref(&plain))?;
    let plain_us = microseconds(began.elapsed());
    let monitored = processes.run(&[Plan { observe: Observe::Code, stacks: true, ..plain }])?.pop();
    let measured = monitored.map(|execution| figures(&execution)).unwrap_or_default();
    meter.note("Monitored", || format!("{} accesses in {} threads", measured.accesses, measured.threads));
    Ok(Figures { plain_us, ..measured })
}

/// A time in microseconds.
pub fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The most memory that this process had, in KiB; 0 when the system does not tell.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// One line for a user who wants to know.
pub fn in_words(figures: &Figures) -> String {
    let Figures { threads, accesses, calls, conflicting_pairs, targets, trace_bits, trace_bytes, .. } = figures;
    let ms = |us: u64| us as f64 / 1000.0;
    format!(
        "{threads} threads, {accesses} accesses, {calls} calls, {conflicting_pairs} conflicting pairs, {targets} targets; \
         trace {trace_bits} bits by estimate, {trace_bytes} bytes measured; memory {} KiB; plain {:.1} ms, verified {:.1} ms",
        figures.memory_kib,
        ms(figures.plain_us),
        ms(figures.verified_us),
    )
}
