//! Dynamic partial-order reduction: the search branches only where executions show that the order matters, see
//! [`crate::races`].
//!
//! An execution may require an alternative at a decision that the search passed long ago, in an execution with the same
//! prefix. The search therefore records which threads were tried at each decision with more than one. A decision is identified
//! by the prefix that leads to it and by its event. A record is dropped when no target uses the prefix any more.

use super::{BoundKind, ContextBound, part_hash};
use crate::races::{Backtrack, backtrack_sets};
use crate::reduction::Traversal;
use crate::trie::{Last, PrefixId, ROOT};
use racehunter_explore::{Decision, Decisions, Execution, Loader, Outcome, Saver, Step, Unusable, decisions};
use racehunter_log::{EventNumber, ThreadId};
use std::collections::BTreeMap;

/// The threads tried at each decision, where more than one was tried.
#[derive(Default)]
pub(super) struct Tried(BTreeMap<PrefixId, BTreeMap<EventNumber, Vec<Choice>>>);

/// A thread that was tried.
#[derive(Clone, Copy)]
struct Choice {
    thread: ThreadId,
    /// The thread's operation there is known not to have ended the program.
    went_on: bool,
}

impl Tried {
    /// Records that a thread is tried at a decision where `made` was chosen first. Returns false if it was tried before.
    fn add(&mut self, (prefix, at): (PrefixId, EventNumber), made: Choice, thread: ThreadId) -> bool {
        let tried = self.0.entry(prefix).or_default().entry(at).or_insert_with(|| vec![made]);
        let new = tried.iter().all(|choice| choice.thread != thread);
        if new {
            tried.push(Choice { thread, went_on: false });
        }
        new
    }

    fn at(&self, (prefix, at): (PrefixId, EventNumber)) -> &[Choice] {
        self.0.get(&prefix).and_then(|moments| moments.get(&at)).map_or(&[][..], Vec::as_slice)
    }

    /// Records that the program continued after the thread's operation.
    fn went_on(&mut self, (prefix, at): (PrefixId, EventNumber), thread: ThreadId) {
        let tried = self.0.get_mut(&prefix).and_then(|moments| moments.get_mut(&at));
        let choice = tried.and_then(|tried| tried.iter_mut().find(|choice| choice.thread == thread));
        choice.into_iter().for_each(|choice| choice.went_on = true);
    }

    /// Returns the threads that were tried at a decision before this one and did not end the program.
    fn before(&self, moment: (PrefixId, EventNumber), thread: ThreadId) -> impl Iterator<Item = ThreadId> {
        let tried = self.at(moment);
        let number = tried.iter().position(|choice| choice.thread == thread).unwrap_or(0);
        tried[..number].iter().filter(|choice| choice.went_on).map(|choice| choice.thread)
    }

    /// Drops what is known about a prefix number, which is being reused.
    fn forget(&mut self, prefix: PrefixId) {
        self.0.remove(&prefix);
    }

    pub fn save(&self, out: &mut Saver<'_>) {
        out.count(self.0.len());
        for (&prefix, moments) in &self.0 {
            out.number(prefix);
            out.count(moments.len());
            for (&at, tried) in moments {
                out.number(at);
                out.numbers(tried.iter().map(|choice| u64::from(choice.thread) << 1 | u64::from(choice.went_on)));
            }
        }
    }

    pub fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let choice = |number: u64| -> Result<Choice, Unusable> {
            let thread = ThreadId::try_from(number >> 1).map_err(|_| Unusable::Damaged)?;
            Ok(Choice { thread, went_on: number & 1 != 0 })
        };
        let mut tried = Self::default();
        for _ in 0..input.number()? {
            let moments = tried.0.entry(input.small()?).or_default();
            for _ in 0..input.number()? {
                let (at, numbers) = (input.small()?, input.numbers::<u64>()?);
                moments.insert(at, numbers.into_iter().map(choice).collect::<Result<_, _>>()?);
            }
        }
        Ok(tried)
    }
}

/// A decision on the path of an execution.
#[derive(Clone, Copy)]
struct Moment {
    /// The switches before the decision.
    prefix: PrefixId,
    /// Their cost.
    cost: u32,
    /// The schedule belongs to this part of a divided search.
    own: bool,
}

/// The path of an execution through the search.
struct Trail<'e> {
    decisions: Decisions<'e>,
    traversal: Traversal<'e>,
    /// The prefixes of the target that the path has not reached yet.
    beginnings: std::iter::Peekable<std::vec::IntoIter<(EventNumber, PrefixId)>>,
    /// The event of the target's last switch.
    start: EventNumber,
    /// See [`Execution::waits_again`].
    again: EventNumber,
    moment: Moment,
}

