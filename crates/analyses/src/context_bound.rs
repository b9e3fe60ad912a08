//! Context bounding: all schedules with few switches.
//!
//! V. P. Rudenchik, P. S. Andrianov, V. S. Mutilin, "Bounding Thread Switches in Dynamic Analysis of Multithreaded
//! Programs", Trudy ISP RAN 37(6), 2025; iterative and by preemptions as in M. Musuvathi, S. Qadeer, "Iterative
//! context bounding for systematic testing of multithreaded programs", PLDI 2007.
//!
//! A target is a schedule prefix. Its execution repeats the prefix and goes on by the strategy; at every decision
//! after the prefix, each thread that could have been chosen instead gives a new target. So each schedule is the
//! execution of one target, and no set of visited schedules is needed. A target whose prefix costs more than the
//! current bound waits for its stage.

use crate::trie::{ROOT, Trie};
use racehunter_explore::{Analysis, Execution, Going, Outcome, Plan, Step, Tail, decisions};
use std::str::FromStr;

/// What the bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BoundKind {
    /// Switches away from a thread that could have gone on.
    #[default]
    Preemptions,
    /// Switches of any kind.
    Switches,
}

/// Who runs where the target leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Any thread. The execution itself may then exceed the bound.
    Random,
    /// The same thread as long as it can.
    #[default]
    MinSwitches,
    /// The same thread, but not for more than so many events in a row.
    Fair(u64),
}

/// Events in a row that a thread has at most when the strategy does not say: enough for any loop that ends.
const PATIENCE: u64 = 100_000;

impl Strategy {
    /// Events in a row after which a thread must give way.
    pub(crate) fn fair_limit(self) -> Option<u64> {
        Some(if let Self::Fair(limit) = self { limit } else { PATIENCE })
    }
}

/// A word of the command line that means nothing here.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{word}` is not one of {expected}")]
pub struct UnknownWord {
    /// The word.
    pub word: String,
    /// What it could have been.
    pub expected: &'static str,
}

impl FromStr for BoundKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "preemptions" => Ok(Self::Preemptions),
            "switches" => Ok(Self::Switches),
            _ => Err(UnknownWord { word: word.to_owned(), expected: "preemptions, switches" }),
        }
    }
}

impl FromStr for Strategy {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let unknown = || UnknownWord { word: word.to_owned(), expected: "random, min-switches, fair=N (N > 0)" };
        match word {
            "random" => Ok(Self::Random),
            "min-switches" => Ok(Self::MinSwitches),
            _ => {
                let limit = word.strip_prefix("fair=").and_then(|limit| limit.parse().ok());
                limit.filter(|&limit| limit > 0).map(Self::Fair).ok_or_else(unknown)
            }
        }
    }
}

/// The analysis. See the documentation of the module.
pub struct ContextBound {
    kind: BoundKind,
    strategy: Strategy,
    seed: u64,
    /// First and last bound to explore.
    first_bound: u32,
    last_bound: u32,
    bound: u32,
    trie: Trie,
    /// Targets of later stages, by their cost.
    later: Vec<Vec<u32>>,
    /// Some schedule costs more than the last bound.
    cut_off: bool,
    /// There are more targets than can be numbered; some were dropped.
    dropped: bool,
    /// Some choice was counted although it was no switch.
    unfair: bool,
    /// Some thread had to give way.
    exhausted: bool,
}

impl ContextBound {
    /// Bounds 0, 1, 2, ... up to `last_bound`, each finished before the next.
    #[must_use]
    pub fn iterative(last_bound: u32, kind: BoundKind, strategy: Strategy, seed: u64) -> Self {
        Self {
            kind,
            strategy,
            seed,
            first_bound: 0,
            last_bound,
            bound: 0,
            trie: Trie::new(),
            later: Vec::new(),
            cut_off: false,
            dropped: false,
            unfair: false,
            exhausted: false,
        }
    }

    /// All schedules, in one stage.
    #[must_use]
    pub fn unbounded(strategy: Strategy, seed: u64) -> Self {
        Self { first_bound: u32::MAX, ..Self::iterative(u32::MAX, BoundKind::Preemptions, strategy, seed) }
    }

    fn cost_of(&self, step: Step) -> u32 {
        u32::from(match self.kind {
            BoundKind::Preemptions => matches!(step, Step::Preemption | Step::Unfair),
            BoundKind::Switches => step != Step::Stay,
        })
    }

