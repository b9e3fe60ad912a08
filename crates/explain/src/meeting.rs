//! Races of programs whose synchronisation is only partly seen.
//!
//! The detector infers a race from the synchronisation that it knows. A program that also synchronises in another way
//! (a lock in assembler or in an uninstrumented library, a lock file, a System V semaphore) may still be correct.
//! There, a race counts only if both threads were seen to stand right before their accesses at the same time: the
//! program's other synchronisation did not keep them apart.

use crate::escapes::may_synchronise;
use crate::{REPLAYS, confirm, run_one};
use racehunter_explore::{
    Bug, Descriptor, Execution, Executor, ExecutorError, Outcome, Pair, Plan, Race, Tail, conflicts, decisions,
};
use racehunter_log::CodeAddress;
use racehunter_symbols::Symbols;

/// Random schedules to try for a pair if the simplest one does not make it meet.
const WALKS: u64 = 6;
/// Pairs of accesses to try for one race.
const PAIRS: usize = 8;
/// Maximum number of events of an execution.
const LONGEST: u64 = 40_000_000;
/// Loop iterations to try if nothing better is known about an access.
const ROUNDS: u64 = 3;

/// A schedule in which both accesses were about to happen at the same time.
pub(crate) struct Meeting {
    /// The race that was shown: between the two accesses in question, or between one of them and another access to the
    /// same memory that came first.
    pub bug: Bug,
    /// The plan, replayed as often as a finding requires.
    pub plan: Plan,
    pub preemptions: u64,
}

/// How the two accesses of a race were shown to be a bug, without inferring anything from the order of synchronisation.
pub(crate) enum Evidence {
    /// Both were about to happen at the same time.
    Met(Box<Meeting>),
    /// One of them used memory after the other one had ended it. This plan repeats that.
    TooLate(Box<Plan>),
}

impl Evidence {
    pub(crate) fn meeting(self) -> Option<Meeting> {
        match self {
            Self::Met(meeting) => Some(*meeting),
            Self::TooLate(_) => None,
        }
    }
}

/// Returns true if something unseen in this execution may have ordered the two accesses of a race.
pub(crate) fn may_be_ordered(symbols: &Symbols, execution: &Execution, bug: &Bug) -> bool {
    let mut escapes = execution.escapes().into_iter();
    matches!(bug, Bug::Race(..)) && escapes.any(|(what, _, object)| may_synchronise(symbols, what, object))
}

/// Returns true if the execution uses memory after its end: this order was seen, not inferred.
pub(crate) fn is_used_too_late(execution: &Execution, bug: &Bug) -> bool {
    let Bug::Race(first, second) = *bug else { return false };
    let is_it = |race: &Race| sorted(race.first.code, race.second.code) == (first, second);
    execution.races().iter().any(|race| race.first.access.ends_memory() && is_it(race))
}

/// Looks for a schedule in which the two accesses of a race meet, or one of them uses memory that the other one has ended.
pub(crate) fn find(
    executor: &mut dyn Executor,
    seen: &Execution,
    repeat: &Plan,
    bug: &Bug,
) -> Result<Option<Evidence>, ExecutorError> {
    let Bug::Race(first, second) = *bug else { return Ok(None) };
    let open = |pair: &Pair, tail: Tail| Plan {
        provoke: Some(Box::new(pair.clone())),
        tail,
        max_events: LONGEST.min(repeat.max_events),
        spurious: repeat.spurious,
        max_threads: repeat.max_threads,
        patience: repeat.patience,
        ..Plan::default()
    };
    if let Some(pair) = &repeat.provoke {
        // They have met before: try the simplest schedule, then the one in which they met.
        for plan in [open(pair, Tail::MinSwitches), repeat.clone()] {
            if let Tried::Shown(shown) = attempt(executor, &plan, bug)? {
                return Ok(Some(shown));
            }
        }
    }
    for pair in pairs(seen, first, second) {
        for walk in 0..=WALKS {
            let tail = if walk == 0 { Tail::MinSwitches } else { Tail::random(walk) };
            match attempt(executor, &open(&pair, tail), bug)? {
                Tried::Shown(shown) => return Ok(Some(shown)),
                // Another thread waits for the held one in a way that cannot be seen. Other schedules would fail in the
                // same way.
                Tried::Stuck => return Ok(None),
                Tried::Missed => {}
            }
        }
    }
    Ok(None)
}

/// The result of trying to make two accesses meet.
enum Tried {
    Shown(Evidence),
    Missed,
    /// It did not end.
    Stuck,
}

/// Follows a plan that holds threads, and repeats the result as often as a finding requires.
fn attempt(executor: &mut dyn Executor, plan: &Plan, wanted: &Bug) -> Result<Tried, ExecutorError> {
    // The detector runs, so that freed memory is not handed out again: another object at the same address would be taken for
    // the same memory. It infers nothing: only accesses that meet are logged as a race, and uses of memory that has ended.
    let observing = |plan: Plan| Plan { detect_races: true, infer_races: false, ..plan };
    let execution = run_one(executor, &observing(plan.clone()))?;
    let diverged = matches!(execution.outcome, Outcome::Diverged(_));
    if !diverged && is_used_too_late(&execution, wanted) {
        let alone = observing(execution.repeat_to(wanted));
        let held = Plan { provoke: plan.provoke.clone(), patience: plan.patience, ..alone.clone() };
        for plan in [alone, held] {
            let [shown, _] = confirm(executor, &plan, wanted)?;
            if shown == REPLAYS {
                return Ok(Tried::Shown(Evidence::TooLate(Box::new(plan))));
            }
        }
        return Ok(Tried::Missed);
    }
    let met = |bug: &Bug| matches!(bug, Bug::Race(..)) && !is_used_too_late(&execution, bug);
    let Some(bug) = execution.bugs().into_iter().find(met) else {
        let stuck = matches!(execution.outcome, Outcome::Limit(_));
        return Ok(if stuck { Tried::Stuck } else { Tried::Missed });
    };
    if diverged {
        return Ok(Tried::Missed);
    }
    let (provoke, patience) = (plan.provoke.clone(), plan.patience);
    let plan = observing(Plan { provoke, patience, ..execution.repeat_to(&bug) });
    let [shown, _] = confirm(executor, &plan, &bug)?;
    if shown < REPLAYS {
        return Ok(Tried::Missed);
    }
    let last = decisions(&execution).last();
    let preemptions = last.map_or(0, |last| last.preemptions);
    Ok(Tried::Shown(Evidence::Met(Box::new(Meeting { bug, plan, preemptions }))))
}

/// Returns descriptions of the two accesses, the most exact first.
fn pairs(seen: &Execution, first: CodeAddress, second: CodeAddress) -> Vec<Pair> {
    let is_it = |pair: &Pair| sorted(pair[0].code, pair[1].code) == (first, second);
    let mut pairs: Vec<Pair> = conflicts(seen).into_iter().filter(is_it).take(PAIRS).collect();
    let at = |code: CodeAddress, nth: u64| Descriptor { code, path: None, callers: Vec::new(), nth };
    pairs.extend((1..=ROUNDS).map(|nth| [at(first, nth), at(second, nth)]));
    pairs
}

fn sorted(first: CodeAddress, second: CodeAddress) -> (CodeAddress, CodeAddress) {
    (first.min(second), first.max(second))
}
