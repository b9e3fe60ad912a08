//! `cargo xtask bench real [--runs N] [NAME...]`: the cost of one explored execution of a real program, beside one run of the
//! same program with ThreadSanitizer.
//!
//! Both are the processor time of everything involved: the program, its fork server, and the controller. The one-time work of a
//! hunt, such as starting and looking for shared accesses, is left out by taking the difference between a long and a short hunt.

use crate::table::{Align, Table, thousands};
use racehunter_e2e::real::{Build, Real, named};
use racehunter_e2e::{Hunted, Workshop, run};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Default number of executions measured.
const RUNS: u64 = 100;
/// Number of executions of the short hunt. By then the batches have their full size.
const FEW: u64 = 32;
/// Number of runs with ThreadSanitizer: some take less time than the clock can measure.
const TSAN_RUNS: u32 = 40;

/// Prints the table of the programs with these names, or of all.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (runs, names) = match words {
        ["--runs", runs, names @ ..] => (runs.parse().map_err(|_| "--runs needs a number".to_owned())?, names),
        names => (RUNS, names),
    };
    let table = Table::new([
        ("program", 8, Align::Left),
        ("events", 11, Align::Right),
        ("ThreadSanitizer", 0, Align::Right),
        ("one execution", 0, Align::Right),
        ("ratio", 6, Align::Right),
        ("rate", 8, Align::Right),
        ("controller", 10, Align::Right),
    ]);
    println!("{}", table.heading());
    for real in named(names)? {
        let tsan = sanitized(real)?;
        let few = hunt(real, FEW)?;
        let many = hunt(real, FEW + runs)?;
        let cost = (many.cpu.saturating_sub(few.cpu)).as_secs_f64() / runs as f64;
        let rate = runs as f64 / many.time.saturating_sub(few.time).as_secs_f64();
        println!(
            "{}",
            table.row([
                real.name.to_owned(),
                thousands(many.events),
                format!("{:.1} ms", tsan * 1e3),
                format!("{:.1} ms", cost * 1e3),
                format!("{:.1}", cost / tsan),
                format!("{rate:.1}/s"),
                format!("{} MB", many.memory_kib / 1000),
            ])
        );
    }
    Ok(true)
}

/// Returns the processor time of one run with ThreadSanitizer, in seconds.
fn sanitized(real: &Real) -> Result<f64, String> {
    let program = real.build(Build::Tsan);
    let before = children_cpu();
    for _ in 0..TSAN_RUNS {
        // Without address randomisation: otherwise ThreadSanitizer does not always find room for its shadow.
        let ended = run(Command::new("setarch").arg("-R").arg(&program).args(real.long_arguments()));
        if ended.status != Some(0) {
            return Err(format!("{} fails with ThreadSanitizer: {}{}", real.name, ended.stdout, ended.stderr));
        }
    }
    Ok((children_cpu() - before).as_secs_f64() / f64::from(TSAN_RUNS))
}

/// The cost of a hunt.
struct Cost {
    cpu: Duration,
    time: Duration,
    /// Peak memory of the controller.
    memory_kib: u64,
    events: u64,
}

/// Hunts with default options and one worker.
fn hunt(real: &Real, runs: u64) -> Result<Cost, String> {
    let workshop = Workshop::new();
    let program = real.build(Build::Fast);
    let runs = runs.to_string();
    let mut command = workshop.hunt_command(&program, &["--runs", &runs, "--jobs", "1", "--timeout", "60s"]);
    command.arg("--").args(real.long_arguments());
    let (before, began) = (children_cpu(), Instant::now());
    let is_done = AtomicBool::new(false);
    let (hunted, memory_kib) = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !is_done.load(Ordering::Relaxed) {
                most = children_memory().into_iter().fold(most, u64::max);
                thread::sleep(Duration::from_millis(20));
            }
            most
        });
        let hunted = Hunted::new(run(&mut command));
        is_done.store(true, Ordering::Relaxed);
        (hunted, watch.join().unwrap_or(0))
    });
    let (cpu, time) = (children_cpu() - before, began.elapsed());
    let summary = hunted.summary.ok_or(hunted.ended.stderr)?;
    let events = summary.events;
    Ok(Cost { cpu, time, memory_kib, events })
}

/// Returns the processor time of all ended children, including theirs.
fn children_cpu() -> Duration {
    /// Kernel clock ticks per second, on every common Linux.
    const TICKS: u32 = 100;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name before it may contain spaces; it ends with the last parenthesis.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let ticks: u32 = fields.skip(13).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    Duration::from_secs(1) * ticks / TICKS
}

/// Returns the peak memory of each child of this process so far, in KiB.
fn children_memory() -> Vec<u64> {
    let own = std::process::id();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let most = |child: &str| {
        let status = fs::read_to_string(format!("/proc/{child}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    };
    children.split_ascii_whitespace().filter_map(most).collect()
}
