//! A schedule as turns: who runs, and for how many events.
//!
//! Rules say when a thread gives way, wherever that is in the whole; to leave one out changes all that comes later. Turns can
//! be moved instead. Two turns of a thread with others between them become one when the later of them comes first, or the
//! earlier of them last. As long as no thread sees a difference, all else stays as it was, and the schedule can be written
//! down without trying it bit by bit: one execution tells.

use crate::{Execution, Plan, Switch};
use racehunter_log::{CodeAddress, EventNumber, ThreadId};
use std::ops::Range;

/// Some events of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    thread: ThreadId,
    events: u64,
    /// It was chosen to go on: it may have been suspended.
    chosen: bool,
}

/// What an execution did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turns(Vec<Turn>);

/// Two turns of a thread, with those of others between them, are to become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Join {
    /// The turns between.
    first: usize,
    end: usize,
    /// What lies after them comes before them; otherwise what lies before them comes after them.
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

    /// All pairs of turns that can be joined, the last ones first: nothing follows them that could turn out otherwise.
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

    /// The same with two turns joined.
    pub(super) fn joined(&self, join: Join) -> Self {
        let mut turns = self.0.clone();
        if join.early {
            turns[join.first..=join.end].rotate_right(1);
        } else {
            turns[join.first - 1..join.end].rotate_left(1);
        }
        Self(turns)
    }

    /// The same with the turns of each thread together, within a range: threads in the order in which they come there.
    pub(super) fn grouped(&self, range: Range<usize>) -> Self {
        let mut turns = self.0.clone();
        let order: Vec<ThreadId> = turns[range.clone()].iter().map(|turn| turn.thread).collect();
        turns[range].sort_by_key(|turn| order.iter().position(|&thread| thread == turn.thread));
        Self(turns)
    }

    /// The first turns alone: what comes then is left open.
    pub(super) fn first(&self, count: usize) -> Self {
        Self(self.0[..count.min(self.0.len())].to_vec())
    }

    /// A plan like another one, that does this. It decides nothing after the last turn begins.
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
    fn a_plan_has_the_events_where_turns_begin() {
        let plan = turns(&[(0, 2), (1, 3), (2, 1)]).plan(&Plan::default());
        assert_eq!(
            plan.switches.iter().map(|switch| (switch.at.0, switch.from.0, switch.to.0)).collect::<Vec<_>>(),
            [(3, 0, 1), (6, 1, 2)]
        );
        assert_eq!(plan.tail_from, EventNumber(6));
    }
}
