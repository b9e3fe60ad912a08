//! Executions settle what the analysis leaves open: one that shows a race proves it; if all executions show none, there
//! is no race.

use super::build::Built;
use super::{Scan, inputs};
use crate::session::add_libraries;
use crate::{Error, Event, Hunter, Observer, Setup, Subject, store, target};
use racehunter_analyses::{Options, Reduction, Suspects, Technique};
use racehunter_explain::Explainer;
use racehunter_explore::{Budget, Campaign, Executor, Found as Bug, OnBug, Stop};
use racehunter_finding::{Finding, Kind};
use racehunter_launch::Limits;
use racehunter_log::SiteId;
use racehunter_scan::{Models, Program, Report};
use racehunter_symbols::Symbols;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// The result of executions.
pub(super) enum Found {
    /// A race.
    Race(Box<Finding>),
    /// No race, but other executions are possible.
    Nothing {
        /// Their number.
        executions: u64,
    },
    /// No race, and no other executions are possible.
    Everything {
        /// Their number.
        executions: u64,
        /// What was covered.
        guarantee: String,
    },
}

/// Number of input sets to try.
const INPUTS: u32 = 24;
/// Time that each set gets at first.
const FIRST_SHARE: Duration = Duration::from_millis(250);
/// Maximum number of threads in an execution: programs that create threads without end are truncated.
const THREADS: u32 = 40;
/// Maximum number of events in an execution; fewer with inputs, because some inputs make programs run for ever.
const EVENTS: u64 = 200_000;
/// The limits with inputs, which alternate every [`SETS_ALIKE`] sets: most races need few events, and a low limit
/// allows more executions of programs that run for ever.
const EVENTS_WITH_INPUTS: [u64; 2] = [20_000, 2_000];
const SETS_ALIKE: u32 = 4;

/// The share of the time for a proof by all schedules.
const SHARE_OF_ALL: u32 = 6;

/// Number of suspected pairs to which executions are steered.
const SUSPECTS: usize = 64;
/// Number of steered executions for each execution of the other techniques.
const SHARE_OF_SUSPECTS: u32 = 2;

/// Returns the pairs of instructions that the analysis suspects, the most convincing first.
fn suspected(report: &Report) -> Vec<[SiteId; 2]> {
    let mut known = HashSet::new();
    let sites = report.pairs.iter().filter_map(|pair| {
        let [first, second] = pair.sides.each_ref().map(|side| side.site);
        let (first, second) = (first?, second?);
        Some([first.min(second), first.max(second)].map(SiteId))
    });
    sites.filter(|pair| known.insert(*pair)).take(SUSPECTS).collect()
}

/// Executes the program until it shows a race, the time is up, or nothing is left.
pub(super) fn search(
    scan: &Scan,
    built: &Built,
    program: &Program,
    report: &Report,
    is_closed: bool,
    observer: &mut dyn Observer,
) -> Result<Found, Error> {
    let path = built.executable(program)?;
    let mut symbols = Some(target::symbols(&path)?);
    let has_inputs = inputs::any(program, &Models::default());
    let pool = inputs::pool(program);
    let (suspected, wanted) = (suspected(report), inputs::wanted(report));
    let mut executions = 0;
    let mut round = |way: Way, words: Vec<String>, max_events: u64, share: Duration| {
        let until = scan.deadline.min(scan.clock.now() + share);
        let inputs = words.join(" ");
        let spurious = report.waits;
        let round = Round { scan, path: &path, words, max_events, until, suspected: &suspected, spurious, way };
        let result = round.run(&mut symbols)?;
        executions += result.executions;
        let (race, total) = (result.race.is_some(), executions);
        observer.notice(Event::Executed { executions: result.executions, total, inputs: &inputs, race });
        Ok::<_, Error>(result)
    };
    let left = || scan.clock.until(scan.deadline);
    if !scan.arguments.is_empty() {
        let result = round(Way::Some, scan.arguments.clone(), EVENTS, left() / 2)?;
        if let Some(finding) = result.race {
            return Ok(Found::Race(Box::new(finding)));
        }
    }
    if !has_inputs {
        // If all schedules would be a proof, run them one after the other: small programs have few.
        let ways = [(Way::All, left() / SHARE_OF_ALL), (Way::Some, left() / 2)];
        for (way, share) in ways.into_iter().skip(usize::from(!is_closed)) {
            let result = round(way, Vec::new(), EVENTS, share)?;
            if let Some(finding) = result.race {
                return Ok(Found::Race(Box::new(finding)));
            }
            if let Some(guarantee) = result.everything {
                return Ok(Found::Everything { executions, guarantee });
            }
        }
    }
    // Try many sets for a short time, then again for longer.
    let mut share = FIRST_SHARE;
    while !left().is_zero() {
        let mut is_all = true;
        for number in 0..INPUTS {
            if left().is_zero() {
                break;
            }
            let max_events = EVENTS_WITH_INPUTS[(number / SETS_ALIKE) as usize % EVENTS_WITH_INPUTS.len()];
            let result = round(Way::Some, vec![inputs::argument(&pool, &wanted, number)], max_events, share)?;
            if let Some(finding) = result.race {
                return Ok(Found::Race(Box::new(finding)));
            }
            is_all &= result.exhausted;
        }
        if is_all {
            break;
        }
        share *= 3;
    }
    Ok(Found::Nothing { executions })
}

