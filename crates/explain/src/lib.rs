//! From a [`Bug`] that an execution showed to a [`Finding`] that
//! a user understands.
//!
//! A bug is a pair of code addresses or an outcome. To become a finding, its schedule is minimised, replayed, and
//! replayed once more with call stacks, held locks and all accesses to the memory in question. The result is translated
//! into the terms of the source. This crate decides nothing about what to explore, and prints nothing.
//!
//! Start at [`Explainer::finding`].
#![forbid(unsafe_code)]

mod alone;
mod cause;
mod deadlock;
mod end;
mod escapes;
mod meeting;
mod memory;
mod misuse;
mod names;
mod panics;
mod place;
mod relevance;
mod steps;
mod stored;
mod threads;
mod values;

pub use escapes::uncontrolled;
pub use stored::{plan_of, stored_switches};

use meeting::{Evidence, Meeting};
use place::Places;
use racehunter_analyses::simplify;
use racehunter_explore::{Bug, Effort, Execution, Executor, ExecutorError, Outcome, Plan};
use racehunter_finding::{Finding, Object, Site, fingerprint};
use racehunter_log::{
    AccessMode, CodeAddress, Entry, Escape, Event, EventNumber, TRACES_OF_FIFOS, TRACES_OF_KERNEL, TRACES_OF_KEYS,
    TRACES_OF_LINKS, TRACES_OF_NETWORK, TRACES_OF_PORTS, TRACES_OF_PROCESSES,
};
use racehunter_report::messages;
use racehunter_symbols::Symbols;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use stored::schedule;
use threads::Threads;

/// Replays that a finding must pass.
pub const REPLAYS: u32 = 5;
/// Maximum number of executions for minimisation.
const MINIMISATION: u64 = 300;

/// Explains the bugs of one program.
pub struct Explainer<'a> {
    /// Its symbols.
    pub symbols: &'a Symbols,
    /// Load address of the executable, to distinguish its variables from other memory.
    pub load_address: u64,
    /// Time limit of minimisation.
    pub patience: Duration,
    /// When everything ends.
    pub until: Option<Instant>,
    /// True if a race can be inferred from the order of synchronisation. If not, it is confirmed only when both threads
    /// stand before their accesses at the same time.
    pub infers: bool,
}

/// The time limit of minimisation without time pressure: only the number and length of executions count, so that the
/// result does not depend on the clock.
pub const PATIENCE: Duration = Duration::MAX;
/// Maximum number of events in all executions of a minimisation.
const EVENTS: u64 = 300_000_000;
/// Maximum length of an execution for which all allocations and stacks are logged, not only the memory that a bug is
/// about.
const SHORT: u64 = 20_000;
/// Number of events that count for an execution which ended too early to count them, because of another limit.
const UNFINISHED: u64 = 20_000_000;

