//! How the next schedules are chosen.

use crate::{Execution, Loader, Part, Plan, Saver, Unusable};

/// Further bounds of a stage, besides the number of preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Variables at which threads are preempted.
    pub variables: u32,
    /// Threads that take part in preemptions.
    pub threads: u32,
    /// Iterations of a loop that have allocated the variables; 0 when none is on the heap.
    pub iterations: u32,
}

/// How much of the waiting work another campaign gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of the part. No two parts of a campaign have the same.
    pub number: u64,
    /// The number of parts that the waiting targets are meant for, of which this is one.
    pub of: usize,
    /// Targets, at most.
    pub most: usize,
}

impl Share {
    /// The number of the first of endlessly many executions that a part makes up. They are those of no other part, and not
    /// of the campaign that lends it.
    #[must_use]
    pub fn first_number(self) -> u64 {
        self.number.wrapping_add(1) << 32
    }

    /// Takes its share out of the waiting targets: every n-th one, because neighbours are alike in size.
    pub fn take<T>(self, waiting: &mut Vec<T>) -> Vec<T> {
        let every = self.of.max(waiting.len().div_ceil(self.most.max(1))).max(1);
        let mut numbers = 0..;
        waiting.extract_if(.., |_| numbers.next().is_some_and(|number: usize| number.is_multiple_of(every))).collect()
    }
}

/// A technique of exploration, in the form of the RaceHunter framework (2025): it has targets, says how to run for a
/// target, and derives new targets from what happened. The [`crate::Campaign`] does the rest.
///
/// An implementation reads no clock, does no input or output, and takes randomness only from its seed.
pub trait Analysis {
    /// The objective of one execution.
    type Target: Clone;

    /// The targets to start from (the paper's `GetInitialTarget`).
    fn initial_targets(&mut self) -> Vec<Self::Target>;

    /// How to run for this target (the paper's `Transfer`, as data).
    fn plan(&self, target: &Self::Target) -> Plan;

    /// Targets that this execution opens up (the paper's `GetNewTargets`). The campaign runs the last one first.
    ///
    /// An execution that diverged is passed on only when the last thread that the plan chose turned out to wait; the
    /// log then ends with that.
    fn new_targets(&mut self, target: &Self::Target, execution: &Execution) -> Vec<Self::Target>;

    /// Nothing will come of this target: no execution could follow its plan. Targets that take its place.
    fn give_up(&mut self, _target: &Self::Target) -> Vec<Self::Target> {
        Vec::new()
    }

    /// Targets that an execution opens up which another analysis of the portfolio has run.
    fn other_targets(&mut self, _execution: &Execution) -> Vec<Self::Target> {
        Vec::new()
    }

    /// Whether plans are guesses, not schedules that are known to be possible. One that cannot be followed then says
    /// nothing about the program, and is not tried again.
    fn guesses(&self) -> bool {
        false
    }

    /// Whether what was seen last takes the ground from what was done so far, so that it has to start again. Asked after
    /// [`Analysis::new_targets`].
    fn starts_again(&mut self) -> bool {
        false
    }

    /// The waitlist is empty: go on to the next stage (a higher bound), or `None` after the last. The targets of
    /// the stage are returned.
    fn next_stage(&mut self) -> Option<Vec<Self::Target>> {
        None
    }

    /// How many times the executions that others get, in a portfolio, its next targets are worth.
    fn weight(&self) -> u32 {
        1
    }

    /// What it means in words when all targets so far were explored: `all schedules with <= 2 preemptions`. `None`
    /// for techniques that never cover anything, such as random walks.
    fn guarantee(&self) -> Option<String> {
        None
    }

    /// Whether it may ever guarantee something. One that does not now, because targets are left that it will come to, starts
    /// again like the others when there are more points.
    fn may_claim(&self) -> bool {
        self.guarantee().is_some()
    }

    /// Whether its guarantee is about the bugs of the program, and so a proof that it has no other. A guarantee about what
    /// was tried proves nothing.
    fn proves(&self) -> bool {
        true
    }

    /// What can be said about chances, for techniques that cover nothing for certain but have a known chance to find a
    /// bug.
    fn chance(&self) -> Option<String> {
        None
    }

    /// The bound that the current stage explores, for techniques that have one.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// The other bounds of the current stage, for techniques that have them.
    fn rank(&self) -> Option<Rank> {
        None
    }

    /// True when no schedule at all is left once the targets so far are explored: nothing was cut off by a bound.
    fn covers_everything(&self) -> bool {
        false
    }

    /// Executions that are probably left in the current stage, given how many targets wait.
    fn remaining(&self, _waiting: usize) -> Option<u64> {
        None
    }

    /// Targets that were left out because others show the same.
    fn left_out(&self) -> u64 {
        0
    }

    /// Takes over one part of the work: from now on only targets of that part are given out, and those that all parts
    /// need. The parts together must cover what the whole would. False when the work cannot be split; each part does
    /// all of it then.
    fn split(&mut self, _part: Part) -> bool {
        false
    }

    /// Whether every part runs this target; only asked of those that [`Analysis::split`].
    fn is_common(&self, _target: &Self::Target) -> bool {
        false
    }

    /// Whether other campaigns can do its work: whether [`Analysis::lend`] and [`Analysis::take_back`] are there.
    fn lends(&self) -> bool {
        false
    }

    /// Moves a share of the waiting targets into an analysis of its own, which another campaign explores. Returns that
    /// analysis and its targets. An analysis that makes its targets up, such as a random walk, returns one that makes
    /// other choices than all others.
    fn lend(&mut self, _waiting: &mut Vec<Self::Target>, _share: Share) -> Option<(Self, Vec<Self::Target>)>
    where
        Self: Sized,
    {
        None
    }

    /// Takes back an analysis that [`Analysis::lend`] has returned, after another campaign has explored some of it, with
    /// the targets that still wait there. Returns these targets as its own.
    fn take_back(&mut self, _part: Self, _waiting: Vec<Self::Target>) -> Vec<Self::Target>
    where
        Self: Sized,
    {
        Vec::new()
    }

    /// Whether [`Analysis::save`] and [`Analysis::load`] are there. An analysis without them starts again when its
    /// campaign is resumed.
    const SAVES: bool = false;

    /// Writes its state and its targets, which are those that wait.
    fn save(&self, _targets: &mut dyn Iterator<Item = &Self::Target>, _out: &mut Saver<'_>) {}

    /// Takes over a state; returns the targets that were saved with it.
    ///
    /// # Errors
    /// When the input is damaged.
    fn load(&mut self, _input: &mut Loader<'_>) -> Result<Vec<Self::Target>, Unusable> {
        Err(Unusable::Other)
    }
}
