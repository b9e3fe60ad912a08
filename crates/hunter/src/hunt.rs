//! Hunting: runs a campaign over a program, and handles the bugs that it shows.

use crate::campaign::{Identity, Keeper};
use crate::figures::{self, measure};
use crate::findings::Findings;
use crate::fleet::{End, Fleet, Leader, Notice};
use crate::world::{Surroundings, World};
use crate::{Error, Event, Hunter, Observer, Suppressions};
use racehunter_analyses::{Aliases, Options, Technique};
use racehunter_explore::{
    Budget, Campaign, Execution, Executor, Found, Objects, Outcome as Ending, Part, Plan, Points, Portfolio, Progress,
    Stop, Watcher,
};
use racehunter_finding::{Coverage, Figures};
use racehunter_launch::LaunchError;
use racehunter_log::SiteId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The parameters of a hunt.
pub struct Hunt<'a> {
    /// The name of the program, as the user knows it.
    pub name: &'a Path,
    /// How schedules are chosen.
    pub technique: Technique,
    /// Its options.
    pub options: Options,
    /// Count arrays, structures and heap blocks as one variable each.
    pub whole_objects: bool,
    /// True if an execution is monitored first: techniques that provoke pairs of accesses report figures about it.
    pub provokes_pairs: bool,
    /// How much to explore, and at which points.
    pub budget: Budget,
    /// Time for the whole hunt.
    pub time: Option<Duration>,
    /// When the hunt began.
    pub began: Instant,
    /// Directory for findings and the state of the hunt.
    pub out: &'a Path,
    /// The options that decide which schedules are run, as on the command line.
    pub settings: Vec<String>,
    /// The words of the command line, from which the hunt can be started again.
    pub words: Vec<String>,
    /// What the program inherits from the command.
    pub surroundings: Surroundings,
    /// Resume a hunt that ended early.
    pub resume: bool,
    /// Findings that do not count.
    pub suppressions: &'a Suppressions,
}

/// The result of a hunt.
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

/// The results of a hunt.
#[derive(Debug)]
pub struct Hunted {
    /// What was explored.
    pub coverage: Coverage,
    /// Duration of the hunt, including earlier runs of the same campaign.
    pub elapsed: Duration,
    /// Findings that count: confirmed and not suppressed.
    pub counted: usize,
}

/// Number of events after which a program is assumed to create a second thread later.
const LOOK: u64 = 4_000_000;

