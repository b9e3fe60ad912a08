//! `racehunter hunt`

use crate::arguments::{Detector, Hunt, MessageFormat};
use crate::campaign::{Identity, Keeper, Kept, Told};
use crate::ending::{self, Interrupts};
use crate::exit::{Exit, advise};
use crate::figures::{self, measure};
use crate::files;
use crate::pace::Pace;
use crate::progress::Meter;
use crate::store::{self, Stored};
use crate::suppressions::Suppressions;
use crate::target as targets;
use anyhow::{Context as _, Result};
use racehunter_analyses::{Claims, Options, Technique};
use racehunter_explain::{Explainer, uncontrolled};
use racehunter_explore::{
    Budget, Bug, Campaign, Endings, Execution, Executor, ExecutorError, Found, Objects, Outcome, Plan, Points,
    Progress, Stop, Summary,
};
use racehunter_finding::{Coverage, Figures, Finding};
use racehunter_launch::{Limits, Processes, Program, Shared, StopSign};
use racehunter_report::{Bound, ColorChoice, Reporter, clean, messages};
use racehunter_symbols::Symbols;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Stdout, Write, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
    files::check_out(&arguments.out)?;
    let mut budget = budget(arguments);
    let meter = Meter::new(arguments.quiet, arguments.verbose, budget.runs, arguments.time);
    let path = targets::prepare(target, arguments.cflags.as_deref(), &arguments.out, arguments.selective)?;
    meter.note("Program", || path.display().to_string());
    let mut symbols = targets::symbols(&path)?;
    let interrupts = Interrupts::catch()?;
    let interrupted = interrupts.flag();
    let program =
        Program { path: path.clone(), arguments: words(&arguments.arguments), input: arguments.input.clone() };
    let jobs = arguments.jobs.unwrap_or_else(|| default_jobs(arguments));
    let limits = Limits { time: arguments.timeout(), memory_kib: arguments.memory << 10, ..Limits::default() };
    let mut processes = Processes::start(program.clone(), limits, jobs)?;
    processes.use_backend(arguments.backend.into());
    processes.share(Shared { output: arguments.check_output, ..arguments.world.into() });
    processes.prepare(arguments.preparatory);
    let stop = StopSign::new(Arc::clone(&interrupted));
    processes.stop_when(stop.clone());
    add_modules(&mut symbols, &processes, &path);
    if arguments.points.is_all() {
        processes.make_all_points();
    }
    let (free, Budget { detect_races, infer_races, .. }) = (arguments.free_running, budget);
    let first = processes.run(&[Plan { max_events: LOOK, free, detect_races, infer_races, ..Plan::default() }])?.pop();
    if let Some(first) = &first
        && let Some(exit) = nothing_to_explore(first, target, arguments.free_running)?
    {
        return Ok(exit);
    }
    let fails = |outcome: &Outcome| matches!(outcome, Outcome::Exited(status) if !budget.allowed.contains(*status));
    let failed_at_first = first.as_ref().filter(|first| !first.bugs().is_empty() || fails(&first.outcome));
    let failed_at_first = failed_at_first.map(|first| first.outcome.clone());

    let figures = arguments.provokes_pairs().then(|| measure(&mut processes, &meter)).transpose()?;
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
        late: Vec::new(),
        waiting: Vec::new(),
        pace: Pace::new(began, arguments.time, stop),
        failed_at_first,
        complained: false,
        executions: 0,
        figures,
    });
    let mut should_stop = || {
        interrupted.load(Ordering::Relaxed)
            || hunter.borrow().is_over()
            || arguments.stop_on_first && !suppressions.is_empty() && hunter.borrow().has_first()
    };
    let mut on_progress = |progress: Progress<'_>| hunter.borrow_mut().tell(progress);
    let mut campaign = Campaign::new(portfolio, budget, &mut on_progress);
    // What an execution leaves behind, others may find: a file, say.
    first.iter().for_each(|first| campaign.has_seen(first));
    if arguments.resume {
        let (kept, mut state) = keeper.open()?;
        campaign.resume(&mut state, &mut processes).context("the campaign cannot be resumed")?;
        hunter.borrow_mut().recall(kept)?;
    }
    let mut keep = |campaign: &Campaign<'_>, stop: Stop, processes: &Processes| {
        let mut hunter = hunter.borrow_mut();
        let summary = campaign.summary(stop);
        let mut coverage = hunter.coverage(&summary, processes, interrupted.load(Ordering::Relaxed));
        coverage.figures = hunter.figures.clone().map(|figures| Figures {
            memory_kib: figures::peak_memory(),
            verified_us: figures::microseconds(keeper.elapsed()),
            ..figures
        });
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
    let waiting = std::mem::take(&mut hunter.borrow_mut().waiting);
    for (number, found) in waiting.iter().enumerate() {
        let later = waiting.len() - 1 - number;
        if interrupted.load(Ordering::Relaxed) || !hunter.borrow_mut().report_late(found, later, &mut processes) {
            campaign.forget(&found.bug);
        }
    }
    let (summary, coverage, _) = keep(&campaign, stop, &processes);
    drop(campaign);
    let mut hunter = hunter.into_inner();
    hunter.meter.finish();
    hunter.tell_late(&summary.endings);
    let counted = hunter.counted;
    hunter.tell_unconfirmed();
    if let Some(figures) = &coverage.figures {
        hunter.meter.note("Figures", || figures::in_words(figures));
    }
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
    Ok(ending::exit(counted, &coverage, arguments.require_complete, interrupts.signal()))
}

