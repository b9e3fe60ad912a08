//! Context bounding: all schedules with few switches.
//!
//! V. P. Rudenchik, P. S. Andrianov, V. S. Mutilin, "Bounding Thread Switches in Dynamic Analysis of Multithreaded Programs",
//! Trudy ISP RAN 37(6), 2025; iterative and by preemptions as in M. Musuvathi, S. Qadeer, "Iterative context bounding for
//! systematic testing of multithreaded programs", PLDI 2007.
//!
//! A target is a schedule prefix. Its execution repeats the prefix and then follows the strategy. At every decision after the
//! prefix, each other thread that could have been chosen yields a new target. Each schedule is therefore the execution of exactly
//! one target, and no set of visited schedules is needed. A target whose prefix costs more than the current bound waits for its
//! stage. [`crate::reduction`] leaves out redundant schedules.
//!
//! In a divided search, all parts run the schedules without a preemption. At the first preemption of a schedule, a hash of its
//! past and of the thread that continues decides which part runs it and everything that begins with it.

mod alternatives;
mod dynamic;
mod lending;
mod words;

pub use words::UnknownWord;
use words::plural;

use crate::reduction::Traversal;
use crate::trie::{Last, PrefixId, ROOT, Trie};
use crate::visited::Visited;
use crate::wakeups::Wakeups;
use alternatives::Alternatives;
use dynamic::Tried;
use racehunter_explore::{
    Analysis, Decision, Decisions, Execution, Going, Loader, Outcome, Part, Plan, Saver, Share, Step, Switch, TURN,
    Tail, Unusable, decisions,
};
use racehunter_log::{EventNumber, ThreadId};

/// What the bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BoundKind {
    /// Switches away from a thread that could have continued.
    #[default]
    Preemptions,
    /// Switches of any kind.
    Switches,
}

/// How redundant schedules are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Do not explore a state again that was reached before. See [`crate::reduction`].
    Caching,
    /// Branch only where an execution shows that the order matters. See [`crate::races`].
    Dynamic,
}

/// Which thread runs where the target does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Any thread. The execution itself may then exceed the bound.
    Random,
    /// The same thread for as long as possible.
    #[default]
    MinSwitches,
    /// The same thread, but not for more than this many events in a row.
    Fair(u64),
}

impl Strategy {
    /// Returns the number of consecutive events after which a thread must give way.
    pub(crate) fn fair_limit(self) -> Option<u64> {
        Some(if let Self::Fair(limit) = self { limit } else { TURN })
    }
}

/// The analysis. See the module documentation.
pub struct ContextBound {
    kind: BoundKind,
    strategy: Strategy,
    seed: u64,
    /// First and last bound to explore.
    first_bound: u32,
    last_bound: u32,
    part: Part,
    /// How redundant schedules are left out, if at all.
    reduction: Option<Reduction>,
    /// The visited states, while caching is on.
    visited: Option<Visited>,
    /// The threads tried at each decision, for dynamic reduction.
    tried: Tried,
    bound: u32,
    trie: Trie,
    /// Targets of later stages, by their cost.
    later: Vec<Vec<PrefixId>>,
    /// Targets that continue a thread which had to give way to the others. They run last, because most such threads wait for
    /// something and would spin for ever.
    postponed: Vec<PrefixId>,
    /// What was seen so far that limits the guarantee.
    seen: Seen,
    /// A whole log was [long](crate::LONG).
    long: bool,
    /// Some loop was seen to wait for another thread. Recognising such loops requires logs of all accesses.
    spins: bool,
    /// The search has to start again.
    again: bool,
    /// Executions of this stage, and the estimated share of the stage that they cover.
    done: (u64, f64),
    /// Number of redundant targets left out.
    left_out: u64,
}

/// What limits the guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Some schedule costs more than the last bound.
    cut_off: bool,
    /// Targets were dropped because there are more than can be numbered.
    dropped: bool,
    /// Some choice costs something although it is not a switch: it ignores a yield, lets time pass, or is a spurious wake-up.
    unfair: bool,
    spurious: bool,
}

impl ContextBound {
    /// Explores the bounds 0, 1, 2, ... up to `last_bound`, finishing each before the next.
    #[must_use]
    pub fn iterative(last_bound: u32, kind: BoundKind, strategy: Strategy, seed: u64) -> Self {
        Self {
            kind,
            strategy,
            seed,
            first_bound: 0,
            last_bound,
            part: Part::WHOLE,
            reduction: None,
            visited: None,
            tried: Tried::default(),
            bound: 0,
            trie: Trie::new(),
            later: Vec::new(),
            postponed: Vec::new(),
            seen: Seen::default(),
            long: false,
            spins: false,
            again: false,
            done: (0, 0.0),
            left_out: 0,
        }
    }

