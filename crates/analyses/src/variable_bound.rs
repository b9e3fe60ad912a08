//! Variable bounding: all schedules with few preemptions, at few variables, among few threads.
//!
//! S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", ISSTA 2013.
//! Most bugs can be shown by preempting threads at accesses of one or two variables. The search therefore orders schedules by the
//! number of variables at which they preempt, then by the number of threads that take part, then by the loop iterations that
//! allocated the variables, then by the number of preemptions.
//!
//! As in context bounding, a target is a schedule prefix. As in the paper's form for CHESS, the variables are not chosen
//! beforehand: those of a schedule are the ones at which it preempts. No schedule is therefore run for two sets of variables.
//!
//! Pruning leaves out prefixes that differ from others only in the order of operations that do not conflict, and have preempted
//! at no fewer variables and threads. (The paper prunes for each set of variables separately. Here one search covers all of them,
//! and a prefix with fewer variables reaches everything that one with more does.) Unlike in [`crate::reduction`], a preempted
//! thread does not sleep: a slightly later preemption would count against another variable.

mod keep;
mod lending;
mod place;

use crate::Strategy;
use crate::context_bound::{part_hash, seed_of};
use crate::reduction::Traversal;
use crate::trie::{Last, PrefixId, ROOT, Trie};
use crate::visited::Visited;
use place::Usage;
pub(crate) use place::{Place, iteration_of, iterations_in_words};
use racehunter_explore::{
    Analysis, Decision, Decisions, Execution, Going, LastVariables, Loader, Objects, Outcome, Part, Plan, Rank, Saver,
    Share, Step, Tail, Unusable, Variable, decisions,
};
use std::collections::BTreeMap;

/// The bounds of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of variables at which threads are preempted.
    pub variables: u32,
    /// Maximum number of threads that are preempted or run instead.
    pub threads: u32,
    /// Maximum number of preemptions.
    pub preemptions: u32,
    /// Number of loop iterations whose heap blocks count as variables; blocks of later iterations are not preempted at.
    pub iterations: Option<u32>,
}

/// Added to a guarantee if whole objects count as variables.
pub(crate) const WHOLE: &str = " (an array, a structure and a block of the heap are one variable each)";

/// The analysis. See the module documentation.
pub struct VariableBound {
    bounds: Bounds,
    strategy: Strategy,
    seed: u64,
    /// The objects that count as one variable each.
    objects: Option<Objects>,
    part: Part,
    /// Executions that have no preemption left observe only which threads can run.
    selective: bool,
    /// Whether to leave out redundant schedules.
    reduces: bool,
    /// The visited states, while redundant schedules are left out.
    visited: Option<Visited>,
    /// The rank that is being explored.
    place: Place,
    trie: Trie,
    /// Targets of later ranks.
    later: BTreeMap<Place, Vec<PrefixId>>,
    /// Targets that continue a thread which had to give way to the others. They run after all others.
    postponed: Vec<PrefixId>,
    /// What was seen so far that limits the guarantee.
    seen: Seen,
    /// The search has to start again.
    again: bool,
    /// Number of redundant targets left out.
    left_out: u64,
}

/// What limits the guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Some schedule exceeds the bounds.
    cut_off: bool,
    /// Some preemption was left out because of a loop iteration.
    late_iterations: bool,
    /// Targets were dropped because there are more than can be numbered.
    dropped: bool,
    /// Some choice costs something although it is not a switch.
    unfair: bool,
    /// Postponed targets have begun, so ranks are no longer in order.
    last_stage: bool,
    /// Some execution did not look for data races.
    skipped: bool,
}

/// The path through an execution, up to the last decision read.
struct Walked {
    /// The prefix of the path so far, held during the traversal.
    prefix: PrefixId,
    usage: Usage,
    /// See [`Last::own`].
    own: bool,
}

impl VariableBound {
    /// Explores all schedules within the bounds, by rank.
    #[must_use]
    pub fn new(bounds: Bounds, strategy: Strategy, seed: u64) -> Self {
        Self {
            bounds,
            strategy,
            seed,
            objects: None,
            part: Part::WHOLE,
            selective: false,
            reduces: false,
            visited: None,
            place: Place::default(),
            trie: Trie::new(),
            later: BTreeMap::new(),
            postponed: Vec::new(),
            seen: Seen::default(),
            again: false,
            left_out: 0,
        }
    }

