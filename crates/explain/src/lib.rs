//! From a [`Bug`] that an execution showed to a [`Finding`] that
//! a user understands.
//!
//! A bug is a pair of code addresses or an outcome. To become a finding its schedule is minimised, replayed, and then
//! replayed once more with call stacks, held locks and all accesses to the memory in question. What was seen is
//! translated into the terms of the source. This crate decides nothing about what to explore, and prints nothing.
//!
//! Start at [`Explainer::finding`].
#![forbid(unsafe_code)]

mod place;
mod steps;
mod threads;

use place::Places;
use racehunter_analyses::simplify;
use racehunter_explore::{
    Bug, Execution, Executor, ExecutorError, Kind, Outcome, Plan, Race, Record, Switch, Wait, confirm,
};
use racehunter_finding::{Finding, Object, Schedule, ScheduledSwitch, Site, fingerprint};
use racehunter_report::messages;
use racehunter_symbols::Symbols;
use threads::Threads;

/// Replays that a finding must pass.
pub const REPLAYS: u32 = 5;
/// Executions that minimisation may take.
const MINIMISATION: u64 = 300;

/// Knows the program that bugs are explained for.
pub struct Explainer<'a> {
    /// Its symbols.
    pub symbols: &'a Symbols,
    /// Load address of the executable, to tell its variables from other memory.
    pub load_address: u64,
}

impl Explainer<'_> {
    /// Minimises, confirms and explains a bug. `repeat` is the plan of the execution number `execution` that showed it.
    ///
    /// A bug that cannot be shown again is returned all the same, as not confirmed.
    pub fn finding(
        &self,
        executor: &mut dyn Executor,
        bug: &Bug,
        repeat: &Plan,
        execution: u64,
    ) -> Result<Finding, ExecutorError> {
        let minimised = simplify(executor, repeat, bug, MINIMISATION)?;
        let (plan, preemptions, shown) = match minimised {
            Some(minimised) => {
                let shown = confirm(executor, &minimised.plan, bug, REPLAYS)?;
                (minimised.plan, minimised.preemptions, shown)
            }
            None => (repeat.clone(), 0, 0),
        };
        let explained = self.replay(executor, &plan, bug)?;
        let mut finding = self.describe(&explained, bug);
        finding.replayed = [shown, REPLAYS];
        finding.confirmed = shown == REPLAYS;
        finding.execution = execution;
        finding.preemptions = u32::try_from(preemptions).unwrap_or(u32::MAX);
        finding.schedule = schedule(&plan);
        Ok(finding)
    }

    /// Follows the schedule of a known finding; returns it as it shows now, or nothing when it does not.
    pub fn again(
        &self,
        executor: &mut dyn Executor,
        plan: &Plan,
        known: &Finding,
    ) -> Result<Option<Finding>, ExecutorError> {
        for bug in run_one(executor, plan)?.bugs() {
            let explained = self.replay(executor, plan, &bug)?;
            let mut finding = self.describe(&explained, &bug);
            if finding.id == known.id {
                finding.execution = known.execution;
                finding.preemptions = known.preemptions;
                finding.schedule = known.schedule.clone();
                return Ok(Some(finding));
            }
        }
        Ok(None)
    }

    /// Runs a schedule with everything that a report needs.
    fn replay(&self, executor: &mut dyn Executor, plan: &Plan, bug: &Bug) -> Result<Execution, ExecutorError> {
        // Addresses may differ from server to server, so where the race is must come from a run just before.
        let before = run_one(executor, plan)?;
        let watch = match bug {
            Bug::Race(first, second) => find_race(&before, *first, *second)
                .map(|race| (race.address, u64::from(race.first.size.max(race.second.size)).max(1))),
            _ => None,
        };
        run_one(executor, &Plan { explain: Some(watch.unwrap_or_default()), ..plan.clone() })
    }

    /// The finding of an explained execution; what only the campaign knows is left open.
    fn describe(&self, execution: &Execution, bug: &Bug) -> Finding {
        let threads = Threads::of(execution, self.symbols);
        let places = Places { symbols: self.symbols, load_address: self.load_address, execution, threads: &threads };
        let mut finding = Finding {
            id: String::new(),
            kind: racehunter_finding::Kind::Crash,
            message: String::new(),
            sites: Vec::new(),
            replayed: [0, 0],
            confirmed: false,
            execution: 0,
            preemptions: 0,
            schedule: Schedule::default(),
            steps: Vec::new(),
            object: None,
            threads: threads.all(),
            notes: Vec::new(),
        };
        let culprit = match bug {
            Bug::Race(first, second) => describe_race(&places, *first, *second, &mut finding),
            Bug::Deadlock(_) => describe_deadlock(&places, &mut finding),
            Bug::Assertion(message, file, line) => describe_assertion(&places, message, file, *line, &mut finding),
            Bug::Crash(signal, code) => describe_crash(&places, *signal, *code, &mut finding),
        };
        finding.steps = steps::steps(&places, culprit);
        // The name of a file without its directory: how a path is written depends on where the hunt was started.
        let name = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
        let identity: Vec<String> =
            finding.sites.iter().map(|site| format!("{}:{}:{}", name(&site.file), site.line, site.function)).collect();
        finding.id = fingerprint(finding.kind, &identity);
        finding
    }
}