    /// Leaves out schedules that differ from others only in the order of independent operations. Requires an executor that logs
    /// every access to shared memory.
    #[must_use]
    pub fn reduced(self, reduction: Option<Reduction>) -> Self {
        Self { reduction, ..self }
    }

    /// Explores all bounds up to this one in one stage, as in the 2025 paper.
    #[must_use]
    pub fn starting_at(self, bound: u32) -> Self {
        Self { first_bound: bound, ..self }
    }

    /// Explores all schedules in one stage.
    #[must_use]
    pub fn unbounded(strategy: Strategy, seed: u64) -> Self {
        Self { first_bound: u32::MAX, ..Self::iterative(u32::MAX, BoundKind::Preemptions, strategy, seed) }
    }

    fn cost_of(&self, step: Step) -> u32 {
        u32::from(match self.kind {
            BoundKind::Preemptions => matches!(step, Step::Preemption | Step::Unfair),
            BoundKind::Switches => step != Step::Stay,
        })
    }

    /// Queues a target for this stage or, if its cost exceeds the bound, for a later one.
    fn add(&mut self, target: PrefixId, now: &mut Vec<PrefixId>) {
        let cost = self.trie.last(target).cost;
        if cost <= self.bound {
            now.push(target);
            return;
        }
        let stage = cost as usize;
        if self.later.len() <= stage {
            self.later.resize_with(stage + 1, Vec::new);
        }
        self.later[stage].push(target);
    }

    /// Counts a finished execution of this stage and the share that it covers.
    fn finished(&mut self, share: f32) {
        self.done = (self.done.0 + 1, self.done.1 + f64::from(share));
    }

    /// Returns the traversal of an execution if it is needed: for reduction or for a divided search.
    fn traversal<'e>(&self, target: PrefixId, execution: &'e Execution) -> Option<Traversal<'e>> {
        (self.visited.is_some() || !self.part.is_whole()).then(|| Traversal::new(execution, self.trie.early(target)))
    }

    /// Returns whether the search has not yet explored this state.
    fn is_new(&mut self, key: Option<u128>, traversal: Option<&Traversal<'_>>, cost: u32) -> bool {
        let (Some(visited), Some(key), Some(traversal)) = (&mut self.visited, key, traversal) else { return true };
        // Without a bound, costs do not matter.
        let cost = if self.last_bound == u32::MAX { 0 } else { cost };
        let new = visited.enter(key, cost, traversal.asleep());
        self.left_out += u64::from(!new);
        new
    }

    /// Returns the alternatives to explore at a decision, each as the last switch of a prefix.
    fn choices(
        &mut self,
        prefix: Last,
        (decision, decisions, spurious): (&Decision, &Decisions<'_>, &Vec<ThreadId>),
        traversal: Option<&Traversal<'_>>,
        key: Option<u128>,
    ) -> Vec<Last> {
        let mut choices = Vec::new();
        let went_on = traversal.is_some_and(|traversal| traversal.went_on(decision));
        for (thread, step) in decisions.others() {
            let cost = prefix.cost + self.cost_of(step);
            let begins = !prefix.own && matches!(step, Step::Preemption | Step::Unfair);
            if begins && !self.part.is_whole() && key.is_some_and(|key| !self.part.owns(part_hash(key, thread))) {
                continue;
            }
            let is_spurious = decisions.is_spurious(thread);
            self.note_choice(step, is_spurious);
            if is_spurious && !spurious.contains(&thread) {
                continue;
            }
            if cost > self.last_bound {
                self.seen.cut_off = true;
            } else if self.visited.is_some() && traversal.is_some_and(|traversal| traversal.is_asleep(thread)) {
                self.left_out += 1;
            } else {
                let (at, code, own) = (decision.at, decision.code, prefix.own || begins);
                let early = went_on && step == Step::Preemption;
                choices.push(Last { at, to: thread, code, cost, own, early, again: false, share: 0.0 });
            }
        }
        choices
    }

    /// Makes the choices into targets. Returns the share left for the choice that the execution made.
    fn targets(&mut self, prefix: PrefixId, choices: Vec<Last>, share: f32, now: &mut Vec<PrefixId>) -> f32 {
        let in_stage = choices.iter().filter(|choice| choice.cost <= self.bound).count();
        let share = share / (in_stage + 1) as f32;
        for choice in choices {
            match self.trie.child(prefix, Last { share, ..choice }) {
                Some(child) => self.add(child, now),
                None => self.seen.dropped = true,
            }
        }
        share
    }
}

