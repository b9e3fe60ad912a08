//! `racehunter predict`

use crate::arguments::{Color, EXIT_CODES, MessageFormat};
use crate::exit::{Exit, advise};
use crate::output::reporter;
use crate::record::How;
use crate::voice::Voice;
use crate::watch::Watch;
use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use racehunter_hunter::{Hunter, Suppressions, Tried, jobs, predictions, target};
use racehunter_predict::{Effort, Index, Options};
use racehunter_report::predictions::{NotShown, Summary};
use racehunter_report::two_runs::TwoRuns;
use racehunter_report::{messages, notes};
use racehunter_trace::recording::Recording;
use racehunter_trace::{Trace, file};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Arguments of `predict`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true)]
pub struct Arguments {
    /// Which reorderings of the trace are allowed
    #[arg(long, value_enum, default_value_t = Policy::Nre)]
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
    #[arg(long, value_name = "EVENTS", value_parser = Window::parse)]
    window: Option<Window>,
    /// Events to have in memory at a time, or `all`. Longer traces are read in segments, of which each repeats a quarter
    /// of the previous one [default: 2000000 if the trace has more than 20000000]
    #[arg(long, value_name = "EVENTS", value_parser = Window::parse)]
    segment: Option<Window>,
    /// How often the search for a reordering may turn back
    #[arg(long, value_name = "N", default_value_t = Effort::default().retries)]
    search: usize,
    /// How many races to report: one for each of these
    #[arg(long, value_enum, default_value_t = Each::Sites)]
    each: Each,
    /// Exit with 3 if not everything could be tried
    #[arg(long)]
    require_complete: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MessageFormat::Human)]
    message_format: MessageFormat,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
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

/// What a reordering must preserve.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Policy {
    /// The write that every read sees
    M2,
    /// The writes seen by reads that a branch follows
    Seqcheck,
    /// The writes seen by reads that decide something
    Nre,
    /// As SeqCheck was published, for comparison: its predictions can be false
    #[value(hide = true)]
    PublishedSeqcheck,
}

impl From<Policy> for racehunter_predict::Policy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::M2 => Self::M2,
            Policy::Seqcheck => Self::SeqCheck,
            Policy::Nre => Self::Nre,
            Policy::PublishedSeqcheck => Self::PublishedSeqCheck,
        }
    }
}

/// How many races to report.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Each {
    /// Each pair of sites
    Sites,
    /// Each pair of sites and each later event
    Event,
    /// Each pair of events
    Pair,
}

impl From<Each> for racehunter_predict::Each {
    fn from(each: Each) -> Self {
        match each {
            Each::Sites => Self::Sites,
            Each::Event => Self::Event,
            Each::Pair => Self::Pair,
        }
    }
}

/// A number of events that may be reordered.
#[derive(Clone, Copy, Debug)]
struct Window(u32);

impl Window {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(u32::MAX));
        }
        text.parse().map(Self).map_err(|_| "not a number of events, nor `all`".to_owned())
    }
}

/// The trace to predict from, and the program to try the predictions on.
struct Material {
    trace: Trace,
    program: Option<Hunter>,
}

impl Arguments {
    /// Returns what to predict, and how hard to try.
    fn options(&self, policy: racehunter_predict::Policy, workers: usize) -> Options {
        let mut effort = Effort { retries: self.search, ..Effort::default() };
        if let Some(Window(window)) = self.window {
            effort.windows.retain(|&smaller| smaller < window);
            effort.windows.push(window);
            effort.longest = effort.longest.max(usize::try_from(window).unwrap_or(usize::MAX));
        }
        Options { policy, effort, attempts: self.attempts, each: self.each.into(), workers }
    }

