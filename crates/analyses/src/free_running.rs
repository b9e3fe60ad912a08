//! Watchpoints in executions that run freely: the paper's own form of [`crate::Watchpoint`].
//!
//! Threads are real and run in parallel, and nobody is serialised, so a few executions are monitored, and the pairs of all
//! of them are provoked. What meets there was a race, but of an execution that cannot be repeated. So it is provoked once
//! more, under control: only what shows there can be replayed, and is a finding.

use racehunter_explore::{Analysis, Descriptor, Execution, Pair, Plan, conflicts};
use std::collections::HashSet;

/// The analysis.
#[derive(Default)]
pub struct FreeRunning {
    known: HashSet<Pair>,
}

/// What to run for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To see which accesses conflict.
    Monitor,
    /// To make two accesses meet.
    Provoke(Box<Pair>),
    /// To make them meet under control.
    Confirm(Box<Pair>),
}

/// Executions that are monitored. Each may show accesses that the others do not.
const MONITORED: usize = 3;

impl FreeRunning {
    /// An analysis that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Analysis for FreeRunning {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        self.known.clear();
        vec![Target::Monitor; MONITORED]
    }

    fn plan(&self, target: &Target) -> Plan {
        match target {
            Target::Monitor => Plan::monitored(),
            Target::Provoke(pair) => {
                Plan { free: true, detect_races: false, provoke: Some(pair.clone()), ..Plan::default() }
            }
            Target::Confirm(pair) => Plan { provoke: Some(pair.clone()), ..Plan::default() },
        }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        match target {
            Target::Monitor => {
                let pairs = conflicts(execution).into_iter();
                let new = pairs.filter(|pair| self.known.insert(pair.clone()));
                new.map(|pair| Target::Provoke(Box::new(pair))).collect()
            }
            Target::Provoke(pair) if !execution.races().is_empty() => ways(pair),
            Target::Provoke(_) | Target::Confirm(_) => Vec::new(),
        }
    }

    fn remaining(&self, waiting: usize) -> Option<u64> {
        Some(waiting as u64)
    }
}

/// Who comes first under control need not be who came first in the free execution: each of the two is held in turn.
fn ways(pair: &Pair) -> Vec<Target> {
    let [first, second] = pair;
    let both = |a: &Descriptor, b: &Descriptor| Target::Confirm(Box::new([a.clone(), b.clone()]));
    vec![both(first, second), both(first, first), both(second, second)]
}