impl<'e> Trail<'e> {
    fn new(search: &ContextBound, target: PrefixId, execution: &'e Execution) -> Self {
        Self {
            decisions: decisions(execution),
            traversal: Traversal::new(execution, search.trie.early(target)),
            beginnings: search.trie.path(target).into_iter().peekable(),
            start: search.trie.last(target).at,
            again: execution.waits_again().unwrap_or(EventNumber::NEVER),
            moment: Moment { prefix: ROOT, cost: 0, own: false },
        }
    }

    /// Advances to the next decision.
    fn next(&mut self) -> Option<Decision> {
        let decision = self.decisions.next()?;
        while let Some((_, prefix)) = self.beginnings.next_if(|&(at, _)| at < decision.at) {
            self.moment.prefix = prefix;
        }
        self.traversal.reach(decision.at);
        Some(decision)
    }

    /// Returns whether the strategy chose a sleeping thread.
    fn chose_sleeper(&self, decision: &Decision) -> bool {
        decision.at >= self.start && self.traversal.is_asleep(decision.to)
    }

    /// Advances past a decision. Returns false if nothing after it is to be explored.
    fn pass(&mut self, decision: &Decision, search: &ContextBound) -> bool {
        let (before, is_new) = (self.moment, decision.at > self.start);
        self.moment.cost += search.cost_of(decision.step);
        self.moment.own |= matches!(decision.step, Step::Preemption | Step::Unfair);
        let key = if before.own { None } else { search.key(self, decision) };
        let of_others = self.moment.own && key.is_some_and(|key| !search.part.owns(part_hash(key, decision.to)));
        if decision.at > self.again
            || is_new && of_others
            || self.moment.cost > search.last_bound
            || self.chose_sleeper(decision)
        {
            return false;
        }
        self.traversal.decide(decision, self.decisions.time_passes());
        if !search.has_costs() {
            // A thread tried here before sleeps until a conflicting operation wakes it.
            let earlier = search.tried.before((before.prefix, decision.at), decision.to);
            for thread in earlier.filter(|thread| self.decisions.ready().any(|ready| ready == *thread)) {
                self.traversal.sleep(thread);
            }
        }
        true
    }
}

impl ContextBound {
    /// Returns the targets that an execution shows to be necessary.
    pub(super) fn dynamic_targets(&mut self, target: PrefixId, execution: &Execution) -> Vec<PrefixId> {
        let diverged = matches!(execution.outcome, Outcome::Diverged(_));
        let (end, exceeds) = self.end(target, execution);
        let mut backtrack_sets = backtrack_sets(execution, self.has_costs(), end);
        let mut trail = Trail::new(self, target, execution);
        let start = trail.start;
        if diverged {
            // The last thread chosen turned out to be blocked, so any other thread may be needed instead.
            backtrack_sets.insert(start, Backtrack::All);
        }
        let mut targets = Vec::new();
        // The prefix that is held: first the target's, then its extensions.
        let mut held = target;
        while let Some(decision) = trail.next() {
            let is_new = decision.at > start;
            if is_new {
                trail.moment.prefix = held;
                self.exhausted(&decision);
                self.left_out += trail.decisions.others().count() as u64;
            }
            // If the strategy chose a sleeping thread, the alternatives matter. If every switch costs something, each turn
            // uses up a turn of another thread, even without a conflict.
            let sleeper = trail.chose_sleeper(&decision);
            let takes = exceeds && self.kind == BoundKind::Switches && decision.step != Step::Stay;
            let backtrack = if sleeper || takes { Some(&Backtrack::All) } else { backtrack_sets.get(&decision.at) };
            self.branch(&trail, backtrack, &decision, &mut targets);
            if trail.traversal.happens(&decision) {
                self.tried.went_on((trail.moment.prefix, decision.at), decision.to);
            }
            let goes_on = trail.pass(&decision, self);
            // Everything beyond the bound follows a choice that exceeds it.
            self.seen.cut_off |= trail.moment.cost > self.last_bound;
            if !goes_on || diverged && decision.at == start {
                break;
            }
            if is_new && decision.logged {
                let Moment { cost, own, .. } = trail.moment;
                let last = Last { own, ..Last::new(decision.at, decision.to, decision.code, cost) };
                let Some(next) = self.prefix(held, last) else { break };
                self.trie.release(held);
                held = next;
            }
        }
        if diverged {
            targets.extend(self.trie.after_time_out(target, execution));
        } else {
            self.trie.release(held);
        }
        targets
    }