/// Returns true if a finding is a race: two unordered accesses, one of which may be a later `free`. A use after a free
/// may be ordered, and is then a different bug.
fn is_race(finding: &Finding) -> bool {
    match (finding.kind, &finding.sites[..]) {
        (Kind::DataRace, _) => true,
        (Kind::UseAfterFree, [used, freed]) => freed.access == "free" && used.thread != freed.thread,
        _ => false,
    }
}

/// Executions with one set of inputs.
struct Round<'a> {
    scan: &'a Scan,
    path: &'a Path,
    words: Vec<String>,
    max_events: u64,
    until: Instant,
    suspected: &'a [[SiteId; 2]],
    /// True if waits on condition variables may end spuriously.
    spurious: bool,
    way: Way,
}

/// Which schedules are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// All of them.
    All,
    /// Those that are likely to show a race.
    Some,
}

struct Outcome {
    executions: u64,
    race: Option<Finding>,
    everything: Option<String>,
    exhausted: bool,
}

impl Round<'_> {
    /// Executes the program. The symbols, which take long to load, are reused in later rounds.
    fn run(&self, symbols: &mut Option<Symbols>) -> Result<Outcome, Error> {
        let subject = Subject {
            path: self.path.to_owned(),
            arguments: self.words.clone(),
            input: None,
            client: None,
            libraries: None,
        };
        let clock = &self.scan.clock;
        let share = clock.until(self.until);
        let time = (share / 4).clamp(Duration::from_millis(300), Duration::from_secs(5));
        let limits = Limits { time, memory_kib: 1 << 20, ..Limits::default() };
        let setup = Setup { limits, jobs: self.scan.jobs, ..Setup::new(clock.clone()) };
        let known = match symbols.take() {
            Some(symbols) => symbols,
            None => target::symbols(self.path)?,
        };
        let mut hunter = Hunter::start(subject, known, setup)?;
        let outcome = self.explore(&mut hunter);
        *symbols = Some(hunter.into_symbols());
        outcome
    }

    fn explore(&self, hunter: &mut Hunter) -> Result<Outcome, Error> {
        let identity = hunter.identity().to_owned();
        let Hunter { subject, symbols, processes, clock, .. } = hunter;
        // Threads can be switched there from the start: a thread that runs for ever would not let others show that
        // memory is shared.
        let points: Vec<u32> = self.suspected.iter().flatten().map(|site| site.logged()).collect();
        processes.add_points(&points);
        let load_address = processes.load_address();
        let symbols = RefCell::new(symbols);
        let race: RefCell<Option<Finding>> = RefCell::new(None);
        let done = Cell::new(false);
        let mut on_bug = OnBug(|found: &Bug, executor: &mut dyn Executor| {
            if race.borrow().is_none()
                && let Some(finding) = self.confirmed(found, executor, &mut symbols.borrow_mut(), load_address)
            {
                // A finding that cannot be stored still counts.
                let _ = store::save(&self.scan.out, &subject.stored(identity.clone(), false, finding.clone()));
                *race.borrow_mut() = Some(finding);
                done.set(true);
            }
        });
        let budget =
            Budget { max_events: self.max_events, max_threads: THREADS, spurious: self.spurious, ..Budget::default() };
        let options = Options { bound: 3, reduction: None, ..Options::default() };
        let suspects = Suspects::new(self.suspected.to_vec(), options.seed);
        let portfolio = match self.way {
            Way::All => Technique::Dfs.portfolio(&Options { reduction: Some(Reduction::Caching), ..options }),
            Way::Some => Technique::Auto.portfolio(&options).with(SHARE_OF_SUSPECTS, suspects),
        };
        let campaign = Campaign::new(portfolio, budget, &mut on_bug);
        let mut should_stop = || done.get() || clock.now() >= self.until;
        let summary = campaign.run(processes, &mut should_stop);
        if let Stop::Failed(error) = summary.stop {
            return Err(error.into());
        }
        let everything = (summary.claims.iter().find(|claim| claim.everything && !claim.divided)).filter(|_| {
            summary.coverage.complete
                && summary.escaped.iter().all(|escaped| escaped.what.is_assumption())
                && summary.found.is_empty()
        });
        let exhausted = matches!(summary.stop, Stop::Exhausted);
        Ok(Outcome {
            executions: summary.coverage.executions,
            everything: everything.map(|claim| claim.words.clone()),
            race: race.into_inner(),
            exhausted,
        })
    }

    /// Returns the race, if it is one and every replay shows it.
    fn confirmed(
        &self,
        found: &Bug,
        executor: &mut dyn Executor,
        symbols: &mut Symbols,
        load_address: u64,
    ) -> Option<Finding> {
        if !matches!(found.bug, racehunter_explore::Bug::Race(..)) {
            return None;
        }
        add_libraries(symbols, executor);
        let left = self.scan.clock.until(self.until);
        let patience = (left / 4).clamp(Duration::from_millis(100), Duration::from_secs(2));
        let explainer = Explainer { symbols, load_address, patience, until: None, infers: true };
        let finding = explainer.finding(executor, &found.bug, &found.repeat, found.execution).ok()?;
        if !finding.confirmed || !is_race(&finding) {
            return None;
        }
        Some(finding)
    }
}
