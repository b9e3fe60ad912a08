//! Runs many plans in rounds, a number of them per server at a time.
//!
//! Short executions run in one round, because each request has to wake the server. Long executions run only as many at a time as
//! leave logs that fit into [`KEPT`]: the next round then reuses the memory of the logs, instead of releasing it to the kernel
//! and having it cleared again. The next round runs while the executions of the last one are passed on.

use crate::batch::{self, Step};
use crate::processes::{Processes, Request};
use crate::region::KEPT;
use crate::worker::{Answer, LaunchError};
use crate::{orphans, results};
use racehunter_abi::control::SLOTS;
use racehunter_explore::{Execution, Flow, Outcome, Plan, Tail};
use racehunter_log::Record;
use std::time::{Duration, Instant};

/// Number of servers that may die in a row, without a completed execution in between, before the program is given up.
const DEATHS: u32 = 20;
/// Maximum number of threads kept ready.
const POOL: u32 = 64;
/// Number of plans with a long common prefix that run together, however long their logs are.
const TOGETHER: usize = 4;

/// The state of a plan.
enum Fate {
    /// It has to be run.
    Waiting,
    /// It was run.
    Ran(Execution),
    /// Its execution was passed on.
    PassedOn,
}

/// Plans that run on a server.
struct Chunk {
    /// The number of the server.
    worker: usize,
    /// The indices of these plans in the batch.
    indices: Vec<usize>,
    plans: Vec<Plan>,
    request: Request,
}

