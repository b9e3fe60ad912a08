//! `cargo xtask chaos [--runs N]`: a program that fails in a different way in each schedule.
//!
//! It notes its next action in a file, and then performs it; the campaign counts what it saw. Both must agree, whatever
//! the program does: crash, hang, kill its own fork server, leave processes behind. The whole campaign runs in a
//! separate process, with a mark in its environment that all its descendants inherit, so that leftovers can be found.

use crate::table::{Align, Table, thousands, time};
use racehunter_analyses::{Options, Technique};
use racehunter_e2e::{Hunted, Workshop, processes, run};
use racehunter_explore::{
    Budget, Bug, Campaign, Execution, Executor, ExecutorError, Outcome, Plan, Progress, Stop, Summary,
};
use racehunter_launch::{Limits, Processes, Program, Shared};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The variable that marks everything that runs below a campaign.
const MARK: &str = "RACEHUNTER_CHAOS";
/// Default number of executions.
const RUNS: u64 = 10_000;
/// Executions of the hunt by the command.
const HUNT_RUNS: &str = "200";
/// The limits of one execution.
const LIMITS: Limits = Limits { time: Duration::from_millis(500), memory_kib: 60 << 10, output: 1 << 20 };

/// The program's possible actions: its letter, a description, and how it must be counted.
const ACTS: [(char, &str, Ending); 16] = [
    ('x', "closes all files and ends", Ending::Exit),
    ('s', "ends with a status", Ending::Status),
    ('c', "crashes", Ending::Crash),
    ('a', "fails an assertion", Ending::Assertion),
    ('d', "deadlocks", Ending::Deadlock),
    ('r', "has a data race", Ending::Exit),
    ('g', "leaves a daemon behind", Ending::Exit),
    ('f', "floods its output", Ending::Exit),
    ('k', "kills itself", Ending::Lost),
    ('z', "kills its process group", Ending::Lost),
    ('p', "kills its fork server", Ending::Lost),
    ('m', "exhausts memory", Ending::Limit),
    ('b', "hangs, busy", Ending::Limit),
    ('o', "hangs, asleep", Ending::Limit),
    ('w', "stops", Ending::Limit),
    ('h', "corrupts its heap", Ending::Corrupted),
];

/// How an execution is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Exit,
    Status,
    Crash,
    Assertion,
    Deadlock,
    Lost,
    /// Stopped by a limit on time, events or memory: on a slow machine, an execution that takes all memory may run out
    /// of time first.
    Limit,
    /// The heap is corrupted: the C library notices and aborts, or it crashes, or nothing happens.
    Corrupted,
    /// An outcome that the program cannot have.
    Other,
}

impl Ending {
    fn of(outcome: &Outcome) -> Self {
        const SIGABRT: u32 = 6;
        const SIGFPE: u32 = 8;
        const SIGSEGV: u32 = 11;
        match outcome {
            Outcome::Exited(0) => Self::Exit,
            Outcome::Exited(7) => Self::Status,
            Outcome::Exited(9) | Outcome::Crashed { signal: SIGABRT | SIGSEGV, .. } => Self::Corrupted,
            Outcome::Crashed { signal: SIGFPE, .. } => Self::Crash,
            Outcome::Asserted { .. } => Self::Assertion,
            Outcome::Deadlock => Self::Deadlock,
            Outcome::Lost(_) => Self::Lost,
            Outcome::Limit(what) if ["memory", "time", "events"].contains(&what.as_str()) => Self::Limit,
            _ => Self::Other,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Exit => "ended",
            Self::Status => "ended with its status",
            Self::Crash => "crash",
            Self::Assertion => "assertion",
            Self::Deadlock => "deadlock",
            Self::Lost => "lost",
            Self::Limit => "stopped by a limit",
            Self::Corrupted => "crash, or ended",
            Self::Other => "something else",
        }
    }
}

/// Runs the campaign in a separate process, then looks for leftovers.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let runs = match words {
        [] => RUNS,
        ["--runs", number] => number.parse().map_err(|_| format!("--runs needs a number, not {number}"))?,
        _ => return Err("usage: cargo xtask chaos [--runs N]".to_owned()),
    };
    let mark = format!("{}", std::process::id());
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(["chaos-campaign", &runs.to_string()]).env(MARK, &mark);
    let status = command.status().map_err(|error| error.to_string())?;
    let left = processes::marked(MARK, &mark);
    println!("processes left running: {}", left.len());
    processes::end(&left);
    Ok(status.success() && left.is_empty())
}

/// Runs the campaign itself.
pub fn campaign(runs: &str) -> Result<bool, String> {
    let runs: u64 = runs.parse().map_err(|_| "a number of executions".to_owned())?;
    let (workshop, program) = Workshop::with_program(include_str!("../programs/chaos.c"));
    let began = Instant::now();
    let notes = workshop.write("notes", "");
    let (summary, endings) = explore(&program, &notes, runs)?;
    let noted = fs::read_to_string(&notes).map_err(|error| error.to_string())?;
    let counted = print(&noted, &endings);
    let bugs = found(&summary);
    println!("\n{} executions in {}; bugs: {}", thousands(runs), time(began.elapsed()), bugs.join(", "));
    let ended = matches!(summary.stop, Stop::Runs) && summary.counts.executions == runs;
    if !ended {
        println!("the campaign did not finish: {:?} after {}", summary.stop, summary.counts.executions);
    }
    let whole = expected_bugs(&noted).iter().all(|kind| bugs.contains(kind));
    if !whole {
        println!("a noted bug was not found");
    }
    Ok(counted && ended && whole && hunt(&workshop, &program)?)
}

