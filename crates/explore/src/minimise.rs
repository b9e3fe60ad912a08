//! Confirms and minimises failing schedules.

mod bounds;
mod cycle;
mod turns;

use crate::{Bug, Execution, Executor, ExecutorError, Plan, Step, Switch, decisions};
use racehunter_log::{EventNumber, ThreadId};
use rustc_hash::FxHashMap;
use turns::Turns;

/// Runs a plan several times. Returns how often the bug showed.
pub fn confirm(executor: &mut dyn Executor, plan: &Plan, bug: &Bug, times: u32) -> Result<u32, ExecutorError> {
    let executions = executor.run(&vec![plan.clone(); times as usize])?;
    Ok(executions.iter().filter(|execution| execution.shows(bug)).count() as u32)
}

/// Limits the work of simplifying a schedule.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Maximum number of executions.
    pub runs: u64,
    /// Whether to continue; called before every execution but the first.
    pub goes_on: &'a dyn Fn() -> bool,
}

impl Effort<'_> {
    /// Limits only the number of executions.
    #[must_use]
    pub const fn of(runs: u64) -> Self {
        Self { runs, goes_on: &|| true }
    }
}

/// A simplified schedule.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// An execution that showed the bug.
    pub execution: Execution,
    /// Its preemptions.
    pub preemptions: u64,
    /// Its switches, as a schedule to store.
    pub switches: Vec<Switch>,
    /// The plan that repeats it.
    pub plan: Plan,
    /// Number of executions used.
    pub runs: u64,
}

/// Looks for a schedule that shows the same bug with the fewest preemptions, and among those the one with the fewest switches and
/// events. Returns `None` if not even the given plan shows the bug.
///
/// First the schedule is a set of rules, of which subsets are tried: the smallest first if there are few preemptions, otherwise
/// by halving. Then it is a sequence of turns: first the turns of each thread are grouped within large parts of it, then two
/// turns are joined, or two pairs at once, until no such step makes it simpler. Every candidate is run, and only one that showed
/// the bug is kept.
pub fn minimise(
    executor: &mut dyn Executor,
    plan: &Plan,
    bug: &Bug,
    effort: Effort<'_>,
) -> Result<Option<Minimised>, ExecutorError> {
    let Some(mut search) = Search::from(executor, plan, bug, effort)? else { return Ok(None) };
    search.less_to_the_end()?;
    search.groups()?;
    search.halves()?;
    search.fewer_turns()?;
    search.one_by_one()?;
    search.subsets()?;
    search.shortcuts()?;
    search.fewer_rules()?;
    search.fewer_turns()?;
    Ok(search.finish())
}

/// Looks for a schedule that shows the same bug with fewer preemptions than `plan`, among those with zero, one and two of them.
/// Schedules that preempt where `plan` does come first, so that the search succeeds in large programs too. Returns `None` if no
/// better schedule was found.
pub fn fewer_preemptions(
    executor: &mut dyn Executor,
    plan: &Plan,
    bug: &Bug,
    effort: Effort<'_>,
) -> Result<Option<Minimised>, ExecutorError> {
    let Some(mut search) = Search::from(executor, plan, bug, effort)? else { return Ok(None) };
    let before = search.fewest();
    search.bounds()?;
    if search.fewest() == before {
        return Ok(None);
    }
    search.fewer_rules()?;
    search.fewer_turns()?;
    Ok(search.finish())
}

/// Returns how many events a simpler schedule may take to show the bug. This matters for programs that do not end.
#[must_use]
pub fn room(plan: &Plan) -> u64 {
    plan.max_events.saturating_mul(2).saturating_add(10_000).min(Plan::default().max_events)
}

/// The complexity of a schedule, in order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    preemptions: u64,
    unfair: u64,
    switches: u64,
    events: u64,
}

