//! Predictions, tried on the program.

use crate::blocks;
use crate::hunt::add_libraries;
use crate::record::Recorded;
use crate::store::{self, Stored};
use anyhow::Result;
use racehunter_analyses::{is_predicted, witness};
use racehunter_explain::{Explainer, PATIENCE};
use racehunter_explore::{Bug, Execution, Executor as _, Observe, Outcome, Plan, shared_sites};
use racehunter_finding::Finding;
use racehunter_predict::{Index, Kind, Prediction};
use racehunter_report::messages;
use racehunter_trace::recording::{Recording, Schedule};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Events of the run that finds out where threads share memory, at most.
const MONITORED: u64 = 4_000_000;

/// How often the schedule that breaks a block is run.
const REPLAYS: u32 = 5;

/// What became of a prediction.
pub enum Verdict {
    /// The program did it: these findings were not told before. There are none when another prediction led to the same.
    Shown(Vec<Finding>),
    /// It did not, and why; and findings that showed instead, and were not told before.
    NotShown(String, Vec<Finding>),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shown(findings) if findings.is_empty() => write!(to, "shown, and told already"),
            Self::Shown(findings) => {
                let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
                write!(to, "shown, {}", ids.join(", "))
            }
            Self::NotShown(reason, _) => write!(to, "not shown: {reason}"),
        }
    }
}

/// Tries predictions on the program that the trace was recorded from.
pub struct Confirmer<'a> {
    program: &'a mut Recorded,
    out: &'a Path,
    /// What was told.
    ids: HashSet<String>,
    /// Bugs that were explained, which takes its time, and whether they showed again each time.
    explained: HashMap<Bug, bool>,
    /// Executions of predictions, and those that did not follow.
    pub executions: u64,
    pub diverged: u64,
}

impl<'a> Confirmer<'a> {
    /// Prepares the program: findings are made simpler by looking among the schedules that switch where memory is
    /// shared, so that has to be known.
    pub fn new(program: &'a mut Recorded, out: &'a Path) -> Result<Self> {
        let monitor = Plan { observe: Observe::Everything, max_events: MONITORED, ..Plan::default() };
        for execution in program.processes.run(&[monitor])? {
            program.processes.add_points(&shared_sites(&execution));
        }
        Ok(Self { program, out, ids: HashSet::new(), explained: HashMap::new(), executions: 0, diverged: 0 })
    }

    /// Carries a prediction out. What shows on the way, whatever it is, is a finding like those of a hunt: minimised,
    /// replayed, stored.
    pub fn confirm(&mut self, index: &Index<'_>, recording: &Recording, prediction: &Prediction) -> Result<Verdict> {
        if prediction.kind == Kind::Atomicity {
            return self.confirm_block(index, recording, prediction);
        }
        let (mut first, mut others) = (String::new(), Vec::new());
        for (plan, schedule) in witness(recording, prediction) {
            self.executions += 1;
            let Some(execution) = self.program.processes.run(&[plan])?.pop() else { continue };
            match self.look(recording, prediction, &schedule, &execution)? {
                Verdict::Shown(findings) => {
                    others.extend(findings);
                    return Ok(Verdict::Shown(others));
                }
                Verdict::NotShown(reason, findings) => {
                    others.extend(findings);
                    // The first reason is the more telling one.
                    first = if first.is_empty() { reason } else { first };
                }
            }
        }
        Ok(Verdict::NotShown(first, others))
    }

