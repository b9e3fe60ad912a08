//! `cargo xtask real [--runs N] [NAME...]`: widely used libraries, and a server, under control.
//!
//! For each: whether every execution writes what the plain build writes; what is reported; how many events and
//! executions there are; and whether a planted bug is found.

use crate::table::{Align, Table, thousands};
use racehunter_analyses::{Options, Technique};
use racehunter_e2e::real::{Build, Real, named};
use racehunter_e2e::{Hunted, Workshop, run};
use racehunter_explore::{Budget, Campaign, Execution, Executor, ExecutorError, Outcome, Plan, Progress, Stop};
use racehunter_launch::{Limits, Processes, Program};
use std::process::Command;
use std::time::{Duration, Instant};

/// Default number of executions of each.
const RUNS: u64 = 50;
/// Executions in which a planted bug must be found.
const HUNT: u64 = 200;

/// Prints the table of the named programs, or of all; returns true if all is well.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (runs, names) = match words {
        ["--runs", runs, names @ ..] => (runs.parse().map_err(|_| "--runs needs a number".to_owned())?, names),
        names => (RUNS, names),
    };
    let programs = named(names)?;
    let table = Table::new([
        ("program", 8, Align::Left),
        ("threads", 0, Align::Right),
        ("events", 11, Align::Right),
        ("executions", 0, Align::Right),
        ("rate", 7, Align::Right),
        ("output", 9, Align::Left),
        ("reported", 9, Align::Left),
        ("planted bug", 38, Align::Left),
        ("found", 0, Align::Left),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    for real in programs {
        let ran = explore(real, runs)?;
        let found = hunt(real)?;
        println!("{}", table.row(cells(real, &ran, found.as_deref())));
        for remark in &ran.remarks {
            println!("    {remark}");
        }
        good &= ran.remarks.is_empty() && found.is_some();
    }
    Ok(good)
}

fn cells(real: &Real, ran: &Ran, found: Option<&str>) -> [String; 9] {
    [
        real.name.to_owned(),
        ran.threads.to_string(),
        thousands(ran.events),
        thousands(ran.executions),
        format!("{:.1}/s", ran.executions as f64 / ran.time.as_secs_f64()),
        if ran.wrong_outputs == 0 { "the same".to_owned() } else { format!("{} WRONG", ran.wrong_outputs) },
        if ran.bugs == 0 { "nothing".to_owned() } else { format!("{} BUGS", ran.bugs) },
        real.planted.what.to_owned(),
        found.unwrap_or("MISSED").to_owned(),
    ]
}

/// The results of a campaign.
#[derive(Default)]
struct Ran {
    threads: u32,
    events: u64,
    executions: u64,
    time: Duration,
    wrong_outputs: u64,
    bugs: usize,
    remarks: Vec<String>,
}

/// Compares the output of executions with the expected one.
struct Comparing {
    processes: Processes,
    expected: String,
    ran: Ran,
}

impl Executor for Comparing {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let executions = self.processes.run(plans)?;
        for execution in &executions {
            let output = String::from_utf8_lossy(&execution.output);
            if execution.outcome != Outcome::Exited(0) || output != self.expected {
                self.ran.wrong_outputs += 1;
                self.ran.remarks.push(format!("{:?}, after it wrote: {}", execution.outcome, output.trim()));
            }
            if execution.partial {
                self.ran.remarks.push(format!("not wholly under control: {:x?}", execution.escapes()));
            }
            self.ran.threads = self.ran.threads.max(execution.threads);
            self.ran.events = self.ran.events.max(execution.events);
        }
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.processes.add_points(sites)
    }
}

/// Runs the unmodified program, in random schedules.
fn explore(real: &Real, runs: u64) -> Result<Ran, String> {
    let plain = run(Command::new(real.build(Build::Plain)).args(real.arguments));
    if plain.status != Some(0) {
        return Err(format!("{} fails without RaceHunter: {}{}", real.name, plain.stdout, plain.stderr));
    }
    let arguments = real.arguments.iter().map(Into::into).collect();
    let program = Program { path: real.build(Build::Ours), arguments, input: None, client: None, libraries: None };
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    let processes = Processes::start(program, limits, 2).map_err(|error| error.to_string())?;
    let mut executor = Comparing { processes, expected: plain.stdout, ran: Ran::default() };
    let began = Instant::now();
    let budget = Budget { runs: Some(runs), ..Budget::default() };
    let mut nothing = |_: Progress| {};
    let portfolio = Technique::Random.portfolio(&Options::default());
    let summary = Campaign::new(portfolio, budget, &mut nothing).run(&mut executor, &mut || false);
    let mut ran = executor.ran;
    ran.time = began.elapsed();
    ran.executions = summary.counts.executions;
    ran.bugs = summary.found.len();
    ran.remarks.extend(summary.found.iter().map(|found| format!("reported: {:x?}", found.bug)));
    if !matches!(summary.stop, Stop::Runs) {
        ran.remarks.push(format!("the campaign did not finish: {:?}", summary.stop));
    }
    Ok(ran)
}

/// Hunts the program with the planted bug, as a user would; returns where it was found.
fn hunt(real: &Real) -> Result<Option<String>, String> {
    let workshop = Workshop::new();
    let program = real.build(Build::Planted);
    let runs = HUNT.to_string();
    let options = ["--analysis", "random", "--runs", &runs, "--stop-on-first", "--timeout", "60s"];
    let mut command = workshop.hunt_command(&program, &options);
    let hunted = Hunted::new(run(command.arg("--").args(real.arguments)));
    if hunted.summary.is_none() {
        return Err(hunted.ended.stderr);
    }
    let confirmed = hunted.findings.iter().find(|finding| finding.confirmed);
    Ok(confirmed.map(|finding| {
        let place = finding.sites.first().map(|site| {
            let file = site.file.rsplit('/').next().unwrap_or_default();
            format!(" at {file}:{}", site.line)
        });
        format!("{}{}, execution {}", finding.kind, place.unwrap_or_default(), finding.execution)
    }))
}
