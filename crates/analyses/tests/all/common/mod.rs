//! Common code of the search tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod figures;

use racehunter_analyses::{Options, Technique};
use racehunter_explore::model::{ModelExecutor, Path, Program, Shape, order};
use racehunter_explore::{
    Budget, Bug, Campaign, Execution, Executor, ExecutorError, Observe, Outcome, Plan, Points, Portfolio, Progress,
    Summary,
};
use std::collections::{BTreeSet, HashSet};

pub const SMALL: Shape = Shape { threads: 2, statements: 2, timing: false, signals: false };
pub const WIDER: Shape = Shape { threads: 3, statements: 2, timing: false, signals: false };
pub const SIGNALS: Shape = Shape { threads: 2, statements: 2, timing: false, signals: true };
pub const TIMED: Shape = Shape { threads: 2, statements: 2, timing: true, signals: false };

/// Records what was run.
pub struct Recorder {
    pub inner: ModelExecutor,
    pub runs: Vec<(Plan, Execution)>,
}

impl Recorder {
    pub fn new(inner: ModelExecutor) -> Self {
        Self { inner, runs: Vec::new() }
    }
}

impl Executor for Recorder {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let executions = self.inner.run(plans)?;
        self.runs.extend(plans.iter().cloned().zip(executions.iter().cloned()));
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.inner.add_points(sites)
    }
}

/// The result of one campaign over a program.
pub struct Hunt {
    pub summary: Summary,
    /// The schedules of the last pass, in execution order.
    pub orders: Vec<Vec<u32>>,
    /// `(bound, executions, complete)` of every stage.
    pub stages: Vec<(u32, u64, bool)>,
    /// The final set of points.
    pub points: HashSet<u32>,
    /// Outcome and output of the schedules of the last pass.
    pub ends: BTreeSet<(String, Vec<u8>)>,
}

pub fn hunt(executor: ModelExecutor, technique: Technique, options: &Options, budget: Budget) -> Hunt {
    hunt_with(executor, technique.portfolio(options), budget)
}

pub fn hunt_with(executor: ModelExecutor, portfolio: Portfolio, budget: Budget) -> Hunt {
    let mut recorder = Recorder::new(executor);
    let mut stages = Vec::new();
    let mut progress = |progress: Progress| match progress {
        Progress::Stage { bound, executions, complete, .. } => stages.push((bound, executions, complete)),
        Progress::Points { .. } => stages.clear(),
        Progress::Execution { .. } => {}
    };
    let summary = Campaign::new(portfolio, budget, &mut progress).run(&mut recorder, &mut || false);
    // A target that chose a blocked thread is not a schedule.
    let explored = recorder.runs.iter().filter(|(plan, execution)| {
        let monitor = budget.points == Points::Shared && plan.observe == Observe::Everything;
        !monitor && !matches!(execution.outcome, Outcome::Diverged(_))
    });
    let explored: Vec<_> = explored.map(|(_, execution)| execution).collect();
    let last_pass = summary.counts.stable_for - summary.counts.impossible.min(summary.counts.stable_for);
    let last_pass = &explored[explored.len().saturating_sub(last_pass as usize)..];
    let orders: Vec<_> = last_pass.iter().map(|execution| order(execution)).collect();
    let ends = last_pass.iter().map(|execution| (format!("{:?}", execution.outcome), execution.output.clone()));
    let ends = ends.collect();
    let points = match budget.points {
        Points::All => recorder.inner.program().access_sites().into_iter().collect(),
        Points::Sync | Points::Shared => recorder.inner.points().clone(),
    };
    Hunt { summary, orders, stages, points, ends }
}

pub fn bugs_of<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<Bug> {
    paths.flat_map(|path| path.bugs.iter().cloned()).collect()
}

/// Returns outcome and output of each schedule.
pub fn ends_of<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<(String, Vec<u8>)> {
    paths.map(|path| (format!("{:?}", path.outcome), path.output.clone())).collect()
}

pub fn found(summary: &Summary) -> BTreeSet<Bug> {
    summary.found.iter().map(|found| found.bug.clone()).collect()
}

/// The program of listing 1 in the 2025 paper, as drawn in its figure 1.
pub fn listing_1() -> Program {
    use racehunter_explore::model::{Op, Value};
    let add = |value| vec![Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, value))];
    Program::bare(vec![add(1), add(2)])
}

fn number(name: &str) -> u64 {
    std::env::var(name).map_or(1, |text| text.parse().expect("a number"))
}

/// Returns the number of random programs of a property, given the usual one: `RACEHUNTER_ORACLE_CASES` multiplies it, as
/// `cargo xtask test --all` does; `RACEHUNTER_ORACLE_HUNTS` is the least number, which `cargo xtask oracle` sets.
pub fn cases(usual: u64) -> u64 {
    (usual * number("RACEHUNTER_ORACLE_CASES")).max(number("RACEHUNTER_ORACLE_HUNTS"))
}

/// Configures properties: many small programs, and no files left behind.
pub fn config(usual: u32) -> proptest::prelude::ProptestConfig {
    use proptest::test_runner::RngSeed;
    let cases = cases(u64::from(usual)) as u32;
    let default = proptest::prelude::ProptestConfig::default();
    proptest::prelude::ProptestConfig {
        cases,
        max_global_rejects: 1_000 * cases.max(100),
        failure_persistence: None,
        // The same programs each time, so that a changed result points to a change in the code. A number in
        // `RACEHUNTER_ORACLE_SEED` selects others.
        rng_seed: RngSeed::Fixed(number("RACEHUNTER_ORACLE_SEED")),
        ..default
    }
}
