//! Exceptions, and the end of a thread: which calls may be left by one, and which functions it may pass.
//!
//! An exception that is not caught ends the program at once: the search for a handler finds none, and no cleanup runs. So
//! exceptions are followed only in functions that may have a handler among their callers. A function that lets no
//! exception pass counts as a handler: it ends the program, but what it has called is cleaned up first. If a thread may
//! be ended by `pthread_exit`, cleanup runs in all of its functions.
//!
//! Types are not compared: every handler may catch every exception, and may let it pass.

use crate::index::IndexVec;
use crate::models::Model;
use crate::pointer::{InstanceId, PointsTo};
use racehunter_ir::Operation;

/// Functions that end the program where no exception may pass.
const TERMINATE: [&str; 2] = ["__clang_call_terminate", "__cxa_call_unexpected"];

/// How a function outside the program may be left by an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throws {
    /// It returns, or does not.
    Never,
    /// It returns or throws.
    Maybe,
    /// It does not return.
    Always,
}

/// The instances that exceptions may leave.
#[derive(Clone, Debug, Default)]
pub struct Unwinding {
    /// Those whose cleanup may run.
    may: IndexVec<InstanceId, bool>,
    /// Those that a call may leave by an exception, or by the end of the thread.
    throws: IndexVec<InstanceId, bool>,
}

/// Returns how a function outside the program may be left by an exception, or by the end of its thread.
///
/// Functions of C do not throw. Those of C++ may, also if their description says nothing about it, unless it is known
/// that they do not: their names begin with `_Z`.
pub fn of_outside(points_to: &PointsTo<'_>, name: &str) -> Throws {
    /// `delete`, and `new` that returns null instead.
    fn is_quiet(name: &str) -> bool {
        name.starts_with("_Zdl") || name.starts_with("_Zda") || name.ends_with("RKSt9nothrow_t")
    }
    match points_to.models.of(name) {
        Some(Model::Throw | Model::Leave) => Throws::Always,
        Some(Model::Stop) => Throws::Never,
        _ if name.starts_with("_Z") && !is_quiet(name) => Throws::Maybe,
        _ => Throws::Never,
    }
}

impl Unwinding {
    /// Analyses the calls of functions.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        Self { may: handled(points_to), throws: throwing(points_to) }
    }

    /// Returns true if the cleanup of an instance may run other than when it returns.
    pub fn may(&self, id: InstanceId) -> bool {
        self.may[id]
    }

    /// Returns true if an instance may end at a call, because an exception passes both.
    pub fn ends_at(&self, points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> bool {
        let instance = &points_to.instances[id];
        let mut callees = instance.callees.get(&at).into_iter().flatten();
        let mut names = instance.outside.get(&at).into_iter().flatten();
        self.may[id]
            && points_to.instruction(id, at).operation == Operation::Call
            && (callees.any(|callee| self.throws[*callee])
                || names.any(|name| of_outside(points_to, name) != Throws::Never))
    }
}

/// Returns the instances that have a handler, or are called below one.
fn handled(points_to: &PointsTo<'_>) -> IndexVec<InstanceId, bool> {
    let instances = &points_to.instances;
    let mut outside = instances.iter().flat_map(|instance| instance.outside.values().flatten());
    if outside.any(|name| points_to.models.of(name) == Some(Model::Leave)) {
        return instances.map(|_| true);
    }
    let ends = |id: &InstanceId| TERMINATE.contains(&points_to.program.function_name(instances[*id].function));
    let handles = |id: &InstanceId| {
        let instance = &instances[*id];
        instance.callees.values().flatten().any(ends)
            || instance
                .outside
                .values()
                .flatten()
                .any(|name| TERMINATE.contains(&name.as_str()) || points_to.models.of(name) == Some(Model::Caught))
    };
    let mut work: Vec<InstanceId> = instances.ids().filter(handles).collect();
    let mut of = instances.map(|_| false);
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut of[id], true) {
            work.extend(instances[id].callees.values().flatten().copied());
        }
    }
    of
}

/// Returns the instances that may throw, or call something that does; handlers on the way may let it pass.
fn throwing(points_to: &PointsTo<'_>) -> IndexVec<InstanceId, bool> {
    let instances = &points_to.instances;
    let throws = |id: &InstanceId| {
        let mut names = instances[*id].outside.values().flatten();
        names.any(|name| of_outside(points_to, name) != Throws::Never)
    };
    let mut work: Vec<InstanceId> = instances.ids().filter(throws).collect();
    let mut of = instances.map(|_| false);
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut of[id], true) {
            work.extend(points_to.callers(id));
        }
    }
    of
}