    /// Returns the event from which on the execution is not explored, and whether the bound is the reason.
    fn end(&self, target: PrefixId, execution: &Execution) -> (EventNumber, bool) {
        let mut trail = Trail::new(self, target, execution);
        while let Some(decision) = trail.next() {
            if !trail.pass(&decision, self) {
                return (decision.at, trail.moment.cost > self.last_bound);
            }
        }
        (EventNumber::NEVER, false)
    }

    /// Returns whether schedules have a cost.
    fn has_costs(&self) -> bool {
        self.last_bound != u32::MAX
    }

    /// Returns the key of a state, which all parts of a divided search agree on.
    fn key(&self, trail: &Trail<'_>, decision: &Decision) -> Option<u128> {
        (!self.part.is_whole()).then(|| trail.traversal.key(decision, &trail.decisions, true))
    }

    /// Extends a prefix by one switch.
    fn prefix(&mut self, before: PrefixId, last: Last) -> Option<PrefixId> {
        let prefix = self.trie.child(before, last);
        match prefix {
            Some(prefix) => self.tried.forget(prefix),
            None => self.seen.dropped = true,
        }
        prefix
    }

    /// Makes targets of those choices in the backtrack set that were not tried yet.
    fn branch(
        &mut self,
        trail: &Trail<'_>,
        backtrack: Option<&Backtrack>,
        decision: &Decision,
        targets: &mut Vec<PrefixId>,
    ) {
        let Trail { decisions, traversal, moment, .. } = trail;
        // The schedules common to all parts must not depend on what one part sees.
        let common = !moment.own && !self.part.is_whole();
        let all = common || backtrack.is_some_and(|backtrack| !self.is_possible(backtrack, trail, decision));
        let none = match backtrack {
            _ if all => false,
            Some(Backtrack::Threads(threads)) => threads.iter().all(|&thread| thread == decision.to),
            _ => true,
        };
        // The first choice explored must be one of minimal cost.
        let cheapest = if self.cost_of(decision.step) == 0 { None } else { self.cheapest(decisions) };
        if none && cheapest.is_none() {
            return;
        }
        let went_on = traversal.went_on(decision);
        let made = Choice { thread: decision.to, went_on: traversal.happens(decision) };
        for (thread, step) in decisions.others() {
            let is_tried = all
                || cheapest == Some(thread)
                || matches!(backtrack, Some(Backtrack::Threads(threads)) if threads.contains(&thread));
            if !is_tried {
                continue;
            }
            let begins = !moment.own && matches!(step, Step::Preemption | Step::Unfair);
            let key = if begins { self.key(trail, decision) } else { None };
            if key.is_some_and(|key| !self.part.owns(part_hash(key, thread))) {
                continue;
            }
            self.note_choice(step, decisions.is_spurious(thread));
            let cost = moment.cost + self.cost_of(step);
            if cost > self.last_bound {
                self.seen.cut_off = true;
            } else if !traversal.is_asleep(thread) && self.tried.add((moment.prefix, decision.at), made, thread) {
                let (own, early) = (moment.own || begins, went_on && step == Step::Preemption);
                let last = Last { own, early, ..Last::new(decision.at, thread, decision.code, cost) };
                if let Some(target) = self.prefix(moment.prefix, last) {
                    self.left_out = self.left_out.saturating_sub(1);
                    self.add(target, targets);
                }
            }
        }
    }

    /// Returns an alternative that costs nothing, if there is one.
    fn cheapest(&self, decisions: &Decisions<'_>) -> Option<ThreadId> {
        decisions.others().find(|&(_, step)| self.cost_of(step) == 0).map(|(thread, _)| thread)
    }

    /// Returns whether every thread of the backtrack set can be chosen. With a bound, ignoring a yield or letting time pass
    /// does not count, because its cost can be avoided by running other threads first. A sleeping thread does not count
    /// either: schedules that begin with its next operation are explored elsewhere, but not those where others run first and
    /// change what the operation does.
    fn is_possible(&self, backtrack: &Backtrack, trail: &Trail<'_>, decision: &Decision) -> bool {
        let has_costs = self.has_costs();
        let can = |thread: ThreadId| {
            let mut others = trail.decisions.others().filter(|(_, step)| !has_costs || *step != Step::Unfair);
            others.any(|(other, _)| other == thread) && !trail.traversal.is_asleep(thread)
        };
        match backtrack {
            Backtrack::Threads(threads) => threads.iter().all(|&thread| thread == decision.to || can(thread)),
            Backtrack::All => false,
        }
    }
}
