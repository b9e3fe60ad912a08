//! Explains, stores and reports each bug of a campaign once.

use crate::campaign::{Kept, Reported};
use crate::causes::Causes;
use crate::fleet::Notice;
use crate::pace::Pace;
use crate::session::add_libraries;
use crate::world::World;
use crate::{Error, Event, Hunt, Hunter, Observer, Stored, Subject, Suppressions, Warning, doubts, sources, store};
use racehunter_explain::{Explainer, uncontrolled};
use racehunter_explore::{
    Allowed, Bug, Endings, Execution, Executor, ExecutorError, Found, Outcome, Progress, Summary,
};
use racehunter_finding::{Assumption, Coverage, Failure, Finding, Unclear, fingerprint};
use racehunter_launch::{Limits, Processes};
use racehunter_log::Escape;
use racehunter_report::{Bound, messages, unclear};
use racehunter_symbols::Symbols;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The findings of a hunt.
pub(crate) struct Findings<'a> {
    symbols: &'a mut Symbols,
    load_address: u64,
    subject: Subject,
    checks_output: bool,
    limits: Limits,
    seed: u64,
    infers: bool,
    allowed: Allowed,
    out: &'a Path,
    suppressions: &'a Suppressions,
    interrupted: Arc<AtomicBool>,
    observer: &'a mut dyn Observer,
    world: World,
    /// The campaign began in an earlier run of the command, or other machines take part in it.
    is_resumed: bool,
    /// The ids of all findings, confirmed or not, and the files in which each was found.
    ids: HashMap<String, Vec<String>>,
    reported: Reported,
    trouble: Option<Error>,
    /// Findings that count: confirmed and not suppressed.
    counted: usize,
    /// Failing exit statuses whose findings are reported at the end of the hunt.
    late: Vec<(i32, Stored)>,
    /// Bugs that are explained at the end, because explaining has used up its share of the time.
    waiting: Vec<Found>,
    pace: Pace,
    /// How the first execution, which checks whether there is anything to explore, failed.
    failed_at_first: Option<Failure>,
    /// The user was warned that findings cannot be stored.
    has_warned: bool,
    /// Findings with the same cause.
    causes: Causes,
    /// Executions so far. A finding before the first one, while points are collected, does not end the hunt yet.
    executions: u64,
}

impl<'a> Findings<'a> {
    /// Creates an empty set of findings for the program that an executor runs.
    pub(crate) fn of(
        hunter: &'a mut Hunter,
        hunt: &'a Hunt<'_>,
        world: World,
        observer: &'a mut dyn Observer,
    ) -> (&'a mut Processes, Self) {
        let interrupted = hunter.interrupted();
        let checks_output = hunter.checks_output();
        let Hunter { subject, symbols, processes, clock, limits, stop, .. } = hunter;
        let findings = Self {
            symbols,
            load_address: processes.load_address(),
            subject: subject.clone(),
            checks_output,
            limits: *limits,
            seed: hunt.options.seed,
            infers: hunt.budget.infer_races,
            allowed: hunt.budget.allowed,
            out: hunt.out,
            suppressions: hunt.suppressions,
            interrupted,
            observer,
            world,
            is_resumed: false,
            ids: HashMap::new(),
            reported: Reported::default(),
            trouble: None,
            counted: 0,
            late: Vec::new(),
            waiting: Vec::new(),
            pace: Pace::new(clock.clone(), hunt.began, hunt.time, stop.clone()),
            failed_at_first: None,
            has_warned: false,
            causes: Causes::default(),
            executions: 0,
        };
        (processes, findings)
    }

    /// Notes how the execution ended that checks whether there is anything to explore.
    pub(crate) fn set_first(&mut self, first: Option<&Execution>) {
        let fails = |outcome: &Outcome| matches!(outcome, Outcome::Exited(status) if !self.allowed.contains(*status));
        let failed = first.filter(|first| !first.bugs().is_empty() || fails(&first.outcome));
        self.failed_at_first = failed.map(|first| doubts::failure(&first.outcome));
    }

    /// Notes that other machines take part: what the program reads must be the same there.
    pub(crate) fn set_divided(&mut self) {
        self.is_resumed = true;
    }

    /// Notes the progress of the campaign.
    pub(crate) fn note(&mut self, progress: Progress) {
        match progress {
            Progress::Execution { number, waiting, remaining } => {
                self.pace.learnt();
                self.executions = number;
                let findings = self.ids.len();
                self.observer.notice(Event::Execution { number, waiting, remaining, findings });
            }
            Progress::Stage { bound, rank, executions, complete } => {
                let (variables, threads) = (rank.map(|rank| rank.variables), rank.map(|rank| rank.threads));
                let iterations = rank.map(|rank| rank.iterations);
                let bound = Bound { bound, variables, threads, iterations, executions, complete };
                self.reported.bounds.push(bound);
                self.observer.notice(Event::Stage(&bound));
            }
            Progress::Points { added } => self.observer.notice(Event::Points { added }),
        }
    }