/// Returns the hash that assigns a schedule to a part: the key of the state before its first preemption, and the thread chosen
/// there.
pub(crate) fn part_hash(key: u128, thread: ThreadId) -> u64 {
    (key >> 64) as u64 ^ key as u64 ^ u64::from(thread)
}

impl Analysis for ContextBound {
    type Target = PrefixId;

    fn initial_targets(&mut self) -> Vec<PrefixId> {
        self.bound = self.first_bound;
        self.trie = Trie::new();
        self.visited = (self.reduction == Some(Reduction::Caching)).then(Visited::new);
        self.tried = Tried::default();
        self.later = Vec::new();
        self.postponed = Vec::new();
        self.seen = Seen::default();
        self.done = (0, 0.0);
        self.left_out = 0;
        vec![ROOT]
    }

    fn plan(&self, &target: &PrefixId) -> Plan {
        let plan = self.trie.plan(target);
        let tail = match self.strategy {
            Strategy::Random => Tail::random(seed_of(self.seed, &plan.switches)),
            Strategy::MinSwitches | Strategy::Fair(_) => Tail::MinSwitches,
        };
        let log_from = if self.reads_tails_only() { self.trie.last(target).at } else { EventNumber::START };
        Plan { tail, log_from, fair_limit: self.strategy.fair_limit(), brief: self.can_be_brief(target), ..plan }
    }

    fn other_targets(&mut self, execution: &Execution) -> Vec<PrefixId> {
        self.long |= execution.records.len() > crate::LONG;
        Vec::new()
    }

    fn reads_other_log(&self, _: u64) -> bool {
        false
    }

