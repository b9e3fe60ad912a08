//! Makes accesses to memory that turns out to be shared points.

use super::{Budget, Campaign, Member, Progress};
use crate::{Executor, ExecutorError, Observe, Plan, shared_sites};

/// Maximum number of events of a run that looks for shared accesses: each takes a record. Executions that reach further
/// report their own.
const MONITORED: u64 = 4_000_000;

impl Campaign<'_> {
    /// Runs a plan with every access observed, and makes shared accesses points. Returns how many are new.
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
        let plan = Plan { observe: Observe::Everything, select: None, ..plan };
        let plan = Plan { detect_races, infer_races, max_events, ..plan };
        let mut sites = reported.to_vec();
        if let Some(execution) = executor.run(std::slice::from_ref(&plan))?.first().filter(|run| !run.was_stopped()) {
            let reports = execution.report_records();
            self.note_escapes(&reports, 0);
            self.note_bugs(&plan, execution, &reports);
            sites.extend(shared_sites(execution));
            self.report_bugs(executor, should_stop);
        }
        sites.sort_unstable();
        sites.dedup();
        self.sites.extend(&sites);
        Ok(executor.add_points(&sites))
    }

    /// Monitors executions that reported unknown sharing. Returns how many points are new.
    pub(super) fn monitor_sharing(
        &mut self,
        executor: &mut dyn Executor,
        sharing: &[(Plan, Vec<u32>)],
        should_stop: &mut dyn FnMut() -> bool,
    ) -> Result<usize, ExecutorError> {
        let mut grew = 0;
        for (repeat, reported) in sharing {
            // One monitor run often explains the reports of several executions.
            if reported.iter().any(|site| !self.sites.contains(site)) {
                grew += self.monitor(executor, repeat.clone(), reported, should_stop)?;
            }
        }
        Ok(grew)
    }

    /// Makes the sites that executions reported points, without a monitor run. Returns how many are new.
    pub(super) fn add_reported(&mut self, executor: &mut dyn Executor, sharing: &[(Plan, Vec<u32>)]) -> usize {
        let mut sites: Vec<u32> = sharing.iter().flat_map(|(_, reported)| reported).copied().collect();
        sites.sort_unstable();
        sites.dedup();
        self.sites.extend(&sites);
        executor.add_points(&sites)
    }

    /// Handles new points: earlier exploration had too few, so analyses that claim to cover everything start again.
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