    /// Takes a bug of the campaign, and explains it now or later.
    pub(crate) fn take(&mut self, found: &Found, executor: &mut dyn Executor) {
        if !self.pace.explains_now() || !self.report_late(found, self.waiting.len(), executor) {
            self.waiting.push(found.clone());
        }
    }

    /// Returns true if there is a finding that counts.
    pub(crate) fn has_first(&self) -> bool {
        self.counted > 0 && self.executions > 0
    }

    /// Returns true if there is time to learn from an execution with this many records.
    pub(crate) fn has_time_for(&mut self, records: usize) -> bool {
        self.pace.has_time_for(records)
    }

    /// Returns true if it is time to stop exploring.
    pub(crate) fn is_over(&self) -> bool {
        self.pace.is_over(self.waiting.len())
    }

    /// Returns true if the user has interrupted the hunt.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Returns what was reported so far.
    pub(crate) fn reported(&self) -> &Reported {
        &self.reported
    }

    /// Returns the bugs that wait to be explained.
    pub(crate) fn take_waiting(&mut self) -> Vec<Found> {
        std::mem::take(&mut self.waiting)
    }

    /// Explains, stores and reports a bug; `waiting` is the number of bugs that wait. Returns false if time ran out.
    pub(crate) fn report_late(&mut self, found: &Found, waiting: usize, executor: &mut dyn Executor) -> bool {
        if self.pace.is_at_its_end() {
            return false;
        }
        match self.explain(found, waiting, executor) {
            Ok(Some(finding)) => self.add(found, finding),
            Ok(None) => return false,
            Err(error) => {
                self.trouble.get_or_insert(error.into());
            }
        }
        true
    }

    fn explain(
        &mut self,
        found: &Found,
        waiting: usize,
        executor: &mut dyn Executor,
    ) -> Result<Option<Finding>, ExecutorError> {
        add_libraries(self.symbols, executor);
        let (symbols, load_address, infers) = (&*self.symbols, self.load_address, self.infers);
        let until = self.pace.end();
        self.pace.explain(waiting, |patience| {
            let explainer = Explainer { symbols, load_address, patience, until, infers };
            let finding = explainer.look_into(executor, &found.bug, &found.repeat, found.execution)?;
            Ok(match (&finding, &found.unreplayable) {
                (None | Some(Finding { confirmed: false, .. }), Some(unreplayable)) => {
                    Some(explainer.seen(unreplayable, &found.bug, found.execution))
                }
                _ => finding,
            })
        })
    }

    /// Adds a finding. One that looks like another in the source is not reported again.
    fn add(&mut self, found: &Found, mut finding: Finding) {
        if let Some(files) = self.ids.get(&finding.id) {
            if are_same(files, &files_of(&finding)) {
                return;
            }
            // Different files with the same name can have the same lines.
            let places: Vec<String> = std::iter::once(finding.id.clone()).chain(files_of(&finding)).collect();
            finding.id = fingerprint(finding.kind, &places);
            if self.ids.contains_key(&finding.id) {
                return;
            }
        }
        self.reported.unconfirmed.retain(|known| known.id != finding.id);
        if !finding.confirmed {
            // It is reported at the end, unless a later execution confirms it.
            self.reported.unconfirmed.push(finding);
            return;
        }
        self.reported.findings.push(finding.id.clone());
        let preemptions = finding.preemptions;
        let stored = self.keep(finding);
        match &found.bug {
            // Whether all schedules end like this is known only at the end.
            Bug::ExitStatus(status) if preemptions == 0 => self.late.push((*status, stored)),
            _ => self.show(&stored.finding),
        }
    }

    /// Continues a hunt, and repeats what it has already reported.
    pub(crate) fn recall(&mut self, kept: Kept) {
        self.is_resumed = true;
        for bound in kept.bounds {
            self.reported.bounds.push(bound);
            self.observer.notice(Event::Stage(&bound));
        }
        for id in kept.findings {
            let mut stored = match store::load(self.out, &id) {
                Ok(stored) => stored,
                Err(error) => {
                    // It was confirmed when it was found, and counts.
                    self.observer.notice(Event::Warning(Warning::FindingLost { id: &id, error: &error }));
                    self.counted += 1;
                    self.reported.findings.push(id);
                    continue;
                }
            };
            self.suppressions.apply(&mut stored.finding);
            self.counted += usize::from(stored.finding.counts());
            self.causes.add(&mut stored.finding);
            self.observer.notice(Event::Finding { finding: &stored.finding, is_old: true });
            self.ids.insert(id.clone(), files_of(&stored.finding));
            self.reported.findings.push(id);
        }
        self.reported.unconfirmed = kept.unconfirmed;
    }

