//! `cargo xtask bench hypothesis [--seeds N] [--runs N] [NAME...]`: hypothesis 1 of E. A. Gerlits, "RaceHunter: dynamic detection
//! of data races by provoking conflicting accesses", 2023.
//!
//! The hypothesis: checking conflicting accesses one after the other is more efficient than checking randomly chosen accesses, as
//! DataCollider and KCSAN do. Both methods hold a thread before an access until another thread is about to make a conflicting
//! one, in the same controlled executions, and nothing is inferred. The programs are those of `targets/data-race`. A cell is the
//! mean execution that shows the first race, the monitored one included.

use crate::hunt::mean;
use crate::table::{Align, Table};
use racehunter_analyses::{Options, Technique};
use racehunter_e2e::annotations::targets;
use racehunter_e2e::{Workshop, root, run};
use racehunter_explore::{Budget, Bug, Campaign, Executor, Found, OnBug};
use racehunter_launch::{Limits, Processes, Program};
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

/// Default numbers of seeds of the random choice, and of executions for each search.
const SEEDS: u64 = 5;
const RUNS: u64 = 300;

/// The methods compared. The first one does not depend on a seed.
const METHODS: [(&str, Technique); 2] = [("watchpoint", Technique::Watchpoint), ("sampling", Technique::Sampling)];

/// The totals of all searches of one method.
#[derive(Default)]
struct Total {
    programs: u64,
    searches: u64,
    found: Vec<u64>,
    took: Duration,
}

/// Prints the table. Returns false if the hypothesis does not hold for these programs.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (mut seeds, mut runs, mut names) = (SEEDS, RUNS, Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut number = || {
            let given = words.next().and_then(|number| number.parse().ok()).filter(|&number: &u64| number > 0);
            given.ok_or_else(|| format!("{word} needs a number"))
        };
        match word {
            "--seeds" => seeds = number()?,
            "--runs" => runs = number()?,
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            name => names.push(name),
        }
    }
    let is_wanted = |path: &str| {
        path.starts_with("targets/data-race/") && (names.is_empty() || names.iter().any(|name| path.contains(name)))
    };
    let programs: Vec<_> =
        targets().into_iter().filter(|target| target.bug.is_some() && is_wanted(&target.path)).collect();
    if programs.is_empty() {
        return Err(format!("no program of targets/data-race has {names:?} in its name"));
    }
    let width = programs.iter().map(|target| target.path.len()).max().unwrap_or(0);
    let [first, second] = METHODS.map(|(name, _)| (name, 12, Align::Right));
    let table = Table::new([("program", width, Align::Left), first, second]);
    println!("Mean execution that shows a race; {seeds} seeds for sampling, up to {runs} executions each\n");
    println!("{}", table.heading());
    let mut totals: [Total; 2] = Default::default();
    for target in &programs {
        let workshop = Workshop::new();
        let program = workshop.path("program");
        let source = root().join(&target.path);
        let language = if source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
        let flags = target.cflags.iter().flat_map(|flags| flags.split(' '));
        let mut compile = racehunter_e2e::racehunter([language, "-O0", "-g", "-pthread"]);
        let built = run(compile.args(flags).arg(&source).arg("-o").arg(&program));
        if built.status != Some(0) {
            return Err(built.stderr);
        }
        let mut cells = [target.path.clone(), String::new(), String::new()];
        for (number, (_, technique)) in METHODS.into_iter().enumerate() {
            let seeds = if technique == Technique::Watchpoint { 1 } else { seeds };
            let (began, mut found) = (Instant::now(), Vec::new());
            for seed in 1..=seeds {
                found.extend(search(&program, technique, seed, runs)?);
            }
            cells[number + 1] = mean(&found, seeds);
            let total = &mut totals[number];
            total.programs += u64::from(!found.is_empty());
            total.searches += seeds;
            total.took += began.elapsed();
            total.found.extend(found);
        }
        println!("{}", table.row(cells));
    }
    let rates = totals.each_ref().map(|total| total.found.len() as f64 / total.searches as f64);
    for ((name, _), Total { programs: found_in, searches, found, took }) in METHODS.iter().zip(&totals) {
        let all = programs.len();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).map_or_else(|| "-".to_owned(), u64::to_string);
        println!(
            "\n{name}: a race in {found_in} of {all} programs, in {} of {searches} searches; mean execution {}, median {median}; {:.2} s for a search",
            found.len(),
            mean(found, found.len() as u64),
            took.as_secs_f64() / *searches as f64,
        );
    }
    Ok(rates[0] >= rates[1])
}

/// Returns the first execution in which two threads meet.
fn search(path: &Path, technique: Technique, seed: u64, runs: u64) -> Result<Option<u64>, String> {
    let program = Program { path: path.to_owned(), arguments: Vec::new(), input: None, client: None, libraries: None };
    let mut processes = Processes::start(program, Limits::default(), 1).map_err(|error| error.to_string())?;
    let first: Cell<Option<u64>> = Cell::new(None);
    let mut note = OnBug(|found: &Found, _: &mut dyn Executor| {
        if matches!(found.bug, Bug::Race(..)) {
            first.set(first.get().or(Some(found.execution)));
        }
    });
    // As `--detector meeting`: the detector shows what is shared, and races that it would infer do not count.
    let budget = Budget { runs: Some(runs), infer_races: false, ..Budget::default() };
    let portfolio = technique.portfolio(&Options { seed, ..Options::default() });
    let _ = Campaign::new(portfolio, budget, &mut note).run(&mut processes, &mut || first.get().is_some());
    Ok(first.get())
}
