//! Test suites: their cases, and how each of them is hunted on its own.
//!
//! Each case is a hunt in a separate process, so that one that fails does not affect the others.
//!
//! Start at [`of_program`], then [`Suite::hunt`].

mod cases;

pub use cases::{Case, Framework, of_ctest, of_program};

use crate::Clock;
use racehunter_report::junit::{self, Ending, Test};
use racehunter_symbols::inspect;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Why the cases of a suite are not known.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The program does not exist.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf, #[source] io::Error),
    /// A program that lists tests cannot be started.
    #[error("cannot run `{0}`")]
    Start(String, #[source] io::Error),
    /// A program that lists tests has failed.
    #[error("`{0}` failed ({1})")]
    Failed(String, ExitStatus),
    /// A program has no tests.
    #[error("`{}` lists no tests", .0.display())]
    Empty(PathBuf),
    /// CTest has failed.
    #[error("`ctest` cannot list the tests of `{}`: {}", .0.display(), .1)]
    CTest(PathBuf, String),
    /// CTest writes something else.
    #[error("what `ctest` lists cannot be understood")]
    CTestFormat(#[source] serde_json::Error),
    /// CTest has no tests.
    #[error("`ctest` knows no tests in `{}`", .0.display())]
    CTestEmpty(PathBuf),
}

/// Cases, and how they are hunted.
#[derive(Debug)]
pub struct Suite {
    /// The cases.
    pub cases: Vec<Case>,
    /// The command that hunts: `racehunter`.
    pub command: PathBuf,
    /// Options of each hunt.
    pub options: Vec<String>,
    /// Directory of the findings.
    pub out: PathBuf,
    /// Number of cases that are hunted at the same time.
    pub jobs: usize,
    /// The time.
    pub clock: Clock,
}

impl Suite {
    /// Hunts all cases. Passes each result to `done` as it arrives, and returns them in the order of the cases.
    pub fn hunt(&self, done: &(dyn Fn(&Test) + Sync)) -> Vec<Test> {
        let next = AtomicUsize::new(0);
        let all: Mutex<Vec<(usize, Test)>> = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..self.jobs.min(self.cases.len()) {
                scope.spawn(|| {
                    while let Some((number, case)) = Some(next.fetch_add(1, Ordering::Relaxed))
                        .and_then(|number| self.cases.get(number).map(|case| (number, case)))
                    {
                        let test = self.hunt_one(case);
                        let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        done(&test);
                        all.push((number, test));
                    }
                });
            }
        });
        let mut all = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, test)| test).collect()
    }

    fn hunt_one(&self, case: &Case) -> Test {
        let began = self.clock.now();
        let ending = match inspect(&case.program) {
            _ if case.obstacle.is_some() => Ending::Error(case.obstacle.clone().unwrap_or_default()),
            Ok(binary) if !binary.is_huntable() => Ending::Skipped(binary.to_string()),
            Err(error) => Ending::Error(error.to_string()),
            Ok(_) => {
                let mut command = Command::new(&self.command);
                command.args(["hunt", "--quiet", "--jobs", "1", "--message-format", "json"]).args(&self.options);
                command.args(case.skips_with.map(|status| format!("--allow-exit-status={status}")));
                command.arg("--out").arg(&self.out).arg(&case.program);
                command.arg("--").args(&case.arguments).stdin(Stdio::null());
                if let Some(directory) = &case.directory {
                    command.current_dir(directory);
                }
                command.envs(case.environment.iter().cloned());
                match command.output() {
                    Ok(ended) => ending(&ended, case.skips_with, &|file| from_here(file, case.directory.as_deref())),
                    Err(error) => Ending::Error(format!("it cannot be hunted: {error}")),
                }
            }
        };
        Test { suite: case.suite.clone(), name: case.name.clone(), elapsed: self.clock.since(began), ending }
    }
}

/// What all cases of a suite together amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A case has findings.
    Findings,
    /// There are no findings, and a case could not be hunted.
    Unclear,
    /// Everything that could be hunted has passed.
    Passed,
    /// There was nothing to hunt.
    Nothing,
}

impl Outcome {
    /// Returns the outcome of these cases.
    #[must_use]
    pub fn of(done: &[Test]) -> Self {
        let any = |is: fn(&Ending) -> bool| done.iter().any(|test| is(&test.ending));
        match () {
            () if any(|ending| matches!(ending, Ending::Failed(_))) => Self::Findings,
            () if any(|ending| matches!(ending, Ending::Error(_))) => Self::Unclear,
            () if any(|ending| *ending == Ending::Passed) => Self::Passed,
            () => Self::Nothing,
        }
    }
}

/// Returns the name of a file for a reader in this directory. The hunt names it as seen from the directory of the case.
fn from_here(file: &str, directory: Option<&Path>) -> String {
    let place = directory.map_or_else(|| PathBuf::from(file), |directory| directory.join(file));
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let below = here.ok().and_then(|here| place.strip_prefix(here).ok().map(Path::to_path_buf));
    below.unwrap_or(place).to_string_lossy().into_owned()
}

