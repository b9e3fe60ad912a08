//! `cargo xtask bench predict`: predictions from generated traces, each by the command in a separate process, so that its
//! memory is separate too. First traces of many sizes, then five families of them. With the classes of RAPID, which
//! reads the same traces as text, also its races, on the traces that it can process in reasonable time.

use crate::definition::Definition;
use crate::measure::{Run, child, own_cpu};
use crate::plot::Plot;
use crate::table::thousands;
use crate::traces::{Family, Shape};
use crate::{USAGE, machine};
use anyhow::{Context as _, Result, bail};
use racehunter_predict::{Index, happens_before};
use racehunter_trace::{Trace, file, text};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

const fn disciplined(events: u64, threads: usize, locks: usize) -> Shape {
    Shape { family: Family::Disciplined, events, threads, locks }
}

/// Sizes, then few and many threads and locks.
const SHAPES: [Shape; 9] = [
    disciplined(100_000, 8, 12),
    disciplined(1_000_000, 8, 12),
    disciplined(1_000_000, 2, 12),
    disciplined(1_000_000, 40, 12),
    disciplined(1_000_000, 8, 2),
    disciplined(1_000_000, 8, 200),
    disciplined(10_000_000, 8, 12),
    disciplined(100_000_000, 8, 12),
    disciplined(1_000_000_000, 8, 12),
];

/// Sizes of the families.
const SIZES: [u64; 3] = [20_000, 100_000, 1_000_000];

/// Traces up to this length are also read into memory here.
const READ: u64 = 100_000_000;

/// Maximum trace length for each engine of RAPID, in events.
const ENGINES: [(&str, u64); 3] = [("SHB", 1_000_000), ("SyncPreserving", 100_000), ("OSR", 1_000_000)];

struct Options<'a> {
    quick: bool,
    least: u64,
    most: u64,
    rapid: Option<&'a str>,
    plot: Option<PathBuf>,
}

impl<'a> Options<'a> {
    fn parse(mut words: &'a [String]) -> Result<Self> {
        let mut options = Self { quick: false, least: 0, most: READ, rapid: None, plot: None };
        let number = |text: &str| text.parse().with_context(|| format!("`{text}` is not a number of events"));
        loop {
            words = match words {
                [] => return Ok(options),
                [word, rest @ ..] if word == "--quick" => {
                    options.quick = true;
                    rest
                }
                [word, events, rest @ ..] if word == "--most" => {
                    options.most = number(events)?;
                    rest
                }
                [word, events, rest @ ..] if word == "--least" => {
                    options.least = number(events)?;
                    rest
                }
                [word, classes, rest @ ..] if word == "--rapid" => {
                    options.rapid = Some(classes);
                    rest
                }
                [word, path, rest @ ..] if word == "--plot" => {
                    options.plot = Some(path.into());
                    rest
                }
                _ => bail!("{USAGE}"),
            };
        }
    }

    /// Returns a shape as it is measured, if it is.
    fn wanted(&self, shape: Shape) -> Option<Shape> {
        let events = if self.quick { shape.events / 100 } else { shape.events };
        (self.least..=self.most).contains(&events).then_some(Shape { events, ..shape })
    }
}

/// Measures everything, and prints a line for each trace.
pub fn show(words: &[String]) -> Result<()> {
    let options = Options::parse(words)?;
    println!("{}", machine::heading(&machine::load()));
    println!(
        "policy m2, one worker; times are of the processor, and those of whole processes include reading the trace"
    );
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("trace.rht");
    let mut plot = Plot::default();
    println!(
        "{:>13} {:>7} {:>5}  {:>7}  {:>9}  {:>8} {:>9} {:>9} {:>11} {:>10}",
        "events", "threads", "locks", "B/event", "SHB", "predict", "", "memory", "predictions", "unfinished"
    );
    for shape in SHAPES.into_iter().filter_map(|shape| options.wanted(shape)) {
        growth(shape, &path, &mut plot)?;
    }
    if let Some(to) = &options.plot {
        std::fs::write(to, plot.svg()).with_context(|| format!("cannot write {}", to.display()))?;
    }
    println!();
    println!(
        "{:>6} {:>11}  {:>8} {:>9} {:>6} {:>10}  races of others: all, missing, of these no race by their definition",
        "family", "events", "predict", "memory", "racy", "unfinished"
    );
    for events in SIZES {
        for family in Family::ALL {
            if let Some(shape) = options.wanted(Shape { family, events, threads: 8, locks: 12 }) {
                compare(shape, &path, options.rapid)?;
            }
        }
    }
    Ok(())
}

