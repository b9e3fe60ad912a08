//! Finds the simplest schedule for a bug: first by leaving out switches, then by searching with fewer preemptions.

use crate::{BoundKind, ContextBound, Strategy};
use racehunter_explore::{
    Allowed, Budget, Bug, Campaign, Effort, Executor, ExecutorError, Found, Minimised, OnBug, Plan, Points, Portfolio,
    Stop, fewer_preemptions, minimise, room,
};
use std::cell::RefCell;

/// Like [`minimise`], but if preemptions are left it also searches the schedules with fewer of them: first near the schedule
/// found, which works for large programs, then systematically. The systematic search counts ignored yields and time-outs while
/// others can run as preemptions. With enough executions it finds the minimum.
pub fn simplify(
    executor: &mut dyn Executor,
    plan: &Plan,
    bug: &Bug,
    effort: Effort<'_>,
) -> Result<Option<Minimised>, ExecutorError> {
    let half = Effort { runs: effort.runs / 2, ..effort };
    let Some(mut first) = minimise(executor, plan, bug, half)? else { return Ok(None) };
    let left = effort.runs.saturating_sub(first.runs);
    if first.preemptions > 1 && left > 1 {
        let near = Effort { runs: left / 2, ..effort };
        let (before, like) = (first.runs, first.plan.clone());
        match fewer_preemptions(executor, &like, bug, near)? {
            Some(nearer) => first = Minimised { runs: before + nearer.runs, ..nearer },
            None => first.runs = before + near.runs,
        }
    }
    let left = effort.runs.saturating_sub(first.runs);
    let Some(below) = first.preemptions.checked_sub(1).filter(|_| left > 0) else { return Ok(Some(first)) };
    let bound = u32::try_from(below).unwrap_or(u32::MAX - 1);
    let better: RefCell<Option<Plan>> = RefCell::new(None);
    let mut on_bug = OnBug(|found: &Found, _: &mut dyn Executor| {
        if found.bug == *bug {
            *better.borrow_mut() = Some(found.repeat.clone());
        }
    });
    let analysis = ContextBound::iterative(bound, BoundKind::Preemptions, Strategy::MinSwitches, 0);
    // The points are those of the executor.
    let budget = Budget {
        runs: Some(left),
        points: Points::Sync,
        spurious: plan.spurious,
        max_events: room(plan),
        max_threads: plan.max_threads,
        // If the bug is an exit status, the status is one of failure.
        allowed: Allowed::default(),
        ..Budget::default()
    };
    let mut is_done = || better.borrow().is_some() || !(effort.goes_on)();
    let summary = Campaign::new(Portfolio::of(analysis), budget, &mut on_bug).run(executor, &mut is_done);
    if let Stop::Failed(error) = summary.stop {
        return Err(error);
    }
    let runs = first.runs + summary.counts.executions;
    let simpler = match better.into_inner() {
        Some(plan) => {
            minimise(executor, &plan, bug, Effort { runs: effort.runs.saturating_sub(runs).max(1), ..effort })?
        }
        None => None,
    };
    Ok(Some(match simpler {
        Some(simpler) if simpler.preemptions < first.preemptions => Minimised { runs: runs + simpler.runs, ..simpler },
        _ => Minimised { runs, ..first },
    }))
}
