//! Thread bounding: strict priorities, in enough orders that any few threads come in every order.
//!
//! S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", ISSTA
//! 2013: algorithm 1. The thread with the highest priority runs; a preemption gives the running thread another place in
//! the order. A bug that needs `t` threads in a certain order shows whatever the others do, so it is enough to try as many
//! random orders as have every order of any `t` threads among them, with the confidence that is asked for (lemma 4.1).
//! There are far fewer of these than orders of all threads.
//!
//! A *candidate* order is a priority order with the preemptions that were chosen in it. Different candidates mostly ask for the
//! same schedules. So a target is the beginning of a schedule with all candidates that follow it, and new targets begin where
//! the candidates part. Each schedule is run once, however many candidates follow it.
//!
//! In a divided search, candidates without a preemption are common to all parts. Others belong to the part given by a hash of
//! the partial order of the events before their first preemption, and of the preempted thread.

mod keep;

use crate::Strategy;
use crate::trie::{Last, PrefixId, ROOT, Trie};
use crate::variable_bound::{Bounds, WHOLE, iteration_of, iterations_in_words, skipped_in_words};
use racehunter_explore::{
    Analysis, Decision, Execution, Going, LastVariables, Loader, MOST_CHANGED, Objects, Outcome, PATIENCE_WITH_YIELDS,
    Part, Plan, Rank, Saver, Style, Tail, Unusable, Variable, decisions, part_priority, path_priority,
};
use racehunter_log::{Event, EventNumber, History, ThreadId, ThreadPath};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Where a candidate comes in the search. The order of the fields is the order of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    variables: u32,
    /// The last iteration of a loop, from 1, that has allocated one of the variables; 0 when none is on the heap.
    iterations: u32,
    preemptions: u32,
}

/// An order, and where threads are preempted in it.
#[derive(Clone, Debug)]
struct Candidate {
    /// What the order follows from.
    seed: u64,
    /// The threads that were preempted, one after the other: the first `count`.
    preempted: [ThreadId; MOST_CHANGED],
    count: u32,
    /// The variables at which they were.
    variables: Rc<Vec<Variable>>,
}

/// Candidates that wait, at most: with more the search goes on, but not all of it, and claims nothing.
const MOST_CANDIDATES: usize = 8_000_000;
/// Beginnings that are remembered, at most. Others are not left out.
const MOST_BEGUN: usize = 32_000_000;

impl Candidate {
    fn place(&self) -> Place {
        let iterations = self.variables.iter().map(|&variable| iteration_of(variable)).max().unwrap_or(0);
        Place { variables: self.variables.len() as u32, iterations, preemptions: self.count }
    }

    fn preempted(&self) -> &[ThreadId] {
        &self.preempted[..self.count as usize]
    }

    fn priority(&self, thread: ThreadId, path: ThreadPath) -> u64 {
        match self.preempted().iter().rposition(|&preempted| preempted == thread) {
            Some(part) => part_priority(self.seed, part as u32),
            None => path_priority(self.seed, path.0),
        }
    }

    /// The thread that goes on, of those that can; `last` are those that come after all others, the latest last.
    fn choose(&self, ready: &[(ThreadId, ThreadPath)], last: &[ThreadId]) -> Option<ThreadId> {
        let key = |&(thread, path): &(ThreadId, ThreadPath)| match last.iter().rposition(|&other| other == thread) {
            Some(position) => (0, u64::MAX - position as u64),
            None => (1, self.priority(thread, path)),
        };
        ready.iter().max_by_key(|&candidate| key(candidate)).map(|&(thread, _)| thread)
    }

    /// With the running thread preempted.
    fn preempting(&self, thread: ThreadId, variable: Option<Variable>) -> Self {
        let mut candidate = self.clone();
        // There is room, see `ThreadBound::new`.
        candidate.preempted[candidate.count as usize] = thread;
        candidate.count += 1;
        if let Some(variable) = variable.filter(|variable| !candidate.variables.contains(variable)) {
            Rc::make_mut(&mut candidate.variables).push(variable);
        }
        candidate
    }
}

/// The beginning of a schedule, up to the decision about an event, and the candidates that go on from there.
#[derive(Clone)]
pub struct Target {
    prefix: PrefixId,
    at: EventNumber,
    candidates: Rc<Vec<Candidate>>,
}

/// What the rest of an execution depends on, besides priorities.
#[derive(Default)]
struct State {
    /// The events so far, as [`History`] has them.
    past: u64,
    /// The threads that are not over, with their paths, and the paths of all that were there so far.
    live: Vec<(ThreadId, ThreadPath)>,
    known: Vec<ThreadPath>,
    /// The threads that come after all others.
    last: Vec<ThreadId>,
}

