//! Progress on standard error: a bar on a terminal, a line every few seconds elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Shows how far a hunt is.
pub struct Meter {
    bar: Option<ProgressBar>,
    quiet: bool,
    verbose: bool,
    began: Instant,
    last: Instant,
    budget: Option<u64>,
    /// Time that the hunt may take.
    time: Option<Duration>,
    /// Executions before the first that was told: those of earlier runs of the command.
    first: Option<u64>,
}

const EVERY: Duration = Duration::from_secs(5);

impl Meter {
    /// A meter for so many executions and so much time, if that is known.
    pub fn new(quiet: bool, verbose: bool, budget: Option<u64>, time: Option<Duration>) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(budget, ProgressDrawTarget::stderr());
            let template = if budget.is_some() {
                "     Hunting [{elapsed_precise}] {bar:30} {pos}/{len} {msg}"
            } else {
                "     Hunting [{elapsed_precise}] {spinner} {pos} {msg}"
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, quiet, verbose, began: Instant::now(), last: Instant::now(), budget, time, first: None }
    }

    /// An execution was done.
    pub fn execution(&mut self, number: u64, waiting: usize, remaining: Option<u64>, findings: usize) {
        if self.quiet {
            return;
        }
        let done = number - *self.first.get_or_insert(number - 1);
        let rate = done as f64 / self.began.elapsed().as_secs_f64().max(1e-6);
        let left = || remaining.map_or_else(String::new, |remaining| left(remaining, rate));
        let limit = || {
            let time = self.time.map(|time| time.saturating_sub(self.began.elapsed()).as_secs());
            time.map_or_else(String::new, |time| format!(", {} left", brief(time)))
        };
        let found = || format!("{findings} finding{}", if findings == 1 { "" } else { "s" });
        let text = || format!("runs, {rate:.0}/s, {waiting} waiting{}{}, {}", left(), limit(), found());
        if let Some(bar) = &self.bar {
            bar.set_position(number);
            bar.set_message(text());
        } else if self.last.elapsed() > EVERY {
            self.last = Instant::now();
            let of = self.budget.map_or_else(String::new, |budget| format!(" of {budget}"));
            let _ = writeln!(std::io::stderr(), "     Hunting {number}{of} {}", text());
        }
    }

    /// What is done, for those who want to know it: a word and more about it.
    pub fn note(&self, word: &str, text: impl FnOnce() -> String) {
        if self.verbose {
            self.suspend(|| drop(writeln!(std::io::stderr(), "{word:>12} {}", text())));
        }
    }

    /// Something is about to be printed.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// The hunt is over.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What is probably left of the current stage.
fn left(remaining: u64, rate: f64) -> String {
    let seconds = (remaining as f64 / rate.max(1e-6)).min(1e9) as u64;
    format!(", about {remaining} to go ({})", brief(seconds))
}

/// A time in a few letters.
fn brief(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn what_is_left_reads_well() {
        assert_eq!(left(300, 100.0), ", about 300 to go (3s)");
        assert_eq!(left(600_000, 100.0), ", about 600000 to go (100m)");
        assert_eq!(left(u64::MAX, 0.0), ", about 18446744073709551615 to go (11574d)");
    }
}
