//! The loop that joins analyses and an executor.

mod coverage;
mod keep;

use crate::patience::{Patience, Worth};
use crate::portfolio::{Fate, Taken};
use crate::{
    Allowed, Bug, Descriptor, Endings, Escape, Execution, Executor, ExecutorError, Kind, Observe, Outcome, Part, Plan,
    Points, Portfolio, Rank, Record, Switch, decisions, reported_sites, shared_sites,
};
use racehunter_finding::Coverage;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// How much to explore, and at which points.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Executions, at most.
    pub runs: Option<u64>,
    /// Stop at the first bug.
    pub stop_on_first: bool,
    /// Where decisions can be made.
    pub points: Points,
    /// Whether the happens-before detector runs. Without it nobody tells when an access turns out to be shared.
    pub detect_races: bool,
    /// Whether what it infers from the order of synchronisation is a race: see [`Plan::infer_races`].
    pub infer_races: bool,
    /// Whether wake-ups of condition variables are choices: see [`Plan::spurious`].
    pub spurious: bool,
    /// Whether a status or output that depends on the schedule is a bug.
    pub check_output: bool,
    /// Exit statuses that are no failure.
    pub allowed: Allowed,
    /// Which part of the work is done, where it can be divided.
    pub part: Part,
    /// Targets that are handed to the executor at once. Does not depend on how many it can run in parallel, so that
    /// the result does not either.
    pub batch: usize,
    /// Events of one execution, at most.
    pub max_events: u64,
    /// Threads of one execution, at most.
    pub max_threads: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            runs: None,
            stop_on_first: false,
            points: Points::Shared,
            detect_races: true,
            infer_races: true,
            spurious: false,
            check_output: false,
            allowed: Allowed::ANY,
            part: Part::WHOLE,
            batch: 32,
            max_events: u64::MAX,
            max_threads: u32::MAX,
        }
    }
}

/// How often a target is tried again whose plan could not be followed.
const RETRIES: u32 = 2;

/// The most exit statuses that are reported as separate bugs. A program may count its failures in its status.
const MOST_STATUSES: usize = 4;

/// Events of a run that looks for shared accesses, at most: each takes a record. What it does not get to is reported by
/// the executions that do.
const MONITORED: u64 = 4_000_000;

/// What a campaign tells while it runs.
pub enum Progress<'a> {
    /// An execution was looked at.
    Execution {
        /// Its number, from 1.
        number: u64,
        /// Targets that wait.
        waiting: usize,
        /// Executions that are probably left in the current stage, if anybody has an idea.
        remaining: Option<u64>,
    },
    /// A bug that was not known. The executor is free at this moment: it can be used to look at the bug more closely,
    /// which does not count.
    Bug {
        /// The bug.
        found: &'a Found,
        /// The executor of the campaign.
        executor: &'a mut dyn Executor,
    },
    /// A stage of an analysis is finished.
    Stage {
        /// Its bound.
        bound: u32,
        /// Its other bounds, if it has any.
        rank: Option<Rank>,
        /// Executions that it and the stages before it took, since the last growth of the set of points.
        executions: u64,
        /// Nothing in it was left open.
        complete: bool,
    },
    /// More accesses are points now. Analyses that want to cover everything start again.
    Points {
        /// How many came to them.
        added: usize,
    },
}

/// A bug and the execution that showed it first.
#[derive(Clone, Debug)]
pub struct Found {
    /// The bug.
    pub bug: Bug,
    /// Number of the execution, from 1.
    pub execution: u64,
    /// The switches of the execution.
    pub switches: Vec<Switch>,
    /// The plan that repeats it exactly.
    pub repeat: Plan,
    /// Preemptions of the execution.
    pub preemptions: u64,
    /// The execution itself, without its accesses, if it ran freely: nothing repeats it for certain.
    pub glimpse: Option<Box<Execution>>,
}

/// Something that was not under control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escaped {
    /// What it was.
    pub what: Escape,
    /// Where, 0 when that is not known.
    pub code: u64,
    /// What it was about, see [`Escape`].
    pub object: u64,
    /// Executions in which it happened, without those that only looked for shared accesses.
    pub executions: u64,
}

/// Why a campaign ended.
#[derive(Debug)]
pub enum Stop {
    /// There is nothing left to explore.
    Exhausted,
    /// The executions of the budget are used up.
    Runs,
    /// The caller asked for it.
    Asked,
    /// A bug was found, and the first one was enough.
    FirstBug,
    /// The executor gave up.
    Failed(ExecutorError),
}

