//! Watchpoints: finds pairs of conflicting accesses, then provokes each pair.
//!
//! After E. A. Gerlits, "RaceHunter: dynamic detection of data races by provoking conflicting accesses", 2023. One
//! execution is monitored; its conflicting pairs are the targets. For a target the thread that comes first to one of the
//! two accesses is held there until the other one is about to happen. Since one thread runs at a time, waiting needs no
//! clock: it ends when the partner is there, or when nobody else can run. Pairs that show up on the way are targets too.
//!
//! What meets is a race whatever the program synchronises with. Pairs that do not meet may still race in other schedules.

use racehunter_explore::{Analysis, Execution, Outcome, Pair, Plan, conflicts};
use std::collections::HashSet;

/// The analysis.
#[derive(Default)]
pub struct Watchpoint {
    known: HashSet<Pair>,
    provoked: u64,
}

/// What to run for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To see which accesses conflict.
    Monitor,
    /// To make two accesses meet.
    Provoke(Box<Pair>),
}

impl Watchpoint {
    /// An analysis that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Analysis for Watchpoint {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        self.known.clear();
        self.provoked = 0;
        vec![Target::Monitor]
    }

    fn plan(&self, target: &Target) -> Plan {
        let provoke = match target {
            Target::Monitor => None,
            Target::Provoke(pair) => Some(pair.clone()),
        };
        Plan { stacks: true, provoke, ..Plan::default() }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        self.provoked += u64::from(*target != Target::Monitor);
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return Vec::new();
        }
        let mut targets: Vec<Target> = Vec::new();
        for pair in conflicts(execution) {
            if self.known.insert(pair.clone()) {
                targets.push(Target::Provoke(Box::new(pair)));
            }
        }
        targets
    }

    fn guarantee(&self) -> Option<String> {
        let pairs = self.provoked;
        let plural = if pairs == 1 { "pair" } else { "pairs" };
        Some(format!("{pairs} {plural} of conflicting accesses seen, each provoked,"))
    }
}
