//! Random walk: at every point any thread that can run.
//!
//! Covers nothing for certain, but reaches far corners of large programs early. The baseline of every comparison.

use racehunter_explore::{Analysis, Execution, Plan, Tail};

/// The analysis: an endless supply of seeds.
pub struct RandomWalk {
    seed: u64,
    next: u64,
}

/// Walks that wait at any time, so that a batch can be filled.
const AHEAD: u64 = 64;

impl RandomWalk {
    /// Walks that all derive from one seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, next: 0 }
    }
}

impl Analysis for RandomWalk {
    /// Number of the walk.
    type Target = u64;

    fn initial_targets(&mut self) -> Vec<u64> {
        self.next = AHEAD;
        (0..AHEAD).rev().collect()
    }

    fn plan(&self, target: &u64) -> Plan {
        // An odd factor, so that no two walks have the same seed.
        let seed = self.seed.wrapping_add(target.wrapping_mul(0xD134_2543_DE82_EF95));
        Plan { tail: Tail::Random { seed }, ..Plan::default() }
    }

    fn new_targets(&mut self, _target: &u64, _execution: &Execution) -> Vec<u64> {
        self.next += 1;
        vec![self.next - 1]
    }
}