/// Numbers of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions.
    pub executions: u64,
    /// Executions that could not follow their plan.
    pub diverged: u64,
    /// Targets that were given up because of that.
    pub given_up: u64,
    /// Executions that chose a thread which turned out to be blocked. Nothing is missed by that.
    pub impossible: u64,
    /// Executions that were stopped by a limit.
    pub limited: u64,
    /// Executions that were killed from outside.
    pub lost: u64,
    /// Executions that were not wholly under control.
    pub partial: u64,
    /// Further runs, to find out which accesses are shared.
    pub monitors: u64,
    /// How often the set of points grew.
    pub growths: u64,
    /// Executions since it last did.
    pub stable_for: u64,
    /// Executions for targets that every part of a divided campaign runs.
    pub common: u64,
}

/// What a finished stage of an analysis guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The bound of the stage, for analyses that have one.
    pub bound: Option<u32>,
    /// In words, of the whole.
    pub words: String,
    /// No schedule at all is left.
    pub everything: bool,
    /// It holds for one part of the work only.
    pub divided: bool,
}

/// The result of a campaign.
#[derive(Debug)]
pub struct Summary {
    /// Why it ended.
    pub stop: Stop,
    /// The bugs, in the order in which they were found.
    pub found: Vec<Found>,
    /// What was explored.
    pub coverage: Coverage,
    /// The same in numbers.
    pub counts: Counts,
    /// How the executions ended.
    pub endings: Endings,
    /// Some analysis had executions, and not one of them completed.
    pub fruitless: bool,
    /// Bugs that were seen, and that nothing was told about for want of time.
    pub untold: u64,
    /// What was not under control, each once.
    pub escaped: Vec<Escaped>,
    /// What the finished stages of the analysis guarantee that says most. Empty when anything went wrong.
    pub claims: Vec<Claim>,
    /// Sites that are points because memory is shared there; sorted.
    pub sites: Vec<u32>,
    /// Places in the code at which a decision was possible; sorted.
    pub places: Vec<u64>,
}

/// The exploration of one program.
///
/// Deterministic: the same analyses and the same executor give the same result, whatever the time and the number of
/// workers.
pub struct Campaign<'a> {
    portfolio: Portfolio,
    members: Vec<Member>,
    budget: Budget,
    started: bool,
    progress: &'a mut dyn FnMut(Progress<'_>),
    counts: Counts,
    endings: Endings,
    found: Vec<Found>,
    /// How many of them were told about.
    told: usize,
    /// Bugs that were seen when there was no time left to tell about them.
    untold: u64,
    known: FxHashSet<Bug>,
    /// Bugs of executions that ran freely. They are news once more when an execution under control shows them.
    glimpsed: FxHashSet<Bug>,
    /// The execution in which nothing is preempted, when others are compared with it.
    reference: Option<Execution>,
    /// Sites that the executor was told about.
    sites: FxHashSet<u32>,
    /// Places in the code at which a decision was possible.
    places: FxHashSet<u64>,
    threads: u32,
    events: u64,
    /// What was not under control (what, where, object), and in how many executions.
    escaped: BTreeMap<(Escape, u64, u64), u64>,
    patience: Patience,
}

/// How far an analysis of the portfolio is.
#[derive(Clone, Default)]
struct Member {
    /// Executions since it started.
    executions: u64,
    /// Those of them that came to an end of their own, or whose target turned out to be no schedule.
    completed: u64,
    /// What the finished stages guarantee.
    claims: Vec<Claim>,
    finished: bool,
}

/// A target on its way through the executor.
struct Running {
    member: usize,
    tries: u32,
    common: bool,
    /// Events that its plan allowed before [`Patience`] had its say.
    full: u64,
}

