//! The fewest preemptions: a small search of its own for the same bug, bound after bound.
//!
//! Leaving out parts of a schedule ends where every single step makes the bug go away, although another schedule with fewer preemptions
//! may show it. Here schedules with no preemption are tried, then those with one, then with two, as long as that is fewer than are known.
//! First come those that preempt where the known schedule does.

use super::{OwnEvents, Rule, Search};
use crate::{Execution, ExecutorError, Plan, Step, Switch, decisions};
use racehunter_log::{CodeAddress, EventNumber, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bounds that are tried, and the share of the executions that each may take at most: what is left of one is for the next.
const SHARES: [u64; 3] = [20, 50, 100];
/// Schedules that may wait.
const WAITING: usize = 4000;
/// Schedules that run at the same time.
const BATCH: usize = 8;

/// Which schedule comes first: the one with fewer preemptions; with fewer choices at other places than in the known schedule; whose
/// choices are at places that come later there, since the last preemptions are mostly the ones that matter; which of the threads is
/// chosen, because most are alike; the distance from the known places; a number.
type Rank = (usize, u64, u64, usize, u64, u64);

/// What the known schedule preempts.
struct Known {
    /// Where, and how many preemptions follow the last one there.
    codes: FxHashMap<CodeAddress, u64>,
    rules: Vec<Rule>,
}

impl Known {
    /// How far from a preemption of the same thread it is, in events of that thread.
    fn distance(&self, from: ThreadId, after: u64) -> u64 {
        let same = self.rules.iter().filter(|rule| rule.from == from);
        same.map(|rule| rule.after.abs_diff(after)).min().unwrap_or(u64::MAX)
    }
}

impl Search<'_> {
    /// Tries schedules with fewer preemptions than the simplest so far.
    pub(super) fn bounds(&mut self) -> Result<(), ExecutorError> {
        let Some(known) = self.known() else { return Ok(()) };
        let mut waiting: BTreeMap<Rank, Vec<Switch>> = BTreeMap::from([((0, 0, 0, 0, 0, 0), Vec::new())]);
        let (mut number, runs) = (0, self.effort.runs);
        while !self.out_of_runs() {
            let fewest = usize::try_from(self.fewest()).unwrap_or(usize::MAX);
            let has_left = |bound: usize| SHARES.get(bound).is_some_and(|share| self.runs * 100 < runs * share);
            waiting.retain(|rank, _| rank.0 < fewest && has_left(rank.0));
            let most = BATCH.min((runs - self.runs) as usize);
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
                for Alternative { cost, which, code, distance, switches } in alternatives(&execution, switches, &known)
                {
                    number += 1;
                    let place = known.codes.get(&code).filter(|_| cost > 0);
                    let (strange, age) = (u64::from(place.is_none()), place.copied().unwrap_or(0));
                    let rank = (rank.0 + cost, rank.1 + strange, rank.2 + age, which, distance, number);
                    if rank.0 < fewest.min(SHARES.len()) && (waiting.len() < WAITING || rank.1 == 0) {
                        let _ = waiting.insert(rank, switches);
                    }
                }
                let _ = self.keep_if_better(Some(execution));
            }
        }
        Ok(())
    }

    pub(super) fn fewest(&self) -> u64 {
        self.best.as_ref().map_or(0, |best| best.cost.preemptions)
    }

    /// Where the simplest schedule so far preempts; nothing if it does not.
    fn known(&self) -> Option<Known> {
        let best = self.best.as_ref().filter(|best| best.cost.preemptions > 0)?;
        let costly = decisions(&best.execution).filter(|decision| decision.step == Step::Preemption);
        let places: Vec<CodeAddress> = costly.map(|decision| decision.code).collect();
        // Of several at one place, the last counts.
        let codes = places.iter().zip((0..places.len() as u64).rev()).map(|(&code, age)| (code, age)).collect();
        Some(Known { codes, rules: best.rules.iter().copied().filter(|rule| rule.costs).collect() })
    }
}

/// A schedule that follows an execution up to a decision after its forced switches, and chooses another thread there.
struct Alternative {
    /// Preemptions that this adds.
    cost: usize,
    /// Which of the other threads it is.
    which: usize,
    /// Where the running thread stands.
    code: CodeAddress,
    /// How far that is from what is known.
    distance: u64,
    switches: Vec<Switch>,
}

fn alternatives(execution: &Execution, forced: &[Switch], known: &Known) -> Vec<Alternative> {
    /// Of long executions not all are kept: each has a copy of what comes before.
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
                let cost = match step {
                    Step::Free => 0,
                    Step::Preemption => 1,
                    Step::Stay | Step::Unfair => continue,
                };
                found.push((cost, which, decision.code, distance, made.len(), switch(other)));
            }
        }
        if decision.logged {
            made.push(switch(decision.to));
        }
    }
    let age = |code: &CodeAddress| known.codes.get(code).copied().unwrap_or(u64::MAX);
    found.sort_by_key(|&(cost, which, code, distance, ..)| (cost, age(&code), which, distance));
    // Free choices are many where threads are alike, and must not push the others out.
    let mut kept = [0; 2];
    found.retain(|&(cost, ..)| {
        kept[cost] += 1;
        kept[cost] <= MOST
    });
    let whole = |(cost, which, code, distance, before, last): (usize, usize, CodeAddress, u64, usize, Switch)| {
        let mut switches = made[..before].to_vec();
        switches.push(last);
        Alternative { cost, which, code, distance, switches }
    };
    found.into_iter().map(whole).collect()
}