    /// Returns what was explored, in the terms of the source.
    pub(crate) fn coverage(&mut self, summary: &Summary, executor: &dyn Executor) -> Coverage {
        add_libraries(self.symbols, executor);
        let mut coverage = summary.coverage.clone();
        coverage.uncontrolled = uncontrolled(self.symbols, &summary.escaped);
        coverage.assumes.push(Assumption::Seed(self.seed));
        if self.is_resumed {
            coverage.assumes.push(Assumption::SameFiles);
        }
        if self.is_interrupted() {
            coverage.missed.insert(0, messages::interrupted());
        }
        if self.counted == 0 {
            let mut seen = self.reported.unconfirmed.clone();
            seen.iter_mut().for_each(|finding| self.suppressions.apply(finding));
            let seen = seen.iter().filter(|finding| finding.suppressed.is_none()).count();
            let mut reasons = doubts::unclear(summary, self.limits, seen);
            let is_explained = !self.ids.is_empty() || !self.reported.unconfirmed.is_empty();
            if let (Some(failure), false) = (&self.failed_at_first, is_explained) {
                reasons.push(Unclear::FailedAtFirst(failure.clone()));
            }
            let has_client = summary.escaped.iter().any(|escaped| escaped.what == Escape::Client);
            if self.subject.client.is_some() && !has_client && summary.endings.completed > 0 {
                reasons.push(Unclear::NoClient);
            }
            coverage.unclear = reasons.iter().map(unclear).collect();
        }
        coverage.complete &= coverage.unclear.is_empty();
        coverage
    }

    /// Counts and stores a finding. A finding that cannot be stored still counts.
    fn keep(&mut self, mut finding: Finding) -> Stored {
        self.ids.insert(finding.id.clone(), files_of(&finding));
        self.suppressions.apply(&mut finding);
        self.counted += usize::from(finding.counts());
        self.causes.add(&mut finding);
        finding.notes.extend(sources::newer(&finding, &self.subject.path));
        let identity = self.symbols.binary().identity.clone();
        let mut stored = self.subject.stored(identity, self.checks_output, finding);
        stored.world = Some(self.world.clone());
        self.save(&mut stored);
        stored
    }

    fn save(&mut self, stored: &mut Stored) {
        let Err(error) = store::save(self.out, stored) else { return };
        stored.finding.notes.push(messages::not_kept(&stored.finding.id));
        if !std::mem::replace(&mut self.has_warned, true) {
            self.observer.notice(Event::Warning(Warning::FindingsNotKept(&error)));
        }
    }

    /// Warns that the state of the hunt cannot be stored.
    pub(crate) fn warn_about_campaign(&mut self, error: &Error) {
        self.observer.notice(Event::Warning(Warning::CampaignNotKept(error)));
    }

    /// Warns that a worker of the fleet was shut out.
    pub(crate) fn warn_about_worker(&mut self, notice: &Notice<'_>) {
        let Notice::ShutOut { worker, why } = *notice;
        self.observer.notice(Event::Warning(Warning::WorkerShutOut { worker, why }));
    }

    fn show(&mut self, finding: &Finding) {
        self.observer.notice(Event::Finding { finding, is_old: false });
    }

    /// Reports what had to wait for the end: exit statuses, once it is known whether all schedules have them, and
    /// findings that no replay has confirmed. Returns how many findings count.
    pub(crate) fn finish(mut self, endings: &Endings) -> Result<usize, Error> {
        for (status, mut stored) in std::mem::take(&mut self.late) {
            if endings.always(status) {
                stored.finding.notes.push(messages::every_schedule(status, endings.completed));
                self.save(&mut stored);
            }
            self.show(&stored.finding);
        }
        let counted = self.counted;
        for finding in std::mem::take(&mut self.reported.unconfirmed) {
            let stored = self.keep(finding);
            self.show(&stored.finding);
        }
        self.trouble.map_or(Ok(counted), Err)
    }
}

/// Returns the files of a finding's places, sorted by name: which of two accesses comes first depends on the schedule.
fn files_of(finding: &Finding) -> Vec<String> {
    let mut files: Vec<String> = finding.sites.iter().map(|site| site.file.clone()).collect();
    files.sort_by(|one, other| (sources::name(one), one).cmp(&(sources::name(other), other)));
    files.dedup();
    files
}

fn are_same(files: &[String], others: &[String]) -> bool {
    files.len() == others.len() && files.iter().zip(others).all(|(one, other)| sources::may_be_same(one, other))
}
