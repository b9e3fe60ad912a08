//! The same tests by RaceHunter, Shuttle, loom and ThreadSanitizer: `cargo xtask bench peers [--runs N] [--time T]`.
//!
//! The tests are in `benches/peers`: six bugs, and one correct program for the number of executions per second. All
//! tools run on this machine, one after the other, in one run of this command.

use super::{Answer, at, cargo, cargo_racehunter, home, plain};
use crate::table::{Align, Table, thousands};
use racehunter_e2e::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TESTS: [&str; 7] = [
    "bug_lost_update",
    "bug_data_race",
    "bug_relaxed_publication",
    "bug_two_locks",
    "bug_missed_signal",
    "bug_ring",
    "speed_counter",
];

/// Number of runs with ThreadSanitizer, which checks the schedules that happen to occur.
const TRIES: u32 = 10;
/// Time limit of a peer's test, which hangs at a deadlock that its tool does not notice.
const PATIENCE: Duration = Duration::from_secs(20);

/// The result of a tool for a test.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// The bug was found.
    Found,
    Nothing,
    /// It did not end, and does not say why.
    Hangs,
}

/// A tool, and its results.
struct Row {
    tool: &'static str,
    changed: usize,
    outcomes: Vec<Outcome>,
    /// Number and duration of executions of the correct program.
    speed: Option<(u64, Duration)>,
    remark: String,
}

/// Prints the table. Returns true if RaceHunter finds all bugs, and nothing in the correct program.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (mut runs, mut limit) = ("10000", "30s");
    for option in words.chunks(2) {
        match *option {
            ["--runs", number] => runs = number,
            ["--time", time] => limit = time,
            _ => return Err("usage: cargo xtask bench peers [--runs N] [--time T]".to_owned()),
        }
    }
    let place = place()?;
    let source = place.join("src/lib.rs");
    let source = fs::read_to_string(&source).map_err(|error| at(&source, error))?;
    let limits = ["--runs", runs, "--time", limit];
    let rows = [
        hunted(&place, "RaceHunter", &[], &limits)?,
        hunted(&place, "RaceHunter, `check`", &["--features", "in_process", "--release"], &limits)?,
        by_library(&place, "Shuttle, 10,000 at random", "shuttle", &source)?,
        by_library(&place, "loom, 2 preemptions", "loom", &source)?,
        sanitized(&place)?,
    ];
    let table = Table::new([
        ("tool", 26, Align::Left),
        ("lines changed", 0, Align::Right),
        ("bugs of 6", 0, Align::Right),
        ("executions", 0, Align::Right),
        ("per second", 0, Align::Right),
        ("remarks", 0, Align::Left),
    ]);
    println!("{}", table.heading());
    for row in &rows {
        let bugs = row.outcomes[..6].iter().filter(|outcome| **outcome == Outcome::Found).count();
        let missed: Vec<&str> = (0..6).filter(|&at| row.outcomes[at] != Outcome::Found).map(|at| TESTS[at]).collect();
        let mut remark = row.remark.clone();
        if !missed.is_empty() {
            remark = format!("misses {}; {remark}", missed.join(", ")).trim_end_matches("; ").to_owned();
        }
        if row.outcomes[6] != Outcome::Nothing {
            remark = format!("accuses the correct program; {remark}").trim_end_matches("; ").to_owned();
        }
        let rate = |(executions, time): (u64, Duration)| thousands((executions as f64 / time.as_secs_f64()) as u64);
        let cells = [
            row.tool.to_owned(),
            row.changed.to_string(),
            bugs.to_string(),
            row.speed.map_or_else(|| "-".to_owned(), |(executions, _)| thousands(executions)),
            row.speed.map_or_else(|| "-".to_owned(), rate),
            remark,
        ];
        println!("{}", table.row(cells));
    }
    println!("Miri is part of nightly toolchains only, and is not measured.");
    let ours = &rows[0].outcomes;
    Ok(ours[..6].iter().all(|outcome| *outcome == Outcome::Found) && ours[6] == Outcome::Nothing)
}

/// Returns a copy of the crate, which has its own lock file and directory.
fn place() -> Result<PathBuf, String> {
    let (from, to) = (root().join("benches/peers"), home("bench-peers"));
    fs::create_dir_all(to.join("src")).map_err(|error| at(&to, error))?;
    let read = |file: &str| fs::read_to_string(from.join(file)).map_err(|error| at(&from.join(file), error));
    let companion = root().join("crates/companion");
    let manifest = read("Cargo.toml")?.replace("../../crates/companion", &companion.to_string_lossy());
    for (file, text) in [("Cargo.toml", manifest), ("src/lib.rs", read("src/lib.rs")?)] {
        let file = to.join(file);
        if fs::read_to_string(&file).ok().as_deref() != Some(&*text) {
            fs::write(&file, text).map_err(|error| at(&file, error))?;
        }
    }
    Ok(to)
}