    /// A target now or later, as its cost says.
    fn add(&mut self, target: u32, now: &mut Vec<u32>) {
        let cost = self.trie.cost(target);
        if cost <= self.bound {
            now.push(target);
            return;
        }
        let stage = cost as usize;
        if self.later.len() <= stage {
            self.later.resize_with(stage + 1, Vec::new);
        }
        self.later[stage].push(target);
    }
}

impl Analysis for ContextBound {
    type Target = u32;

    fn initial_targets(&mut self) -> Vec<u32> {
        self.bound = self.first_bound;
        self.trie = Trie::new();
        self.later = Vec::new();
        (self.cut_off, self.dropped, self.unfair, self.exhausted) = (false, false, false, false);
        vec![ROOT]
    }

    fn plan(&self, &target: &u32) -> Plan {
        let tail = match self.strategy {
            Strategy::Random => Tail::random(self.seed ^ (u64::from(target) << 32) ^ self.trie.at(target)),
            Strategy::MinSwitches | Strategy::Fair(_) => Tail::MinSwitches,
        };
        Plan { tail, fair_limit: self.strategy.fair_limit(), ..self.trie.plan(target) }
    }

    fn new_targets(&mut self, &target: &u32, execution: &Execution) -> Vec<u32> {
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return self.trie.after_time_out(target, execution).into_iter().collect();
        }
        let mut targets = Vec::new();
        let mut cost = self.trie.cost(target);
        // The prefix of the path so far; held while walking on.
        let mut prefix = target;
        let mut decisions = decisions(execution, self.strategy.fair_limit());
        while let Some(decision) = decisions.next() {
            if decision.at <= self.trie.at(target) {
                continue;
            }
            self.exhausted |= decision.going == Going::Exhausted;
            if cost == self.last_bound && decision.going == Going::Ready && decision.step == Step::Stay {
                // The usual case at the last bound: whatever else could be chosen costs too much.
                self.cut_off |= decisions.has_others();
            } else {
                for (thread, step) in decisions.others() {
                    let cost = cost + self.cost_of(step);
                    self.unfair |= step == Step::Unfair;
                    if cost > self.last_bound {
                        self.cut_off = true;
                    } else if let Some(child) = self.trie.child(prefix, decision.at, thread, decision.code, cost) {
                        self.add(child, &mut targets);
                    } else {
                        self.dropped = true;
                    }
                }
            }
            cost += self.cost_of(decision.step);
            if cost > self.last_bound {
                // The strategy went beyond the bound; so does everything that follows.
                self.cut_off = true;
                break;
            }
            if decision.logged {
                let Some(child) = self.trie.child(prefix, decision.at, decision.to, decision.code, cost) else {
                    self.dropped = true;
                    break;
                };
                self.trie.release(prefix);
                prefix = child;
            }
        }
        self.trie.release(prefix);
        targets
    }

    fn next_stage(&mut self) -> Option<Vec<u32>> {
        if self.bound >= self.last_bound || self.covers_everything() {
            return None;
        }
        self.bound += 1;
        Some(self.later.get_mut(self.bound as usize).map(std::mem::take).unwrap_or_default())
    }

    fn guarantee(&self) -> Option<String> {
        if self.dropped {
            return None;
        }
        let bound = self.bound;
        let mut words = match self.kind {
            _ if self.covers_everything() => "all schedules".to_owned(),
            BoundKind::Preemptions => format!("all schedules with <= {bound} {}", plural(bound, "preemption")),
            BoundKind::Switches => format!("all schedules with <= {bound} {}", plural(bound, "switch")),
        };
        if self.unfair && !self.covers_everything() {
            words += " (ignored yields and early time-outs count)";
        }
        if let (true, Some(limit)) = (self.exhausted, self.strategy.fair_limit()) {
            words += &format!(" and at most {limit} events of a thread in a row while others wait");
        }
        Some(words)
    }

    fn bound(&self) -> Option<u32> {
        (self.last_bound != u32::MAX).then_some(self.bound)
    }

    fn covers_everything(&self) -> bool {
        let left = self.later.iter().skip(self.bound as usize + 1).any(|targets| !targets.is_empty());
        !self.cut_off && !self.dropped && !left
    }
}

fn plural(count: u32, noun: &str) -> String {
    match (count, noun) {
        (1, _) => noun.to_owned(),
        (_, "switch") => "switches".to_owned(),
        _ => format!("{noun}s"),
    }
}