    fn new_targets(&mut self, &target: &PrefixId, execution: &Execution) -> Vec<PrefixId> {
        self.spins = self.spins || execution.has_waiting_loop();
        self.long |= execution.records.len() > crate::LONG;
        if self.reduction.is_some() && execution.is_annotated() {
            // Annotations hide dependences between events.
            self.disable_reduction();
        }
        if self.reduction == Some(Reduction::Dynamic) && execution.chose_wakeups() {
            // A wake-up conflicts with no operation. Adding every thread to the backtrack set while one waits is not enough:
            // random programs show missed ends.
            self.disable_reduction();
        }
        if self.reduction == Some(Reduction::Dynamic) {
            return self.dynamic_targets(target, execution);
        }
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            let share = self.trie.last(target).share;
            let again = self.trie.after_time_out(target, execution);
            if again.is_none() {
                self.finished(share);
            }
            return again.into_iter().collect();
        }
        let mut targets = Vec::new();
        let start = self.trie.last(target);
        // The prefix of the path so far, held during the traversal, and its last switch.
        let (mut prefix, mut last) = (target, start);
        let mut traversal = self.traversal(target, execution);
        let mut decisions = decisions(execution);
        let mut alternatives = Alternatives::of(&start, execution);
        let again = execution.waits_again().unwrap_or(EventNumber::NEVER);
        let mut wakeups = Wakeups::new(execution);
        while let Some(decision) = decisions.next() {
            if decision.at > again {
                break;
            }
            if let Some(traversal) = &mut traversal {
                traversal.reach(decision.at);
            }
            wakeups.reach(decision.at);
            // Earlier executions have tried the alternatives on the target's own path.
            let can_afford = last.cost < self.last_bound;
            // A sleeping thread relies on all alternatives being tried.
            let all = self.visited.is_some();
            let spurious =
                decisions.spurious().filter(|&thread| can_afford && (all || wakeups.are_new_for(thread))).collect();
            if decision.at > start.at {
                let key = traversal
                    .as_ref()
                    .map(|traversal| traversal.key(&decision, &decisions, self.needs_running_thread()));
                if !self.is_new(key, traversal.as_ref(), last.cost) {
                    break;
                }
                self.exhausted(&decision);
                if last.cost == self.last_bound && decision.going == Going::Ready && decision.step == Step::Stay {
                    // The usual case at the last bound: every alternative costs too much.
                    self.seen.cut_off |= decisions.has_others();
                } else {
                    let mut choices = self.choices(last, (&decision, &decisions, &spurious), traversal.as_ref(), key);
                    alternatives.retain(&mut choices, self.bound);
                    last.share = self.targets(prefix, choices, last.share, &mut targets);
                    if !start.again {
                        self.postpone(prefix, last, (&decision, &decisions));
                    }
                }
                last.cost += self.cost_of(decision.step);
                if !last.own && matches!(decision.step, Step::Preemption | Step::Unfair) {
                    last.own = true;
                    if key.is_some_and(|key| !self.part.owns(part_hash(key, decision.to))) {
                        // The strategy continued into another part.
                        break;
                    }
                }
                if last.cost > self.last_bound {
                    // The strategy exceeded the bound, and so does everything that follows.
                    self.seen.cut_off = true;
                    break;
                }
            }
            if let Some(traversal) = &mut traversal {
                if decision.at >= start.at && self.visited.is_some() && traversal.is_asleep(decision.to) {
                    self.left_out += 1;
                    break;
                }
                traversal.decide(&decision, decisions.time_passes());
            }
            if decision.at > start.at && decision.logged {
                let (at, to, code) = (decision.at, decision.to, decision.code);
                let on = Last { at, to, code, early: false, again: false, ..last };
                let Some(child) = self.trie.child(prefix, on) else {
                    self.seen.dropped = true;
                    break;
                };
                self.trie.release(prefix);
                prefix = child;
            }
        }
        if let Alternatives::Cheap { left_out } = alternatives
            && (left_out || decisions.passed_choices() > 0)
        {
            self.seen.spurious |= execution.chose_wakeups();
            self.explore_again(target);
        }
        self.trie.release(prefix);
        self.finished(last.share);
        targets
    }

    fn starts_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }

    fn next_stage(&mut self) -> Option<Vec<PrefixId>> {
        let is_last = self.bound >= self.last_bound || !self.is_cut_off();
        let targets = if !is_last {
            self.bound += 1;
            self.later.get_mut(self.bound as usize).map(std::mem::take).unwrap_or_default()
        } else if self.postponed.is_empty() {
            return None;
        } else {
            std::mem::take(&mut self.postponed)
        };
        for &target in &targets {
            self.trie.set_share(target, 1.0 / targets.len() as f32);
        }
        self.done = (0, 0.0);
        Some(targets)
    }

    fn remaining(&self, waiting: usize) -> Option<u64> {
        let (executions, share) = self.done;
        let all = executions as f64 / share.clamp(f64::MIN_POSITIVE, 1.0);
        // No estimate beyond this.
        let known = executions > 0 && all < 1e15;
        known.then(|| (all as u64).saturating_sub(executions).max(waiting as u64))
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
        let is_postponed = |&target: &PrefixId| self.trie.last(target).cost <= self.bound;
        if self.seen.dropped || self.postponed.iter().any(is_postponed) {
            return None;
        }
        let bound = self.bound;
        let mut words = match self.kind {
            _ if self.covers_everything() => "all schedules".to_owned(),
            BoundKind::Preemptions => format!("all schedules with <= {bound} {}", plural(bound, "preemption")),
            BoundKind::Switches => format!("all schedules with <= {bound} {}", plural(bound, "switch")),
        };
        words += match (self.seen.unfair, self.seen.spurious) {
            _ if self.covers_everything() => "",
            (true, true) => " (ignored yields, time-outs while others can run and spurious wake-ups count)",
            (true, false) => " (ignored yields and time-outs while others can run count)",
            (false, true) => " (spurious wake-ups count)",
            (false, false) => "",
        };
        Some(words)
    }

    fn bound(&self) -> Option<u32> {
        (self.last_bound != u32::MAX).then_some(self.bound)
    }

    fn covers_everything(&self) -> bool {
        !self.is_cut_off() && self.postponed.is_empty()
    }

    /// What [`Reduction::Dynamic`] tries at a moment depends on what was tried there before, in any part.
    fn lends(&self) -> bool {
        self.reduction != Some(Reduction::Dynamic)
    }

    fn lend(&mut self, waiting: &mut Vec<PrefixId>, share: Share) -> Option<(Self, Vec<PrefixId>)> {
        Some(self.lend_targets(&share.take(waiting)))
    }

    fn take_back(&mut self, part: Self, waiting: Vec<PrefixId>) -> Vec<PrefixId> {
        self.take_back_targets(&part, &waiting)
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &PrefixId>, out: &mut Saver<'_>) {
        out.number(self.bound);
        let Seen { cut_off, dropped, unfair, spurious } = self.seen;
        let (reduces, dynamic) = (self.reduction.is_some(), self.reduction == Some(Reduction::Dynamic));
        let flags = [reduces, dynamic, cut_off, dropped, unfair, spurious, self.spins, self.long];
        flags.into_iter().for_each(|flag| out.number(flag));
        [self.done.0, self.done.1.to_bits(), self.left_out].into_iter().for_each(|number| out.number(number));
        self.trie.save(out);
        out.count(self.later.len());
        self.later.iter().for_each(|stage| out.numbers(stage.iter().copied()));
        out.numbers(self.postponed.iter().copied());
        out.number(self.visited.is_some());
        self.visited.iter().for_each(|visited| visited.save(out));
        self.tried.save(out);
        for &target in targets {
            out.number(u64::from(target) + 1);
        }
        out.number(0_u8);
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<PrefixId>, Unusable> {
        self.bound = input.small()?;
        let (reduces, dynamic) = (input.flag()?, input.flag()?);
        let kind = if dynamic { Reduction::Dynamic } else { Reduction::Caching };
        self.reduction = reduces.then_some(kind);
        let (cut_off, dropped) = (input.flag()?, input.flag()?);
        self.seen = Seen { cut_off, dropped, unfair: input.flag()?, spurious: input.flag()? };
        (self.spins, self.long) = (input.flag()?, input.flag()?);
        self.done = (input.number()?, f64::from_bits(input.number()?));
        self.left_out = input.number()?;
        self.trie = Trie::load(input)?;
        self.later = (0..input.number()?).map(|_| input.numbers()).collect::<Result<_, _>>()?;
        self.postponed = input.numbers()?;
        self.visited = if input.flag()? { Some(Visited::load(input)?) } else { None };
        self.tried = Tried::load(input)?;
        let mut targets = Vec::new();
        while let Some(target) = input.number()?.checked_sub(1) {
            targets.push(target.try_into().map_err(|_| Unusable::Damaged)?);
        }
        // A prefix that cannot be held belongs to a target that was dropped.
        let held =
            self.later.iter().flatten().chain(&self.postponed).chain(&targets).all(|&target| self.trie.hold(target));
        if held { Ok(targets) } else { Err(Unusable::Damaged) }
    }
}

