//! Variable bounding: all schedules with few preemptions, at few variables, among few threads.
//!
//! S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", ISSTA
//! 2013. Most bugs can be shown by preempting threads at accesses of one or two variables. So schedules are ranked by
//! that: first those that preempt at no variable, then at one, and so on; among these by the number of threads that take
//! part, then by the iterations of loops that have allocated the variables, then by the number of preemptions.
//!
//! The search is that of context bounding, a target is a schedule prefix. As in the form that the paper gives to CHESS the
//! variables are not chosen beforehand: those of a schedule are the ones at which it preempts. So no schedule is run for
//! two sets of variables.
//!
//! What is left out without missing anything: beginnings that differ from others only in the order of operations that do
//! not conflict, and have preempted at no fewer variables and threads. (The paper prunes for each set of variables by itself.
//! Here one search is about all of them, and a beginning with fewer variables comes as far as one with more.) A thread that is preempted too early does not sleep as in [`crate::reduction`]: a little later the preemption
//! would count against another variable.

mod keep;
mod lending;
mod place;

use crate::Strategy;
use crate::context_bound::{of_part, seed_of};
use crate::reduction::Way;
use crate::trie::{Last, PrefixId, ROOT, Trie};
use crate::visited::Visited;
use place::Deeds;
pub(crate) use place::{Place, iteration_of, iterations_in_words};
use racehunter_explore::{
    Analysis, Decision, Decisions, Execution, Going, LastVariables, Loader, Objects, Outcome, Part, Plan, Rank, Saver,
    Share, Step, Tail, Unusable, Variable, decisions,
};
use std::collections::BTreeMap;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Variables at which threads are preempted.
    pub variables: u32,
    /// Threads that take part in preemptions: that are preempted, or run instead.
    pub threads: u32,
    /// Preemptions.
    pub preemptions: u32,
    /// Iterations of a loop whose blocks of the heap are variables like others; those of later ones are left alone.
    pub iterations: Option<u32>,
}

/// What a guarantee says where parts are no variables.
pub(crate) const WHOLE: &str = " (an array, a structure and a block of the heap are one variable each)";

/// The analysis. See the documentation of the module.
pub struct VariableBound {
    bounds: Bounds,
    strategy: Strategy,
    seed: u64,
    /// What counts as one variable, where it is not any part.
    objects: Option<Objects>,
    part: Part,
    /// Executions that have no preemption left observe only which threads can run.
    selective: bool,
    /// Schedules that show nothing new are to be left out.
    reduces: bool,
    /// Where the search has been, while it leaves something out.
    visited: Option<Visited>,
    /// What is explored now.
    place: Place,
    trie: Trie,
    /// Targets that come later.
    later: BTreeMap<Place, Vec<PrefixId>>,
    /// Targets in which a thread goes on that had to give way for others to have a turn. They come after all others.
    postponed: Vec<PrefixId>,
    /// What was seen on the way.
    seen: Seen,
    /// It has to start again.
    again: bool,
    /// Targets that were left out since they show nothing new.
    left_out: u64,
}

/// What limits the guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Some schedule is beyond the bounds.
    cut_off: bool,
    /// Some preemption was left out because of the iteration of a loop.
    late_iterations: bool,
    /// There are more targets than can be numbered; some were dropped.
    dropped: bool,
    /// Some choice was counted although it was no switch.
    unfair: bool,
    /// Targets that were postponed have begun, so ranks no longer come in order.
    last_stage: bool,
    /// Some execution looked for no data races.
    skipped: bool,
}

/// A path through an execution, as far as its decisions were read.
struct Walked {
    /// The prefix of the path so far; held while walking on.
    prefix: PrefixId,
    deeds: Deeds,
    /// See [`Last::own`].
    own: bool,
}

impl VariableBound {
    /// All schedules within the bounds, in the order of their rank.
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

    /// Leaves out schedules that differ from others only in the order of operations that do not conflict, and preempt the
    /// same threads at the same variables. For executors that log every access to memory that threads share.
    #[must_use]
    pub fn reduced(self, reduces: bool) -> Self {
        Self { reduces, ..self }
    }

    /// With these as variables, if any, instead of every part of them.
    #[must_use]
    pub fn of(self, objects: Option<Objects>) -> Self {
        Self { objects, ..self }
    }

    /// Whether executions that have used up their preemptions skip all accesses, and look for no data races. What is to be
    /// explored from them depends only on which threads can run where one cannot go on, so which places access which
    /// variables does not matter. Such executions are most of all, and nearly as fast as the program alone.
    #[must_use]
    pub fn selective(self, selective: bool) -> Self {
        Self { selective, ..self }
    }