/// The analysis. See the documentation of the module.
pub struct ThreadBound {
    bounds: Bounds,
    confidence: f64,
    strategy: Strategy,
    seed: u64,
    /// What counts as one variable, where it is not any part.
    objects: Option<Objects>,
    part: Part,
    /// Executions from which nothing else can begin observe only which threads can run.
    selective: bool,
    /// There were such executions.
    skipped: bool,
    place: Place,
    trie: Trie,
    later: BTreeMap<Place, Vec<Target>>,
    /// The threads that the orders are for, by their paths, and how many orders there are.
    paths: Vec<ThreadPath>,
    orders: u64,
    /// How many of them are different.
    distinct: u64,
    /// Threads that came later: the orders are too few.
    more_paths: bool,
    /// Some preemption was left out because of the bounds, or because of the iteration of a loop.
    late_iterations: bool,
    dropped: bool,
    /// Another thread went on than the priorities say.
    unpredicted: bool,
    /// There were other choices than those of priorities: time-outs while others can run, spurious wake-ups.
    unfair: bool,
    /// Some thread had to give way.
    exhausted: bool,
    /// Not everything is in the log that threads do to each other.
    annotated: bool,
    /// Whether candidates are dropped that would only repeat what others do.
    prunes: bool,
    /// What candidates have begun with, see [`ThreadBound::is_new`].
    begun: HashSet<u64>,
    pruned: u64,
    /// Candidates of all targets that wait.
    candidates: usize,
}

/// Random orders that are needed so that any `few` of `all` have each order in one of them, with this confidence.
///
/// One order has a given order of `few` with a chance of 1 / few!. With `m` of them, the expected number of orders that
/// are missing is few! (all over few) (1 - 1 / few!)^m, which bounds the chance that any is.
#[must_use]
pub fn orders_needed(all: u32, few: u32, confidence: f64) -> u64 {
    let few = few.min(all);
    let factorial: f64 = (1..=few).map(f64::from).product();
    if factorial <= 1.0 {
        return 1;
    }
    let arrangements: f64 = (0..few).map(|i| f64::from(all - i)).product();
    let missing = (1.0 - confidence).clamp(1e-12, 1.0);
    ((arrangements / missing).ln() / -(1.0 - 1.0 / factorial).ln()).ceil().max(1.0) as u64
}

/// What the orders follow from that one seed gives: a number for each, see [`Style::Order`].
#[must_use]
pub const fn nth_order(seed: u64, number: u64) -> u64 {
    // An odd factor, so that no two are the same.
    seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95))
}

impl ThreadBound {
    /// All bugs of this many threads within the bounds, with this confidence.
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
            distinct: 0,
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

    /// With these as variables, if any, instead of every part of them.
    #[must_use]
    pub fn of(self, objects: Option<Objects>) -> Self {
        Self { objects, ..self }
    }

    /// Every schedule, also those that differ from others only in the order of independent events.
    #[must_use]
    pub fn without_pruning(self) -> Self {
        Self { prunes: false, ..self }
    }

    /// Executions skip all accesses from which nothing else can begin: those with one candidate that has no preemption left. Which
    /// thread goes on there follows from the priorities and from which threads can run.
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

