//! Techniques that are nothing but walks: every execution is one, with a seed of its own.
//!
//! *Random walk*: at every point any thread that can run. The baseline of every comparison.
//!
//! *PCT* (S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees
//! of Finding Bugs", 2010): priorities that change at few points. States a chance: see [`Walks::chance`].
//!
//! *POS* (X. Yuan, J. Yang, R. Gu, "Partial Order Aware Concurrency Sampling", 2018): priorities of operations, drawn
//! again for those that conflict with what was done.
//!
//! None covers anything for certain, but all reach far corners of large programs early.

use racehunter_explore::{Analysis, Execution, Going, Loader, Part, Plan, Saver, Style, Tail, Unusable, decisions};

/// What kind of walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Random,
    Pct { depth: u32 },
    Pos,
}

/// The analysis: an endless supply of seeds.
pub struct Walks {
    kind: Kind,
    seed: u64,
    part: Part,
    next: u64,
    /// Walks that were made.
    made: u64,
    /// Most choices and threads that an execution had so far.
    choices: u64,
    threads: u64,
}

/// Walks that wait at any time, so that a batch can be filled.
const AHEAD: u64 = 64;

impl Walks {
    fn new(kind: Kind, seed: u64) -> Self {
        Self { kind, seed, part: Part::WHOLE, next: 0, made: 0, choices: 1, threads: 1 }
    }

    /// Random walks that all derive from one seed.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        Self::new(Kind::Random, seed)
    }

    /// Probabilistic concurrency testing for bugs of this depth: so many ordering constraints make them show.
    #[must_use]
    pub fn pct(depth: u32, seed: u64) -> Self {
        Self::new(Kind::Pct { depth: depth.max(1) }, seed)
    }

    /// Partial order sampling.
    #[must_use]
    pub fn pos(seed: u64) -> Self {
        Self::new(Kind::Pos, seed)
    }
}

impl Analysis for Walks {
    /// Number of the walk.
    type Target = u64;

    fn initial_targets(&mut self) -> Vec<u64> {
        // The first walk of PCT tells how long executions are; without that the others would change priorities in vain.
        self.next = if matches!(self.kind, Kind::Pct { .. }) { 1 } else { AHEAD };
        (0..self.next).rev().collect()
    }

    fn plan(&self, target: &u64) -> Plan {
        // An odd factor, so that no two walks have the same seed.
        let number = target * u64::from(self.part.of()) + u64::from(self.part.number() - 1);
        let seed = self.seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
        let style = match self.kind {
            Kind::Random => Style::Even,
            Kind::Pct { depth } => Style::Pct { depth, length: self.choices },
            Kind::Pos => Style::Pos,
        };
        Plan { tail: Tail::Walk { style, seed }, ..Plan::default() }
    }

    fn new_targets(&mut self, _target: &u64, execution: &Execution) -> Vec<u64> {
        self.made += 1;
        if matches!(self.kind, Kind::Pct { .. }) {
            self.choices = self.choices.max(choices(execution));
            self.threads = self.threads.max(u64::from(execution.threads));
        }
        let first = self.next;
        self.next += if first < AHEAD { AHEAD - first } else { 1 };
        (first..self.next).rev().collect()
    }

    /// For PCT: the chance with which the walks so far have shown any given bug of the depth. It is 1 / (n k^(d - 1))
    /// for each walk, with n threads and k choices.
    fn chance(&self) -> Option<String> {
        let Kind::Pct { depth } = self.kind else { return None };
        let each = 1.0 / (self.threads as f64 * (self.choices as f64).powi(depth as i32 - 1));
        let all = 1.0 - (1.0 - each).powf(self.made as f64);
        let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        Some(format!(
            "a bug of depth {depth} had a chance of at least {all:.2} ({}, {}, {})",
            count(self.made, "walk"),
            count(self.threads, "thread"),
            count(self.choices, "choice"),
        ))
    }

    /// Each part makes the walks whose numbers are its own.
    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &u64>, out: &mut Saver<'_>) {
        [self.next, self.made, self.choices, self.threads].into_iter().for_each(|number| out.number(number));
        let targets: Vec<u64> = targets.copied().collect();
        out.numbers(targets.into_iter());
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<u64>, Unusable> {
        for number in [&mut self.next, &mut self.made, &mut self.choices, &mut self.threads] {
            *number = input.number()?;
        }
        input.numbers()
    }
}

/// Decisions of an execution at which more than one thread could go on.
fn choices(execution: &Execution) -> u64 {
    let mut decisions = decisions(execution, None);
    let mut count = 0;
    while let Some(decision) = decisions.next() {
        count += u64::from(decision.going != Going::Over && decisions.has_others());
    }
    count
}
