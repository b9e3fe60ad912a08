//! Sampling: threads are held at randomly chosen accesses until another thread is about to make a conflicting access.
//!
//! After J. Erickson, M. Musuvathi, S. Burckhardt, K. Olynyk, "Effective Data-Race Detection for the Kernel", 2010
//! (DataCollider), and the Kernel Concurrency Sanitizer, which counts accesses to choose one, as this module does. It is the
//! baseline for [`crate::Watchpoint`], which knows which accesses conflict and provokes each pair once.

use racehunter_explore::{Analysis, Execution, Loader, Part, Plan, Sample, Saver, Share, Unusable};

/// The analysis: an endless supply of seeds.
pub struct Sampling {
    seed: u64,
    part: Part,
    next: u64,
    free: bool,
    /// Number of accesses at points in the longest execution so far.
    accesses: u64,
}

/// Number of waiting targets, enough to fill a batch.
const AHEAD: u64 = 64;
/// Mean number of accesses per execution at which a thread is held.
const HOLDS: u64 = 4;

impl Sampling {
    /// Creates an analysis whose samples all derive from one seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, part: Part::WHOLE, next: 0, free: false, accesses: 0 }
    }

    /// Lets the executions run freely.
    #[must_use]
    pub fn free_running(self) -> Self {
        Self { free: true, ..self }
    }

    fn targets(&mut self, until: u64) -> Vec<u64> {
        let first = std::mem::replace(&mut self.next, until);
        (first..until).rev().collect()
    }
}

impl Analysis for Sampling {
    type Target = u64;

    fn initial_targets(&mut self) -> Vec<u64> {
        (self.next, self.accesses) = (0, 0);
        // The first execution shows how many accesses there are.
        self.targets(1)
    }

    fn plan(&self, &number: &u64) -> Plan {
        if self.free && number == 0 {
            return Plan::monitored();
        }
        let number = number.wrapping_mul(u64::from(self.part.of())).wrapping_add(u64::from(self.part.number() - 1));
        // The factor is odd, so that no two executions have the same seed.
        let seed = self.seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
        // Holding at every access of a short execution would make all executions alike.
        let every = (self.accesses / HOLDS).max(2);
        Plan { sample: Some(Sample { seed, every }), free: self.free, detect_races: !self.free, ..Plan::default() }
    }

    fn new_targets(&mut self, _: &u64, execution: &Execution) -> Vec<u64> {
        let accesses = execution.entries().filter(|entry| entry.is_access()).count() as u64;
        self.accesses = self.accesses.max(accesses);
        self.targets((self.next + 1).max(AHEAD))
    }

    /// Each part draws the samples with its own numbers.
    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn lends(&self) -> bool {
        !self.free
    }

    /// Samples whose numbers are those of no other part.
    fn lend(&mut self, _: &mut Vec<u64>, share: Share) -> Option<(Self, Vec<u64>)> {
        let mut part = Self { next: share.first_number(), ..*self };
        let targets = part.targets(part.next + AHEAD);
        Some((part, targets))
    }

    fn take_back(&mut self, part: Self, _: Vec<u64>) -> Vec<u64> {
        self.accesses = self.accesses.max(part.accesses);
        Vec::new()
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &u64>, out: &mut Saver<'_>) {
        out.number(self.next);
        out.number(self.accesses);
        out.numbers(targets.copied().collect::<Vec<_>>().into_iter());
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<u64>, Unusable> {
        self.next = input.number()?;
        self.accesses = input.number()?;
        input.numbers()
    }
}
