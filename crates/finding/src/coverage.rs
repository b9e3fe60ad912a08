//! What was explored, said honestly.

use serde::{Deserialize, Serialize};

/// The sum of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Executions that were run, without replays.
    pub executions: u64,
    /// Executions that could not follow their plan.
    pub diverged: u64,
    /// Executions that were stopped by a limit.
    pub timed_out: u64,
    /// Everything that was asked for was explored, and nothing of it diverged or timed out or ran uncontrolled.
    pub complete: bool,
    /// What that means in words: `all schedules with <= 2 preemptions over 14 points`.
    pub guarantee: String,
    /// What can be said about the chance of what was not covered for certain, if anything.
    #[serde(default)]
    pub chance: Option<String>,
    /// What the guarantee rests on, one line each.
    pub assumes: Vec<String>,
    /// What is known to be missing, one line each.
    pub missed: Vec<String>,
    /// Places where a switch can happen: distinct accesses and synchronisation operations in the code.
    pub points: u64,
    /// Most threads that an execution had.
    pub threads: u64,
    /// Most events that an execution had: memory accesses and synchronisation operations.
    #[serde(default)]
    pub events: u64,
}
