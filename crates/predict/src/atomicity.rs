//! Blocks that are meant to be atomic, and accesses of other threads that come between.
//!
//! Two accesses of a block to one location, with no other access of the block between them, and an access of another
//! thread in between cannot be serialised if
//!
//! * the other access writes what the second one reads (the block sees two states, or not its own write),
//! * the other access writes between a read and a write (its write is lost, or the read is out of date), or
//! * the other access reads between two writes (it sees an intermediate state).
//!
//! The trace marks blocks with [`Op::Begin`] and [`Op::End`]; without marks, nothing is predicted.

use crate::Question;
use crate::check::Checker;
use crate::index::Index;
use crate::predict::{Case, Kind};
use racehunter_trace::{EventId, Op};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Returns true if an access between two of a block cannot be serialised.
fn breaks(first: Op, between: Op, second: Op) -> bool {
    (between.writes() && second.reads())
        || (between.writes() && first.reads() && second.writes())
        || (between.reads() && first.writes() && second.writes())
}

/// Returns the patterns of a trace, by their three sites.
pub(crate) fn cases(index: &Index<'_>, checker: &Checker<'_, '_>, attempts: usize) -> Vec<Case> {
    let trace = index.trace;
    let pairs = pairs_of_blocks(index);
    if pairs.is_empty() {
        return Vec::new();
    }
    // The accesses to each location that blocks access twice.
    let mut accesses: FxHashMap<u32, Vec<EventId>> =
        pairs.iter().map(|&(first, _)| (trace.object(first), Vec::new())).collect();
    for event in 0..trace.len() as EventId {
        if trace.op(event).is_access()
            && let Some(accesses) = accesses.get_mut(&trace.object(event))
        {
            accesses.push(event);
        }
    }
    let mut cases: BTreeMap<(u32, u32, u32), Case> = BTreeMap::new();
    for &(first, second) in &pairs {
        let others = &accesses[&trace.object(first)];
        let middle = others.partition_point(|&other| other < first);
        // From the block outwards, alternating before and after it.
        let outwards = (0..others.len()).flat_map(|step| [middle.checked_sub(step + 1), Some(middle + step)]);
        let mut left = attempts;
        for other in outwards.flatten().filter_map(|at| others.get(at).copied()) {
            if trace.thread(other) == trace.thread(first) || !breaks(trace.op(first), trace.op(other), trace.op(second))
            {
                continue;
            }
            let sites = (trace.site(first), trace.site(other), trace.site(second));
            let case = cases.entry(sites).or_insert(Case { kind: Kind::Atomicity, tries: Vec::new(), complete: true });
            if left == 0 || case.tries.len() >= attempts {
                case.complete = false;
                if left == 0 {
                    break;
                }
                continue;
            }
            left -= 1;
            let question = Question { next: vec![second], done: vec![other], before: vec![(first, other)] };
            if needs_not(index, checker, other, second) {
                case.tries.push((vec![first, other, second], question));
            }
        }
    }
    cases.into_values().filter(|case| !case.tries.is_empty()).collect()
}

/// Returns true unless an event that must happen needs one that is only about to happen.
fn needs_not(index: &Index<'_>, checker: &Checker<'_, '_>, done: EventId, next: EventId) -> bool {
    let ((thread, position), (other, end)) = (index.place(done), index.place(next));
    checker.cones.of(thread, position)[other] <= end
}

/// Returns consecutive accesses to one shared location within a block.
fn pairs_of_blocks(index: &Index<'_>) -> Vec<(EventId, EventId)> {
    let trace = index.trace;
    let mut pairs = Vec::new();
    for events in &index.events {
        let mut depth = 0_u32;
        let mut last: FxHashMap<u32, EventId> = FxHashMap::default();
        for &event in events {
            match trace.op(event) {
                Op::Begin => depth += 1,
                Op::End => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        last.clear();
                    }
                }
                op if op.is_access() && depth > 0 && index.is_shared(trace.object(event)) => {
                    if let Some(first) = last.insert(trace.object(event), event) {
                        pairs.push((first, event));
                    }
                }
                _ => {}
            }
        }
    }
    pairs
}
