//! Thread bounding: strict priorities, in enough orders that any few threads occur in every order.
//!
//! S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", ISSTA 2013:
//! algorithm 1. The thread with the highest priority runs; a preemption gives the running thread another place in the order. A
//! bug that needs `t` threads in a certain order shows whatever the other threads do. It is therefore enough to try
//! random orders until, with the requested confidence, they include every order of any `t` threads (lemma 4.1). That takes far
//! fewer than all orders of all threads.
//!
//! A *candidate* is a priority order with the preemptions chosen in it. Different candidates mostly lead to the same schedules. A
//! target is therefore a schedule prefix with all candidates that follow it, and new targets begin where candidates diverge. Each
//! schedule is run once, however many candidates follow it.
//!
//! In a divided search, candidates without a preemption are common to all parts. Others belong to the part given by a hash of the
//! partial order of the events before their first preemption, and of the preempted thread.

mod candidate;
mod keep;
mod orders;

pub use orders::{Portions, nth_order, orders_needed};

use crate::Strategy;
use crate::trie::{Last, PrefixId, ROOT, Trie};
use crate::variable_bound::{Bounds, WHOLE, iterations_in_words, skipped_in_words};
use candidate::{Candidate, Place};
use orders::Drawn;
use racehunter_explore::{
    Analysis, Decision, Execution, Going, LastVariables, Loader, MOST_CHANGED, Objects, Outcome, PATIENCE_WITH_YIELDS,
    Part, Plan, Rank, Saver, Style, Tail, Unusable, Variable, decisions, part_priority, path_priority,
};
use racehunter_log::{Event, EventNumber, History, ThreadId, ThreadPath};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Maximum number of waiting candidates. Beyond it the search drops candidates and claims nothing.
const MOST_CANDIDATES: usize = 8_000_000;
/// Maximum number of remembered prefixes. Beyond it nothing more is pruned.
const MOST_BEGUN: usize = 32_000_000;

/// A schedule prefix up to the decision about an event, and the candidates that continue from there.
#[derive(Clone)]
pub struct Target {
    prefix: PrefixId,
    at: EventNumber,
    candidates: Rc<Vec<Candidate>>,
}

/// What the rest of an execution depends on, besides priorities.
#[derive(Default)]
struct State {
    /// A hash of the events so far, from [`History`].
    past: u64,
    /// The threads that have not ended and those still to come, with their paths.
    live: Vec<(ThreadId, ThreadPath)>,
    to_come: Vec<ThreadPath>,
    /// The threads with the lowest priorities.
    last: Vec<ThreadId>,
}

/// The analysis. See the module documentation.
pub struct ThreadBound {
    bounds: Bounds,
    confidence: f64,
    strategy: Strategy,
    seed: u64,
    /// The objects that count as one variable each.
    objects: Option<Objects>,
    part: Part,
    /// Executions from which no target can branch observe only which threads can run.
    selective: bool,
    /// There were such executions.
    skipped: bool,
    place: Place,
    trie: Trie,
    later: BTreeMap<Place, Vec<Target>>,
    /// The paths of the threads that are ordered, and the number of orders needed.
    paths: Vec<ThreadPath>,
    orders: u64,
    /// The orders drawn so far.
    drawn: Drawn,
    portions: Portions,
    /// Further threads appeared, so more orders are needed.
    more_paths: bool,
    /// Some preemption was left out because of the bounds, or because of a loop iteration.
    late_iterations: bool,
    dropped: bool,
    /// A thread continued that does not have the highest priority.
    unpredicted: bool,
    /// There were choices that priorities do not make: time-outs while others can run, spurious wake-ups.
    unfair: bool,
    /// Some thread had to give way.
    exhausted: bool,
    /// The log does not contain everything that threads do to each other.
    annotated: bool,
    /// Whether to drop candidates that would only repeat what others do.
    prunes: bool,
    /// Hashes of the states of candidates, see [`ThreadBound::is_new`].
    begun: HashSet<u64>,
    pruned: u64,
    /// Number of candidates of all waiting targets.
    candidates: usize,
}

