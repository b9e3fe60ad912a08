//! The statistics of a monitored execution.

use crate::{Execution, all_conflicts};
use racehunter_finding::Figures;
use racehunter_log::Event;

/// Returns the statistics of an execution that logged every access and the control flow ([`crate::Observe::Code`]), with call
/// stacks. Times are not filled in.
#[must_use]
pub fn figures(execution: &Execution) -> Figures {
    let Execution { records, stacks, .. } = execution;
    let accesses = execution.entries().filter(|entry| entry.is_access()).count() as u64;
    let is_call = |event: Event| matches!(event, Event::Enter { .. });
    let calls = execution.entries().filter(|entry| is_call(entry.event())).count() as u64;
    let threads = u64::from(execution.threads);
    let conflicts = all_conflicts(execution);
    Figures {
        threads,
        accesses,
        calls,
        conflicting_pairs: conflicts.pairs,
        targets: conflicts.targets.len() as u64,
        trace_bits: Figures::estimate(threads, accesses, calls),
        trace_bytes: (size_of_val(&records[..]) + size_of_val(&stacks[..])) as u64,
        ..Figures::default()
    }
}
