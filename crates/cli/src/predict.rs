//! `racehunter predict`

use crate::arguments::{Color, EXIT_CODES, MessageFormat};
use crate::confirm::{Confirmer, Verdict};
use crate::exit::{Exit, advise};
use crate::hunt::reporter;
use crate::predictions::{FindingLine, Summary, finding};
use crate::record::{How, Recorded};
use crate::suppressions::Suppressions;
use crate::voice::{Voice, count};
use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use racehunter_predict::{Index, Options};
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
    /// Which reorderings of the trace count
    #[arg(long, value_enum, default_value_t = Policy::Nre)]
    policy: Policy,
    /// Time for all of it, such as 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// Predictions that are worked on at the same time [default: number of processors]
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Pairs of accesses that are tried for each pair of sites
    #[arg(long, value_name = "N", default_value_t = 100)]
    attempts: usize,
    /// Exit with 3 when not everything could be tried
    #[arg(long)]
    require_complete: bool,
    /// Form of the results
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
    /// The trace, FILE.rht or FILE.std; or a program, or a C or C++ file, that is recorded first and tried then
    #[arg(value_name = "TRACE|PROGRAM")]
    target: PathBuf,
    /// Arguments of the program [default: those that it was recorded with]
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// What must stay as it was in a reordering.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Policy {
    /// What every read sees
    M2,
    /// What reads see that a branch follows
    Seqcheck,
    /// What reads see that decide something
    Nre,
}

impl From<Policy> for racehunter_predict::Policy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::M2 => Self::M2,
            Policy::Seqcheck => Self::SeqCheck,
            Policy::Nre => Self::Nre,
        }
    }
}

/// What predictions are made from, and the program to try them on.
struct Material {
    trace: Trace,
    program: Option<Recorded>,
}

impl Arguments {
    fn material(&self, workers: usize) -> Result<Material> {
        if is_program(&self.target)? {
            if self.confirm.is_some() {
                bail!("`{}` is a program: it is recorded, and tried, without --confirm", self.target.display());
            }
            let mut program =
                self.how.start(&self.target, &self.arguments, self.how.input.clone(), workers, Some(".".into()))?;
            let mut bytes = Vec::new();
            program.record(&self.how, self.voice, &mut bytes)?;
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
        let program = self.how.start(path, arguments, input, workers, None)?;
        if program.origin.identity != origin.identity {
            return Err(advise(
                format!("`{}` is not the program that `{}` was recorded from", path.display(), self.target.display()),
                "it was built again since; record it again",
            ));
        }
        Ok(Material { trace, program: Some(program) })
    }
}

/// Whether a file is a program or a source file, and no trace.
fn is_program(path: &Path) -> Result<bool> {
    let cannot = || format!("cannot read `{}`", path.display());
    let is_source = crate::target::language(path).is_some();
    if is_source || path.is_dir() {
        return Ok(is_source);
    }
    let mut begin = Vec::new();
    File::open(path).with_context(cannot)?.take(4).read_to_end(&mut begin).with_context(cannot)?;
    Ok(begin == b"\x7fELF")
}

/// Predicts from a trace, and tries the predictions if there is a program to try them on.
pub fn run(arguments: &Arguments, suppressions: &Suppressions) -> Result<Exit> {
    let begin = Instant::now();
    let workers = arguments.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let Material { trace, mut program } = arguments.material(workers)?;
    let recording = Recording::whole(trace);
    let trace = &recording.trace;
    let index = Index::new(trace)
        .with_context(|| format!("`{}` is not the trace of an execution", arguments.target.display()))?;
    let policy = racehunter_predict::Policy::from(arguments.policy);
    let options = Options { policy, attempts: arguments.attempts, workers, ..Options::default() };
    let stop = || arguments.time.is_some_and(|time| begin.elapsed() >= time);
    let voice = arguments.voice;
    voice.note("Predicting", || format!("from {}, {}", count(trace.len() as u64, "event"), policy.name()));
    let (pace, begun) = (voice.progress("Predicting"), AtomicU64::new(0));
    let next = || {
        let number = begun.fetch_add(1, Ordering::Relaxed);
        pace.at(|| format!("{} looked at", count(number, "case")));
        stop()
    };
    let report = racehunter_predict::predict(&index, &options, &next);
    voice.note("Predicted", || {
        let [cases, questions] = [report.cases, report.questions].map(|number| number as u64);
        let predictions = count(report.predictions.len() as u64, "prediction");
        format!("{predictions} from {} with {}", count(cases, "case"), count(questions, "question"))
    });

    let is_json = arguments.message_format == MessageFormat::Json;
    let cannot = "cannot write the results";
    let mut reporter = reporter(arguments.message_format, arguments.color.into());
    let mut confirmer = match &mut program {
        Some(program) if !report.predictions.is_empty() => Some(Confirmer::new(program, &arguments.how.out)?),
        _ => None,
    };
    let mut summary = Summary::new(trace, &report, policy, begin.elapsed());
    if confirmer.is_some() {
        (summary.findings, summary.unconfirmed) = (0, Some(0));
    }
    let pace = voice.progress("Trying");
    for (number, prediction) in report.predictions.iter().enumerate() {
        pace.at(|| format!("prediction {} of {}", number + 1, report.predictions.len()));
        let verdict = match &mut confirmer {
            Some(_) if stop() => Some(Verdict::NotShown("there was no time left to try it".to_owned(), Vec::new())),
            Some(confirmer) => Some(confirmer.confirm(&index, &recording, prediction)?),
            None => None,
        };
        if let Some(verdict) = &verdict {
            voice.note("Tried", || format!("prediction {} of {}: {verdict}", number + 1, report.predictions.len()));
        }
        let (reason, is_shown) = match verdict {
            Some(Verdict::Shown(findings)) => (Some((String::new(), findings)), true),
            Some(Verdict::NotShown(reason, findings)) => (Some((reason, findings)), false),
            None => (None, false),
        };
        let reason = match reason {
            Some((reason, mut findings)) => {
                findings.iter_mut().for_each(|finding| suppressions.apply(finding));
                summary.findings += findings.iter().filter(|finding| finding.suppressed.is_none()).count();
                for finding in &findings {
                    reporter.finding(finding).context(cannot)?;
                }
                if is_shown {
                    continue;
                }
                Some(reason)
            }
            None => None,
        };
        if let Some(unconfirmed) = &mut summary.unconfirmed {
            *unconfirmed += 1;
        }
        let mut finding = finding(&index, prediction);
        if is_json {
            let line = serde_json::to_string(&FindingLine::new(&finding, prediction, policy, reason.as_deref()))?;
            writeln!(std::io::stdout(), "{line}").context(cannot)?;
        } else {
            finding.notes.extend(reason.map(|reason| format!("tried on the program: {reason}")));
            reporter.finding(&finding).context(cannot)?;
        }
    }
    if let Some(confirmer) = &confirmer {
        (summary.executions, summary.diverged) = (confirmer.executions, confirmer.diverged);
    }
    summary.took(begin.elapsed());
    let text = match arguments.message_format {
        MessageFormat::Json => serde_json::to_string(&summary)? + "\n",
        MessageFormat::Sarif => String::new(),
        _ => summary.text(trace, policy),
    };
    reporter.finish().context(cannot)?;
    std::io::stdout().write_all(text.as_bytes()).context(cannot)?;
    Ok(if summary.findings > 0 {
        Exit::Findings
    } else if trace.threads().len() < 2 {
        Exit::Nothing
    } else if arguments.require_complete && !summary.complete {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}
