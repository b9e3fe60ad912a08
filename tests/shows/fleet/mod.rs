//! `cargo xtask bench fleet [--wait MS] [--steps N] [--workers N,...] [--simulated N] [--quick]`: hunts on many machines.
//!
//! First, the same exhaustive search with more and more workers. All of them run on this machine. Its processors would limit
//! them, so the executions mostly wait: the program sleeps in real time at the end of each. What is measured is therefore what the
//! engine, the coordinator and the division of the work cost; each worker has a machine of its own, as far as time is concerned.
//! Processor time is measured as it is.
//!
//! Then, many simulated workers at one server: connections that take parts and hand in results of the usual size, without any
//! execution.

mod simulated;

use crate::long::{processor_time, ticks_of};
use crate::table::{Align, Table, thousands};
use racehunter_e2e::nats::Server;
use racehunter_e2e::processes::eventually;
use racehunter_e2e::results::Hunted;
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Ended, Workshop, root};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

struct Settings {
    wait_ms: u64,
    steps: u64,
    workers: Vec<usize>,
    simulated: usize,
    is_quick: bool,
}

fn settings(words: &[&str]) -> Result<Settings, String> {
    let mut settings =
        Settings { wait_ms: 100, steps: 8, workers: vec![2, 4, 8, 16], simulated: 1_000, is_quick: false };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        match word {
            "--wait" => settings.wait_ms = number(value()?)?,
            "--steps" => settings.steps = number(value()?)?,
            "--simulated" => settings.simulated = number(value()?)? as usize,
            "--workers" => {
                let counts = value()?.split(',').filter(|text| !text.is_empty());
                settings.workers =
                    counts.map(|text| number(text).map(|count| count as usize)).collect::<Result<_, _>>()?;
            }
            "--quick" => {
                let workers = vec![1, 4];
                settings = Settings { wait_ms: 10, steps: 2, workers, simulated: 50, is_quick: true };
            }
            _ => return Err(format!("there is no option {word}")),
        }
    }
    Ok(settings)
}

/// Prints the tables. Returns true if all hunts came to the result of one machine.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let settings = settings(words)?;
    let is_good = settings.workers.is_empty() || speed_up(&settings)?;
    if settings.simulated > 0 {
        println!();
        simulated::show(settings.simulated, settings.is_quick)?;
    }
    Ok(is_good)
}

/// What a hunt cost.
struct Cost {
    time: Duration,
    /// Processor time of the command and of its executions.
    hunt: Duration,
    executions: u64,
    /// What it claims.
    claim: String,
    fleet: Option<FleetCost>,
}

/// What the engine and the workers cost.
struct FleetCost {
    parts: u64,
    /// Processor time.
    workers: Duration,
    server: Duration,
    /// Sums over all workers, in microseconds.
    exploring_us: u64,
    taking_us: u64,
    handing_in_us: u64,
}

fn speed_up(settings: &Settings) -> Result<bool, String> {
    let workshop = Workshop::new();
    let program = build(&workshop, settings)?;
    let alone = hunt(&program, None, &[])?;
    println!(
        "a search of {} executions, each of which sleeps for {} ms\n",
        thousands(alone.executions),
        settings.wait_ms
    );
    let table = Table::new([
        ("workers", 0, Align::Right),
        ("time", 8, Align::Right),
        ("speed-up", 0, Align::Right),
        ("each", 5, Align::Right),
        ("parts", 6, Align::Right),
        ("engine/part", 0, Align::Right),
        ("share", 6, Align::Right),
        ("CPU/execution", 0, Align::Right),
        ("coordinator/part", 0, Align::Right),
        ("server/part", 0, Align::Right),
    ]);
    println!("{}", table.heading());
    println!("{}", table.row(row("none", &alone, &alone, 0)));
    let mut is_good = true;
    let mut first = None;
    for &count in &settings.workers {
        let cost = fleet_hunt(&program, count)?;
        let (one, workers) = first.get_or_insert((cost.time, count));
        println!("{}", table.row(row(&count.to_string(), &cost, &alone, count)));
        if count != *workers {
            let ratio = one.as_secs_f64() * *workers as f64 / cost.time.as_secs_f64() / count as f64;
            println!("{:>7}  {ratio:.2} of what {workers} would make {count} do", "");
        }
        if (cost.executions, &cost.claim) != (alone.executions, &alone.claim) {
            println!("{:>7}  wrong: {} executions, {}", "", cost.executions, cost.claim);
            is_good = false;
        }
    }
    Ok(is_good)
}

