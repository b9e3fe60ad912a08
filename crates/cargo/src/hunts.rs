//! One hunt: runs `racehunter hunt` on one test, and reads its output.

use crate::harness::Test;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that was asked for was explored, and nothing was found; the text says what that covers.
    Proved(String),
    /// Nothing was found.
    Clean,
    /// There are confirmed findings.
    Found,
    /// It creates no thread: it has one schedule, in which it passes.
    Skipped,
    /// It creates no thread, and fails; the text is its output.
    Failed(String),
    /// Nothing was found, but that is inconclusive, for this reason.
    Unclear(String),
    /// It could not be hunted, for this reason.
    Trouble(String),
}

impl Verdict {
    /// Returns a word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Proved(_) => "proved",
            Self::Clean => "clean",
            Self::Found => "found",
            Self::Skipped => "skipped",
            Self::Failed(_) => "failed",
            Self::Unclear(_) => "unclear",
            Self::Trouble(_) => "error",
        }
    }
}

/// The results of a hunt.
#[derive(Clone, Debug)]
pub struct Hunted {
    /// The result of the test.
    pub verdict: Verdict,
    /// The lines of the hunt, each a JSON object.
    pub lines: Vec<Value>,
    /// The ids of the findings that count.
    pub findings: Vec<String>,
    /// Number of executions.
    pub executions: u64,
    /// Largest number of threads in an execution.
    pub threads: u64,
    /// Names of what is not seen or not under control.
    pub unseen: Vec<String>,
    /// Its duration.
    pub elapsed: Duration,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Summary {
    executions: u64,
    complete: bool,
    guarantee: String,
    threads: u64,
    unclear: Vec<String>,
    uncontrolled: Vec<Uncontrolled>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Uncontrolled {
    what: String,
    detail: String,
}

/// Hunts one test.
pub fn hunt(test: &Test, options: &[String], out: &Path) -> Result<Hunted> {
    let began = Instant::now();
    let mut command = Command::new(crate::racehunter());
    command.args(["hunt", "--quiet", "--message-format", "json", "--out"]).arg(out).args(options);
    command.arg(&test.program.path).arg("--").args(test.arguments());
    prepare(&mut command, test);
    let output = command.stdin(Stdio::null()).output().context("cannot run `racehunter`")?;
    let lines: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let of = |reason: &'static str| lines.iter().filter(move |line| line["reason"] == reason);
    let findings: Vec<String> = of("finding")
        .filter(|line| line["confirmed"] == true && line.get("suppressed").is_none())
        .filter_map(|line| Some(line["id"].as_str()?.to_owned()))
        .collect();
    let summary: Summary =
        of("summary").next_back().and_then(|line| Summary::deserialize(line).ok()).unwrap_or_default();
    let verdict = match output.status.code() {
        Some(1) => Verdict::Found,
        Some(0) if summary.complete => Verdict::Proved(summary.guarantee.clone()),
        Some(0) => Verdict::Clean,
        Some(3) => Verdict::Unclear(summary.unclear.join("; ")),
        Some(4) => alone(test)?,
        _ => Verdict::Trouble(first_line(&said)),
    };
    let unseen = summary.uncontrolled.iter().map(|what| match what.detail.as_str() {
        "" => what.what.clone(),
        detail => format!("{} ({detail})", what.what),
    });
    Ok(Hunted {
        verdict,
        findings,
        executions: summary.executions,
        threads: summary.threads,
        unseen: unseen.collect(),
        lines,
        elapsed: began.elapsed(),
    })
}

/// Sets the directory and the environment that cargo gives to tests.
fn prepare(command: &mut Command, test: &Test) {
    command.current_dir(&test.program.directory);
    command.env("CARGO_MANIFEST_DIR", &test.program.directory).env("CARGO_PKG_NAME", &test.program.package);
}

/// Runs a test without threads, which has one schedule.
fn alone(test: &Test) -> Result<Verdict> {
    let mut command = Command::new(&test.program.path);
    command.args(test.arguments());
    prepare(&mut command, test);
    let output = command.stdin(Stdio::null()).output().context("cannot run the test")?;
    if output.status.success() {
        return Ok(Verdict::Skipped);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Ok(Verdict::Failed(format!("{}\n{}", output.status, said.trim())))
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("racehunter says nothing");
    line.trim_start_matches("error: ").to_owned()
}
