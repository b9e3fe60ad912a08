//! Deadlocks in which each thread waits for the next one.
//!
//! One preemption is enough for such a cycle, however long it is: a thread is preempted while it holds its lock. Then the
//! thread that waits for this lock runs until it waits, then the one that waits for that thread, and so on. From a schedule that
//! preempts every thread of the cycle, this is too far for steps that move one turn or two.

use super::Search;
use crate::{Bug, Execution, ExecutorError};
use racehunter_log::ThreadId;

impl Search<'_> {
    /// Tries schedules in which one thread of a cycle is preempted and the others run one by one.
    pub(super) fn one_by_one(&mut self) -> Result<(), ExecutorError> {
        let Bug::Deadlock(_) = self.bug else { return Ok(()) };
        let Some(best) = self.best.as_ref().filter(|best| best.cost.preemptions > 1) else { return Ok(()) };
        let cycle = cycle(&best.execution);
        let Some(turns) = self.turns() else { return Ok(()) };
        for at in 0..cycle.len() {
            // From the one that waits for the first thread to the one that the first thread waits for.
            let others: Vec<ThreadId> =
                (1..cycle.len()).map(|back| cycle[(at + cycle.len() - back) % cycle.len()]).collect();
            if self.take(&turns.around(cycle[at], &others))? {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the threads that wait for each other at the end of an execution, each for something that the next one owns.
fn cycle(execution: &Execution) -> Vec<ThreadId> {
    let waits: Vec<(ThreadId, ThreadId)> =
        execution.thread_states().filter_map(|(entry, on)| Some((entry.thread(), on?.owner?))).collect();
    let owner = |thread: ThreadId| waits.iter().find(|(waiter, _)| *waiter == thread).map(|&(_, owner)| owner);
    for &(start, _) in &waits {
        let mut seen = vec![start];
        while let Some(next) = owner(seen[seen.len() - 1]) {
            if next == start {
                return seen;
            }
            if seen.contains(&next) {
                break;
            }
            seen.push(next);
        }
    }
    Vec::new()
}