fn growth(shape: Shape, path: &Path, plot: &mut Plot) -> Result<()> {
    let count = shape.write(path)?;
    let events = count as f64;
    let linear = if shape.events <= READ {
        let trace = file::Reader::open(path).and_then(|reader| reader.read())?;
        let index = Index::new(&trace)?;
        let begin = own_cpu();
        std::hint::black_box(happens_before(&index).len());
        format!("{:>5.1} M/s", events / (own_cpu() - begin) / 1e6)
    } else {
        "-".to_owned()
    };
    let run = predictions(path, "sites")?;
    let summary = summary(&run)?;
    println!(
        "{:>13} {:>7} {:>5}  {:>7.2}  {linear:>9}  {:>7.2}s {:>5.2} M/s {:>5.0} MiB {:>11} {:>10}",
        thousands(count),
        shape.threads,
        shape.locks,
        std::fs::metadata(path)?.len() as f64 / events,
        run.cpu,
        events / run.cpu / 1e6,
        run.memory / 1024.0 / 1024.0,
        summary["predictions"],
        summary["unfinished"],
    );
    if (shape.threads, shape.locks) == (8, 12) {
        plot.add(events, run.cpu, run.memory / 1024.0 / 1024.0);
    }
    Ok(())
}

/// Compares racy events: accesses that race with an earlier one.
fn compare(shape: Shape, path: &Path, rapid: Option<&str>) -> Result<()> {
    shape.write(path)?;
    let trace = file::Reader::open(path).and_then(|reader| reader.read())?;
    let run = predictions(path, "event")?;
    let ours: BTreeSet<u64> = run.output.lines().filter_map(later_event).collect();
    let summary = summary(&run)?;
    print!(
        "{:>6} {:>11}  {:>7.2}s {:>5.0} MiB {:>6} {:>4} of {:<5}",
        shape.family.name(),
        thousands(trace.len() as u64),
        run.cpu,
        run.memory / 1024.0 / 1024.0,
        ours.len(),
        summary["unfinished"],
        summary["cases"],
    );
    let lines = path.with_extension("std");
    if rapid.is_some() {
        text::write(&trace, BufWriter::new(File::create(&lines)?))?;
    }
    for (engine, most) in ENGINES {
        let Some(classes) = rapid.filter(|_| shape.events <= most) else { continue };
        let mut command = Command::new("java");
        command.args(["-Xmx8g", "-cp", classes, engine, "-f=std", "-v=1"]).arg(format!("-p={}", lines.display()));
        let theirs = child(&mut command)?;
        let racy: BTreeSet<u64> = theirs.output.lines().flat_map(racy_events).collect();
        let missing: Vec<u64> = racy.difference(&ours).copied().collect();
        let undefined = if engine == "OSR" { not_by_definition(&trace, &missing) } else { 0 };
        print!("  {engine} {}, {}, {undefined} ({:.1}s)", racy.len(), missing.len(), theirs.cpu);
    }
    println!();
    Ok(())
}

/// Returns how many events do not race with an earlier one by the definition of sync-reversal races.
fn not_by_definition(trace: &Trace, events: &[u64]) -> usize {
    if events.is_empty() {
        return 0;
    }
    let definition = Definition::new(trace);
    events.iter().filter(|&&event| !u32::try_from(event).is_ok_and(|event| definition.is_racy(event))).count()
}

fn summary(run: &Run) -> Result<serde_json::Value> {
    let line = run.output.lines().last().unwrap_or_default();
    serde_json::from_str(line).with_context(|| format!("no summary: {}", run.output))
}

/// Returns the later event of the race that a line of the command's JSON reports, if any.
fn later_event(line: &str) -> Option<u64> {
    let finding: serde_json::Value = serde_json::from_str(line).ok()?;
    finding["events"].as_array()?.iter().filter_map(serde_json::Value::as_u64).max()
}

/// Returns the events at which a line of RAPID reports races. Most of its engines count from 1, and report them one by
/// one; one counts from 0, and reports them all at the end.
fn racy_events(line: &str) -> Vec<u64> {
    if let Some(list) = line.strip_prefix("Racy events: [") {
        return list.trim_end_matches(']').split(", ").filter_map(|number| number.parse().ok()).collect();
    }
    let number = line.strip_prefix("Race detected at event ").and_then(|rest| rest.split_once(' '));
    number.and_then(|(number, _)| number.parse::<u64>().ok()?.checked_sub(1)).into_iter().collect()
}

/// Runs the command to get all predictions from a trace.
fn predictions(trace: &Path, each: &str) -> Result<Run> {
    let program = std::env::var_os("RACEHUNTER").context("RACEHUNTER is not set: run `cargo xtask bench predict`")?;
    let options = ["predict", "--policy", "m2", "--jobs", "1", "--each", each, "--message-format", "json"];
    child(Command::new(program).args(options).arg(trace))
}
