//! Limits the length of executions.
//!
//! A program that never ends uses up the time limit in every execution, although it shows most of its bugs early. Executions
//! are therefore truncated early at first. A truncated execution is rerun alone without the limit. If it finishes, the limit
//! is raised; otherwise the limit applies from then on.

use crate::plan::LONGEST_TURN;
use crate::{Execution, Loader, Outcome, Plan, Saver, Style, TURN, Tail, Unusable};

/// The name of the limit on threads.
pub const THREADS: &str = "threads";

/// Maximum number of events per execution until one is known to need more.
const FIRST: u64 = 4_000_000;
/// Minimum limit on events for a program that does not end.
const ENDLESS: u64 = 50_000;
/// Minimum limit on threads for a program that does not end.
const ENDLESS_THREADS: u32 = 64;
/// How many times as long as the longest finished execution another one may be.
const ROOM: u64 = 8;

/// What is known about the length of executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// Events of the longest execution that ended on its own.
    longest: u64,
    /// Events of the shortest one; 0 if there was none.
    shortest: u64,
    /// Maximum number of threads in such an execution.
    most: u32,
    state: State,
    /// Some execution created threads without end.
    teeming: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No execution was too long.
    Short,
    /// An execution was truncated: the next one has no limit.
    Probing,
    /// An execution did not end.
    Endless,
}

/// What to do with an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// It counts.
    Result,
    /// It was truncated, and must be run again.
    Again,
}

impl Default for Patience {
    fn default() -> Self {
        Self { longest: 0, shortest: 0, most: 0, state: State::Short, teeming: false }
    }
}

impl Patience {
    /// Returns whether the next execution runs alone.
    pub(crate) fn is_probing(&self) -> bool {
        self.state == State::Probing
    }

    /// Returns the maximum number of threads of an execution.
    pub(crate) fn threads(&self) -> u32 {
        if self.teeming { self.most.saturating_mul(2).max(ENDLESS_THREADS) } else { u32::MAX }
    }

    /// Limits the length of a plan, but never so that its own decisions are not reached.
    pub(crate) fn limit(&self, plan: &mut Plan) {
        plan.max_threads = plan.max_threads.min(self.threads());
        // A walk may let one thread do all of its work before another begins. A thread that has performed as many events as a
        // whole execution is probably waiting for another.
        if is_walk(plan) && plan.fair_limit == Some(TURN) {
            plan.fair_limit = Some(self.shortest.clamp(TURN, LONGEST_TURN));
        }
        let room = self.longest.saturating_mul(ROOM);
        let events = match self.state {
            State::Short => room.max(FIRST),
            State::Probing => return,
            State::Endless => room.max(ENDLESS),
        };
        plan.max_events = plan.max_events.min(events.max(plan.tail_from.0.saturating_add(ENDLESS)));
    }

    /// Learns what another campaign knows.
    pub(crate) fn learn_from(&mut self, other: Self) {
        self.longest = self.longest.max(other.longest);
        self.shortest = [self.shortest, other.shortest].into_iter().filter(|&events| events > 0).min().unwrap_or(0);
        self.most = self.most.max(other.most);
        self.teeming |= other.teeming;
        if other.state == State::Endless {
            self.state = State::Endless;
        }
    }

    pub(crate) fn save(&self, out: &mut Saver<'_>) {
        out.number(self.longest);
        out.number(self.shortest);
        out.number(self.most);
        out.number(match self.state {
            State::Short => 0_u8,
            State::Probing => 1,
            State::Endless => 2,
        });
        out.number(self.teeming);
    }

    pub(crate) fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let (longest, shortest, most) = (input.number()?, input.number()?, input.small()?);
        let state = match input.number()? {
            0 => State::Short,
            1 => State::Probing,
            2 => State::Endless,
            _ => return Err(Unusable::Damaged),
        };
        Ok(Self { longest, shortest, most, state, teeming: input.flag()? })
    }

    /// Learns from an execution of a plan; `full` is the plan's limit without this one.
    pub(crate) fn learn(&mut self, plan: &Plan, full: u64, execution: &Execution) -> Worth {
        self.teeming |= matches!(&execution.outcome, Outcome::Limit(what) if what == THREADS);
        match &execution.outcome {
            Outcome::Limit(_) if self.state == State::Endless => Worth::Result,
            Outcome::Limit(_) if plan.max_events < full && execution.events >= plan.max_events => {
                self.state = State::Probing;
                Worth::Again
            }
            Outcome::Limit(_) => {
                self.state = State::Endless;
                Worth::Result
            }
            Outcome::Diverged(_) | Outcome::Lost(_) => Worth::Result,
            _ => {
                self.longest = self.longest.max(execution.events);
                self.shortest = if self.shortest == 0 { execution.events } else { self.shortest.min(execution.events) };
                self.most = self.most.max(execution.threads);
                if self.state == State::Probing {
                    self.state = State::Short;
                }
                Worth::Result
            }
        }
    }
}

