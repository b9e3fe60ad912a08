//! Races of programs whose synchronisation is only partly seen.
//!
//! The detector infers a race from the synchronisation that it knows. A program that also synchronises in another way
//! (a lock in assembler or in an uninstrumented library, a lock file, a System V semaphore) may still be correct.
//! There, a race counts only if both threads were seen to stand right before their accesses at the same time: the
//! program's other synchronisation did not keep them apart.

use crate::escapes::may_synchronise;
use crate::{REPLAYS, confirm, run_one};
use racehunter_explore::{
    Bug, Descriptor, Execution, Executor, ExecutorError, Outcome, Pair, Plan, Tail, conflicts, decisions,
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

/// Returns true if something unseen in this execution may have ordered the two accesses of a race.
pub(crate) fn is_needed(symbols: &Symbols, execution: &Execution, bug: &Bug, infers: bool) -> bool {
    let Bug::Race(first, second) = *bug else { return false };
    let may_order = execution.escapes().iter().any(|&(what, _, object)| may_synchronise(symbols, what, object));
    // Memory is used after its end: this order was seen, not inferred.
    let used_after_free = execution
        .races()
        .iter()
        .any(|race| race.first.access.ends_memory() && sorted(race.first.code, race.second.code) == (first, second));
    (may_order || !infers) && !used_after_free
}

/// Looks for a schedule in which the two accesses of a race meet.
pub(crate) fn find(
    executor: &mut dyn Executor,
    seen: &Execution,
    repeat: &Plan,
    bug: &Bug,
) -> Result<Option<Meeting>, ExecutorError> {
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
            if let Tried::Met(meeting) = attempt(executor, &plan)? {
                return Ok(Some(*meeting));
            }
        }
    }
    for pair in pairs(seen, first, second) {
        for walk in 0..=WALKS {
            let tail = if walk == 0 { Tail::MinSwitches } else { Tail::random(walk) };
            match attempt(executor, &open(&pair, tail))? {
                Tried::Met(meeting) => return Ok(Some(*meeting)),
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
    Met(Box<Meeting>),
    Missed,
    /// It did not end.
    Stuck,
}

/// Follows a plan that holds threads, and repeats the result as often as a finding requires.
fn attempt(executor: &mut dyn Executor, plan: &Plan) -> Result<Tried, ExecutorError> {
    // Without the detector, only accesses that meet are logged as a race.
    let execution = run_one(executor, &Plan { detect_races: false, ..plan.clone() })?;
    let is_race = |bug: &Bug| matches!(bug, Bug::Race(..));
    let Some(bug) = execution.bugs().into_iter().find(is_race) else {
        let stuck = matches!(execution.outcome, Outcome::Limit(_));
        return Ok(if stuck { Tried::Stuck } else { Tried::Missed });
    };
    if matches!(execution.outcome, Outcome::Diverged(_)) {
        return Ok(Tried::Missed);
    }
    let (provoke, patience) = (plan.provoke.clone(), plan.patience);
    let met = Plan { provoke, patience, detect_races: false, ..execution.repeat_to(&bug) };
    let [shown, _] = confirm(executor, &met, &bug)?;
    if shown < REPLAYS {
        return Ok(Tried::Missed);
    }
    let last = decisions(&execution).last();
    let plan = Plan { infer_races: false, detect_races: true, ..met };
    let preemptions = last.map_or(0, |last| last.preemptions);
    Ok(Tried::Met(Box::new(Meeting { bug, plan, preemptions })))
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
