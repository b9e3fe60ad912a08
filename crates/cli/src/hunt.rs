//! `racehunter hunt`

use crate::arguments::{Detector, Hunt, Output};
use crate::exit::Exit;
use crate::fleet;
use crate::output::{replay_options, reporter};
use crate::watch::HuntWatch;
use anyhow::{Context as _, Result};
use racehunter_analyses::Claims;
use racehunter_explore::Budget;
use racehunter_finding::Coverage;
use racehunter_hunter::{
    Clock, Hunt as Settings, Hunted, Hunter, Interrupts, NothingToExplore, Outcome, Setup, Subject, Suppressions,
    Surroundings, campaign, files, jobs, target,
};
use racehunter_launch::{Limits, Shared};
use racehunter_report::{Reporter, notes};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Executions of a hunt that has no other limit.
const DEFAULT_RUNS: u64 = 2000;

/// Hunts, reports, and returns the exit code.
pub fn run(arguments: &Hunt, named: &Path, suppressions: &Suppressions) -> Result<Exit> {
    let began = Instant::now();
    Settings::check(arguments.analysis, arguments.free_running, arguments.partition)?;
    files::check_out(&arguments.out)?;
    let budget = budget(arguments);
    // Free-running executions change the real files and wait in real time: one at a time does not disturb others.
    let jobs = if arguments.free_running { arguments.jobs.unwrap_or(1) } else { jobs(arguments.jobs) };
    let reporter = reporter(Output { message_format: arguments.message_format, color: arguments.color })
        .replay_options(replay_options(&arguments.out));
    let mut watch = HuntWatch::new(arguments, jobs, budget.runs, reporter);
    let path = target::prepare(named, arguments.cflags.as_deref(), &arguments.out, arguments.selective)?;
    watch.note(|| notes::program(&path));
    let interrupts = Interrupts::catch()?;
    let (input, client) = (arguments.input.clone(), arguments.with.as_deref().map(client).transpose()?);
    let subject = Subject { path, arguments: arguments.arguments.clone(), input, client, libraries: None };
    // A server that does not answer should be known before the program runs.
    let mut board = fleet::board(arguments)?;
    let mut hunter = Hunter::open(subject, setup(arguments, jobs, &interrupts))?;
    let settings = settings(arguments, named, began, suppressions);
    let fleet = board.as_mut().map(|board| fleet::fleet(arguments, board));
    let result = hunter.hunt_on(&settings, fleet, &mut watch);
    let (reporter, trouble) = watch.finish(&result, suppressions);
    if let Some(trouble) = trouble {
        return Err(trouble).context("cannot write the results");
    }
    match result? {
        Outcome::Nothing(nothing) => explain_nothing(reporter, named, &nothing, arguments.with.is_some()),
        Outcome::Hunted(hunted) => {
            let Hunted { coverage, elapsed, counted } = *hunted;
            let exit = exit(counted, &coverage, arguments.require_complete, &interrupts);
            let mut reporter = reporter.failure(failure(exit, &coverage));
            reporter.summary(&coverage, elapsed).context("cannot write the results")?;
            Ok(exit)
        }
    }
}

/// Returns how the program is run.
pub fn setup(arguments: &Hunt, jobs: usize, interrupts: &Interrupts) -> Setup {
    let mut limits = Limits { time: arguments.timeout(), memory_kib: arguments.memory << 10, ..Limits::default() };
    if arguments.check_output {
        limits.output = COMPARED;
    }
    Setup {
        limits,
        jobs,
        backend: arguments.backend,
        shared: Shared { output: arguments.check_output, ..arguments.world.into() },
        preparatory: arguments.preparatory,
        interrupted: interrupts.flag(),
        ..Setup::new(Clock::new(Instant::now))
    }
}

/// Returns the parameters of the hunt.
pub fn settings<'a>(
    arguments: &'a Hunt,
    named: &'a Path,
    began: Instant,
    suppressions: &'a Suppressions,
) -> Settings<'a> {
    Settings {
        name: named,
        technique: arguments.analysis,
        options: arguments.options(),
        whole_objects: arguments.whole_objects,
        provokes_pairs: arguments.analysis.provokes_pairs(arguments.free_running),
        budget: budget(arguments),
        time: arguments.time,
        began,
        out: &arguments.out,
        settings: arguments.settings(),
        words: words(),
        surroundings: surroundings(),
        resume: arguments.resume,
        suppressions,
    }
}

/// Returns the command that starts a client in this directory, wherever the program has moved by then.
fn client(command: &str) -> Result<String> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    // Findings and campaigns contain this text: always quoted, whatever the directory is called.
    Ok(format!("cd '{}' && {command}", here.to_string_lossy().replace('\'', "'\\''")))
}

/// How much output of an execution is kept when outputs are compared.
const COMPARED: u64 = 64 << 20;

/// Returns the words of this command line, from which the hunt can be started again.
pub fn words() -> Vec<String> {
    campaign::words(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// Returns what the program inherits from this command.
pub fn surroundings() -> Surroundings {
    let directory = std::env::current_dir().unwrap_or_default();
    Surroundings { environment: std::env::vars_os().collect(), directory }
}

/// Returns the exit code of a hunt; `counted` is the number of findings that count.
pub fn exit(counted: usize, coverage: &Coverage, require_complete: bool, interrupts: &Interrupts) -> Exit {
    match interrupts.signal() {
        _ if counted > 0 => Exit::Findings,
        Some(signal) => Exit::Interrupted(signal),
        None if !coverage.unclear.is_empty() || require_complete && !coverage.complete => Exit::Incomplete,
        None => Exit::Clean,
    }
}

fn budget(arguments: &Hunt) -> Budget {
    let ends = arguments.analysis.row().claims == Claims::Coverage;
    let default_runs = (!ends && arguments.time.is_none()).then_some(DEFAULT_RUNS);
    Budget {
        runs: arguments.runs.or(default_runs),
        stop_on_first: arguments.stop_on_first,
        points: arguments.points,
        detect_races: arguments.detector() != Detector::None,
        infer_races: arguments.detector() == Detector::HappensBefore,
        spurious: !arguments.no_spurious,
        check_output: arguments.check_output,
        allowed: arguments.allow_exit_status,
        part: arguments.partition,
        ..Budget::default()
    }
}

/// Returns why a hunt without findings fails, where its coverage does not say so.
pub fn failure(exit: Exit, coverage: &Coverage) -> Option<String> {
    match exit {
        Exit::Interrupted(_) => Some(notes::interrupted()),
        Exit::Incomplete if coverage.unclear.is_empty() => Some(notes::not_complete()),
        _ => None,
    }
}

fn explain_nothing(
    mut reporter: Reporter<impl Write>,
    named: &Path,
    nothing: &NothingToExplore,
    has_client: bool,
) -> Result<Exit> {
    let NothingToExplore { status, last_line } = nothing;
    let (message, help) = notes::nothing(&named.display().to_string(), *status, last_line, has_client);
    match help {
        None => eprintln!("warning: {message}"),
        Some(help) => eprint!("{}", notes::error(&message, &[], Some(&help))),
    }
    reporter.nothing(&message, nothing.status != 0).context("cannot write the results")?;
    Ok(Exit::Nothing)
}
