//! What commands say on standard error while they work.

use clap::Args;
use racehunter_report::notes::Note;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How much commands say on the way. Results, warnings and errors do not depend on it.
#[derive(Args, Clone, Copy, Debug)]
pub struct Voice {
    /// No progress and no notes
    #[arg(long, short)]
    quiet: bool,
    /// Report each step on standard error
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

/// Seconds after which there is progress to tell, and again each time.
const EVERY: u64 = 5;

impl Voice {
    /// What is done, for those who want to know it.
    pub fn note(self, note: impl FnOnce() -> Note) {
        if self.verbose {
            let _ = writeln!(std::io::stderr(), "{}", note());
        }
    }

    /// A hint for everybody but those who want quiet.
    pub fn hint(self, text: impl FnOnce() -> String) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "note: {}", text());
        }
    }

    /// For work that takes its time.
    pub fn progress(self) -> Pace {
        Pace { voice: self, began: Instant::now(), told: AtomicU64::new(0) }
    }
}

/// Tells how far something is, every few seconds.
pub struct Pace {
    voice: Voice,
    began: Instant,
    /// When it was told last, as a number of such times.
    told: AtomicU64,
}

impl Pace {
    /// How much of it is done. Several threads may call this.
    pub fn at(&self, note: impl FnOnce() -> Note) {
        let now = self.began.elapsed().as_secs() / EVERY;
        if !self.voice.quiet && self.told.fetch_max(now, Ordering::Relaxed) < now {
            let _ = writeln!(std::io::stderr(), "{}", note());
        }
    }
}
