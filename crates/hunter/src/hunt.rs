//! Hunting: a campaign over a program, and what becomes of the bugs that it shows.

use crate::campaign::{Identity, Keeper};
use crate::figures::{self, measure};
use crate::findings::Findings;
use crate::world::{Surroundings, World};
use crate::{Error, Event, Hunter, Observer, Suppressions};
use racehunter_analyses::{Aliases, Options, Technique};
use racehunter_explore::{
    Budget, Campaign, Execution, Executor, Found, Objects, Outcome as Ending, Part, Plan, Points, Progress, Stop,
    Watcher,
};
use racehunter_finding::{Coverage, Figures};
use racehunter_log::SiteId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is hunted for, and how.
pub struct Hunt<'a> {
    /// The name of the program, as the user knows it.
    pub name: &'a Path,
    /// How schedules are chosen.
    pub technique: Technique,
    /// Its options.
    pub options: Options,
    /// Count arrays, structures and heap blocks as one variable each.
    pub whole_objects: bool,
    /// Whether an execution is monitored first: the techniques that provoke pairs of accesses report figures about it.
    pub provokes_pairs: bool,
    /// How much is explored, and at which points.
    pub budget: Budget,
    /// Time for the whole hunt.
    pub time: Option<Duration>,
    /// When it began.
    pub began: Instant,
    /// Where findings and the state of the hunt are kept.
    pub out: &'a Path,
    /// The options that decide which schedules are run, as they would be written.
    pub settings: Vec<String>,
    /// The words of the command line, from which the hunt can be started again.
    pub words: Vec<String>,
    /// What the program inherits from the command.
    pub surroundings: Surroundings,
    /// Go on with a hunt that ended early.
    pub resume: bool,
    /// Findings that do not count.
    pub suppressions: &'a Suppressions,
}

/// What came of a hunt.
#[derive(Debug)]
pub enum Outcome {
    /// There was nothing to explore.
    Nothing(NothingToExplore),
    /// What was explored.
    Hunted(Box<Hunted>),
}

/// The program ended without creating a thread.
#[derive(Debug)]
pub struct NothingToExplore {
    /// Its exit status.
    pub status: i32,
    /// The last line that it wrote.
    pub last_line: String,
}

/// The sum of a hunt.
#[derive(Debug)]
pub struct Hunted {
    /// What was explored.
    pub coverage: Coverage,
    /// Time that the hunt took, earlier runs of the same campaign included.
    pub elapsed: Duration,
    /// Findings that count: confirmed and not suppressed.
    pub counted: usize,
}

/// Events after which a program without a second thread is taken for one that will create it.
const LOOK: u64 = 4_000_000;

impl Hunt<'_> {
    /// Refuses combinations that make no sense: dividing what cannot be divided, or running threads freely although the
    /// technique needs their schedule.
    ///
    /// # Errors
    /// When that is asked for.
    pub fn check(technique: Technique, free_running: bool, part: Part) -> Result<(), Error> {
        if !part.is_whole() && !technique.divides() {
            return Err(Error::Undividable(technique));
        }
        if free_running && !technique.runs_freely() {
            return Err(Error::NeedsControl(technique));
        }
        if free_running && !part.is_whole() {
            return Err(Error::FreeAndDivided);
        }
        Ok(())
    }
}

