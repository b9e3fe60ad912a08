//! `racehunter hunt`

use crate::arguments::{Hunt, MessageFormat};
use crate::exit::{Exit, advise};
use crate::progress::Meter;
use crate::store::{self, Stored};
use crate::target;
use anyhow::{Context as _, Result};
use racehunter_analyses::Technique;
use racehunter_explain::{Explainer, uncontrolled};
use racehunter_explore::{Budget, Campaign, Executor, Found, Outcome, Plan, Points, Progress, Stop};
use racehunter_finding::Finding;
use racehunter_launch::{Limits, Processes, Program};
use racehunter_report::{Bound, ColorChoice, Reporter};
use racehunter_symbols::Symbols;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Stdout, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Executions of a hunt that nothing else would end.
const DEFAULT_RUNS: u64 = 2000;

/// Hunts, reports, and says how it went.
pub fn run(arguments: &Hunt) -> Result<Exit> {
    let began = Instant::now();
    let path = target::prepare(&arguments.target, arguments.cflags.as_deref(), &arguments.out)?;
    let mut symbols = target::symbols(&path)?;
    let interrupted = catch_interrupts()?;
    let program =
        Program { path: path.clone(), arguments: words(&arguments.arguments), input: arguments.input.clone() };
    let jobs = arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let limits = Limits { time: arguments.timeout(), memory_kib: arguments.memory << 10, ..Limits::default() };
    let mut processes = Processes::start(program.clone(), limits, jobs)?;
    processes.use_backend(arguments.backend.into());
    processes.stop_when(Arc::clone(&interrupted));
    add_modules(&mut symbols, &processes, &path);
    if arguments.points.is_all() {
        processes.make_all_points();
    }
    if let Some(exit) = nothing_to_explore(&mut processes, arguments)? {
        return Ok(exit);
    }

    let budget = budget(arguments);
    let mut hunter = Hunter {
        arguments,
        program,
        symbols,
        load_address: processes.load_address(),
        reporter: reporter(arguments.message_format, arguments.color.into()),
        meter: Meter::new(arguments.quiet, budget.runs),
        ids: HashSet::new(),
        unconfirmed: Vec::new(),
        confirmed: 0,
        trouble: None,
    };
    let deadline = arguments.time.map(|time| began + time);
    let mut should_stop =
        || interrupted.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let portfolio = arguments.analysis.portfolio(&arguments.options());
    let mut on_progress = |progress: Progress<'_>| hunter.tell(progress);
    let summary = Campaign::new(portfolio, budget, &mut on_progress).run(&mut processes, &mut should_stop);
    hunter.meter.finish();
    hunter.tell_unconfirmed();
    if let Some(error) = hunter.trouble {
        return Err(error);
    }
    if let Stop::Failed(error) = summary.stop {
        return Err(error.into());
    }
    let mut coverage = summary.coverage;
    add_libraries(&mut hunter.symbols, &processes);
    coverage.uncontrolled = uncontrolled(&hunter.symbols, &summary.escaped);
    coverage.assumes.push(format!("seed {}", arguments.seed));
    if interrupted.load(Ordering::Relaxed) {
        coverage.missed.insert(0, "interrupted before the end".to_owned());
    }
    hunter.reporter.summary(&coverage, began.elapsed()).context("cannot write the results")?;
    Ok(if hunter.confirmed > 0 {
        Exit::Findings
    } else if arguments.require_complete && !coverage.complete {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// Arguments as the system wants them.
pub fn words(arguments: &[String]) -> Vec<OsString> {
    arguments.iter().map(OsString::from).collect()
}

/// A first Ctrl-C asks to stop; a second one ends the process at once.
fn catch_interrupts() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupted))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))
            .context("cannot catch interrupts")?;
    }
    Ok(interrupted)
}

fn budget(arguments: &Hunt) -> Budget {
    let ends = matches!(
        arguments.analysis,
        Technique::ContextBound
            | Technique::VariableBound
            | Technique::ThreadBound
            | Technique::Dfs
            | Technique::Watchpoint
    );
    let default_runs = (!ends && arguments.time.is_none()).then_some(DEFAULT_RUNS);
    Budget {
        runs: arguments.runs.or(default_runs),
        stop_on_first: arguments.stop_on_first,
        points: arguments.points.into(),
        spurious: arguments.spurious,
        ..Budget::default()
    }
}

/// A reporter to standard output.
pub fn reporter(format: MessageFormat, color: ColorChoice) -> Reporter<Stdout> {
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(100);
    Reporter::new(stdout(), format.into()).color(color.resolve(stdout().is_terminal())).width(width)
}

