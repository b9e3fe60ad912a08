//! Campaigns whose targets other campaigns explore: on other machines, for example.
//!
//! A campaign lends targets as *parts*. A part is the saved state of a campaign that has these targets and in which
//! nothing has happened yet. Another campaign resumes it, explores some of it, and saves itself; the lender takes that
//! back. Each target is in exactly one place at any time: it waits here, or it is lent. A stage ends when no target of
//! it waits and none is lent. So the executions of a search that leaves nothing out are those of one campaign alone,
//! however it was divided.

use super::{Campaign, Counts, Found, Member, Stop};
use crate::{Bug, Executor, Share, Unusable};
use std::collections::BTreeMap;

/// What a campaign has lent, or that it was lent itself.
#[derive(Default)]
pub(super) struct Lending {
    /// It is a part of another campaign.
    is_part: bool,
    /// A part has started again: what was done with it takes the ground from what the others do.
    restarted: bool,
    /// Parts that were lent and not taken back: for each member whether it has targets there.
    lent: BTreeMap<u64, Vec<bool>>,
}

impl Lending {
    /// Nothing is lent.
    pub(super) fn is_over(&self) -> bool {
        self.lent.is_empty()
    }

    /// This is a part of another campaign.
    pub(super) fn is_part(&self) -> bool {
        self.is_part
    }

    /// A member may not go on to its next stage.
    pub(super) fn holds_up(&self, member: usize) -> bool {
        self.is_part || self.lent.values().any(|members| members.get(member).is_some_and(|has_targets| *has_targets))
    }

    /// Something was seen after which analyses that claim to cover everything start again.
    pub(super) fn restart(&mut self) {
        self.restarted |= self.is_part;
    }

    /// Returns whether this is a part that has started again. The campaign that it belongs to decides what follows.
    pub(super) fn has_restarted(&self) -> bool {
        self.restarted
    }
}

/// What came of a part that was taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Its executions.
    pub executions: u64,
    /// The search started again because of it. Parts that were lent before are void.
    pub restarted: bool,
}

