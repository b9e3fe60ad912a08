//! `cargo xtask bench tables [--runs N] [--time T] [--table N]... [NAME...]`: the tables of V. P. Rudenchik, P. S.
//! Andrianov, V. S. Mutilin, "Bounding Thread Switches in Dynamic Analysis of Multithreaded Programs", 2025, for
//! programs of this project.
//!
//! Tables 1 and 2 are about what each method reports: ThreadSanitizer (the best of three runs), watchpoints without and
//! with the happens-before detector, context bounding with it, and `auto`. The programs are all of `targets/data-race` and
//! `targets/assertion` that have a bug, and those of `benches/suite` whose bug is an assertion, in their smallest size.
//! Table 3, in [`crate::long`], is about what long executions cost.

use crate::table::{Align, Table, time};
use crate::{long, thread_sanitizer};
use racehunter_e2e::annotations::targets;
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Ended, Hunted, Workshop, root, run};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Default limits of a hunt.
const RUNS: &str = "500";
const TIME: &str = "10s";

/// A method of finding bugs.
struct Method {
    name: &'static str,
    /// Options of the hunt; none for ThreadSanitizer.
    options: Option<&'static [&'static str]>,
}

const METHODS: [Method; 5] = [
    Method { name: "TSan", options: None },
    Method { name: "WP", options: Some(&["--analysis", "watchpoint", "--detector", "none"]) },
    Method { name: "WP+HB", options: Some(&["--analysis", "watchpoint", "--detector", "happens-before"]) },
    Method { name: "CB+HB", options: Some(&["--analysis", "context-bound"]) },
    Method { name: "auto", options: Some(&["--analysis", "auto"]) },
];
const TSAN: usize = 0;
const WATCHPOINTS: usize = 2;
const BOUND: usize = 3;
const AUTO: usize = 4;

/// A program to try the methods on.
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its one file.
    pub source: PathBuf,
    /// Options for the compiler.
    pub flags: Vec<String>,
    /// Its own arguments.
    pub arguments: Vec<String>,
    /// True if a crash or a deadlock counts like an assertion.
    pub any_failure: bool,
}

/// What a method reports about a program.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Races, by the lines of their accesses.
    pub races: BTreeSet<BTreeSet<u32>>,
    /// True if an assertion failed; or if there was any failure, where that counts.
    pub asserts: bool,
    /// The execution that showed that first.
    pub execution: Option<u64>,
    /// What went wrong, if anything.
    pub trouble: Option<String>,
    /// Its duration.
    pub took: Duration,
}

/// Prints the tables; returns true if everything could be measured.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (mut runs, mut limit, mut tables, mut names) = (RUNS, TIME, Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "--runs" => runs = value()?,
            "--time" => limit = value()?,
            "--table" => tables.push(value()?),
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            name => names.push(name),
        }
    }
    let wants = |table: &str| tables.is_empty() || tables.contains(&table);
    let mut well = true;
    if wants("1") || wants("2") {
        well &= small_programs(runs, limit, &names)?;
    }
    if wants("3") {
        long::show(&names)?;
    }
    Ok(well)
}

/// Prints tables 1 and 2.
fn small_programs(runs: &str, limit: &str, names: &[&str]) -> Result<bool, String> {
    let wanted = |test: &Test| names.is_empty() || names.iter().any(|name| test.name.contains(name));
    let tests: Vec<Test> = tests()?.into_iter().filter(wanted).collect();
    if tests.is_empty() {
        return Err(format!("no program has {names:?} in its name"));
    }
    Ok(compare(&tests, runs, limit))
}

