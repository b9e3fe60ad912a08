//! What the user sees while the hunter works: progress on standard error, results on standard output.

use crate::arguments::Hunt;
use crate::voice::{Pace, Voice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use racehunter_hunter::{Error, Event, Importance, Observer, Outcome, Suppressions};
use racehunter_report::Reporter;
use racehunter_report::notes::{self, Note};
use std::io::{self, IsTerminal as _, Stdout, Write as _};
use std::time::{Duration, Instant};

/// Follows a hunt: a bar on a terminal, a line every few seconds elsewhere.
pub struct HuntWatch<'a> {
    arguments: &'a Hunt,
    jobs: usize,
    reporter: Reporter<Stdout>,
    /// The first error while writing results.
    trouble: Option<io::Error>,
    bar: Option<ProgressBar>,
    began: Instant,
    last: Instant,
    /// Maximum number of executions.
    budget: Option<u64>,
    /// Executions before the first reported one, from earlier runs of the command.
    first: Option<u64>,
}

/// Time between two lines of progress.
const EVERY: Duration = Duration::from_secs(5);

impl<'a> HuntWatch<'a> {
    /// Follows a hunt. `most` is the largest number of executions, if it is known.
    pub fn new(arguments: &'a Hunt, jobs: usize, budget: Option<u64>, reporter: Reporter<Stdout>) -> Self {
        let bar = (!arguments.quiet && io::stderr().is_terminal()).then(|| {
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
        let now = Instant::now();
        Self { arguments, jobs, reporter, trouble: None, bar, began: now, last: now, budget, first: None }
    }

    /// Prints a step of the work, with `--verbose`.
    pub fn note(&self, note: impl FnOnce() -> Note) {
        if self.arguments.verbose {
            self.print(&note().to_string());
        }
    }

    /// Prints a line to standard error.
    fn print(&self, line: &str) {
        let print = || drop(writeln!(io::stderr(), "{line}"));
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Writes results to standard output.
    fn report(&mut self, write: impl FnOnce(&mut Reporter<Stdout>) -> io::Result<()>) {
        let result = match &self.bar {
            Some(bar) => bar.suspend(|| write(&mut self.reporter)),
            None => write(&mut self.reporter),
        };
        if let Err(error) = result {
            self.trouble.get_or_insert(error);
        }
    }

    /// Reports that an execution is done.
    fn execution(&mut self, number: u64, waiting: usize, remaining: Option<u64>, findings: usize) {
        if self.arguments.quiet {
            return;
        }
        let done = number - *self.first.get_or_insert(number - 1);
        let rate = done as f64 / self.began.elapsed().as_secs_f64().max(1e-6);
        let left = self.arguments.time.map(|time| time.saturating_sub(self.began.elapsed()));
        let text = || notes::progress(rate, waiting, remaining, left, findings);
        if let Some(bar) = &self.bar {
            bar.set_position(number);
            bar.set_message(text());
        } else if self.last.elapsed() > EVERY {
            self.last = Instant::now();
            let of = self.budget.map_or_else(String::new, |budget| format!(" of {budget}"));
            let _ = writeln!(io::stderr(), "     Hunting {number}{of} {}", text());
        }
    }

    /// Ends the progress display. Returns the reporter, and the first error while writing results.
    pub fn finish(
        self,
        result: &Result<Outcome, Error>,
        suppressions: &Suppressions,
    ) -> (Reporter<Stdout>, Option<io::Error>) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if let Ok(Outcome::Hunted(hunted)) = result {
            hunted.coverage.figures.iter().for_each(|figures| self.note(|| notes::figures(figures)));
            self.note(|| notes::kept(&self.arguments.out));
            for unused in suppressions.unused() {
                self.note(|| notes::unused_suppression(&unused));
            }
        }
        (self.reporter, self.trouble)
    }
}

impl Observer for HuntWatch<'_> {
    fn notice(&mut self, event: Event<'_>) {
        match event {
            Event::Execution { number, waiting, remaining, findings } => {
                self.execution(number, waiting, remaining, findings);
            }
            Event::Searching => self.note(|| {
                let Hunt { analysis, bound, seed, memory, .. } = self.arguments;
                notes::searching(analysis.name(), *bound, *seed, self.jobs, (self.arguments.timeout(), *memory))
            }),
            Event::Stage(bound) => {
                self.note(|| notes::stage(bound));
                self.report(|reporter| reporter.bound(bound));
            }
            Event::Finding { finding, is_old } => {
                if !is_old {
                    self.note(|| notes::found(finding));
                }
                self.report(|reporter| reporter.finding(finding));
            }
            Event::Warning(warning) => self.print(&format!("warning: {}", warning.text())),
            other => {
                if let Some((note, _)) = other.note() {
                    self.note(|| note);
                }
            }
        }
    }
}

/// Follows work other than a hunt.
pub struct Watch {
    voice: Voice,
    pace: Pace,
}

impl Watch {
    /// Follows work that reports its progress every few seconds.
    pub fn new(voice: Voice) -> Self {
        Self { voice, pace: voice.progress() }
    }
}

impl Observer for Watch {
    fn notice(&mut self, event: Event<'_>) {
        match event {
            Event::Warning(warning) => eprintln!("warning: {}", warning.text()),
            Event::Executed { total, .. } => {
                self.pace.at(|| notes::executing(total));
                if let Some((note, _)) = event.note() {
                    self.voice.note(|| note);
                }
            }
            other => match other.note() {
                Some((note, Importance::Progress)) => self.pace.at(|| note),
                Some((note, Importance::Detail)) => self.voice.note(|| note),
                None => {}
            },
        }
    }
}