/// When `from` has performed `after` of its own events and a decision is due, `to` continues. Unlike event numbers, these
/// coordinates do not shift when something earlier changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    from: ThreadId,
    after: u64,
    to: ThreadId,
    /// It represents a preemption or an unfair choice.
    costs: bool,
}

struct Best {
    execution: Execution,
    cost: Cost,
    rules: Vec<Rule>,
}

struct Search<'a> {
    executor: &'a mut dyn Executor,
    bug: &'a Bug,
    /// The plan being simplified, from which everything but the switches is taken.
    like: &'a Plan,
    runs: u64,
    effort: Effort<'a>,
    best: Option<Best>,
}

/// In schedules with more rules than this, shortcuts are tried only among the first; with more turns, none are joined.
const LONG: usize = 40;
/// Up to this many preemptions, all subsets are tried.
const FEW: usize = 6;

impl<'a> Search<'a> {
    /// Starts with a plan, if it shows the bug.
    fn from(
        executor: &'a mut dyn Executor,
        plan: &'a Plan,
        bug: &'a Bug,
        effort: Effort<'a>,
    ) -> Result<Option<Self>, ExecutorError> {
        let mut search = Self { executor, bug, like: plan, runs: 0, effort, best: None };
        let first = search.run(plan.clone())?;
        Ok(search.keep_if_better(first).then_some(search))
    }
}

