//! Variable bounding: all schedules with few preemptions, at few variables, among few threads.
//!
//! S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", ISSTA
//! 2013. Most bugs can be shown by preempting threads at accesses of one or two variables. So schedules are ranked by
//! that: first those that preempt at no variable, then at one, and so on; among these by the number of threads that take
//! part, then by the number of preemptions.
//!
//! The search is that of context bounding, a target is a schedule prefix. As in the form that the paper gives to CHESS the
//! variables are not chosen beforehand: those of a schedule are the ones at which it preempts. So no schedule is run for
//! two sets of variables.

use crate::Strategy;
use crate::trie::{Last, ROOT, Trie};
use racehunter_explore::{
    Analysis, Decision, Execution, Going, LastVariables, Loader, Objects, Outcome, Plan, Rank, Saver, Step, Unusable,
    Variable, decisions,
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

/// Where a schedule comes in the search. The order of the fields is the order of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    variables: u32,
    threads: u32,
    preemptions: u32,
}

impl Place {
    fn save(self, out: &mut Saver<'_>) {
        [self.variables, self.threads, self.preemptions].into_iter().for_each(|number| out.number(number));
    }

    fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        Ok(Self { variables: input.small()?, threads: input.small()?, preemptions: input.small()? })
    }
}

/// The analysis. See the documentation of the module.
pub struct VariableBound {
    bounds: Bounds,
    strategy: Strategy,
    /// What counts as one variable, where it is not any part.
    objects: Option<Objects>,
    /// What is explored now.
    place: Place,
    trie: Trie,
    /// Targets that come later.
    later: BTreeMap<Place, Vec<u32>>,
    /// Some schedule is beyond the bounds.
    cut_off: bool,
    /// Some preemption was left out because of the iteration of a loop.
    late_iterations: bool,
    /// There are more targets than can be numbered; some were dropped.
    dropped: bool,
    /// Some choice was counted although it was no switch.
    unfair: bool,
    /// Some thread had to give way.
    exhausted: bool,
}

/// What a schedule has done so far that counts.
#[derive(Clone, Default)]
struct Deeds {
    preemptions: u32,
    variables: Vec<Variable>,
    threads: Vec<u32>,
}

impl Deeds {
    /// With a choice at a decision, before which the running thread was about `variable`.
    fn with(&self, decision: &Decision, step: Step, to: u32, variable: Option<Variable>) -> Self {
        let mut deeds = self.clone();
        deeds.preemptions += u32::from(matches!(step, Step::Preemption | Step::Unfair));
        if step == Step::Preemption {
            for thread in [decision.from, to] {
                if !deeds.threads.contains(&thread) {
                    deeds.threads.push(thread);
                }
            }
            if let Some(variable) = variable.filter(|variable| !deeds.variables.contains(variable)) {
                deeds.variables.push(variable);
            }
        }
        deeds
    }

    fn place(&self) -> Place {
        Place {
            variables: self.variables.len() as u32,
            threads: self.threads.len() as u32,
            preemptions: self.preemptions,
        }
    }
}

impl VariableBound {
    /// All schedules within the bounds, in the order of their rank.
    #[must_use]
    pub fn new(bounds: Bounds, strategy: Strategy) -> Self {
        Self {
            bounds,
            strategy,
            objects: None,
            place: Place::default(),
            trie: Trie::new(),
            later: BTreeMap::new(),
            cut_off: false,
            late_iterations: false,
            dropped: false,
            unfair: false,
            exhausted: false,
        }
    }

