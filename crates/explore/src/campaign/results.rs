//! The results of a campaign, while it runs and at its end.

use crate::{Bug, Endings, Escape, Execution, Executor, ExecutorError, Plan, Rank, Switch};
use racehunter_finding::Coverage;
use racehunter_log::CodeAddress;

/// Follows a campaign while it runs. A function of [`Progress`] is a watcher that ignores bugs; see also [`OnBug`].
pub trait Watcher {
    /// The campaign made progress.
    fn progress(&mut self, progress: Progress);

    /// Called for a new bug. No execution is running, so the executor can be used to examine the bug; these executions do not
    /// count.
    fn bug(&mut self, found: &Found, executor: &mut dyn Executor);

    /// Returns whether there is time to learn from an execution with this many records. If not, the campaign ends as if the execution
    /// had been stopped.
    fn has_time_for(&mut self, _records: usize) -> bool {
        true
    }
}

impl<F: FnMut(Progress)> Watcher for F {
    fn progress(&mut self, progress: Progress) {
        self(progress);
    }

    fn bug(&mut self, _: &Found, _: &mut dyn Executor) {}
}

/// A function that is called for each new bug, and for nothing else.
pub struct OnBug<F>(pub F);

impl<F: FnMut(&Found, &mut dyn Executor)> Watcher for OnBug<F> {
    fn progress(&mut self, _: Progress) {}

    fn bug(&mut self, found: &Found, executor: &mut dyn Executor) {
        (self.0)(found, executor);
    }
}

/// The progress of a campaign.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// An execution was counted.
    Execution {
        /// Its number, from 1.
        number: u64,
        /// Number of waiting targets.
        waiting: usize,
        /// Estimated number of executions left in the current stage, if an analysis has an estimate.
        remaining: Option<u64>,
    },
    /// A stage of an analysis is finished.
    Stage {
        /// Its bound.
        bound: u32,
        /// Its other bounds, if it has any.
        rank: Option<Rank>,
        /// Number of executions of this and earlier stages, since the set of points last grew.
        executions: u64,
        /// Whether it left nothing open.
        complete: bool,
    },
    /// More accesses are points now. Analyses that claim to cover everything start again.
    Points {
        /// Number of new points.
        added: usize,
    },
}

/// A bug and the execution that showed it first.
#[derive(Clone, Debug)]
pub struct Found {
    /// The bug.
    pub bug: Bug,
    /// Number of the execution, from 1.
    pub execution: u64,
    /// The switches of the execution.
    pub switches: Vec<Switch>,
    /// The plan that repeats it exactly.
    pub repeat: Plan,
    /// Preemptions of the execution.
    pub preemptions: u64,
    /// The execution itself, without its accesses, if it ran freely: replaying it may not be possible.
    pub unreplayable: Option<Box<Execution>>,
}

/// Something that was not under control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escaped {
    /// The kind.
    pub what: Escape,
    /// The place, if known.
    pub code: CodeAddress,
    /// The object, see [`Escape`].
    pub object: u64,
    /// Number of executions in which it happened, without those that only looked for shared accesses.
    pub executions: u64,
}

/// Why a campaign ended.
#[derive(Debug)]
pub enum Stop {
    /// There is nothing left to explore.
    Exhausted,
    /// The executions of the budget are used up.
    Runs,
    /// The caller asked for it.
    Asked,
    /// A bug was found, and the first one was enough.
    FirstBug,
    /// The executor gave up.
    Failed(ExecutorError),
}

/// Numbers of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions.
    pub executions: u64,
    /// Executions that could not follow their plan.
    pub diverged: u64,
    /// Targets dropped because of that.
    pub given_up: u64,
    /// Executions that chose a thread which turned out to be blocked. Nothing is missed by that.
    pub impossible: u64,
    /// Executions that were stopped by a limit.
    pub limited: u64,
    /// Executions that were killed from outside.
    pub lost: u64,
    /// Executions that were not wholly under control.
    pub partial: u64,
    /// Further runs, to find out which accesses are shared.
    pub monitors: u64,
    /// How often the set of points grew.
    pub growths: u64,
    /// Executions since it last grew.
    pub stable_for: u64,
    /// Executions for targets that every part of a divided campaign runs.
    pub common: u64,
}

/// What a finished stage of an analysis guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The bound of the stage, for analyses that have one.
    pub bound: Option<u32>,
    /// The claim in words, for the whole.
    pub words: String,
    /// Whether no schedule at all is left.
    pub everything: bool,
    /// Whether it holds for only one part of the work.
    pub divided: bool,
}

/// The result of a campaign.
#[derive(Debug)]
pub struct Summary {
    /// Why it ended.
    pub stop: Stop,
    /// The bugs, in the order in which they were found.
    pub found: Vec<Found>,
    /// What was explored.
    pub coverage: Coverage,
    /// The counts.
    pub counts: Counts,
    /// How the executions ended.
    pub endings: Endings,
    /// Whether some analysis ran executions, and none of them completed.
    pub fruitless: bool,
    /// Bugs that were seen, and not reported for lack of time.
    pub unreported: u64,
    /// What was not under control, each once.
    pub escaped: Vec<Escaped>,
    /// The claims of the finished stages of the analysis that claims most. Empty if anything went wrong.
    pub claims: Vec<Claim>,
    /// Sites that are points because they access shared memory; sorted.
    pub sites: Vec<u32>,
    /// Places in the code at which a decision was possible; sorted.
    pub places: Vec<u64>,
}
