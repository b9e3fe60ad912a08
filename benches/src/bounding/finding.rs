//! How many executions, and how much time, it takes to find a bug of a certain type, with variable bounding and without.

use super::source;
use crate::executions::whole_cpu;
use crate::programs::{Build, Programs};
use crate::rows::Effort;
use crate::table::Value;
use anyhow::Result;
use racehunter_analyses::{Options, Technique};
use racehunter_explore::{Budget, Bug, Campaign, Executor, Found, OnBug};
use racehunter_launch::{Limits, Processes, Program};
use std::cell::Cell;
use std::path::Path;

/// The bugs of `montecarlo.c` from 1 on: preemptions, variables and threads that they need.
const TYPES: [(u32, u32, u32); 6] = [(0, 0, 2), (0, 0, 3), (0, 0, 4), (1, 1, 2), (1, 1, 3), (2, 1, 2)];
/// Number of price paths: enough for the accesses to dominate the time.
const PATHS: u64 = 4000;

/// Prints the table. A search that finds nothing ends after this many executions.
pub fn show(programs: &Programs, effort: Effort) -> Result<()> {
    let (seeds, runs) = if effort.is_full() { (5, 1000) } else { (1, 50) };
    println!(
        "Executions and processor time until the bug shows, means of {seeds} seeds with at most {runs} executions\n"
    );
    let heading = ["type (c, v, t)", "pct-vb --selective", "pct-vb", "pct"];
    println!("{:<15} {:>26} {:>26} {:>26}", heading[0], heading[1], heading[2], heading[3]);
    for (number, (preemptions, variables, threads)) in (1..).zip(TYPES) {
        let program = programs.build(&source("montecarlo", vec![format!("-DBUG={number}")]), Build::Selective)?;
        print!("{:<15}", format!("({preemptions}, {variables}, {threads})"));
        for (technique, selective) in [(Technique::PctVb, true), (Technique::PctVb, false), (Technique::Pct, false)] {
            let mut searches = Vec::new();
            for seed in 1..=seeds {
                let variables = variables.max(1);
                let options = Options { depth: preemptions + 1, variables, seed, selective, ..Options::default() };
                searches.push(search(&program, technique, &options, runs, effort.size(PATHS))?);
            }
            print!(" {:>26}", cell(&searches));
        }
        println!();
    }
    Ok(())
}

/// The cost of one search.
struct Search {
    /// The execution that showed the bug.
    execution: Option<u64>,
    cpu: f64,
}

fn search(program: &Path, technique: Technique, options: &Options, runs: u64, paths: u64) -> Result<Search> {
    let program = Program {
        path: program.to_owned(),
        arguments: vec![paths.to_string().into()],
        input: None,
        client: None,
        libraries: None,
    };
    let found: Cell<Option<u64>> = Cell::new(None);
    let mut note = OnBug(|bug: &Found, _: &mut dyn Executor| {
        if matches!(bug.bug, Bug::Assertion(..)) {
            found.set(found.get().or(Some(bug.execution)));
        }
    });
    let cpu = whole_cpu(|| {
        let mut processes = Processes::start(program, Limits::default(), 1)?;
        let budget = Budget { runs: Some(runs), ..Budget::default() };
        let campaign = Campaign::new(technique.portfolio(options), budget, &mut note);
        let _ = campaign.run(&mut processes, &mut || found.get().is_some());
        Ok(processes)
    })?;
    Ok(Search { execution: found.get(), cpu })
}

/// Returns the means, and how many searches found the bug, if not all did. The time is that of all of them.
fn cell(searches: &[Search]) -> String {
    let found: Vec<u64> = searches.iter().filter_map(|search| search.execution).collect();
    let time = Value::Seconds(searches.iter().map(|search| search.cpu).sum::<f64>() / searches.len() as f64);
    let share =
        if found.len() == searches.len() { String::new() } else { format!(" ({}/{})", found.len(), searches.len()) };
    if found.is_empty() {
        return format!("-, {time}");
    }
    format!("{:.1}{share}, {time}", found.iter().sum::<u64>() as f64 / found.len() as f64)
}
