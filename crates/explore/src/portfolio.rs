//! Several analyses in one campaign.

use crate::{Analysis, Execution, Plan, Rank};
use std::collections::VecDeque;

/// Analyses that share the executions of a campaign, each with its own waitlist.
///
/// A single analysis is a portfolio of one, so the campaign has one way of working only. What kind of targets a
/// member has is not visible from outside.
#[derive(Default)]
pub struct Portfolio {
    members: Vec<Share>,
}

struct Share {
    queue: Box<dyn Queue>,
    weight: i64,
    /// Executions it is owed.
    credit: i64,
}

impl Portfolio {
    /// One analysis alone.
    #[must_use]
    pub fn of<A: Analysis + 'static>(analysis: A) -> Self {
        Self::default().with(1, analysis)
    }

    /// Adds a member that gets executions in proportion to its weight, as long as it has targets.
    #[must_use]
    pub fn with<A: Analysis + 'static>(mut self, weight: u32, analysis: A) -> Self {
        let queue = Waitlist { analysis, waiting: Vec::new(), retries: Vec::new(), running: VecDeque::new() };
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

    /// What can be said about chances, of an analysis that is alone: where others share the executions it would say
    /// too little about the whole.
    pub(crate) fn chance(&self) -> Option<String> {
        if let [only] = &self.members[..] { only.queue.chance() } else { None }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.members.iter().map(|share| share.queue.waiting()).sum()
    }

    /// Whose target is next: of the members that have one, the one that is owed most.
    pub(crate) fn choose(&mut self) -> Option<usize> {
        let mut total = 0;
        let mut best: Option<usize> = None;
        for index in 0..self.members.len() {
            if self.members[index].queue.waiting() == 0 {
                continue;
            }
            total += self.members[index].weight;
            self.members[index].credit += self.members[index].weight;
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

/// What became of a target that was run.
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
    /// Number of targets that wait.
    fn waiting(&self) -> usize;
    /// Takes the next target: how often it was tried before, and its plan.
    fn take(&mut self) -> Option<(u32, Plan)>;
    /// Tells what became of the target that was taken first among those not yet told about.
    fn tell(&mut self, tries: u32, fate: Fate<'_>);
    /// Tells of an execution of another member.
    fn overhear(&mut self, execution: &Execution);
    /// See [`Analysis::guesses`].
    fn guesses(&self) -> bool;
    /// Goes on to the next stage, if there is one.
    fn next_stage(&mut self) -> bool;
    /// See [`Analysis::guarantee`].
    fn guarantee(&self) -> Option<String>;
    /// See [`Analysis::chance`].
    fn chance(&self) -> Option<String>;
    /// See [`Analysis::bound`].
    fn bound(&self) -> Option<u32>;
    /// See [`Analysis::rank`].
    fn rank(&self) -> Option<Rank>;
    /// See [`Analysis::covers_everything`].
    fn covers_everything(&self) -> bool;
}

/// Depth first: the target that came last is run first.
struct Waitlist<A: Analysis> {
    analysis: A,
    waiting: Vec<A::Target>,
    /// Targets to try again, with how often that was done. Kept apart because there are few.
    retries: Vec<(u32, A::Target)>,
    running: VecDeque<A::Target>,
}

impl<A: Analysis> Queue for Waitlist<A> {
    fn start(&mut self) {
        self.retries.clear();
        self.running.clear();
        self.waiting = self.analysis.initial_targets();
    }

    fn waiting(&self) -> usize {
        self.waiting.len() + self.retries.len()
    }

    fn take(&mut self) -> Option<(u32, Plan)> {
        let (tries, target) = self.retries.pop().or_else(|| self.waiting.pop().map(|target| (0, target)))?;
        let plan = self.analysis.plan(&target);
        self.running.push_back(target);
        Some((tries, plan))
    }

    fn tell(&mut self, tries: u32, fate: Fate<'_>) {
        let Some(target) = self.running.pop_front() else { return };
        match fate {
            Fate::Explored(execution) => self.waiting.extend(self.analysis.new_targets(&target, execution)),
            Fate::Again => self.retries.push((tries + 1, target)),
            Fate::Nothing => {}
        }
    }

    fn overhear(&mut self, execution: &Execution) {
        self.waiting.extend(self.analysis.other_targets(execution));
    }

    fn guesses(&self) -> bool {
        self.analysis.guesses()
    }

    fn next_stage(&mut self) -> bool {
        self.analysis.next_stage().map(|targets| self.waiting.extend(targets)).is_some()
    }

    fn guarantee(&self) -> Option<String> {
        self.analysis.guarantee()
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
}
