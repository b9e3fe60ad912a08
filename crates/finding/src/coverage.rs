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
    /// Executions that came to an end of their own.
    #[serde(default)]
    pub completed: u64,
    /// Why it means nothing that nothing was found, one line each. Whoever finds nothing and has any of these has not
    /// shown that the program is well.
    #[serde(default)]
    pub unclear: Vec<String>,
    /// Everything that was asked for was explored, nothing of it diverged or timed out or ran uncontrolled, and nothing was
    /// reached that could hide what it does.
    pub complete: bool,
    /// The same, whether all of it was seen or not.
    #[serde(default)]
    pub finished: bool,
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
    /// Schedules that were left out because others show the same, counted where they begin to differ.
    #[serde(default)]
    pub left_out: u64,
    /// What was not under control, or not seen, each once. With any of it the exploration is not complete.
    #[serde(default)]
    pub uncontrolled: Vec<Uncontrolled>,
}

/// Something that RaceHunter does not control, or not see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncontrolled {
    /// A short name, one of a fixed set: `fork`, `blocked`, `threads`, `hidden-state`, `assembler`, ...
    pub what: String,
    /// What it was about, where there is something to say: a signal, a file descriptor, a function.
    pub detail: String,
    /// The source file, empty when it is not known.
    pub file: String,
    /// The line, 0 when it is not known.
    pub line: u32,
    /// Executions in which it happened.
    pub executions: u64,
}

impl Uncontrolled {
    /// What is under control and not seen: the schedule was followed, but something in it may have gone unnoticed.
    pub const UNSEEN: [&str; 10] = [
        "hidden-state",
        "unseen-memory",
        "kernel-state",
        "random",
        "alias",
        "library",
        "assembler",
        "no-instrumentation",
        "system-call",
        "returned-local",
    ];

    /// Whether it is about something that was not seen, rather than not under control.
    #[must_use]
    pub fn is_unseen(&self) -> bool {
        Self::UNSEEN.contains(&self.what.as_str())
    }
}
