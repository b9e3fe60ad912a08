//! Why two accesses may happen in parallel, in words.

use crate::pointer::{PointsTo, ThreadId};
use crate::program::SourceLocation;
use crate::race::access::Access;

/// Returns the reason. The caller has established that they may.
pub fn why(points_to: &PointsTo<'_>, first: &Access, second: &Access) -> String {
    let name = |thread: ThreadId| points_to.program.function_name(points_to.function_of(thread)).to_owned();
    if first.thread == second.thread {
        let (thread, place) = (name(first.thread), creation(points_to, first.thread));
        return match place {
            Some(place) => format!("several threads `{thread}` are created at {place} and may run at the same time"),
            None => format!("several threads `{thread}` may run at the same time"),
        };
    }
    let (above_first, above_second) = (ancestors(points_to, first.thread), ancestors(points_to, second.thread));
    for (older, younger, above) in
        [(first.thread, second.thread, &above_second), (second.thread, first.thread, &above_first)]
    {
        if above.contains(&older) {
            let (creator, created) = (name(older), name(younger));
            let at = creation(points_to, younger).map_or_else(String::new, |place| format!(" at {place}"));
            return format!("`{created}` is created by `{creator}`{at}, which has not surely waited for its end");
        }
    }
    let at = |thread: ThreadId| match creation(points_to, thread) {
        Some(place) => format!("`{}`, created at {place},", name(thread)),
        None => format!("`{}`", name(thread)),
    };
    format!("{} and {} may both be running", at(first.thread), at(second.thread))
}

/// Returns where a thread is created.
fn creation(points_to: &PointsTo<'_>, thread: ThreadId) -> Option<SourceLocation> {
    let (instance, at) = points_to.threads[thread].creator?;
    Some(points_to.program.place(points_to.instances[instance].function, at))
}

/// Returns the threads that a thread descends from, its creator first.
fn ancestors(points_to: &PointsTo<'_>, thread: ThreadId) -> Vec<ThreadId> {
    let parent = |thread: &ThreadId| {
        let (instance, _) = points_to.threads[*thread].creator?;
        Some(points_to.instances[instance].thread)
    };
    // No thread has more ancestors than there are threads.
    std::iter::successors(parent(&thread), parent).take(points_to.threads.len()).collect()
}