impl ContextBound {
    /// Notes that a choice of this kind exists.
    fn note_choice(&mut self, step: Step, spurious: bool) {
        self.seen.unfair |= step == Step::Unfair && !spurious;
        self.seen.spurious |= spurious;
    }

    /// Returns whether some schedules cost more than the bound.
    fn is_cut_off(&self) -> bool {
        let left = self.later.iter().skip(self.bound as usize + 1).any(|targets| !targets.is_empty());
        self.seen.cut_off || self.seen.dropped || left
    }

    /// Notes a thread that had to give way: letting it continue is another choice, which costs nothing.
    fn postpone(&mut self, prefix: PrefixId, last: Last, (decision, decisions): (&Decision, &Decisions<'_>)) {
        if decisions.could_go_on() {
            let (at, to, code) = (decision.at, decision.from, decision.code);
            let choice = Last { at, to, code, early: false, again: false, ..last };
            match self.trie.child(prefix, choice) {
                Some(child) => self.postponed.push(child),
                None => self.seen.dropped = true,
            }
        }
    }

    /// Returns whether the log of accesses before the last switch of a prefix is unnecessary: the alternatives there are known,
    /// and no state is compared with visited ones.
    fn reads_tails_only(&self) -> bool {
        let follows_plan = self.strategy != Strategy::Random;
        self.reduction.is_none() && self.part.is_whole() && follows_plan && !self.spins
    }

    /// Returns whether the running thread is part of the state. It is not if switches cost nothing.
    fn needs_running_thread(&self) -> bool {
        self.last_bound != u32::MAX || !self.part.is_whole()
    }

    /// Notes a thread that had to give way. The state then also depends on how long the running thread has been running, so the
    /// search starts again without reduction.
    fn exhausted(&mut self, decision: &Decision) {
        if decision.going == Going::Exhausted {
            self.disable_reduction();
        }
    }

    /// Restarts the search without reduction.
    fn disable_reduction(&mut self) {
        self.again |= self.reduction.take().is_some();
    }
}

/// Returns a seed that depends only on the schedule prefix.
pub(crate) fn seed_of(seed: u64, switches: &[Switch]) -> u64 {
    let mix = |hash: u64, number: u64| (hash.rotate_left(23) ^ number).wrapping_mul(0xD134_2543_DE82_EF95);
    switches.iter().fold(seed, |hash, switch| mix(mix(hash, switch.at.0), u64::from(switch.to)))
}
