//! Crates from the registry: published bugs, and the crates' own tests.

mod advisories;
mod peers;
mod suites;

pub use advisories::show as show_advisories;
pub use peers::show as show_peers;
pub use suites::show as show_suites;

use racehunter_e2e::{Finding, Summary, root, tool};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the directory for everything that is fetched and built for the tables.
fn home(name: &str) -> PathBuf {
    root().join("target").join(name)
}

/// Returns an error that names what it is about.
fn at(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// Returns a command as a user would start it, without the variables that cargo sets for this program.
fn plain(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG") || text.starts_with("CARGO_MANIFEST") || text == "RUSTFLAGS" {
            command.env_remove(&name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Returns the cargo that built this program.
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// `cargo racehunter`, with the instrumented standard library that the tests of this project use.
fn cargo_racehunter() -> Command {
    let mut command = plain(tool::path().with_file_name("cargo-racehunter"));
    command.arg("racehunter").env("RACEHUNTER_SYSROOTS", root().join("target/sysroots"));
    command
}

/// Writes a small crate in its own directory.
fn write_crate(place: &Path, manifest: &str, source: &str) -> Result<(), String> {
    fs::create_dir_all(place.join("src")).map_err(|error| at(place, error))?;
    for (name, content) in [("Cargo.toml", manifest), ("src/lib.rs", source)] {
        let file = place.join(name);
        // Write only changes, because cargo compares file times.
        if fs::read_to_string(&file).ok().as_deref() != Some(content) {
            fs::write(&file, content).map_err(|error| at(&file, error))?;
        }
    }
    Ok(())
}

/// The result of `cargo racehunter test` for one test.
#[derive(Deserialize)]
struct Tested {
    test: String,
    verdict: String,
    #[serde(default)]
    detail: String,
    executions: u64,
    elapsed_ms: u64,
}

/// All results.
struct Answer {
    tests: Vec<Tested>,
    /// The findings that count, each with its test.
    findings: Vec<(String, Finding)>,
    /// The summary of each hunt, with its test.
    summaries: Vec<(String, Summary)>,
}

impl Answer {
    /// Runs a command that answers in JSON.
    fn of(command: &mut Command) -> Result<Self, String> {
        let output = command.output().map_err(|error| format!("cannot run cargo-racehunter: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut answer = Self { tests: Vec::new(), findings: Vec::new(), summaries: Vec::new() };
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).map_err(|error| format!("not JSON ({error}): {line}"))?;
            let test = line["test"].as_str().unwrap_or_default().to_owned();
            match line["reason"].as_str() {
                Some("test") => answer.tests.extend(Tested::deserialize(&line).ok()),
                Some("finding") => answer.findings.extend(Finding::deserialize(&line).ok().map(|it| (test, it))),
                Some("summary") => answer.summaries.extend(Summary::deserialize(&line).ok().map(|it| (test, it))),
                _ => {}
            }
        }
        if answer.tests.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().find(|line| line.starts_with("error")).unwrap_or("it says nothing");
            return Err(format!("no test was hunted: {why}"));
        }
        answer.findings.retain(|(_, finding)| finding.confirmed);
        Ok(answer)
    }
}

/// The options of a benchmark of crates.
struct Choice<'a> {
    /// Maximum number of executions for each test.
    runs: &'a str,
    /// Time limit for each test.
    limit: &'a str,
    /// Names of the selected items; none means all.
    names: Vec<&'a str>,
}

impl<'a> Choice<'a> {
    /// Parses the words of the command, with these default limits.
    fn read(words: &[&'a str], runs: &'a str, limit: &'a str) -> Result<Self, String> {
        let mut choice = Self { runs, limit, names: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
            match word {
                "--runs" => choice.runs = value()?,
                "--time" => choice.limit = value()?,
                _ => choice.names.push(word),
            }
        }
        Ok(choice)
    }
}