impl Explainer<'_> {
    /// As [`Explainer::look_into`], without a clock.
    ///
    /// # Errors
    /// When nothing more can be run, or there is no time left after all.
    pub fn finding(
        &self,
        executor: &mut dyn Executor,
        bug: &Bug,
        repeat: &Plan,
        execution: u64,
    ) -> Result<Finding, ExecutorError> {
        let finding = self.look_into(executor, bug, repeat, execution)?;
        finding.ok_or_else(|| ExecutorError("there was no time left to replay what was found".to_owned()))
    }

    /// Minimises, confirms and explains a bug. `repeat` is the plan of the execution number `execution` that showed it.
    ///
    /// A bug that replays do not show is returned as not confirmed. Nothing is returned if executions are stopped
    /// before the bug could be seen once more.
    ///
    /// # Errors
    /// When nothing more can be run.
    pub fn look_into(
        &self,
        executor: &mut dyn Executor,
        bug: &Bug,
        repeat: &Plan,
        execution: u64,
    ) -> Result<Option<Finding>, ExecutorError> {
        let began = Instant::now();
        let events = Cell::new(0);
        let executor = &mut Metered { executor, events: &events, stopped: false, infers: true, until: self.until };
        let seen = run_one(executor, repeat)?;
        if seen.was_stopped() {
            return Ok(None);
        }
        executor.infers = self.infers && !meeting::may_be_ordered(self.symbols, &seen, bug);
        let must_meet = matches!(bug, Bug::Race(..)) && !executor.infers && !meeting::is_used_too_late(&seen, bug);
        let shown = if must_meet { meeting::find(executor, &seen, repeat, bug)? } else { None };
        let repeat = match shown {
            Some(Evidence::TooLate(plan)) => *plan,
            None if !must_meet => repeat.clone(),
            shown => {
                let met = shown.and_then(Evidence::meeting);
                executor.infers = true;
                let finding = self.meeting(executor, met.as_ref(), bug, repeat, execution)?;
                return Ok(finding.filter(|finding| finding.confirmed || !executor.stopped));
            }
        };
        let repeat = &repeat;
        let goes_on = || events.get() < EVENTS && (self.patience == PATIENCE || began.elapsed() < self.patience);
        let effort = Effort { runs: MINIMISATION, goes_on: &goes_on };
        let minimised = simplify(executor, repeat, bug, effort)?;
        let (plan, preemptions, [shown, tried]) = match minimised {
            Some(minimised) => {
                let replayed = confirm(executor, &minimised.plan, bug)?;
                (minimised.plan, minimised.preemptions, replayed)
            }
            None if executor.stopped => return Ok(None),
            None => (repeat.clone(), 0, [0, REPLAYS]),
        };
        let Replay { execution: explained, is_whole } = self.replay(executor, &plan, bug)?;
        if explained.was_stopped() {
            return Ok(None);
        }
        let mut finding = self.describe(&explained, bug);
        if let Bug::ExitStatus(_) | Bug::Output(_) = bug {
            end::compare(&explained, &reference(executor, &plan)?, bug, &mut finding);
        }
        finding.replayed = [shown, tried];
        finding.confirmed = shown == REPLAYS;
        let is_race = matches!(bug, Bug::Race(..));
        for (_, _, object) in explained.escapes().into_iter().filter(|&(what, ..)| what == Escape::Traces && !is_race) {
            finding.confirmed = false;
            finding.notes.push(match object {
                TRACES_OF_PORTS => messages::left_ports(),
                TRACES_OF_LINKS => messages::several_names(),
                TRACES_OF_NETWORK => messages::left_network(),
                TRACES_OF_PROCESSES => messages::other_processes(),
                TRACES_OF_FIFOS => messages::shared_fifos(),
                TRACES_OF_KERNEL => messages::kernel_messages(),
                TRACES_OF_KEYS => messages::no_key_left(),
                _ => messages::left_files(),
            });
        }
        finding.notes.extend((!is_whole).then(messages::only_the_end));
        if tried < REPLAYS {
            finding.notes.push(messages::not_replayed());
        }
        if finding.confirmed && preemptions == 0 && fails_only_when_repeated(executor, bug)? {
            finding.confirmed = false;
            finding.notes.push(messages::left_by_iterations());
        }
        if !finding.confirmed {
            finding.forget_cause();
        }
        finding.execution = execution;
        finding.preemptions = u32::try_from(preemptions).unwrap_or(u32::MAX);
        finding.schedule = schedule(&plan);
        Ok(Some(finding))
    }

    /// Describes a race of a program that may synchronise in ways that are not seen: it is confirmed if both accesses met.
    fn meeting(
        &self,
        executor: &mut dyn Executor,
        met: Option<&Meeting>,
        bug: &Bug,
        repeat: &Plan,
        execution: u64,
    ) -> Result<Option<Finding>, ExecutorError> {
        let (plan, bug) = met.map_or((repeat, bug), |met| (&met.plan, &met.bug));
        let Replay { execution: explained, is_whole } = self.replay(executor, plan, bug)?;
        if explained.was_stopped() {
            return Ok(None);
        }
        let mut finding = self.describe(&explained, bug);
        finding.notes.push(match (met, self.infers) {
            (Some(_), _) => messages::both_stood(),
            (None, true) => messages::never_met(),
            (None, false) => messages::met_once(),
        });
        finding.notes.extend((!is_whole).then(messages::only_the_end));
        finding.met = met.is_some();
        finding.replayed = [if met.is_some() { REPLAYS } else { 0 }, REPLAYS];
        finding.confirmed = met.is_some();
        if met.is_none() {
            finding.forget_cause();
        }
        finding.execution = execution;
        let preemptions = met.map_or(0, |met| met.preemptions);
        finding.preemptions = u32::try_from(preemptions).unwrap_or(u32::MAX);
        finding.schedule = schedule(plan);
        Ok(Some(finding))
    }

    /// Returns a bug of a free-running execution that no execution under control has shown, as it was seen.
    #[must_use]
    pub fn seen(&self, unreplayable: &Execution, bug: &Bug, execution: u64) -> Finding {
        let mut finding = self.describe(unreplayable, bug);
        finding.execution = execution;
        finding.replayed = [0, REPLAYS];
        finding.forget_cause();
        finding.notes.push(messages::seen_freely());
        finding
    }

    /// Follows the schedule of a known finding; returns it as it shows now, or nothing if it does not show.
    /// `has_sources` is true if the sources have not changed.
    pub fn again(
        &self,
        executor: &mut dyn Executor,
        plan: &Plan,
        known: &Finding,
        has_sources: bool,
    ) -> Result<Option<Finding>, ExecutorError> {
        let execution = run_one(executor, plan)?;
        let mut bugs = execution.bugs();
        if matches!(known.kind, racehunter_finding::Kind::ExitStatus | racehunter_finding::Kind::Output) {
            bugs.extend(execution.difference(&reference(executor, plan)?));
            if let Outcome::Exited(status) = execution.outcome {
                bugs.push(Bug::ExitStatus(status));
            }
        }
        bugs.extend(execution.panics().into_iter().map(|panic| Bug::Panic(panic.file, panic.line)));
        for bug in bugs {
            let explained = self.replay(executor, plan, &bug)?;
            let mut finding = self.describe(&explained.execution, &bug);
            let is_same = || (!has_sources || is_gone(&finding)) && is_at_the_same_places(&finding, known);
            if finding.id == known.id || is_same() {
                if finding.id != known.id {
                    // Names come from the sources: keep the known ones.
                    finding.id.clone_from(&known.id);
                    finding.message.clone_from(&known.message);
                    finding.object.clone_from(&known.object);
                    finding.cause.clone_from(&known.cause);
                    finding.cause_steps.clone_from(&known.cause_steps);
                    finding.steps.clone_from(&known.steps);
                }
                finding.execution = known.execution;
                finding.preemptions = known.preemptions;
                finding.schedule = known.schedule.clone();
                if known.met {
                    finding.notes.push(messages::both_stood());
                    finding.met = true;
                }
                return Ok(Some(finding));
            }
        }
        Ok(None)
    }

    /// Runs a schedule with everything that a report needs.
    fn replay(&self, executor: &mut dyn Executor, held: &Plan, bug: &Bug) -> Result<Replay, ExecutorError> {
        let is_shown = |execution: &Execution| match bug {
            Bug::Race(first, second) => memory::find(execution, *first, *second).is_some(),
            _ => true,
        };
        // Addresses may differ between servers, so the location of the race must come from a run just before. If two
        // accesses met, they usually also show without holding a thread: the log then has both accesses in order.
        let alone = Plan { provoke: None, detect_races: true, infer_races: true, ..held.clone() };
        let mut plan = if held.provoke.is_some() && !held.switches.is_empty() { &alone } else { held };
        let mut before = run_one(executor, plan)?;
        if !is_shown(&before) && plan.provoke != held.provoke {
            plan = held;
            before = run_one(executor, plan)?;
        }
        let watch = match bug {
            Bug::Race(first, second) | Bug::DoubleFree(first, second) => memory::find(&before, *first, *second)
                .map(|race| (race.address, u64::from(race.first.size.max(race.second.size)).max(1))),
            Bug::Assertion(..) if before.events <= SHORT => alone::unlogged_read(executor, plan, &before)?,
            _ => None,
        };
        let allocations = before.events <= SHORT;
        let explained =
            run_one(executor, &Plan { explain: Some(watch.unwrap_or_default()), allocations, ..plan.clone() })?;
        let is_whole = self.has_time_to_describe(explained.records.len());
        Ok(if is_whole {
            Replay { execution: explained, is_whole }
        } else {
            Replay { execution: end_of(explained), is_whole }
        })
    }

    /// Returns whether there is time to tell all steps of an execution with this many records.
    fn has_time_to_describe(&self, records: usize) -> bool {
        const PER_RECORD: Duration = Duration::from_micros(20);
        /// In logs of this length, looking for what a step refers to takes as long as everything else.
        const LONG: usize = 100_000;
        let effort = records.saturating_add(records.saturating_mul(records) / LONG);
        let takes = PER_RECORD.saturating_mul(u32::try_from(effort).unwrap_or(u32::MAX));
        records <= LAST_RECORDS || self.until.is_none_or(|until| Instant::now() + takes <= until)
    }

    /// Returns the finding of an explained execution, without the fields that only the campaign knows.
    fn describe(&self, execution: &Execution, bug: &Bug) -> Finding {
        let threads = Threads::of(execution, self.symbols);
        let places = Places {
            symbols: self.symbols,
            load_address: self.load_address,
            execution,
            threads: &threads,
            numbers: values::Numbers::default(),
            forms: RefCell::default(),
            blocks: std::cell::OnceCell::new(),
            variables: RefCell::default(),
            topic: RefCell::default(),
            nearest: RefCell::default(),
        };
        let mut finding = Finding { threads: threads.all(), ..Finding::new(racehunter_finding::Kind::Crash) };
        let culprit = match bug {
            Bug::Race(first, second) => memory::describe_race(&places, *first, *second, &mut finding),
            Bug::DoubleFree(first, second) => memory::describe_double_free(&places, *first, *second, &mut finding),
            Bug::Misuse(what, code) => misuse::describe(&places, *what, *code, &mut finding),
            Bug::Deadlock(_) => deadlock::describe(&places, &mut finding),
            Bug::Assertion(message, file, line) => describe_assertion(&places, message, file, *line, &mut finding),
            Bug::Crash(signal, code) => describe_crash(&places, *signal, *code, &mut finding),
            Bug::Panic(file, line) => panics::describe(&places, file, *line, &mut finding),
            Bug::ExitStatus(_) => end::describe(&places, racehunter_finding::Kind::ExitStatus, &mut finding),
            Bug::Output(_) => end::describe(&places, racehunter_finding::Kind::Output, &mut finding),
        };
        let mut steps = steps::steps(&places, culprit);
        relevance::note_what_failed(&places, &finding);
        relevance::note_what_changed_meanwhile(&places, &finding, &steps);
        let cause = cause::of(&places, &finding, &steps);
        let cited = cause.as_ref().map_or(&[][..], |cause| &cause.steps);
        relevance::mark(&places, &finding, cited, &mut steps);
        let causing = end::sites_of_cause(&places, &finding, cited, &steps);
        finding.cause_steps = cited.iter().filter_map(|&step| Some(steps.get(step)?.step.number)).collect();
        finding.steps = relevance::kept(steps);
        finding.cause = cause.map(|cause| cause.sentence);
        if places.numbers.is_used() {
            finding.notes.push(messages::numbered_addresses());
        }
        // The file name without its directory: the path depends on where the hunt was started.
        let name = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
        // For memory, the variable says more than the column: a read and a write of it in one statement are one place.
        let column = |site: &Site| match finding.kind.is_about_memory() {
            true => String::new(),
            false => format!(":{}", site.column),
        };
        let line = |site: &Site| {
            let is_nearest = places.is_nearest(&site.file, &site.function, site.line, site.column);
            if is_nearest { 0 } else { site.line }
        };
        let place = |site: &Site| format!("{}:{}{}:{}", name(&site.file), line(site), column(site), site.function);
        let mut identity: Vec<String> = finding.sites.iter().map(place).collect();
        identity.extend(places.variables.take());
        if let Bug::Deadlock(_) = bug {
            identity.extend(finding.sites.iter().filter_map(deadlock::lock_of));
        }
        if let Bug::ExitStatus(status) = bug {
            identity.push(format!("status {status}"));
        }
        finding.id = fingerprint(finding.kind, &identity);
        end::name_cause(causing, &mut finding);
        let nearest = |site: &&Site| places.is_nearest(&site.file, &site.function, site.line, site.column);
        let notes: BTreeSet<String> = (finding.sites.iter().filter(nearest))
            .map(|site| messages::nearest_line(&site.file, site.line, &site.function))
            .collect();
        finding.notes.extend(notes);
        finding
    }
}