impl Search<'_> {
    fn run(&mut self, plan: Plan) -> Result<Option<Execution>, ExecutorError> {
        if self.out_of_runs() {
            return Ok(None);
        }
        self.runs += 1;
        Ok(self.executor.run(std::slice::from_ref(&plan))?.pop())
    }

    /// Returns the simplest schedule found.
    fn finish(self) -> Option<Minimised> {
        let best = self.best?;
        let preemptions = best.cost.preemptions;
        let plan = Plan { max_threads: self.like.max_threads, ..best.execution.repeat_to(self.bug) };
        let switches = plan.switches.clone();
        Some(Minimised { execution: best.execution, preemptions, switches, plan, runs: self.runs })
    }

    fn out_of_runs(&self) -> bool {
        self.runs >= self.effort.runs || self.runs > 0 && !(self.effort.goes_on)()
    }

    fn keep_if_better(&mut self, execution: Option<Execution>) -> bool {
        let Some(execution) = execution.filter(|execution| execution.shows(self.bug)) else { return false };
        let (cost, rules) = self.describe(&execution);
        let better = self.best.as_ref().is_none_or(|best| cost < best.cost);
        if better {
            self.best = Some(Best { execution, cost, rules });
        }
        better
    }

    fn rules(&self) -> Vec<Rule> {
        self.best.as_ref().map_or_else(Vec::new, |best| best.rules.clone())
    }

    fn describe(&self, execution: &Execution) -> (Cost, Vec<Rule>) {
        let mut cost = Cost { preemptions: 0, unfair: 0, switches: 0, events: execution.events };
        let mut rules = Vec::new();
        let mut counter = OwnEvents::default();
        for decision in decisions(execution) {
            let after = counter.at(decision.at, decision.from);
            counter.runs(decision.to);
            if decision.logged {
                let costs = matches!(decision.step, Step::Preemption | Step::Unfair);
                rules.push(Rule { from: decision.from, after, to: decision.to, costs });
            }
            (cost.preemptions, cost.unfair) = (decision.preemptions, decision.unfair);
            cost.switches = decision.switches;
        }
        (cost, rules)
    }

    /// Runs a schedule that follows the rules wherever they apply, and otherwise switches as little as possible. Keeps it if it
    /// is simpler. Takes one execution per rule that does not happen on its own.
    fn follow(&mut self, rules: &[Rule]) -> Result<bool, ExecutorError> {
        let by_place: FxHashMap<(ThreadId, u64), ThreadId> =
            rules.iter().map(|rule| ((rule.from, rule.after), rule.to)).collect();
        let mut forced: Vec<Switch> = Vec::new();
        loop {
            let tail_from = forced.last().map_or(EventNumber::START, |last| last.at.next());
            let plan = Plan { switches: forced.clone(), tail_from, ..self.open() };
            let Some(execution) = self.run(plan)? else { return Ok(false) };
            let next = next_forced(&execution, tail_from, &by_place);
            if self.keep_if_better(Some(execution)) {
                return Ok(true);
            }
            match next {
                Some(next) => forced = next,
                None => return Ok(false),
            }
        }
    }

    /// Returns the plan being simplified, without its decisions.
    fn open(&self) -> Plan {
        Plan {
            fair_limit: self.like.fair_limit,
            spurious: self.like.spurious,
            max_events: room(self.like),
            max_threads: self.like.max_threads,
            ..Plan::default()
        }
    }

    /// Leaves out preemptions by halving, until few are left.
    fn halves(&mut self) -> Result<(), ExecutorError> {
        let mut parts = 1;
        loop {
            let rules = self.rules();
            let costly: Vec<Rule> = rules.iter().copied().filter(|rule| rule.costs).collect();
            if costly.len() <= FEW || parts > costly.len() || self.out_of_runs() {
                break;
            }
            let mut shrunk = false;
            for part in costly.chunks(costly.len().div_ceil(parts)) {
                let kept: Vec<Rule> = rules.iter().copied().filter(|rule| !part.contains(rule)).collect();
                if self.follow(&kept)? {
                    shrunk = true;
                    break;
                }
            }
            parts = if shrunk { 1 } else { parts * 2 };
        }
        Ok(())
    }

    /// Tries all subsets of the preemptions, the smallest first, if there are few.
    fn subsets(&mut self) -> Result<(), ExecutorError> {
        let rules = self.rules();
        let costly: Vec<Rule> = rules.iter().copied().filter(|rule| rule.costs).collect();
        if costly.len() > FEW {
            return Ok(());
        }
        let mut subsets: Vec<u32> = (0..(1_u32 << costly.len()) - 1).collect();
        subsets.sort_by_key(|subset| subset.count_ones());
        for subset in subsets {
            let dropped = |rule: &Rule| {
                costly.iter().position(|costly| costly == rule).is_some_and(|bit| subset & (1 << bit) == 0)
            };
            let kept: Vec<Rule> = rules.iter().copied().filter(|rule| !dropped(rule)).collect();
            if self.follow(&kept)? || self.out_of_runs() {
                break;
            }
        }
        Ok(())
    }

    /// Leaves everything after the first turns open, keeping as few turns as possible.
    fn less_to_the_end(&mut self) -> Result<(), ExecutorError> {
        let Some(turns) = self.turns().filter(|_| self.is_preempted()) else { return Ok(()) };
        for quarter in 0..4 {
            if self.take(&turns.first(turns.len() * quarter / 4))? {
                break;
            }
        }
        Ok(())
    }

    /// Groups the turns of each thread within a part of the schedule: all of it, halves, quarters and so on. Most switches of a
    /// random schedule do not matter, and this removes large parts of them with one execution each.
    fn groups(&mut self) -> Result<(), ExecutorError> {
        let Some(mut size) = self.turns().map(|turns| turns.len()) else { return Ok(()) };
        // Keeps some executions for the finer steps that follow.
        let most = self.runs + self.effort.runs.saturating_sub(self.runs) / 2;
        while size > 2 {
            let mut begin = 0;
            while self.is_preempted() && self.runs < most {
                let Some(turns) = self.turns().filter(|turns| begin + 2 < turns.len()) else { break };
                let grouped = turns.grouped(begin..turns.len().min(begin + size));
                if grouped == turns || !self.take(&grouped)? {
                    begin += size.div_ceil(2);
                }
            }
            size = size.div_ceil(2);
        }
        Ok(())
    }

    /// Returns the turns of the simplest execution so far.
    fn turns(&self) -> Option<Turns> {
        self.best.as_ref().map(|best| Turns::of(&best.execution))
    }

    /// Joins turns, one pair or two pairs at a time, as long as that makes the schedule simpler.
    fn fewer_turns(&mut self) -> Result<(), ExecutorError> {
        while self.is_preempted() {
            let Some(turns) = self.turns() else { break };
            if turns.len() > LONG || !self.join_once(&turns)? && !self.join_twice(&turns)? {
                break;
            }
        }
        Ok(())
    }

    fn join_once(&mut self, turns: &Turns) -> Result<bool, ExecutorError> {
        for join in turns.joins() {
            if self.take(&turns.joined(join))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A second join may repair what the first broke: if two threads have seen each other's writes, both have to move.
    fn join_twice(&mut self, turns: &Turns) -> Result<bool, ExecutorError> {
        for first in turns.joins() {
            if self.join_once(&turns.joined(first))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs these turns. Keeps the result if it is simpler.
    fn take(&mut self, turns: &Turns) -> Result<bool, ExecutorError> {
        let plan = turns.plan(&self.open());
        let execution = self.run(plan)?;
        Ok(self.keep_if_better(execution))
    }

    fn is_preempted(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.cost.preemptions > 0) && !self.out_of_runs()
    }

    /// Leaves out what happens between two switches: the thread of the second switch continues at the first. That may be the
    /// running thread, if it can continue by a time-out.
    fn shortcuts(&mut self) -> Result<(), ExecutorError> {
        let mut at = 0;
        loop {
            let mut rules = self.rules();
            if !self.is_preempted() || at + 1 >= rules.len().min(LONG) {
                return Ok(());
            }
            rules[at].to = rules.remove(at + 1).to;
            if !self.follow(&rules)? {
                at += 1;
            }
        }
    }

    /// Drops rules one at a time as long as that makes the schedule simpler.
    fn fewer_rules(&mut self) -> Result<(), ExecutorError> {
        let mut index = 0;
        while !self.out_of_runs() {
            let mut rules = self.rules();
            if index >= rules.len() {
                break;
            }
            rules.remove(index);
            if self.follow(&rules)? {
                index = 0;
            } else {
                index += 1;
            }
        }
        Ok(())
    }
}

/// Returns the switches to force so that, after those already forced, the first rule that this execution did not follow is
/// followed too.
fn next_forced(
    execution: &Execution,
    tail_from: EventNumber,
    rules: &FxHashMap<(ThreadId, u64), ThreadId>,
) -> Option<Vec<Switch>> {
    let mut counter = OwnEvents::default();
    let mut made = Vec::new();
    let mut decisions = decisions(execution);
    while let Some(decision) = decisions.next() {
        let after = counter.at(decision.at, decision.from);
        counter.runs(decision.to);
        let switch = |to: ThreadId| Switch { at: decision.at, to, from: decision.from, code: decision.code };
        if decision.at >= tail_from
            && let Some(&to) = rules.get(&(decision.from, after))
            && decisions.others().any(|(other, _)| other == to)
        {
            made.push(switch(to));
            return Some(made);
        }
        if decision.logged {
            made.push(switch(decision.to));
        }
    }
    None
}

/// Counts the events of each thread. All events between two decisions belong to the chosen thread.
#[derive(Default)]
struct OwnEvents {
    counts: FxHashMap<ThreadId, u64>,
    running: ThreadId,
    since: EventNumber,
}

impl OwnEvents {
    /// Returns how many events `thread` performed before event `at`.
    fn at(&mut self, at: EventNumber, thread: ThreadId) -> u64 {
        let first = EventNumber::START.next();
        *self.counts.entry(self.running).or_insert(0) += at.since(self.since.max(first));
        self.since = at.max(first);
        self.counts.get(&thread).copied().unwrap_or(0)
    }

    fn runs(&mut self, thread: ThreadId) {
        self.running = thread;
    }
}
