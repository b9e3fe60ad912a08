//! The fewest preemptions: a small search for the same bug, bound after bound.
//!
//! Leaving out parts of a schedule ends where every single step makes the bug disappear, although another schedule with fewer
//! preemptions may show it. This search tries schedules without preemptions, then with one, then with two, as long as that is
//! fewer than known. Those that preempt where the known schedule does come first.

use super::{OwnEvents, Rule, Search};
use crate::{Execution, ExecutorError, Plan, Step, Switch, decisions};
use racehunter_log::{CodeAddress, EventNumber, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The maximum share of the executions for each bound, in percent; what one bound leaves goes to the next.
const SHARES: [u64; 3] = [20, 50, 100];
/// Maximum number of waiting schedules.
const WAITING: usize = 4000;
/// Number of schedules run at once.
const BATCH: usize = 8;

/// The order of schedules: fewer preemptions; fewer choices at places that the known schedule does not preempt; choices at its
/// later preemptions, which usually matter most; which thread is chosen, because most are alike; the distance from the known
/// preemptions; a number.
type Rank = (usize, u64, u64, usize, u64, u64);

/// The preemptions of the known schedule.
struct Known {
    /// Each place, and how many preemptions follow the last one there.
    codes: FxHashMap<CodeAddress, u64>,
    rules: Vec<Rule>,
}

impl Known {
    /// Returns the distance to a preemption of the same thread, in events of that thread.
    fn distance(&self, from: ThreadId, after: u64) -> u64 {
        let same = self.rules.iter().filter(|rule| rule.from == from);
        same.map(|rule| rule.after.abs_diff(after)).min().unwrap_or(u64::MAX)
    }
}

impl Search<'_> {
    /// Tries schedules with fewer preemptions than the simplest so far: first those without unfair choices, which a reader
    /// follows more easily; then also those that ignore a yield, or let time pass while a thread can run.
    pub(super) fn bounds(&mut self) -> Result<(), ExecutorError> {
        let before = self.fewest();
        let left_out = self.bounds_with(false)?;
        if left_out && self.fewest() == before {
            let _ = self.bounds_with(true)?;
        }
        Ok(())
    }

    /// Returns whether there were unfair choices that this search left out.
    fn bounds_with(&mut self, unfair: bool) -> Result<bool, ExecutorError> {
        let Some(known) = self.known() else { return Ok(false) };
        let mut left_out = false;
        let mut waiting: BTreeMap<Rank, Vec<Switch>> = BTreeMap::from([((0, 0, 0, 0, 0, 0), Vec::new())]);
        let (mut number, begin) = (0, self.runs);
        let runs = self.effort.runs.saturating_sub(begin);
        while !self.out_of_runs() {
            let fewest = usize::try_from(self.fewest()).unwrap_or(usize::MAX);
            let has_left =
                |bound: usize| SHARES.get(bound).is_some_and(|share| (self.runs - begin) * 100 < runs * share);
            waiting.retain(|rank, _| rank.0 < fewest && has_left(rank.0));
            let most = BATCH.min((self.effort.runs - self.runs) as usize);
            let batch: Vec<(Rank, Vec<Switch>)> = std::iter::from_fn(|| waiting.pop_first()).take(most).collect();
            if batch.is_empty() {
                break;
            }
            let plan = |(_, switches): &(Rank, Vec<Switch>)| {
                let tail_from = switches.last().map_or(EventNumber::START, |last| last.at.next());
                Plan { switches: switches.clone(), tail_from, ..self.open() }
            };
            let plans: Vec<Plan> = batch.iter().map(plan).collect();
            let executions = self.executor.run(&plans)?;
            self.runs += plans.len() as u64;
            for ((rank, switches), execution) in batch.iter().zip(executions) {
                for alternative in alternatives(&execution, switches, &known) {
                    let Alternative { choice, which, code, distance, switches } = alternative;
                    if choice == Choice::Unfair && !unfair {
                        left_out = true;
                        continue;
                    }
                    number += 1;
                    let cost = usize::from(choice == Choice::Preemption);
                    let place = known.codes.get(&code).filter(|_| cost > 0);
                    let strange = u64::from(place.is_none()) + u64::from(choice == Choice::Unfair);
                    let age = place.copied().unwrap_or(0);
                    let rank = (rank.0 + cost, rank.1 + strange, rank.2 + age, which, distance, number);
                    if rank.0 < fewest.min(SHARES.len()) && (waiting.len() < WAITING || rank.1 == 0) {
                        let _ = waiting.insert(rank, switches);
                    }
                }
                let _ = self.keep_if_better(Some(execution));
            }
        }
        Ok(left_out)
    }

    pub(super) fn fewest(&self) -> u64 {
        self.best.as_ref().map_or(0, |best| best.cost.preemptions)
    }

    /// Returns where the simplest schedule so far preempts; `None` if it does not.
    fn known(&self) -> Option<Known> {
        let best = self.best.as_ref().filter(|best| best.cost.preemptions > 0)?;
        let costly = decisions(&best.execution).filter(|decision| decision.step == Step::Preemption);
        let places: Vec<CodeAddress> = costly.map(|decision| decision.code).collect();
        // If there are several at one place, the last counts.
        let codes = places.iter().zip((0..places.len() as u64).rev()).map(|(&code, age)| (code, age)).collect();
        Some(Known { codes, rules: best.rules.iter().copied().filter(|rule| rule.costs).collect() })
    }
}