    /// Carries out what breaks a block, as often as everything else is replayed.
    fn confirm_block(&mut self, index: &Index<'_>, recording: &Recording, prediction: &Prediction) -> Result<Verdict> {
        let mut finding = crate::predictions::finding(index, prediction);
        for (plan, schedule) in witness(recording, prediction) {
            for (site, &event) in finding.sites.iter_mut().zip(&prediction.events) {
                site.event = schedule.number_of(recording, event).unwrap_or(0);
            }
            finding.schedule = blocks::schedule(&plan, schedule.events);
            for _ in 0..REPLAYS {
                self.executions += 1;
                let execution = blocks::run(&mut self.program.processes, &finding)?;
                let reason = match execution {
                    Some(execution) if blocks::shows(&execution, &finding) => continue,
                    Some(Execution { outcome: Outcome::Diverged(at), .. }) => {
                        self.diverged += 1;
                        divergence(recording, &schedule, at)
                    }
                    _ => "its schedule was followed, and the accesses were not those".to_owned(),
                };
                return Ok(Verdict::NotShown(reason, Vec::new()));
            }
        }
        finding.message = finding.message.replacen("predicted ", "", 1);
        (finding.replayed, finding.confirmed, finding.execution) = ([REPLAYS, REPLAYS], true, self.executions);
        finding.notes = vec!["an order of whole blocks does not explain what these accesses see".to_owned()];
        let is_new = self.ids.insert(finding.id.clone());
        if is_new {
            self.save(&mut finding);
        }
        Ok(Verdict::Shown(if is_new { vec![finding] } else { Vec::new() }))
    }

    /// What an execution says about the prediction that it was to show.
    fn look(
        &mut self,
        recording: &Recording,
        prediction: &Prediction,
        schedule: &Schedule,
        execution: &Execution,
    ) -> Result<Verdict> {
        if let Outcome::Diverged(at) = execution.outcome {
            self.diverged += 1;
            return Ok(Verdict::NotShown(divergence(recording, schedule, at), Vec::new()));
        }
        let bugs = execution.bugs();
        let findings = self.findings(execution)?;
        let is_sure = |bug: &Bug| self.explained.get(bug).copied().unwrap_or(false);
        let shown = bugs.iter().any(|bug| is_sure(bug) && is_predicted(recording, prediction, bug));
        if shown {
            return Ok(Verdict::Shown(findings));
        }
        let reason = match &execution.outcome {
            _ if !findings.is_empty() => {
                let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
                format!("its schedule was followed, and showed something else: {}", ids.join(", "))
            }
            _ if !bugs.is_empty() => "its schedule was followed, and showed only what was told already".to_owned(),
            Outcome::Limit(limit) => format!("its schedule was followed, and then stopped by the limit of {limit}"),
            Outcome::Lost(how) => format!("its execution was lost: {how}"),
            _ => "its schedule was followed to the end, and nothing was wrong".to_owned(),
        };
        Ok(Verdict::NotShown(reason, findings))
    }

    /// What an execution shows and was not told yet, as it is to be told. What cannot be shown again is not.
    fn findings(&mut self, execution: &Execution) -> Result<Vec<Finding>> {
        let repeat = execution.repeat();
        let mut findings = Vec::new();
        for bug in execution.bugs() {
            let Recorded { symbols, processes, .. } = &mut *self.program;
            add_libraries(symbols, processes);
            let explainer =
                Explainer { symbols, load_address: processes.load_address(), patience: PATIENCE, infers: true };
            if self.explained.contains_key(&bug) {
                continue;
            }
            let mut finding = explainer.finding(processes, &bug, &repeat, self.executions)?;
            self.explained.insert(bug, finding.confirmed);
            if finding.confirmed && self.ids.insert(finding.id.clone()) {
                self.save(&mut finding);
                findings.push(finding);
            }
        }
        Ok(findings)
    }

    /// Stores a finding. One that cannot be stored is a finding all the same.
    fn save(&self, finding: &mut Finding) {
        let origin = &self.program.origin;
        let stored = Stored {
            version: store::VERSION,
            program: self.program.path.clone(),
            identity: origin.identity.clone(),
            arguments: origin.arguments.clone(),
            input: origin.input.as_ref().map(Into::into),
            checks_output: false,
            finding: finding.clone(),
        };
        if let Err(error) = store::save(self.out, &stored) {
            finding.notes.push(messages::not_kept(&finding.id));
            eprintln!("warning: `{}` cannot be kept: {error:#}", finding.id);
        }
    }
}

/// Where the program stopped following, in terms of the trace.
fn divergence(recording: &Recording, schedule: &Schedule, at: u64) -> String {
    let trace = &recording.trace;
    let what = schedule.event_at(at).map_or_else(
        || "after its last event".to_owned(),
        |event| {
            let thread = &trace.threads()[usize::from(trace.thread(event))];
            format!("where {thread} was to {}", crate::predictions::in_words(trace, event))
        },
    );
    format!("the program left the schedule at event {at}, {what}")
}
