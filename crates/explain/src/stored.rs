//! Schedules in the form that findings store.

use racehunter_explore::{Descriptor, Plan, Switch};
use racehunter_finding::{Held, Schedule, ScheduledSwitch};
use racehunter_log::{CodeAddress, EventNumber, ThreadId, ThreadPath};

/// Converts switches to the form that findings store.
#[must_use]
pub fn stored_switches(switches: &[Switch]) -> Vec<ScheduledSwitch> {
    let stored =
        |&Switch { at, to, from, code }: &Switch| ScheduledSwitch { at: at.0, to: to.0, from: from.0, code: code.0 };
    switches.iter().map(stored).collect()
}

/// Returns the schedule of a plan, for storing.
pub(crate) fn schedule(plan: &Plan) -> Schedule {
    let switches = stored_switches(&plan.switches);
    let stop_after = Some(plan.max_events).filter(|&events| events < Plan::default().max_events);
    let held = plan.provoke.iter().flat_map(|pair| pair.iter());
    let held: Vec<Held> = held
        .map(|Descriptor { code, path, callers, nth }| Held {
            code: code.0,
            path: path.map(u64::from),
            callers: callers.clone(),
            nth: *nth,
        })
        .collect();
    let patience = Some(plan.patience).filter(|_| !held.is_empty());
    Schedule { switches, spurious: plan.spurious, stop_after, held, patience }
}

/// Returns the plan that follows a stored schedule.
#[must_use]
pub fn plan_of(schedule: &Schedule) -> Plan {
    let switch = |&ScheduledSwitch { at, to, from, code }: &ScheduledSwitch| Switch {
        at: EventNumber(at),
        to: ThreadId(to),
        from: ThreadId(from),
        code: CodeAddress(code),
    };
    let switches = schedule.switches.iter().map(switch).collect();
    let replay = Plan::replay(switches);
    let max_events = schedule.stop_after.unwrap_or(replay.max_events);
    let access = |held: &Held| {
        let Held { code, path, callers, nth } = held.clone();
        Descriptor { code: CodeAddress(code), path: path.map(ThreadPath), callers, nth }
    };
    let provoke = match &schedule.held[..] {
        [first, second] => Some(Box::new([access(first), access(second)])),
        _ => None,
    };
    let patience = schedule.patience.unwrap_or(replay.patience);
    // Threads are held at the accesses of the finding; nothing is inferred.
    let infer_races = provoke.is_none();
    Plan { spurious: schedule.spurious, max_events, provoke, patience, infer_races, ..replay }
}