impl ThreadBound {
    /// Looks for all bugs of this many threads within the bounds, with this confidence.
    #[must_use]
    pub fn new(bounds: Bounds, confidence: f64, strategy: Strategy, seed: u64) -> Self {
        let preemptions = bounds.preemptions.min(MOST_CHANGED as u32);
        Self {
            bounds: Bounds { preemptions, ..bounds },
            confidence,
            strategy,
            seed,
            objects: None,
            part: Part::WHOLE,
            selective: false,
            skipped: false,
            place: Place::default(),
            trie: Trie::new(),
            later: BTreeMap::new(),
            paths: Vec::new(),
            orders: 0,
            drawn: Drawn::default(),
            portions: Portions::default(),
            more_paths: false,
            late_iterations: false,
            dropped: false,
            unpredicted: false,
            unfair: false,
            exhausted: false,
            annotated: false,
            prunes: true,
            begun: HashSet::new(),
            pruned: 0,
            candidates: 0,
        }
    }

    /// Counts each of these objects, if any, as one variable.
    #[must_use]
    pub fn of(self, objects: Option<Objects>) -> Self {
        Self { objects, ..self }
    }

    /// Also runs schedules that differ from others only in the order of independent events.
    #[must_use]
    pub fn without_pruning(self) -> Self {
        Self { prunes: false, ..self }
    }

    /// Limits how much is done at once.
    #[must_use]
    pub fn in_portions(self, portions: Portions) -> Self {
        Self { portions, ..self }
    }

    /// Makes executions skip all accesses if no target can branch from them: those with one candidate that has no preemption
    /// left. There the priorities and the set of enabled threads determine which thread continues.
    #[must_use]
    pub fn selective(self, selective: bool) -> Self {
        Self { selective, ..self }
    }

    fn skips(&self, target: &Target) -> bool {
        // The first execution stands for all candidates, which are not known before it.
        let is_first = target.prefix == ROOT && target.at == EventNumber::START;
        let is_last = |candidate: &Candidate| candidate.count > 0 && candidate.count == self.bounds.preemptions;
        self.selective && !is_first && target.candidates.len() == 1 && target.candidates.iter().all(is_last)
    }

    /// Returns whether no other candidate has reached this state: the same events up to the order of independent ones, the same
    /// priorities, and as much left of the bounds. What follows would be the same.
    fn is_new(&mut self, state: &State, candidate: &Candidate) -> bool {
        // The length of a turn depends on the order of all events.
        if !self.prunes || self.exhausted || self.annotated || self.begun.len() >= MOST_BEGUN {
            return true;
        }
        let mut variables = candidate.variables.as_ref().clone();
        variables.sort_unstable();
        let used = candidate.count;
        let live = state.live.iter().map(|&(thread, path)| (candidate.priority(thread, path), path.0));
        let to_come = state.to_come.iter().map(|&path| (path_priority(candidate.seed, path.0), path.0));
        let parts =
            (used..self.bounds.preemptions).map(|part| (part_priority(candidate.seed, part), u64::from(part) << 1));
        let mut order: Vec<(u64, u64)> = live.chain(to_come).chain(parts).collect();
        order.sort_unstable();
        let order: Vec<u64> = order.into_iter().map(|(_, part)| part).collect();
        let mut hasher = DefaultHasher::new();
        (state.past, &state.last, used, order, variables).hash(&mut hasher);
        let is_new = self.begun.insert(hasher.finish());
        self.pruned += u64::from(!is_new);
        is_new
    }

    /// Returns whether candidates with their first preemption here belong to this part of the search.
    fn owns(&self, state: &State, decision: &Decision) -> bool {
        let path = state.live.iter().find(|(thread, _)| *thread == decision.from).map_or(0, |&(_, path)| path.0);
        self.part.owns(state.past ^ path.rotate_left(17))
    }

    /// Returns the number of items in an order: threads, and what follows preemptions.
    fn parts(&self) -> u32 {
        self.paths.len() as u32 + self.bounds.preemptions
    }

    /// Returns how many of these items must occur in every order.
    fn few(&self) -> u32 {
        self.bounds.threads + self.bounds.preemptions
    }

    fn candidate(&self, number: u64) -> Candidate {
        let (preempted, variables) = ([ThreadId::MAIN; MOST_CHANGED], Rc::new(Vec::new()));
        Candidate { seed: nth_order(self.seed, number), preempted, count: 0, variables }
    }