impl<'a> Campaign<'a> {
    /// A campaign that has not started.
    pub fn new(mut portfolio: Portfolio, budget: Budget, progress: &'a mut dyn FnMut(Progress<'_>)) -> Self {
        if !budget.part.is_whole() {
            portfolio.split(budget.part);
        }
        let members = vec![Member::default(); portfolio.len()];
        Self {
            portfolio,
            members,
            budget,
            started: false,
            progress,
            counts: Counts::default(),
            endings: Endings::default(),
            found: Vec::new(),
            told: 0,
            untold: 0,
            known: FxHashSet::default(),
            glimpsed: FxHashSet::default(),
            reference: None,
            sites: FxHashSet::default(),
            places: FxHashSet::default(),
            threads: 0,
            events: 0,
            escaped: BTreeMap::new(),
            patience: Patience::default(),
        }
    }

    /// Explores until there is nothing left, the budget is used up, or `should_stop` says so.
    pub fn run(mut self, executor: &mut dyn Executor, should_stop: &mut dyn FnMut() -> bool) -> Summary {
        let stop = self.run_with(executor, should_stop, &mut |_, _| {});
        self.summary(stop)
    }

    /// The same, and calls `between` before each batch, when nothing is running and the campaign can be saved.
    pub fn run_with(
        &mut self,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
        between: &mut dyn FnMut(&Self, &dyn Executor),
    ) -> Stop {
        loop {
            between(self, executor);
            if let Some(stop) = self.advance(executor, should_stop) {
                return stop;
            }
        }
    }

    /// Explores a little further: one batch of targets. Returns why not, when that is the end. Between two calls
    /// nothing is running, and the campaign can be saved.
    pub fn advance(&mut self, executor: &mut dyn Executor, should_stop: &mut dyn FnMut() -> bool) -> Option<Stop> {
        let stop = self.explore(executor, should_stop).unwrap_or_else(|error| Some(Stop::Failed(error)));
        if stop.is_some() {
            // What was taken and not looked at waits again.
            (0..self.members.len()).for_each(|member| self.portfolio.member(member).put_back());
        }
        stop
    }

    /// What came of it so far.
    #[must_use]
    pub fn summary(&self, stop: Stop) -> Summary {
        let coverage = self.coverage(&stop);
        let escaped = self.escaped.iter();
        let escaped = escaped.map(|(&(what, code, object), &executions)| Escaped { what, code, object, executions });
        let escaped = escaped.collect();
        let mut sites: Vec<u32> = self.sites.iter().copied().collect();
        sites.sort_unstable();
        let mut places: Vec<u64> = self.places.iter().copied().collect();
        places.sort_unstable();
        let (claims, found, endings) = (self.claims(), self.found.clone(), self.endings.clone());
        let fruitless = self.members.iter().any(|member| member.executions > 0 && member.completed == 0);
        let (counts, untold) = (self.counts, self.untold);
        Summary { stop, found, coverage, counts, endings, fruitless, untold, escaped, claims, sites, places }
    }

    fn start(
        &mut self,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), ExecutorError> {
        self.started = true;
        for member in 0..self.members.len() {
            self.portfolio.member(member).start();
        }
        self.look_at_reference(executor)?;
        if self.budget.points == Points::Shared {
            self.monitor(executor, self.reference_plan(), &[], should_stop)?;
        }
        Ok(())
    }

    /// The plan in which nothing is preempted.
    fn reference_plan(&self) -> Plan {
        Plan { spurious: self.budget.spurious, ..Plan::default() }
    }

    /// Runs what others are to be compared with. Not counted, and run again by a campaign that is resumed.
    fn look_at_reference(&mut self, executor: &mut dyn Executor) -> Result<(), ExecutorError> {
        if self.budget.check_output && self.reference.is_none() {
            let execution = executor.run(&[self.reference_plan()])?.pop();
            // Nothing but its end is needed.
            self.reference = execution.map(|execution| Execution { records: Vec::new(), ..execution });
        }
        Ok(())
    }

    fn explore(
        &mut self,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Stop>, ExecutorError> {
        self.untold = 0;
        if !self.started {
            self.start(executor, should_stop)?;
        }
        self.look_at_reference(executor)?;
        let left = self.budget.runs.map_or(u64::MAX, |runs| runs.saturating_sub(self.counts.executions));
        self.finish_stages();
        if let Some(stop) = self.reason_to_stop(left, should_stop) {
            return Ok(Some(stop));
        }
        let (running, plans) = self.take_batch(left);
        let executions = executor.run(&plans)?;
        if executions.len() != plans.len() {
            let (got, wanted) = (executions.len(), plans.len());
            return Err(ExecutorError(format!("{got} executions for {wanted} plans")));
        }
        let mut unknown_sharing = Vec::new();
        for ((running, plan), execution) in running.iter().zip(&plans).zip(&executions) {
            if execution.was_stopped() {
                // What it would have shown is not known: its target waits again.
                return Ok(Some(Stop::Asked));
            }
            self.fold(running, plan, execution);
            self.tell_bugs(executor, should_stop);
            if self.untold > 0 {
                return Ok(Some(Stop::Asked));
            }
            if self.budget.stop_on_first && !self.found.is_empty() {
                return Ok(Some(Stop::FirstBug));
            }
            if self.budget.points == Points::Shared {
                let reported = reported_sites(execution);
                if reported.iter().any(|site| !self.sites.contains(site)) {
                    unknown_sharing.push((execution.repeat(), reported));
                }
            }
        }
        let mut grew = 0;
        for (repeat, reported) in unknown_sharing {
            // One monitor run often explains the reports of several executions.
            if reported.iter().any(|site| !self.sites.contains(site)) {
                grew += self.monitor(executor, repeat, &reported, should_stop)?;
            }
        }
        if grew > 0 {
            self.points_grew(grew);
        }
        Ok(None)
    }

    fn reason_to_stop(&mut self, left: u64, should_stop: &mut dyn FnMut() -> bool) -> Option<Stop> {
        let everything = (0..self.members.len())
            .any(|member| self.members[member].finished && self.portfolio.member(member).covers_everything());
        if self.portfolio.waiting() == 0 || everything && self.is_clean() {
            Some(Stop::Exhausted)
        } else if left == 0 {
            Some(Stop::Runs)
        } else if should_stop() {
            Some(Stop::Asked)
        } else {
            None
        }
    }

    /// Moves every member whose waitlist is empty on to its next stage.
    fn finish_stages(&mut self) {
        for index in 0..self.members.len() {
            while !self.members[index].finished && self.portfolio.member(index).waiting() == 0 {
                let complete = self.is_clean();
                let queue = self.portfolio.member(index);
                let (bound, rank, words) = (queue.bound(), queue.rank(), queue.guarantee());
                let (everything, divided) = (queue.covers_everything(), queue.splits());
                let finished = !queue.next_stage();
                let member = &mut self.members[index];
                member.finished = finished;
                if complete {
                    member.claims.extend(words.map(|words| Claim { bound, words, everything, divided }));
                }
                let executions = member.executions;
                if let Some(bound) = bound {
                    (self.progress)(Progress::Stage { bound, rank, executions, complete });
                }
            }
        }
    }

    fn take_batch(&mut self, left: u64) -> (Vec<Running>, Vec<Plan>) {
        // Small batches at first: what the first executions show decides what is worth running.
        let batch = if self.patience.is_probing() { 1 } else { self.budget.batch.max(1) };
        let width = left.min(batch as u64).min(self.counts.executions.max(1)) as usize;
        let mut running = Vec::with_capacity(width);
        let mut plans = Vec::with_capacity(width);
        while plans.len() < width {
            let Some(member) = self.portfolio.choose() else { break };
            let Some(Taken { tries, mut plan, common }) = self.portfolio.member(member).take() else { break };
            plan.spurious = self.budget.spurious;
            plan.detect_races &= self.budget.detect_races;
            plan.infer_races &= self.budget.infer_races;
            if self.budget.points == Points::All {
                (plan.observe, plan.select) = (Observe::Everything, None);
            }
            if !self.can_do_without_beginnings() {
                plan.log_from = 0;
            }
            let full = plan.max_events.min(self.budget.max_events);
            plan.max_events = full;
            plan.max_threads = plan.max_threads.min(self.budget.max_threads);
            self.patience.limit(&mut plan);
            running.push(Running { member, tries, common, full });
            plans.push(plan);
        }
        (running, plans)
    }

    /// Whether the accesses that a plan does not ask for matter to nothing else: neither to other analyses nor to the detector,
    /// to which those that are no points are news.
    fn can_do_without_beginnings(&self) -> bool {
        let Budget { points, detect_races, spurious, .. } = self.budget;
        self.members.len() == 1 && !spurious && (points == Points::All || !detect_races)
    }

    fn fold(&mut self, running: &Running, plan: &Plan, execution: &Execution) {
        if !plan.free && self.patience.learn(plan, running.full, execution) == Worth::Again {
            // Not counted: it is the beginning of one that will be.
            self.portfolio.member(running.member).tell(running.tries, Fate::Again);
            self.note_bugs(plan, execution);
            return;
        }
        self.counts.executions += 1;
        self.endings.count(execution);
        self.counts.stable_for += 1;
        self.counts.partial += u64::from(execution.partial);
        self.counts.common += u64::from(running.common);
        self.members[running.member].executions += 1;
        self.threads = self.threads.max(execution.threads);
        self.events = self.events.max(execution.events);
        self.note_escapes(execution, 1);
        let is_point = |record: &&Record| !plan.free && record.kind.is_event() && record.code != 0;
        // Long executions are loops: most places come again soon.
        let mut recent = [0; 256];
        for record in execution.records.iter().filter(is_point) {
            let known = &mut recent[record.code as usize % 256];
            if std::mem::replace(known, record.code) != record.code {
                self.places.insert(record.code);
            }
        }
        let impossible = self.counts.impossible;
        let fate = match execution.outcome {
            Outcome::Diverged(at) if chose_a_waiting_thread(plan, execution, at) => {
                self.counts.impossible += 1;
                Fate::Explored(execution)
            }
            Outcome::Diverged(_) if self.portfolio.member(running.member).guesses() => {
                self.counts.impossible += 1;
                Fate::Nothing
            }
            Outcome::Diverged(_) => {
                self.counts.diverged += 1;
                if running.tries < RETRIES {
                    Fate::Again
                } else {
                    self.counts.given_up += 1;
                    Fate::Nothing
                }
            }
            Outcome::Lost(_) => {
                self.counts.lost += 1;
                Fate::Explored(execution)
            }
            Outcome::Limit(_) => {
                self.counts.limited += 1;
                Fate::Explored(execution)
            }
            Outcome::Exited(_) | Outcome::Deadlock | Outcome::Crashed { .. } | Outcome::Asserted { .. } => {
                Fate::Explored(execution)
            }
        };
        let completes = !matches!(execution.outcome, Outcome::Limit(_) | Outcome::Lost(_) | Outcome::Diverged(_));
        self.members[running.member].completed += u64::from(completes || self.counts.impossible > impossible);
        self.portfolio.charge(running.member, execution.events);
        if self.portfolio.member(running.member).tell(running.tries, fate) {
            self.members[running.member] = Member::default();
        }
        for other in (0..self.members.len()).filter(|&other| other != running.member) {
            self.portfolio.member(other).overhear(execution);
        }
        self.note_bugs(plan, execution);
        let (number, waiting) = (self.counts.executions, self.portfolio.waiting());
        let remaining = self.portfolio.remaining();
        (self.progress)(Progress::Execution { number, waiting, remaining });
    }

    /// An execution that was not this campaign's has shown something: what was not seen of it counts.
    pub fn has_seen(&mut self, execution: &Execution) {
        for escape in execution.escapes().into_iter().filter(|(what, ..)| what.is_unseen()) {
            self.escaped.entry(escape).or_default();
        }
    }

    fn note_escapes(&mut self, execution: &Execution, count: u64) {
        for escape in execution.escapes() {
            *self.escaped.entry(escape).or_default() += count;
        }
    }

    fn note_bugs(&mut self, plan: &Plan, execution: &Execution) {
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return;
        }
        let mut bugs = execution.bugs();
        let known = |known: &Bug| matches!(known, Bug::Panic(..) | Bug::ExitStatus(_) | Bug::Output(_));
        if let Outcome::Exited(status) = execution.outcome
            && !self.budget.allowed.contains(status)
            && self.known.iter().filter(|bug| known(bug)).count() < MOST_STATUSES
        {
            bugs.push(execution.failure(status));
        } else if let Some(difference) = self.reference.as_ref().and_then(|reference| execution.difference(reference))
            && !self.known.iter().any(known)
        {
            // Once it is known to depend on the schedule, further values say nothing new.
            bugs.push(difference);
        }
        for bug in bugs {
            let is_new = if plan.free {
                !self.known.contains(&bug) && self.glimpsed.insert(bug.clone())
            } else {
                self.known.insert(bug.clone())
            };
            if !is_new {
                continue;
            }
            let mut repeat = if plan.free { provocation(plan, &bug) } else { execution.repeat_to(&bug) };
            // Where nothing is inferred, what met is looked for in the same way.
            if !self.budget.infer_races && matches!(bug, Bug::Race(..)) {
                repeat.provoke = repeat.provoke.or_else(|| plan.provoke.clone());
                repeat.patience = plan.patience;
            }
            let last = || decisions(execution).last().map(|last| last.preemptions);
            self.found.push(Found {
                execution: self.counts.executions.max(1),
                switches: execution.switches(),
                repeat: Plan { max_threads: self.patience.threads(), ..repeat },
                bug,
                preemptions: if plan.free { 0 } else { last().unwrap_or(0) },
                glimpse: plan.free.then(|| Box::new(outline(execution))),
            });
        }
    }

    /// Tells about the bugs that were found since this was last called, as long as there is time; about one in any case.
    fn tell_bugs(&mut self, executor: &mut dyn Executor, should_stop: &mut dyn FnMut() -> bool) {
        if self.budget.stop_on_first {
            // One execution can show hundreds, and to look at each more closely takes time.
            self.found.truncate(1);
        }
        while self.told < self.found.len() {
            if self.told > 0 && should_stop() {
                // Forgotten, so that a campaign that goes on finds them again.
                let untold = self.found.split_off(self.told);
                for found in &untold {
                    self.known.remove(&found.bug);
                }
                self.untold += untold.len() as u64;
                break;
            }
            (self.progress)(Progress::Bug { found: &self.found[self.told], executor: &mut *executor });
            self.told += 1;
        }
    }

    /// Forgets a bug that was reported and not looked into for lack of time: a campaign that is resumed finds it again.
    pub fn forget(&mut self, bug: &Bug) {
        self.known.remove(bug);
        self.found.retain(|found| found.bug != *bug);
        self.told = self.found.len();
        self.untold += 1;
    }

    /// Runs a plan with every access observed, and makes those points that turn out to be shared. Returns how many.
    fn monitor(
        &mut self,
        executor: &mut dyn Executor,
        plan: Plan,
        reported: &[u32],
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<usize, ExecutorError> {
        self.counts.monitors += 1;
        let max_events = plan.max_events.min(MONITORED).min(self.budget.max_events);
        let Budget { detect_races, infer_races, .. } = self.budget;
        let plan = Plan { observe: Observe::Everything, select: None, detect_races, infer_races, max_events, ..plan };
        let mut sites = reported.to_vec();
        if let Some(execution) = executor.run(std::slice::from_ref(&plan))?.first().filter(|run| !run.was_stopped()) {
            self.note_escapes(execution, 0);
            self.note_bugs(&plan, execution);
            sites.extend(shared_sites(execution));
            self.tell_bugs(executor, should_stop);
        }
        sites.sort_unstable();
        sites.dedup();
        self.sites.extend(&sites);
        Ok(executor.add_points(&sites))
    }

    /// What was explored so far was explored with too few points: whoever wants to cover everything starts again.
    fn points_grew(&mut self, added: usize) {
        self.counts.growths += 1;
        self.counts.stable_for = 0;
        for (index, member) in self.members.iter_mut().enumerate() {
            let queue = self.portfolio.member(index);
            if queue.guarantee().is_some() {
                queue.start();
                *member = Member::default();
            }
        }
        (self.progress)(Progress::Points { added });
    }
}