/// Returns true if a source file of a finding no longer exists.
fn is_gone(finding: &Finding) -> bool {
    finding.sites.iter().any(|site| !site.file.is_empty() && !std::path::Path::new(&site.file).is_file())
}

/// Returns true if a finding about memory is the known one, as far as that shows without the names of variables, which
/// are part of the id.
fn is_at_the_same_places(finding: &Finding, known: &Finding) -> bool {
    let name = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
    let places = |of: &Finding| -> Vec<(String, u32, String, String)> {
        let place = |site: &Site| (name(&site.file), site.line, site.function.clone(), site.access.clone());
        let mut places: Vec<_> = of.sites.iter().map(place).collect();
        places.sort();
        places
    };
    finding.kind == known.kind && finding.kind.is_about_memory() && places(finding) == places(known)
}

/// Replays a schedule as often as needed: returns how often it showed the bug, and how often that could be observed.
fn confirm(executor: &mut dyn Executor, plan: &Plan, bug: &Bug) -> Result<[u32; 2], ExecutorError> {
    let executions = executor.run(&vec![plan.clone(); REPLAYS as usize])?;
    let count = |is: &dyn Fn(&&Execution) -> bool| executions.iter().filter(is).count() as u32;
    Ok([count(&|execution| execution.shows(bug)), count(&|execution| !execution.was_stopped())])
}

