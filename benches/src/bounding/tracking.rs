//! The time of one execution that tracks no variable, one, two, or all of them.

use super::source;
use crate::executions::{default_plan, once, run, start};
use crate::measure::{median, native};
use crate::programs::{Build, Programs};
use crate::rows::Effort;
use crate::table::{Value, thousands};
use anyhow::{Context as _, Result, bail, ensure};
use racehunter_analyses::Walks;
use racehunter_explore::{Analysis as _, Executor as _, Observe, Plan, Style, Tail, reported_sites, shared_sites};
use racehunter_launch::Processes;
use std::process::Command;

/// The programs and their sizes.
const PROGRAMS: [(&str, u64); 8] = [
    ("cache", 20_000),
    ("molecules", 30),
    ("montecarlo", 100_000),
    ("salesman", 12),
    ("queue", 6_000),
    ("relaxation", 100),
    ("hash_set", 100_000),
    ("tree_set", 20_000),
];

/// The measurements, besides the uninstrumented program.
const COLUMNS: [&str; 5] = ["v0", "v1", "v2", "all", "all, races"];

/// The maximum mean ratios of v0, v1 and v2 to the uninstrumented program.
const GOALS: [f64; 3] = [1.2, 1.5, 2.0];

/// Prints the table. Times are processor time; below each is its ratio to the uninstrumented program.
pub fn show(programs: &Programs, effort: Effort, names: &[&str]) -> Result<()> {
    let chosen = PROGRAMS.iter().filter(|(name, _)| names.is_empty() || names.contains(name));
    if let Some(unknown) = names.iter().find(|name| !PROGRAMS.iter().any(|(known, _)| known == *name)) {
        bail!("`{unknown}` is not one of {}", PROGRAMS.map(|(name, _)| name).join(", "));
    }
    println!("One execution, by the variables that it is about ({})\n", effort.describe());
    println!(
        "{:<12} {:>13} {:>9} {:>16} {:>16} {:>16} {:>16} {:>16} {:>9}",
        "program", "events", "plain", COLUMNS[0], COLUMNS[1], COLUMNS[2], COLUMNS[3], COLUMNS[4], "all/v1"
    );
    let mut logs = Vec::new();
    for &(name, size) in chosen {
        let row = Row::measure(programs, effort, name, size)?;
        let cell = |time: f64| format!("{} {:>6}", Value::Seconds(time), Value::Times(time / row.plain).to_string());
        print!("{name:<12} {:>13} {:>9}", thousands(row.events), Value::Seconds(row.plain).to_string());
        row.times.iter().for_each(|&time| print!(" {:>16}", cell(time)));
        println!(" {:>9}", Value::Times(row.times[3] / row.times[1]).to_string());
        logs.push([0, 1, 2].map(|column| (row.times[column] / row.plain).ln()));
    }
    println!();
    for (column, goal) in GOALS.into_iter().enumerate() {
        let sum: f64 = logs.iter().map(|row| row[column]).sum();
        let mean = Value::Times((sum / logs.len() as f64).exp());
        println!("{}, geometric mean: {mean} of plain (goal: <= {goal}x)", COLUMNS[column]);
    }
    Ok(())
}

struct Row {
    events: u64,
    plain: f64,
    times: [f64; COLUMNS.len()],
}

impl Row {
    fn measure(programs: &Programs, effort: Effort, name: &'static str, size: u64) -> Result<Self> {
        let source = source(name, Vec::new());
        // The number of cities cannot simply be divided.
        let size = if name == "salesman" && !effort.is_full() {
            9
        } else if name == "salesman" {
            size
        } else {
            effort.size(size)
        };
        let arguments = [&*size.to_string()];
        let plain = programs.build(&source, Build::Plain)?;
        let expected = native(Command::new(&plain).args(arguments))?.output;
        let mut processes = start(&programs.build(&source, Build::Selective)?, &arguments, 1)?;
        learn(&mut processes)?;
        let mut walks = [Walker::new(1, &mut processes)?, Walker::new(2, &mut processes)?];

        let mut series = [const { Vec::new() }; COLUMNS.len() + 1];
        let mut events = 0;
        for seed in 0..effort.repeats as u64 {
            series[COLUMNS.len()].push(native(Command::new(&plain).args(arguments))?.cpu);
            let tail = Tail::Walk { style: Style::PctVariables { depth: 1, length: 1 }, seed };
            let none = Plan { tail, select: Some(Vec::new()), ..Plan::default() };
            let everything = Plan { tail, ..default_plan(false) };
            let races = Plan { tail, ..default_plan(true) };
            let [one, two] = walks.each_mut().map(Walker::next);
            for (plan, times) in [none, one, two, everything, races].into_iter().zip(&mut series) {
                let (execution, cpu) = once(&mut processes, &unlimited(plan))?;
                ensure!(execution.output == expected.as_bytes(), "{name} writes something else under RaceHunter");
                times.push(cpu);
                events = execution.events;
            }
        }
        let mut medians = series.map(|times| median(&times)).into_iter();
        let times = std::array::from_fn(|_| medians.next().unwrap_or_default());
        Ok(Self { events, plain: medians.next().context("the program was run")?, times })
    }
}

/// Removes the limit of events: the programs end by themselves.
fn unlimited(plan: Plan) -> Plan {
    Plan { max_events: u64::MAX, ..plan }
}

/// Finds the accesses to shared memory, as a campaign does.
fn learn(processes: &mut Processes) -> Result<()> {
    let monitor = Plan { observe: Observe::Everything, max_events: 2_000_000, ..Plan::default() };
    for execution in processes.run(&[monitor])? {
        processes.add_points(&shared_sites(&execution));
    }
    for execution in run(processes, &[unlimited(default_plan(true))])? {
        processes.add_points(&reported_sites(&execution));
    }
    Ok(())
}

/// Makes walks that track this many variables.
struct Walker {
    analysis: Walks,
    waiting: Vec<<Walks as racehunter_explore::Analysis>::Target>,
}

impl Walker {
    /// Runs the first walk, which tracks everything, to collect the variables.
    fn new(variables: u32, processes: &mut Processes) -> Result<Self> {
        let mut analysis = Walks::pct_variables(variables + 1, variables, 1).selective(true);
        let mut waiting = analysis.initial_targets();
        let first = waiting.pop().context("there is a first walk")?;
        let (execution, _) = once(processes, &unlimited(analysis.plan(&first)))?;
        waiting.extend(analysis.new_targets(&first, &execution));
        Ok(Self { analysis, waiting })
    }

    fn next(&mut self) -> Plan {
        loop {
            let target = self.waiting.pop().expect("walks do not run out");
            let plan = self.analysis.plan(&target);
            if plan.select.is_some() {
                return plan;
            }
        }
    }
}
