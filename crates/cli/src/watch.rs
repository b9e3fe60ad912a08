//! What the user sees while the hunter works: progress on standard error, results on standard output.

use crate::arguments::Hunt;
use crate::voice::{Pace, Voice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use racehunter_hunter::{Error, Event, Observer, Outcome, Suppressions, Warning};
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
            Event::Warning(warning) => self.print(&words(&warning)),
            other => {
                if let Some((note, _)) = note(&other) {
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
    /// How pointers are followed, in a scan.
    backend: String,
}

impl Watch {
    /// Follows work that reports its progress every few seconds.
    pub fn new(voice: Voice) -> Self {
        Self { voice, pace: voice.progress(), backend: String::new() }
    }

    /// Follows a scan that follows pointers in this way.
    pub fn scan(voice: Voice, backend: &str) -> Self {
        Self { backend: backend.to_owned(), ..Self::new(voice) }
    }
}

impl Observer for Watch {
    fn notice(&mut self, event: Event<'_>) {
        match event {
            Event::Warning(warning) => eprintln!("{}", words(&warning)),
            Event::Reading { modules } => self.voice.note(|| notes::reading(modules, &self.backend)),
            Event::Executed { total, .. } => {
                self.pace.at(|| notes::executing(total));
                if let Some((note, _)) = note(&event) {
                    self.voice.note(|| note);
                }
            }
            other => match note(&other) {
                Some((note, Told::Always)) => self.pace.at(|| note),
                Some((note, Told::Verbose)) => self.voice.note(|| note),
                None => {}
            },
        }
    }
}

/// When a note is printed.
enum Told {
    /// Every few seconds.
    Always,
    /// With `--verbose`.
    Verbose,
}

/// Returns the note about an event, and when it is printed.
fn note(event: &Event<'_>) -> Option<(Note, Told)> {
    let note = match *event {
        Event::Program(path) => notes::program(path),
        Event::Monitored(figures) => notes::monitored(figures),
        Event::Points { added } => notes::points(added),
        Event::Schedule { decisions, last } => notes::schedule(decisions, last),
        Event::Replaying { number, of } => return Some((notes::replaying(number, of), Told::Always)),
        Event::Replayed { number, of, shown } => notes::replayed(number, of, shown),
        Event::Recorded { events, threads } => notes::recorded(events, threads),
        Event::Following(result) => notes::following(result.map_err(|error| error as &dyn std::fmt::Display)),
        Event::Analysed { report, elapsed } => notes::analysed(report, elapsed),
        Event::Executed { executions, inputs, race, .. } => notes::executed(executions, inputs, race),
        Event::Execution { .. }
        | Event::Searching
        | Event::Stage(_)
        | Event::Finding { .. }
        | Event::Reading { .. }
        | Event::Warning(_) => return None,
    };
    Some((note, Told::Verbose))
}

fn words(warning: &Warning<'_>) -> String {
    let text = match warning {
        Warning::FindingsNotKept(error) => notes::findings_not_kept(&error.chain()),
        Warning::FindingNotKept { id, error } => notes::finding_not_kept(id, &error.chain()),
        Warning::CampaignNotKept(error) => notes::campaign_not_kept(&error.chain()),
        Warning::WorkerShutOut { worker, why } => notes::worker_shut_out(worker, why),
        Warning::FindingLost { id, error } => notes::finding_lost(id, &error.chain()),
    };
    format!("warning: {text}")
}