    /// Leaves out schedules that preempt the same threads at the same variables as others and differ only in the order of
    /// operations that do not conflict. Requires an executor that logs every access to shared memory.
    #[must_use]
    pub fn reduced(self, reduces: bool) -> Self {
        Self { reduces, ..self }
    }

    /// Counts each of these objects, if any, as one variable.
    #[must_use]
    pub fn of(self, objects: Option<Objects>) -> Self {
        Self { objects, ..self }
    }

    /// Makes executions that have used up their preemptions skip all accesses, and look for no data races. Targets branch from
    /// them only where a thread cannot continue, so it does not matter which variables are accessed. Most executions are of this
    /// kind, and they run nearly as fast as the program alone.
    #[must_use]
    pub fn selective(self, selective: bool) -> Self {
        Self { selective, ..self }
    }

    /// Returns whether the execution of this target skips all accesses.
    fn skips(&self, target: PrefixId) -> bool {
        // Postponed targets do not come in rank order, so their ranks are read from logs. A random strategy decides at accesses.
        let is_ranked = !self.seen.last_stage && self.bounds.preemptions > 0;
        let is_ranked = is_ranked && self.selective && self.strategy != Strategy::Random;
        is_ranked && self.trie.last(target).cost == self.bounds.preemptions
    }

    fn allows(&self, place: Place) -> bool {
        place.variables <= self.bounds.variables
            && place.threads <= self.bounds.threads
            && place.preemptions <= self.bounds.preemptions
    }

    fn is_late(&self, variable: Option<Variable>) -> bool {
        let limit = self.bounds.iterations.unwrap_or(u32::MAX);
        matches!(variable, Some(Variable::Heap { iteration, .. }) if iteration >= limit)
    }

    /// Returns whether the search has not yet explored this state with at most these variables and threads.
    fn is_new(&mut self, key: Option<u128>, usage: &Usage) -> bool {
        let (Some(visited), Some(key)) = (&mut self.visited, key) else { return true };
        let cost = usage.place().preemptions;
        // A prefix with fewer variables or threads has reached everything from here.
        let is_known = usage.less().any(|less| visited.knows(less.key_of(key), cost));
        let new = !is_known && visited.enter(usage.key_of(key), cost, 0);
        self.left_out += u64::from(!new);
        new
    }

    /// Returns the targets that differ from the execution in one choice after its forced prefix.
    fn branch(&mut self, target: PrefixId, execution: &Execution) -> Vec<PrefixId> {
        let mut targets = Vec::new();
        let objects = self.objects.clone();
        let mut last = LastVariables::of(execution, objects.as_ref());
        let start = self.trie.last(target);
        let mut walked = Walked { prefix: target, usage: Usage::default(), own: start.own };
        let divides = !self.part.is_whole();
        let skips = self.skips(target);
        if skips {
            // The log does not show whether there was another choice, but there usually is.
            self.seen.cut_off = true;
            self.seen.skipped = true;
            walked.usage = Usage::at(self.place);
        }
        let mut traversal =
            (!skips && (self.visited.is_some() || divides)).then(|| Traversal::new(execution, Vec::new()));
        let mut decisions = decisions(execution);
        while let Some(decision) = decisions.next() {
            let is_open = decision.at > start.at;
            if traversal.is_none() && decision.step == Step::Stay && !decision.logged {
                if !(is_open && decisions.has_others()) {
                    continue;
                }
                if walked.usage.place().preemptions == self.bounds.preemptions && decision.going == Going::Ready {
                    // The usual case at the last bound: any alternative is one preemption too many.
                    self.seen.cut_off = true;
                    continue;
                }
            }
            if let Some(traversal) = &mut traversal {
                traversal.reach(decision.at);
            }
            let key =
                traversal.as_ref().filter(|_| is_open).map(|traversal| traversal.key(&decision, &decisions, true));
            if !self.is_new(key, &walked.usage) {
                break;
            }
            if skips && !is_open {
                continue;
            }
            let variable = if skips { None } else { last.before(decision.at, decision.from) };
            if is_open {
                self.choices(&walked, (&decision, &decisions), (variable, key), &mut targets);
            }
            walked.usage = walked.usage.with(&decision, decision.step, decision.to, variable);
            if is_open && !self.allows(walked.usage.place()) {
                // The strategy exceeded the bounds, and so does everything that follows.
                self.seen.cut_off = true;
                break;
            }
            if is_open && !walked.own && matches!(decision.step, Step::Preemption | Step::Unfair) {
                walked.own = true;
                if divides && key.is_some_and(|key| !self.part.owns(part_hash(key, decision.to))) {
                    // The strategy continued into another part.
                    break;
                }
            }
            if let Some(traversal) = &mut traversal {
                traversal.decide(&decision, decisions.time_passes());
            }
            if is_open && decision.logged {
                let cost = walked.usage.place().preemptions;
                let choice = Last { own: walked.own, ..Last::new(decision.at, decision.to, decision.code, cost) };
                let Some(child) = self.trie.child(walked.prefix, choice) else {
                    self.seen.dropped = true;
                    break;
                };
                self.trie.release(walked.prefix);
                walked.prefix = child;
            }
        }
        self.trie.release(walked.prefix);
        targets
    }