    /// With these as variables, if any, instead of every part of them.
    #[must_use]
    pub fn of(self, objects: Option<Objects>) -> Self {
        Self { objects, ..self }
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

    /// The targets that differ from the execution in one choice after its forced beginning.
    fn branch(&mut self, target: u32, execution: &Execution) -> Vec<u32> {
        let mut targets = Vec::new();
        let mut deeds = Deeds::default();
        let objects = self.objects.clone();
        let mut last = LastVariables::of(execution, objects.as_ref());
        // The prefix of the path so far; held while walking on.
        let mut prefix = target;
        let mut decisions = decisions(execution);
        while let Some(decision) = decisions.next() {
            let is_open = decision.at > self.trie.last(target).at;
            let has_choice = is_open && decisions.has_others();
            if decision.step == Step::Stay && !decision.logged {
                if !has_choice {
                    continue;
                }
                if deeds.preemptions == self.bounds.preemptions && decision.going == Going::Ready {
                    // The usual case at the last bound: whatever else could be chosen is one preemption too many.
                    self.cut_off = true;
                    continue;
                }
            }
            let variable = last.before(decision.at, decision.from);
            if is_open {
                self.exhausted |= decision.going == Going::Exhausted;
                for (thread, step) in decisions.others() {
                    self.unfair |= step == Step::Unfair;
                    if step == Step::Preemption && self.is_late(variable) {
                        self.late_iterations = true;
                        continue;
                    }
                    let place = deeds.with(&decision, step, thread, variable).place();
                    if !self.allows(place) {
                        self.cut_off = true;
                        continue;
                    }
                    let choice = Last::new(decision.at, thread, decision.code, place.preemptions);
                    match self.trie.child(prefix, choice) {
                        Some(child) if place == self.place => targets.push(child),
                        Some(child) => self.later.entry(place).or_default().push(child),
                        None => self.dropped = true,
                    }
                }
            }
            deeds = deeds.with(&decision, decision.step, decision.to, variable);
            if is_open && decision.logged {
                let choice = Last::new(decision.at, decision.to, decision.code, deeds.preemptions);
                let Some(child) = self.trie.child(prefix, choice) else {
                    self.dropped = true;
                    break;
                };
                self.trie.release(prefix);
                prefix = child;
            }
        }
        self.trie.release(prefix);
        targets
    }

    /// The bounds within which everything was run once nothing waits for the current place.
    fn covered(&self) -> Place {
        let Bounds { variables, threads, preemptions, .. } = self.bounds;
        match self.later.keys().next() {
            None => Place { variables, threads, preemptions },
            Some(next) if next.variables > self.place.variables => {
                Place { variables: next.variables - 1, threads, preemptions }
            }
            Some(next) if next.threads > self.place.threads => {
                Place { variables: next.variables, threads: next.threads - 1, preemptions }
            }
            Some(next) => Place { preemptions: next.preemptions - 1, ..*next },
        }
    }
}

impl Analysis for VariableBound {
    type Target = u32;

    fn initial_targets(&mut self) -> Vec<u32> {
        *self = Self::new(self.bounds, self.strategy).of(self.objects.take());
        vec![ROOT]
    }

    fn plan(&self, &target: &u32) -> Plan {
        let fair_limit = self.strategy.fair_limit();
        let allocations = self.bounds.iterations.is_some() || self.objects.is_some();
        Plan { fair_limit, allocations, ..self.trie.plan(target) }
    }

    fn new_targets(&mut self, &target: &u32, execution: &Execution) -> Vec<u32> {
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return self.trie.after_time_out(target, execution).into_iter().collect();
        }
        self.branch(target, execution)
    }

    fn next_stage(&mut self) -> Option<Vec<u32>> {
        let (place, targets) = self.later.pop_first()?;
        self.place = place;
        Some(targets)
    }

    fn guarantee(&self) -> Option<String> {
        // That a thread goes on which had to give way is not tried.
        if self.dropped || self.exhausted {
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
            if self.unfair {
                words += " (ignored yields and early time-outs count as preemptions at no variable)";
            }
        }
        if let Some(limit) = self.bounds.iterations.filter(|_| self.late_iterations) {
            let iterations = if limit == 1 { "iteration" } else { "iterations" };
            words += &format!(" (blocks of the heap: those of the first {limit} {iterations} of a loop)");
        }
        Some(words)
    }

    fn bound(&self) -> Option<u32> {
        Some(self.place.preemptions)
    }

    fn rank(&self) -> Option<Rank> {
        Some(Rank { variables: self.place.variables, threads: self.place.threads })
    }

    fn covers_everything(&self) -> bool {
        !self.cut_off && !self.dropped && !self.exhausted && !self.late_iterations && self.later.is_empty()
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &u32>, out: &mut Saver<'_>) {
        self.place.save(out);
        let flags = [self.cut_off, self.late_iterations, self.dropped, self.unfair, self.exhausted];
        flags.into_iter().for_each(|flag| out.number(flag));
        self.trie.save(out);
        out.count(self.later.len());
        for (place, targets) in &self.later {
            place.save(out);
            out.numbers(targets.iter().copied());
        }
        let targets: Vec<u32> = targets.copied().collect();
        out.numbers(targets.into_iter());
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<u32>, Unusable> {
        self.place = Place::load(input)?;
        (self.cut_off, self.late_iterations, self.dropped) = (input.flag()?, input.flag()?, input.flag()?);
        (self.unfair, self.exhausted) = (input.flag()?, input.flag()?);
        self.trie = Trie::load(input)?;
        for _ in 0..input.number()? {
            let (place, targets) = (Place::load(input)?, input.numbers()?);
            self.later.insert(place, targets);
        }
        let targets: Vec<u32> = input.numbers()?;
        let held = self.later.values().flatten().chain(&targets).all(|&target| self.trie.hold(target));
        // Prefixes that nobody holds are those of targets that were given up.
        if held { Ok(targets) } else { Err(Unusable::Damaged) }
    }
}
