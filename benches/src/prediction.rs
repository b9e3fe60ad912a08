//! `cargo xtask bench predict`: predictions from generated traces of many sizes, each by the command in a separate
//! process, so that its memory is separate too. With the classes of RAPID, which reads the same traces as text, also
//! its happens-before and sync-preserving races, on the traces that it can process in reasonable time.

use crate::measure::{Run, child, own_cpu};
use crate::table::thousands;
use crate::traces::Shape;
use crate::{USAGE, machine};
use anyhow::{Context as _, Result, bail};
use racehunter_predict::{Index, happens_before};
use racehunter_trace::{Trace, file, text};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

/// All shapes: sizes, then few and many threads and locks.
const SHAPES: [Shape; 8] = [
    Shape { events: 100_000, threads: 8, locks: 12 },
    Shape { events: 1_000_000, threads: 8, locks: 12 },
    Shape { events: 1_000_000, threads: 2, locks: 12 },
    Shape { events: 1_000_000, threads: 40, locks: 12 },
    Shape { events: 1_000_000, threads: 8, locks: 2 },
    Shape { events: 1_000_000, threads: 8, locks: 200 },
    Shape { events: 10_000_000, threads: 8, locks: 12 },
    Shape { events: 100_000_000, threads: 8, locks: 12 },
];

/// Maximum trace length for each engine of RAPID, in events.
const ENGINES: [(&str, u64); 2] = [("SHB", 1_000_000), ("SyncPreserving", 100_000)];

struct Options<'a> {
    quick: bool,
    least: u64,
    most: u64,
    rapid: Option<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(mut words: &'a [String]) -> Result<Self> {
        let mut options = Self { quick: false, least: 0, most: u64::MAX, rapid: None };
        loop {
            words = match words {
                [] => return Ok(options),
                [word, rest @ ..] if word == "--quick" => {
                    options.quick = true;
                    rest
                }
                [word, number, rest @ ..] if word == "--most" => {
                    options.most = number.parse().with_context(|| format!("`{number}` is not a number of events"))?;
                    rest
                }
                [word, number, rest @ ..] if word == "--least" => {
                    options.least = number.parse().with_context(|| format!("`{number}` is not a number of events"))?;
                    rest
                }
                [word, classes, rest @ ..] if word == "--rapid" => {
                    options.rapid = Some(classes);
                    rest
                }
                _ => bail!("{USAGE}"),
            };
        }
    }
}

/// Measures everything, and prints a line for each trace.
pub fn show(words: &[String]) -> Result<()> {
    let options = Options::parse(words)?;
    println!("{}", machine::heading(&machine::load()));
    println!(
        "policy m2, one worker; times are of the processor, and those of whole processes include reading the trace"
    );
    println!(
        "{:>13} {:>7} {:>5}  {:>7} {:>6}  {:>9}  {:>8} {:>9} {:>9} {:>11}",
        "events", "threads", "locks", "B/event", ".std", "SHB", "predict", "", "memory", "predictions"
    );
    let directory = tempfile::tempdir()?;
    for shape in SHAPES {
        let events = if options.quick { shape.events / 100 } else { shape.events };
        if !(options.least..=options.most).contains(&events) {
            continue;
        }
        let trace = Shape { events, ..shape }.generate()?;
        measure(&trace, Shape { events, ..shape }, directory.path(), &options)?;
    }
    Ok(())
}

fn measure(trace: &Trace, shape: Shape, directory: &Path, options: &Options<'_>) -> Result<()> {
    let events = trace.len() as f64;
    let (ours, lines) = (directory.join("trace.rht"), directory.join("trace.std"));
    file::write(trace, BufWriter::new(File::create(&ours)?))?;
    text::write(trace, BufWriter::new(File::create(&lines)?))?;
    let size = |path: &Path| Ok::<_, std::io::Error>(std::fs::metadata(path)?.len() as f64 / events);
    let index = Index::new(trace)?;
    let begin = own_cpu();
    std::hint::black_box(happens_before(&index).len());
    let linear = own_cpu() - begin;
    drop(index);
    let run = predictions(&ours)?;
    let summary: serde_json::Value = serde_json::from_str(run.output.lines().last().unwrap_or_default())
        .with_context(|| format!("no summary: {}", run.output))?;
    println!(
        "{:>13} {:>7} {:>5}  {:>7.2} {:>6.1}  {:>5.1} M/s  {:>7.2}s {:>5.2} M/s {:>5.0} MiB {:>11}",
        thousands(trace.len() as u64),
        shape.threads,
        shape.locks,
        size(&ours)?,
        size(&lines)?,
        events / linear / 1e6,
        run.cpu,
        events / run.cpu / 1e6,
        run.memory / 1024.0 / 1024.0,
        summary["predictions"],
    );
    let predicted: BTreeSet<u64> = run.output.lines().filter_map(later_event).collect();
    for (engine, most) in ENGINES {
        if let Some(classes) = options.rapid.filter(|_| shape.events <= most) {
            let mut command = Command::new("java");
            command.args(["-Xmx8g", "-cp", classes, engine, "-f=std", "-v=1"]).arg(format!("-p={}", lines.display()));
            let rapid = child(&mut command)?;
            let racy: BTreeSet<u64> = rapid.output.lines().filter_map(racy_event).collect();
            println!(
                "{:>13} RAPID {engine}: {:.2}s, {:.1} k/s, {:.0} times as long; {} racy events, {} of them predicted",
                "",
                rapid.cpu,
                events / rapid.cpu / 1e3,
                rapid.cpu / run.cpu,
                racy.len(),
                racy.intersection(&predicted).count(),
            );
        }
    }
    Ok(())
}

/// Returns the later event of the race that a line of the command's JSON reports, if any.
fn later_event(line: &str) -> Option<u64> {
    let finding: serde_json::Value = serde_json::from_str(line).ok()?;
    finding["events"].as_array()?.iter().filter_map(serde_json::Value::as_u64).max()
}

/// Returns the event at which RAPID reports a race. RAPID counts from 1.
fn racy_event(line: &str) -> Option<u64> {
    let (number, _) = line.strip_prefix("Race detected at event ")?.split_once(' ')?;
    number.parse::<u64>().ok()?.checked_sub(1)
}

/// Runs the command to get all predictions from a trace.
fn predictions(trace: &Path) -> Result<Run> {
    let program = std::env::var_os("RACEHUNTER").context("RACEHUNTER is not set: run `cargo xtask bench predict`")?;
    let options = ["predict", "--policy", "m2", "--jobs", "1", "--message-format", "json"];
    child(Command::new(program).args(options).arg(trace))
}