    /// Returns the alternatives to explore at a decision.
    fn choices(
        &mut self,
        walked: &Walked,
        (decision, decisions): (&Decision, &Decisions<'_>),
        (variable, key): (Option<Variable>, Option<u128>),
        now: &mut Vec<PrefixId>,
    ) {
        if decision.going == Going::Exhausted {
            // The length of a turn depends on the order of all events.
            self.disable_reduction();
        }
        for (thread, step) in decisions.others() {
            let begins = !walked.own && matches!(step, Step::Preemption | Step::Unfair);
            if begins && !self.part.is_whole() && key.is_some_and(|key| !self.part.owns(part_hash(key, thread))) {
                continue;
            }
            self.seen.unfair |= step == Step::Unfair;
            let place = walked.usage.with(decision, step, thread, variable).place();
            if !self.allows(place) {
                self.seen.cut_off = true;
                continue;
            }
            if step == Step::Preemption && self.is_late(variable) {
                self.seen.late_iterations = true;
                continue;
            }
            let choice = Last::new(decision.at, thread, decision.code, place.preemptions);
            match self.trie.child(walked.prefix, Last { own: walked.own || begins, ..choice }) {
                Some(child) if place == self.place => now.push(child),
                Some(child) => self.later.entry(place).or_default().push(child),
                None => self.seen.dropped = true,
            }
        }
        if decisions.could_go_on() {
            let choice = Last::new(decision.at, decision.from, decision.code, walked.usage.place().preemptions);
            match self.trie.child(walked.prefix, Last { own: walked.own, ..choice }) {
                Some(child) => self.postponed.push(child),
                None => self.seen.dropped = true,
            }
        }
    }

    /// Restarts the search without reduction.
    fn disable_reduction(&mut self) {
        self.again |= std::mem::take(&mut self.reduces);
    }

    /// Returns the bounds that are covered once nothing waits for the current rank.
    fn covered(&self) -> Place {
        let Bounds { variables, threads, preemptions, iterations } = self.bounds;
        let most = Place { variables, threads, iterations: iterations.unwrap_or(u32::MAX), preemptions };
        self.later.keys().next().map_or(most, |&next| self.place.before(next, most))
    }
}

/// Added to a guarantee if executions without preemptions left skipped all accesses.
pub(crate) fn skipped_in_words(preemptions: u32) -> String {
    let checked = "data races, uses of freed memory and newly shared accesses are looked for";
    match preemptions - 1 {
        0 => format!(" ({checked} in those without preemptions)"),
        1 => format!(" ({checked} in those with <= 1 preemption)"),
        fewer => format!(" ({checked} in those with <= {fewer} preemptions)"),
    }
}

/// Returns the rank of an execution whose log contains allocations.
#[must_use]
pub fn rank_of(execution: &Execution) -> Rank {
    let mut last = LastVariables::new(execution);
    let mut usage = Usage::default();
    for decision in decisions(execution).filter(|decision| decision.step != Step::Stay) {
        let variable = last.before(decision.at, decision.from);
        usage = usage.with(&decision, decision.step, decision.to, variable);
    }
    let Place { variables, threads, iterations, .. } = usage.place();
    Rank { variables, threads, iterations }
}

impl Analysis for VariableBound {
    type Target = PrefixId;

