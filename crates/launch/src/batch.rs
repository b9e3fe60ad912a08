//! Finds plans whose common prefix is long enough to run once and continue from a snapshot.

use racehunter_explore::Plan;
use racehunter_log::EventNumber;

/// Number of events that cost about as much as a fork.
const WORTH_A_SNAPSHOT: u64 = 30_000;

/// Plans of one request, in slot order.
pub(crate) enum Step {
    /// Run this plan.
    Single(usize),
    /// Run the prefix up to event `at`, then the plans `first .. first + count` from there.
    Snapshot {
        /// First plan.
        first: usize,
        /// Number of plans.
        count: usize,
        /// The event before which the snapshot is taken.
        at: EventNumber,
    },
}

/// Groups neighbouring plans with a long common prefix, if snapshots can be taken at all.
pub(crate) fn steps(plans: &[Plan], snapshots: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut first = 0;
    while first < plans.len() {
        let mut at = EventNumber::NEVER;
        let mut count = 1;
        while first + count < plans.len() {
            let shared = at.min(common(&plans[first + count - 1], &plans[first + count]));
            if shared < EventNumber(WORTH_A_SNAPSHOT) || !snapshots {
                break;
            }
            at = shared;
            count += 1;
        }
        steps.push(if count == 1 { Step::Single(first) } else { Step::Snapshot { first, count, at } });
        first += count;
    }
    steps
}

/// Returns the first event that may differ between two plans.
fn common(a: &Plan, b: &Plan) -> EventNumber {
    let alike = (a.fair_limit, a.observe, a.detect_races, a.explain, a.max_events, a.max_threads, &a.select)
        == (b.fair_limit, b.observe, b.detect_races, b.explain, b.max_events, b.max_threads, &b.select)
        && a.brief == b.brief;
    // A held thread and its place are part of the state in a snapshot.
    let watch_alike =
        (a.infer_races, a.patience, &a.provoke, a.sample) == (b.infer_races, b.patience, &b.provoke, b.sample);
    // A plan that skips accesses changes the site flags permanently, and runs its prefix quickly anyway.
    if !alike || !watch_alike || a.select.is_some() {
        return EventNumber::START;
    }
    let same = a.switches.iter().zip(&b.switches).take_while(|(x, y)| x == y).count();
    let next = |plan: &Plan| plan.switches.get(same).map_or(EventNumber::NEVER, |switch| switch.at);
    let is_whole = |plan: &Plan| plan.log_from == EventNumber::START;
    // If the prefix is not logged, the snapshot is taken before logging begins.
    let logged = |plan: &Plan| if is_whole(plan) { EventNumber::NEVER } else { plan.log_from };
    if is_whole(a) != is_whole(b) {
        return EventNumber::START;
    }
    next(a).min(next(b)).min(a.tail_from).min(b.tail_from).min(logged(a)).min(logged(b))
}

/// Returns the plan of the common prefix.
pub(crate) fn prefix(plan: &Plan, at: EventNumber) -> Plan {
    let mut prefix = plan.clone();
    prefix.switches.retain(|switch| switch.at < at);
    prefix.tail_from = at;
    if prefix.log_from != EventNumber::START {
        // The execution that continues from the snapshot decides when logging begins.
        prefix.log_from = at + 2;
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_abi::{CodeAddress, Switch, ThreadId};

    fn plan(switches: &[(u64, u32)]) -> Plan {
        let switches: Vec<_> = switches
            .iter()
            .map(|&(at, to)| Switch {
                at: EventNumber(at),
                to: ThreadId(to),
                from: ThreadId::MAIN,
                code: CodeAddress::UNKNOWN,
            })
            .collect();
        Plan::replay(switches)
    }

    #[test]
    fn neighbours_share_a_long_prefix() {
        let plans = [
            plan(&[(10, 1), (50_000, 2)]),
            plan(&[(10, 1), (50_001, 2)]),
            plan(&[(10, 1), (40_000, 2)]),
            plan(&[(11, 1), (60_000, 2)]),
            plan(&[(11, 1), (20_000, 2)]),
        ];
        let steps = steps(&plans, true);
        assert!(matches!(steps[0], Step::Snapshot { first: 0, count: 3, at: EventNumber(40_000) }));
        assert!(matches!(steps[1], Step::Single(3)));
        assert!(matches!(steps[2], Step::Single(4)));
        assert_eq!(prefix(&plans[0], EventNumber(40_000)).switches.len(), 1);
        assert!(super::steps(&plans, false).iter().all(|step| matches!(step, Step::Single(_))));
    }

    #[test]
    fn a_selective_plan_shares_no_prefix() {
        let selective = Plan { select: Some(Vec::new()), ..plan(&[(10, 1), (50_000, 2)]) };
        assert!(matches!(steps(&[selective.clone(), selective], true)[..], [Step::Single(0), Step::Single(1)]));
    }

    #[test]
    fn plans_with_different_holds_share_no_prefix() {
        let at =
            |code| racehunter_explore::Descriptor { code: CodeAddress(code), path: None, callers: Vec::new(), nth: 1 };
        let provoked = |code| Plan { provoke: Some(Box::new([at(code), at(code)])), ..plan(&[(50_000, 2)]) };
        let steps = steps(&[provoked(1), provoked(1), provoked(2)], true);
        assert!(matches!(steps[..], [Step::Snapshot { first: 0, count: 2, .. }, Step::Single(2)]));
    }

    #[test]
    fn the_common_prefix_ends_where_the_tail_decides() {
        let mut early = plan(&[(10, 1)]);
        early.tail_from = EventNumber(20);
        assert!(matches!(steps(&[early.clone(), early], true)[..], [Step::Single(0), Step::Single(1)]));
    }
}
