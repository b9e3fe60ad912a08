//! The rows of the table, one module per kind.

mod campaign;
mod hooks;
mod long;
mod predict;
mod slowdown;
mod switch;
mod tiny;

use crate::programs::Programs;
use crate::table::Row;
use anyhow::Result;

/// The effort of measuring.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Measurements per figure; the median counts.
    pub repeats: usize,
    /// The sizes of programs are divided by this.
    divisor: u64,
}

impl Effort {
    /// For meaningful figures.
    pub const FULL: Self = Self { repeats: 7, divisor: 1 };
    /// To check that the measurements work.
    pub const QUICK: Self = Self { repeats: 1, divisor: 25 };

    /// Adapts a size for the full effort to this one.
    pub fn size(self, full: u64) -> u64 {
        (full / self.divisor).max(1)
    }

    /// Returns true if the figures are meaningful.
    pub fn is_full(self) -> bool {
        self.divisor == 1
    }

    /// Describes it in words.
    pub fn describe(self) -> String {
        let times = if self.is_full() { "" } else { ", small programs: the figures mean nothing" };
        format!("medians of {}{times}", self.repeats)
    }
}

/// Measures some rows.
type Measure = fn(&Programs, Effort) -> Result<Vec<Row>>;

/// All measurements, by name.
pub const ALL: &[(&str, Measure)] = &[
    ("hot", slowdown::hot),
    ("sqlite", slowdown::sqlite),
    ("switch", switch::rows),
    #[cfg(feature = "peers")]
    ("loop", tiny::in_process),
    ("fork", tiny::fork_server),
    ("accesses", long::rows),
    ("hooks", hooks::rows),
    ("predict", predict::rows),
    ("pending", campaign::pending),
    ("million", campaign::million),
];