/// Counts the cost of executions.
struct Metered<'e> {
    executor: &'e mut dyn Executor,
    events: &'e Cell<u64>,
    /// An execution was stopped from outside.
    stopped: bool,
    /// Races may be inferred from the order of synchronisation. Otherwise executions show only what they do.
    infers: bool,
    /// When everything ends.
    until: Option<Instant>,
}

impl Metered<'_> {
    /// Returns whether there is time to look at a log with this many records.
    fn has_time_for(&self, records: usize) -> bool {
        /// Going through them once or twice. Logs for which this takes no time to speak of are never refused.
        const PER_RECORD: Duration = Duration::from_nanos(200);
        const FEW: usize = 200_000;
        let takes = PER_RECORD.saturating_mul(u32::try_from(records).unwrap_or(u32::MAX));
        records <= FEW || self.until.is_none_or(|until| Instant::now() + takes <= until)
    }
}

impl Executor for Metered<'_> {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let observing = |plan: &Plan| Plan { infer_races: false, ..plan.clone() };
        let mut executions = match self.infers {
            true => self.executor.run(plans)?,
            false => self.executor.run(&plans.iter().map(observing).collect::<Vec<_>>())?,
        };
        for execution in &mut executions {
            if !self.has_time_for(execution.records.len()) {
                *execution = Execution {
                    outcome: Outcome::Limit(Outcome::STOPPED.to_owned()),
                    ..Execution::lost(String::new())
                };
            }
            self.stopped |= execution.was_stopped();
            let unfinished = matches!(execution.outcome, Outcome::Limit(_) | Outcome::Lost(_)) && execution.events == 0;
            let cost = if unfinished { UNFINISHED } else { execution.events };
            self.events.set(self.events.get().saturating_add(cost));
        }
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.executor.add_points(sites)
    }

    fn repeats_test(&self) -> bool {
        self.executor.repeats_test()
    }

    fn libraries(&self) -> Vec<(u64, std::path::PathBuf)> {
        self.executor.libraries()
    }
}

