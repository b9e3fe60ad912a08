//! Runs one execution whose log is too long to copy.

use crate::processes::{Processes, Request};
use crate::worker::{Answer, LaunchError, Stopped, Worker};
use crate::{orphans, results};
use racehunter_abi::control::STATE_RUNNING;
use racehunter_explore::{Execution, Outcome, Plan};
use racehunter_log::{Entry, Record};

/// The log of an execution, in place where the program wrote it.
pub struct Log<'a> {
    worker: &'a mut Worker,
    first: u64,
    count: u64,
}

/// Number of records read at once.
const PIECE: u64 = 1 << 16;

impl Log<'_> {
    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether nothing was logged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the log from its start to its end, in pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Vec<Record>> + '_ {
        (0..self.count.div_ceil(PIECE)).map(|piece| self.piece(piece))
    }

    /// As [`Log::pieces`], and releases the memory of each piece once it is read.
    pub fn drain(&mut self) -> impl Iterator<Item = Vec<Record>> + '_ {
        (0..self.count.div_ceil(PIECE)).map(|piece| {
            let records = self.piece(piece);
            let begin = self.first + piece * PIECE;
            self.worker.region.forget(begin, begin + PIECE.min(self.count - piece * PIECE));
            records
        })
    }

    fn piece(&self, piece: u64) -> Vec<Record> {
        let begin = piece * PIECE;
        self.worker.region.read_log(self.first + begin, PIECE.min(self.count - begin))
    }
}

impl Drop for Log<'_> {
    fn drop(&mut self) {
        self.worker.region.trim();
    }
}

impl Processes {
    /// Runs one plan, and leaves its log in place: the returned execution has no records.
    ///
    /// # Errors
    ///
    /// If the program cannot be run.
    pub fn record(&mut self, plan: &Plan) -> Result<(Execution, Log<'_>), LaunchError> {
        let request = self.request_one(plan);
        if request.is_empty() {
            return Err(LaunchError::PlanTooLong(plan.switches.len()));
        }
        let stop = self.stop_sign().clone();
        let worker = self.first_worker();
        // Cleared first, so that the records of a killed program can be distinguished from older ones.
        worker.region.wipe_log();
        worker.request(request.len() as u32);
        let mut stopped: Stopped = Vec::new();
        let answer = worker.wait(request.len() as u32, &mut stopped, &stop);
        if let Answer::Interrupted = answer {
            stopped.push((0, Outcome::STOPPED));
        }
        let limit = stopped.first().map(|&(_, limit)| limit);
        let slot = worker.region.read_slot(0);
        let end = worker.output_end();
        let output = worker.read_output(slot.output, end.max(slot.output));
        let whole = !matches!(answer, Answer::Damaged) && worker.region.is_intact();
        let execution = results::read_without_log(&slot, limit, output).filter(|_| whole);
        let damaged = execution.is_none();
        let mut execution = execution.unwrap_or_else(|| Execution::lost(results::DAMAGED.to_owned()));
        if matches!(answer, Answer::Died) && slot.state == STATE_RUNNING && limit.is_none() {
            execution.outcome = Outcome::Lost("it ended together with its fork server".to_owned());
        }
        orphans::end_all();
        let (first, mut count) = if damaged { (0, 0) } else { (slot.log, slot.log_count) };
        let worker = self.first_worker();
        let is_cut = slot.state == STATE_RUNNING && !damaged;
        if is_cut {
            count = worker.region.count_log(first);
        }
        let log = Log { worker, first, count };
        if is_cut {
            // A killed program did not report these itself.
            for record in log.pieces().flatten() {
                let entry = Entry::of(&record);
                execution.events = execution.events.max(entry.number().0);
                execution.threads = execution.threads.max(entry.thread().0 + 1);
            }
        }
        Ok((execution, log))
    }
}

impl Request {
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
