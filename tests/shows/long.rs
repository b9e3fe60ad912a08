//! Table 3: the cost of 1,000 executions with many accesses each.
//!
//! As in the paper: context bounding by switches, in one stage, a fair strategy with 10,000 events in a row, no
//! detector. In the paper every access is a point; here only those to shared memory are by default, so both are
//! measured. Times are processor time of everything involved, because other work on the machine would change real
//! time.

use crate::table::{Align, Table, thousands, time};
use racehunter_analyses::{BoundKind, ContextBound, Strategy};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, root};
use racehunter_explore::{Budget, Campaign, Points, Portfolio, Progress, Stop};
use racehunter_launch::{Limits, Processes, Program};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Accesses of an execution, the paper's time, and the goal.
const ROWS: [(u64, &str, &str); 4] = [
    (24_000, "20 m 31 s", ""),
    (45_000, "27 m 46 s", ""),
    (49_000, "25 m 28 s", "3 s"),
    (1_300_000, "2 h 22 m 41 s", "60 s"),
];
const EXECUTIONS: u64 = 1000;
/// Two, as in the paper, plus the three that the program always needs, and those that a turn of 10,000 events costs.
const SWITCHES: u32 = 5;
const TURN: u64 = 10_000;

/// Prints the rows with these numbers of accesses, or all.
pub fn show(names: &[&str]) -> Result<(), String> {
    let workshop = Workshop::new();
    let (source, program) = (root().join("benches/programs/accesses.c"), workshop.path("accesses"));
    let _ = workshop.cc(["-O2", "-pthread", &text(&source), "-o", &text(&program)]).expect(0);
    println!("\nTable 3: {} executions each\n", thousands(EXECUTIONS));
    let table = Table::new([
        ("accesses", 9, Align::Right),
        ("paper", 13, Align::Right),
        ("goal", 4, Align::Right),
        ("shared points", 0, Align::Right),
        ("memory", 7, Align::Right),
        ("all points", 0, Align::Right),
        ("memory", 7, Align::Right),
    ]);
    println!("{}", table.heading());
    for (accesses, paper, goal) in ROWS {
        if !names.is_empty() && !names.contains(&accesses.to_string().as_str()) {
            continue;
        }
        let shared = explore(&program, accesses, Points::Shared)?;
        let all = explore(&program, accesses, Points::All)?;
        println!(
            "{}",
            table.row([
                thousands(accesses),
                paper.to_owned(),
                goal.to_owned(),
                time(shared.0),
                memory(shared.1),
                time(all.0),
                memory(all.1),
            ])
        );
    }
    Ok(())
}

fn memory(kib: u64) -> String {
    format!("{} MiB", kib >> 10)
}

/// Returns the time of a campaign, and the peak memory of it and everything that it has started.
fn explore(path: &Path, accesses: u64, points: Points) -> Result<(Duration, u64), String> {
    let program = Program {
        path: path.to_owned(),
        arguments: vec![accesses.to_string().into()],
        input: None,
        client: None,
        libraries: None,
    };
    let (done, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        // Reading the memory use of large processes takes time that must not be counted.
        let looking = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(memory_of_all(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(200));
            }
            ticks_of("/proc/thread-self/stat", 2)
        });
        let explored = campaign(program, accesses, points);
        done.store(true, Ordering::Relaxed);
        let looked = looking.join().unwrap_or_default();
        explored.map(|took| (took.saturating_sub(looked), peak.load(Ordering::Relaxed)))
    })
}

fn campaign(program: Program, accesses: u64, points: Points) -> Result<Duration, String> {
    let began = processor_time();
    let limits = Limits { time: Duration::from_secs(300), ..Limits::default() };
    let mut processes = Processes::start(program, limits, 1).map_err(|error| error.to_string())?;
    if points == Points::All {
        processes.make_all_points();
    }
    let bound = SWITCHES + (accesses / TURN) as u32;
    let analysis = ContextBound::iterative(bound, BoundKind::Switches, Strategy::Fair(TURN), 1).starting_at(bound);
    let budget = Budget { runs: Some(EXECUTIONS), points, detect_races: false, ..Budget::default() };
    let mut silent = |_: Progress| {};
    let summary = Campaign::new(Portfolio::of(analysis), budget, &mut silent).run(&mut processes, &mut || false);
    if !matches!(summary.stop, Stop::Runs) {
        return Err(format!("the campaign ended early: {:?}", summary.stop));
    }
    // The time of the server and of its executions is known only after waiting for it.
    drop(processes);
    Ok(processor_time().saturating_sub(began))
}

/// Returns the processor time of this process and of the children that it has waited for.
pub fn processor_time() -> Duration {
    ticks_of("/proc/self/stat", 4)
}

/// Returns the sum of the first few times in a kernel file: user and system time, its own and those of its children.
pub fn ticks_of(file: &str, times: usize) -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(file).unwrap_or_default();
    // The name, in parentheses, may contain anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    let ticks: u32 = fields.skip(11).take(times).filter_map(|field| field.parse::<u32>().ok()).sum();
    TICK * ticks
}

/// Returns the memory of this process and its descendants in KiB, each page once.
fn memory_of_all() -> u64 {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse::<u32>().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may contain anything.
        let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse::<u32>().ok()?;
        Some((pid, parent))
    });
    let entries: Vec<(u32, u32)> = entries.collect();
    let mut family = vec![own];
    let mut at = 0;
    while let Some(&parent) = family.get(at) {
        family.extend(entries.iter().filter(|entry| entry.1 == parent).map(|entry| entry.0));
        at += 1;
    }
    family.into_iter().filter_map(proportional).sum()
}

/// Returns the memory of a process in KiB; shared memory counts by its share.
fn proportional(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}
