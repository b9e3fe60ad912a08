//! How much to explore.

use crate::{Allowed, Part, Points};

/// How much to explore, and at which points.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Executions, at most.
    pub runs: Option<u64>,
    /// Stop at the first bug.
    pub stop_on_first: bool,
    /// Where decisions can be made.
    pub points: Points,
    /// Whether the happens-before detector runs. Without it, accesses that turn out to be shared are not reported.
    pub detect_races: bool,
    /// Whether what it infers from the order of synchronisation is a race: see [`crate::Plan::infer_races`].
    pub infer_races: bool,
    /// Whether wake-ups of condition variables are choices: see [`crate::Plan::spurious`].
    pub spurious: bool,
    /// Whether a status or output that depends on the schedule is a bug.
    pub check_output: bool,
    /// Exit statuses that are no failure.
    pub allowed: Allowed,
    /// Which part of the work is done, where it can be divided.
    pub part: Part,
    /// Targets that are handed to the executor at once. Does not depend on how many it can run in parallel, so that
    /// the result does not either.
    pub batch: usize,
    /// Events of one execution, at most.
    pub max_events: u64,
    /// Threads of one execution, at most.
    pub max_threads: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            runs: None,
            stop_on_first: false,
            points: Points::Shared,
            detect_races: true,
            infer_races: true,
            spurious: false,
            check_output: false,
            allowed: Allowed::ANY,
            part: Part::WHOLE,
            batch: 32,
            max_events: u64::MAX,
            max_threads: u32::MAX,
        }
    }
}
