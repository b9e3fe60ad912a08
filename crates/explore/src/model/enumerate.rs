//! The oracle: every schedule of a program, by recursion over its states.

use super::program::Program;
use super::state::Operation;
use super::state::{State, Status};
use crate::{Bug, Execution, Outcome, Variable};
use racehunter_log::{Address, CodeAddress, Event};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// One schedule from the start of a program to its end.
#[derive(Clone, Debug)]
pub struct Path {
    /// The thread that performs each event, in order. Schedules differ exactly in this.
    pub order: Vec<u32>,
    /// Switches away from a thread that could continue and did not yield.
    pub preemptions: u32,
    /// Switches of any kind.
    pub switches: u32,
    /// Choices that ignored a yield or let time pass while another thread was ready.
    pub unfair: u32,
    /// What a bound on preemptions counts.
    pub preemption_cost: u32,
    /// What a bound on switches counts.
    pub switch_cost: u32,
    /// Its preemptions.
    pub preempted: Vec<Preempted>,
    /// The outcome.
    pub outcome: Outcome,
    /// The bugs it shows.
    pub bugs: Vec<Bug>,
    /// The output: see [`Execution::output`].
    pub output: Vec<u8>,
}

/// One preemption of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preempted {
    /// The variable of the thread's last operation, see [`crate::LastVariables`].
    pub variable: Option<Variable>,
    /// The preempted thread.
    pub from: u32,
    /// The thread that ran instead.
    pub to: u32,
}

impl Path {
    /// Returns the number of distinct variables at which threads are preempted.
    #[must_use]
    pub fn variables(&self) -> u32 {
        let variables: HashSet<Variable> = self.preempted.iter().filter_map(|preempted| preempted.variable).collect();
        variables.len() as u32
    }

    /// Returns the number of distinct threads that are preempted, or run instead.
    #[must_use]
    pub fn threads(&self) -> u32 {
        let threads: HashSet<u32> =
            self.preempted.iter().flat_map(|preempted| [preempted.from, preempted.to]).collect();
        threads.len() as u32
    }
}

/// Returns all schedules of a program if these sites and all synchronisation are points; `None` if there are more than
/// `limit` of them or one has more than 200 events.
#[must_use]
pub fn schedules(program: &Program, points: &HashSet<u32>, limit: usize) -> Option<Vec<Path>> {
    let mut search = Search { program, points, limit, paths: Vec::new() };
    let start = Path {
        order: Vec::new(),
        preemptions: 0,
        switches: 0,
        unfair: 0,
        preemption_cost: 0,
        switch_cost: 0,
        preempted: Vec::new(),
        outcome: Outcome::Exited(0),
        bugs: Vec::new(),
        output: Vec::new(),
    };
    search.walk(State::new(program, false), 0, false, start).then_some(search.paths)
}

/// How a program can end: its outcome and its output.
pub type End = (String, Vec<u8>);

/// Returns all ends of a program, each with the preemption cost of the cheapest schedule to it, by a search through its
/// states. Waiting loops are nothing special here: a thread iterates as long as it is chosen, and leaving it is a preemption.
/// With `wakeups` a wait may end without a signal, which costs one, and a signal may wake any waiter. Returns `None` if there
/// are more than `limit` states.
#[must_use]
pub fn reachable(program: &Program, points: &HashSet<u32>, wakeups: bool, limit: usize) -> Option<BTreeMap<End, u32>> {
    let mut start = State::new(program, false);
    start.spins_are_waits = false;
    start.chooses_wakeups = wakeups;
    let mut costs: HashMap<(String, u32, bool), u32> = HashMap::new();
    let mut ends: BTreeMap<End, u32> = BTreeMap::new();
    // The cheapest first: states at no further cost go to the front.
    let mut waiting = VecDeque::from([(start, 0, false, 0)]);
    while let Some((state, current, yielded, cost)) = waiting.pop_front() {
        if costs.len() > limit {
            return None;
        }
        let known = costs.entry((state.key(), current, yielded)).or_insert(u32::MAX);
        if *known <= cost {
            continue;
        }
        *known = cost;
        let is_ready = |thread: u32| state.status(thread) == Status::Ready;
        let others_ready = (0..state.threads()).any(|thread| thread != current && is_ready(thread));
        let stays = is_ready(current)
            && !(yielded && others_ready)
            && !state.at_point(current, |site, _| points.contains(&site));
        let can = |&thread: &u32| is_ready(thread) && (!stays || thread == current);
        let mut choices: Vec<u32> = (0..state.threads()).filter(can).collect();
        if !stays && !choices.is_empty() {
            choices.extend((0..state.threads()).filter(|&thread| state.may_wake(thread)));
        }
        let outcome = match (&state.outcome, choices.is_empty()) {
            (Some(outcome), _) => outcome.clone(),
            (None, true) => Outcome::Deadlock,
            (None, false) => {
                for thread in choices {
                    let preempts = thread != current && is_ready(current) && !yielded;
                    let ignores = thread == current && yielded && others_ready || state.may_wake(thread);
                    let mut next = state.clone();
                    let yields = next.perform(thread).event == Event::Yield;
                    if preempts || ignores {
                        waiting.push_back((next, thread, yields, cost + 1));
                    } else {
                        waiting.push_front((next, thread, yields, cost));
                    }
                }
                continue;
            }
        };
        let least = ends.entry((format!("{outcome:?}"), state.output())).or_insert(cost);
        *least = cost.min(*least);
    }
    Some(ends)
}

