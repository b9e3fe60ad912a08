//! How the executions of a campaign ended.

use crate::{Execution, Outcome};
use std::collections::BTreeMap;

/// Exit statuses of the program that are not failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed([u64; 4]);

impl Default for Allowed {
    /// Only 0 means success.
    fn default() -> Self {
        Self([1, 0, 0, 0])
    }
}

impl Allowed {
    /// Every status.
    pub const ANY: Self = Self([u64::MAX; 4]);

    /// Adds a status.
    #[must_use]
    pub fn with(mut self, status: u8) -> Self {
        self.0[usize::from(status / 64)] |= 1 << (status % 64);
        self
    }

    /// Returns whether a program that ends with this status has not failed.
    #[must_use]
    pub fn contains(&self, status: i32) -> bool {
        u8::try_from(status).is_ok_and(|status| self.0[usize::from(status / 64)] & 1 << (status % 64) != 0)
    }
}

impl std::str::FromStr for Allowed {
    type Err = &'static str;

    /// Reads numbers with commas between them, or `any`. The status 0 is always allowed.
    fn from_str(words: &str) -> Result<Self, Self::Err> {
        if words == "any" {
            return Ok(Self::ANY);
        }
        let add = |all: Self, word: &str| word.trim().parse().map(|status| all.with(status));
        let all = words.split(',').try_fold(Self::default(), add);
        all.map_err(|_| "numbers from 0 to 255, with commas between them, or `any`")
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::ANY {
            return out.write_str("any");
        }
        let statuses = (0..=255).filter(|&status| self.contains(status)).map(|status| status.to_string());
        out.write_str(&statuses.collect::<Vec<_>>().join(","))
    }
}

/// Counts how executions ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// Executions that ended on their own: by an exit, a deadlock, a crash, a failed assertion.
    pub completed: u64,
    /// Executions by exit status.
    pub statuses: BTreeMap<i32, u64>,
    /// Executions stopped, by limit.
    pub limits: BTreeMap<String, u64>,
    /// Lost executions, by reason.
    pub lost: BTreeMap<String, u64>,
}

/// Maximum number of reasons counted separately: some contain numbers.
const MOST: usize = 16;

impl Endings {
    /// Counts an execution.
    pub(crate) fn count(&mut self, execution: &Execution) {
        let add = |counts: &mut BTreeMap<String, u64>, what: &String| {
            if counts.len() < MOST || counts.contains_key(what) {
                *counts.entry(what.clone()).or_default() += 1;
            }
        };
        match &execution.outcome {
            Outcome::Exited(status) => {
                self.completed += 1;
                *self.statuses.entry(*status).or_default() += 1;
            }
            Outcome::Deadlock | Outcome::Crashed { .. } | Outcome::Asserted { .. } => self.completed += 1,
            Outcome::Limit(what) => add(&mut self.limits, what),
            Outcome::Lost(why) => add(&mut self.lost, why),
            Outcome::Diverged(_) => {}
        }
    }

    /// Those of another campaign as well.
    pub(crate) fn add(&mut self, others: Self) {
        self.completed += others.completed;
        for (status, executions) in others.statuses {
            *self.statuses.entry(status).or_default() += executions;
        }
        for (counts, others) in [(&mut self.limits, others.limits), (&mut self.lost, others.lost)] {
            for (what, executions) in others {
                if counts.len() < MOST || counts.contains_key(&what) {
                    *counts.entry(what).or_default() += executions;
                }
            }
        }
    }

    /// Returns whether every completed execution ended with this status.
    #[must_use]
    pub fn always(&self, status: i32) -> bool {
        self.completed > 0 && self.statuses.get(&status) == Some(&self.completed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_that_is_not_allowed_is_a_failure() {
        let allowed = Allowed::default().with(77).with(255);
        for (status, is_allowed) in [(0, true), (1, false), (77, true), (255, true), (256, false), (-1, false)] {
            assert_eq!(allowed.contains(status), is_allowed, "{status}");
        }
        assert!((0..256).all(|status| Allowed::ANY.contains(status)));
    }

    #[test]
    fn always_means_that_every_execution_had_this_status() {
        let mut endings = Endings::default();
        assert!(!endings.always(1));
        let with = |outcome: Outcome| Execution { outcome, ..Execution::lost(String::new()) };
        endings.count(&with(Outcome::Exited(1)));
        endings.count(&with(Outcome::Limit("time".to_owned())));
        assert!(endings.always(1) && !endings.always(0));
        endings.count(&with(Outcome::Deadlock));
        assert!(!endings.always(1));
        assert_eq!((endings.completed, endings.limits["time"]), (2, 1));
    }
}