/// The fields that are read from the lines of a hunt.
#[derive(Deserialize)]
struct Line {
    reason: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    confirmed: bool,
    #[serde(default)]
    suppressed: serde_json::Value,
    #[serde(default)]
    message: String,
    #[serde(default)]
    cause: Option<String>,
    #[serde(default)]
    sites: Vec<Site>,
    #[serde(default)]
    unclear: Vec<String>,
}

#[derive(Deserialize)]
struct Site {
    file: String,
    line: u32,
}

/// Returns how a hunt ended, by its exit code and its output. A program's status can mean that the test does not apply
/// here.
fn ending(ended: &Output, skips_with: Option<i64>, from_here: &dyn Fn(&str) -> String) -> Ending {
    let text = String::from_utf8_lossy(&ended.stdout);
    let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let findings = lines.iter().filter(|line| line.reason == "finding" && line.confirmed && line.suppressed.is_null());
    let shown: Vec<String> = findings
        .map(|Line { id, kind, message, sites, cause, .. }| {
            let known = sites.first().filter(|site| !site.file.is_empty());
            let place = known.map_or_else(String::new, |site| format!("{}:{}: ", from_here(&site.file), site.line));
            junit::failure(&place, kind, message, id, cause.as_deref())
        })
        .collect();
    let said = String::from_utf8_lossy(&ended.stderr);
    let first_line = || said.lines().next().unwrap_or("it said nothing").trim_start_matches("error: ").to_owned();
    match ended.status.code() {
        Some(0) => Ending::Passed,
        Some(1) => Ending::Failed(shown),
        Some(3) => {
            let unclear: Vec<&str> = lines.iter().flat_map(|line| &line.unclear).map(String::as_str).collect();
            let why = if unclear.is_empty() { "not everything was explored".to_owned() } else { unclear.join("; ") };
            Ending::Error(why)
        }
        Some(4) => match skips_with.map(|status| format!("status {status} ")) {
            Some(status) if said.contains(&status) => Ending::Skipped("it says that it does not apply here".to_owned()),
            // It created no thread, but failed.
            _ if said.starts_with("error:") => Ending::Failed(vec![first_line()]),
            _ => Ending::Skipped("it creates no thread".to_owned()),
        },
        Some(status) => Ending::Error(format!("{} (status {status})", first_line())),
        None => Ending::Error("its hunt was killed".to_owned()),
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::time::Duration;

    fn ended(status: i32, stdout: &str, stderr: &str) -> Ending {
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
        ending(&Output { status: ExitStatus::from_raw(status << 8), stdout, stderr }, Some(77), &str::to_owned)
    }

    #[test]
    fn endings_are_those_of_the_hunt() {
        assert_eq!(ended(0, "", ""), Ending::Passed);
        let found = r#"{"reason":"finding","id":"7f3a","kind":"data-race","confirmed":true,"message":"m","cause":"c","sites":[{"file":"a.c","line":3}]}
{"reason":"finding","id":"8","kind":"crash","confirmed":true,"suppressed":"known","message":"m","sites":[]}"#;
        assert_eq!(ended(1, found, ""), Ending::Failed(vec!["a.c:3: data-race: m [7f3a]\n  cause: c".to_owned()]));
        let unclear = r#"{"reason":"summary","unclear":["no execution completed"]}"#;
        assert_eq!(ended(3, unclear, ""), Ending::Error("no execution completed".to_owned()));
        assert!(matches!(ended(4, "", "warning: no thread"), Ending::Skipped(_)));
        let failed = "error: it ended with status 1 before it created a thread";
        assert!(matches!(ended(4, "", failed), Ending::Failed(_)), "a failure is one without threads too");
        assert!(matches!(ended(4, "", &failed.replace("status 1", "status 77")), Ending::Skipped(_)));
        assert_eq!(ended(2, "", "error: no\n  = help: x"), Ending::Error("no (status 2)".to_owned()));
    }

    #[test]
    fn files_are_named_as_seen_from_here() {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).expect("a directory");
        assert_eq!(from_here("a.c", None), "a.c");
        assert_eq!(from_here("a.c", Some(&here.join("build"))), "build/a.c");
        assert_eq!(from_here(&here.join("src/a.c").to_string_lossy(), Some(&here.join("build"))), "src/a.c");
        assert_eq!(from_here("/elsewhere/a.c", Some(&here)), "/elsewhere/a.c");
    }

    #[test]
    fn nothing_hunted_is_never_success() {
        let test = |ending: Ending| Test { suite: String::new(), name: String::new(), elapsed: Duration::ZERO, ending };
        let [passed, failed, error, skipped] =
            [Ending::Passed, Ending::Failed(Vec::new()), Ending::Error(String::new()), Ending::Skipped(String::new())]
                .map(test);
        assert_eq!(Outcome::of(&[passed.clone(), skipped.clone()]), Outcome::Passed);
        assert_eq!(Outcome::of(&[passed.clone(), error.clone()]), Outcome::Unclear);
        assert_eq!(Outcome::of(&[error, failed, passed]), Outcome::Findings);
        assert_eq!(Outcome::of(&[skipped]), Outcome::Nothing);
    }
}
