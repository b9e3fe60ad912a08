//! Prediction: what other schedules would do is read off the log of one, and each such schedule is a target.
//!
//! After S. Zhu and others, "Reduce Dependence for Sound Concurrency Bug Prediction", 2025, and the works that it builds on;
//! the algorithm is in `racehunter-predict`. Here its witnesses become plans. The log has points only: whatever lies between
//! two points of a thread goes along with the second. Logs know no dependences, so every read keeps its value (policy M2).
//!
//! A prediction is a guess as far as this program is concerned: there may be things that a log does not tell. A plan that
//! cannot be followed means that the guess was wrong, and nothing else.

use crate::witness::{codes, witness};
use racehunter_explore::{Analysis, Bug, Execution, Outcome, Plan, Style, Tail};
use racehunter_predict::{Effort, Index, Kind, Options, Policy, predict};
use racehunter_trace::recording::Recording;
use std::collections::HashSet;

/// The analysis.
pub struct Predict {
    /// Runs the program itself when it has nothing to try; otherwise it lives on what others run.
    active: bool,
    seed: u64,
    /// Executions whose logs were seen.
    seen: u64,
    /// What was predicted, or has shown.
    known: HashSet<(Kind, Vec<u64>)>,
}

/// What to run for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To see what can be predicted: the sequential execution, then walks.
    Look(u64),
    /// To carry out a prediction.
    Show(Box<Plan>),
}

/// Longest log that is looked at, in records.
const LONGEST: usize = 200_000;

impl Predict {
    /// An analysis that stands for itself.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { active: true, seed, seen: 0, known: HashSet::new() }
    }

    /// An analysis that looks at the executions of others, and has targets only where it predicts something.
    #[must_use]
    pub fn from_others() -> Self {
        Self { active: false, ..Self::new(0) }
    }

    /// The predictions from a log that are not known, as targets.
    fn predictions(&mut self, execution: &Execution) -> Vec<Target> {
        if execution.threads < 2
            || execution.records.len() > LONGEST
            || matches!(execution.outcome, Outcome::Diverged(_) | Outcome::Lost(_))
        {
            return Vec::new();
        }
        let Ok(recording) = Recording::of(&execution.records) else { return Vec::new() };
        // A program that misuses its locks has logs that nothing follows from.
        let Ok(index) = Index::new(&recording.trace) else { return Vec::new() };
        let effort = Effort { windows: vec![5_000], retries: 200, ..Effort::default() };
        let options = Options { policy: Policy::M2, effort, attempts: 20, ..Options::default() };
        let mut targets = Vec::new();
        for prediction in predict(&index, &options, &|| false).predictions {
            let Some(mut places) = codes(&recording, &prediction) else { continue };
            places.sort_unstable();
            if prediction.kind != Kind::Atomicity && self.known.insert((prediction.kind, places)) {
                targets.extend(witness(&recording, &prediction).into_iter().map(|(plan, _)| Target::Show(plan.into())));
            }
        }
        targets
    }

    /// Learns from an execution, whoever ran it.
    fn learn(&mut self, execution: &Execution) -> Vec<Target> {
        for bug in execution.bugs() {
            if let Bug::Race(first, second) = bug {
                self.known.insert((Kind::Race, vec![first, second]));
            }
        }
        self.seen += 1;
        // Executions of one program are much alike: fewer and fewer are worth the time.
        if self.seen.is_power_of_two() { self.predictions(execution) } else { Vec::new() }
    }
}

impl Analysis for Predict {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        if self.active { vec![Target::Look(0)] } else { Vec::new() }
    }

    fn plan(&self, target: &Target) -> Plan {
        match target {
            Target::Look(0) => Plan::default(),
            Target::Look(number) => {
                let seed = self.seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
                Plan { tail: Tail::Walk { style: Style::Pos, seed }, ..Plan::default() }
            }
            Target::Show(plan) => (**plan).clone(),
        }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        let Target::Look(number) = target else { return Vec::new() };
        let mut targets = vec![Target::Look(number + 1)];
        targets.extend(self.predictions(execution));
        targets
    }

    fn other_targets(&mut self, execution: &Execution) -> Vec<Target> {
        self.learn(execution)
    }

    fn guesses(&self) -> bool {
        true
    }
}
