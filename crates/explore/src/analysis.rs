//! How the next schedules are chosen.

use crate::{Execution, Loader, Part, Plan, Saver, Unusable};

/// Further bounds of a stage, besides the number of preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Number of variables at which threads are preempted.
    pub variables: u32,
    /// Number of threads that take part in preemptions.
    pub threads: u32,
    /// Number of loop iterations that allocated the variables; 0 if none is on the heap.
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

/// An exploration technique, in the form of the RaceHunter framework (2025): it has targets, makes a plan for each target,
/// and derives new targets from executions. The [`crate::Campaign`] does the rest.
///
/// An implementation reads no clock, does no I/O, and takes randomness only from its seed.
pub trait Analysis {
    /// The objective of one execution.
    type Target: Clone;

    /// The targets to start from (the paper's `GetInitialTarget`).
    fn initial_targets(&mut self) -> Vec<Self::Target>;

    /// Returns the plan for this target (the paper's `Transfer`, as data).
    fn plan(&self, target: &Self::Target) -> Plan;

    /// Returns the targets that follow from this execution (the paper's `GetNewTargets`). The campaign runs the last one
    /// first.
    ///
    /// A diverged execution is passed on only if the last thread that the plan chose turned out to be blocked; the log
    /// then ends there.
    fn new_targets(&mut self, target: &Self::Target, execution: &Execution) -> Vec<Self::Target>;

    /// Called if no execution could follow the plan of this target. Returns targets that replace it.
    fn give_up(&mut self, _target: &Self::Target) -> Vec<Self::Target> {
        Vec::new()
    }

    /// Returns the targets that follow from an execution of another analysis in the portfolio.
    fn other_targets(&mut self, _execution: &Execution) -> Vec<Self::Target> {
        Vec::new()
    }

    /// Whether [`Analysis::other_targets`] may look at accesses in the log of the execution of others that comes after this many
    /// further ones. If not, the log may be brief: see [`Plan::brief`].
    fn reads_other_log(&self, _after: u64) -> bool {
        true
    }

    /// Returns whether plans are guesses, not schedules known to be possible. A guess that cannot be followed says nothing
    /// about the program, and is not tried again.
    fn guesses(&self) -> bool {
        false
    }

    /// Returns whether the last execution invalidated the search, so that it has to start again. Called after
    /// [`Analysis::new_targets`].
    fn starts_again(&mut self) -> bool {
        false
    }

    /// Called when the waitlist is empty. Starts the next stage (a higher bound) and returns its targets, or `None` after
    /// the last stage.
    fn next_stage(&mut self) -> Option<Vec<Self::Target>> {
        None
    }

    /// Returns the weight of its next targets in a portfolio, relative to other analyses.
    fn weight(&self) -> u32 {
        1
    }

    /// Returns in words what holds once all targets so far are explored: `all schedules with <= 2 preemptions`. `None` for
    /// techniques that never cover anything, such as random walks.
    fn guarantee(&self) -> Option<String> {
        None
    }

    /// Whether it may ever guarantee something. One that does not now, because targets are left that it will come to, starts
    /// again like the others when there are more points.
    fn may_claim(&self) -> bool {
        self.guarantee().is_some()
    }

    /// Returns whether its guarantee covers the bugs of the program and so proves that there are no others. A guarantee
    /// about what was tried proves nothing.
    fn proves(&self) -> bool {
        true
    }

    /// Returns in words the probability of having found a bug, for techniques that cover nothing for certain but have a
    /// known probability.
    fn chance(&self) -> Option<String> {
        None
    }

    /// Returns the bound of the current stage, for techniques that have one.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// Returns the other bounds of the current stage, for techniques that have them.
    fn rank(&self) -> Option<Rank> {
        None
    }

    /// Returns whether no schedule at all is left once the targets so far are explored: no bound cut anything off.
    fn covers_everything(&self) -> bool {
        false
    }

    /// Returns the estimated number of executions left in the current stage, given the number of waiting targets.
    fn remaining(&self, _waiting: usize) -> Option<u64> {
        None
    }

    /// Returns the number of redundant targets left out.
    fn left_out(&self) -> u64 {
        0
    }

    /// Restricts the analysis to one part of the work: from now on it returns only targets of that part and those that all
    /// parts need. The parts together must cover what the whole would. Returns false if the work cannot be split; each
    /// part then does all of it.
    fn split(&mut self, _part: Part) -> bool {
        false
    }

    /// Returns whether every part runs this target. Only called if [`Analysis::split`] returned true.
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

    /// Whether [`Analysis::save`] and [`Analysis::load`] are implemented. Otherwise the analysis starts again when its
    /// campaign is resumed.
    const SAVES: bool = false;

    /// Writes its state and its waiting targets.
    fn save(&self, _targets: &mut dyn Iterator<Item = &Self::Target>, _out: &mut Saver<'_>) {}

    /// Loads a state. Returns the targets that were saved with it.
    ///
    /// # Errors
    ///
    /// If the input is damaged.
    fn load(&mut self, _input: &mut Loader<'_>) -> Result<Vec<Self::Target>, Unusable> {
        Err(Unusable::Other)
    }
}
