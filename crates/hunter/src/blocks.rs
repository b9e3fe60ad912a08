//! Atomic blocks that another thread interrupts.
//!
//! The detector does not look for them. An execution shows one if three accesses to common memory happen in the predicted order:
//! one of the block, one of another thread, one more of the block.

use crate::Error;
use racehunter_explain::{plan_of, stored_switches};
use racehunter_explore::{Execution, Executor as _, Observe, Plan};
use racehunter_finding::{Finding, Schedule};
use racehunter_launch::Processes;
use racehunter_log::{Access, Entry};

/// Returns the schedule of a plan up to an event.
pub(crate) fn schedule(plan: &Plan, last: u64) -> Schedule {
    let switches = stored_switches(&plan.switches);
    Schedule { switches, spurious: false, stop_after: Some(last + 1), ..Schedule::default() }
}

/// Runs the schedule of such a finding.
pub(crate) fn run(processes: &mut Processes, finding: &Finding) -> Result<Option<Execution>, Error> {
    let plan = Plan { observe: Observe::Everything, ..plan_of(&finding.schedule) };
    Ok(processes.run(&[plan])?.pop())
}

/// Returns true if an execution shows such a finding, whose sites have the numbers of their events.
pub(crate) fn shows(execution: &Execution, finding: &Finding) -> bool {
    let accesses: Option<Vec<(Entry<'_>, Access)>> = finding
        .sites
        .iter()
        .map(|site| {
            let accesses = execution.entries().filter(|entry| entry.number().0 == site.event);
            let access = accesses.filter_map(|entry| Some((entry, entry.access()?))).next();
            access.filter(|(_, access)| is_write(&site.access) == access.mode.writes())
        })
        .collect();
    let Some([(first, a), (other, b), (second, c)]) = accesses.as_deref() else { return false };
    first.thread() == second.thread()
        && first.thread() != other.thread()
        && first.number() < other.number()
        && other.number() < second.number()
        && a.overlaps(b)
        && b.overlaps(c)
}

fn is_write(access: &str) -> bool {
    matches!(access, "write" | "atomic-write" | "atomic-update")
}