    fn initial_targets(&mut self) -> Vec<PrefixId> {
        let new = Self::new(self.bounds, self.strategy, self.seed).of(self.objects.take());
        let visited = self.reduces.then(Visited::new);
        *self = Self { part: self.part, selective: self.selective, reduces: self.reduces, visited, ..new };
        vec![ROOT]
    }

    fn plan(&self, &target: &PrefixId) -> Plan {
        let plan = self.trie.plan(target);
        let tail = match self.strategy {
            Strategy::Random => Tail::random(seed_of(self.seed, &plan.switches)),
            Strategy::MinSwitches | Strategy::Fair(_) => Tail::MinSwitches,
        };
        // A heap block is named by its allocation site and the loop iteration that allocated it.
        let skips = self.skips(target);
        let select = skips.then(Vec::new);
        Plan { tail, fair_limit: self.strategy.fair_limit(), allocations: !skips, select, ..plan }
    }

    fn new_targets(&mut self, &target: &PrefixId, execution: &Execution) -> Vec<PrefixId> {
        if execution.is_annotated() {
            // Annotations hide dependences between events.
            self.disable_reduction();
        }
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return self.trie.after_time_out(target, execution).into_iter().collect();
        }
        self.branch(target, execution)
    }

    fn starts_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }

    fn next_stage(&mut self) -> Option<Vec<PrefixId>> {
        if let Some((place, targets)) = self.later.pop_first() {
            self.place = place;
            return Some(targets);
        }
        self.seen.last_stage |= !self.postponed.is_empty();
        (!self.postponed.is_empty()).then(|| std::mem::take(&mut self.postponed))
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }

    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn is_common(&self, &target: &PrefixId) -> bool {
        !self.trie.last(target).own
    }

    /// What is postponed comes at the end, and only after that there is a guarantee.
    fn may_claim(&self) -> bool {
        true
    }

    fn guarantee(&self) -> Option<String> {
        let out_of_order = self.seen.last_stage && !self.later.is_empty();
        if self.seen.dropped || out_of_order || !self.postponed.is_empty() {
            return None;
        }
        let covered = self.covered();
        let count = |number: u32, noun: &str| format!("<= {number} {noun}{}", if number == 1 { "" } else { "s" });
        let mut words = "all schedules".to_owned();
        if !self.covers_everything() {
            words += &match covered.threads {
                // A preemption involves two threads.
                0 | 1 => " without preemptions".to_owned(),
                threads => format!(
                    " with {} at {} among {}",
                    count(covered.preemptions, "preemption"),
                    count(covered.variables, "variable"),
                    count(threads, "thread"),
                ),
            };
            if self.objects.is_some() {
                words += WHOLE;
            }
            if self.seen.unfair {
                words += " (ignored yields and time-outs while others can run count as preemptions at no variable)";
            }
        }
        if self.seen.skipped {
            words += &skipped_in_words(self.bounds.preemptions);
        }
        // A bound on iterations that nothing reached need not be mentioned.
        let is_limited = self.seen.late_iterations || Some(covered.iterations) != self.bounds.iterations;
        words += &iterations_in_words(Some(covered.iterations).filter(|_| is_limited && covered.threads > 1));
        Some(words)
    }

    fn bound(&self) -> Option<u32> {
        Some(self.place.preemptions)
    }

    fn rank(&self) -> Option<Rank> {
        let Place { variables, threads, iterations, .. } = self.place;
        Some(Rank { variables, threads, iterations })
    }

    fn covers_everything(&self) -> bool {
        let Seen { cut_off, late_iterations, dropped, .. } = self.seen;
        !cut_off && !dropped && !late_iterations && self.later.is_empty() && self.postponed.is_empty()
    }

    fn lends(&self) -> bool {
        true
    }

    fn lend(&mut self, waiting: &mut Vec<PrefixId>, share: Share) -> Option<(Self, Vec<PrefixId>)> {
        Some(self.lend_targets(&share.take(waiting)))
    }

    fn take_back(&mut self, part: Self, waiting: Vec<PrefixId>) -> Vec<PrefixId> {
        self.take_back_targets(&part, &waiting)
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &PrefixId>, out: &mut Saver<'_>) {
        self.write(targets.copied().collect(), out);
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<PrefixId>, Unusable> {
        self.read(input)
    }
}
