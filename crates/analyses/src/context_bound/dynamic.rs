//! The search that branches only where executions show that it matters, see [`crate::races`].
//!
//! A choice may be wanted at a moment long after the search came by: by an execution that begins like the one which
//! passed there first. So for every moment at which more than one thread was tried it is known who was. A moment is known
//! by the prefix that leads to it and the event that is decided about; what is known about it is of no use once no target
//! stands on that prefix.

use super::{BoundKind, ContextBound, of_part};
use crate::races::{Wanted, wants};
use crate::reduction::Way;
use crate::trie::{Last, PrefixId, ROOT};
use racehunter_explore::{Decision, Decisions, Execution, Loader, Outcome, Saver, Step, Unusable, decisions};
use racehunter_log::{EventNumber, ThreadId};
use std::collections::BTreeMap;

/// The threads that were tried at each moment, for moments with more than one.
#[derive(Default)]
pub(super) struct Tried(BTreeMap<PrefixId, BTreeMap<EventNumber, Vec<Choice>>>);

/// A thread that was tried.
#[derive(Clone, Copy)]
struct Choice {
    thread: ThreadId,
    /// What it did there is known not to have ended the program.
    went_on: bool,
}

impl Tried {
    /// Tries a thread at a moment at which `made` was chosen first. False when it was tried before.
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

    /// The program went on after what a thread did at a moment.
    fn went_on(&mut self, (prefix, at): (PrefixId, EventNumber), thread: ThreadId) {
        let tried = self.0.get_mut(&prefix).and_then(|moments| moments.get_mut(&at));
        let choice = tried.and_then(|tried| tried.iter_mut().find(|choice| choice.thread == thread));
        choice.into_iter().for_each(|choice| choice.went_on = true);
    }

    /// Who was tried at a moment before this thread was, and did not end the program.
    fn before(&self, moment: (PrefixId, EventNumber), thread: ThreadId) -> impl Iterator<Item = ThreadId> {
        let tried = self.at(moment);
        let number = tried.iter().position(|choice| choice.thread == thread).unwrap_or(0);
        tried[..number].iter().filter(|choice| choice.went_on).map(|choice| choice.thread)
    }

    /// The number of a prefix stands for another one from now on.
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

/// A moment on the way of an execution.
#[derive(Clone, Copy)]
struct Moment {
    /// The switches before it.
    prefix: PrefixId,
    /// What they cost.
    cost: u32,
    /// They are in the part of a divided search that is done here.
    own: bool,
}

/// The way of an execution through the search.
struct Trail<'e> {
    decisions: Decisions<'e>,
    way: Way<'e>,
    /// The beginnings of its target that lie ahead.
    beginnings: std::iter::Peekable<std::vec::IntoIter<(EventNumber, PrefixId)>>,
    /// The event that the last switch of its target is about.
    start: EventNumber,
    /// See [`Execution::waits_again`].
    again: EventNumber,
    moment: Moment,
}

impl<'e> Trail<'e> {
    fn new(search: &ContextBound, target: PrefixId, execution: &'e Execution) -> Self {
        Self {
            decisions: decisions(execution),
            way: Way::new(execution, search.trie.early(target)),
            beginnings: search.trie.path(target).into_iter().peekable(),
            start: search.trie.last(target).at,
            again: execution.waits_again().unwrap_or(EventNumber::NEVER),
            moment: Moment { prefix: ROOT, cost: 0, own: false },
        }
    }

    /// On to the moment of the next decision.
    fn next(&mut self) -> Option<Decision> {
        let decision = self.decisions.next()?;
        while let Some((_, prefix)) = self.beginnings.next_if(|&(at, _)| at < decision.at) {
            self.moment.prefix = prefix;
        }
        self.way.reach(decision.at);
        Some(decision)
    }

    /// Whether the strategy has chosen a thread that sleeps.
    fn chose_sleeper(&self, decision: &Decision) -> bool {
        decision.at >= self.start && self.way.is_asleep(decision.to)
    }

    /// Behind a decision. False when nothing is to be explored there.
    fn pass(&mut self, decision: &Decision, search: &ContextBound) -> bool {
        let (before, is_new) = (self.moment, decision.at > self.start);
        self.moment.cost += search.cost_of(decision.step);
        self.moment.own |= matches!(decision.step, Step::Preemption | Step::Unfair);
        let key = if before.own { None } else { search.key(self, decision) };
        let of_others = self.moment.own && key.is_some_and(|key| !search.part.owns(of_part(key, decision.to)));
        if decision.at > self.again
            || is_new && of_others
            || self.moment.cost > search.last_bound
            || self.chose_sleeper(decision)
        {
            return false;
        }
        self.way.decide(decision, self.decisions.time_passes());
        if !search.has_prices() {
            // A thread that was tried here before need not be tried again until it makes a difference.
            let earlier = search.tried.before((before.prefix, decision.at), decision.to);
            for thread in earlier.filter(|thread| self.decisions.ready().any(|ready| ready == *thread)) {
                self.way.sleep(thread);
            }
        }
        true
    }
}

