//! Memory of a campaign, for any length and any number of waiting targets.

use super::Effort;
use crate::executions::start;
use crate::measure::{own_cpu, resident};
use crate::programs::{Build, Programs, source};
use crate::table::{Goal, Row, Value, thousands};
use anyhow::{Result, ensure};
use racehunter_analyses::{BoundKind, ContextBound, Options, Reduction, Strategy, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Program};
use racehunter_explore::{Budget, Campaign, Executor, Points, Portfolio, Progress, Stop};
use std::cell::Cell;
use std::io::Write;

const MIB: f64 = (1 << 20) as f64;

/// Returns a program of three threads that take turns at one variable.
fn program(operations: usize) -> Program {
    Program::fork_join(vec![vec![Op::AtomicAdd(0, 1, 0); operations]; 3], vec![])
}

/// A sink that only counts.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Measures ten million waiting targets.
pub fn pending(_: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let wanted = effort.size(10_000_000) as usize;
    let before = resident()?;
    let waiting = Cell::new(0);
    let mut progress = |progress: Progress| {
        if let Progress::Execution { waiting: now, .. } = progress {
            waiting.set(now);
        }
    };
    // Targets of the second bound wait as soon as it begins: with n events in all, about 5 n^2.
    let analysis =
        ContextBound::iterative(2, BoundKind::Preemptions, Strategy::MinSwitches, 1).reduced(Some(Reduction::Caching));
    let operations = (wanted as f64 / 5.1).sqrt() / 3.0 * 1.02;
    let budget = Budget { points: Points::All, ..Budget::default() };
    let mut campaign = Campaign::new(Portfolio::of(analysis), budget, &mut progress);
    let mut executor = ModelExecutor::new(program(operations as usize));
    while waiting.get() < wanted {
        let stop = campaign.advance(&mut executor, &mut || false);
        ensure!(stop.is_none(), "there are no {wanted} targets");
    }
    let memory = resident()? - before;
    let executions = campaign.summary(Stop::Asked).counts.executions;
    let (mut size, began) = (Counter(0), own_cpu());
    campaign.save(&mut size)?;
    let (saving, saved) = (own_cpu() - began, resident()? - before);
    let note = format!(
        "resident memory, on the in-memory model; {} targets after {} executions, {} each; to save them takes {} and \
         {:.0} MiB on disk, with {:.0} MiB in memory meanwhile",
        thousands(waiting.get() as u64),
        thousands(executions),
        Value::Bytes(memory / waiting.get() as f64),
        Value::Seconds(saving),
        size.0 as f64 / MIB,
        saved / MIB,
    );
    let most = memory.max(saved) / MIB;
    let goal = Some((Goal::AtMost(Value::Mebibytes(400.0)), most));
    Ok(vec![Row { goal, notes: vec![note], ..Row::new("ten million pending targets", Value::Mebibytes(most)) }])
}

/// Returns the memory after a tenth of the executions and after all of them.
fn growth(executor: &mut dyn Executor, portfolio: Portfolio, points: Points, runs: u64) -> Result<[f64; 2]> {
    let tenth = Cell::new(0.0);
    let mut progress = |progress: Progress| {
        if let Progress::Execution { number, .. } = progress
            && number == runs / 10
        {
            tenth.set(resident().unwrap_or(0.0));
        }
    };
    let budget = Budget { runs: Some(runs), points, ..Budget::default() };
    let mut campaign = Campaign::new(portfolio, budget, &mut progress);
    let stop = loop {
        if let Some(stop) = campaign.advance(executor, &mut || false) {
            break stop;
        }
    };
    let end = resident()?;
    let counts = campaign.summary(stop).counts;
    ensure!(counts.executions == runs, "there were only {} executions", counts.executions);
    ensure!(counts.diverged + counts.lost + counts.limited == 0, "executions went wrong: {counts:?}");
    Ok([tenth.get(), end])
}

/// Measures a million executions.
pub fn million(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let runs = effort.size(1_000_000);
    let row = |name: &str, [tenth, end]: [f64; 2]| {
        let growth = (end - tenth) / MIB;
        let note =
            format!("more after {} executions than after a tenth of them, of {:.0} MiB", thousands(runs), end / MIB);
        let goal = Some((Goal::AtMost(Value::Mebibytes(4.0)), growth));
        Row {
            goal,
            notes: vec![note],
            ..Row::new(format!("a million executions, {name}, more memory"), Value::Mebibytes(growth))
        }
    };
    let exhaustive = ContextBound::unbounded(Strategy::MinSwitches, 1);
    let model = growth(&mut ModelExecutor::new(program(6)), Portfolio::of(exhaustive), Points::All, runs)?;
    let mut tiny = source("tiny");
    tiny.flags.push("-DTINY_LOOP".to_owned());
    let mut processes = start(&programs.build(&tiny, Build::Ours)?, &[], 1)?;
    let walks = Technique::Pos.portfolio(&Options::default());
    let real = growth(&mut processes, walks, Points::Shared, runs)?;
    Ok(vec![row("all schedules of the model", model), row("walks of a real program", real)])
}