fn run_one(executor: &mut dyn Executor, plan: &Plan) -> Result<Execution, ExecutorError> {
    let mut executions = executor.run(std::slice::from_ref(plan))?;
    executions.pop().ok_or_else(|| ExecutorError("no execution for a plan".to_owned()))
}

/// The step at which the bug shows.
#[derive(Clone, Copy)]
pub(crate) struct Culprit {
    /// The number of its event.
    number: EventNumber,
    shown: Shown,
}

/// The kind of entry of that step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Access,
    Free,
    Misuse,
    /// The state of a thread at the end.
    State,
}

impl Culprit {
    fn state(number: EventNumber) -> Option<Self> {
        Some(Self { number, shown: Shown::State })
    }

    pub(crate) fn is(self, entry: Entry<'_>, event: &Event) -> bool {
        let shown = match event {
            Event::ThreadState { .. } | Event::Panic { .. } => Shown::State,
            Event::Misuse { .. } => Shown::Misuse,
            Event::Access(access) if access.mode == AccessMode::Free => Shown::Free,
            Event::Access(_) => Shown::Access,
            _ => return false,
        };
        shown == self.shown && entry.number() == self.number
    }
}

fn describe_assertion(
    places: &Places<'_>,
    message: &str,
    file: &str,
    line: u32,
    finding: &mut Finding,
) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Assertion;
    finding.message = messages::assertion(message);
    let Some((entry, _)) = places.execution.thread_states().next() else {
        finding.sites.push(Site { file: file.to_owned(), line, ..places.bare(CodeAddress::UNKNOWN) });
        return None;
    };
    finding.sites.push(places.site(entry, "assert", 0));
    Culprit::state(entry.number())
}

