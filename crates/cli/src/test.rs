//! `racehunter test`: hunts each case of a test suite on its own. Each case is a hunt in a separate process, so that
//! one that fails does not affect the others.

use crate::arguments::Test as Arguments;
use crate::exit::Exit;
use crate::suites::{self, Case};
use anyhow::{Context as _, Result, bail};
use racehunter_hunter::{files, jobs};
use racehunter_report::junit::{self, Ending, Test};
use racehunter_report::tests;
use racehunter_symbols::inspect;
use serde::Deserialize;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Hunts every case, and prints how each of them ended.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let began = Instant::now();
    let mut cases = Vec::new();
    for program in &arguments.programs {
        let program = program.canonicalize().with_context(|| format!("`{}` does not exist", program.display()))?;
        cases.extend(suites::of_program(&program, arguments.framework, &arguments.arguments)?);
    }
    if let Some(directory) = &arguments.ctest {
        cases.extend(suites::of_ctest(directory)?);
    }
    if let Some(part) = &arguments.filter {
        cases.retain(|case| case.name.contains(part.as_str()));
    }
    if cases.is_empty() {
        bail!("no test has a name with `{}` in it", arguments.filter.as_deref().unwrap_or_default());
    }
    files::check_out(&arguments.out)?;
    files::directory(&arguments.out)?;
    let out = arguments.out.canonicalize().with_context(|| format!("cannot use `{}`", arguments.out.display()))?;
    let done = hunt_all(&cases, arguments, &out)?;
    if let Some(path) = &arguments.junit {
        let mut file = files::create_named(path)?;
        file.write_all(junit::file(&done).as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    print!("{}", tests::summary(&done, began.elapsed()));
    Ok(exit(&done))
}

/// Hunts several cases at the same time. Prints results as they arrive, and returns them in the order of the cases.
fn hunt_all(cases: &[Case], arguments: &Arguments, out: &Path) -> Result<Vec<Test>> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Test)>> = Mutex::new(Vec::new());
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    thread::scope(|scope| {
        for _ in 0..jobs(arguments.jobs).min(cases.len()) {
            scope.spawn(|| {
                while let Some((number, case)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|number| cases.get(number).map(|case| (number, case)))
                {
                    let test = hunt_one(&program, case, arguments, out);
                    let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    print!("{}", tests::line(&test, width));
                    let _ = std::io::stdout().flush();
                    done.push((number, test));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, test)| test).collect())
}

fn hunt_one(program: &Path, case: &Case, arguments: &Arguments, out: &Path) -> Test {
    let began = Instant::now();
    let ending = match inspect(&case.program) {
        _ if case.obstacle.is_some() => Ending::Error(case.obstacle.clone().unwrap_or_default()),
        Ok(binary) if !binary.is_huntable() => Ending::Skipped(binary.to_string()),
        Err(error) => Ending::Error(error.to_string()),
        Ok(_) => {
            let mut command = Command::new(program);
            command.args(["hunt", "--quiet", "--jobs", "1", "--message-format", "json"]).args(hunt_options(arguments));
            command.args(case.skips_with.map(|status| format!("--allow-exit-status={status}")));
            command.arg("--out").arg(out).arg(&case.program).arg("--").args(&case.arguments).stdin(Stdio::null());
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
    Test { suite: case.suite.clone(), name: case.name.clone(), elapsed: began.elapsed(), ending }
}

/// Returns the name of a file for a reader in this directory. The hunt names it as seen from the directory of the case.
fn from_here(file: &str, directory: Option<&Path>) -> String {
    let place = directory.map_or_else(|| PathBuf::from(file), |directory| directory.join(file));
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let below = here.ok().and_then(|here| place.strip_prefix(here).ok().map(Path::to_path_buf));
    below.unwrap_or(place).to_string_lossy().into_owned()
}

/// Returns the options of each hunt.
fn hunt_options(arguments: &Arguments) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(time) = arguments.time {
        words.push(format!("--time={}", humantime::format_duration(time).to_string().replace(' ', "")));
    }
    words.extend(arguments.runs.map(|runs| format!("--runs={runs}")));
    words.extend(arguments.seed.map(|seed| format!("--seed={seed}")));
    words.extend(arguments.analysis.iter().map(|analysis| format!("--analysis={analysis}")));
    words.extend(arguments.stop_on_first.then(|| "--stop-on-first".to_owned()));
    words.extend(arguments.require_complete.then(|| "--require-complete".to_owned()));
    words
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

/// Returns the exit code for all cases: findings come first, then cases that could not be hunted, then nothing to hunt.
fn exit(done: &[Test]) -> Exit {
    let any = |is: fn(&Ending) -> bool| done.iter().any(|test| is(&test.ending));
    match () {
        () if any(|ending| matches!(ending, Ending::Failed(_))) => Exit::Findings,
        () if any(|ending| matches!(ending, Ending::Error(_))) => Exit::Incomplete,
        () if any(|ending| *ending == Ending::Passed) => Exit::Clean,
        () => Exit::Nothing,
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;
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
        assert_eq!(exit(&[passed.clone(), skipped.clone()]), Exit::Clean);
        assert_eq!(exit(&[passed.clone(), error.clone()]), Exit::Incomplete);
        assert_eq!(exit(&[error, failed, passed]), Exit::Findings);
        assert_eq!(exit(&[skipped]), Exit::Nothing);
    }
}