/// Makes the libraries of the process known.
pub fn add_modules(symbols: &mut Symbols, processes: &Processes, executable: &std::path::Path) {
    for mapping in processes.mappings().into_iter().filter(|mapping| mapping.path != executable) {
        symbols.add_module(mapping.start.saturating_sub(mapping.offset), mapping.end, mapping.path);
    }
}

/// Makes libraries known that executions have loaded since the last time.
pub fn add_libraries(symbols: &mut Symbols, executor: &dyn Executor) {
    for (base, path) in executor.libraries() {
        symbols.add_library(base, &path);
    }
}

/// Events in which a program creates its first thread, or is taken to be one that will.
const LOOK: u64 = 4_000_000;

/// One execution, to see whether there is anything to explore.
fn nothing_to_explore(processes: &mut Processes, arguments: &Hunt) -> Result<Option<Exit>> {
    let Some(first) = processes.run(&[Plan { max_events: LOOK, ..Plan::default() }])?.pop() else { return Ok(None) };
    if first.threads > 1 {
        return Ok(None);
    }
    let name = arguments.target.display();
    let output = String::from_utf8_lossy(&first.output);
    let last = output.lines().last().unwrap_or_default().trim().to_owned();
    let said = if last.is_empty() { String::new() } else { format!("; the last it wrote: {last}") };
    match first.outcome {
        Outcome::Exited(0) => {
            eprintln!("warning: `{name}` ran to its end without creating a thread: there is nothing to explore{said}");
        }
        Outcome::Exited(status) => {
            let error = advise(
                format!("`{name}` ended with status {status} before it created a thread{said}"),
                format!("its arguments go behind `--`: racehunter hunt {name} -- ARGUMENTS"),
            );
            eprint!("{}", crate::exit::render(&error));
        }
        // It fails whatever the schedule is; the hunt will say how.
        _ => return Ok(None),
    }
    Ok(Some(Exit::Nothing))
}

/// What happens with what the campaign tells.
struct Hunter<'a> {
    arguments: &'a Hunt,
    program: Program,
    symbols: Symbols,
    load_address: u64,
    reporter: Reporter<Stdout>,
    meter: Meter,
    ids: HashSet<String>,
    /// What could not be shown again. It is told at the end, unless a later execution confirms it.
    unconfirmed: Vec<Finding>,
    confirmed: usize,
    trouble: Option<anyhow::Error>,
}

impl Hunter<'_> {
    fn tell(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Execution { number, waiting } => self.meter.execution(number, waiting, self.ids.len()),
            Progress::Bug { found, executor } => {
                if let Err(error) = self.report(found, executor) {
                    self.trouble.get_or_insert(error);
                }
            }
            Progress::Stage { bound, rank, executions, complete } => {
                let (variables, threads) = (rank.map(|rank| rank.variables), rank.map(|rank| rank.threads));
                let bound = Bound { bound, variables, threads, executions, complete };
                let result = self.meter.suspend(|| self.reporter.bound(&bound));
                if let Err(error) = result {
                    self.trouble.get_or_insert(error.into());
                }
            }
            Progress::Points { .. } => {}
        }
    }

    /// Explains, stores and prints a bug; one that looks the same in the source is not told again.
    fn report(&mut self, found: &Found, executor: &mut dyn Executor) -> Result<()> {
        add_libraries(&mut self.symbols, executor);
        let explainer =
            Explainer { symbols: &self.symbols, load_address: self.load_address, patience: self.arguments.patience() };
        let finding = explainer.finding(executor, &found.bug, &found.repeat, found.execution)?;
        if self.ids.contains(&finding.id) {
            return Ok(());
        }
        self.unconfirmed.retain(|known| known.id != finding.id);
        if finding.confirmed {
            return self.print(finding);
        }
        self.unconfirmed.push(finding);
        Ok(())
    }

    fn tell_unconfirmed(&mut self) {
        for finding in std::mem::take(&mut self.unconfirmed) {
            if let Err(error) = self.print(finding) {
                self.trouble.get_or_insert(error);
            }
        }
    }

    fn print(&mut self, finding: Finding) -> Result<()> {
        self.ids.insert(finding.id.clone());
        self.confirmed += usize::from(finding.confirmed);
        let stored = Stored {
            version: store::VERSION,
            program: self.program.path.clone(),
            identity: self.symbols.binary().identity.clone(),
            arguments: self.arguments.arguments.clone(),
            input: self.program.input.clone(),
            finding,
        };
        store::save(&self.arguments.out, &stored)?;
        self.meter.suspend(|| self.reporter.finding(&stored.finding)).context("cannot write the results")
    }
}

impl crate::arguments::Where {
    fn is_all(self) -> bool {
        Points::from(self) == Points::All
    }
}