impl Processes {
    /// Runs plans until all have a result.
    pub(crate) fn run_all(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, LaunchError> {
        self.run_in_rounds(plans, None)
    }

    /// Runs plans until all have a result. Passes the executions on, in order, until `each` stops it. Returns the executions that
    /// were run and not passed on.
    pub(crate) fn run_in_rounds(
        &mut self,
        plans: &[Plan],
        mut each: Option<&mut dyn FnMut(&Execution) -> Flow>,
    ) -> Result<Vec<Execution>, LaunchError> {
        let mut fates: Vec<Fate> = plans.iter().map(|_| Fate::Waiting).collect();
        self.cpu = vec![Duration::ZERO; plans.len()];
        let mut passed_on = 0;
        let mut round = self.begin_round(plans, &mut fates)?;
        loop {
            let is_last = round.is_empty();
            if is_last {
                // There was no time for those that still wait.
                let waiting = fates.iter_mut().filter(|fate| matches!(fate, Fate::Waiting));
                waiting.for_each(|fate| *fate = Fate::Ran(stopped()));
            } else {
                self.finish_round(std::mem::take(&mut round), &mut fates)?;
                round = self.begin_round(plans, &mut fates)?;
            }
            while let Some(pass_on) = &mut each
                && let Some(fate @ Fate::Ran(_)) = fates.get_mut(passed_on)
                && let Fate::Ran(execution) = std::mem::replace(fate, Fate::PassedOn)
            {
                passed_on += 1;
                let flow = pass_on(&execution);
                self.spare.push(execution.records);
                if flow != Flow::Next {
                    // Nothing may be running when this returns. Executions that were passed on count, whatever happens to the
                    // others.
                    let finished = self.finish_round(round, &mut fates);
                    let rest = if flow == Flow::Pause && finished.is_ok() { &mut fates[passed_on..] } else { &mut [] };
                    return Ok(take_ran(rest));
                }
            }
            if is_last {
                trim(&mut self.spare);
                return Ok(take_ran(&mut fates[passed_on..]));
            }
        }
    }

    /// Makes the servers run the next waiting plans. Returns what is running: nothing if there are no more plans, or no time.
    fn begin_round(&mut self, plans: &[Plan], fates: &mut [Fate]) -> Result<Vec<Chunk>, LaunchError> {
        loop {
            let is_waiting = |&index: &usize| matches!(fates[index], Fate::Waiting);
            let mut waiting: Vec<usize> = (0..plans.len()).filter(is_waiting).collect();
            if self.snapshots {
                bring_together(&mut waiting, plans);
            }
            if waiting.is_empty() || self.stop.is_up() {
                return Ok(Vec::new());
            }
            for number in 0..self.workers.len() {
                if self.workers[number].has_ended() {
                    self.workers[number] = match self.start_worker() {
                        Err(_) if self.stop.is_up() => return Ok(Vec::new()),
                        worker => worker?,
                    };
                }
            }
            let settings = self.settings();
            let share = waiting.len().div_ceil(self.workers.len()).min(SLOTS / 2);
            let mut left = &waiting[..];
            let mut under_way = Vec::new();
            for (number, worker) in self.workers.iter_mut().enumerate() {
                if left.is_empty() {
                    break;
                }
                let candidates: Vec<Plan> = left.iter().take(share).map(|&index| plans[index].clone()).collect();
                let count = fitting(&candidates, &self.lengths, self.snapshots);
                let (indices, rest) = left.split_at(count);
                left = rest;
                let chunk: Vec<Plan> = candidates.into_iter().take(count).collect();
                let request = Request::write(worker, &chunk, settings, self.snapshots);
                if request.slots.is_empty() {
                    let why = LaunchError::PlanTooLong(chunk[0].switches.len());
                    fates[indices[0]] = Fate::Ran(Execution::lost(why.to_string()));
                    continue;
                }
                worker.request(request.slots.len() as u32);
                under_way.push(Chunk { worker: number, indices: indices.to_vec(), plans: chunk, request });
            }
            if !under_way.is_empty() {
                return Ok(under_way);
            }
        }
    }

    /// Kills the processes that executions have left behind. The executions of a loop share a process, so what one of them starts
    /// outlives it anyway: to look for them takes longer than many executions, and happens from time to time.
    fn end_orphans(&mut self) {
        const OFTEN: Duration = Duration::from_millis(10);
        if !self.loops() || self.last_look.is_none_or(|last| last.elapsed() > OFTEN) {
            orphans::end_all();
            self.last_look = Some(Instant::now());
        }
    }

    /// Waits for what is running, and reads the results.
    fn finish_round(&mut self, round: Vec<Chunk>, fates: &mut [Fate]) -> Result<(), LaunchError> {
        if round.is_empty() {
            return Ok(());
        }
        let mut deaths = 0;
        let mut threads = 0;
        let mut unprepared = Unprepared::default();
        self.lengths.forget_half(round.iter().flat_map(|chunk| &chunk.plans));
        for Chunk { worker: number, indices, plans, request } in round {
            let worker = &mut self.workers[number];
            let (mut executions, answer) = Self::finish_chunk(worker, &plans, &request, &self.stop, &mut self.spare);
            // A process that must not be copied skips the plans that would continue from there; they run from the start instead.
            let is_left_out = self.snapshots && self.workers[number].changes_files;
            if matches!(answer, Answer::Ran(_)) && executions.iter().all(Option::is_none) && !is_left_out {
                // It would be lost every time.
                executions[0] = Some((Execution::lost(results::DAMAGED.to_owned()), Duration::ZERO));
            }
            let lost = |ran: &Option<(Execution, Duration)>| {
                ran.as_ref().is_none_or(|(execution, _)| matches!(execution.outcome, Outcome::Lost(_)))
            };
            let preparing = self.workers[number].region.read_header().preparing;
            let ended_by_itself = !executions.iter().all(lost);
            let ran = indices.into_iter().zip(&plans).zip(executions);
            for (index, plan, (execution, cpu)) in ran.filter_map(|((index, plan), ran)| Some((index, plan, ran?))) {
                threads = threads.max(execution.threads.saturating_sub(1));
                self.lengths.note(plan, execution.records.len() as u64);
                match execution.outcome {
                    Outcome::Lost(_) if answer != Answer::Damaged => unprepared.note(index, preparing),
                    _ => self.was_prepared |= execution.events > 0 && self.loops(),
                }
                fates[index] = Fate::Ran(execution);
                self.cpu[index] = cpu;
            }
            match answer {
                Answer::Ran(_) => self.deaths = 0,
                Answer::Died => {
                    self.deaths = if ended_by_itself { 0 } else { self.deaths };
                    deaths += 1;
                }
                Answer::Damaged | Answer::Interrupted => {}
            }
        }
        if !self.was_prepared && unprepared.earliest < self.preparatory {
            // There is no log of a preparatory iteration: the one that fails is explored instead.
            self.preparatory = unprepared.earliest;
            unprepared.indices.into_iter().for_each(|index| fates[index] = Fate::Waiting);
        }
        trim(&mut self.spare);
        self.end_orphans();
        self.snapshots &= self.workers.iter().all(|worker| !worker.changes_files);
        self.take_new_sites();
        self.share_loops();
        self.share_patience();
        self.deaths += deaths;
        if self.deaths > DEATHS {
            return Err(LaunchError::Dies(self.program.path.display().to_string(), self.deaths));
        }
        self.pool = self.pool.max(threads.min(POOL));
        Ok(())
    }
}

/// Executions that ended in a preparatory iteration of an in-process loop.
struct Unprepared {
    /// The number of the first iteration in which one did.
    earliest: u32,
    /// Their indices in the batch.
    indices: Vec<usize>,
}

impl Default for Unprepared {
    fn default() -> Self {
        Self { earliest: u32::MAX, indices: Vec::new() }
    }
}

impl Unprepared {
    /// Notes a lost execution; `preparing` is the number + 1 of the iteration, 0 for none.
    fn note(&mut self, index: usize, preparing: u32) {
        if let Some(iteration) = preparing.checked_sub(1) {
            self.earliest = self.earliest.min(iteration);
            self.indices.push(index);
        }
    }
}

/// Moves plans that repeat the beginning of another execution next to each other, in front of the walks, which do not: techniques
/// take turns, but only neighbours can share a beginning.
fn bring_together(waiting: &mut [usize], plans: &[Plan]) {
    waiting.sort_by_key(|&index| (plans[index].tail != Tail::MinSwitches, index));
}

/// The lengths of the last logs, by the kinds of plans that leave longer or shorter ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lengths {
    /// The longest of each kind, in records.
    longest: [u64; 4],
}

