//! One hunt: `racehunter hunt` on one test, and what it says.

use crate::harness::Test;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a test did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that was asked for was explored, and nothing was found: what that means.
    Proved(String),
    /// Nothing was found.
    Clean,
    /// There are confirmed findings.
    Found,
    /// It makes no thread: there is one schedule, in which it passes.
    Skipped,
    /// It makes no thread, and fails: what it wrote.
    Failed(String),
    /// Nothing was found, and that means nothing: why.
    Unclear(String),
    /// It could not be hunted in: why.
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

/// What a hunt found out.
#[derive(Clone, Debug)]
pub struct Hunted {
    /// How the test did.
    pub verdict: Verdict,
    /// The lines of the hunt, each a JSON object.
    pub lines: Vec<Value>,
    /// The ids of the findings that count.
    pub findings: Vec<String>,
    /// Executions, if there were any.
    pub executions: u64,
    /// Most threads that one had.
    pub threads: u64,
    /// What is not seen or not under control, as names.
    pub unseen: Vec<String>,
    /// How long it took.
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

/// Hunts in one test.
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

/// The place and the environment that cargo gives to tests.
fn prepare(command: &mut Command, test: &Test) {
    command.current_dir(&test.program.directory);
    command.env("CARGO_MANIFEST_DIR", &test.program.directory).env("CARGO_PKG_NAME", &test.program.package);
}

/// A test without threads has one schedule: it is enough to run it.
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
