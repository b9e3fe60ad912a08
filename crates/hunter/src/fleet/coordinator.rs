//! The coordinator: lends parts of its campaign, and takes back what workers make of them.

use super::message::sha256;
use super::{Board, Delivered, EngineError, Part, PartResult, Queue, Status};
use crate::Clock;
use racehunter_explore::{Budget, Campaign, Executor, Portfolio, Progress, Share, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long the coordinator works alone before it lends parts. Short searches need no worker, and most accesses that
/// threads share show in the first executions.
pub(crate) struct Pilot;

impl Pilot {
    /// Executions after which there are parts in any case.
    const LONG: u64 = 64;
    /// Executions, at least.
    const SHORT: u64 = 16;
    /// Waiting targets after which there are parts.
    const TARGETS: usize = 16;

    /// Returns true if the campaign has work for others.
    pub(crate) fn is_over(campaign: &mut Campaign<'_>) -> bool {
        let executions = campaign.executions();
        executions >= Self::LONG || executions >= Self::SHORT && campaign.waiting_to_claim() >= Self::TARGETS
    }
}

/// Parts for each worker, so that none has to wait for the coordinator.
const PARTS_PER_WORKER: usize = 4;
/// Parts in any case, for workers that have not shown yet.
const SPARE_PARTS: usize = 12;
/// Targets of a part, at most: a part is one message.
const TARGETS: usize = 4_000;
/// Executions of a part, at least, unless the hunt has fewer left.
const LEAST_RUNS: u64 = 16;
/// Time between two looks at whether the hunt should stop.
const LOOK: Duration = Duration::from_millis(100);
/// Time without results after which the coordinator checks whether a worker has its parts.
const SILENCE: Duration = Duration::from_secs(5);
/// Time between two reports of how far the hunt is.
const REPORT: Duration = Duration::from_secs(1);
/// Time between two looks at whether workers have nothing to do.
const RECALL: Duration = Duration::from_millis(200);
/// The same if nothing came back since the last time: executions take long, and workers hand in between two of them.
const RECALL_AGAIN: Duration = Duration::from_secs(2);
/// A part is not split into pieces that are smaller than this fraction of the usual size, counted in targets.
const SMALLEST: u64 = 40;

/// A part that is lent.
struct Lent {
    part: Vec<u8>,
    digest: String,
    runs: u64,
}

/// What the coordinator says while it works.
pub(crate) enum Notice<'a> {
    /// A worker is shut out.
    ShutOut {
        /// The worker.
        worker: &'a str,
        /// The reason.
        why: &'a str,
    },
}

/// The coordinator of one hunt.
pub(crate) struct Coordinator<'a> {
    pub board: &'a mut dyn Board,
    /// SHA-256 of the program.
    pub program: String,
    /// Executions of a part, at most.
    pub part_runs: u64,
    /// Results from before this run of the command that have not been read again yet.
    pub past: u64,
    pub clock: Clock,
    pub began: Instant,
    pub budget: Budget,
    /// Makes the analyses of the hunt.
    pub portfolio: &'a dyn Fn() -> Portfolio,
    pub notice: &'a mut dyn FnMut(Notice<'_>),
    state: State,
}

#[derive(Default)]
struct State {
    epoch: u64,
    next_part: u64,
    lent: BTreeMap<u64, Lent>,
    /// Parts of earlier epochs, by their digests.
    void: BTreeSet<String>,
    /// Workers that have handed in something.
    workers: BTreeSet<String>,
    /// Parts of this epoch that each worker has done.
    done_by: BTreeMap<String, u64>,
    shut_out: BTreeMap<String, String>,
    done: u64,
    reported: Option<Instant>,
    /// When the last result came in.
    heard: Option<Instant>,
    /// How often parts were called back.
    recalls: u64,
    /// When the coordinator last looked for workers that have nothing to do.
    looked: Option<Instant>,
    /// Parts that were done when parts were last called back.
    done_at_recall: u64,
}

