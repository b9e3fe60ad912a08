//! Escape analysis: which memory more than one thread can reach.

use crate::pointer::PointsTo;
use crate::pointer::address::{Base, BaseId};
use rustc_hash::FxHashSet;

/// Returns the bases that more than one thread can reach: variables, arguments of threads, and everything that these
/// point to.
pub fn escaped(points_to: &PointsTo<'_>) -> FxHashSet<BaseId> {
    let mut all: FxHashSet<BaseId> = FxHashSet::default();
    let mut work: Vec<BaseId> = points_to.passed.0.keys().copied().collect();
    for (id, base) in points_to.bases.entries() {
        let seen = match base {
            Base::Variable(variable) => !points_to.program.variable_flags(*variable).1,
            Base::Environment | Base::Descriptors | Base::Exposed | Base::Unknown(_) => true,
            _ => false,
        };
        if seen {
            work.push(id);
        }
    }
    // A thread that joins another sees its result.
    for thread in &points_to.threads {
        work.extend(points_to.result(thread.root).0.keys().copied());
    }
    while let Some(base) = work.pop() {
        if all.insert(base) {
            work.extend(points_to.contents(base));
        }
    }
    all
}