fn run_one(executor: &mut dyn Executor, plan: &Plan) -> Result<Execution, ExecutorError> {
    let mut executions = executor.run(std::slice::from_ref(plan))?;
    executions.pop().ok_or_else(|| ExecutorError("no execution for a plan".to_owned()))
}

fn schedule(plan: &Plan) -> Schedule {
    let switches =
        plan.switches.iter().map(|&Switch { at, to, from, code }| ScheduledSwitch { at, to, from, code }).collect();
    Schedule { switches, spurious: plan.spurious }
}

/// The plan that follows a stored schedule.
#[must_use]
pub fn plan_of(schedule: &Schedule) -> Plan {
    let switches =
        schedule.switches.iter().map(|&ScheduledSwitch { at, to, from, code }| Switch { at, to, from, code }).collect();
    Plan { spurious: schedule.spurious, ..Plan::replay(switches) }
}

fn find_race(execution: &Execution, first: u64, second: u64) -> Option<Race> {
    execution.races().into_iter().find(|race| {
        let (a, b) = (race.first.code, race.second.code);
        (a.min(b), a.max(b)) == (first, second)
    })
}

/// Which step is where the bug shows: the number of its event, and whether it is the state of a thread at the end.
type Culprit = Option<(u64, bool)>;

fn describe_race(places: &Places<'_>, first: u64, second: u64, finding: &mut Finding) -> Culprit {
    finding.kind = racehunter_finding::Kind::DataRace;
    let records = &places.execution.records;
    let pair = records.windows(2).position(|pair| {
        pair[0].kind == Kind::RaceFirst && pair[1].kind == Kind::RaceSecond && {
            let (a, b) = (pair[0].code, pair[1].code);
            (a.min(b), a.max(b)) == (first, second)
        }
    });
    let Some(at) = pair else {
        finding.message = messages::data_race("memory that two threads use");
        finding.sites = vec![places.bare(first), places.bare(second)];
        return None;
    };
    let (earlier, later) = (records[at], records[at + 1]);
    // The detector knows the earlier access by its place only; the log has it with its stack.
    let logged = records[..at].iter().rev().find(|record| {
        record.kind.is_access() && record.thread == earlier.thread && record.code == earlier.code && record.stack != 0
    });
    let kind_of = |record: &Record| Kind::from_byte(record.detail).unwrap_or_default();
    let first_site = match logged {
        Some(record) => places.site(record, record.kind, u32::from(earlier.size)),
        None => places.site(&earlier, kind_of(&earlier), u32::from(earlier.size)),
    };
    let second_site = places.site(&later, kind_of(&later), u32::from(later.size));
    let object = places.object(later.object, u64::from(later.size), &[&first_site, &second_site]);
    finding.message = if kind_of(&later) == Kind::Free || kind_of(&earlier) == Kind::Free {
        finding.kind = racehunter_finding::Kind::UseAfterFree;
        messages::use_after_free(&object.name)
    } else {
        messages::data_race(&object.name)
    };
    finding.object = Some(object);
    finding.sites = vec![first_site, second_site];
    Some((later.index, false))
}