impl<'a> Coordinator<'a> {
    pub(crate) fn new(
        board: &'a mut dyn Board,
        program: String,
        (part_runs, past): (u64, u64),
        (clock, began): (Clock, Instant),
        budget: Budget,
        portfolio: &'a dyn Fn() -> Portfolio,
        notice: &'a mut dyn FnMut(Notice<'_>),
    ) -> Self {
        let part_runs = part_runs.max(1);
        Self { board, program, part_runs, past, clock, began, budget, portfolio, notice, state: State::default() }
    }

    /// Explores with the help of workers until the campaign ends.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn run(
        &mut self,
        campaign: &mut Campaign<'_>,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<Stop, EngineError> {
        loop {
            if let Some(stop) = campaign.settle(should_stop) {
                self.publish(campaign, "exploring")?;
                return Ok(stop);
            }
            self.lend(campaign)?;
            if self.state.reported.is_none_or(|last| self.clock.since(last) >= REPORT) {
                self.publish(campaign, "exploring")?;
            }
            self.call_parts_back(campaign)?;
            let Some(delivered) = self.board.next(LOOK)? else {
                self.look_for_lost_parts()?;
                continue;
            };
            self.state.heard = Some(self.clock.now());
            self.take(campaign, executor, &delivered)?;
            if self.past > 0 {
                self.past -= 1;
                if self.past == 0 {
                    self.offer_again()?;
                }
            }
            campaign.report(executor, should_stop);
        }
    }

    /// Publishes how far the hunt is.
    pub(crate) fn publish(&mut self, campaign: &mut Campaign<'_>, state: &str) -> Result<(), EngineError> {
        self.state.reported = Some(self.clock.now());
        self.board.publish(&Status {
            state: state.to_owned(),
            epoch: self.state.epoch,
            executions: campaign.executions(),
            parts_done: self.state.done,
            parts_lent: self.state.lent.len() as u64,
            waiting: campaign.waiting_to_claim() as u64,
            findings: campaign.found() as u64,
            elapsed_s: self.clock.since(self.began).as_secs_f64(),
            // The engine has a clock on the wall.
            at: 0,
            shut_out: self.state.shut_out.clone(),
            recalls: self.state.recalls,
        })
    }

    /// If workers have nothing to do, asks the others to hand in what they have done so far. The targets that are left can then be
    /// divided among all of them. Otherwise the last parts of each stage would keep a few workers busy, and the first parts would
    /// reach only as many workers as the coordinator expected.
    fn call_parts_back(&mut self, campaign: &mut Campaign<'_>) -> Result<(), EngineError> {
        let State { lent, looked, done, done_at_recall, recalls, .. } = &mut self.state;
        if self.past > 0 || lent.is_empty() {
            return Ok(());
        }
        let pause = if *recalls > 0 && done == done_at_recall { RECALL_AGAIN } else { RECALL };
        if looked.is_some_and(|last| self.clock.since(last) < pause) {
            return Ok(());
        }
        *looked = Some(self.clock.now());
        let Queue { waiting, taken, idle } = self.board.queue()?;
        if waiting > 0 || taken == 0 || idle == 0 {
            return Ok(());
        }
        *recalls += 1;
        *done_at_recall = *done;
        self.publish(campaign, "exploring")
    }

    /// Lends as many parts as there should be. Depends on nothing but the results so far, in their order, so a
    /// coordinator that reads them again lends the same parts.
    fn lend(&mut self, campaign: &mut Campaign<'_>) -> Result<(), EngineError> {
        let goal = self.state.workers.len() * PARTS_PER_WORKER + SPARE_PARTS;
        while self.state.lent.len() < goal {
            if campaign.waiting_to_claim() == 0 && campaign.only_claims() {
                break;
            }
            let granted: u64 = self.state.lent.values().map(|lent| lent.runs).sum();
            let used = campaign.executions().saturating_add(granted);
            let left = self.budget.runs.map_or(u64::MAX, |runs| runs.saturating_sub(used));
            if left == 0 {
                break;
            }
            let missing = self.pieces(campaign.waiting_to_claim()).min(goal - self.state.lent.len());
            let fair = (left / goal as u64).max(LEAST_RUNS);
            let runs = self.part_runs.min(fair).min(left);
            let number = self.state.next_part;
            let share = Share { number, of: missing, most: TARGETS };
            let state = campaign.lend(share).map_err(|error| EngineError::Other(error.to_string()))?;
            let part = Part { number, epoch: self.state.epoch, program: self.program.clone(), runs, state }.encode();
            let digest = sha256(&part);
            if self.past == 0 {
                self.board.offer(number, &part)?;
            }
            self.state.lent.insert(number, Lent { part, digest, runs });
            self.state.next_part += 1;
        }
        Ok(())
    }

    /// Into how many parts this many targets are divided, at most. Where executions are short, a part of a few targets would cost
    /// more than it saves.
    fn pieces(&self, targets: usize) -> usize {
        let smallest = usize::try_from(self.part_runs / SMALLEST).unwrap_or(usize::MAX).max(1);
        (targets / smallest).max(SPARE_PARTS)
    }

    /// All results from before are read: offers the parts that have none.
    fn offer_again(&mut self) -> Result<(), EngineError> {
        self.board.withdraw()?;
        for (number, lent) in &self.state.lent {
            self.board.offer(*number, &lent.part)?;
        }
        Ok(())
    }

    /// A server that is killed can lose the last messages that it has acknowledged. If no worker has a part although parts are
    /// lent, reads all results again and offers these parts again. What was not lost is ignored, or done once more.
    fn look_for_lost_parts(&mut self) -> Result<(), EngineError> {
        let heard = *self.state.heard.get_or_insert_with(|| self.clock.now());
        if self.clock.since(heard) < SILENCE || self.past == 0 && self.state.lent.is_empty() {
            return Ok(());
        }
        self.state.heard = None;
        if self.past > 0 || self.board.queue()?.has_no_part() {
            self.past = 0;
            self.board.restore()?;
            self.offer_again()?;
        }
        Ok(())
    }

    /// Takes in a result, if it is one.
    fn take(
        &mut self,
        campaign: &mut Campaign<'_>,
        executor: &mut dyn Executor,
        delivered: &Delivered,
    ) -> Result<(), EngineError> {
        if self.state.shut_out.contains_key(&delivered.worker) {
            return Ok(());
        }
        let Some(result) = PartResult::decode(&delivered.bytes) else {
            return self.shut_out(campaign, &delivered.worker, "it returned bytes that are no result");
        };
        if result.worker != delivered.worker {
            return self.shut_out(campaign, &delivered.worker, "it returned a result in another worker's name");
        }
        if result.program != self.program {
            return self.shut_out(campaign, &delivered.worker, "it ran a program with another hash");
        }
        let mut silent = |_: Progress| {};
        let part = Campaign::new((self.portfolio)(), self.budget, &mut silent);
        let Some(lent) = self.state.lent.get(&result.number).filter(|lent| lent.digest == result.part) else {
            // Another worker has done it, or it is void. A bug is worth a look in any case; a result that is damaged is of no
            // consequence here.
            if self.state.void.contains(&result.part) {
                let _ = campaign.take_bugs(part, &result.state);
            }
            return Ok(());
        };
        let returned =
            campaign.take_back((result.number, lent.runs), part, (&result.state, result.restarted), executor);
        let Ok(returned) = returned else {
            let worker = delivered.worker.clone();
            self.offer_instead(result.number)?;
            return self.shut_out(campaign, &worker, "it returned a state that is damaged");
        };
        self.state.lent.remove(&result.number);
        self.state.done += 1;
        self.state.workers.insert(result.worker.clone());
        *self.state.done_by.entry(result.worker).or_default() += 1;
        if returned.restarted { self.restart(campaign) } else { Ok(()) }
    }

    /// Everything that is lent is void.
    fn restart(&mut self, campaign: &mut Campaign<'_>) -> Result<(), EngineError> {
        self.state.epoch += 1;
        self.state.done_by.clear();
        let lent = std::mem::take(&mut self.state.lent);
        self.state.void.extend(lent.into_values().map(|lent| lent.digest));
        if self.past == 0 {
            self.board.withdraw()?;
        }
        self.publish(campaign, "exploring")
    }

    /// Shuts a worker out. What it did before counts no longer either.
    fn shut_out(&mut self, campaign: &mut Campaign<'_>, worker: &str, why: &str) -> Result<(), EngineError> {
        (self.notice)(Notice::ShutOut { worker, why });
        self.state.shut_out.insert(worker.to_owned(), why.to_owned());
        if self.state.done_by.get(worker).is_some_and(|parts| *parts > 0) {
            campaign.start_over();
            return self.restart(campaign);
        }
        self.publish(campaign, "exploring")
    }

    /// Offers a part again, which a worker has not done as it should.
    fn offer_instead(&mut self, number: u64) -> Result<(), EngineError> {
        match self.state.lent.get(&number).filter(|_| self.past == 0) {
            Some(lent) => self.board.offer(number, &lent.part),
            None => Ok(()),
        }
    }
}