/// What showed in an execution that ran freely cannot be repeated, but provoked under control: by what the plan provoked, or
/// by the first time that the program comes to one of the places.
fn provocation(plan: &Plan, bug: &Bug) -> Plan {
    let at = |&code: &u64| Descriptor { code, path: None, callers: Vec::new(), nth: 1 };
    let provoke = match (&plan.provoke, bug) {
        (Some(pair), _) => Some(pair.clone()),
        (None, Bug::Race(first, second)) => Some(Box::new([at(first), at(second)])),
        (None, _) => None,
    };
    Plan { provoke, ..Plan::default() }
}

/// An execution without its accesses.
fn outline(execution: &Execution) -> Execution {
    let kept = execution.records.iter().filter(|record| !record.kind.is_access());
    let (outcome, output) = (execution.outcome.clone(), execution.output.clone());
    let (records, stacks) = (kept.copied().collect(), execution.stacks.clone());
    Execution { records, stacks, outcome, output, ..*execution }
}

/// The last choice of the plan fell on a thread that turned out to wait. The log cannot know that of a thread which has
/// not got to its next operation yet, so such a target is no schedule at all, and nothing diverged.
fn chose_a_waiting_thread(plan: &Plan, execution: &Execution, at: u64) -> bool {
    let Some(last) = plan.switches.last().filter(|last| last.at == at) else { return false };
    let is_scheduling = |kind: Kind| matches!(kind, Kind::Blocked | Kind::Suspended | Kind::Switch);
    let mut end = execution.records.iter().rev().filter(|record| is_scheduling(record.kind));
    let waits = end.next().filter(|record| record.kind != Kind::Switch && record.thread == last.to);
    let chosen = end.next().filter(|record| record.kind == Kind::Switch && record.object == u64::from(last.to));
    waits.zip(chosen).is_some_and(|(waits, chosen)| waits.index == at && chosen.index == at)
}