    /// Whether an execution for this target skips all accesses.
    fn skips(&self, target: PrefixId) -> bool {
        // What is postponed does not come in the order of ranks, and its rank is read from the log. What is random decides at
        // accesses.
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

    /// Whether there is something new to explore at a moment that was reached like this.
    fn is_new(&mut self, key: Option<u128>, deeds: &Deeds) -> bool {
        let (Some(visited), Some(key)) = (&mut self.visited, key) else { return true };
        let cost = deeds.place().preemptions;
        // Who came there with fewer variables or threads comes as far.
        let is_known = deeds.less().any(|less| visited.knows(less.tell_apart(key), cost));
        let new = !is_known && visited.enter(deeds.tell_apart(key), cost, 0);
        self.left_out += u64::from(!new);
        new
    }

    /// The targets that differ from the execution in one choice after its forced beginning.
    fn branch(&mut self, target: PrefixId, execution: &Execution) -> Vec<PrefixId> {
        let mut targets = Vec::new();
        let objects = self.objects.clone();
        let mut last = LastVariables::of(execution, objects.as_ref());
        let start = self.trie.last(target);
        let mut walked = Walked { prefix: target, deeds: Deeds::default(), own: start.own };
        let divides = !self.part.is_whole();
        let skips = self.skips(target);
        if skips {
            // The log does not tell whether there was another choice, but mostly there is.
            self.seen.cut_off = true;
            self.seen.skipped = true;
            walked.deeds = Deeds::at(self.place);
        }
        let mut way = (!skips && (self.visited.is_some() || divides)).then(|| Way::new(execution, Vec::new()));
        let mut decisions = decisions(execution);
        while let Some(decision) = decisions.next() {
            let is_open = decision.at > start.at;
            if way.is_none() && decision.step == Step::Stay && !decision.logged {
                if !(is_open && decisions.has_others()) {
                    continue;
                }
                if walked.deeds.place().preemptions == self.bounds.preemptions && decision.going == Going::Ready {
                    // The usual case at the last bound: whatever else could be chosen is one preemption too many.
                    self.seen.cut_off = true;
                    continue;
                }
            }
            if let Some(way) = &mut way {
                way.reach(decision.at);
            }
            let key = way.as_ref().filter(|_| is_open).map(|way| way.key(&decision, &decisions, true));
            if !self.is_new(key, &walked.deeds) {
                break;
            }
            if skips && !is_open {
                continue;
            }
            let variable = if skips { None } else { last.before(decision.at, decision.from) };
            if is_open {
                self.choices(&walked, (&decision, &decisions), (variable, key), &mut targets);
            }
            walked.deeds = walked.deeds.with(&decision, decision.step, decision.to, variable);
            if is_open && !self.allows(walked.deeds.place()) {
                // The strategy went beyond the bounds; so does everything that follows.
                self.seen.cut_off = true;
                break;
            }
            if is_open && !walked.own && matches!(decision.step, Step::Preemption | Step::Unfair) {
                walked.own = true;
                if divides && key.is_some_and(|key| !self.part.owns(of_part(key, decision.to))) {
                    // The strategy went on into another part.
                    break;
                }
            }
            if let Some(way) = &mut way {
                way.decide(&decision, decisions.time_passes());
            }
            if is_open && decision.logged {
                let cost = walked.deeds.place().preemptions;
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

    /// The other choices at a decision.
    fn choices(
        &mut self,
        walked: &Walked,
        (decision, decisions): (&Decision, &Decisions<'_>),
        (variable, key): (Option<Variable>, Option<u128>),
        now: &mut Vec<PrefixId>,
    ) {
        if decision.going == Going::Exhausted {
            // How long a thread has had its turn depends on the order of all events.
            self.leave_nothing_out();
        }
        for (thread, step) in decisions.others() {
            let begins = !walked.own && matches!(step, Step::Preemption | Step::Unfair);
            if begins && !self.part.is_whole() && key.is_some_and(|key| !self.part.owns(of_part(key, thread))) {
                continue;
            }
            self.seen.unfair |= step == Step::Unfair;
            let place = walked.deeds.with(decision, step, thread, variable).place();
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
            let choice = Last::new(decision.at, decision.from, decision.code, walked.deeds.place().preemptions);
            match self.trie.child(walked.prefix, Last { own: walked.own, ..choice }) {
                Some(child) => self.postponed.push(child),
                None => self.seen.dropped = true,
            }
        }
    }

    /// From the beginning, without the reduction.
    fn leave_nothing_out(&mut self) {
        self.again |= std::mem::take(&mut self.reduces);
    }

    /// The bounds within which everything was run once nothing waits for the current place.
    fn covered(&self) -> Place {
        let Bounds { variables, threads, preemptions, iterations } = self.bounds;
        let most = Place { variables, threads, iterations: iterations.unwrap_or(u32::MAX), preemptions };
        self.later.keys().next().map_or(most, |&next| self.place.before(next, most))
    }
}

/// What a guarantee says where executions that can preempt no more have skipped all accesses.
pub(crate) fn skipped_in_words(preemptions: u32) -> String {
    let checked = "data races, uses of freed memory and newly shared accesses are looked for";
    match preemptions - 1 {
        0 => format!(" ({checked} in those without preemptions)"),
        1 => format!(" ({checked} in those with <= 1 preemption)"),
        fewer => format!(" ({checked} in those with <= {fewer} preemptions)"),
    }
}

/// The rank of an execution whose log has allocations.
#[must_use]
pub fn rank_of(execution: &Execution) -> Rank {
    let mut last = LastVariables::new(execution);
    let mut deeds = Deeds::default();
    for decision in decisions(execution).filter(|decision| decision.step != Step::Stay) {
        let variable = last.before(decision.at, decision.from);
        deeds = deeds.with(&decision, decision.step, decision.to, variable);
    }
    let Place { variables, threads, iterations, .. } = deeds.place();
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
        // Blocks of the heap are named by where, and in which iteration of a loop, they were allocated.
        let skips = self.skips(target);
        let select = skips.then(Vec::new);
        Plan { tail, fair_limit: self.strategy.fair_limit(), allocations: !skips, select, ..plan }
    }

    fn new_targets(&mut self, &target: &PrefixId, execution: &Execution) -> Vec<PrefixId> {
        if execution.is_annotated() {
            // It is not known what depends on what.
            self.leave_nothing_out();
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
                // A preemption takes two threads.
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
        // A bound on iterations that nothing has come up against says nothing.
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
