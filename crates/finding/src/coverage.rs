//! What was explored, said honestly.

use crate::{Assumption, Gap};
use serde::{Deserialize, Serialize};

/// The results of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Number of executions, without replays.
    pub executions: u64,
    /// Executions that could not follow their plan.
    pub diverged: u64,
    /// Executions that a limit stopped.
    pub timed_out: u64,
    /// Executions that ended on their own.
    #[serde(default)]
    pub completed: u64,
    /// Why a hunt that found nothing is inconclusive, one line each. If there are any, the hunt shows nothing about the
    /// program.
    #[serde(default)]
    pub unclear: Vec<String>,
    /// Everything that was asked for was explored, no execution diverged, timed out or ran uncontrolled, and the
    /// program reached nothing that could hide its effects.
    pub complete: bool,
    /// As `complete`, but the program may have reached something that hides its effects.
    #[serde(default)]
    pub finished: bool,
    /// What was explored, in words: `all schedules with <= 2 preemptions over 14 points`.
    pub guarantee: String,
    /// The probability that the analysis states for bugs it may have missed, if any.
    #[serde(default)]
    pub chance: Option<String>,
    /// What the guarantee rests on.
    pub assumes: Vec<Assumption>,
    /// What is known to be missing, one line each.
    pub missed: Vec<String>,
    /// Places where a switch can happen: distinct accesses and synchronisation operations in the code.
    pub points: u64,
    /// Largest number of threads in an execution.
    pub threads: u64,
    /// Largest number of events (memory accesses and synchronisation operations) in an execution.
    #[serde(default)]
    pub events: u64,
    /// Schedules that were left out because others show the same, counted where they diverge.
    #[serde(default)]
    pub left_out: u64,
    /// What was not under control or not seen, each once. If there is any, the exploration is not complete.
    #[serde(default)]
    pub uncontrolled: Vec<Uncontrolled>,
    /// What was monitored, for analyses that provoke pairs of accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// The figures of a verification by watchpoints: table 1 of E. A. Gerlits, "RaceHunter: dynamic detection of data races
/// by provoking conflicting accesses", 2023, and the size of the trace, both estimated for the worst case as in its
/// section 4 and measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Threads of the monitored execution.
    pub threads: u64,
    /// Its accesses to memory.
    pub accesses: u64,
    /// Its calls of instrumented functions.
    pub calls: u64,
    /// Pairs of accesses that conflict.
    pub conflicting_pairs: u64,
    /// Targets that these pairs lead to.
    pub targets: u64,
    /// Bits that suffice for the trace of any execution with these numbers of threads, accesses and calls.
    pub trace_bits: u64,
    /// Size of the actual trace in bytes, with call stacks, decisions and paths through the code.
    pub trace_bytes: u64,
    /// Peak memory of the controller in KiB; 0 if unknown.
    pub memory_kib: u64,
    /// Time of an execution without any detection, in microseconds.
    pub plain_us: u64,
    /// Time of the verification so far, in microseconds.
    pub verified_us: u64,
}

impl Figures {
    /// Bits of a number: what the paper calls `b`.
    const NUMBER: u64 = 64;

    /// Returns the paper's estimate for n threads, m accesses and k calls: n(n + 1)b/2 + m(3b + 2) + k(2b + 4).
    #[must_use]
    pub fn estimate(threads: u64, accesses: u64, calls: u64) -> u64 {
        let (n, m, k, b) = (threads, accesses, calls, Self::NUMBER);
        let identities = n.saturating_mul(n + 1).saturating_mul(b) / 2;
        identities.saturating_add(m.saturating_mul(3 * b + 2)).saturating_add(k.saturating_mul(2 * b + 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_that_of_the_paper() {
        assert_eq!(Figures::estimate(1, 0, 0), 64, "one thread: an empty identity, and the count of its children");
        assert_eq!(Figures::estimate(4, 0, 0) - Figures::estimate(3, 0, 0), 4 * 64);
        assert_eq!(Figures::estimate(1, 1, 0) - Figures::estimate(1, 0, 0), 3 * 64 + 2);
        assert_eq!(Figures::estimate(1, 0, 1) - Figures::estimate(1, 0, 0), 2 * 64 + 4);
        // Table 1 has 14 KB for this; the numbers of that machine were smaller.
        assert_eq!(Figures::estimate(4, 696, 129) / 8 / 1024, 18);
    }
}

/// Something that RaceHunter does not control or does not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncontrolled {
    /// What it is.
    pub what: Gap,
    /// Details, if there are any: a signal, a file descriptor, a function.
    pub detail: String,
    /// The source file, empty if unknown.
    pub file: String,
    /// The line, 0 if unknown.
    pub line: u32,
    /// Executions in which it happened.
    pub executions: u64,
}
