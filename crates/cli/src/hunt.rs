//! `racehunter hunt`

use crate::arguments::{Detector, Hunt, MessageFormat};
use crate::campaign::{Identity, Keeper, Kept, Told};
use crate::exit::{Exit, advise};
use crate::progress::Meter;
use crate::store::{self, Stored};
use crate::suppressions::Suppressions;
use crate::target as targets;
use anyhow::{Context as _, Result};
use racehunter_analyses::{Options, Technique};
use racehunter_explain::{Explainer, uncontrolled};
use racehunter_explore::{Budget, Campaign, Executor, Found, Objects, Outcome, Plan, Points, Progress, Stop, Summary};
use racehunter_finding::{Coverage, Finding};
use racehunter_launch::{Limits, Processes, Program};
use racehunter_report::{Bound, ColorChoice, Reporter};
use racehunter_symbols::Symbols;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Stdout, Write, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Executions of a hunt that nothing else would end.
const DEFAULT_RUNS: u64 = 2000;

/// The globals of a program that is loaded there, as wholes.
fn objects(symbols: &Symbols, load_address: u64) -> Objects {
    Objects::new(symbols.globals().map(|global| global.start + load_address..global.end + load_address))
}

/// Hunts, reports, and says how it went.
pub fn run(arguments: &Hunt, target: &Path, suppressions: &Suppressions) -> Result<Exit> {
    let began = Instant::now();
    refuse_to_divide(arguments)?;
    refuse_to_let_go(arguments)?;
    let mut budget = budget(arguments);
    let meter = Meter::new(arguments.quiet, arguments.verbose, budget.runs, arguments.time);
    let path = targets::prepare(target, arguments.cflags.as_deref(), &arguments.out, arguments.selective)?;
    meter.note("Program", || path.display().to_string());
    let mut symbols = targets::symbols(&path)?;
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
    if let Some(exit) = nothing_to_explore(&mut processes, target, arguments.free_running)? {
        return Ok(exit);
    }

    meter.note("Hunting", || plan_in_words(arguments, jobs));
    // The first finding that counts ends the hunt, which only the hunter can tell then.
    budget.stop_on_first &= suppressions.is_empty();
    let build = symbols.binary().identity.clone();
    let mut keeper = Keeper::new(&arguments.out, Identity::new(&path, arguments), &build, arguments.partition, began);
    let portfolio = arguments.analysis.portfolio(&Options {
        objects: arguments.whole_objects.then(|| objects(&symbols, processes.load_address())),
        ..arguments.options()
    });
    let hunter = RefCell::new(Hunter {
        arguments,
        program,
        symbols,
        load_address: processes.load_address(),
        reporter: reporter(arguments.message_format, arguments.color.into()),
        meter,
        ids: HashSet::new(),
        told: Told::default(),
        trouble: None,
        suppressions,
        counted: 0,
        executions: 0,
    });
    let deadline = arguments.time.map(|time| began + time);
    let mut should_stop = || {
        interrupted.load(Ordering::Relaxed)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || arguments.stop_on_first && !suppressions.is_empty() && hunter.borrow().has_first()
    };
    let mut on_progress = |progress: Progress<'_>| hunter.borrow_mut().tell(progress);
    let mut campaign = Campaign::new(portfolio, budget, &mut on_progress);
    if arguments.resume {
        let (kept, mut state) = keeper.open()?;
        campaign.resume(&mut state, &mut processes).context("the campaign cannot be resumed")?;
        hunter.borrow_mut().recall(kept)?;
    }
    let mut keep = |campaign: &Campaign<'_>, stop: Stop, processes: &Processes| {
        let mut hunter = hunter.borrow_mut();
        let summary = campaign.summary(stop);
        let coverage = hunter.coverage(&summary, processes, interrupted.load(Ordering::Relaxed));
        keeper.save(campaign, &summary, coverage.clone(), &hunter.told);
        (summary, coverage, keeper.due())
    };
    let mut due = Instant::now();
    let stop = loop {
        if Instant::now() >= due {
            (_, _, due) = keep(&campaign, Stop::Asked, &processes);
        }
        if let Some(stop) = campaign.advance(&mut processes, &mut should_stop) {
            break stop;
        }
    };
    let (summary, coverage, _) = keep(&campaign, stop, &processes);
    drop(campaign);
    let mut hunter = hunter.into_inner();
    hunter.meter.finish();
    let counted = hunter.counted;
    hunter.tell_unconfirmed();
    hunter.meter.note("Kept", || format!("findings and the state of the hunt in {}", arguments.out.display()));
    for unused in suppressions.unused() {
        hunter.meter.note("Suppression", || format!("of {unused}: nothing was found that it is about"));
    }
    if let Some(error) = hunter.trouble {
        return Err(error);
    }
    if let Stop::Failed(error) = summary.stop {
        return Err(error.into());
    }
    hunter.reporter.summary(&coverage, keeper.elapsed()).context("cannot write the results")?;
    Ok(if counted > 0 {
        Exit::Findings
    } else if arguments.require_complete && !coverage.complete {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// How schedules are chosen, and what an execution may take.
fn plan_in_words(arguments: &Hunt, jobs: usize) -> String {
    format!(
        "analysis {}, bound {}, seed {}; {jobs} at a time, each up to {} and {} MiB",
        arguments.analysis.name(),
        arguments.bound,
        arguments.seed,
        humantime::format_duration(arguments.timeout()),
        arguments.memory,
    )
}

/// What cannot be divided would be done as a whole by every part.
fn refuse_to_divide(arguments: &Hunt) -> Result<()> {
    if arguments.partition.is_whole() || arguments.analysis.divides() {
        return Ok(());
    }
    let name = arguments.analysis.name();
    Err(advise(
        format!("the work of `--analysis {name}` cannot be divided"),
        "hunt without --partition, or divide another analysis, such as context-bound",
    ))
}

/// Most analyses are about schedules, and who runs freely has none.
fn refuse_to_let_go(arguments: &Hunt) -> Result<()> {
    let name = arguments.analysis.name();
    if arguments.free_running && !arguments.analysis.runs_freely() {
        return Err(advise(
            format!("`--analysis {name}` needs control over the threads"),
            "with --free-running there are watchpoint and sampling",
        ));
    }
    if arguments.free_running && !arguments.partition.is_whole() {
        return Err(advise("executions that run freely cannot be divided", "hunt without --partition"));
    }
    Ok(())
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
            | Technique::WatchpointBound
    ) || arguments.free_running && arguments.analysis == Technique::Auto;
    let default_runs = (!ends && arguments.time.is_none()).then_some(DEFAULT_RUNS);
    Budget {
        runs: arguments.runs.or(default_runs),
        stop_on_first: arguments.stop_on_first,
        points: arguments.points.into(),
        detect_races: matches!(arguments.detector, Detector::HappensBefore),
        spurious: !arguments.no_spurious,
        check_output: arguments.check_output,
        part: arguments.partition,
        ..Budget::default()
    }
}

/// A reporter to standard output.
pub fn reporter(format: MessageFormat, color: ColorChoice) -> Reporter<Stdout> {
    reporter_to(stdout(), format, color)
}

/// A reporter to somewhere else.
pub fn reporter_to<W: Write>(out: W, format: MessageFormat, color: ColorChoice) -> Reporter<W> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = asked.or_else(columns).unwrap_or(100);
    let root = std::env::current_dir().unwrap_or_default();
    let color = color.resolve(stdout().is_terminal());
    Reporter::new(out, format.into()).color(color).width(width).source_root(root)
}

