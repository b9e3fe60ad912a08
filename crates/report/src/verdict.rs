//! The verdict of a scan about a whole program.

use crate::text::{clean, count};
use serde_json::json;
use std::io;
use std::time::Duration;

/// The verdict of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `race-free`, `race` or `unknown`.
    pub word: &'static str,
    /// Which tier decided; absent if the verdict is `unknown`.
    pub tier: Option<&'static str>,
    /// The reason.
    pub why: String,
    /// Number of pairs of accesses that may race.
    pub candidates: usize,
    /// What could not be modelled, one line each.
    pub gaps: Vec<String>,
    /// Threads, by the places that create them.
    pub threads: usize,
}

impl Verdict {
    /// `race-free (tier A)`
    fn words(&self) -> String {
        self.tier.map_or_else(|| self.word.to_owned(), |tier| format!("{} (tier {tier})", self.word))
    }

    /// `unknown: 3 suspected pairs; because ...`
    pub(crate) fn sentence(&self) -> String {
        let suspected = match self.candidates {
            0 => String::new(),
            candidates => format!(", {} suspected", count(candidates as u64, "pair")),
        };
        format!("{}{suspected}: {}", self.words(), clean(&self.why))
    }
}

pub(crate) fn human(verdict: &Verdict, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!("   Verdict {} [{seconds:.1}s]\n   Because {}\n", verdict.words(), clean(&verdict.why))
}

pub(crate) fn short(verdict: &Verdict) -> String {
    let gaps: String = verdict.gaps.iter().map(|gap| format!("note[not-modelled]: {}\n", clean(gap))).collect();
    format!("{gaps}verdict: {}\n", verdict.sentence())
}

pub(crate) fn json(verdict: &Verdict, elapsed: Duration) -> io::Result<String> {
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let line = json!({
        "reason": "verdict",
        "verdict": verdict.word,
        "tier": verdict.tier,
        "why": verdict.why,
        "candidates": verdict.candidates,
        "gaps": verdict.gaps.len(),
        "threads": verdict.threads,
        "elapsed_ms": milliseconds,
    });
    Ok(serde_json::to_string(&line)? + "\n")
}