    /// Returns the next candidates without preemptions, each order of the items once, or `None` if there are no more.
    fn draw(&mut self) -> Option<Vec<Candidate>> {
        if self.drawn.count == 0 {
            self.orders = orders_needed(self.parts(), self.few(), self.confidence);
        }
        let mut candidates = Vec::new();
        let first = self.drawn.count;
        while self.drawn.count < self.orders && !self.drawn.is_all(self.parts()) {
            let candidate = self.candidate(self.drawn.count);
            let threads = self.paths.iter().map(|&path| path_priority(candidate.seed, path.0));
            let parts = (0..self.bounds.preemptions).map(|part| part_priority(candidate.seed, part));
            let is_new = self.drawn.count(&threads.chain(parts).collect::<Vec<u64>>());
            let is_last = self.drawn.count - first == self.portions.draws;
            // If no new order was drawn, one is tried again, so that the hunt can stop here.
            if is_new || is_last && candidates.is_empty() {
                candidates.push(candidate);
            }
            if is_last || candidates.len() == self.portions.candidates {
                break;
            }
        }
        (!candidates.is_empty()).then_some(candidates)
    }

    fn begin(&mut self) -> Vec<Target> {
        self.place = Place::default();
        self.trie = Trie::new();
        self.later = BTreeMap::new();
        self.more_paths = false;
        self.drawn = Drawn::default();
        self.begun = HashSet::new();
        self.candidates = 1;
        vec![Target { prefix: ROOT, at: EventNumber::START, candidates: Rc::new(vec![self.candidate(0)]) }]
    }

    /// Notes the threads of an execution.
    fn learn(&mut self, execution: &Execution) {
        let mut last = LastVariables::new(execution);
        let _ = last.before(EventNumber::NEVER, ThreadId::MAIN);
        for thread in 0..execution.threads {
            let path = last.path(ThreadId(thread));
            if !self.paths.contains(&path) {
                self.paths.push(path);
                self.more_paths = true;
            }
        }
    }

    /// Returns the candidate that is preempted here, if the bounds allow it.
    fn preempting(
        &mut self,
        candidate: &Candidate,
        decision: &Decision,
        variable: Option<Variable>,
    ) -> Option<Candidate> {
        if candidate.count == self.bounds.preemptions {
            return None;
        }
        let limit = self.bounds.iterations.unwrap_or(u32::MAX);
        if matches!(variable, Some(Variable::Heap { iteration, .. }) if iteration >= limit) {
            self.late_iterations = true;
            return None;
        }
        let candidate = candidate.preempting(decision.from, variable);
        (candidate.place().variables <= self.bounds.variables).then_some(candidate)
    }