    /// Prints two runs, if people read it.
    fn side_by_side(&self, runs: &TwoRuns) -> Result<()> {
        if self.message_format != MessageFormat::Human {
            return Ok(());
        }
        std::io::stdout().write_all((runs.text() + "\n").as_bytes()).context("cannot write the results")
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

    fn material(&self, workers: usize) -> Result<Material> {
        if is_program(&self.target)? {
            if self.confirm.is_some() {
                bail!("`{}` is a program: it is recorded, and tried, without --confirm", self.target.display());
            }
            let mut program = self.how.start(&self.target, &self.arguments, self.how.input.clone(), workers)?;
            let mut bytes = Vec::new();
            program.record(self.how.recording(), Path::new("."), &mut Watch::new(self.voice), &mut bytes)?;
            let trace = file::Reader::new(bytes).and_then(|reader| reader.read())?;
            return Ok(Material { trace, program: Some(program) });
        }
        let trace = crate::trace::load(&self.target)?;
        let Some(path) = &self.confirm else {
            if !self.arguments.is_empty() {
                bail!("arguments are for a program: name it with --confirm");
            }
            return Ok(Material { trace, program: None });
        };
        let Some(origin) = trace.origin().cloned() else {
            return Err(advise(
                format!("`{}` does not say what it was recorded from", self.target.display()),
                "--confirm is for traces that `racehunter record` has made",
            ));
        };
        let arguments = if self.arguments.is_empty() { &origin.arguments } else { &self.arguments };
        let input = self.how.input.clone().or_else(|| origin.input.as_ref().map(PathBuf::from));
        let program = self.how.start(path, arguments, input, workers)?;
        if program.identity() != origin.identity {
            return Err(advise(
                format!("`{}` is not the program that `{}` was recorded from", path.display(), self.target.display()),
                "it was rebuilt since; record it again",
            ));
        }
        Ok(Material { trace, program: Some(program) })
    }
}

/// Returns true if a file is a program or a source file rather than a trace.
fn is_program(path: &Path) -> Result<bool> {
    let is_source = target::language(path).is_some();
    if is_source || path.is_dir() {
        return Ok(is_source);
    }
    begins_with(path, b"\x7fELF")
}

/// Returns true if a file is a trace in RaceHunter's own format.
fn is_trace_file(path: &Path) -> Result<bool> {
    Ok(!path.is_dir() && begins_with(path, b"RHTRACE")?)
}

fn begins_with(path: &Path, bytes: &[u8]) -> Result<bool> {
    let cannot = || format!("cannot read `{}`", path.display());
    let mut begin = Vec::new();
    File::open(path).with_context(cannot)?.take(bytes.len() as u64).read_to_end(&mut begin).with_context(cannot)?;
    Ok(begin == bytes)
}

/// Traces with more events are read in segments.
const LONG: u64 = 20_000_000;
/// The length of a segment.
const SEGMENT: u32 = 2_000_000;

/// Returns the trace if it is to be read in segments, and their length.
fn segmented(arguments: &Arguments) -> Result<Option<(file::MappedReader, usize)>> {
    let cannot = || format!("cannot read the trace `{}`", arguments.target.display());
    let all = matches!(arguments.segment, Some(Window(u32::MAX)));
    if all || arguments.confirm.is_some() || is_program(&arguments.target)? || !is_trace_file(&arguments.target)? {
        return Ok(None);
    }
    let reader = file::Reader::open(&arguments.target).with_context(cannot)?;
    let events = reader.events().with_context(cannot)?;
    let length = match arguments.segment {
        Some(Window(length)) => length,
        None if events > LONG => SEGMENT,
        None => return Ok(None),
    };
    Ok(Some((reader, length as usize)))
}

/// Predicts from a trace one segment at a time.
fn run_segmented(arguments: &Arguments, reader: &file::MappedReader, length: usize) -> Result<Exit> {
    let begin = Instant::now();
    let policy = racehunter_predict::Policy::from(arguments.policy);
    let options = arguments.options(policy, jobs(arguments.jobs));
    let stop = || arguments.time.is_some_and(|time| begin.elapsed() >= time);
    let cannot = || format!("cannot read the trace `{}`", arguments.target.display());
    let unwritable = "cannot write the results";
    let events = reader.events().with_context(cannot)?;
    let overlap = length / 4;
    let mut segments = reader.segments(length, overlap).with_context(cannot)?;
    let mut all = predictions::Segmented::default();
    let mut reporter = reporter(arguments.message_format, arguments.color.into());
    let pace = arguments.voice.progress();
    while let Some(segment) = segments.next_segment().with_context(cannot)? {
        pace.at(|| notes::segment(segment.before, events));
        let index = Index::new(segment.trace)
            .with_context(|| format!("`{}` is not the trace of an execution", arguments.target.display()))?;
        let report = racehunter_predict::predict(&index, &options, &stop);
        let number = |event| segment.number(event).unwrap_or(segment.before);
        for (finding, prediction) in all.add(&index, &report, policy) {
            if arguments.message_format == MessageFormat::Json {
                let line = predictions::json(&index, &finding, prediction, policy, &number, None)?;
                std::io::stdout().write_all(line.as_bytes()).context(unwritable)?;
            } else {
                reporter.finding(&finding).context(unwritable)?;
                arguments.side_by_side(&predictions::two_runs(segment.trace, prediction, &number))?;
            }
        }
    }
    reporter.finish().context(unwritable)?;
    let Some(mut summary) = all.finish(events, overlap as u64) else { return Ok(Exit::Nothing) };
    summary.took(begin.elapsed());
    let text = match arguments.message_format {
        MessageFormat::Json => summary.json()?,
        MessageFormat::Sarif | MessageFormat::Junit => String::new(),
        _ => summary.text(),
    };
    std::io::stdout().write_all(text.as_bytes()).context(unwritable)?;
    Ok(arguments.exit(&summary))
}

/// Predicts from a trace, and tries the predictions if there is a program to try them on.
pub fn run(arguments: &Arguments, suppressions: &Suppressions) -> Result<Exit> {
    if let Some((reader, length)) = segmented(arguments)? {
        return run_segmented(arguments, &reader, length);
    }
    let begin = Instant::now();
    let workers = jobs(arguments.jobs);
    let Material { trace, mut program } = arguments.material(workers)?;
    let recording = Recording::whole(trace);
    let trace = &recording.trace;
    let index = Index::new(trace)
        .with_context(|| format!("`{}` is not the trace of an execution", arguments.target.display()))?;
    let policy = racehunter_predict::Policy::from(arguments.policy);
    let options = arguments.options(policy, workers);
    let stop = || arguments.time.is_some_and(|time| begin.elapsed() >= time);
    let voice = arguments.voice;
    voice.note(|| notes::predicting(trace.len(), policy.name()));
    let (pace, begun) = (voice.progress(), AtomicU64::new(0));
    let next = || {
        let number = begun.fetch_add(1, Ordering::Relaxed);
        pace.at(|| notes::cases(number));
        stop()
    };
    let report = racehunter_predict::predict(&index, &options, &next);
    voice.note(|| notes::predicted(report.predictions.len(), report.cases, report.questions));

    let is_json = arguments.message_format == MessageFormat::Json;
    let cannot = "cannot write the results";
    let mut reporter = reporter(arguments.message_format, arguments.color.into());
    let mut confirmer = match &mut program {
        Some(program) => Some(program.confirm(&arguments.how.out)?),
        None => None,
    };
    let mut summary = predictions::summary(trace, &report, policy);
    let mut watch = Watch::new(voice);
    if let Some(confirmer) = &mut confirmer {
        summary.unconfirmed = Some(0);
        let mut findings = confirmer.repeat(arguments.how.recording(), &mut watch)?;
        findings.iter_mut().for_each(|finding| suppressions.apply(finding));
        summary.findings = findings.iter().filter(|finding| finding.suppressed.is_none()).count();
        for finding in &findings {
            reporter.finding(finding).context(cannot)?;
        }
    }
    let pace = voice.progress();
    let of = report.predictions.len();
    for (number, prediction) in (1..).zip(&report.predictions) {
        pace.at(|| notes::trying(number, of));
        let tried = match &mut confirmer {
            Some(_) if stop() => Some(Tried::NotShown(NotShown::NoTime, Vec::new())),
            Some(confirmer) => Some(confirmer.try_on(&index, &recording, prediction, &mut watch)?),
            None => None,
        };
        tried.iter().for_each(|tried| voice.note(|| note(number, of, tried)));
        let (mut findings, reason) = match tried {
            Some(Tried::Shown(findings)) => (findings, None),
            Some(Tried::NotShown(reason, findings)) => (findings, Some(reason.to_string())),
            None => (Vec::new(), None),
        };
        findings.iter_mut().for_each(|finding| suppressions.apply(finding));
        summary.findings += findings.iter().filter(|finding| finding.suppressed.is_none()).count();
        for finding in &findings {
            reporter.finding(finding).context(cannot)?;
        }
        if confirmer.is_some() && reason.is_none() {
            arguments.side_by_side(&predictions::two_runs(trace, prediction, &u64::from))?;
            continue;
        }
        if let Some(unconfirmed) = &mut summary.unconfirmed {
            *unconfirmed += 1;
        }
        let mut finding = predictions::finding(&index, prediction);
        if is_json {
            let line = predictions::json(&index, &finding, prediction, policy, &u64::from, reason.as_deref())?;
            std::io::stdout().write_all(line.as_bytes()).context(cannot)?;
        } else {
            finding.notes.extend(reason.map(|reason| messages::tried(&reason)));
            reporter.finding(&finding).context(cannot)?;
            arguments.side_by_side(&predictions::two_runs(trace, prediction, &u64::from))?;
        }
    }
    if let Some(confirmer) = &confirmer {
        summary.executions = confirmer.executions;
        summary.diverged = confirmer.diverged;
    }
    summary.took(begin.elapsed());
    let text = match arguments.message_format {
        MessageFormat::Json => summary.json()?,
        MessageFormat::Sarif | MessageFormat::Junit => String::new(),
        _ => summary.text(),
    };
    reporter.finish().context(cannot)?;
    std::io::stdout().write_all(text.as_bytes()).context(cannot)?;
    Ok(arguments.exit(&summary))
}

fn note(number: usize, of: usize, tried: &Tried) -> notes::Note {
    match tried {
        Tried::Shown(findings) => {
            let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
            notes::tried(number, of, Ok(&ids))
        }
        Tried::NotShown(reason, _) => notes::tried(number, of, Err(reason)),
    }
}