/// Returns the thread that performed each event of an execution.
#[must_use]
pub fn order(execution: &Execution) -> Vec<u32> {
    let mut order = vec![0; execution.events as usize];
    for switch in execution.switches() {
        let from = (switch.at.0 as usize).saturating_sub(1).min(order.len());
        order[from..].fill(switch.to.0);
    }
    order
}

struct Search<'a> {
    program: &'a Program,
    points: &'a HashSet<u32>,
    limit: usize,
    paths: Vec<Path>,
}

impl Search<'_> {
    /// Explores everything that can happen from a state on. Returns false if that is too much.
    fn walk(&mut self, state: State<'_>, current: u32, yielded: bool, path: Path) -> bool {
        if path.order.len() > 200 || self.paths.len() > self.limit {
            return false;
        }
        if let Some(outcome) = state.outcome.clone() {
            self.finish(&state, current, outcome, path);
            return true;
        }
        let status = |thread: u32| state.status(thread);
        let is_ready = |thread: u32| status(thread) == Status::Ready;
        let others_ready = (0..state.threads()).any(|thread| thread != current && is_ready(thread));
        let plain = is_ready(current) && !(yielded && others_ready);
        if plain && !state.at_point(current, |site, _| self.points.contains(&site)) {
            return self.step(&state, current, path);
        }
        let late = (0..state.threads()).filter_map(|thread| match status(thread) {
            Status::Suspended(deadline, _) => Some((deadline, thread)),
            _ => None,
        });
        let first_in_time = late.min().map(|(_, thread)| thread);
        let mut deadlock = true;
        for thread in 0..state.threads() {
            if !matches!(status(thread), Status::Ready | Status::Suspended(..)) {
                continue;
            }
            deadlock = false;
            let mut path = path.clone();
            let preempts = thread != current && is_ready(current) && !yielded;
            let goes_on_plainly = thread == current && is_ready(current) && !yielded;
            let ignores = thread == current || !is_ready(thread);
            // Time passes, but the deadline of another thread comes first.
            let overtakes = !is_ready(thread) && first_in_time != Some(thread);
            // Time passes although the yielding thread is ready.
            let hurries = !is_ready(thread) && is_ready(current);
            let unfair = (others_ready && ignores || overtakes || hurries) && !preempts && !goes_on_plainly;
            path.preemptions += u32::from(preempts);
            if preempts {
                let variable = self.last_variable(&path.order, current);
                path.preempted.push(Preempted { variable, from: current, to: thread });
            }
            path.unfair += u32::from(unfair);
            path.switches += u32::from(thread != current);
            path.preemption_cost += u32::from(preempts || unfair);
            path.switch_cost += u32::from(thread != current || unfair);
            if !self.step(&state, thread, path) {
                return false;
            }
        }
        if deadlock {
            let spins = state.spins_for_ever();
            let outcome = if spins { Outcome::Limit("events".to_owned()) } else { Outcome::Deadlock };
            self.finish(&state, current, outcome, path);
        }
        true
    }

    /// Returns the variable of a thread's last operation, by running the schedule again.
    fn last_variable(&self, order: &[u32], thread: u32) -> Option<Variable> {
        let mut state = State::new(self.program, false);
        let mut last = None;
        for &next in order {
            let operation = state.perform(next);
            if next == thread && (!operation.is_plain_access() || self.points.contains(&operation.site())) {
                last = is_about_a_variable(&operation.event).then(|| Variable::Fixed(Address(operation.object())));
            }
        }
        last
    }

    fn step(&mut self, state: &State<'_>, thread: u32, mut path: Path) -> bool {
        let mut next = state.clone();
        let operation = next.perform(thread);
        path.order.push(thread);
        self.walk(next, thread, operation.event == Event::Yield, path)
    }

    fn finish(&mut self, state: &State<'_>, current: u32, outcome: Outcome, mut path: Path) {
        let place = |(a, b): &(Operation, Operation)| {
            let (a, b) = (CodeAddress(a.code()), CodeAddress(b.code()));
            Bug::Race(a.min(b), a.max(b))
        };
        path.bugs = state.clocks.races.iter().map(place).collect();
        match &outcome {
            Outcome::Deadlock => {
                let waiting = (0..state.threads()).filter(|&thread| state.status(thread) != Status::Over);
                let mut places: Vec<CodeAddress> = waiting.map(|thread| CodeAddress(state.code(thread))).collect();
                places.sort_unstable();
                path.bugs.push(Bug::Deadlock(places));
            }
            Outcome::Asserted { message, file, line } => {
                path.bugs.push(Bug::Assertion(message.clone(), file.clone(), *line));
            }
            Outcome::Crashed { signal, .. } => path.bugs.push(Bug::Crash(*signal, CodeAddress(state.code(current)))),
            _ => {}
        }
        path.bugs.sort();
        path.bugs.dedup();
        path.outcome = outcome;
        path.output = state.output();
        self.paths.push(path);
    }
}

/// For the events of the model. Repeated here, so that the oracle does not share the mistakes of what is tested against it.
fn is_about_a_variable(event: &Event) -> bool {
    !matches!(
        event,
        Event::Create { .. } | Event::Join { .. } | Event::Exit | Event::Yield | Event::Sleep | Event::Kill { .. }
    )
}
