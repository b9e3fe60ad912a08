//! The loop that connects analyses and an executor.
//!
//! This file contains the loop: which targets are run next, and when it ends. [`fold`] takes in an execution, [`bugs`] handles
//! bugs, [`sharing`] decides which accesses become points, and [`coverage`] what is claimed.

mod budget;
mod bugs;
mod coverage;
mod fold;
mod keep;
mod lending;
mod results;
mod sharing;

pub use budget::Budget;
pub use lending::Returned;
pub use results::{Claim, Counts, Escaped, Found, OnBug, Progress, Stop, Summary, Watcher};

use crate::patience::Patience;
use crate::points::sites_among;
use crate::portfolio::Taken;
use crate::{Bug, Endings, Escape, Execution, Executor, ExecutorError, Flow, Observe, Plan, Points, Portfolio};
use lending::Lending;
use racehunter_log::{CodeAddress, EventNumber};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The exploration of one program.
///
/// Deterministic: the same analyses and the same executor give the same result, whatever the time and the number of workers.
pub struct Campaign<'a> {
    portfolio: Portfolio,
    members: Vec<Member>,
    budget: Budget,
    started: bool,
    watcher: &'a mut dyn Watcher,
    counts: Counts,
    endings: Endings,
    found: Vec<Found>,
    /// Number of reported bugs.
    reported: usize,
    /// Bugs seen when there was no time left to report them. They are reported when the campaign continues, since the schedules
    /// that show them may not come again.
    postponed: Vec<Found>,
    /// Number of executions that failed, and that there was no time to learn from.
    unexamined: u64,
    /// Whether the last execution was stopped from outside.
    stopped: bool,
    known: FxHashSet<Bug>,
    /// Bugs of free-running executions. They count as new again when an execution under control shows them.
    seen_freely: FxHashSet<Bug>,
    /// Places of panics in executions that passed: they do not make an execution fail.
    harmless: FxHashSet<(String, u32)>,
    /// The execution without preemptions, if others are compared with it.
    reference: Option<Execution>,
    /// The sites that are points of the executor.
    sites: FxHashSet<u32>,
    /// Places in the code at which a decision was possible.
    places: FxHashSet<u64>,
    threads: u32,
    events: u64,
    /// What was not under control (kind, place, object), and in how many executions.
    escaped: BTreeMap<(Escape, CodeAddress, u64), u64>,
    patience: Patience,
    lending: Lending,
}

/// The progress of an analysis of the portfolio.
#[derive(Clone, Default)]
struct Member {
    /// Executions since it started.
    executions: u64,
    /// Number of executions that ended on their own, or whose target turned out not to be a schedule.
    completed: u64,
    /// What the finished stages guarantee.
    claims: Vec<Claim>,
    finished: bool,
}

/// A target that is being run.
struct Running {
    member: usize,
    tries: u32,
    common: bool,
    /// The event limit of its plan before [`Patience`] lowered it.
    full: u64,
}

impl<'a> Campaign<'a> {
    /// Creates a campaign that has not started.
    pub fn new(mut portfolio: Portfolio, budget: Budget, watcher: &'a mut dyn Watcher) -> Self {
        if !budget.part.is_whole() {
            portfolio.split(budget.part);
        }
        let members = vec![Member::default(); portfolio.len()];
        Self {
            portfolio,
            members,
            budget,
            started: false,
            watcher,
            counts: Counts::default(),
            endings: Endings::default(),
            found: Vec::new(),
            reported: 0,
            postponed: Vec::new(),
            unexamined: 0,
            stopped: false,
            known: FxHashSet::default(),
            seen_freely: FxHashSet::default(),
            harmless: FxHashSet::default(),
            reference: None,
            sites: FxHashSet::default(),
            places: FxHashSet::default(),
            threads: 0,
            events: 0,
            escaped: BTreeMap::new(),
            patience: Patience::default(),
            lending: Lending::default(),
        }
    }

    /// Explores until nothing is left, the budget is used up, or `should_stop` returns true.
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

    /// Explores one batch of targets. Returns why not, if that is the end. Between two calls nothing is running, and the campaign
    /// can be saved.
    pub fn advance(&mut self, executor: &mut dyn Executor, should_stop: &mut dyn FnMut() -> bool) -> Option<Stop> {
        let stop = self.explore(executor, should_stop).unwrap_or_else(|error| Some(Stop::Failed(error)));
        if stop.is_some() {
            // Targets that were taken and not run wait again.
            (0..self.members.len()).for_each(|member| self.portfolio.member(member).put_back());
        }
        stop
    }

