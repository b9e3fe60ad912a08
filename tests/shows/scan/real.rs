//! `cargo xtask bench static --real [NAME...]`: the results of the analysis for real programs, and its cost.

use crate::table::{Align, Table, thousands};
use racehunter_e2e::real::{Build, Real, named};
use racehunter_e2e::{Workshop, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// Prints the table; returns true if every scan ended.
pub fn show(names: &[&str]) -> Result<bool, String> {
    let table = Table::new([
        ("program", 8, Align::Left),
        ("verdict", 9, Align::Left),
        ("threads", 0, Align::Right),
        ("candidates", 0, Align::Right),
        ("gaps", 0, Align::Right),
        ("seconds", 0, Align::Right),
        ("MiB", 5, Align::Right),
        ("because", 0, Align::Left),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    for real in named(names)? {
        let scanned = scan(real)?;
        let Some(verdict) = scanned.lines.iter().find(|line| line["reason"] == "verdict") else {
            println!("{}: no verdict", real.name);
            good = false;
            continue;
        };
        let number = |field: &str| verdict[field].as_u64().unwrap_or(0);
        let word = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
        println!(
            "{}",
            table.row([
                real.name.to_owned(),
                word("verdict"),
                number("threads").to_string(),
                thousands(number("candidates")),
                thousands(number("gaps")),
                format!("{:.1}", number("elapsed_ms") as f64 / 1000.0),
                thousands(scanned.memory >> 10),
                word("why"),
            ])
        );
        let mut gaps: BTreeMap<&str, u64> = BTreeMap::new();
        for line in scanned.lines.iter().filter(|line| line["reason"] == "gap") {
            *gaps.entry(line["message"].as_str().unwrap_or_default()).or_default() += 1;
        }
        let mut gaps: Vec<(&str, u64)> = gaps.into_iter().collect();
        gaps.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (what, count) in gaps.iter().take(12) {
            println!("    {count:5} x {what}");
        }
    }
    Ok(good)
}

struct Scanned {
    lines: Vec<Value>,
    /// Peak memory in KiB.
    memory: u64,
}

/// Scans the program as it is linked: nothing is executed.
fn scan(real: &Real) -> Result<Scanned, String> {
    let workshop = Workshop::new();
    let mut command = tool::racehunter(["scan", "--approx", "over", "--message-format", "json", "--out"]);
    command.arg(workshop.out()).arg(real.build(Build::Ours));
    let report = std::fs::File::create(workshop.path("report")).map_err(|error| error.to_string())?;
    let started = command.stdin(Stdio::null()).stdout(report).spawn();
    let mut child = started.map_err(|error| error.to_string())?;
    let mut memory = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        memory = memory.max(peak(child.id()).unwrap_or(0));
        thread::sleep(Duration::from_millis(20));
    }
    let text = std::fs::read_to_string(workshop.path("report")).map_err(|error| error.to_string())?;
    Ok(Scanned { lines: text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), memory })
}

/// Returns the peak memory of a process so far, in KiB.
pub fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
