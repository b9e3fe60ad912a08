//! What commands print to standard error while they work.

use clap::Args;
use racehunter_report::notes::Note;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How much commands print while they work. Results, warnings and errors do not depend on it.
#[derive(Args, Clone, Copy, Debug)]
pub struct Voice {
    /// No progress and no notes
    #[arg(long, short)]
    quiet: bool,
    /// Report each step on standard error
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

/// Seconds between two progress reports.
const EVERY: u64 = 5;

impl Voice {
    /// Prints a step of the work, with `--verbose`.
    pub fn note(self, note: impl FnOnce() -> Note) {
        if self.verbose {
            let _ = writeln!(std::io::stderr(), "{}", note());
        }
    }

    /// Prints a hint, unless `--quiet`.
    pub fn hint(self, text: impl FnOnce() -> String) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "note: {}", text());
        }
    }

    /// Returns a progress reporter, for long work.
    pub fn progress(self) -> Pace {
        Pace { voice: self, began: Instant::now(), told: AtomicU64::new(0) }
    }
}

/// Reports progress, every few seconds.
pub struct Pace {
    voice: Voice,
    began: Instant,
    /// When progress was last reported, as a multiple of [`EVERY`].
    told: AtomicU64,
}

impl Pace {
    /// Reports progress if a report is due. Several threads may call this.
    pub fn at(&self, note: impl FnOnce() -> Note) {
        let now = self.began.elapsed().as_secs() / EVERY;
        if !self.voice.quiet && self.told.fetch_max(now, Ordering::Relaxed) < now {
            let _ = writeln!(std::io::stderr(), "{}", note());
        }
    }
}
