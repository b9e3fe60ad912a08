//! `racehunter predict`

use crate::arguments::{EACH, EXIT_CODES, Output, POLICIES, one_of};
use crate::exit::Exit;
use crate::output::reporter;
use crate::record::How;
use crate::voice::Voice;
use crate::watch::Watch;
use anyhow::{Context as _, Result};
use clap::Args;
use racehunter_hunter::predict::Task;
use racehunter_hunter::{Suppressions, jobs};
use racehunter_predict::{Each, Effort, Options, Policy};
use racehunter_report::notes;
use racehunter_report::predictions::Summary;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Arguments of `predict`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true)]
pub struct Arguments {
    /// Which reorderings of the trace are allowed
    #[arg(long, value_parser = one_of(POLICIES), default_value = "nre")]
    policy: Policy,
    /// Time limit for everything, such as 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// Predictions to compute at the same time [default: number of processors]
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Pairs of accesses to try for each pair of sites
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    attempts: usize,
    /// Events before the first one of a prediction that may be reordered freely, or `all` [default: 5000, then 50000]
    #[arg(long, value_name = "EVENTS", value_parser = events)]
    window: Option<u32>,
    /// Events to have in memory at a time, or `all`. Longer traces are read in segments, of which each repeats a quarter
    /// of the previous one [default: 2000000 if the trace has more than 20000000]
    #[arg(long, value_name = "EVENTS", value_parser = events)]
    segment: Option<u32>,
    /// How often the search for a reordering may turn back
    #[arg(long, value_name = "N", default_value_t = Effort::default().retries)]
    search: usize,
    /// How many races to report: one for each of these
    #[arg(long, value_parser = one_of(EACH), default_value = "sites")]
    each: Each,
    /// Exit with 3 if not everything could be tried
    #[arg(long)]
    require_complete: bool,
    #[command(flatten)]
    output: Output,
    /// Try each prediction on this program, from which the trace was recorded
    #[arg(long, value_name = "EXE")]
    confirm: Option<PathBuf>,
    #[command(flatten)]
    voice: Voice,
    #[command(flatten)]
    how: How,
    /// The trace, FILE.rht or FILE.std; or a program, or a C or C++ file, to record first and then try
    #[arg(value_name = "TRACE|PROGRAM")]
    target: PathBuf,
    /// Arguments of the program [default: those that it was recorded with]
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Reads a number of events; `all` is more than there are.
fn events(text: &str) -> Result<u32, String> {
    if text == "all" { Ok(u32::MAX) } else { text.parse().map_err(|_| "not a number of events, nor `all`".to_owned()) }
}

impl Arguments {
    /// Returns what to predict, and how hard to try.
    fn options(&self) -> Options {
        let mut effort = Effort { retries: self.search, ..Effort::default() };
        if let Some(window) = self.window {
            effort.windows.retain(|&smaller| smaller < window);
            effort.windows.push(window);
            effort.longest = effort.longest.max(usize::try_from(window).unwrap_or(usize::MAX));
        }
        Options { policy: self.policy, effort, attempts: self.attempts, each: self.each, workers: jobs(self.jobs) }
    }

    /// Returns the exit code for what was found.
    fn exit(&self, summary: &Summary) -> Exit {
        let is_unclear = !summary.unclear().is_empty();
        if summary.findings > 0 && !summary.is_doubtful() {
            Exit::Findings
        } else if summary.threads < 2 && !is_unclear {
            Exit::Nothing
        } else if is_unclear || self.require_complete && !summary.complete {
            Exit::Incomplete
        } else {
            Exit::Clean
        }
    }
}

/// Predicts from a trace, and tries the predictions if there is a program to try them on.
pub fn run(arguments: &Arguments, suppressions: &Suppressions) -> Result<Exit> {
    let began = Instant::now();
    let is_over = || arguments.time.is_some_and(|time| began.elapsed() >= time);
    let (pace, cases) = (arguments.voice.progress(), AtomicU64::new(0));
    let before_case = || {
        let number = cases.fetch_add(1, Ordering::Relaxed);
        pace.at(|| notes::cases(number));
        is_over()
    };
    let options = arguments.options();
    let task = Task {
        target: &arguments.target,
        confirm: arguments.confirm.as_deref(),
        arguments: &arguments.arguments,
        input: arguments.how.input.as_deref(),
        start: &|program, words, input| arguments.how.start(program, words, input, options.workers),
        recording: arguments.how.recording(),
        options: options.clone(),
        segment: arguments.segment,
        out: &arguments.how.out,
        suppressions,
        is_over: &is_over,
        before_case: &before_case,
    };
    let mut reporter = reporter(arguments.output);
    let Some(mut summary) = task.run(&mut reporter, &mut Watch::new(arguments.voice))? else {
        return Ok(Exit::Nothing);
    };
    summary.took(began.elapsed());
    reporter.predicted(&summary).context("cannot write the results")?;
    Ok(arguments.exit(&summary))
}
