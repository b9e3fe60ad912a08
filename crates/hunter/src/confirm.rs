//! Trying predictions on the program.

use crate::predictions::{finding, in_words};
use crate::{Error, Event, Hunter, Observer, Warning, blocks, store};
use racehunter_analyses::{is_predicted, witness};
use racehunter_explore::{Bug, Execution, Outcome, Plan};
use racehunter_finding::Finding;
use racehunter_predict::{Index, Kind, Prediction};
use racehunter_report::messages;
use racehunter_report::predictions::NotShown;
use racehunter_trace::recording::{Recording, Schedule};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Maximum number of events of the run that finds shared memory.
const MONITORED: u64 = 4_000_000;

/// Number of runs of a schedule that breaks a block.
const REPLAYS: u32 = 5;

/// The result of trying a prediction.
#[derive(Debug)]
pub enum Tried {
    /// The program did what was predicted, and these findings are new. The list is empty if another prediction led to the same ones.
    Shown(Vec<Finding>),
    /// It did not, for this reason; with new findings that showed instead.
    NotShown(NotShown, Vec<Finding>),
}

/// Tries predictions on the program that the trace was recorded from.
pub struct Confirmer<'a> {
    hunter: &'a mut Hunter,
    out: &'a Path,
    /// The ids of reported findings.
    ids: HashSet<String>,
    /// Explained bugs, so that none is explained twice, and whether every replay showed them.
    explained: HashMap<Bug, bool>,
    /// Executions of predictions.
    pub executions: u64,
    /// Number of these executions that did not follow their schedule.
    pub diverged: u64,
}

impl Hunter {
    /// Prepares to try predictions. Minimisation searches schedules that switch where memory is shared, so this must be
    /// known first. Findings are stored in `out`.
    ///
    /// # Errors
    /// If nothing can be executed.
    pub fn confirm<'a>(&'a mut self, out: &'a Path) -> Result<Confirmer<'a>, Error> {
        self.find_points(Plan { max_events: MONITORED, ..Plan::default() })?;
        let (ids, explained) = (HashSet::new(), HashMap::new());
        Ok(Confirmer { hunter: self, out, ids, explained, executions: 0, diverged: 0 })
    }
}

