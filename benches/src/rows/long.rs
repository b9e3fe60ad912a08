//! Long executions, explored by context bounding with a fair strategy and without a detector, as in table 3 of
//! V. P. Rudenchik, P. S. Andrianov, V. S. Mutilin, "Bounding Thread Switches in Dynamic Analysis of Multithreaded
//! Programs", Trudy ISP RAN 37(6), 2025.
//!
//! There every access is a point, and the bound is two switches. Here only accesses to shared memory are points by
//! default; the program then has fewer than 1,000 schedules with so few switches, and the bound grows until there are
//! enough.

use super::Effort;
use crate::executions::{start, whole_cpu};
use crate::machine::cores;
use crate::measure::{median, native};
use crate::programs::{Build, Programs, source};
use crate::table::{Goal, Row, Value, thousands};
use anyhow::{Result, bail, ensure};
use racehunter_analyses::{BoundKind, ContextBound, Strategy};
use racehunter_explore::{Budget, Campaign, Execution, Executor, ExecutorError, Plan, Points, Portfolio, Stop};
use racehunter_launch::Processes;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Number of executions in the paper.
const EXECUTIONS: f64 = 1000.0;

/// A bound that is not reached.
const LAST_BOUND: u32 = 100;

/// A line of the paper's table, and the numbers of executions for estimating it.
struct Case {
    accesses: u64,
    published: &'static str,
    goal: f64,
    /// A small and a larger number of executions.
    executions: [u64; 2],
    repeats: usize,
}

/// Measures both lengths.
pub fn rows(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let repeats = effort.repeats.min(3);
    let short =
        Case { accesses: 49_000, published: "25 m 28 s", goal: 3.0, executions: [2, effort.size(1000)], repeats };
    let long = Case {
        accesses: effort.size(1_300_000).max(100_000),
        published: "2 h 22 m 41 s",
        goal: 60.0,
        executions: [2, effort.size(60).max(4)],
        repeats,
    };
    let [plain, ours] =
        [programs.build(&source("accesses"), Build::Plain)?, programs.build(&source("accesses"), Build::Ours)?];
    let mut rows = measure(&plain, &ours, &short)?;
    rows.extend(measure(&plain, &ours, &long)?);
    Ok(rows)
}

fn measure(plain: &Path, ours: &Path, case: &Case) -> Result<Vec<Row>> {
    let accesses = case.accesses.to_string();
    let [few, many] = case.executions;
    let plain: Vec<f64> = (0..many.min(20))
        .map(|_| Ok(native(Command::new(plain).arg(&accesses))?.cpu * EXECUTIONS))
        .collect::<Result<_>>()?;
    let plain = median(&plain);
    let exploration =
        |detect, points| Exploration { program: ours.to_path_buf(), accesses: case.accesses, detect, points };
    let paper = exploration(false, Points::Shared);
    let in_all = |exploration: &Exploration| -> Result<f64> {
        let estimates: Vec<f64> = (0..case.repeats)
            .map(|_| {
                let (small, large) = (exploration.cpu(few)?, exploration.cpu(many)?);
                Ok(large + (large - small) / (many - few) as f64 * (EXECUTIONS - many as f64))
            })
            .collect::<Result<_>>()?;
        Ok(median(&estimates))
    };
    let time = in_all(&paper)?;
    let began = Instant::now();
    drop(paper.explore(many, cores())?);
    let wall = began.elapsed().as_secs_f64();
    let scaled = if many == 1000 { String::new() } else { format!(", scaled up from {many} executions") };
    let note = format!(
        "processor time of everything{scaled}; on the wall, with {} servers, {} executions take {}; peer: published, on \
         another machine and program",
        cores(),
        thousands(many),
        Value::Seconds(wall),
    );
    let goal = |time| Some((Goal::AtMost(Value::Seconds(case.goal)), time));
    let every = in_all(&exploration(false, Points::All))?;
    let name = format!("1,000 executions of {} accesses", thousands(case.accesses));
    let row = |what: &str, time: f64| Row {
        plain: Some(Value::Seconds(plain)),
        ratio: Some(time / plain),
        ..Row::new(format!("{name}{what}"), Value::Seconds(time))
    };
    Ok(vec![
        Row { peer: Some(Value::Published(case.published)), goal: goal(time), notes: vec![note], ..row("", time) },
        row(", happens-before", in_all(&exploration(true, Points::Shared))?),
        Row { goal: goal(every), ..row(", every access a point", every) },
    ])
}

/// A campaign of context bounding.
struct Exploration {
    program: PathBuf,
    accesses: u64,
    detect: bool,
    points: Points,
}

impl Exploration {
    fn cpu(&self, executions: u64) -> Result<f64> {
        whole_cpu(|| self.explore(executions, 1))
    }

    fn explore(&self, executions: u64, jobs: usize) -> Result<Processes> {
        let mut processes = start(&self.program, &[&self.accesses.to_string()], jobs)?;
        if self.points == Points::All {
            processes.make_all_points();
        }
        let mut executor = Detecting { processes: &mut processes, detect: self.detect };
        let analysis = ContextBound::iterative(LAST_BOUND, BoundKind::Switches, Strategy::Fair(10_000), 1);
        let budget = Budget { runs: Some(executions), points: self.points, ..Budget::default() };
        let mut progress = |_: racehunter_explore::Progress| {};
        let summary = Campaign::new(Portfolio::of(analysis), budget, &mut progress).run(&mut executor, &mut || false);
        if let Stop::Failed(error) = summary.stop {
            bail!(error);
        }
        let counts = summary.counts;
        ensure!(counts.executions == executions, "there were only {} executions", counts.executions);
        ensure!(counts.diverged + counts.limited + counts.lost == 0, "executions went wrong: {counts:?}");
        ensure!(summary.found.is_empty(), "the program is correct, but something was found");
        Ok(processes)
    }
}

/// Runs plans with the detector on or off, whatever they say.
struct Detecting<'a> {
    processes: &'a mut Processes,
    detect: bool,
}

impl Executor for Detecting<'_> {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let plans: Vec<Plan> = plans.iter().map(|plan| Plan { detect_races: self.detect, ..plan.clone() }).collect();
        self.processes.run(&plans)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.processes.add_points(sites)
    }
}
