//! Runs one execution whose log is too long to keep.

use crate::processes::{Processes, Request};
use crate::worker::{Answer, LaunchError, Stopped};
use crate::{orphans, results};
use racehunter_abi::control::{STATE_DONE, STATE_RUNNING};
use racehunter_explore::{Execution, Outcome, Plan};
use racehunter_log::Record;
use std::sync::atomic::{AtomicBool, Ordering};

impl Processes {
    /// Runs one plan, and passes on its log in pieces while the program runs, from another thread: the returned execution has
    /// no records. The program waits if `take` is slower.
    ///
    /// # Errors
    ///
    /// If the program cannot be run.
    pub fn record(&mut self, plan: &Plan, take: &mut (dyn FnMut(&[Record]) + Send)) -> Result<Execution, LaunchError> {
        let request = self.request_one(plan);
        if request.is_empty() {
            return Err(LaunchError::PlanTooLong(plan.switches.len()));
        }
        let stop = self.stop_sign().clone();
        let worker = self.first_worker();
        let mut stream = worker.region.stream();
        worker.request(request.len() as u32);
        let mut stopped: Stopped = Vec::new();
        let has_ended = AtomicBool::new(false);
        let (answer, mut taken) = std::thread::scope(|scope| {
            let (stream, take, has_ended) = (&mut stream, &mut *take, &has_ended);
            let taker = scope.spawn(move || stream.take_all(has_ended, take));
            let answer = worker.wait(request.len() as u32, &mut stopped, &stop);
            has_ended.store(true, Ordering::Release);
            let taken = taker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (answer, taken)
        });
        if let Answer::Interrupted = answer {
            stopped.push((0, Outcome::STOPPED));
        }
        let limit = stopped.first().map(|&(_, limit)| limit);
        let slot = worker.region.read_slot(0);
        let end = worker.output_end();
        let output = worker.read_output(slot.output, end.max(slot.output));
        orphans::end_all();
        let is_cut = slot.state == STATE_RUNNING;
        if is_cut {
            stream.take_rest(&mut taken, take);
        }
        drop(stream);
        let is_whole = slot.state != STATE_DONE
            || (slot.log_count, slot.checksum) == (taken.records, taken.checksum.0) && !taken.is_damaged;
        let worker = self.first_worker();
        worker.region.trim();
        let is_intact = is_whole && !matches!(answer, Answer::Damaged) && worker.region.is_intact();
        let execution = results::read_without_log(&slot, limit, output).filter(|_| is_intact);
        let mut execution = execution.unwrap_or_else(|| Execution::lost(results::DAMAGED.to_owned()));
        if matches!(answer, Answer::Died) && is_cut && limit.is_none() {
            execution.outcome = Outcome::Lost("it ended together with its fork server".to_owned());
        }
        if is_cut {
            // A killed program did not report these itself.
            execution.events = execution.events.max(taken.events);
            execution.threads = execution.threads.max(taken.threads);
        }
        Ok(execution)
    }
}

impl Request {
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