fn states<'e>(places: &Places<'e>) -> impl Iterator<Item = &'e Record> {
    places.execution.records.iter().filter(|record| record.kind == Kind::ThreadState)
}

fn describe_deadlock(places: &Places<'_>, finding: &mut Finding) -> Culprit {
    finding.kind = racehunter_finding::Kind::Deadlock;
    let waiting: Vec<&Record> = states(places).filter(|record| record.detail != 0).collect();
    finding.message = messages::deadlock(waiting.len());
    for record in &waiting {
        let wait = Wait::from_byte(record.detail).unwrap_or_default();
        let mut site = places.site(record, record.kind, 0);
        let (operation, waiting) = places.waiting(wait, record);
        site.access = operation.to_owned();
        site.waits_for = Some(waiting);
        finding.sites.push(site);
    }
    let cycle = cycle(&waiting);
    if !cycle.is_empty() {
        let names: Vec<String> = cycle.iter().map(|&thread| places.threads.label(thread)).collect();
        finding.notes.push(format!("the cycle: {} -> {}", names.join(" -> "), names[0]));
    }
    finding.kind =
        if waiting.iter().any(|record| Wait::from_byte(record.detail) == Some(Wait::Condition) && cycle.is_empty())
            && missed_signal(places, &waiting)
        {
            racehunter_finding::Kind::LostWakeup
        } else {
            racehunter_finding::Kind::Deadlock
        };
    places.execution.records.last().map(|record| (record.index, true))
}

/// A thread waits on a condition variable that was signalled before it began to wait, and never after.
fn missed_signal(places: &Places<'_>, waiting: &[&Record]) -> bool {
    waiting.iter().filter(|record| Wait::from_byte(record.detail) == Some(Wait::Condition)).any(|state| {
        let records = &places.execution.records;
        let Some(began) = records.iter().rposition(|record| {
            record.kind == Kind::Wait && record.thread == state.thread && record.object == state.object
        }) else {
            return false;
        };
        let signals =
            |record: &&Record| matches!(record.kind, Kind::Signal | Kind::Broadcast) && record.object == state.object;
        records[..began].iter().any(|record| signals(&record) && record.thread != state.thread)
            && !records[began..].iter().any(|record| signals(&record))
    })
}

/// Threads of which each waits for something that the next one owns.
fn cycle(waiting: &[&Record]) -> Vec<u32> {
    let owner_of = |thread: u32| {
        let state = waiting.iter().find(|record| record.thread == thread)?;
        u32::try_from(state.extra.checked_sub(1)?).ok()
    };
    for start in waiting.iter().map(|record| record.thread) {
        let mut seen = vec![start];
        while let Some(next) = owner_of(seen[seen.len() - 1]) {
            if next == start {
                return seen;
            }
            if seen.contains(&next) {
                break;
            }
            seen.push(next);
        }
    }
    Vec::new()
}

fn describe_assertion(places: &Places<'_>, message: &str, file: &str, line: u32, finding: &mut Finding) -> Culprit {
    finding.kind = racehunter_finding::Kind::Assertion;
    finding.message = messages::assertion(message);
    let Some(record) = states(places).next() else {
        finding.sites.push(Site { file: file.to_owned(), line, ..places.bare(0) });
        return None;
    };
    let mut site = places.site(record, record.kind, 0);
    site.access = "assert".to_owned();
    finding.sites.push(site);
    Some((record.index, true))
}

fn describe_crash(places: &Places<'_>, signal: u32, code: u64, finding: &mut Finding) -> Culprit {
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
    let Some(record) = states(places).next() else {
        finding.sites.push(places.bare(code));
        return None;
    };
    let mut site = places.site(record, record.kind, 0);
    site.access = "crash".to_owned();
    finding.sites.push(site);
    Some((record.index, true))
}

/// Memory that nothing is known about.
pub(crate) fn unknown_object(name: String, size: u64) -> Object {
    Object { name, size, region: "unknown".to_owned(), allocated: Vec::new() }
}