impl Campaign<'_> {
    /// Whether other campaigns can do the work: whether [`Campaign::lend`] works.
    #[must_use]
    pub fn lends(&self) -> bool {
        self.portfolio.lends() && self.budget.part.is_whole()
    }

    /// Executions so far.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.counts.executions
    }

    /// Targets that wait, of members that claim something when they are done.
    #[must_use]
    pub fn waiting_to_claim(&mut self) -> usize {
        let queues = (0..self.members.len()).map(|index| {
            let queue = self.portfolio.member(index);
            if queue.may_claim() { queue.waiting() } else { 0 }
        });
        queues.sum()
    }

    /// Whether every member claims something when it is done, so that there is nothing to lend unless targets wait.
    #[must_use]
    pub fn only_claims(&mut self) -> bool {
        (0..self.members.len()).all(|index| self.portfolio.member(index).may_claim())
    }

    /// Parts that were lent and not taken back.
    #[must_use]
    pub fn lent(&self) -> usize {
        self.lending.lent.len()
    }

    /// Lends a share of the waiting targets: the state of a campaign that explores them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn lend(&mut self, share: Share) -> std::io::Result<Vec<u8>> {
        let mut state = Vec::new();
        let targets = self.save_share(share, &mut state)?;
        self.lending.lent.insert(share.number, targets.into_iter().map(|targets| targets > 0).collect());
        Ok(state)
    }

    /// Explores a part that another campaign has lent. Nothing may have been run before.
    ///
    /// # Errors
    /// When it is not a part of a campaign with the same analyses.
    pub fn borrow(&mut self, part: &[u8]) -> Result<(), Unusable> {
        self.lending.is_part = true;
        self.load(&mut &part[..])
    }

    /// The sites that are points because memory is shared there; sorted.
    #[must_use]
    pub fn points(&self) -> Vec<u32> {
        self.sites()
    }

    /// Makes them points of an executor.
    pub fn use_points(&self, executor: &mut dyn Executor) {
        executor.add_points(&self.sites());
    }

    /// Bugs so far.
    #[must_use]
    pub fn found(&self) -> usize {
        self.found.len()
    }

    /// Starts again: what was explored so far cannot be relied on. Parts that were lent are void.
    pub fn start_over(&mut self) {
        self.lending.lent.clear();
        self.counts.stable_for = 0;
        for (index, member) in self.members.iter_mut().enumerate() {
            let queue = self.portfolio.member(index);
            if queue.may_claim() {
                queue.start();
                *member = Member::default();
            }
        }
    }

    /// Whether this part has started again, and its other targets are void.
    #[must_use]
    pub fn has_restarted(&self) -> bool {
        self.lending.has_restarted()
    }

    /// Takes back a part, which has made at most `most` executions. `part` is a new campaign with the same analyses, and
    /// `state` what the part has saved.
    ///
    /// # Errors
    /// When the state is not that of a part which was lent. Nothing is changed then.
    pub fn take_back(
        &mut self,
        (number, most): (u64, u64),
        mut part: Campaign<'_>,
        (state, restarted): (&[u8], bool),
        executor: &mut dyn Executor,
    ) -> Result<Returned, Unusable> {
        if !self.lending.lent.contains_key(&number) {
            return Err(Unusable::Other);
        }
        part.load(&mut &state[..])?;
        if part.members.iter().any(|member| member.finished || !member.claims.is_empty()) {
            // Only the whole can claim anything.
            return Err(Unusable::Damaged);
        }
        if part.counts.executions > most || !part.started {
            return Err(Unusable::Damaged);
        }
        let first = self.counts.executions;
        let executions = part.counts.executions;
        self.lending.lent.remove(&number);
        self.add_counts(part.counts);
        self.endings.add(std::mem::take(&mut part.endings));
        self.add_bugs(std::mem::take(&mut part.found), first);
        self.places.extend(part.places.drain());
        self.threads = self.threads.max(part.threads);
        self.events = self.events.max(part.events);
        for (escape, executions) in std::mem::take(&mut part.escaped) {
            *self.escaped.entry(escape).or_default() += executions;
        }
        self.patience.learn_from(part.patience);
        for (own, part) in self.members.iter_mut().zip(&part.members) {
            own.executions += part.executions;
            own.completed += part.completed;
        }
        let sites = part.sites();
        let grew = sites.iter().filter(|&&site| self.sites.insert(site)).count();
        executor.add_points(&sites);
        self.portfolio.take_back(part.portfolio, restarted);
        let claims = (0..self.members.len()).any(|index| self.portfolio.member(index).may_claim());
        if restarted {
            self.lending.lent.clear();
            self.counts.stable_for = 0;
            for (index, member) in self.members.iter_mut().enumerate() {
                if self.portfolio.member(index).may_claim() {
                    *member = Member::default();
                }
            }
        } else if grew > 0 && claims {
            // A part that notices new points starts again by itself. One that did not is not relied on.
            self.start_over();
        }
        if grew > 0 {
            self.watcher.progress(super::Progress::Points { added: grew });
        }
        self.note_progress();
        Ok(Returned { executions, restarted: restarted || grew > 0 && claims })
    }

    /// Takes over the bugs of a part that came too late, and nothing else of it.
    ///
    /// # Errors
    /// When the state is not that of a part.
    pub fn take_bugs(&mut self, mut part: Campaign<'_>, state: &[u8]) -> Result<(), Unusable> {
        part.load(&mut &state[..])?;
        let first = self.counts.executions;
        self.add_bugs(std::mem::take(&mut part.found), first);
        Ok(())
    }

    /// Reports the bugs of the parts that were taken back. No execution may be under way.
    pub fn report(&mut self, executor: &mut dyn Executor, should_stop: &mut dyn FnMut() -> bool) {
        self.report_bugs(executor, should_stop);
    }

    /// Moves on to the next stage where nothing waits and nothing is lent. Returns why the campaign ends, when it does.
    pub fn settle(&mut self, should_stop: &mut dyn FnMut() -> bool) -> Option<Stop> {
        if !self.started {
            // Nothing waits because nothing was looked at yet.
            return Some(Stop::Asked);
        }
        self.finish_stages();
        if self.budget.stop_on_first && !self.found.is_empty() {
            return Some(Stop::FirstBug);
        }
        let left = self.budget.runs.map_or(u64::MAX, |runs| runs.saturating_sub(self.counts.executions));
        self.reason_to_stop(left, should_stop)
    }

    fn add_counts(&mut self, part: Counts) {
        let Counts { executions, diverged, given_up, impossible, limited, lost, partial, .. } = part;
        let Counts { monitors, growths, stable_for, common, .. } = part;
        let own = &mut self.counts;
        own.executions += executions;
        own.diverged += diverged;
        own.given_up += given_up;
        own.impossible += impossible;
        own.limited += limited;
        own.lost += lost;
        own.partial += partial;
        own.monitors += monitors;
        own.stable_for = if growths > 0 { stable_for } else { own.stable_for + stable_for };
        own.growths += growths;
        own.common += common;
    }

    /// New bugs of a part, whose executions come after the first `before`.
    fn add_bugs(&mut self, found: Vec<Found>, before: u64) {
        for found in found {
            if !self.says_enough(&found.bug) && self.known.insert(found.bug.clone()) {
                self.found.push(Found { execution: before + found.execution, ..found });
            }
        }
    }

    /// Whether further bugs of this kind say nothing new, as for those of single executions.
    fn says_enough(&self, bug: &Bug) -> bool {
        let is_status = |bug: &Bug| matches!(bug, Bug::Panic(..) | Bug::ExitStatus(_) | Bug::Output(_));
        let known = self.known.iter().filter(|known| is_status(known)).count();
        match bug {
            Bug::Output(_) => known > 0,
            bug if is_status(bug) => known >= super::bugs::MOST_STATUSES,
            _ => false,
        }
    }

    fn note_progress(&mut self) {
        let (number, waiting) = (self.counts.executions, self.portfolio.waiting());
        let remaining = self.portfolio.remaining();
        self.watcher.progress(super::Progress::Execution { number, waiting, remaining });
    }
}