    /// Whether no candidate has begun like this: after the same events, up to the order of independent ones, with the same
    /// priorities, and with as much left of the bounds. What follows would be the same.
    fn is_new(&mut self, state: &State, candidate: &Candidate) -> bool {
        // How long a thread has had its turn depends on the order of all events.
        if !self.prunes || self.exhausted || self.annotated || self.begun.len() >= MOST_BEGUN {
            return true;
        }
        let mut variables = candidate.variables.as_ref().clone();
        variables.sort_unstable();
        let used = candidate.count;
        let live = state.live.iter().map(|&(thread, path)| (candidate.priority(thread, path), path.0));
        let to_come = self.paths.iter().filter(|path| !state.known.contains(path));
        let to_come = to_come.map(|&path| (path_priority(candidate.seed, path.0), path.0));
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

    /// Whether candidates whose first preemption is here belong to the part of the search that is done here.
    fn owns(&self, state: &State, decision: &Decision) -> bool {
        let path = state.live.iter().find(|(thread, _)| *thread == decision.from).map_or(0, |&(_, path)| path.0);
        self.part.owns(state.past ^ path.rotate_left(17))
    }

    /// Parts that an order is about: threads, and what follows preemptions.
    fn parts(&self) -> u32 {
        self.paths.len() as u32 + self.bounds.preemptions
    }

    /// Of how many parts every order is wanted.
    fn few(&self) -> u32 {
        self.bounds.threads + self.bounds.preemptions
    }

    fn candidate(&self, number: u64) -> Candidate {
        let (preempted, variables) = ([ThreadId::MAIN; MOST_CHANGED], Rc::new(Vec::new()));
        Candidate { seed: nth_order(self.seed, number), preempted, count: 0, variables }
    }

    /// All candidates, each order of the parts once.
    fn all_candidates(&mut self) -> Vec<Candidate> {
        self.orders = orders_needed(self.parts(), self.few(), self.confidence);
        let mut known = HashSet::new();
        let candidates = (0..self.orders).map(|number| self.candidate(number));
        let is_new = |candidate: &Candidate| {
            let threads = self.paths.iter().map(|&path| path_priority(candidate.seed, path.0));
            let parts = (0..self.bounds.preemptions).map(|part| part_priority(candidate.seed, part));
            let mut order: Vec<(u64, usize)> = threads.chain(parts).zip(0..).collect();
            order.sort_unstable();
            known.insert(order.into_iter().map(|(_, part)| part).collect::<Vec<usize>>())
        };
        let candidates: Vec<Candidate> = candidates.filter(is_new).collect();
        self.distinct = candidates.len() as u64;
        candidates
    }

    fn begin(&mut self) -> Vec<Target> {
        self.place = Place::default();
        self.trie = Trie::new();
        self.later = BTreeMap::new();
        self.more_paths = false;
        self.begun = HashSet::new();
        self.candidates = 1;
        vec![Target { prefix: ROOT, at: EventNumber::START, candidates: Rc::new(vec![self.candidate(0)]) }]
    }

    /// Takes note of the threads of an execution.
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

    /// The candidate with a preemption here, if the bounds allow it.
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

    /// Follows the candidates along an execution that their leader, the first of them, has made. Where others part from it,
    /// new targets begin.
    fn follow(&mut self, target: &Target, execution: &Execution, mut candidates: Vec<Candidate>) -> Vec<Target> {
        let mut now = Vec::new();
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
                // At the decision where the target begins, those that are preempted there are among the candidates.
                let may_preempt = decision.going == Going::Ready && decision.at > target.at;
                let begins = decision.at > target.at;
                let mut state = State::default();
                if begins && (self.prunes || !self.part.is_whole()) {
                    state.past = history.before(decision.at);
                    state.live = history.live().map(|thread| (thread, last_variables.path(thread))).collect();
                    state.known = (0..execution.threads).map(|thread| last_variables.path(ThreadId(thread))).collect();
                    state.last.clone_from(&last);
                }
                let mut parting: BTreeMap<ThreadId, Vec<Candidate>> = BTreeMap::new();
                let mut staying = Vec::with_capacity(candidates.len());
                for candidate in candidates {
                    let is_ours = candidate.count > 0 || self.part.is_whole() || self.owns(&state, &decision);
                    let may_preempt = may_preempt && is_ours;
                    let preempting = may_preempt.then(|| self.preempting(&candidate, &decision, variable)).flatten();
                    let preempting = preempting.filter(|candidate| self.is_new(&state, candidate));
                    let parts = |candidate: &Candidate| {
                        candidate.choose(&ready, &last).filter(|&choice| Some(choice) != predicted)
                    };
                    // The leader stays, and stays the first.
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
                    self.add(Target { prefix, at: decision.at, candidates: Rc::new(candidates) }, &mut now);
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
        now
    }

    /// A target now or later, as the first of its candidates says.
    fn add(&mut self, mut target: Target, now: &mut Vec<Target>) {
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

    /// The bounds within which everything was run once nothing waits for the current place.
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
        let (prunes, selective, part) = (self.prunes, self.selective, self.part);
        *self = Self { prunes, selective, part, objects: self.objects.take(), ..new };
        self.begin()
    }

    fn plan(&self, target: &Target) -> Plan {
        let fair_limit = self.strategy.fair_limit();
        let leader = &target.candidates[0];
        let style = Style::Order { changed: leader.preempted.map(|thread| thread.0), count: leader.count };
        let tail = Tail::Walk { style, seed: leader.seed };
        let switches = self.trie.switches(target.prefix);
        // Blocks of the heap are named by where, and in which iteration of a loop, they were allocated.
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
        // A handler runs between any two steps of its thread, which is more than the past of an execution tells.
        let is_handled = || execution.entries().any(|entry| matches!(entry.event(), Event::Handler { .. }));
        self.annotated |= self.prunes && (execution.is_annotated() || is_handled());
        let candidates = if target.prefix == ROOT && target.at == EventNumber::START {
            // Now the threads are known, and with them how many orders it takes.
            self.more_paths = false;
            self.all_candidates()
        } else {
            target.candidates.as_ref().clone()
        };
        self.follow(target, execution, candidates)
    }

    fn next_stage(&mut self) -> Option<Vec<Target>> {
        if self.more_paths && self.later.is_empty() {
            // There are more threads than in the first execution, and so there should be more orders.
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
        let all: f64 = (1..=self.parts()).map(f64::from).product();
        let mut words = if all == self.distinct as f64 {
            format!("all schedules of all {}", count(self.distinct, "priority order"))
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
        // A bound on iterations that nothing has come up against says nothing.
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