/// Runs a program for a campaign, and counts how its executions end.
struct Counting {
    processes: Processes,
    endings: BTreeMap<Ending, u64>,
    /// Outcomes that the program cannot have.
    strange: Vec<Outcome>,
}

impl Executor for Counting {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let executions = self.processes.run(plans)?;
        for execution in &executions {
            let ending = Ending::of(&execution.outcome);
            *self.endings.entry(ending).or_default() += 1;
            if ending == Ending::Other {
                self.strange.push(execution.outcome.clone());
            }
        }
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.processes.add_points(sites)
    }
}

fn explore(program: &Path, notes: &Path, runs: u64) -> Result<(Summary, BTreeMap<Ending, u64>), String> {
    let program = Program {
        path: program.to_path_buf(),
        arguments: vec![notes.into()],
        input: None,
        client: None,
        libraries: None,
    };
    let mut processes = Processes::start(program, LIMITS, 2).map_err(|error| error.to_string())?;
    // An execution that restarts with its own view of files would note its actions twice.
    processes.share(Shared { files: true, ..Shared::default() });
    let mut executor = Counting { processes, endings: BTreeMap::new(), strange: Vec::new() };
    let portfolio = Technique::Random.portfolio(&Options::default());
    let budget = Budget { runs: Some(runs), ..Budget::default() };
    let mut nothing = |_: Progress| {};
    let summary = Campaign::new(portfolio, budget, &mut nothing).run(&mut executor, &mut || false);
    for outcome in executor.strange.iter().take(10) {
        println!("an outcome that the program cannot have: {outcome:?}");
    }
    Ok((summary, executor.endings))
}

/// Prints what was noted beside what was counted; returns true if they agree.
fn print(noted: &str, endings: &BTreeMap<Ending, u64>) -> bool {
    let table = Table::new([
        ("what the program does", 26, Align::Left),
        ("noted", 7, Align::Right),
        ("counted as", 21, Align::Left),
        ("counted", 7, Align::Right),
    ]);
    println!("{}", table.heading());
    let mut expected: BTreeMap<Ending, u64> = BTreeMap::new();
    let times = |letter: char| noted.chars().filter(|&other| other == letter).count() as u64;
    for (letter, _, ending) in ACTS {
        *expected.entry(ending).or_default() += times(letter);
    }
    let mut said = Vec::new();
    for (letter, words, ending) in ACTS {
        // Several actions may be counted in the same way: the number is beside the first of them.
        let counted = (!said.contains(&ending)).then(|| thousands(endings.get(&ending).copied().unwrap_or(0)));
        said.push(ending);
        let cells = [words.to_owned(), thousands(times(letter)), ending.name().to_owned(), counted.unwrap_or_default()];
        println!("{}", table.row(cells));
    }
    expected.retain(|_, count| *count > 0);
    if *endings == expected {
        return true;
    }
    println!("\nnot the same: noted {expected:?}, counted {endings:?}");
    false
}

/// Returns the kinds of bugs that the campaign found.
fn found(summary: &Summary) -> Vec<&'static str> {
    let mut kinds: Vec<&str> = summary
        .found
        .iter()
        .map(|found| match found.bug {
            Bug::Race(..) => "data race",
            Bug::Deadlock(_) => "deadlock",
            Bug::Assertion(..) => "assertion",
            _ => "crash",
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Returns the kinds of bugs that the program has shown, if it did what it noted.
fn expected_bugs(noted: &str) -> Vec<&'static str> {
    let kinds = [('c', "crash"), ('a', "assertion"), ('d', "deadlock"), ('r', "data race")];
    kinds.into_iter().filter(|(letter, _)| noted.contains(*letter)).map(|(_, kind)| kind).collect()
}

/// Hunts the same program as a user would: the bugs are explained and confirmed in spite of everything.
fn hunt(workshop: &Workshop, program: &Path) -> Result<bool, String> {
    let notes = workshop.write("hunt-notes", "");
    let options = ["--analysis", "random", "--runs", HUNT_RUNS, "--timeout", "500ms", "--memory", "60", "--seed", "5"];
    let mut command = workshop.hunt_command(program, &options);
    let hunted = Hunted::new(run(command.arg("--").arg(&notes)));
    let summary = hunted.summary.as_ref().ok_or_else(|| hunted.ended.stderr.clone())?;
    let noted = fs::read_to_string(&notes).map_err(|error| error.to_string())?;
    let mut confirmed: Vec<&str> =
        hunted.findings.iter().filter(|finding| finding.confirmed).map(|finding| finding.kind.as_str()).collect();
    confirmed.sort_unstable();
    confirmed.dedup();
    println!(
        "a hunt of {} executions, exit code {:?}; confirmed: {}",
        summary.executions,
        hunted.ended.status,
        confirmed.join(", ")
    );
    let all = expected_bugs(&noted).iter().all(|kind| confirmed.contains(&kind.replace(' ', "-").as_str()));
    Ok(all && hunted.ended.status == Some(1) && summary.executions.to_string() == HUNT_RUNS)
}