/// Prints tables 1 and 2 for these programs; returns true if everything could be measured.
pub fn compare(tests: &[Test], runs: &str, limit: &str) -> bool {
    let width = tests.iter().map(|test| test.name.len()).max().unwrap_or(0);
    let mut columns = [("", 5, Align::Right); 1 + METHODS.len()];
    columns[0] = ("races, A: assertion", width, Align::Left);
    for (column, method) in columns[1..].iter_mut().zip(&METHODS) {
        column.0 = method.name;
    }
    let table = Table::new(columns);
    println!("{}", table.heading());
    let mut rows = Vec::new();
    let mut well = true;
    for test in tests {
        let reports = report_all(test, runs, limit);
        let mut cells = [const { String::new() }; 1 + METHODS.len()];
        cells[0].clone_from(&test.name);
        for (cell, report) in cells[1..].iter_mut().zip(&reports) {
            *cell = match (&report.trouble, report.races.len(), report.asserts) {
                (Some(_), ..) => "error".to_owned(),
                (None, 0, false) => "-".to_owned(),
                (None, 0, true) => "A".to_owned(),
                (None, races, asserts) => format!("{races}{}", if asserts { " A" } else { "" }),
            };
        }
        println!("{}", table.row(cells));
        for (method, trouble) in
            METHODS.iter().zip(&reports).filter_map(|(m, report)| Some((m, report.trouble.as_ref()?)))
        {
            well = false;
            println!("    {}: {}", method.name, trouble.lines().next().unwrap_or_default());
        }
        rows.push(reports);
    }
    print_first(&rows);
    print_second(&rows);
    print_schedules(tests, &rows);
    well
}

/// Prints the number of schedules until the failure shows, for the methods that count them, and what none of them
/// shows.
fn print_schedules(tests: &[Test], rows: &[Vec<Report>]) {
    let width = tests.iter().map(|test| test.name.len()).max().unwrap_or(0);
    let table = Table::new([
        ("schedules until an assertion fails", width.max(34), Align::Left),
        ("CB+HB", 9, Align::Right),
        ("auto", 9, Align::Right),
        ("time of auto", 9, Align::Right),
    ]);
    println!("\n{}", table.heading());
    for (test, row) in tests.iter().zip(rows) {
        let of = |report: &Report| report.execution.map_or_else(|| "-".to_owned(), |number| number.to_string());
        println!("{}", table.row([test.name.clone(), of(&row[BOUND]), of(&row[AUTO]), time(row[AUTO].took)]));
    }
    let shown = |row: &&Vec<Report>| row[AUTO].asserts;
    println!("\nauto: {} of {}", rows.iter().filter(shown).count(), rows.len());
}

/// Returns the programs, by a rule that does not name any of them.
fn tests() -> Result<Vec<Test>, String> {
    let of_targets = targets().into_iter().filter(|target| target.bug.is_some()).filter_map(|target| {
        let name = target.path.strip_prefix("targets/")?.to_owned();
        let flags = target.cflags.iter().flat_map(|flags| flags.split(' ').map(str::to_owned)).collect();
        let wanted = name.starts_with("data-race/") || name.starts_with("assertion/");
        let (arguments, any_failure) = (Vec::new(), false);
        wanted.then(|| Test { name, source: root().join(&target.path), flags, arguments, any_failure })
    });
    let mut tests: Vec<Test> = of_targets.collect();
    for case in crate::hunt::cases()?.into_iter().filter(|case| case.kind == "assertion") {
        let is_known = tests.last().is_some_and(|last| last.source == case.source);
        if !is_known {
            let flags = case.size.iter().map(|size| format!("-DN={size}")).collect();
            let (name, arguments) = (format!("suite/{}", case.name), Vec::new());
            tests.push(Test { name, source: case.source, flags, arguments, any_failure: false });
        }
    }
    Ok(tests)
}

fn report_all(test: &Test, runs: &str, limit: &str) -> Vec<Report> {
    let workshop = Workshop::new();
    let program = workshop.path("program");
    let language = if test.source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
    let mut compile = racehunter_e2e::racehunter([language, "-O0", "-g", "-pthread"]);
    let built = run(compile.args(&test.flags).arg(&test.source).arg("-o").arg(&program));
    METHODS
        .iter()
        .map(|method| match method.options {
            None => thread_sanitizer::report(&test.source, &test.flags, &test.arguments, &workshop),
            Some(_) if built.status != Some(0) => Report { trouble: Some(built.stderr.clone()), ..Report::default() },
            Some(options) => {
                let options: Vec<&str> =
                    options.iter().copied().chain(["--runs", runs, "--time", limit, "--jobs", "1"]).collect();
                let began = Instant::now();
                let mut command = workshop.hunt_command(&program, &options);
                let ended = run(command.arg("--").args(&test.arguments));
                read(ended, test, began.elapsed())
            }
        })
        .collect()
}