    /// Follows the candidates along the execution of their leader, the first of them. New targets begin where the others diverge
    /// from it.
    fn follow(
        &mut self,
        target: &Target,
        execution: &Execution,
        mut candidates: Vec<Candidate>,
        now: &mut Vec<Target>,
    ) {
        // Number of priorities examined.
        let mut effort = 0;
        let objects = self.objects.clone();
        let mut last_variables = LastVariables::of(execution, objects.as_ref());
        let mut history = History::new(&execution.records);
        let mut yields: HashMap<ThreadId, u32> = HashMap::new();
        let mut last: Vec<ThreadId> = Vec::new();
        let mut prefix = target.prefix;
        let mut decisions = decisions(execution);
        while let Some(decision) = decisions.next() {
            let ready: Vec<ThreadId> = decisions.ready().collect();
            let others_ready = ready.iter().any(|&thread| thread != decision.from);
            if decision.going == Going::Yielding && others_ready {
                let yields = yields.entry(decision.from).or_default();
                *yields += 1;
                if *yields > PATIENCE_WITH_YIELDS {
                    last.push(decision.from);
                }
            }
            if decision.going == Going::Exhausted {
                last.push(decision.from);
                self.exhausted = true;
            }
            if decision.at < target.at {
                continue;
            }
            self.unfair |= decisions.others().any(|(thread, _)| !ready.contains(&thread) && thread != decision.from);
            if ready.len() > 1 {
                let variable = last_variables.before(decision.at, decision.from);
                let ready: Vec<(ThreadId, ThreadPath)> =
                    ready.iter().map(|&thread| (thread, last_variables.path(thread))).collect();
                let predicted = candidates.first().and_then(|leader| leader.choose(&ready, &last));
                self.unpredicted |= predicted != Some(decision.to);
                // At the target's own decision, the preempted candidates are already among the candidates.
                let may_preempt = decision.going == Going::Ready && decision.at > target.at;
                let begins = decision.at > target.at;
                let mut state = State::default();
                if begins && (self.prunes || !self.part.is_whole()) {
                    state.past = history.before(decision.at);
                    state.live = history.live().map(|thread| (thread, last_variables.path(thread))).collect();
                    let known: HashSet<ThreadPath> =
                        (0..execution.threads).map(|thread| last_variables.path(ThreadId(thread))).collect();
                    state.to_come = self.paths.iter().copied().filter(|path| !known.contains(path)).collect();
                    state.last.clone_from(&last);
                }
                let mut parting: BTreeMap<ThreadId, Vec<Candidate>> = BTreeMap::new();
                let mut staying = Vec::with_capacity(candidates.len());
                effort += candidates.len() * (ready.len() + state.live.len() + state.to_come.len());
                for candidate in candidates {
                    let is_ours = candidate.count > 0 || self.part.is_whole() || self.owns(&state, &decision);
                    let may_preempt = may_preempt && is_ours;
                    let preempting = may_preempt.then(|| self.preempting(&candidate, &decision, variable)).flatten();
                    let preempting = preempting.filter(|candidate| self.is_new(&state, candidate));
                    let parts = |candidate: &Candidate| {
                        candidate.choose(&ready, &last).filter(|&choice| Some(choice) != predicted)
                    };
                    // The leader stays, and stays first.
                    match parts(&candidate) {
                        Some(_) if begins && !self.is_new(&state, &candidate) => {}
                        Some(choice) => parting.entry(choice).or_default().push(candidate),
                        None => staying.push(candidate),
                    }
                    let Some(candidate) = preempting else { continue };
                    match parts(&candidate) {
                        Some(choice) => parting.entry(choice).or_default().push(candidate),
                        None => staying.push(candidate),
                    }
                }
                candidates = staying;
                for candidates in parting.into_values() {
                    self.trie.hold(prefix);
                    self.add(Target { prefix, at: decision.at, candidates: Rc::new(candidates) }, now);
                }
                if begins && effort > self.portions.priorities {
                    // Another execution with the same prefix handles the rest, so that the hunt can stop in between.
                    self.trie.hold(prefix);
                    self.add(Target { prefix, at: decision.at, candidates: Rc::new(candidates) }, now);
                    break;
                }
            }
            if decision.logged {
                let choice = Last::new(decision.at, decision.to, decision.code, 0);
                let Some(child) = self.trie.child(prefix, choice) else {
                    self.dropped = true;
                    break;
                };
                self.trie.release(prefix);
                prefix = child;
            }
        }
        self.trie.release(prefix);
    }

    /// Queues a target for now or later, depending on its first candidate; it is split if it has too many candidates.
    fn add(&mut self, mut target: Target, now: &mut Vec<Target>) {
        if target.candidates.len() > self.portions.candidates {
            let mut candidates = target.candidates.as_ref().clone();
            candidates.sort_by_key(Candidate::place);
            for portion in candidates.chunks(self.portions.candidates) {
                self.trie.hold(target.prefix);
                self.add(Target { candidates: Rc::new(portion.to_vec()), ..target }, now);
            }
            self.trie.release(target.prefix);
            return;
        }
        let first = target.candidates.iter().map(Candidate::place).enumerate().min_by_key(|&(_, place)| place);
        let Some((leader, place)) = first else { return };
        if self.candidates + target.candidates.len() > MOST_CANDIDATES {
            self.dropped = true;
            self.trie.release(target.prefix);
            return;
        }
        self.candidates += target.candidates.len();
        Rc::make_mut(&mut target.candidates).swap(0, leader);
        if place <= self.place {
            now.push(target);
        } else {
            self.later.entry(place).or_default().push(target);
        }
    }

    /// Returns the bounds that are covered once nothing waits for the current place.
    fn covered(&self) -> Place {
        let Bounds { variables, preemptions, iterations, .. } = self.bounds;
        let most = Place { variables, iterations: iterations.unwrap_or(u32::MAX), preemptions };
        match self.later.keys().next() {
            None => most,
            Some(next) if next.variables > self.place.variables => Place { variables: next.variables - 1, ..most },
            Some(next) if next.iterations > self.place.iterations => {
                Place { iterations: next.iterations - 1, preemptions, ..*next }
            }
            Some(next) => Place { preemptions: next.preemptions - 1, ..*next },
        }
    }
}