/// How wide the terminal is, if standard output is one.
fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0))
}

/// Makes the libraries of the process known.
pub fn add_modules(symbols: &mut Symbols, processes: &Processes, executable: &Path) {
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
fn nothing_to_explore(processes: &mut Processes, target: &Path, free: bool) -> Result<Option<Exit>> {
    let look = Plan { max_events: LOOK, free, ..Plan::default() };
    let Some(first) = processes.run(&[look])?.pop() else { return Ok(None) };
    let name = target.display();
    if let (true, Outcome::Lost(why)) = (free, &first.outcome) {
        return Err(advise(format!("`{name}`: {why}"), "hunt it without --free-running"));
    }
    if first.threads > 1 {
        return Ok(None);
    }
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
    /// All findings, confirmed or not.
    ids: HashSet<String>,
    told: Told,
    trouble: Option<anyhow::Error>,
    suppressions: &'a Suppressions,
    /// Findings that count: confirmed and not suppressed.
    counted: usize,
    /// Executions so far. What is found before the first one, while points are looked for, does not end the hunt yet.
    executions: u64,
}

impl Hunter<'_> {
    fn tell(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Execution { number, waiting, remaining } => {
                self.executions = number;
                self.meter.execution(number, waiting, remaining, self.ids.len());
            }
            Progress::Bug { found, executor } => {
                if let Err(error) = self.report(found, executor) {
                    self.trouble.get_or_insert(error);
                }
            }
            Progress::Stage { bound, rank, executions, complete } => {
                let (variables, threads) = (rank.map(|rank| rank.variables), rank.map(|rank| rank.threads));
                let bound = Bound { bound, variables, threads, executions, complete };
                self.told.bounds.push(bound);
                self.meter.note("Bound", || {
                    let end = if complete { "finished" } else { "left" };
                    format!("{} {end} after {executions} executions", bound.bound)
                });
                let result = self.meter.suspend(|| self.reporter.bound(&bound));
                if let Err(error) = result {
                    self.trouble.get_or_insert(error.into());
                }
            }
            Progress::Points { added } => {
                self.meter.note("Points", || format!("{added} more places where threads can be switched"));
            }
        }
    }

    /// Whether the first finding that counts is there.
    fn has_first(&self) -> bool {
        self.counted > 0 && self.executions > 0
    }

    /// Explains, stores and prints a bug; one that looks the same in the source is not told again.
    fn report(&mut self, found: &Found, executor: &mut dyn Executor) -> Result<()> {
        add_libraries(&mut self.symbols, executor);
        let explainer =
            Explainer { symbols: &self.symbols, load_address: self.load_address, patience: self.arguments.patience() };
        let mut finding = explainer.finding(executor, &found.bug, &found.repeat, found.execution)?;
        if let (false, Some(glimpse)) = (finding.confirmed, &found.glimpse) {
            finding = explainer.seen(glimpse, &found.bug, found.execution);
        }
        if self.ids.contains(&finding.id) {
            return Ok(());
        }
        self.told.unconfirmed.retain(|known| known.id != finding.id);
        if finding.confirmed {
            self.told.findings.push(finding.id.clone());
            return self.print(finding);
        }
        // It is told at the end, unless a later execution confirms it.
        self.told.unconfirmed.push(finding);
        Ok(())
    }

    fn tell_unconfirmed(&mut self) {
        for finding in std::mem::take(&mut self.told.unconfirmed) {
            if let Err(error) = self.print(finding) {
                self.trouble.get_or_insert(error);
            }
        }
    }

    /// Goes on where the hunt was, and tells again what it has told.
    fn recall(&mut self, kept: Kept) -> Result<()> {
        for bound in kept.bounds {
            self.told.bounds.push(bound);
            self.reporter.bound(&bound).context("cannot write the results")?;
        }
        for id in kept.findings {
            let mut stored = store::load(&self.arguments.out, &id)?;
            self.suppressions.apply(&mut stored.finding);
            self.counted += usize::from(stored.finding.counts());
            self.reporter.finding(&stored.finding).context("cannot write the results")?;
            self.ids.insert(id.clone());
            self.told.findings.push(id);
        }
        self.told.unconfirmed = kept.unconfirmed;
        Ok(())
    }

    /// What was explored, in the terms of the source.
    fn coverage(&mut self, summary: &Summary, executor: &dyn Executor, interrupted: bool) -> Coverage {
        add_libraries(&mut self.symbols, executor);
        let mut coverage = summary.coverage.clone();
        coverage.uncontrolled = uncontrolled(&self.symbols, &summary.escaped);
        coverage.assumes.push(format!("seed {}", self.arguments.seed));
        if interrupted {
            coverage.missed.insert(0, "interrupted before the end".to_owned());
        }
        coverage
    }

    fn print(&mut self, mut finding: Finding) -> Result<()> {
        self.ids.insert(finding.id.clone());
        self.suppressions.apply(&mut finding);
        self.counted += usize::from(finding.counts());
        let stored = Stored {
            version: store::VERSION,
            program: self.program.path.clone(),
            identity: self.symbols.binary().identity.clone(),
            arguments: self.arguments.arguments.clone(),
            input: self.program.input.clone(),
            finding,
        };
        store::save(&self.arguments.out, &stored)?;
        self.meter.note("Found", || {
            let Finding { id, execution, replayed: [again, tried], steps, .. } = &stored.finding;
            format!("{id} in execution {execution}, replayed {again}/{tried}, {} steps", steps.len())
        });
        self.meter.suspend(|| self.reporter.finding(&stored.finding)).context("cannot write the results")
    }
}

impl crate::arguments::Where {
    fn is_all(self) -> bool {
        Points::from(self) == Points::All
    }
}