    /// Returns the result so far.
    #[must_use]
    pub fn summary(&self, stop: Stop) -> Summary {
        let coverage = self.coverage(&stop);
        let escaped = self.escaped.iter();
        let escaped = escaped.map(|(&(what, code, object), &executions)| Escaped { what, code, object, executions });
        let escaped = escaped.collect();
        let sites = self.sites();
        let mut places: Vec<u64> = self.places.iter().copied().collect();
        places.sort_unstable();
        let (claims, found, endings) = (self.claims(), self.found.clone(), self.endings.clone());
        let fruitless = self.members.iter().any(|member| member.executions > 0 && member.completed == 0);
        let (counts, unreported) = (self.counts, self.postponed.len() as u64 + self.unexamined);
        Summary { stop, found, coverage, counts, endings, fruitless, unreported, escaped, claims, sites, places }
    }

    /// The sites that are points because memory is shared there; sorted.
    fn sites(&self) -> Vec<u32> {
        let mut sites: Vec<u32> = self.sites.iter().copied().collect();
        sites.sort_unstable();
        sites
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

    /// Returns the plan without preemptions.
    fn reference_plan(&self) -> Plan {
        Plan { spurious: self.budget.spurious, ..Plan::default() }
    }

    /// Runs the execution that others are compared with. It is not counted, and a resumed campaign runs it again.
    fn look_at_reference(&mut self, executor: &mut dyn Executor) -> Result<(), ExecutorError> {
        if self.budget.check_output && self.reference.is_none() {
            let execution = executor.run(&[self.reference_plan()])?.pop();
            // Only its end is needed.
            self.reference = execution.map(|execution| Execution { records: Vec::new(), ..execution });
        }
        Ok(())
    }

    fn explore(
        &mut self,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Stop>, ExecutorError> {
        if !self.started {
            self.start(executor, should_stop)?;
        }
        self.look_at_reference(executor)?;
        self.found.append(&mut self.postponed);
        self.report_bugs(executor, should_stop);
        if !self.postponed.is_empty() {
            return Ok(Some(Stop::Asked));
        }
        let left = self.budget.runs.map_or(u64::MAX, |runs| runs.saturating_sub(self.counts.executions));
        self.finish_stages();
        if let Some(stop) = self.reason_to_stop(left, should_stop) {
            return Ok(Some(stop));
        }
        let (running, plans) = self.take_batch(left);
        let mut sharing = Vec::new();
        let ended = self.run_batch(executor, should_stop, (&running, &plans), &mut sharing);
        let grew = match ended {
            Ok(None) => self.monitor_sharing(executor, &sharing, should_stop),
            // There is no time for monitor runs. The executions count, so what they reported must not be lost.
            _ => Ok(self.add_reported(executor, &sharing)),
        };
        match grew {
            Ok(0) => {}
            Ok(grew) => self.points_grew(grew),
            Err(failure) => {
                // Some monitor runs may have added points before one failed.
                let added = self.add_reported(executor, &sharing);
                self.points_grew(added.max(1));
                return Err(failure);
            }
        }
        ended
    }

    /// Runs the plans of a batch and takes in the executions. Returns why the campaign ends, if it does.
    fn run_batch(
        &mut self,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
        (running, plans): (&[Running], &[Plan]),
        sharing: &mut Vec<(Plan, Vec<u32>)>,
    ) -> Result<Option<Stop>, ExecutorError> {
        let mut seen = 0;
        while seen < plans.len() {
            let before = seen;
            let rest = executor.run_each(&plans[before..], &mut |execution| {
                let at = seen;
                // Learning from an execution can take longer than running it. The first one counts in any case, so that a
                // campaign makes progress even if it is stopped and resumed repeatedly.
                if at > 0 && should_stop() {
                    self.stopped = true;
                    return Flow::Stop;
                }
                if !self.watcher.has_time_for(execution.records.len()) {
                    self.stopped = true;
                    self.give_up(execution);
                    return Flow::Stop;
                }
                seen += 1;
                match running.get(at).zip(plans.get(at)) {
                    Some((running, plan)) => self.take_in(running, plan, execution, sharing),
                    None => Flow::Stop,
                }
            });
            // Findings from before the executor failed are not lost.
            let (rest, failure) = rest.map_or_else(|failure| (Vec::new(), Some(failure)), |rest| (rest, None));
            let mut rest = rest.into_iter();
            loop {
                self.report_bugs(executor, should_stop);
                if let Some(failure) = failure {
                    return Err(failure);
                }
                if self.stopped || !self.postponed.is_empty() {
                    return Ok(Some(Stop::Asked));
                }
                if self.budget.stop_on_first && !self.found.is_empty() {
                    return Ok(Some(Stop::FirstBug));
                }
                let Some(execution) = rest.next() else { break };
                if !self.watcher.has_time_for(execution.records.len()) {
                    self.give_up(&execution);
                    return Ok(Some(Stop::Asked));
                }
                if let Some((running, plan)) = running.get(seen).zip(plans.get(seen)) {
                    self.take_in(running, plan, &execution, sharing);
                }
                seen += 1;
            }
            if seen == before || seen > plans.len() {
                return Err(ExecutorError(format!("{seen} executions for {} plans", plans.len())));
            }
        }
        Ok(None)
    }

    /// Takes in the next execution of a batch. If it shows unknown sharing, adds to `sharing` the sites, and how to repeat the
    /// execution.
    fn take_in(
        &mut self,
        running: &Running,
        plan: &Plan,
        execution: &Execution,
        sharing: &mut Vec<(Plan, Vec<u32>)>,
    ) -> Flow {
        self.stopped = execution.was_stopped();
        if self.stopped {
            // Its result is unknown, so its target waits again.
            return Flow::Stop;
        }
        let reports = execution.report_records();
        self.fold(running, plan, execution, &reports);
        if self.budget.points == Points::Shared {
            let reported = sites_among(&reports);
            if reported.iter().any(|site| !self.sites.contains(site)) {
                sharing.push((execution.repeat(), reported));
            }
        }
        if self.budget.stop_on_first && !self.found.is_empty() {
            Flow::Stop
        } else if self.reported < self.found.len() {
            // Findings are reported before the next execution is taken in, which needs the executor.
            Flow::Pause
        } else {
            Flow::Next
        }
    }

    fn reason_to_stop(&mut self, left: u64, should_stop: &mut dyn FnMut() -> bool) -> Option<Stop> {
        let everything = (0..self.members.len())
            .any(|member| self.members[member].finished && self.portfolio.member(member).covers_everything());
        let is_idle = self.portfolio.waiting() == 0 && self.lending.is_over();
        if is_idle || self.lending.has_restarted() || everything && self.is_clean() {
            Some(Stop::Exhausted)
        } else if left == 0 {
            Some(Stop::Runs)
        } else if should_stop() {
            Some(Stop::Asked)
        } else {
            None
        }
    }

    /// Moves every member whose waitlist is empty to its next stage.
    fn finish_stages(&mut self) {
        for index in 0..self.members.len() {
            if self.lending.holds_up(index) {
                continue;
            }
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
                    self.watcher.progress(Progress::Stage { bound, rank, executions, complete });
                }
            }
        }
    }

    fn take_batch(&mut self, left: u64) -> (Vec<Running>, Vec<Plan>) {
        // Small batches at first: the first executions determine what is worth running.
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
                plan.observe = Observe::Everything;
                plan.select = None;
            }
            if !self.can_do_without_beginnings() {
                plan.log_from = EventNumber::START;
            }
            plan.brief &=
                !self.portfolio.others_read_log(member, running.iter().map(|running: &Running| running.member));
            let full = plan.max_events.min(self.budget.max_events);
            plan.max_events = full;
            plan.max_threads = plan.max_threads.min(self.budget.max_threads);
            self.patience.limit(&mut plan);
            running.push(Running { member, tries, common, full });
            plans.push(plan);
        }
        (running, plans)
    }

    /// Returns whether nothing else needs the accesses that a plan does not ask for: neither other analyses nor the detector, to
    /// which accesses that are not points are new.
    fn can_do_without_beginnings(&self) -> bool {
        let Budget { points, detect_races, spurious, .. } = self.budget;
        self.members.len() == 1 && !spurious && (points == Points::All || !detect_races)
    }
}
