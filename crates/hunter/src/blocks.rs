//! Blocks that are meant to be atomic, seen broken.
//!
//! No detector looks for that while the program runs. What shows it is that three accesses happen as they were predicted: one
//! of the block, one of another thread, one more of the block, to memory that they have in common.

use crate::Error;
use racehunter_explain::plan_of;
use racehunter_explore::{Execution, Executor as _, Kind, Observe, Plan, Record};
use racehunter_finding::{Finding, Schedule, ScheduledSwitch};
use racehunter_launch::Processes;

/// The schedule of a plan that leads to an event. What comes after that is not of interest.
pub(crate) fn schedule(plan: &Plan, last: u64) -> Schedule {
    let switches = plan.switches.iter();
    let switches =
        switches.map(|switch| ScheduledSwitch { at: switch.at, to: switch.to, from: switch.from, code: switch.code });
    Schedule { switches: switches.collect(), spurious: false, stop_after: Some(last + 1), ..Schedule::default() }
}

/// Runs the schedule of such a finding.
pub(crate) fn run(processes: &mut Processes, finding: &Finding) -> Result<Option<Execution>, Error> {
    let plan = Plan { observe: Observe::Everything, ..plan_of(&finding.schedule) };
    Ok(processes.run(&[plan])?.pop())
}

/// Whether an execution shows such a finding, whose sites have the numbers of their events.
pub(crate) fn shows(execution: &Execution, finding: &Finding) -> bool {
    let accesses: Option<Vec<&Record>> = finding
        .sites
        .iter()
        .map(|site| {
            let is_it = |record: &&Record| record.index == site.event && record.kind.is_access();
            execution.records.iter().find(is_it).filter(|record| is_write(&site.access) == record.kind.is_write())
        })
        .collect();
    let Some([first, other, second]) = accesses.as_deref() else { return false };
    first.thread == second.thread
        && first.thread != other.thread
        && first.index < other.index
        && other.index < second.index
        && overlap(first, other)
        && overlap(other, second)
}

fn is_write(access: &str) -> bool {
    matches!(access, "write" | "atomic-write" | "atomic-update")
}

fn overlap(one: &Record, other: &Record) -> bool {
    let range = |record: &Record| {
        let is_range = matches!(record.kind, Kind::ReadRange | Kind::WriteRange | Kind::Free);
        let length = if is_range { record.extra } else { record.size.into() };
        (record.object, record.object.saturating_add(length.max(1)))
    };
    let (one, other) = (range(one), range(other));
    one.0 < other.1 && other.0 < one.1
}

#[cfg(test)]
mod tests {
    use super::overlap;
    use racehunter_explore::{Kind, Record};

    #[test]
    fn memory_in_common() {
        let at = |object, size| Record { object, size, kind: Kind::Write, ..Record::default() };
        assert!(overlap(&at(100, 4), &at(103, 1)) && overlap(&at(103, 1), &at(100, 4)));
        assert!(!overlap(&at(100, 4), &at(104, 4)) && !overlap(&at(104, 4), &at(100, 4)));
        let copy = Record { object: 90, extra: 11, kind: Kind::WriteRange, ..Record::default() };
        assert!(overlap(&copy, &at(100, 4)) && !overlap(&copy, &at(101, 4)));
    }
}
