//! Several analyses in one campaign.

use crate::{Analysis, Execution, Loader, Part, Plan, Rank, Saver, Share as Lent, Unusable};
use std::any::Any;
use std::collections::VecDeque;

/// Analyses that share the executions of a campaign, each with its own waitlist.
///
/// A single analysis is a portfolio of one, so the campaign has only one mode. The target type of a member is not
/// visible outside.
#[derive(Default)]
pub struct Portfolio {
    members: Vec<Share>,
    /// Number of events of the first execution, 0 before it.
    first: u64,
}

/// An execution is charged once more for each multiple of this many times the first execution's length.
const LONG: u64 = 8;
/// An execution shorter than this is never long.
const SHORT: u64 = 1_000;

struct Share {
    queue: Box<dyn Queue>,
    weight: i64,
    /// Number of executions that it is owed.
    credit: i64,
}

impl Share {
    /// Returns its current weight.
    fn weight(&self) -> i64 {
        self.weight * i64::from(self.queue.weight())
    }
}

impl Portfolio {
    /// Creates a portfolio of one analysis.
    #[must_use]
    pub fn of<A: Analysis + 'static>(analysis: A) -> Self {
        Self::default().with(1, analysis)
    }

    /// Adds a member that gets executions in proportion to its weight, as long as it has targets.
    #[must_use]
    pub fn with<A: Analysis + 'static>(mut self, weight: u32, analysis: A) -> Self {
        let queue =
            Waitlist { analysis, waiting: Vec::new(), retries: Vec::new(), running: VecDeque::new(), splits: false };
        self.members.push(Share { queue: Box::new(queue), weight: i64::from(weight.max(1)), credit: 0 });
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn member(&mut self, index: usize) -> &mut dyn Queue {
        &mut *self.members[index].queue
    }

    pub(crate) fn guarantee(&self, index: usize) -> Option<String> {
        self.members[index].queue.guarantee()
    }

    pub(crate) fn proves(&self, index: usize) -> bool {
        self.members[index].queue.proves()
    }

    /// Returns the probability claim of a single analysis. If others share the executions, it would understate the
    /// whole.
    pub(crate) fn chance(&self) -> Option<String> {
        if let [only] = &self.members[..] { only.queue.chance() } else { None }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.members.iter().map(|share| share.queue.waiting()).sum()
    }

    /// Divides the work of every member that can be divided.
    pub(crate) fn split(&mut self, part: Part) {
        self.members.iter_mut().for_each(|share| share.queue.split(part));
    }

    /// Returns the [`Analysis::remaining`] of the first member with an estimate, around which the portfolio is built.
    pub(crate) fn remaining(&self) -> Option<u64> {
        self.members.iter().find_map(|share| share.queue.remaining())
    }

    /// See [`Analysis::left_out`].
    pub(crate) fn left_out(&self) -> u64 {
        self.members.iter().map(|share| share.queue.left_out()).sum()
    }

    /// Charges a member for an execution of this many events. Members share the effort, not the number of executions:
    /// one whose executions spin for long would take the time of all others.
    pub(crate) fn charge(&mut self, member: usize, events: u64) {
        if self.first == 0 {
            self.first = events.max(SHORT);
        }
        let more = i64::try_from(events / self.first.saturating_mul(LONG)).unwrap_or(i64::MAX);
        let total: i64 = self.members.iter().map(Share::weight).sum();
        let credit = &mut self.members[member].credit;
        *credit = credit.saturating_sub(total.saturating_mul(more));
    }

    pub(crate) fn save(&self, out: &mut Saver<'_>) {
        out.number(self.first);
        out.count(self.members.len());
        for Share { queue, credit, .. } in &self.members {
            // The sign goes to the lowest bit.
            out.number(credit.unsigned_abs() << 1 | u64::from(*credit < 0));
            queue.save(out);
        }
    }

    /// Whether other campaigns can do the work of every member.
    pub(crate) fn lends(&self) -> bool {
        self.members.iter().all(|share| share.queue.lends())
    }

    /// Writes a portfolio that has a share of the targets, in the form of [`Portfolio::save`]. Returns for each member how
    /// many targets it got.
    pub(crate) fn lend(&mut self, share: Lent, out: &mut Saver<'_>) -> Vec<usize> {
        out.number(self.first);
        out.count(self.members.len());
        let lend = |member: &mut Share| {
            // Nothing is owed yet.
            out.number(0_u8);
            member.queue.lend(share, out)
        };
        self.members.iter_mut().map(lend).collect()
    }

    /// Takes back a portfolio that was lent.
    pub(crate) fn take_back(&mut self, part: Self, has_restarted: bool) {
        for (own, part) in self.members.iter_mut().zip(part.members) {
            if has_restarted && own.queue.may_claim() {
                own.queue = part.queue;
            } else {
                own.queue.take_back(part.queue.into_any());
            }
        }
    }

    /// Loads a state. Returns for each member whether it continues rather than starting again.
    pub(crate) fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<bool>, Unusable> {
        let mut resumed = Vec::new();
        self.first = input.number()?;
        if input.number()? != self.members.len() as u64 {
            return Err(Unusable::Other);
        }
        for Share { queue, credit, .. } in &mut self.members {
            let number = input.number()?;
            let size = (number >> 1) as i64;
            *credit = if number & 1 == 0 { size } else { -size };
            resumed.push(queue.load(input)?);
        }
        Ok(resumed)
    }

    /// Whether a member other than this one may look at the accesses of its next execution. `before` are the members whose
    /// executions come first.
    pub(crate) fn others_read_log(&self, member: usize, before: impl Iterator<Item = usize> + Clone) -> bool {
        let reads = |other: usize, share: &Share| {
            let after = before.clone().filter(|&earlier| earlier != other).count();
            share.queue.reads_other_log(after as u64)
        };
        self.members.iter().enumerate().any(|(other, share)| other != member && reads(other, share))
    }

    /// Returns the member that runs next: of those with a target, the one that is owed most.
    pub(crate) fn choose(&mut self) -> Option<usize> {
        let mut total = 0;
        let mut best: Option<usize> = None;
        for index in 0..self.members.len() {
            if self.members[index].queue.waiting() == 0 {
                continue;
            }
            let weight = self.members[index].weight();
            total += weight;
            self.members[index].credit += weight;
            if best.is_none_or(|best| self.members[index].credit > self.members[best].credit) {
                best = Some(index);
            }
        }
        if let Some(best) = best {
            self.members[best].credit -= total;
        }
        best
    }
}

