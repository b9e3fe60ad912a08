//! Prediction: infers from the log of one execution what other schedules would do, and makes each such schedule a target.
//!
//! After S. Zhu and others, "Reduce Dependence for Sound Concurrency Bug Prediction", 2025, and the works that it builds on;
//! the algorithm is in `racehunter-predict`. This module turns its witnesses into plans. The log contains only points:
//! everything between two points of a thread moves with the second one. Logs contain no dependences, so every read keeps its
//! value (policy M2).
//!
//! A prediction is only a guess about the program, because a log does not show everything. If the program does not follow
//! the plan, the guess was wrong.

use crate::witness::{codes, witness};
use racehunter_explore::{
    Analysis, Bug, Execution, Loader, Outcome, Part, Plan, Saver, Share, StableHasher, Style, Tail, Unusable,
};
use racehunter_predict::{Effort, Index, Kind, Options, Policy, predict};
use racehunter_trace::recording::Recording;
use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};

/// The analysis.
pub struct Predict {
    /// Whether it runs the program itself when it has no prediction to try, or only reads the logs of other analyses.
    active: bool,
    seed: u64,
    part: Part,
    /// Number of executions whose logs were seen.
    seen: u64,
    /// The last log was too long to predict from, or would have been if it had left out nothing. Not saved: the next log tells.
    too_long: bool,
    /// What was predicted or found.
    known: HashSet<(Kind, Vec<u64>)>,
}

/// The purpose of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Produce a log to predict from: the sequential execution first, then walks.
    Look(u64),
    /// Carry out a prediction.
    Show(Box<Plan>),
}

/// Maximum length of a log to analyse, in records.
const LONGEST: usize = 200_000;

impl Predict {
    /// Creates an analysis that also runs the program to get logs.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { active: true, seed, part: Part::WHOLE, seen: 0, too_long: false, known: HashSet::new() }
    }

    /// Creates an analysis that reads the logs of other analyses and has targets only for its predictions.
    #[must_use]
    pub fn from_others() -> Self {
        Self { active: false, ..Self::new(0) }
    }

    /// Returns the new predictions from a log as targets. Predictions of other parts than `part` are left to the tools that
    /// see the same log.
    fn predictions(&mut self, execution: &Execution, part: Part) -> Vec<Target> {
        self.too_long = execution.whole_length() > LONGEST;
        if execution.threads < 2
            || self.too_long
            || execution.is_outline()
            || matches!(execution.outcome, Outcome::Diverged(_) | Outcome::Lost(_))
        {
            return Vec::new();
        }
        let Ok(recording) = Recording::of(&execution.records) else { return Vec::new() };
        // Nothing follows from the log of a program that misuses its locks.
        let Ok(index) = Index::new(&recording.trace) else { return Vec::new() };
        let effort = Effort { windows: vec![5_000], retries: 200, ..Effort::default() };
        let options = Options { policy: Policy::M2, effort, attempts: 20, ..Options::default() };
        let mut targets = Vec::new();
        for prediction in predict(&index, &options, &|| false).predictions {
            let Some(mut places) = codes(&recording, &prediction) else { continue };
            places.sort_unstable();
            let is_own = part.owns(hash(&places));
            if prediction.kind != Kind::Atomicity && self.known.insert((prediction.kind, places)) && is_own {
                targets.extend(witness(&recording, &prediction).into_iter().map(|(plan, _)| Target::Show(plan.into())));
            }
        }
        targets
    }

    /// Learns from an execution of this analysis or another one.
    fn learn(&mut self, execution: &Execution) -> Vec<Target> {
        for bug in execution.bugs() {
            if let Bug::Race(first, second) = bug {
                self.known.insert((Kind::Race, vec![first.0, second.0]));
            }
        }
        self.seen += 1;
        // Executions of one program resemble each other, so logs are analysed less and less often.
        if self.seen.is_power_of_two() { self.predictions(execution, Part::WHOLE) } else { Vec::new() }
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
                // Each part makes the walks with its own numbers.
                let number =
                    (number - 1).wrapping_mul(u64::from(self.part.of())).wrapping_add(self.part.number().into());
                let seed = self.seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
                Plan { tail: Tail::Walk { style: Style::Pos, seed }, ..Plan::default() }
            }
            Target::Show(plan) => (**plan).clone(),
        }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        let Target::Look(number) = target else { return Vec::new() };
        let mut targets = vec![Target::Look(number + 1)];
        // All parts run the first execution.
        let part = if *number == 0 { self.part } else { Part::WHOLE };
        targets.extend(self.predictions(execution, part));
        targets
    }

    fn other_targets(&mut self, execution: &Execution) -> Vec<Target> {
        self.learn(execution)
    }

    fn reads_other_log(&self, after: u64) -> bool {
        !self.too_long && (self.seen + after + 1).is_power_of_two()
    }

    fn guesses(&self) -> bool {
        true
    }

    /// Each part predicts from its own executions.
    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn is_common(&self, target: &Target) -> bool {
        *target == Target::Look(0)
    }

    fn lends(&self) -> bool {
        true
    }

    /// A share of the predictions to carry out, and walks of its own to predict from.
    fn lend(&mut self, waiting: &mut Vec<Target>, share: Share) -> Option<(Self, Vec<Target>)> {
        let mut targets = share.take(waiting);
        targets.retain(|target| matches!(target, Target::Show(_)));
        if self.active {
            targets.push(Target::Look(share.first_number()));
        }
        Some((Self { known: self.known.clone(), ..*self }, targets))
    }

    fn take_back(&mut self, part: Self, mut waiting: Vec<Target>) -> Vec<Target> {
        self.known.extend(part.known);
        waiting.retain(|target| matches!(target, Target::Show(_)));
        waiting
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        out.number(self.seen);
        out.count(self.known.len());
        for (kind, places) in &self.known {
            out.number(match kind {
                Kind::Race => 0_u8,
                Kind::Deadlock => 1,
                Kind::Atomicity => 2,
            });
            out.numbers(places.iter().copied());
        }
        let targets: Vec<&Target> = targets.collect();
        out.count(targets.len());
        for target in targets {
            match target {
                Target::Look(number) => {
                    out.number(false);
                    out.number(*number);
                }
                // The rest of such a plan is always the same: see `witness`.
                Target::Show(plan) => {
                    out.number(true);
                    out.switches(&plan.switches);
                    out.number(plan.tail_from);
                }
            }
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.seen = input.number()?;
        for _ in 0..input.number()? {
            let kind = match input.number()? {
                0 => Kind::Race,
                1 => Kind::Deadlock,
                2 => Kind::Atomicity,
                _ => return Err(Unusable::Damaged),
            };
            self.known.insert((kind, input.numbers()?));
        }
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            let shows = input.flag()?;
            targets.push(if shows {
                let (switches, tail_from) = (input.switches()?, input.small()?);
                Target::Show(Plan { switches, tail_from, ..Plan::default() }.into())
            } else {
                Target::Look(input.number()?)
            });
        }
        Ok(targets)
    }
}

/// Stable across runs and compilers, because it divides the work.
fn hash(places: &[u64]) -> u64 {
    let mut hasher = StableHasher::default();
    places.hash(&mut hasher);
    hasher.finish()
}
