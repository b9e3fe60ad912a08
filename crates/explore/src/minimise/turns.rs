//! A schedule as turns: which thread runs, and for how many events.
//!
//! Leaving out a rule changes everything that comes later. Turns can be moved instead: two turns of a thread with others
//! between them become one by moving the later one forward or the earlier one back. As long as no thread sees a difference,
//! everything else stays the same, so the new schedule is known and one execution checks it.

use crate::{Execution, Plan, Switch};
use racehunter_log::{CodeAddress, EventNumber, ThreadId};
use std::ops::Range;

/// Consecutive events of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    thread: ThreadId,
    events: u64,
    /// The thread was explicitly chosen: it may have been suspended.
    chosen: bool,
}

/// The turns of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turns(Vec<Turn>);

/// Joins two turns of a thread with turns of others between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Join {
    /// The turns between them.
    first: usize,
    end: usize,
    /// Whether the later turn moves forward; otherwise the earlier one moves back.
    early: bool,
}

impl Turns {
    pub(super) fn of(execution: &Execution) -> Self {
        let mut turns = Vec::new();
        let (mut thread, mut begin, mut chosen) = (ThreadId::MAIN, EventNumber::START.next(), false);
        for switch in execution.switches() {
            if switch.at > begin {
                turns.push(Turn { thread, events: switch.at - begin, chosen });
                begin = switch.at;
            }
            (thread, chosen) = (switch.to, switch.to == switch.from);
        }
        let end = execution.last_event().next();
        if end > begin {
            turns.push(Turn { thread, events: end - begin, chosen });
        }
        Self(turns)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns all pairs of turns that can be joined, the last first: little follows them that could change.
    pub(super) fn joins(&self) -> Vec<Join> {
        let mut joins = Vec::new();
        for before in (0..self.0.len()).rev() {
            let others = self.0[before + 1..].iter().take_while(|turn| turn.thread != self.0[before].thread).count();
            let (first, end) = (before + 1, before + 1 + others);
            if others > 0 && end < self.0.len() {
                joins.extend([true, false].map(|early| Join { first, end, early }));
            }
        }
        joins
    }

    /// Returns the turns with two of them joined.
    pub(super) fn joined(&self, join: Join) -> Self {
        let mut turns = self.0.clone();
        if join.early {
            turns[join.first..=join.end].rotate_right(1);
        } else {
            turns[join.first - 1..join.end].rotate_left(1);
        }
        Self(turns)
    }

    /// Returns the turns with those of each thread grouped within a range, threads in the order in which they occur there.
    pub(super) fn grouped(&self, range: Range<usize>) -> Self {
        let mut turns = self.0.clone();
        let order: Vec<ThreadId> = turns[range.clone()].iter().map(|turn| turn.thread).collect();
        turns[range].sort_by_key(|turn| order.iter().position(|&thread| thread == turn.thread));
        Self(turns)
    }

    /// Returns the turns with some threads at the end, one after the other: the first thread, all turns of each of the others,
    /// and the last turn of the first if it has several.
    pub(super) fn around(&self, first: ThreadId, others: &[ThreadId]) -> Self {
        let of = |thread: ThreadId| self.0.iter().copied().filter(move |turn| turn.thread == thread);
        let mut own: Vec<Turn> = of(first).collect();
        let last = if own.len() > 1 { own.pop() } else { None };
        let before = self.0.iter().copied().filter(|turn| turn.thread != first && !others.contains(&turn.thread));
        Self(before.chain(own).chain(others.iter().flat_map(|&other| of(other))).chain(last).collect())
    }

    /// Returns only the first turns; the rest is left open.
    pub(super) fn first(&self, count: usize) -> Self {
        Self(self.0[..count.min(self.0.len())].to_vec())
    }

    /// Returns a plan for these turns, otherwise like another one. It decides nothing after the last turn begins.
    pub(super) fn plan(&self, like: &Plan) -> Plan {
        let (mut running, mut at) = (ThreadId::MAIN, EventNumber::START.next());
        let mut switches = Vec::new();
        for turn in &self.0 {
            if turn.chosen || turn.thread != running {
                switches.push(Switch { at, to: turn.thread, from: running, code: CodeAddress::UNKNOWN });
            }
            (running, at) = (turn.thread, at + turn.events);
        }
        Plan { tail_from: switches.last().map_or(EventNumber::START, |last| last.at), switches, ..like.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Turn, Turns};
    use crate::Plan;
    use racehunter_log::{EventNumber, ThreadId};

    fn turns(list: &[(u32, u64)]) -> Turns {
        Turns(list.iter().map(|&(thread, events)| Turn { thread: ThreadId(thread), events, chosen: false }).collect())
    }

    #[test]
    fn turns_are_joined_from_both_sides() {
        let all = turns(&[(0, 2), (1, 3), (2, 1), (1, 4)]);
        let joined: Vec<Turns> = all.joins().into_iter().map(|join| all.joined(join)).collect();
        assert_eq!(joined, [turns(&[(0, 2), (1, 3), (1, 4), (2, 1)]), turns(&[(0, 2), (2, 1), (1, 3), (1, 4)])]);
    }

    #[test]
    fn turns_are_grouped_within_a_range() {
        let all = turns(&[(1, 1), (0, 2), (1, 3), (0, 4), (1, 5)]);
        assert_eq!(all.grouped(1..4), turns(&[(1, 1), (0, 2), (0, 4), (1, 3), (1, 5)]));
        assert_eq!(all.grouped(0..2), all);
        assert_eq!(all.first(2), turns(&[(1, 1), (0, 2)]));
    }

    #[test]
    fn threads_take_turns_around_one_of_them() {
        let all = turns(&[(0, 9), (1, 1), (2, 2), (3, 3), (1, 4), (2, 5)]);
        let [first, others] = [ThreadId(1), ThreadId(3)];
        let around = turns(&[(0, 9), (1, 1), (3, 3), (2, 2), (2, 5), (1, 4)]);
        assert_eq!(all.around(first, &[others, ThreadId(2)]), around);
        let around = turns(&[(0, 9), (2, 2), (2, 5), (3, 3), (1, 1), (1, 4)]);
        assert_eq!(all.around(others, &[first]), around);
    }

    #[test]
    fn a_plan_has_the_events_where_turns_begin() {
        let plan = turns(&[(0, 2), (1, 3), (2, 1)]).plan(&Plan::default());
        assert_eq!(
            plan.switches.iter().map(|switch| (switch.at.0, switch.from.0, switch.to.0)).collect::<Vec<_>>(),
            [(3, 0, 1), (6, 1, 2)]
        );
        assert_eq!(plan.tail_from, EventNumber(6));
    }
}