fn hunted(place: &Path, tool: &'static str, options: &[&str], limits: &[&str]) -> Result<Row, String> {
    let mut command = cargo_racehunter();
    command.current_dir(place).args(["test", "--message-format", "json", "--quiet", "--stop-on-first", "--jobs", "1"]);
    let answer = Answer::of(command.args(options).args(limits))?;
    let tested = |name: &str| answer.tests.iter().find(|test| test.test == format!("peers {name}"));
    let outcomes = TESTS.iter().map(|name| match tested(name).map(|test| test.verdict.as_str()) {
        Some("found") => Outcome::Found,
        Some("clean" | "proved") => Outcome::Nothing,
        _ => Outcome::Hangs,
    });
    let speed = tested(TESTS[6]).map(|test| (test.executions, Duration::from_millis(test.elapsed_ms)));
    // An in-process loop is one call around the test.
    let changed = if options.is_empty() { 0 } else { 1 };
    Ok(Row { tool, changed, outcomes: outcomes.collect(), speed, remark: String::new() })
}

/// Runs loom or Shuttle: the crate is compiled for them.
fn by_library(place: &Path, tool: &'static str, feature: &str, source: &str) -> Result<Row, String> {
    let program = build(place, feature, plain(cargo()).args(["test", "--release", "--no-run", "--features", feature]))?;
    let mut speed = None;
    let mut outcomes = Vec::new();
    for name in TESTS {
        let (said, ended) = run(&program, name)?;
        let counted = said.lines().find_map(counted);
        speed = counted.filter(|_| name == TESTS[6]).or(speed);
        outcomes.push(match ended {
            None => Outcome::Hangs,
            Some(true) => Outcome::Nothing,
            Some(false) => Outcome::Found,
        });
    }
    Ok(Row { tool, changed: marked(source, feature), outcomes, speed, remark: String::new() })
}

/// Runs ThreadSanitizer, which is unstable in Rust; a stable compiler accepts it with `RUSTC_BOOTSTRAP`.
fn sanitized(place: &Path) -> Result<Row, String> {
    let mut command = plain(cargo());
    command.args(["test", "--no-run", "--target", "x86_64-unknown-linux-gnu"]).env("RUSTC_BOOTSTRAP", "1");
    command.env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer");
    let program = build(place, "tsan", &mut command)?;
    let mut outcomes = Vec::new();
    for name in TESTS {
        let mut outcome = Outcome::Nothing;
        for _ in 0..TRIES {
            let (said, ended) = run(&program, name)?;
            let reports = said.lines().filter(|line| line.starts_with("SUMMARY: ThreadSanitizer"));
            // It does not know the standard library; its reports about that count only for the correct program.
            let own = reports.clone().any(|line| line.contains("src/lib.rs") && !line.contains("/rustc/"));
            match () {
                () if own || name == TESTS[6] && reports.count() > 0 => outcome = Outcome::Found,
                () if ended.is_none() && outcome == Outcome::Nothing => outcome = Outcome::Hangs,
                () => continue,
            }
            break;
        }
        outcomes.push(outcome);
    }
    let remark = format!("{TRIES} runs each; its standard library is not instrumented without nightly");
    Ok(Row { tool: "ThreadSanitizer", changed: 0, outcomes, speed: None, remark })
}

/// Builds the tests, and returns their path.
fn build(place: &Path, name: &str, command: &mut Command) -> Result<PathBuf, String> {
    command
        .current_dir(place)
        .args(["--message-format", "json"])
        .env("CARGO_TARGET_DIR", place.join("build").join(name));
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = messages.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    programs.next_back().ok_or_else(|| format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// Runs one test; returns its output, and whether it passed, if it ended.
fn run(program: &Path, test: &str) -> Result<(String, Option<bool>), String> {
    let log = program.with_extension("log");
    let file = fs::File::create(&log).map_err(|error| at(&log, error))?;
    let mut command = plain(program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env("RUST_BACKTRACE", "0");
    command.stdout(Stdio::null()).stderr(file);
    let mut child = command.spawn().map_err(|error| at(program, error))?;
    let began = Instant::now();
    let ended = loop {
        match child.try_wait().map_err(|error| at(program, error))? {
            Some(status) => break Some(status.success()),
            None if began.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let said = fs::read(&log).map_err(|error| at(&log, error))?;
    Ok((String::from_utf8_lossy(&said).into_owned(), ended))
}

/// Parses what a test prints about itself: `peers: 10 executions in 1000 us`.
fn counted(line: &str) -> Option<(u64, Duration)> {
    let (executions, micros) = line.split_once("peers: ")?.1.strip_suffix(" us")?.split_once(" executions in ")?;
    Some((executions.parse().ok()?, Duration::from_micros(micros.parse().ok()?)))
}

/// Returns the number of source lines that exist for one tool.
fn marked(source: &str, tool: &str) -> usize {
    source.lines().filter(|line| line.trim_end().ends_with(&format!("// {tool}"))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_test_about_itself_is_parsed() {
        let time = Duration::from_micros(1500);
        assert_eq!(counted("test a ... peers: 12 executions in 1500 us"), Some((12, time)));
        assert_eq!(counted("test a ... ok"), None);
    }

    #[test]
    fn lines_for_a_tool_are_counted() {
        assert_eq!(marked("use a; // loom\nuse b; // shuttle\nuse c; // loom \n// loom is a tool\n", "loom"), 2);
    }

    #[test]
    fn the_tests_are_those_of_the_crate() {
        let source = fs::read_to_string(root().join("benches/peers/src/lib.rs")).expect("the crate exists");
        let number = source.lines().filter(|line| *line == "#[test]").count();
        assert_eq!(number, TESTS.len());
        assert!(TESTS.iter().all(|name| source.contains(&format!("fn {name}() {{"))));
    }
}
