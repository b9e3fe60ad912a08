//! Takes one execution into a campaign.

use super::{Campaign, Member, Progress, Running};
use crate::execution::escapes_among;
use crate::patience::Worth;
use crate::portfolio::Fate;
use crate::{Execution, Outcome, Plan};
use racehunter_log::{Entry, Event, EventNumber, Record};

/// Number of retries of a target whose plan could not be followed.
const RETRIES: u32 = 2;

impl Campaign<'_> {
    /// `reports` are its [`Execution::report_records`].
    pub(super) fn fold(&mut self, running: &Running, plan: &Plan, execution: &Execution, reports: &[Record]) {
        if !plan.free && self.patience.learn(plan, running.full, execution) == Worth::Again {
            // Not counted: it is the prefix of an execution that will be.
            self.portfolio.member(running.member).tell(running.tries, Fate::Again);
            self.note_bugs(plan, execution, reports);
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
        self.note_escapes(reports, 1);
        let is_point = |entry: &Entry<'_>| !plan.free && entry.is_operation() && entry.code().is_known();
        // Long executions are loops, so most places repeat soon.
        let mut recent = [0; 256];
        for entry in execution.entries().filter(is_point) {
            let code = entry.code().0;
            let known = &mut recent[code as usize % 256];
            if std::mem::replace(known, code) != code {
                self.places.insert(code);
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
            self.lending.restart();
        }
        for other in (0..self.members.len()).filter(|&other| other != running.member) {
            self.portfolio.member(other).overhear(execution);
        }
        self.note_bugs(plan, execution, reports);
        let (number, waiting) = (self.counts.executions, self.portfolio.waiting());
        let remaining = self.portfolio.remaining();
        self.watcher.progress(Progress::Execution { number, waiting, remaining });
    }

    /// Takes in an execution outside this campaign: what was not seen of it counts.
    pub fn has_seen(&mut self, execution: &Execution) {
        for escape in execution.escapes().into_iter().filter(|(what, ..)| what.is_unseen()) {
            self.escaped.entry(escape).or_default();
        }
    }

    pub(super) fn note_escapes(&mut self, reports: &[Record], count: u64) {
        for escape in escapes_among(reports) {
            *self.escaped.entry(escape).or_default() += count;
        }
    }
}

/// Returns whether the last choice of the plan turned out to be blocked. The log cannot show that for a thread that has
/// not reached its next operation yet, so such a target is not a schedule, and nothing diverged.
fn chose_a_waiting_thread(plan: &Plan, execution: &Execution, at: EventNumber) -> bool {
    let Some(last) = plan.switches.last().filter(|last| last.at == at) else { return false };
    let is_wait = |event: &Event| matches!(event, Event::Blocked { .. } | Event::Suspended { .. });
    let is_choice = |event: &Event| matches!(event, Event::Switch { to, .. } if *to == last.to);
    let scheduling = execution.entries().rev().filter(|entry| entry.is_scheduling());
    let scheduling = scheduling.map(|entry| (entry, entry.event()));
    let mut end = scheduling.filter(|(entry, event)| entry.is_switch() || is_wait(event));
    let waits = end.next().filter(|(entry, event)| is_wait(event) && entry.thread() == last.to);
    let chosen = end.next().filter(|(_, event)| is_choice(event));
    waits.zip(chosen).is_some_and(|(waits, chosen)| [waits, chosen].iter().all(|(entry, _)| entry.number() == at))
}
