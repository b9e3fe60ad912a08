//! What commands say on standard error while they work.

use clap::Args;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How much is said on the way, by the commands that are not long hunts. Results, warnings and errors are told whatever it is.
#[derive(Args, Clone, Copy, Debug)]
pub struct Voice {
    /// No progress and no notes
    #[arg(long, short)]
    quiet: bool,
    /// Say on standard error what is done
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

/// Seconds after which there is progress to tell, and again each time.
const EVERY: u64 = 5;

impl Voice {
    /// What is done, for those who want to know it: a word and more about it.
    pub fn note(self, word: &str, text: impl FnOnce() -> String) {
        if self.verbose {
            line(word, &text());
        }
    }

    /// Something that helps most people.
    pub fn hint(self, text: impl FnOnce() -> String) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "note: {}", text());
        }
    }

    /// For work that takes its time.
    pub fn progress(self, word: &'static str) -> Pace {
        Pace { voice: self, word, began: Instant::now(), told: AtomicU64::new(0) }
    }
}

/// Tells how far something is, every few seconds.
pub struct Pace {
    voice: Voice,
    word: &'static str,
    began: Instant,
    /// When it was told last, as a number of such times.
    told: AtomicU64,
}

impl Pace {
    /// So much of it is done. May be said by several threads.
    pub fn at(&self, text: impl FnOnce() -> String) {
        let now = self.began.elapsed().as_secs() / EVERY;
        if !self.voice.quiet && self.told.fetch_max(now, Ordering::Relaxed) < now {
            line(self.word, &text());
        }
    }
}

fn line(word: &str, text: &str) {
    let _ = writeln!(std::io::stderr(), "{word:>12} {text}");
}

/// A number of things that get an s when there are several.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
