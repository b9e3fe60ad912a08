//! `cargo xtask bench hunt [--seeds N] [--runs N] [--analysis NAME]... [PROGRAM...]`: how many schedules each analysis needs
//! to find the bug of each program in `benches/suite`.
//!
//! The programs have the shapes of the benchmarks that papers on concurrency testing share. Only the bug that a
//! program names in its first line counts, not data races found on the way. A cell is the mean over the seeds of the
//! first execution that shows it, and how many of the seeds found it if not all did; the last column is the time of
//! one search with `auto`.

use crate::table::{Align, Table, time};
use racehunter_analyses::{Options, Technique};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, root};
use racehunter_explore::{Budget, Bug, Campaign, Executor, Found, OnBug};
use racehunter_launch::{Limits, Processes, Program};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Default number of seeds.
const SEEDS: u64 = 20;
const RUNS: u64 = 2000;
/// Analyses that are compared.
const ANALYSES: [&str; 7] = ["auto", "context-bound", "random", "pct", "pos", "surw", "reads-from"];

/// Columns of the table.
const COLUMNS: usize = ANALYSES.len() + 2;

/// A program of the suite, in one size.
pub struct Case {
    /// Its name, and its size if it has several.
    pub name: String,
    /// Its file.
    pub source: PathBuf,
    /// The kind of its bug.
    pub kind: String,
    /// The value of the macro `N`.
    pub size: Option<String>,
}

/// The work to do.
struct Work<'a> {
    seeds: u64,
    runs: u64,
    analyses: Vec<(&'static str, Technique)>,
    names: Vec<&'a str>,
}

/// Prints the table; returns true if `auto` found everything with every seed.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let work = Work::of(words)?;
    let wanted = |case: &Case| work.names.is_empty() || work.names.iter().any(|name| case.name.contains(name));
    let cases: Vec<Case> = cases()?.into_iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err(format!("no program of benches/suite has {:?} in its name", work.names));
    }
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let mut columns = [("", 0, Align::Right); COLUMNS];
    columns[0] = ("program", width, Align::Left);
    for (column, (name, _)) in columns[1..].iter_mut().zip(&work.analyses) {
        *column = (name, 9, Align::Right);
    }
    columns[COLUMNS - 1] = ("time", 7, Align::Right);
    let table = Table::new(columns);
    println!("Mean execution that shows the bug; {} seeds, up to {} executions each\n", work.seeds, work.runs);
    println!("{}", table.heading());
    let mut all = true;
    for case in &cases {
        let (_workshop, program) = build(case);
        let mut cells = [const { String::new() }; COLUMNS];
        cells[0].clone_from(&case.name);
        for (number, (name, technique)) in work.analyses.iter().enumerate() {
            let began = Instant::now();
            let mut found = Vec::new();
            for seed in 1..=work.seeds {
                found.extend(search(&program, case, *technique, seed, work.runs)?);
            }
            cells[number + 1] = mean(&found, work.seeds);
            if *name == "auto" {
                all &= found.len() as u64 == work.seeds;
                cells[COLUMNS - 1] = time(began.elapsed() / u32::try_from(work.seeds).unwrap_or(1));
            }
        }
        println!("{}", table.row(cells));
    }
    Ok(all)
}

impl<'a> Work<'a> {
    fn of(words: &[&'a str]) -> Result<Self, String> {
        let mut work = Self { seeds: SEEDS, runs: RUNS, analyses: Vec::new(), names: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut number = || {
                let given = words.next().and_then(|number| number.parse().ok()).filter(|&number: &u64| number > 0);
                given.ok_or_else(|| format!("{word} needs a number"))
            };
            match word {
                "--seeds" => work.seeds = number()?,
                "--runs" => work.runs = number()?,
                "--analysis" => {
                    let name = words.next().ok_or("--analysis needs a name")?;
                    work.analyses.push(technique(name)?);
                }
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                name => work.names.push(name),
            }
        }
        if work.analyses.is_empty() {
            work.analyses = ANALYSES.iter().map(|name| technique(name)).collect::<Result<_, _>>()?;
        }
        if work.analyses.len() > COLUMNS - 2 {
            return Err(format!("at most {} analyses fit into the table", COLUMNS - 2));
        }
        Ok(work)
    }
}

fn technique(name: &str) -> Result<(&'static str, Technique), String> {
    let known = Technique::NAMES.iter().find(|(known, _)| *known == name);
    known.copied().ok_or_else(|| format!("there is no analysis {name}"))
}

/// Returns all programs in all sizes, in the order of their names.
pub fn cases() -> Result<Vec<Case>, String> {
    let directory = root().join("benches/suite");
    let entries = fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut sources: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sources.sort();
    let mut cases = Vec::new();
    for source in sources {
        let content = fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        let note = |what: &str| content.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(what));
        let kind = note("bug: ").ok_or_else(|| format!("{} does not name its bug", source.display()))?;
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let case = |name: String, size: Option<&str>| Case {
            name,
            source: source.clone(),
            kind: kind.to_owned(),
            size: size.map(str::to_owned),
        };
        match note("sizes: ") {
            None => cases.push(case(stem, None)),
            Some(sizes) => {
                cases.extend(sizes.split(' ').map(|size| case(format!("{stem} {size}"), Some(size))));
            }
        }
    }
    Ok(cases)
}

fn build(case: &Case) -> (Workshop, PathBuf) {
    let workshop = Workshop::new();
    let program = workshop.path("program");
    let size = case.size.as_ref().map(|size| format!("-DN={size}"));
    let source = text(&case.source);
    let output = text(&program);
    let words = ["-O0", "-g", "-pthread", &source, "-o", &output];
    let _ = workshop.cc(words.into_iter().chain(size.as_deref())).expect(0);
    (workshop, program)
}

/// Returns the first execution that shows the bug.
fn search(path: &Path, case: &Case, technique: Technique, seed: u64, runs: u64) -> Result<Option<u64>, String> {
    let program = Program { path: path.to_owned(), arguments: Vec::new(), input: None, client: None, libraries: None };
    let mut processes = Processes::start(program, Limits::default(), 2).map_err(|error| error.to_string())?;
    let first: Cell<Option<u64>> = Cell::new(None);
    let mut note = OnBug(|found: &Found, _: &mut dyn Executor| {
        if is_of(&found.bug, &case.kind) {
            first.set(first.get().or(Some(found.execution)));
        }
    });
    let budget = Budget { runs: Some(runs), ..Budget::default() };
    let portfolio = technique.portfolio(&Options { seed, ..Options::default() });
    let _ = Campaign::new(portfolio, budget, &mut note).run(&mut processes, &mut || first.get().is_some());
    Ok(first.get())
}

fn is_of(bug: &Bug, kind: &str) -> bool {
    match bug {
        Bug::Assertion(..) => kind == "assertion",
        Bug::Deadlock(_) => kind == "deadlock",
        Bug::Crash(..) => kind == "crash",
        _ => false,
    }
}

/// The mean, and how many searches found something if not all did.
pub fn mean(found: &[u64], seeds: u64) -> String {
    let Some(sum) = Some(found.iter().sum::<u64>()).filter(|_| !found.is_empty()) else { return "-".to_owned() };
    let mean = sum as f64 / found.len() as f64;
    let mean = if mean < 10.0 { format!("{mean:.1}") } else { format!("{mean:.0}") };
    if found.len() as u64 == seeds { mean } else { format!("{mean} ({}/{seeds})", found.len()) }
}