impl Analysis for ThreadBound {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        let new = Self::new(self.bounds, self.confidence, self.strategy, self.seed);
        let (prunes, selective, part, portions) = (self.prunes, self.selective, self.part, self.portions);
        *self = Self { prunes, selective, part, portions, objects: self.objects.take(), ..new };
        self.begin()
    }

    fn plan(&self, target: &Target) -> Plan {
        let fair_limit = self.strategy.fair_limit();
        let leader = &target.candidates[0];
        let style = Style::Order { changed: leader.preempted.map(|thread| thread.0), count: leader.count };
        let tail = Tail::Walk { style, seed: leader.seed };
        let switches = self.trie.switches(target.prefix);
        // A heap block is named by its allocation site and the loop iteration that allocated it.
        let skips = self.skips(target);
        let (allocations, select) = (!skips, skips.then(Vec::new));
        Plan { switches, tail_from: target.at, tail, fair_limit, allocations, select, ..Plan::default() }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        self.candidates = self.candidates.saturating_sub(target.candidates.len());
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            self.unpredicted = true;
            self.trie.release(target.prefix);
            return Vec::new();
        }
        self.learn(execution);
        self.skipped |= self.skips(target);
        // A handler runs between any two steps of its thread, which the past does not record.
        let is_handled = || execution.entries().any(|entry| matches!(entry.event(), Event::Handler { .. }));
        self.annotated |= self.prunes && (execution.is_annotated() || is_handled());
        let brings_orders = target.prefix == ROOT && target.at == EventNumber::START;
        let mut candidates = target.candidates.as_ref().clone();
        if brings_orders && self.drawn.count == 0 {
            // Now the threads are known, and with them the number of orders needed.
            self.more_paths = false;
            candidates = self.draw().unwrap_or(candidates);
        }
        let mut now = Vec::new();
        if brings_orders && let Some(next) = self.draw() {
            // Pushed first, and so run last.
            self.add(Target { prefix: ROOT, at: EventNumber::START, candidates: Rc::new(next) }, &mut now);
        }
        self.follow(target, execution, candidates, &mut now);
        now
    }

    fn next_stage(&mut self) -> Option<Vec<Target>> {
        if self.more_paths && self.later.is_empty() {
            // There are more threads than in the first execution, so more orders are needed.
            return Some(self.begin());
        }
        let (place, targets) = self.later.pop_first()?;
        self.place = place;
        Some(targets)
    }

    fn guarantee(&self) -> Option<String> {
        if self.dropped || self.unpredicted || self.more_paths || self.exhausted {
            return None;
        }
        if self.pruned > 0 && self.annotated {
            return None;
        }
        let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let Place { variables, iterations, preemptions } = self.covered();
        let mut words = if self.drawn.is_all(self.parts()) {
            format!("all schedules of all {}", count(self.drawn.distinct, "priority order"))
        } else {
            let (threads, confidence) = (count(u64::from(self.bounds.threads), "thread"), self.confidence);
            let orders = count(self.orders, "priority order");
            format!("all schedules of {orders} (all orders of any {threads} with a chance of {confidence})")
        };
        words += &format!(" with <= {}", count(u64::from(preemptions), "preemption"));
        words += &format!(" at <= {}", count(u64::from(variables), "variable"));
        if self.objects.is_some() {
            words += WHOLE;
        }
        if self.unfair {
            words += " and no time-outs while others can run or spurious wake-ups";
        }
        if self.pruned > 0 {
            words += ", up to the order of independent events";
        }
        if self.skipped {
            words += &skipped_in_words(self.bounds.preemptions);
        }
        // A bound on iterations that nothing reached need not be mentioned.
        let is_limited = self.late_iterations || Some(iterations) != self.bounds.iterations;
        words += &iterations_in_words(Some(iterations).filter(|_| is_limited));
        Some(words)
    }

    fn bound(&self) -> Option<u32> {
        Some(self.place.preemptions)
    }

    fn rank(&self) -> Option<Rank> {
        let Place { variables, iterations, .. } = self.place;
        Some(Rank { variables, threads: self.bounds.threads, iterations })
    }

    fn left_out(&self) -> u64 {
        self.pruned
    }

    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn is_common(&self, target: &Target) -> bool {
        target.candidates.iter().any(|candidate| candidate.count == 0)
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        self.write(&targets.collect::<Vec<_>>(), out);
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.read(input)
    }
}
