//! `cargo xtask targets`: every program below `targets/`, hunted as a user would, with default options.
//!
//! A row is a program with a bug and its fixed twin, or a program without one. Two hunts run at a time, each with one
//! worker; rows are printed in the order of their names.

use crate::table::{Align, Table, thousands, time, together};
use racehunter_e2e::annotations::{Annotated, Target, targets};
use racehunter_e2e::verdict::judge;
use racehunter_e2e::{Ended, Finding, Hunted, Workshop, racehunter, run};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Executions in which a bug must be found, and in which a correct program must be silent.
const RUNS: &str = "2000";
/// Hunts at the same time.
const JOBS: usize = 2;
/// Time limit of a hunt.
const PATIENCE: &str = "300s";

/// Prints the table of the programs whose path contains one of these names; returns true if everything is as expected.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (names, backends) = arguments(words)?;
    let programs: BTreeMap<String, Target> =
        targets().into_iter().map(|target| (target.path.clone(), target)).collect();
    let chosen = |target: &&Target| names.is_empty() || names.iter().any(|name| target.path.contains(name));
    let shown = programs.values().filter(|target| !target.path.contains(".fixed.")).filter(chosen);
    let rows: Vec<Row> = shown.map(|target| Row::new(target, &programs)).collect::<Result<_, _>>()?;
    if rows.is_empty() {
        return Err(format!("no program below targets/ has {names:?} in its path"));
    }
    let began = Instant::now();
    let totals = hunt_all(&rows, &backends);
    println!("{}", totals.line(&backends, began.elapsed()));
    Ok(totals.missed + totals.false_reports == 0)
}

/// Returns the names of programs, and the selected backends. No backend means the only one there is.
fn arguments<'a>(words: &[&'a str]) -> Result<(Vec<&'a str>, Vec<&'static str>), String> {
    let (mut names, mut wanted) = (Vec::new(), None);
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "--backend" => wanted = Some(*words.next().ok_or("--backend needs fibers, threads or both")?),
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            name => names.push(name),
        }
    }
    let can_choose = run(&mut racehunter(["hunt", "--help"])).stdout.contains("--backend");
    let backends = match (wanted, can_choose) {
        (None | Some("fibers"), false) => vec![],
        (Some(_), false) => return Err("this racehunter has no --backend: it knows fibers only".to_owned()),
        (None | Some("both"), true) => vec!["fibers", "threads"],
        (Some("fibers"), true) => vec!["fibers"],
        (Some("threads"), true) => vec!["threads"],
        (Some(other), true) => return Err(format!("--backend is fibers, threads or both, not {other}")),
    };
    Ok((names, backends))
}

/// A program with a bug and its twin, or one without a bug.
struct Row<'a> {
    buggy: Option<&'a Target>,
    correct: &'a Target,
}

impl<'a> Row<'a> {
    fn new(target: &'a Target, all: &'a BTreeMap<String, Target>) -> Result<Self, String> {
        if target.bug.is_none() {
            return Ok(Self { buggy: None, correct: target });
        }
        let twin = all.get(&target.twin()).ok_or_else(|| format!("{} has no fixed twin", target.path))?;
        Ok(Self { buggy: Some(target), correct: twin })
    }

    fn name(&self) -> &'a str {
        let path = &self.buggy.unwrap_or(self.correct).path;
        path.trim_start_matches("targets/")
    }

    fn bug(&self) -> Option<&'a Annotated> {
        self.buggy?.bug.as_ref()
    }

    /// Returns the expected finding.
    fn expected(&self) -> String {
        self.bug().map_or_else(|| "nothing".to_owned(), |bug| bug.kind.clone())
    }

    /// Returns the expected lines.
    fn lines(&self) -> String {
        let Some(bug) = self.bug() else { return String::new() };
        let lines = bug.lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let places = if bug.lines.len() == 1 { "line" } else { "lines" };
        format!("{places} {lines}")
    }
}

/// One hunt.
struct Hunt {
    hunted: Hunted,
    /// When each finding was reported, by its id.
    reported: BTreeMap<String, Duration>,
}

/// Totals of all rows.
#[derive(Default)]
struct Totals {
    bugs: usize,
    correct: usize,
    executions: u64,
    missed: usize,
    false_reports: usize,
}

impl Totals {
    fn line(&self, backends: &[&str], took: Duration) -> String {
        let Self { bugs, correct, executions, missed, false_reports } = self;
        let on = if backends.is_empty() { "fibers, the only backend".to_owned() } else { backends.join(" and ") };
        format!(
            "\n{bugs} programs with a bug, {missed} missed; {correct} without, {false_reports} false reports; \
             {} executions on {on} in {}",
            thousands(*executions),
            time(took)
        )
    }
}

