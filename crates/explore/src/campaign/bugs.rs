//! The bugs that executions show: which are new, how they are repeated, and when they are reported.

use super::{Campaign, Found};
use crate::{Bug, Descriptor, Execution, Executor, Outcome, Plan, decisions};
use racehunter_log::{CodeAddress, Entry, Record};

/// Maximum number of exit statuses reported as separate bugs. A program may count its failures in its status.
pub(super) const MOST_STATUSES: usize = 4;

impl Campaign<'_> {
    pub(super) fn note_bugs(&mut self, plan: &Plan, execution: &Execution, reports: &[Record]) {
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return;
        }
        if matches!(execution.outcome, Outcome::Exited(status) if self.budget.allowed.contains(status)) {
            self.harmless.extend(execution.printed_panics().into_iter().map(|panic| (panic.file, panic.line)));
        }
        let mut bugs = execution.bugs_among(reports);
        let known = |known: &Bug| matches!(known, Bug::Panic(..) | Bug::ExitStatus(_) | Bug::Output(_));
        if let Outcome::Exited(status) = execution.outcome
            && !self.budget.allowed.contains(status)
            && self.known.iter().filter(|bug| known(bug)).count() < MOST_STATUSES
        {
            let harmless = &self.harmless;
            bugs.push(execution.failure(status, |panic| harmless.contains(&(panic.file.clone(), panic.line))));
        } else if let Some(difference) = self.reference.as_ref().and_then(|reference| execution.difference(reference))
            && !self.known.iter().any(known)
        {
            // Once the output is known to depend on the schedule, further values show nothing new.
            bugs.push(difference);
        }
        for bug in bugs {
            let is_new = if plan.free {
                !self.known.contains(&bug) && self.seen_freely.insert(bug.clone())
            } else {
                self.known.insert(bug.clone())
            };
            if !is_new {
                continue;
            }
            let mut repeat = if plan.free { provocation(plan, &bug) } else { execution.repeat_to(&bug) };
            // If nothing is inferred, a pair that met is looked for in the same way.
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
                unreplayable: plan.free.then(|| Box::new(outline(execution))),
            });
        }
    }

    /// Notes an execution that there is no time to learn from. Its target waits again, so only whether it failed counts.
    pub(super) fn give_up(&mut self, execution: &Execution) {
        let is_new = |bug: &Bug| !self.known.contains(bug);
        let fails = matches!(execution.outcome, Outcome::Exited(status) if !self.budget.allowed.contains(status));
        let is_followed = !matches!(execution.outcome, Outcome::Diverged(_));
        self.unexamined += u64::from(is_followed && (fails || execution.bugs().iter().any(is_new)));
    }

    /// Reports the bugs found since the last call, as long as there is time; at least one of them.
    pub(super) fn report_bugs(&mut self, executor: &mut dyn Executor, should_stop: &mut dyn FnMut() -> bool) {
        if self.budget.stop_on_first {
            // One execution can show hundreds, and examining each takes time.
            self.found.truncate(1);
        }
        while self.reported < self.found.len() {
            // A part only notes its bugs: the campaign that it belongs to examines them.
            if self.reported > 0 && !self.lending.is_part() && should_stop() {
                self.postponed.extend(self.found.drain(self.reported..));
                break;
            }
            self.watcher.bug(&self.found[self.reported], &mut *executor);
            self.reported += 1;
        }
    }

    /// Takes back a bug that was reported and not examined for lack of time: a resumed campaign reports it again.
    pub fn postpone(&mut self, bug: &Bug) {
        self.postponed.extend(self.found.extract_if(.., |found| found.bug == *bug));
        self.reported = self.found.len();
    }
}

/// Returns a plan that provokes, under control, a bug seen in a free-running execution, which cannot be repeated: at the
/// pair that the plan provoked, or at the first time that the program reaches one of the places.
fn provocation(plan: &Plan, bug: &Bug) -> Plan {
    let at = |&code: &CodeAddress| Descriptor { code, path: None, callers: Vec::new(), nth: 1 };
    let provoke = match (&plan.provoke, bug) {
        (Some(pair), _) => Some(pair.clone()),
        (None, Bug::Race(first, second)) => Some(Box::new([at(first), at(second)])),
        (None, _) => None,
    };
    Plan { provoke, ..Plan::default() }
}

/// Returns an execution without its accesses.
fn outline(execution: &Execution) -> Execution {
    let kept = execution.records.iter().filter(|record| !Entry::of(record).is_access());
    let (outcome, output) = (execution.outcome.clone(), execution.output.clone());
    let (records, stacks) = (kept.copied().collect(), execution.stacks.clone());
    Execution { records, stacks, outcome, output, ..*execution }
}