/// Returns whether a walk chooses, other than one whose schedules depend on the length of turns.
fn is_walk(plan: &Plan) -> bool {
    matches!(plan.tail, Tail::Walk { style, .. } if !matches!(style, Style::Even | Style::Order { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_log::EventNumber;

    fn execution(events: u64, outcome: Outcome) -> Execution {
        Execution { events, outcome, ..Execution::lost(String::new()) }
    }

    fn limited(patience: Patience) -> Plan {
        let mut plan = Plan::default();
        patience.limit(&mut plan);
        plan
    }

    fn cut() -> Outcome {
        Outcome::Limit("events".to_owned())
    }

    const FULL: u64 = 4_000_000_000;

    #[test]
    fn a_truncated_execution_that_finishes_raises_the_limit() {
        let mut patience = Patience::default();
        let plan = limited(patience);
        assert_eq!(plan.max_events, FIRST);
        assert_eq!(patience.learn(&plan, FULL, &execution(FIRST, cut())), Worth::Again);
        assert!(patience.is_probing());
        let plan = limited(patience);
        assert_eq!(plan.max_events, FULL);
        assert_eq!(patience.learn(&plan, FULL, &execution(5_000_000, Outcome::Exited(0))), Worth::Result);
        assert_eq!(limited(patience).max_events, 40_000_000);
    }

    #[test]
    fn an_execution_that_does_not_end_lowers_the_limit_for_all() {
        let mut patience = Patience::default();
        let plan = limited(patience);
        patience.learn(&plan, FULL, &execution(FIRST, cut()));
        let plan = limited(patience);
        let late = Outcome::Limit("time".to_owned());
        assert_eq!(patience.learn(&plan, FULL, &execution(90_000_000, late)), Worth::Result);
        let plan = limited(patience);
        assert_eq!(plan.max_events, ENDLESS);
        assert_eq!(patience.learn(&plan, FULL, &execution(ENDLESS, cut())), Worth::Result);
    }

    #[test]
    fn a_program_that_creates_threads_without_end_gets_few() {
        let mut patience = Patience::default();
        assert_eq!(limited(patience).max_threads, u32::MAX);
        let plan = limited(patience);
        assert_eq!(patience.learn(&plan, FULL, &execution(9000, Outcome::Limit(THREADS.to_owned()))), Worth::Result);
        assert_eq!(limited(patience).max_threads, ENDLESS_THREADS);
    }

    #[test]
    fn the_decisions_of_a_plan_are_reached() {
        let patience = Patience { state: State::Endless, ..Patience::default() };
        let mut plan = Plan { tail_from: EventNumber(1_000_000), ..Plan::default() };
        patience.limit(&mut plan);
        assert_eq!(plan.max_events, 1_050_000);
    }

    #[test]
    fn walks_let_a_thread_finish_before_others_begin() {
        let mut patience = Patience::default();
        let turn = |patience: &Patience, style: Style| {
            let mut plan = Plan { tail: Tail::Walk { style, seed: 1 }, ..Plan::default() };
            patience.limit(&mut plan);
            plan.fair_limit
        };
        assert_eq!(turn(&patience, Style::Pos), Some(TURN));
        for events in [1_000_000, 700_000, 5_000_000] {
            let plan = limited(patience);
            patience.learn(&plan, FULL, &execution(events, Outcome::Exited(0)));
        }
        assert_eq!(turn(&patience, Style::Pos), Some(700_000));
        assert_eq!(turn(&patience, Style::Even), Some(TURN));
        assert_eq!(limited(patience).fair_limit, Some(TURN));
    }

    #[test]
    fn a_saved_state_loads_unchanged() {
        for state in [State::Short, State::Probing, State::Endless] {
            let patience =
                Patience { longest: 1 << 40, shortest: 1 << 20, most: 300, state, teeming: state == State::Endless };
            let mut bytes = Vec::new();
            let mut out = Saver::new(&mut bytes);
            patience.save(&mut out);
            out.finish().unwrap();
            let mut input = &bytes[..];
            assert_eq!(Patience::load(&mut Loader::new(&mut input)).unwrap(), patience);
        }
    }

    #[test]
    fn user_limits_are_never_raised() {
        let mut patience = Patience::default();
        let mut plan = Plan { max_events: 1000, ..Plan::default() };
        patience.limit(&mut plan);
        assert_eq!(plan.max_events, 1000);
        assert_eq!(patience.learn(&plan, 1000, &execution(1000, cut())), Worth::Result);
    }
}
