//! The first failure of programs with a bug, by the order of ranks: how many schedules it takes, and at which numbers
//! of preemptions, variables and threads it shows (table 1 of the paper); and how many executions bounds on variables
//! and threads save when more preemptions are allowed (table 3).

use super::suite;
use crate::executions::whole_cpu;
use crate::programs::{Build, Programs};
use crate::rows::Effort;
use crate::table::Value;
use anyhow::{Result, bail};
use racehunter_analyses::{Options, Technique, rank_of};
use racehunter_explore::{Budget, Bug, Campaign, Executor, Found, OnBug, Plan, Rank, Variables};
use racehunter_launch::{Limits, Processes, Program};
use std::cell::Cell;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Programs of `benches/suite`, and their sizes: as many threads and variables as in the paper.
const PROGRAMS: [(&str, Option<u32>); 14] = [
    ("account", None),
    ("driver_stop", None),
    ("file_system", Some(10)),
    ("lazy_init", None),
    ("quicksort", None),
    ("reorder", Some(10)),
    ("reorder", Some(100)),
    ("ring_buffer", None),
    ("string_buffer", None),
    ("token_ring", None),
    ("two_stage", Some(20)),
    ("two_stage", Some(100)),
    ("work_stealing", None),
    ("wrong_lock", Some(8)),
];
/// Maximum number of schedules of a search.
const RUNS: u64 = 5_000;
/// Maximum time of a search: with a hundred threads there are many orders.
const LONGEST: Duration = Duration::from_secs(30);
/// The programs of table 3, with as many preemptions as there.
const DEEP: [&str; 3] = ["work_stealing", "ring_buffer", "string_buffer"];
const PREEMPTIONS: u32 = 3;

/// The result of a search.
#[derive(Default)]
struct Search {
    /// The execution that failed first, its preemptions, and its rank.
    failed: Option<(u64, u64, Rank)>,
    executions: u64,
    complete: bool,
    threads: u64,
    variables: usize,
    cpu: f64,
}

/// Prints both tables.
pub fn show(programs: &Programs, effort: Effort) -> Result<()> {
    let runs = if effort.is_full() { RUNS } else { 200 };
    println!(
        "Schedules until the first failure: by strict priorities, with all orders of any 2 threads (thread-bound), and with"
    );
    println!(
        "all orders in which threads continue when another ends or waits (variable-bound); at most {runs}, or 30 s\n"
    );
    println!(
        "{:<15} {:>5} {:>8} {:>10} {:>13} {:>10} {:>15} {:>11} {:>10}",
        "program", "SLOC", "threads", "variables", "thread-bound", "time", "variable-bound", "(c, v, t)", "time"
    );
    for (name, size) in PROGRAMS {
        let source = suite(name, size);
        let lines = lines_of(&source.files[0])?;
        let path = programs.build(&source, Build::Ours)?;
        let options = Options { reduction: None, ..Options::default() };
        let orders = search(&path, Technique::ThreadBound, &Options { threads: 2, ..options.clone() }, runs, true)?;
        let ranks = search(&path, Technique::VariableBound, &options, runs, true)?;
        let title = size.map_or_else(|| name.to_owned(), |size| format!("{name} {size}"));
        let (threads, variables) = (ranks.threads, ranks.variables);
        let none = || "-".to_owned();
        let schedules = |search: &Search| search.failed.map_or_else(none, |(execution, ..)| execution.to_string());
        let rank = |(_, c, rank): (u64, u64, Rank)| format!("({c}, {}, {})", rank.variables, rank.threads);
        let place = ranks.failed.map_or_else(none, rank);
        let time = |search: &Search| Value::Seconds(search.cpu).to_string();
        println!(
            "{title:<15} {lines:>5} {threads:>8} {variables:>10} {:>13} {:>10} {:>15} {place:>11} {:>10}",
            schedules(&orders),
            time(&orders),
            schedules(&ranks),
            time(&ranks)
        );
    }
    println!(
        "\nExecutions and time with <= {PREEMPTIONS} preemptions, and the one that failed first; at most {runs}, or 30 s\n"
    );
    println!("{:<18} {:>30} {:>30} {:>30}", "program", "no bound", "v = 2, t = 2", "v = 1, t = 2");
    for name in DEEP {
        let path = programs.build(&suite(name, None), Build::Ours)?;
        print!("{name:<18}");
        for bounds in [None, Some(2), Some(1)] {
            let options = Options { bound: PREEMPTIONS, reduction: None, ..Options::default() };
            let (technique, options) = match bounds {
                None => (Technique::ContextBound, options),
                Some(variables) => (Technique::VariableBound, Options { variables, threads: 2, ..options }),
            };
            let search = search(&path, technique, &options, runs, false)?;
            let first = search.failed.map_or_else(|| "none".to_owned(), |(execution, ..)| execution.to_string());
            let more = if search.complete { "" } else { "+" };
            let cell = format!("{}{more} ({first}), {}", search.executions, Value::Seconds(search.cpu));
            print!(" {cell:>30}");
        }
        println!();
    }
    Ok(())
}

fn search(path: &Path, technique: Technique, options: &Options, runs: u64, first_only: bool) -> Result<Search> {
    let program = Program { path: path.to_owned(), arguments: Vec::new(), input: None, client: None, libraries: None };
    let failed: Cell<Option<(u64, u64, Rank)>> = Cell::new(None);
    let mut note = OnBug(|found: &Found, executor: &mut dyn Executor| {
        if matches!(found.bug, Bug::Assertion(..) | Bug::Crash(..)) && failed.get().is_none() {
            let again = executor.run(&[Plan { allocations: true, ..found.repeat.clone() }]);
            let rank = again.ok().and_then(|executions| executions.first().map(rank_of));
            failed.set(rank.map(|rank| (found.execution, found.preemptions, rank)));
        }
    });
    let mut search = Search::default();
    search.cpu = whole_cpu(|| {
        let mut processes = Processes::start(program, Limits::default(), 1)?;
        let plan = Plan { allocations: true, observe: racehunter_explore::Observe::Everything, ..Plan::default() };
        let Some(first) = Executor::run(&mut processes, &[plan])?.pop() else { bail!("nothing was run") };
        let mut variables = Variables::default();
        let known: HashSet<_> = first.entries().filter_map(|entry| variables.note(&first, entry)).collect();
        (search.threads, search.variables) = (u64::from(first.threads), known.len());
        let budget = Budget { runs: Some(runs), ..Budget::default() };
        let campaign = Campaign::new(technique.portfolio(options), budget, &mut note);
        let began = Instant::now();
        let is_over = || first_only && failed.get().is_some() || began.elapsed() > LONGEST;
        let summary = campaign.run(&mut processes, &mut || is_over());
        (search.executions, search.complete) = (summary.counts.executions, summary.coverage.finished);
        Ok(processes)
    })?;
    search.failed = failed.get();
    Ok(search)
}

/// Returns the number of lines of a file that are neither empty nor a comment.
fn lines_of(file: &Path) -> Result<usize> {
    let text = std::fs::read_to_string(file)?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count())
}
