//! What a thread reads when it is the last one.

use crate::run_one;
use racehunter_explore::{Execution, Executor, ExecutorError, Observe, Plan};
use racehunter_log::{Access, Address};

/// Returns what the failing thread has read last, if others have written it and the log does not contain that read. A
/// thread that is alone, after waiting for all others, shares nothing, and its accesses are not points.
pub(crate) fn unlogged_read(
    executor: &mut dyn Executor,
    plan: &Plan,
    before: &Execution,
) -> Result<Option<(Address, u64)>, ExecutorError> {
    let whole = run_one(executor, &Plan { observe: Observe::Everything, ..plan.clone() })?;
    let Some((failed, _)) = whole.thread_states().next() else { return Ok(None) };
    let own = whole.entries().rev().filter(|entry| entry.thread() == failed.thread());
    let read = own.filter_map(|entry| Some((entry.number(), entry.access()?))).next();
    let Some((number, read)) = read.filter(|(_, access)| access.mode.reads()) else { return Ok(None) };
    if before.entries().any(|entry| entry.number() == number && entry.access().is_some()) {
        return Ok(None);
    }
    let (start, size) = (read.address.0, read.size.max(1));
    let is_written = whole.entries().filter(|entry| entry.thread() != failed.thread()).any(|entry| {
        let writes = |access: &Access| {
            let overlaps = access.address.0 < start + size && start < access.address.0 + access.size.max(1);
            access.mode.writes() && overlaps
        };
        entry.access().is_some_and(|access| writes(&access))
    });
    Ok(is_written.then_some((read.address, size)))
}