fn describe_crash(places: &Places<'_>, signal: u32, code: CodeAddress, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Crash;
    let fault = match places.execution.outcome {
        Outcome::Crashed { signal: 7 | 11, fault } => Some(fault),
        _ => None,
    };
    finding.message = messages::crash(signal, fault);
    let output = String::from_utf8_lossy(&places.execution.output);
    if let Some(line) = output.lines().rev().find(|line| line.contains("terminate called") || line.contains("what():"))
    {
        finding.notes.push(format!("the program wrote: {}", line.trim()));
    }
    finding.notes.extend(panics::before_the_end(places));
    let Some((entry, _)) = places.execution.thread_states().next() else {
        finding.sites.push(places.bare(code));
        return None;
    };
    finding.sites.push(places.site(entry, "crash", 0));
    Culprit::state(entry.number())
}

/// An execution with everything that a report needs.
struct Replay {
    execution: Execution,
    /// There is time to tell all of it, and not only its end.
    is_whole: bool,
}

/// Number of records whose steps there is always time to tell.
const LAST_RECORDS: usize = 5_000;

/// Returns an execution with what the runtime noticed and the last records of its log.
fn end_of(mut execution: Execution) -> Execution {
    let first = execution.records.len().saturating_sub(LAST_RECORDS);
    let mut at = 0;
    execution.records.retain(|record| {
        at += 1;
        at > first || Entry::of(record).is_report()
    });
    execution
}

/// Returns the execution without preemptions.
fn reference(executor: &mut dyn Executor, plan: &Plan) -> Result<Execution, ExecutorError> {
    run_one(executor, &Plan { spurious: plan.spurious, ..Plan::default() })
}

/// Returns whether a failure depends on what iterations of an in-process loop leave behind: it shows without preemptions, but the
/// iterations that ran like this before have passed.
fn fails_only_when_repeated(executor: &mut dyn Executor, bug: &Bug) -> Result<bool, ExecutorError> {
    // What the detector reports is not a failure, and nothing looked for it before.
    let ends_the_test = match bug {
        Bug::Assertion(..) | Bug::Crash(..) | Bug::Panic(..) | Bug::ExitStatus(_) | Bug::Deadlock(_) => true,
        Bug::Race(..) | Bug::DoubleFree(..) | Bug::Misuse(..) | Bug::Output(_) => false,
    };
    if !ends_the_test || !executor.repeats_test() {
        return Ok(false);
    }
    let execution = run_one(executor, &Plan::default())?;
    // If the test returned, the failure is that of the process, after its last iteration.
    let returned = execution.escapes().iter().any(|&(what, ..)| what == Escape::Iteration);
    Ok(!returned && (execution.was_stopped() || execution.shows(bug)))
}

/// Returns memory about which nothing is known.
pub(crate) fn unknown_object(name: String, size: u64) -> Object {
    Object { name, size, region: "unknown".to_owned(), allocated: Vec::new(), element: None }
}
