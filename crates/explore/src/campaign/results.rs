//! What a campaign reports, while it runs and at its end.

use crate::{Bug, Endings, Escape, Execution, Executor, ExecutorError, Plan, Rank, Switch};
use racehunter_finding::Coverage;
use racehunter_log::CodeAddress;

/// Follows a campaign while it runs. A function of [`Progress`] is one that leaves bugs alone; see also [`OnBug`].
pub trait Watcher {
    /// The campaign made progress.
    fn progress(&mut self, progress: Progress);

    /// A bug that was not known. No execution is under way, so the executor can be used to look at the bug more closely; these
    /// executions do not count.
    fn bug(&mut self, found: &Found, executor: &mut dyn Executor);
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

/// How a campaign gets on.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// An execution was counted.
    Execution {
        /// Its number, from 1.
        number: u64,
        /// Targets that wait.
        waiting: usize,
        /// Executions that are probably left in the current stage, if an analysis has an estimate.
        remaining: Option<u64>,
    },
    /// A stage of an analysis is finished.
    Stage {
        /// Its bound.
        bound: u32,
        /// Its other bounds, if it has any.
        rank: Option<Rank>,
        /// Executions that it and the stages before it took, since the last growth of the set of points.
        executions: u64,
        /// Nothing in it was left open.
        complete: bool,
    },
    /// More accesses are points now. Analyses that claim to cover everything start again.
    Points {
        /// How many came to them.
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
    /// The execution itself, without its accesses, if it ran freely: it may not be possible to replay it.
    pub unreplayable: Option<Box<Execution>>,
}

/// Something that was not under control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escaped {
    /// What it was.
    pub what: Escape,
    /// Where, if that is known.
    pub code: CodeAddress,
    /// What it was about, see [`Escape`].
    pub object: u64,
    /// Executions in which it happened, without those that only looked for shared accesses.
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
    /// Targets that were given up because of that.
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
    /// Executions since it last did.
    pub stable_for: u64,
    /// Executions for targets that every part of a divided campaign runs.
    pub common: u64,
}

/// What a finished stage of an analysis guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The bound of the stage, for analyses that have one.
    pub bound: Option<u32>,
    /// In words, of the whole.
    pub words: String,
    /// No schedule at all is left.
    pub everything: bool,
    /// It holds for one part of the work only.
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
    /// The same in numbers.
    pub counts: Counts,
    /// How the executions ended.
    pub endings: Endings,
    /// Some analysis had executions, and not one of them completed.
    pub fruitless: bool,
    /// Bugs that were seen, and not reported for lack of time.
    pub unreported: u64,
    /// What was not under control, each once.
    pub escaped: Vec<Escaped>,
    /// What the finished stages of the analysis guarantee that says most. Empty when anything went wrong.
    pub claims: Vec<Claim>,
    /// Sites that are points because memory is shared there; sorted.
    pub sites: Vec<u32>,
    /// Places in the code at which a decision was possible; sorted.
    pub places: Vec<u64>,
}