/// What an alternative does that the execution did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Choice {
    Free,
    Preemption,
    Unfair,
}

/// A schedule that follows an execution up to a decision after its forced switches, and chooses another thread there.
struct Alternative {
    choice: Choice,
    /// The index of the chosen thread among the alternatives.
    which: usize,
    /// Where the running thread is.
    code: CodeAddress,
    /// The distance from the known preemptions.
    distance: u64,
    switches: Vec<Switch>,
}

fn alternatives(execution: &Execution, forced: &[Switch], known: &Known) -> Vec<Alternative> {
    /// Limits the number kept, because each holds a copy of its prefix.
    const MOST: usize = 1000;
    let tail_from = forced.last().map_or(EventNumber::START, |last| last.at.next());
    let (mut counter, mut made, mut found) = (OwnEvents::default(), Vec::new(), Vec::new());
    let mut all = decisions(execution);
    while let Some(decision) = all.next() {
        let after = counter.at(decision.at, decision.from);
        counter.runs(decision.to);
        let switch = |to: ThreadId| Switch { at: decision.at, to, from: decision.from, code: decision.code };
        if decision.at >= tail_from {
            let distance = known.distance(decision.from, after);
            for (which, (other, step)) in all.others().enumerate() {
                let choice = match step {
                    Step::Free => Choice::Free,
                    Step::Preemption => Choice::Preemption,
                    Step::Unfair => Choice::Unfair,
                    Step::Stay => continue,
                };
                found.push((choice, which, decision.code, distance, made.len(), switch(other)));
            }
        }
        if decision.logged {
            made.push(switch(decision.to));
        }
    }
    let age = |code: &CodeAddress| known.codes.get(code).copied().unwrap_or(u64::MAX);
    found.sort_by_key(|&(choice, which, code, distance, ..)| (choice, age(&code), which, distance));
    // Similar threads have many free choices, which must not crowd out the others.
    let mut kept = [0; 3];
    found.retain(|&(choice, ..)| {
        kept[choice as usize] += 1;
        kept[choice as usize] <= MOST
    });
    let whole = |(choice, which, code, distance, before, last): (Choice, usize, CodeAddress, u64, usize, Switch)| {
        let mut switches = made[..before].to_vec();
        switches.push(last);
        Alternative { choice, which, code, distance, switches }
    };
    found.into_iter().map(whole).collect()
}