/// As many executions at a time as the machine has processors. Those that run freely change files for all to see, and wait by
/// the clock: one at a time does not disturb others.
fn default_jobs(arguments: &Hunt) -> usize {
    if arguments.free_running { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) }
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
            format!("with --free-running there are {}", free_names()),
        ));
    }
    if arguments.free_running && !arguments.partition.is_whole() {
        return Err(advise("executions that run freely cannot be divided", "hunt without --partition"));
    }
    Ok(())
}

/// The techniques that need no control, besides `auto`, which is one of them then.
fn free_names() -> String {
    let free = |technique: &Technique| technique.runs_freely() && *technique != Technique::Auto;
    Technique::ALL.into_iter().filter(free).map(Technique::name).collect::<Vec<_>>().join(" and ")
}

/// Arguments as the system wants them.
pub fn words(arguments: &[String]) -> Vec<OsString> {
    arguments.iter().map(OsString::from).collect()
}

fn budget(arguments: &Hunt) -> Budget {
    let ends = arguments.analysis.row().claims == Claims::Coverage;
    let default_runs = (!ends && arguments.time.is_none()).then_some(DEFAULT_RUNS);
    Budget {
        runs: arguments.runs.or(default_runs),
        stop_on_first: arguments.stop_on_first,
        points: arguments.points.into(),
        detect_races: arguments.detector() != Detector::None,
        infer_races: arguments.detector() == Detector::HappensBefore,
        spurious: !arguments.no_spurious,
        check_output: arguments.check_output,
        allowed: arguments.allow_exit_status.allowed(),
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
        symbols.add_module(mapping.base, mapping.end, mapping.path);
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

/// Sees from one execution whether there is anything to explore.
fn nothing_to_explore(first: &Execution, target: &Path, free: bool) -> Result<Option<Exit>> {
    let name = target.display();
    if let (true, Outcome::Lost(why)) = (free, &first.outcome) {
        return Err(advise(format!("`{name}`: {why}"), "hunt it without --free-running"));
    }
    if first.threads > 1 {
        return Ok(None);
    }
    let output = String::from_utf8_lossy(&first.output);
    let last = clean(output.lines().last().unwrap_or_default().trim());
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
    /// Failing exit statuses whose findings are printed when the hunt ends.
    late: Vec<(i32, Stored)>,
    /// Bugs that are explained in the end, because explaining has had its share of the time.
    waiting: Vec<Found>,
    pace: Pace,
    /// How the execution ended that looked whether there is anything to explore, if it failed.
    failed_at_first: Option<Outcome>,
    /// That findings cannot be stored was told.
    complained: bool,
    /// Executions so far. What is found before the first one, while points are looked for, does not end the hunt yet.
    executions: u64,
    /// What a monitored execution was like, for those who provoke pairs of accesses.
    figures: Option<Figures>,
}

impl Hunter<'_> {
    fn tell(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Execution { number, waiting, remaining } => {
                self.executions = number;
                self.meter.execution(number, waiting, remaining, self.ids.len());
            }
            Progress::Bug { found, executor } => {
                if !self.pace.explains_now() {
                    self.waiting.push(found.clone());
                    return;
                }
                if !self.report_late(found, self.waiting.len(), executor) {
                    self.waiting.push(found.clone());
                }
            }
            Progress::Stage { bound, rank, executions, complete } => {
                let (variables, threads) = (rank.map(|rank| rank.variables), rank.map(|rank| rank.threads));
                let iterations = rank.map(|rank| rank.iterations);
                let bound = Bound { bound, variables, threads, iterations, executions, complete };
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

    /// Whether it is time to stop exploring.
    fn is_over(&self) -> bool {
        self.pace.is_over(self.waiting.len())
    }

    /// Explains, stores and prints a bug; `waiting` is the number of bugs that wait. Returns false when time ran out.
    fn report_late(&mut self, found: &Found, waiting: usize, executor: &mut dyn Executor) -> bool {
        if self.pace.is_at_its_end() {
            return false;
        }
        self.report(found, waiting, executor).unwrap_or_else(|error| {
            self.trouble.get_or_insert(error);
            true
        })
    }

    /// The same; one that looks like another in the source is not told again.
    fn report(&mut self, found: &Found, waiting: usize, executor: &mut dyn Executor) -> Result<bool> {
        add_libraries(&mut self.symbols, executor);
        let (symbols, load_address) = (&self.symbols, self.load_address);
        let infers = self.arguments.detector() == Detector::HappensBefore;
        let finding = self.pace.explain(waiting, |patience| {
            let explainer = Explainer { symbols, load_address, patience, infers };
            let finding = explainer.look_into(executor, &found.bug, &found.repeat, found.execution)?;
            Ok::<_, ExecutorError>(match (&finding, &found.unreplayable) {
                (None, Some(unreplayable)) | (Some(Finding { confirmed: false, .. }), Some(unreplayable)) => {
                    Some(explainer.seen(unreplayable, &found.bug, found.execution))
                }
                _ => finding,
            })
        })?;
        let Some(finding) = finding else { return Ok(false) };
        self.tell_finding(found, finding)?;
        Ok(true)
    }

    fn tell_finding(&mut self, found: &Found, finding: Finding) -> Result<()> {
        if self.ids.contains(&finding.id) {
            return Ok(());
        }
        self.told.unconfirmed.retain(|known| known.id != finding.id);
        if finding.confirmed {
            self.told.findings.push(finding.id.clone());
            // Whether all schedules end like that is known in the end.
            if let (Bug::ExitStatus(status), 0) = (&found.bug, finding.preemptions) {
                let stored = self.keep(finding);
                self.late.push((*status, stored));
                return Ok(());
            }
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
            let mut stored = match store::load(&self.arguments.out, &id) {
                Ok(stored) => stored,
                Err(error) => {
                    // It was confirmed when it was found, and counts.
                    eprintln!("warning: finding `{id}` of this campaign cannot be told again: {error:#}");
                    self.counted += 1;
                    self.told.findings.push(id);
                    continue;
                }
            };
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
        let limits = ending::Limits { time: self.arguments.timeout(), memory_mib: self.arguments.memory };
        let mut seen = self.told.unconfirmed.clone();
        seen.iter_mut().for_each(|finding| self.suppressions.apply(finding));
        let seen = seen.iter().filter(|finding| finding.suppressed.is_none()).count();
        if self.counted == 0 {
            coverage.unclear = ending::unclear(summary, limits, seen);
            let is_explained = !self.ids.is_empty() || !self.told.unconfirmed.is_empty();
            if let (Some(outcome), false) = (&self.failed_at_first, is_explained) {
                coverage.unclear.push(ending::failed_at_first(outcome));
            }
        }
        coverage.complete &= coverage.unclear.is_empty();
        coverage
    }

    fn print(&mut self, finding: Finding) -> Result<()> {
        let stored = self.keep(finding);
        self.show(&stored)
    }

    /// Counts and stores a finding. One that cannot be stored is a finding all the same.
    fn keep(&mut self, mut finding: Finding) -> Stored {
        self.ids.insert(finding.id.clone());
        self.suppressions.apply(&mut finding);
        self.counted += usize::from(finding.counts());
        let mut stored = Stored {
            version: store::VERSION,
            program: self.program.path.clone(),
            identity: self.symbols.binary().identity.clone(),
            arguments: self.arguments.arguments.clone(),
            input: self.program.input.clone(),
            checks_output: self.arguments.check_output,
            finding,
        };
        self.save(&mut stored);
        stored
    }

    fn save(&mut self, stored: &mut Stored) {
        let Err(error) = store::save(&self.arguments.out, stored) else { return };
        stored.finding.notes.push(messages::not_kept(&stored.finding.id));
        if !std::mem::replace(&mut self.complained, true) {
            self.meter.suspend(|| eprintln!("warning: findings cannot be kept: {error:#}"));
        }
    }

    fn show(&mut self, stored: &Stored) -> Result<()> {
        self.meter.note("Found", || {
            let Finding { id, execution, replayed: [again, tried], steps, .. } = &stored.finding;
            format!("{id} in execution {execution}, replayed {again}/{tried}, {} steps", steps.len())
        });
        self.meter.suspend(|| self.reporter.finding(&stored.finding)).context("cannot write the results")
    }

    /// Tells what had to wait for the end, when it is known whether all schedules are like that.
    fn tell_late(&mut self, endings: &Endings) {
        for (status, mut stored) in std::mem::take(&mut self.late) {
            if endings.always(status) {
                stored.finding.notes.push(messages::every_schedule(status, endings.completed));
                self.save(&mut stored);
            }
            if let Err(error) = self.show(&stored) {
                self.trouble.get_or_insert(error);
            }
        }
    }
}

impl crate::arguments::Where {
    fn is_all(self) -> bool {
        Points::from(self) == Points::All
    }
}