/// Speed-up is that over one machine without an engine.
fn row(workers: &str, cost: &Cost, alone: &Cost, count: usize) -> [String; 10] {
    let none = || "-".to_owned();
    let seconds = format!("{:.1} s", cost.time.as_secs_f64());
    let each = |time: Duration, of: u64| format!("{:.2} ms", time.as_secs_f64() * 1e3 / of.max(1) as f64);
    let Some(fleet) = &cost.fleet else {
        let cpu = each(cost.hunt, cost.executions);
        return [workers.to_owned(), seconds, none(), none(), none(), none(), none(), cpu, none(), none()];
    };
    let speed_up = alone.time.as_secs_f64() / cost.time.as_secs_f64();
    // What a worker does besides exploring. Waiting until there is a part counts too.
    let engine_us = fleet.taking_us + fleet.handing_in_us;
    [
        workers.to_owned(),
        seconds,
        format!("{speed_up:.2}"),
        format!("{:.2}", speed_up / count as f64),
        thousands(fleet.parts),
        each(Duration::from_micros(engine_us), fleet.parts),
        format!("{:.2} %", 100.0 * engine_us as f64 / (engine_us + fleet.exploring_us).max(1) as f64),
        each(fleet.workers, cost.executions),
        each(cost.hunt, fleet.parts),
        each(fleet.server, fleet.parts),
    ]
}

fn build(workshop: &Workshop, settings: &Settings) -> Result<std::path::PathBuf, String> {
    let (source, program) = (root().join("benches/programs/waits.c"), workshop.path("waits"));
    let (steps, wait) = (format!("-DSTEPS={}", settings.steps), format!("-DWAIT_MS={}", settings.wait_ms));
    let ended = workshop.cc(["-O1", "-pthread", &steps, &wait, &text(&source), "-o", &text(&program)]);
    if ended.status == Some(0) { Ok(program) } else { Err(ended.stderr) }
}

/// Hunts, alone or at an engine. The measured time is that of the command.
fn hunt(program: &Path, url: Option<&str>, options: &[&str]) -> Result<Cost, String> {
    let workshop = Workshop::new();
    let search = ["--analysis", "context-bound", "--bound", "2", "--jobs", "1"];
    let engine = url.map_or_else(Vec::new, |url| vec!["--engine", url]);
    let mut command: Command = workshop.hunt_command(program, &[&search[..], &engine, options].concat());
    let (before, began) = (processor_time(), Instant::now());
    let output = command.output().map_err(|error| error.to_string())?;
    let (time, hunt) = (began.elapsed(), processor_time().saturating_sub(before));
    let words = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let ended = Ended { status: output.status.code(), stdout: words(output.stdout), stderr: words(output.stderr) };
    let hunted = Hunted::new(ended);
    let summary = hunted.summary.as_ref().ok_or(hunted.ended.stderr)?;
    let (executions, claim) = (summary.executions, summary.guarantee.clone());
    Ok(Cost { time, hunt, executions, claim, fleet: None })
}

fn fleet_hunt(program: &Path, count: usize) -> Result<Cost, String> {
    let server = Server::new();
    let workers: Vec<_> = (0..count).map(|number| server.worker(&format!("w{number}"), &["--quiet"])).collect();
    eventually("the workers do not come", || server.workers().len() == count);
    let cost = hunt(program, Some(&server.url()), &[])?;
    // What the workers did last shows in their next reports.
    let ended = server.hunts().iter().filter_map(|hunt| hunt["status"]["at"].as_u64()).max().unwrap_or_default();
    let parts = server.hunts().iter().filter_map(|hunt| hunt["status"]["parts_done"].as_u64()).sum();
    let is_late = |worker: &Value| worker["at"].as_u64() > Some(ended);
    eventually("the workers do not report", || server.workers().iter().all(is_late));
    let sum = |field: &str| server.workers().iter().filter_map(|worker| worker[field].as_u64()).sum();
    let (exploring_us, taking_us, handing_in_us) = (sum("exploring_us"), sum("taking_us"), sum("handing_in_us"));
    let before = processor_time();
    for worker in workers {
        worker.signal(Signal::TERM);
        let _ = worker.finish();
    }
    let workers = processor_time().saturating_sub(before);
    let server = server.process().map(|process| ticks_of(&format!("/proc/{process}/stat"), 2)).unwrap_or_default();
    Ok(Cost { fleet: Some(FleetCost { parts, workers, server, exploring_us, taking_us, handing_in_us }), ..cost })
}