impl Lengths {
    const fn kind(plan: &Plan) -> usize {
        // Walks switch more often than other plans.
        plan.brief as usize * 2 + matches!(plan.tail, Tail::Walk { .. }) as usize
    }

    /// Old lengths count less and less, once there are new ones.
    fn forget_half<'p>(&mut self, plans: impl Iterator<Item = &'p Plan>) {
        let mut is_new = [false; 4];
        plans.for_each(|plan| is_new[Self::kind(plan)] = true);
        self.longest.iter_mut().zip(is_new).filter(|(_, is_new)| *is_new).for_each(|(longest, _)| *longest /= 2);
    }

    fn note(&mut self, plan: &Plan, records: u64) {
        let longest = &mut self.longest[Self::kind(plan)];
        *longest = (*longest).max(records);
    }

    fn of(&self, plan: &Plan) -> u64 {
        self.longest[Self::kind(plan)]
    }
}

/// Returns how many plans, from the first one on, run in one request, given how long such logs are. Plans with a common prefix
/// stay together, within reason: running the prefix again takes longer than clearing memory.
fn fitting(plans: &[Plan], lengths: &Lengths, snapshots: bool) -> usize {
    let mut room = (KEPT / size_of::<Record>()) as u64;
    let fits = |plan: &&Plan| {
        let left = room.checked_sub(lengths.of(plan));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let fit = plans.iter().take_while(fits).count().max(1);
    if fit >= plans.len() {
        return plans.len();
    }
    let together = match batch::steps(plans, snapshots).first() {
        Some(Step::Snapshot { count, .. }) => (*count).min(TOGETHER),
        Some(Step::Single(_)) | None => 1,
    };
    fit.max(together)
}

/// Gives back logs that are no longer needed, the ones that were added first, until the rest is no larger than what regions keep.
fn trim(spare: &mut Vec<Vec<Record>>) {
    let mut kept = 0;
    let fits = |log: &&Vec<Record>| {
        kept += log.capacity() * size_of::<Record>();
        kept <= KEPT
    };
    let count = spare.iter().rev().take_while(fits).count();
    spare.drain(..spare.len() - count);
}

/// Returns the executions of the first plans, up to one that has none.
fn take_ran(fates: &mut [Fate]) -> Vec<Execution> {
    let ran = fates.iter_mut().map_while(|fate| match std::mem::replace(fate, Fate::PassedOn) {
        Fate::Ran(execution) => Some(execution),
        Fate::Waiting | Fate::PassedOn => None,
    });
    ran.collect()
}

/// Returns an execution for which there was no time.
fn stopped() -> Execution {
    Execution { outcome: Outcome::Limit(Outcome::STOPPED.to_owned()), ..Execution::lost(String::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_abi::{CodeAddress, EventNumber, Switch, ThreadId};

    fn all(records: u64) -> Lengths {
        Lengths { longest: [records; 4] }
    }

    #[test]
    fn executions_with_long_logs_run_one_by_one_and_others_at_once() {
        let plans = vec![Plan::default(); 32];
        let kept = (KEPT / size_of::<Record>()) as u64;
        assert_eq!(fitting(&plans, &all(0), true), 32);
        assert_eq!(fitting(&plans, &all(kept / 32), true), 32);
        assert_eq!(fitting(&plans, &all(kept / 3), true), 3);
        assert_eq!(fitting(&plans, &all(kept), true), 1);
        assert_eq!(fitting(&plans, &all(u64::MAX), true), 1);
    }

    #[test]
    fn short_logs_do_not_wait_for_long_ones() {
        let (brief, whole) = (Plan { brief: true, ..Plan::default() }, Plan::default());
        let kept = (KEPT / size_of::<Record>()) as u64;
        let mut lengths = Lengths::default();
        lengths.note(&whole, kept / 2);
        lengths.note(&brief, kept / 16);
        lengths.forget_half([&brief].into_iter());
        lengths.note(&brief, kept / 16);
        let plans = [vec![brief; 6], vec![whole; 6]].concat();
        assert_eq!(fitting(&plans, &lengths, true), 7, "six brief ones and a whole one");
        assert_eq!(fitting(&plans[6..], &lengths, true), 2);
    }

    #[test]
    fn techniques_that_take_turns_can_share_beginnings() {
        let walk = Plan { tail: Tail::random(1), ..Plan::default() };
        let plans = [Plan::default(), walk.clone(), walk, Plan::default(), Plan::default()];
        let mut waiting = vec![0, 1, 2, 3, 4];
        bring_together(&mut waiting, &plans);
        assert_eq!(waiting, [0, 3, 4, 1, 2]);
    }

    #[test]
    fn only_so_many_logs_are_kept() {
        let log = |records: usize| Vec::<Record>::with_capacity(records);
        let kept = KEPT / size_of::<Record>();
        let sizes = |spare: &[Vec<Record>]| spare.iter().map(Vec::capacity).collect::<Vec<_>>();
        let mut spare = vec![log(100), log(kept / 2), log(kept / 4), log(kept / 4)];
        trim(&mut spare);
        assert_eq!(sizes(&spare), [kept / 2, kept / 4, kept / 4]);
        let mut spare = vec![log(1), log(kept + 1)];
        trim(&mut spare);
        assert_eq!(sizes(&spare), []);
        let mut spare = vec![log(1), log(2)];
        trim(&mut spare);
        assert_eq!(sizes(&spare), [1, 2]);
    }

    #[test]
    fn plans_with_a_common_prefix_stay_together() {
        let plan = |at: u64| {
            let (from, code) = (ThreadId::MAIN, CodeAddress::UNKNOWN);
            Plan::replay(vec![Switch { at: EventNumber(at), to: ThreadId(1), from, code }])
        };
        let plans: Vec<Plan> = (0..8).map(|number| plan(50_000 + number)).collect();
        assert_eq!(fitting(&plans, &all(u64::MAX), true), TOGETHER);
        assert_eq!(fitting(&plans[..2], &all(u64::MAX), true), 2);
        assert_eq!(fitting(&plans, &all(u64::MAX), false), 1);
    }
}