/// Returns the findings of a hunt.
fn read(ended: Ended, test: &Test, took: Duration) -> Report {
    // 3: something is not seen, but the findings still count.
    if !matches!(ended.status, Some(0 | 1 | 3)) {
        return Report { trouble: Some(ended.stderr), took, ..Report::default() };
    }
    let (hunted, source) = (Hunted::new(ended), text(&test.source));
    let confirmed = || hunted.findings.iter().filter(|finding| finding.confirmed);
    let lines = |finding: &racehunter_e2e::Finding| {
        let line = |site: &racehunter_e2e::Site| site.line_in(&source).unwrap_or(site.line);
        finding.sites.iter().map(line).collect()
    };
    let counts = |kind: &str| kind == "assertion" || test.any_failure && kind != "data-race";
    let failures = || confirmed().filter(|finding| counts(&finding.kind));
    Report {
        races: confirmed().filter(|finding| finding.kind == "data-race").map(lines).collect(),
        asserts: failures().next().is_some(),
        execution: failures().map(|finding| finding.execution).min(),
        trouble: None,
        took,
    }
}

/// Prints table 1: what each method reports, and how long it takes.
fn print_first(rows: &[Vec<Report>]) {
    println!("\nTable 1: {} programs\n", rows.len());
    let table = Table::new([
        ("method", 6, Align::Left),
        ("total time", 8, Align::Right),
        ("races", 5, Align::Right),
        ("programs with races", 0, Align::Right),
        ("with assertions", 0, Align::Right),
        ("races by it only", 0, Align::Right),
        ("assertions by it only", 0, Align::Right),
    ]);
    println!("{}", table.heading());
    for (at, method) in METHODS.iter().enumerate() {
        let of = |row: &Vec<Report>| row[at].clone();
        let others = |row: &Vec<Report>| -> Vec<Report> {
            row.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, report)| report.clone()).collect()
        };
        let count =
            |is: &dyn Fn(&Report, &[Report]) -> bool| rows.iter().filter(|row| is(&row[at], &others(row))).count();
        let alone = |races: &[Report], race: &BTreeSet<u32>| races.iter().all(|report| !report.races.contains(race));
        let own_races = rows.iter().map(|row| {
            let others = others(row);
            row[at].races.iter().filter(|race| alone(&others, race)).count()
        });
        println!(
            "{}",
            table.row([
                method.name.to_owned(),
                time(rows.iter().map(|row| of(row).took).sum()),
                rows.iter().map(|row| of(row).races.len()).sum::<usize>().to_string(),
                count(&|report, _| !report.races.is_empty()).to_string(),
                count(&|report, _| report.asserts).to_string(),
                own_races.sum::<usize>().to_string(),
                count(&|report, others| report.asserts && others.iter().all(|other| !other.asserts)).to_string(),
            ])
        );
    }
}

/// Prints table 2: how context bounding compares with ThreadSanitizer and watchpoints.
fn print_second(rows: &[Vec<Report>]) {
    const RESULTS: [&str; 7] = [
        "new races",
        "new assertion violation",
        "same as TSan",
        "same as WP+HB",
        "assertion violation that others show too",
        "fewer races than others",
        "analysis error",
    ];
    let mut counts = [0_usize; RESULTS.len()];
    for row in rows {
        let (bound, others) = (&row[BOUND], &row[..BOUND]);
        let news = bound.races.iter().any(|race| others.iter().all(|other| !other.races.contains(race)));
        let result = if bound.trouble.is_some() {
            6
        } else if bound.asserts && others.iter().all(|other| !other.asserts) {
            1
        } else if news {
            0
        } else if bound.asserts {
            4
        } else if bound.races == row[TSAN].races && !row[TSAN].asserts {
            2
        } else if bound.races == row[WATCHPOINTS].races && !row[WATCHPOINTS].asserts {
            3
        } else {
            5
        };
        counts[result] += 1;
    }
    println!("\nTable 2: CB+HB against TSan, WP and WP+HB\n");
    let table = Table::new([("result of CB+HB", 42, Align::Left), ("programs", 0, Align::Right)]);
    println!("{}", table.heading());
    for (result, count) in RESULTS.iter().zip(counts) {
        println!("{}", table.row([(*result).to_owned(), count.to_string()]));
    }
}