impl ContextBound {
    /// The targets that an execution shows to be needed.
    pub(super) fn dynamic_targets(&mut self, target: PrefixId, execution: &Execution) -> Vec<PrefixId> {
        let diverged = matches!(execution.outcome, Outcome::Diverged(_));
        let (end, exceeds) = self.end(target, execution);
        let mut wants = wants(execution, self.has_prices(), end);
        let mut trail = Trail::new(self, target, execution);
        let start = trail.start;
        if diverged {
            // Who was chosen last turned out to wait. So it could not go on, and anybody else may be needed.
            wants.insert(start, Wanted::All);
        }
        let mut targets = Vec::new();
        // The prefix that is held: that of the target, then what follows it.
        let mut held = target;
        while let Some(decision) = trail.next() {
            let is_new = decision.at > start;
            if is_new {
                trail.moment.prefix = held;
                self.exhausted(&decision);
                self.left_out += trail.decisions.others().count() as u64;
            }
            // Where a sleeper was chosen, what matters is what others do. If every switch has a price, each turn takes that of
            // another thread away, which need not conflict with it.
            let sleeper = trail.chose_sleeper(&decision);
            let takes = exceeds && self.kind == BoundKind::Switches && decision.step != Step::Stay;
            let wanted = if sleeper || takes { Some(&Wanted::All) } else { wants.get(&decision.at) };
            self.branch(&trail, wanted, &decision, &mut targets);
            if trail.way.happens(&decision) {
                self.tried.went_on((trail.moment.prefix, decision.at), decision.to);
            }
            let goes_on = trail.pass(&decision, self);
            // Everything beyond the bound follows a choice that is beyond it.
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

    /// The event from which on nothing of an execution is to be explored, and whether that is beyond the bound.
    fn end(&self, target: PrefixId, execution: &Execution) -> (EventNumber, bool) {
        let mut trail = Trail::new(self, target, execution);
        while let Some(decision) = trail.next() {
            if !trail.pass(&decision, self) {
                return (decision.at, trail.moment.cost > self.last_bound);
            }
        }
        (EventNumber::NEVER, false)
    }

    /// Whether it matters what a schedule costs.
    fn has_prices(&self) -> bool {
        self.last_bound != u32::MAX
    }

    /// What tells a moment from others in all parts of a divided search.
    fn key(&self, trail: &Trail<'_>, decision: &Decision) -> Option<u128> {
        (!self.part.is_whole()).then(|| trail.way.key(decision, &trail.decisions, true))
    }

    /// A prefix with one more switch.
    fn prefix(&mut self, before: PrefixId, last: Last) -> Option<PrefixId> {
        let prefix = self.trie.child(before, last);
        match prefix {
            Some(prefix) => self.tried.forget(prefix),
            None => self.seen.dropped = true,
        }
        prefix
    }

    /// Makes targets of the choices at a moment that are wanted and were not tried yet.
    fn branch(&mut self, trail: &Trail<'_>, wanted: Option<&Wanted>, decision: &Decision, targets: &mut Vec<PrefixId>) {
        let Trail { decisions, way, moment, .. } = trail;
        // What is common to all parts must not depend on what one of them sees.
        let common = !moment.own && !self.part.is_whole();
        let all = common || wanted.is_some_and(|wanted| !self.is_possible(wanted, trail, decision));
        let none = match wanted {
            _ if all => false,
            Some(Wanted::Threads(threads)) => threads.iter().all(|&thread| thread == decision.to),
            _ => true,
        };
        // What is explored must begin with something that costs as little as possible.
        let cheapest = if self.cost_of(decision.step) == 0 { None } else { self.cheapest(decisions) };
        if none && cheapest.is_none() {
            return;
        }
        let went_on = way.went_on(decision);
        let made = Choice { thread: decision.to, went_on: way.happens(decision) };
        for (thread, step) in decisions.others() {
            let is_wanted = all
                || cheapest == Some(thread)
                || matches!(wanted, Some(Wanted::Threads(threads)) if threads.contains(&thread));
            if !is_wanted {
                continue;
            }
            let begins = !moment.own && matches!(step, Step::Preemption | Step::Unfair);
            let key = if begins { self.key(trail, decision) } else { None };
            if key.is_some_and(|key| !self.part.owns(of_part(key, thread))) {
                continue;
            }
            self.sees(step, decisions.is_spurious(thread));
            let cost = moment.cost + self.cost_of(step);
            if cost > self.last_bound {
                self.seen.cut_off = true;
            } else if !way.is_asleep(thread) && self.tried.add((moment.prefix, decision.at), made, thread) {
                let (own, early) = (moment.own || begins, went_on && step == Step::Preemption);
                let last = Last { own, early, ..Last::new(decision.at, thread, decision.code, cost) };
                if let Some(target) = self.prefix(moment.prefix, last) {
                    self.left_out = self.left_out.saturating_sub(1);
                    self.add(target, targets);
                }
            }
        }
    }

    /// One of the other choices that cost nothing.
    fn cheapest(&self, decisions: &Decisions<'_>) -> Option<ThreadId> {
        decisions.others().find(|&(_, step)| self.cost_of(step) == 0).map(|(thread, _)| thread)
    }

    /// Whether all who are wanted can be chosen. To ignore a yield, or to let time pass, has a price that others may spare
    /// them by going first: with prices, that does not count. Nor does a thread that sleeps: what begins with its next
    /// operation is explored elsewhere, but others who are to change what that does are not wanted there.
    fn is_possible(&self, wanted: &Wanted, trail: &Trail<'_>, decision: &Decision) -> bool {
        let prices = self.has_prices();
        let can = |thread: ThreadId| {
            let mut others = trail.decisions.others().filter(|(_, step)| !prices || *step != Step::Unfair);
            others.any(|(other, _)| other == thread) && !trail.way.is_asleep(thread)
        };
        match wanted {
            Wanted::Threads(threads) => threads.iter().all(|&thread| thread == decision.to || can(thread)),
            Wanted::All => false,
        }
    }
}
