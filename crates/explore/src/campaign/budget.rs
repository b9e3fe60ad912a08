//! The budget of a campaign.

use crate::{Allowed, Part, Points};

/// How much to explore, and at which points.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Maximum number of executions.
    pub runs: Option<u64>,
    /// Stop at the first bug.
    pub stop_on_first: bool,
    /// Where decisions can be made.
    pub points: Points,
    /// Whether the happens-before detector runs. Without it, accesses that turn out to be shared are not reported.
    pub detect_races: bool,
    /// Whether races are inferred: see [`crate::Plan::infer_races`].
    pub infer_races: bool,
    /// Whether wake-ups of condition variables are choices: see [`crate::Plan::spurious`].
    pub spurious: bool,
    /// Whether a status or output that depends on the schedule is a bug.
    pub check_output: bool,
    /// Exit statuses that are not failures.
    pub allowed: Allowed,
    /// The part of the work to do, if it can be divided.
    pub part: Part,
    /// Number of targets handed to the executor at once. It does not depend on how many run in parallel, so the result
    /// does not either.
    pub batch: usize,
    /// Maximum number of events of one execution.
    pub max_events: u64,
    /// Maximum number of threads of one execution.
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