impl Hunter {
    /// Hunts.
    ///
    /// # Errors
    /// When nothing can be executed, or a campaign cannot be resumed. What was found until then was observed.
    pub fn hunt(&mut self, hunt: &Hunt<'_>, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        let suppressions = hunt.suppressions;
        let mut budget = hunt.budget;
        Hunt::check(hunt.technique, hunt.options.free_running, budget.part)?;
        if budget.points == Points::All {
            self.processes.make_all_points();
        }
        let first = self.first_execution(hunt)?;
        if let Some(nothing) = first.as_ref().and_then(nothing_to_explore) {
            return Ok(Outcome::Nothing(nothing));
        }
        let figures = match hunt.provokes_pairs {
            true => Some(measure(&mut self.processes, &self.clock)?),
            false => None,
        };
        figures.iter().for_each(|figures| observer.notice(Event::Monitored(figures)));
        observer.notice(Event::Searching);
        // The first finding that counts ends the hunt, and only suppressions tell whether one counts.
        let stop_on_first = budget.stop_on_first && !suppressions.is_empty();
        budget.stop_on_first &= suppressions.is_empty();
        let identity = Identity::new(&self.subject, hunt.settings.clone());
        let build = self.identity().to_owned();
        let mut world = self.world(&hunt.surroundings);
        // Threads that run freely do not do the same twice.
        first.iter().filter(|_| !hunt.options.free_running).for_each(|first| world.set_first(first));
        let clock = self.clock.clone();
        let mut keeper = Keeper::new(hunt, identity, &build, world.clone(), clock.clone());
        let portfolio = hunt.technique.portfolio(&Options {
            objects: hunt.whole_objects.then(|| self.objects()),
            aliases: self.aliases(hunt),
            ..hunt.options.clone()
        });
        let (processes, mut findings) = Findings::of(self, hunt, world, observer);
        findings.set_first(first.as_ref());
        let findings = RefCell::new(findings);
        let mut should_stop = || {
            let findings = findings.borrow();
            findings.is_interrupted() || findings.is_over() || stop_on_first && findings.has_first()
        };
        let mut watcher = Collector(&findings);
        let mut campaign = Campaign::new(portfolio, budget, &mut watcher);
        // What an execution leaves behind, others may find: a file, say.
        first.iter().for_each(|first| campaign.has_seen(first));
        if hunt.resume {
            let (kept, mut state) = keeper.open()?;
            campaign.resume(&mut state, processes).map_err(Error::Resume)?;
            findings.borrow_mut().recall(kept);
        }
        let mut keep = |campaign: &Campaign<'_>, stop: Stop, executor: &dyn Executor| {
            let mut findings = findings.borrow_mut();
            let summary = campaign.summary(stop);
            executor.libraries().iter().for_each(|(_, path)| keeper.add_library(path));
            let mut coverage = findings.coverage(&summary, executor);
            coverage.figures = figures.clone().map(|figures| Figures {
                memory_kib: figures::peak_memory(),
                verified_us: figures::microseconds(keeper.elapsed()),
                ..figures
            });
            if let Some(error) = keeper.save(campaign, &summary, coverage.clone(), findings.reported()) {
                findings.warn_about_campaign(&error);
            }
            (summary, coverage, keeper.due(), keeper.elapsed())
        };
        let mut due = clock.now();
        let stop = campaign.run_with(processes, &mut should_stop, &mut |campaign, executor| {
            if clock.now() >= due {
                (_, _, due, _) = keep(campaign, Stop::Asked, executor);
            }
        });
        let waiting = findings.borrow_mut().take_waiting();
        for (number, found) in waiting.iter().enumerate() {
            let later = waiting.len() - 1 - number;
            let mut findings = findings.borrow_mut();
            if findings.is_interrupted() || !findings.report_late(found, later, processes) {
                campaign.forget(&found.bug);
            }
        }
        let (summary, coverage, _, elapsed) = keep(&campaign, stop, processes);
        drop(campaign);
        let counted = findings.into_inner().finish(&summary.endings)?;
        if let Stop::Failed(error) = summary.stop {
            return Err(error.into());
        }
        Ok(Outcome::Hunted(Box::new(Hunted { coverage, elapsed, counted })))
    }

    /// Looks whether there is anything to explore.
    fn first_execution(&mut self, hunt: &Hunt<'_>) -> Result<Option<Execution>, Error> {
        let Budget { detect_races, infer_races, .. } = hunt.budget;
        let free = hunt.options.free_running;
        let first = self.run_one(Plan { max_events: LOOK, free, detect_races, infer_races, ..Plan::default() })?;
        match first.as_ref().map(|first| &first.outcome) {
            Some(Ending::Lost(why)) if free => {
                Err(Error::LostFreely { program: hunt.name.to_path_buf(), why: why.clone() })
            }
            _ => Ok(first),
        }
    }

    /// What the program finds besides its arguments.
    pub(crate) fn world(&self, surroundings: &Surroundings) -> World {
        let mut world = World::new(surroundings, &self.subject.path, self.subject.input.as_deref());
        for mapping in self.processes.mappings().iter().filter(|mapping| mapping.path != self.subject.path) {
            world.add_library(&mapping.path);
        }
        world
    }

    /// Which places of the program may access the same memory, for walks that observe some of them. The places that are seen to
    /// are a check: every 32nd walk observes all.
    fn aliases(&self, hunt: &Hunt<'_>) -> Option<Aliases> {
        if !hunt.options.selective || hunt.technique != Technique::PctVb {
            return None;
        }
        let modules = racehunter_ir::read_numbered_program(&self.subject.path).ok()?;
        let program = racehunter_scan::Program::link(modules);
        let racehunter_scan::Aliases { places, objects } =
            racehunter_scan::aliases(&program, &racehunter_scan::Models::default())?;
        // As records number them.
        let logged = |sites: BTreeMap<u32, BTreeSet<u32>>| {
            let number = |site: u32| SiteId(site).logged();
            sites.into_iter().map(|(site, others)| (number(site), others.into_iter().map(number).collect())).collect()
        };
        Some(Aliases { places: logged(places), objects: logged(objects) })
    }

    /// The globals of the program, as wholes.
    fn objects(&self) -> Objects {
        let load_address = self.processes.load_address();
        Objects::new(self.symbols.globals().map(|global| global.start + load_address..global.end + load_address))
    }
}

/// Collects what a campaign finds, for others to read at the same time.
struct Collector<'f, 'a>(&'f RefCell<Findings<'a>>);

impl Watcher for Collector<'_, '_> {
    fn progress(&mut self, progress: Progress) {
        self.0.borrow_mut().note(progress);
    }

    fn bug(&mut self, found: &Found, executor: &mut dyn Executor) {
        self.0.borrow_mut().take(found, executor);
    }
}

/// Tells from one execution whether there is nothing to explore. A failure is never nothing: the hunt reports it.
fn nothing_to_explore(first: &Execution) -> Option<NothingToExplore> {
    let Ending::Exited(status) = first.outcome else { return None };
    let output = String::from_utf8_lossy(&first.output);
    let last_line = output.lines().last().unwrap_or_default().trim().to_owned();
    (first.threads <= 1).then_some(NothingToExplore { status, last_line })
}