impl Hunt<'_> {
    /// Returns the time limit of one execution, if the user sets none: a part of the time for the whole hunt.
    #[must_use]
    pub fn execution_time(whole: Option<Duration>) -> Duration {
        const USUAL: Duration = Duration::from_secs(10);
        const LEAST: Duration = Duration::from_millis(500);
        whole.map_or(USUAL, |time| (time / 8).clamp(LEAST, USUAL))
    }

    /// Refuses combinations that make no sense: dividing a technique that cannot be divided, or running threads freely
    /// although the technique needs their schedule.
    ///
    /// # Errors
    /// If that is asked for.
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
    /// If nothing can be executed, or a campaign cannot be resumed. The observer has seen all findings until
    /// then.
    pub fn hunt(&mut self, hunt: &Hunt<'_>, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.hunt_on(hunt, None, observer)
    }

    /// Hunts with the workers of a fleet, if there is one.
    ///
    /// # Errors
    /// If nothing can be executed, a campaign cannot be resumed, or the engine of the fleet fails. The observer has seen
    /// all findings until then.
    pub fn hunt_on(
        &mut self,
        hunt: &Hunt<'_>,
        mut fleet: Option<Fleet<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let suppressions = hunt.suppressions;
        let mut budget = hunt.budget;
        Hunt::check(hunt.technique, hunt.options.free_running, budget.part)?;
        if budget.points == Points::All {
            self.processes.make_all_points();
        }
        let first = self.first_execution(hunt)?;
        if let Some(nothing) = first.as_ref().and_then(nothing_to_explore) {
            if let Some(why) = racehunter_launch::why_no_threads() {
                let name = &self.subject.path;
                return Err(LaunchError::Trouble(format!("`{}` created no thread: {why}", name.display())).into());
            }
            return Ok(Outcome::Nothing(nothing));
        }
        let figures = match hunt.provokes_pairs {
            true => Some(measure(&mut self.processes, &self.clock)?),
            false => None,
        };
        figures.iter().for_each(|figures| observer.notice(Event::Monitored(figures)));
        observer.notice(Event::Searching);
        // The first finding that counts ends the hunt, and only suppressions decide whether one counts.
        let stop_on_first = budget.stop_on_first && !suppressions.is_empty();
        budget.stop_on_first &= suppressions.is_empty();
        let identity = Identity::new(&self.subject, hunt.settings.clone());
        let build = self.identity().to_owned();
        let mut world = self.world(&hunt.surroundings);
        // Free-running threads do not repeat an execution.
        first.iter().filter(|_| !hunt.options.free_running).for_each(|first| world.set_first(first));
        let clock = self.clock.clone();
        let mut keeper = Keeper::new(hunt, identity, &build, world.clone(), clock.clone());
        let options = self.options(hunt);
        let portfolio = || hunt.technique.portfolio(&options);
        let announcement = match &fleet {
            Some(fleet) => Some(self.announcement(hunt, fleet, first.as_ref())?),
            None => None,
        };
        let (processes, mut findings) = Findings::of(self, hunt, world, observer);
        findings.set_first(first.as_ref());
        if fleet.is_some() {
            findings.set_divided();
        }
        let findings = RefCell::new(findings);
        let mut should_stop = || {
            let findings = findings.borrow();
            findings.is_interrupted() || findings.is_over() || stop_on_first && findings.has_first()
        };
        let mut watcher = Collector(&findings);
        let mut campaign = Campaign::new(portfolio(), budget, &mut watcher);
        if fleet.is_some() && !campaign.lends() {
            return Err(Error::NotForFleets(hunt.technique));
        }
        // Other executions may find what an execution leaves behind, such as a file.
        first.iter().for_each(|first| campaign.has_seen(first));
        if hunt.resume && fleet.is_none() {
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
            // The targets that are lent are with the engine.
            if campaign.lent() == 0
                && let Some(error) = keeper.save(campaign, &summary, coverage.clone(), findings.reported())
            {
                findings.warn_about_campaign(&error);
            }
            (summary, coverage, keeper.due(), keeper.elapsed())
        };
        let stop = match fleet.as_mut().zip(announcement) {
            None => {
                let mut due = clock.now();
                campaign.run_with(processes, &mut should_stop, &mut |campaign, executor| {
                    if clock.now() >= due {
                        (_, _, due, _) = keep(campaign, Stop::Asked, executor);
                    }
                })
            }
            Some((fleet, announcement)) => {
                let mut notice = |notice: Notice<'_>| findings.borrow_mut().warn_about_worker(&notice);
                let leader = Leader { announcement, clock: &clock, resume: hunt.resume, budget, portfolio: &portfolio };
                leader.run(&mut campaign, fleet, processes, &mut should_stop, &mut notice)?
            }
        };
        let waiting = findings.borrow_mut().take_waiting();
        for (number, found) in waiting.iter().enumerate() {
            let later = waiting.len() - 1 - number;
            let mut findings = findings.borrow_mut();
            if findings.is_interrupted() || !findings.report_late(found, later, processes) {
                campaign.postpone(&found.bug);
            }
        }
        let (summary, coverage, _, elapsed) = keep(&campaign, stop, processes);
        drop(campaign);
        if let Some(fleet) = fleet {
            let is_over = !matches!(summary.stop, Stop::Asked | Stop::Failed(_));
            fleet.board.close(if is_over { End::Finished } else { End::Paused })?;
        }
        let counted = findings.into_inner().finish(&summary.endings)?;
        if let Stop::Failed(error) = summary.stop {
            return Err(error.into());
        }
        Ok(Outcome::Hunted(Box::new(Hunted { coverage, elapsed, counted })))
    }

    /// Checks whether there is anything to explore.
    pub(crate) fn first_execution(&mut self, hunt: &Hunt<'_>) -> Result<Option<Execution>, Error> {
        let Budget { detect_races, infer_races, .. } = hunt.budget;
        let free = hunt.options.free_running;
        let plan = Plan { max_events: LOOK, free, detect_races, infer_races, ..Plan::default() };
        let first = self.run_one(plan.clone())?;
        match first.as_ref().map(|first| &first.outcome) {
            Some(Ending::Lost(why)) if free => {
                Err(Error::LostFreely { program: hunt.name.to_path_buf(), why: why.clone() })
            }
            _ if free => Ok(first),
            _ => Ok(self.look_at_preparation(&plan)?.or(first)),
        }
    }

    /// Returns the analyses of a hunt.
    pub(crate) fn portfolio(&self, hunt: &Hunt<'_>) -> Portfolio {
        hunt.technique.portfolio(&self.options(hunt))
    }

    /// Returns the options of the analyses, with what the program says about itself.
    fn options(&self, hunt: &Hunt<'_>) -> Options {
        Options {
            objects: hunt.whole_objects.then(|| self.objects()),
            aliases: self.aliases(hunt),
            ..hunt.options.clone()
        }
    }

    /// Returns what the program depends on besides its arguments.
    pub(crate) fn world(&self, surroundings: &Surroundings) -> World {
        let mut world = World::new(surroundings, &self.subject.path, self.subject.input.as_deref());
        for mapping in self.processes.mappings().iter().filter(|mapping| mapping.path != self.subject.path) {
            world.add_library(&mapping.path);
        }
        world
    }

    /// Returns which places of the program may access the same memory, for walks that observe only some of them. Every 32nd walk
    /// observes all places, as a check.
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

    /// Returns the program's globals as whole objects.
    fn objects(&self) -> Objects {
        let load_address = self.processes.load_address();
        Objects::new(self.symbols.globals().map(|global| global.start + load_address..global.end + load_address))
    }
}

/// Collects the findings of a campaign, while others can read them.
struct Collector<'f, 'a>(&'f RefCell<Findings<'a>>);

impl Watcher for Collector<'_, '_> {
    fn progress(&mut self, progress: Progress) {
        self.0.borrow_mut().note(progress);
    }

    fn bug(&mut self, found: &Found, executor: &mut dyn Executor) {
        self.0.borrow_mut().take(found, executor);
    }

    fn has_time_for(&mut self, records: usize) -> bool {
        self.0.borrow_mut().has_time_for(records)
    }
}

/// Decides from one execution whether there is nothing to explore. A failure is always reported by the hunt.
fn nothing_to_explore(first: &Execution) -> Option<NothingToExplore> {
    let Ending::Exited(status) = first.outcome else { return None };
    let output = String::from_utf8_lossy(&first.output);
    let last_line = output.lines().last().unwrap_or_default().trim().to_owned();
    (first.threads <= 1).then_some(NothingToExplore { status, last_line })
}
