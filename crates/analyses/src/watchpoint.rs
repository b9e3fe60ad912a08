//! Watchpoints: finds pairs of conflicting accesses, then provokes each pair.
//!
//! After E. A. Gerlits, "RaceHunter: dynamic detection of data races by provoking conflicting accesses", 2023. One
//! execution is monitored; its conflicting pairs are the targets. For a target the thread that comes first to one of the
//! two accesses is held there until the other one is about to happen. Since one thread runs at a time, waiting needs no
//! clock: it ends when the partner is there, or when nobody else can run. Pairs that show up on the way are targets too.
//!
//! What meets is a race whatever the program synchronises with. Pairs that do not meet may still race in other schedules.

use racehunter_explore::{Analysis, Execution, Loader, Outcome, Pair, Part, Plan, Saver, Unusable, conflicts};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The analysis.
#[derive(Default)]
pub struct Watchpoint {
    part: Part,
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
            // What is seen while a pair is provoked belongs to whoever provokes that pair.
            let is_own = *target != Target::Monitor || self.part.owns(hash(&pair));
            if self.known.insert(pair.clone()) && is_own {
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

    fn remaining(&self, waiting: usize) -> Option<u64> {
        Some(waiting as u64)
    }

    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn is_common(&self, target: &Target) -> bool {
        *target == Target::Monitor
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        out.number(self.provoked);
        out.count(self.known.len());
        self.known.iter().for_each(|pair| out.pair(pair));
        let targets: Vec<&Target> = targets.collect();
        out.count(targets.len());
        for target in targets {
            out.number(matches!(target, Target::Provoke(_)));
            if let Target::Provoke(pair) = target {
                out.pair(pair);
            }
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.provoked = input.number()?;
        self.known = (0..input.number()?).map(|_| input.pair()).collect::<Result<_, _>>()?;
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            let provoke = input.flag()?;
            targets.push(if provoke { Target::Provoke(Box::new(input.pair()?)) } else { Target::Monitor });
        }
        Ok(targets)
    }
}

/// The same in every run.
fn hash(pair: &Pair) -> u64 {
    let mut hasher = DefaultHasher::new();
    pair.hash(&mut hasher);
    hasher.finish()
}