/// Hunts all programs and prints their rows.
fn hunt_all(rows: &[Row<'_>], backends: &[&'static str]) -> Totals {
    // A hunt without a choice of backend uses the default.
    let backends: Vec<Option<&str>> =
        if backends.is_empty() { vec![None] } else { backends.iter().copied().map(Some).collect() };
    let programs = rows.iter().flat_map(|row| row.buggy.into_iter().chain([row.correct]));
    let hunts: Vec<(&Target, Option<&str>)> =
        programs.flat_map(|target| backends.iter().map(move |&backend| (target, backend))).collect();
    let width = |text: fn(&Row<'_>) -> String| rows.iter().map(|row| text(row).len()).max().unwrap_or(0);
    let table = Table::new([
        ("program", width(|row| row.name().to_owned()), Align::Left),
        ("expected", width(|row| row.expected()), Align::Left),
        ("found", width(|row| row.lines()), Align::Left),
        ("execution", 0, Align::Right),
        ("preemptions", 0, Align::Right),
        ("time", 7, Align::Right),
        ("silent without it", 0, Align::Right),
    ]);
    println!("{}", table.heading());
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    let mut totals = Totals::default();
    thread::scope(|scope| {
        for _ in 0..JOBS {
            let (next, hunts, sender) = (&next, &hunts, sender.clone());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(target, backend)) = hunts.get(number) else { return };
                    if sender.send((number, hunt(target, backend))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut done: BTreeMap<usize, Hunt> = BTreeMap::new();
        let mut first = 0;
        for row in rows {
            let programs = if row.buggy.is_some() { 2 } else { 1 };
            let wanted = first..first + programs * backends.len();
            first = wanted.end;
            while wanted.clone().any(|number| !done.contains_key(&number)) {
                let Ok((number, hunt)) = receiver.recv() else { return };
                done.insert(number, hunt);
            }
            let hunts: Vec<Hunt> = wanted.filter_map(|number| done.remove(&number)).collect();
            let (buggy, correct) = hunts.split_at(hunts.len() - backends.len());
            print_row(&table, row, buggy, correct, &mut totals);
        }
    });
    totals
}

/// Runs one hunt of one program.
fn hunt(target: &Target, backend: Option<&str>) -> Hunt {
    let workshop = Workshop::new();
    let mut options = vec!["--runs", RUNS, "--time", PATIENCE, "--jobs", "1"];
    options.extend(backend.into_iter().flat_map(|backend| ["--backend", backend]));
    options.extend(target.options());
    let mut command = workshop.hunt_command(Path::new(&target.path), &options);
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.as_mut().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let (mut stdout, mut stderr, mut reported) = (String::new(), String::new(), Vec::new());
    if let Some(pipe) = child.stdout.take() {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            reported.push(began.elapsed());
            stdout += &(line + "\n");
        }
    }
    // It writes little, so the pipe does not fill up.
    if let Some(mut pipe) = child.stderr.take() {
        let _ = pipe.read_to_string(&mut stderr);
    }
    let status = child.wait().ok().and_then(|status| status.code());
    let times: Vec<(bool, Duration)> =
        stdout.lines().map(|line| line.contains(r#""reason":"finding""#)).zip(reported).collect();
    let hunted = Hunted::new(Ended { status, stdout, stderr });
    let times = times.into_iter().filter(|(is_finding, _)| *is_finding).map(|(_, time)| time);
    let reported = hunted.findings.iter().map(|finding| finding.id.clone()).zip(times).collect();
    Hunt { hunted, reported }
}

fn print_row(table: &Table<7>, row: &Row<'_>, buggy: &[Hunt], correct: &[Hunt], totals: &mut Totals) {
    let mut remarks = Vec::new();
    let mut cells = [const { String::new() }; 7];
    cells[0] = row.name().to_owned();
    cells[1] = row.expected();
    if let Some(target) = row.buggy {
        totals.bugs += 1;
        let found: Result<Vec<(&Hunt, &Finding)>, String> = buggy
            .iter()
            .map(|hunt| judge(&hunt.hunted, target)?.map(|finding| (hunt, finding)).ok_or_else(String::new))
            .collect();
        match found {
            Ok(found) => {
                let of = |what: fn(&Hunt, &Finding) -> String| {
                    together(&found.iter().map(|(hunt, finding)| what(hunt, finding)).collect::<Vec<_>>())
                };
                cells[2] = row.lines();
                cells[3] = of(|_, finding| thousands(finding.execution));
                cells[4] = of(|_, finding| finding.preemptions.to_string());
                cells[5] = of(|hunt, finding| hunt.reported.get(&finding.id).copied().map(time).unwrap_or_default());
            }
            Err(what) => {
                totals.missed += 1;
                cells[2] = "MISSED".to_owned();
                remarks.push(what);
            }
        }
    }
    totals.correct += 1;
    let silent: Result<Vec<String>, String> = correct
        .iter()
        .map(|hunt| {
            judge(&hunt.hunted, row.correct)?;
            let summary = hunt.hunted.summary();
            if !summary.complete && summary.executions.to_string() != RUNS {
                return Err(format!("it ended after {} executions", summary.executions));
            }
            Ok(thousands(summary.executions))
        })
        .collect();
    cells[6] = match silent {
        Ok(executions) => together(&executions),
        Err(what) => {
            totals.false_reports += 1;
            remarks.push(what);
            "FALSE REPORT".to_owned()
        }
    };
    let all = buggy.iter().chain(correct).filter_map(|hunt| hunt.hunted.summary.as_ref());
    totals.executions += all.map(|summary| summary.executions).sum::<u64>();
    println!("{}", table.row(cells));
    for remark in remarks {
        println!("    {remark}");
    }
}