/// The result of running a target.
pub(crate) enum Fate<'a> {
    /// It was explored.
    Explored(&'a Execution),
    /// It should be tried again.
    Again,
    /// Nothing follows from it.
    Nothing,
}

/// An analysis with its waitlist.
pub(crate) trait Queue {
    /// Forgets everything and starts with the initial targets.
    fn start(&mut self);
    /// Returns the number of waiting targets.
    fn waiting(&self) -> usize;
    /// Takes the next target.
    fn take(&mut self) -> Option<Taken>;
    /// Reports the result of the oldest target taken and not yet reported. Returns true if everything starts again
    /// because of it.
    fn tell(&mut self, tries: u32, fate: Fate<'_>) -> bool;
    /// Passes on an execution of another member.
    fn overhear(&mut self, execution: &Execution);
    /// See [`Analysis::reads_other_log`].
    fn reads_other_log(&self, after: u64) -> bool;
    /// See [`Analysis::guesses`].
    fn guesses(&self) -> bool;
    /// See [`Analysis::weight`].
    fn weight(&self) -> u32;
    /// Returns the targets taken and not reported to the waitlist.
    fn put_back(&mut self);
    /// Starts the next stage, if there is one.
    fn next_stage(&mut self) -> bool;
    /// See [`Analysis::guarantee`].
    fn guarantee(&self) -> Option<String>;
    /// See [`Analysis::may_claim`].
    fn may_claim(&self) -> bool;
    /// See [`Analysis::proves`].
    fn proves(&self) -> bool;
    /// See [`Analysis::chance`].
    fn chance(&self) -> Option<String>;
    /// See [`Analysis::bound`].
    fn bound(&self) -> Option<u32>;
    /// See [`Analysis::rank`].
    fn rank(&self) -> Option<Rank>;
    /// See [`Analysis::covers_everything`].
    fn covers_everything(&self) -> bool;
    /// See [`Analysis::split`].
    fn split(&mut self, part: Part);
    /// See [`Analysis::remaining`].
    fn remaining(&self) -> Option<u64>;
    /// See [`Analysis::left_out`].
    fn left_out(&self) -> u64;
    /// Writes everything; no target may be running.
    fn save(&self, out: &mut Saver<'_>);
    /// Loads a state. Returns false if the analysis has to start again.
    fn load(&mut self, input: &mut Loader<'_>) -> Result<bool, Unusable>;
    /// Returns whether the work is divided.
    fn splits(&self) -> bool;
    /// See [`Analysis::lends`].
    fn lends(&self) -> bool;
    /// Writes a queue that has a share of the targets, in the form of [`Queue::save`]. Returns how many these are.
    fn lend(&mut self, share: Lent, out: &mut Saver<'_>) -> usize;
    /// Takes back a queue that was lent.
    fn take_back(&mut self, part: Box<dyn Any>);
    /// As a value whose type can be asked for.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// A target to run.
pub(crate) struct Taken {
    /// How often it was tried before.
    pub tries: u32,
    /// Its plan.
    pub plan: Plan,
    /// Whether every part of a divided campaign runs it.
    pub common: bool,
}

/// Depth first: the latest target is run first.
struct Waitlist<A: Analysis> {
    analysis: A,
    waiting: Vec<A::Target>,
    /// Targets to try again, with their number of tries. Separate because there are few.
    retries: Vec<(u32, A::Target)>,
    running: VecDeque<A::Target>,
    /// Whether the work is divided.
    splits: bool,
}

impl<A: Analysis + 'static> Waitlist<A> {
    /// Targets that are to be tried again wait like the others.
    fn gather(&mut self) {
        self.waiting.extend(self.retries.drain(..).map(|(_, target)| target));
    }
}

impl<A: Analysis + 'static> Queue for Waitlist<A> {
    fn start(&mut self) {
        self.retries.clear();
        self.running.clear();
        self.waiting = self.analysis.initial_targets();
    }

    fn waiting(&self) -> usize {
        self.waiting.len() + self.retries.len()
    }

    fn take(&mut self) -> Option<Taken> {
        let (tries, target) = self.retries.pop().or_else(|| self.waiting.pop().map(|target| (0, target)))?;
        let plan = self.analysis.plan(&target);
        let common = !self.splits || self.analysis.is_common(&target);
        self.running.push_back(target);
        Some(Taken { tries, plan, common })
    }

    fn tell(&mut self, tries: u32, fate: Fate<'_>) -> bool {
        let Some(target) = self.running.pop_front() else { return false };
        match fate {
            Fate::Explored(execution) => self.waiting.extend(self.analysis.new_targets(&target, execution)),
            Fate::Again => self.retries.push((tries + 1, target)),
            Fate::Nothing => self.waiting.extend(self.analysis.give_up(&target)),
        }
        let again = self.analysis.starts_again();
        if again {
            self.start();
        }
        again
    }

    fn put_back(&mut self) {
        self.waiting.extend(self.running.drain(..).rev());
    }

    fn overhear(&mut self, execution: &Execution) {
        self.waiting.extend(self.analysis.other_targets(execution));
    }

    fn reads_other_log(&self, after: u64) -> bool {
        self.analysis.reads_other_log(after)
    }

    fn guesses(&self) -> bool {
        self.analysis.guesses()
    }

    fn weight(&self) -> u32 {
        self.analysis.weight()
    }

    fn next_stage(&mut self) -> bool {
        self.analysis.next_stage().map(|targets| self.waiting.extend(targets)).is_some()
    }

    fn guarantee(&self) -> Option<String> {
        self.analysis.guarantee()
    }

    fn may_claim(&self) -> bool {
        self.analysis.may_claim()
    }

    fn proves(&self) -> bool {
        self.analysis.proves()
    }

    fn chance(&self) -> Option<String> {
        self.analysis.chance()
    }

    fn bound(&self) -> Option<u32> {
        self.analysis.bound()
    }

    fn rank(&self) -> Option<Rank> {
        self.analysis.rank()
    }

    fn covers_everything(&self) -> bool {
        self.analysis.covers_everything()
    }

    fn split(&mut self, part: Part) {
        self.splits = self.analysis.split(part);
    }

    fn remaining(&self) -> Option<u64> {
        self.analysis.remaining(self.waiting())
    }

    fn left_out(&self) -> u64 {
        self.analysis.left_out()
    }

    fn save(&self, out: &mut Saver<'_>) {
        out.number(A::SAVES);
        if A::SAVES {
            out.numbers(self.retries.iter().map(|(tries, _)| *tries));
            self.analysis.save(&mut self.waiting.iter().chain(self.retries.iter().map(|(_, target)| target)), out);
        }
    }

    fn splits(&self) -> bool {
        self.splits
    }

    fn lends(&self) -> bool {
        A::SAVES && self.analysis.lends()
    }

    fn lend(&mut self, share: Lent, out: &mut Saver<'_>) -> usize {
        self.gather();
        out.number(A::SAVES);
        let Some((analysis, targets)) = self.analysis.lend(&mut self.waiting, share) else { return 0 };
        // None of them was tried.
        out.count(0);
        analysis.save(&mut targets.iter(), out);
        targets.len()
    }

    fn take_back(&mut self, part: Box<dyn Any>) {
        let Ok(mut part) = part.downcast::<Self>() else { return };
        part.gather();
        let Self { analysis, waiting, .. } = *part;
        let waiting = self.analysis.take_back(analysis, waiting);
        self.waiting.extend(waiting);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<bool, Unusable> {
        if input.flag()? != A::SAVES {
            return Err(Unusable::Other);
        }
        if !A::SAVES {
            self.start();
            return Ok(false);
        }
        let tries: Vec<u32> = input.numbers()?;
        self.waiting = self.analysis.load(input)?;
        let first = self.waiting.len().checked_sub(tries.len()).ok_or(Unusable::Damaged)?;
        self.retries = tries.into_iter().zip(self.waiting.drain(first..)).collect();
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An analysis that always has something to run.
    struct Endless;

    impl Analysis for Endless {
        type Target = ();

        fn initial_targets(&mut self) -> Vec<()> {
            vec![(); 10_000]
        }

        fn plan(&self, (): &()) -> Plan {
            Plan::default()
        }

        fn new_targets(&mut self, (): &(), _: &Execution) -> Vec<()> {
            Vec::new()
        }
    }

    /// Returns how often each of two members is chosen, out of 900 times, given the length of their executions.
    fn chosen(events: [u64; 2]) -> [u32; 2] {
        let mut portfolio = Portfolio::of(Endless).with(1, Endless);
        (0..2).for_each(|member| portfolio.member(member).start());
        // The first execution sets the usual length.
        portfolio.charge(1, 2_000);
        let mut counts = [0; 2];
        for _ in 0..900 {
            let member = portfolio.choose().expect("both have targets");
            counts[member] += 1;
            portfolio.charge(member, events[member]);
        }
        counts
    }

    #[test]
    fn long_executions_count_as_several() {
        assert_eq!(chosen([2_000, 15_000]), [450, 450], "some are longer than others");
        let [long, short] = chosen([2_000 * 8 * 7, 2_000]);
        assert!((95..=120).contains(&long) && long + short == 900, "one of eight: {long}");
    }
}