impl Confirmer<'_> {
    /// Tries a prediction. Every bug that shows is a finding like those of a hunt: minimised, replayed, stored.
    ///
    /// # Errors
    /// If nothing can be executed.
    pub fn try_on(
        &mut self,
        index: &Index<'_>,
        recording: &Recording,
        prediction: &Prediction,
        observer: &mut dyn Observer,
    ) -> Result<Tried, Error> {
        if prediction.kind == Kind::Atomicity {
            return self.try_block(index, recording, prediction, observer);
        }
        let (mut first, mut others) = (None, Vec::new());
        for (plan, schedule) in witness(recording, prediction) {
            self.executions += 1;
            let Some(execution) = self.hunter.run_one(plan)? else { continue };
            match self.look(recording, prediction, &schedule, &execution, observer)? {
                Tried::Shown(findings) => {
                    others.extend(findings);
                    return Ok(Tried::Shown(others));
                }
                Tried::NotShown(reason, findings) => {
                    others.extend(findings);
                    // The first reason is the more informative one.
                    first = first.or(Some(reason));
                }
            }
        }
        Ok(Tried::NotShown(first.unwrap_or(NotShown::Nothing), others))
    }

    /// Repeats the schedule of a recording with the race detector, which recording leaves off. What goes wrong in it is a
    /// finding like those of a hunt.
    ///
    /// # Errors
    /// If nothing can be executed.
    pub fn repeat(&mut self, how: crate::Recording, observer: &mut dyn Observer) -> Result<Vec<Finding>, Error> {
        self.executions += 1;
        let plan = Plan { tail: how.tail(), max_events: how.events, ..Plan::default() };
        let Some(execution) = self.hunter.run_one(plan)? else { return Ok(Vec::new()) };
        let failure = match execution.outcome {
            Outcome::Exited(status) if !how.allowed.contains(status) => Some(execution.failure(status, |_| false)),
            _ => None,
        };
        self.findings(&execution, failure, observer)
    }

    /// Tries a schedule that breaks a block, as often as other findings are replayed.
    fn try_block(
        &mut self,
        index: &Index<'_>,
        recording: &Recording,
        prediction: &Prediction,
        observer: &mut dyn Observer,
    ) -> Result<Tried, Error> {
        let mut finding = finding(index, prediction);
        for (plan, schedule) in witness(recording, prediction) {
            for (site, &event) in finding.sites.iter_mut().zip(&prediction.events) {
                site.event = schedule.number_of(recording, event).unwrap_or(0);
            }
            finding.schedule = blocks::schedule(&plan, schedule.events);
            for _ in 0..REPLAYS {
                self.executions += 1;
                let execution = blocks::run(&mut self.hunter.processes, &finding)?;
                let reason = match execution {
                    Some(execution) if blocks::shows(&execution, &finding) => continue,
                    Some(Execution { outcome: Outcome::Diverged(at), .. }) => {
                        self.diverged += 1;
                        divergence(recording, &schedule, at.0)
                    }
                    _ => NotShown::OtherAccesses,
                };
                return Ok(Tried::NotShown(reason, Vec::new()));
            }
        }
        finding.message = messages::no_longer_predicted(&finding.message);
        finding.replayed = [REPLAYS, REPLAYS];
        finding.confirmed = true;
        finding.execution = self.executions;
        finding.notes = vec![messages::broken_block()];
        let is_new = self.ids.insert(finding.id.clone());
        if is_new {
            self.save(&mut finding, observer);
        }
        Ok(Tried::Shown(if is_new { vec![finding] } else { Vec::new() }))
    }

    /// Returns what an execution says about its prediction.
    fn look(
        &mut self,
        recording: &Recording,
        prediction: &Prediction,
        schedule: &Schedule,
        execution: &Execution,
        observer: &mut dyn Observer,
    ) -> Result<Tried, Error> {
        if let Outcome::Diverged(at) = execution.outcome {
            self.diverged += 1;
            return Ok(Tried::NotShown(divergence(recording, schedule, at.0), Vec::new()));
        }
        let bugs = execution.bugs();
        let findings = self.findings(execution, None, observer)?;
        let is_sure = |bug: &Bug| self.explained.get(bug).copied().unwrap_or(false);
        let shown = bugs.iter().any(|bug| is_sure(bug) && is_predicted(recording, prediction, bug));
        if shown {
            return Ok(Tried::Shown(findings));
        }
        let reason = match &execution.outcome {
            _ if !findings.is_empty() => {
                NotShown::SomethingElse(findings.iter().map(|finding| finding.id.clone()).collect())
            }
            _ if !bugs.is_empty() => NotShown::Known,
            Outcome::Limit(limit) => NotShown::Limit(limit.clone()),
            Outcome::Lost(how) => NotShown::Lost(how.clone()),
            _ => NotShown::Nothing,
        };
        Ok(Tried::NotShown(reason, findings))
    }

    /// Returns the new findings of an execution, and of the failure that its exit status shows. A bug that no replay shows
    /// does not count.
    fn findings(
        &mut self,
        execution: &Execution,
        failure: Option<Bug>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Finding>, Error> {
        let repeat = execution.repeat();
        let mut findings = Vec::new();
        for bug in execution.bugs().into_iter().chain(failure) {
            if self.explained.contains_key(&bug) {
                continue;
            }
            let (explainer, processes) = self.hunter.explainer();
            let mut finding = explainer.finding(processes, &bug, &repeat, self.executions)?;
            self.explained.insert(bug, finding.confirmed);
            if finding.confirmed && self.ids.insert(finding.id.clone()) {
                self.save(&mut finding, observer);
                findings.push(finding);
            }
        }
        Ok(findings)
    }

    /// Stores a finding. A finding that cannot be stored still counts.
    fn save(&self, finding: &mut Finding, observer: &mut dyn Observer) {
        if let Err(error) = store::save(self.out, &self.hunter.stored(finding.clone())) {
            finding.notes.push(messages::not_kept(&finding.id));
            observer.notice(Event::Warning(Warning::FindingNotKept { id: &finding.id, error: &error }));
        }
    }
}

/// Returns where the program left the schedule, in terms of the trace.
fn divergence(recording: &Recording, schedule: &Schedule, at: u64) -> NotShown {
    let trace = &recording.trace;
    let instead_of = schedule.event_at(at).map(|event| {
        let thread = trace.threads()[usize::from(trace.thread(event))].clone();
        (thread, in_words(trace, event))
    });
    NotShown::Diverged { at, instead_of }
}
