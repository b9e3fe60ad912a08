//! Which accesses are points: those to memory that turns out to be shared.

use super::{Budget, Campaign, Member, Progress};
use crate::{Executor, ExecutorError, Observe, Plan, shared_sites};

/// Events of a run that looks for shared accesses, at most: each takes a record. What it does not get to is reported by
/// the executions that do.
const MONITORED: u64 = 4_000_000;

impl Campaign<'_> {
    /// Runs a plan with every access observed, and makes those points that turn out to be shared. Returns how many.
    pub(super) fn monitor(
        &mut self,
        executor: &mut dyn Executor,
        plan: Plan,
        reported: &[u32],
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<usize, ExecutorError> {
        self.counts.monitors += 1;
        let max_events = plan.max_events.min(MONITORED).min(self.budget.max_events);
        let Budget { detect_races, infer_races, .. } = self.budget;
        let plan = Plan { observe: Observe::Everything, select: None, detect_races, infer_races, max_events, ..plan };
        let mut sites = reported.to_vec();
        if let Some(execution) = executor.run(std::slice::from_ref(&plan))?.first().filter(|run| !run.was_stopped()) {
            self.note_escapes(execution, 0);
            self.note_bugs(&plan, execution);
            sites.extend(shared_sites(execution));
            self.report_bugs(executor, should_stop);
        }
        sites.sort_unstable();
        sites.dedup();
        self.sites.extend(&sites);
        Ok(executor.add_points(&sites))
    }

    /// What was explored so far was explored with too few points: analyses that claim to cover everything start again.
    pub(super) fn points_grew(&mut self, added: usize) {
        self.counts.growths += 1;
        self.counts.stable_for = 0;
        for (index, member) in self.members.iter_mut().enumerate() {
            let queue = self.portfolio.member(index);
            if queue.may_claim() {
                queue.start();
                *member = Member::default();
                self.lending.restart();
            }
        }
        self.watcher.progress(Progress::Points { added });
    }
}
