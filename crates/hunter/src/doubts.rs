//! Why a campaign that found nothing is inconclusive.

use racehunter_explore::{Endings, Outcome, Summary, THREADS};
use racehunter_finding::{Failure, Limit, Unclear, Unfinished};
use racehunter_launch::Limits;

/// Returns all reasons; `seen` is the number of failures that were not confirmed.
pub(crate) fn unclear(summary: &Summary, limits: Limits, seen: usize) -> Vec<Unclear> {
    let Endings { completed, lost, .. } = &summary.endings;
    let mut reasons = Vec::new();
    let executions = summary.counts.executions;
    if executions > 0 && *completed == 0 {
        reasons.push(Unclear::NoneCompleted(unfinished(summary, limits)));
    } else if executions == 0 {
        reasons.push(Unclear::NoTime);
    } else {
        if summary.fruitless {
            reasons.push(Unclear::OneAnalysis(unfinished(summary, limits)));
        }
        let stopped = stopped(summary, limits);
        if !stopped.is_empty() && !summary.fruitless {
            reasons.push(Unclear::SomeStopped(stopped));
        }
        let killed: u64 = lost.values().sum();
        if let Some(why) = lost.keys().next() {
            reasons.push(Unclear::Lost { executions: killed, why: why.clone() });
        }
    }
    if seen > 0 {
        reasons.push(Unclear::NotConfirmed(seen as u64));
    }
    if summary.unreported > 0 {
        reasons.push(Unclear::NotReplayed(summary.unreported));
    }
    reasons
}

/// Returns the limits at which executions were stopped, not counting those that the end of the hunt interrupted.
fn stopped(summary: &Summary, limits: Limits) -> Vec<Unfinished> {
    let is_of_program =
        |unfinished: &Unfinished| !matches!(unfinished.limit, Limit::Interrupted | Limit::Lost(_) | Limit::Diverged);
    unfinished(summary, limits).into_iter().filter(is_of_program).collect()
}

/// Returns why executions did not complete.
fn unfinished(summary: &Summary, limits: Limits) -> Vec<Unfinished> {
    let of = summary.counts.executions;
    let Endings { limits: stopped, lost, .. } = &summary.endings;
    let limit = |what: &str| match what {
        "time" => Limit::Time(limits.time),
        "memory" => Limit::Memory(limits.memory_kib >> 10),
        "events" => Limit::Events(summary.coverage.events),
        THREADS => Limit::Threads,
        Outcome::STOPPED => Limit::Interrupted,
        other => Limit::Other(other.to_owned()),
    };
    let stopped = stopped.iter().map(|(what, &number)| Unfinished { number, of, limit: limit(what) });
    let lost = lost.iter().map(|(why, &number)| Unfinished { number, of, limit: Limit::Lost(why.clone()) });
    let mut all: Vec<Unfinished> = stopped.chain(lost).collect();
    let diverged = summary.counts.diverged;
    if diverged > 0 {
        all.push(Unfinished { number: diverged, of, limit: Limit::Diverged });
    }
    all
}

/// Returns how an execution failed.
pub(crate) fn failure(outcome: &Outcome) -> Failure {
    match outcome {
        Outcome::Crashed { signal, fault } => {
            Failure::Crash { signal: *signal, fault: Some(*fault).filter(|&fault| fault != 0) }
        }
        Outcome::Asserted { message, .. } => Failure::Assertion(message.clone()),
        Outcome::Deadlock => Failure::Deadlock,
        Outcome::Exited(status) if *status != 0 => Failure::Status(*status),
        _ => Failure::Race,
    }
}
