//! Where an exception, or the end of a thread, may leave functions, so that their cleanup code runs.
//!
//! Catching an exception is a gap. An uncaught exception ends the program at once: the search for a handler finds none,
//! and no cleanup runs. A function that lets no exception pass counts as a handler, though: it ends the program, but
//! the functions that it has called are cleaned up first.

use crate::index::IndexVec;
use crate::models::Model;
use crate::pointer::{InstanceId, PointsTo};

/// Functions that end the program where no exception may pass.
const TERMINATE: [&str; 2] = ["__clang_call_terminate", "__cxa_call_unexpected"];

/// The instances that may be left like this.
pub struct Unwinding {
    of: IndexVec<InstanceId, bool>,
}

impl Unwinding {
    /// Analyses the calls of functions.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let instances = &points_to.instances;
        let mut outside = instances.iter().flat_map(|instance| instance.outside.values().flatten());
        if outside.any(|name| points_to.models.of(name) == Some(Model::Leave)) {
            return Self { of: instances.map(|_| true) };
        }
        let ends = |id: &InstanceId| TERMINATE.contains(&points_to.program.function_name(instances[*id].function));
        let lets_none_pass = |id: &InstanceId| {
            let instance = &instances[*id];
            instance.callees.values().flatten().any(ends)
                || instance.outside.values().flatten().any(|name| TERMINATE.contains(&name.as_str()))
        };
        let mut work: Vec<InstanceId> = instances.ids().filter(lets_none_pass).collect();
        let mut of = instances.map(|_| false);
        while let Some(id) = work.pop() {
            if !std::mem::replace(&mut of[id], true) {
                work.extend(instances[id].callees.values().flatten().copied());
            }
        }
        Self { of }
    }

    /// Returns true if the cleanup of an instance may run other than when it returns.
    pub fn may(&self, id: InstanceId) -> bool {
        self.of[id]
    }
}
