//! Where functions may be left by an exception, or by the end of their thread, so that what they clean up is done.
//!
//! To catch an exception is a gap. One that nothing catches ends the program at once: the search for a handler finds none, and nothing is
//! cleaned up. What counts as a handler all the same is a function that lets no exception pass: it ends the program, but what it has called
//! is cleaned up before.

use crate::models::Model;
use crate::pointer::{InstanceId, PointsTo};

/// Functions that end the program where no exception may pass.
const TERMINATE: [&str; 2] = ["__clang_call_terminate", "__cxa_call_unexpected"];

/// Which instances may be left so.
pub struct Unwinding {
    of: Vec<bool>,
}

impl Unwinding {
    /// Looks at what functions call.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let instances = &points_to.instances;
        let mut outside = instances.iter().flat_map(|instance| instance.outside.values().flatten());
        if outside.any(|name| points_to.models.of(name) == Some(Model::Leave)) {
            return Self { of: vec![true; instances.len()] };
        }
        let ends =
            |id: &InstanceId| TERMINATE.contains(&points_to.program.function_name(instances[id.0 as usize].function));
        let lets_none_pass = |index: &usize| {
            let instance = &instances[*index];
            instance.callees.values().flatten().any(ends)
                || instance.outside.values().flatten().any(|name| TERMINATE.contains(&name.as_str()))
        };
        let mut work: Vec<usize> = (0..instances.len()).filter(lets_none_pass).collect();
        let mut of = vec![false; instances.len()];
        while let Some(index) = work.pop() {
            if !std::mem::replace(&mut of[index], true) {
                work.extend(instances[index].callees.values().flatten().map(|callee| callee.0 as usize));
            }
        }
        Self { of }
    }

    /// Whether what an instance cleans up may be done otherwise than when it returns.
    pub fn may(&self, id: InstanceId) -> bool {
        self.of[id.0 as usize]
    }
}
