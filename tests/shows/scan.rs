//! `cargo xtask bench static`: what `racehunter scan` says about programs whose races are known, by tier, and how long it
//! takes. With `--tasks DIRECTORY` the programs are verification tasks: sources with their verdicts in YAML files beside them.

use crate::table::{Align, Table};
use racehunter_e2e::{Workshop, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A program and whether it has a race.
struct Task {
    name: String,
    source: PathBuf,
    has_race: bool,
}

/// What was asked for.
#[derive(Default)]
struct Request {
    tasks: Option<PathBuf>,
    options: Vec<String>,
}

/// Points of the competition: for proofs, races, wrong proofs and wrong races.
const SCORE: [(&str, i64); 4] = [("race-free", 2), ("race", 1), ("wrong race-free", -32), ("wrong race", -16)];

/// Scans all programs; whether no verdict is wrong.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let request = request(words)?;
    let tasks = match &request.tasks {
        Some(directory) => tasks(directory)?,
        None => own()?,
    };
    let is_task = request.tasks.is_some();
    let columns = [
        ("program", 34, Align::Left),
        ("has", 9, Align::Left),
        ("verdict", 15, Align::Left),
        ("tier", 4, Align::Left),
        ("ms", 7, Align::Right),
    ];
    let table = Table::new(columns);
    println!("{}", table.heading());
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut time = Duration::ZERO;
    for task in &tasks {
        let began = Instant::now();
        let (verdict, tier) = scan(task, is_task, &request.options);
        let elapsed = began.elapsed();
        time += elapsed;
        let is_wrong = matches!((verdict.as_str(), task.has_race), ("race-free", true) | ("race", false));
        let said = if is_wrong { format!("wrong {verdict}") } else { verdict };
        let has = if task.has_race { "a race" } else { "none" };
        println!(
            "{}",
            table.row([task.name.clone(), has.to_owned(), said.clone(), tier.clone(), elapsed.as_millis().to_string()])
        );
        *counts.entry((said, tier)).or_default() += 1;
    }
    println!("\n{} programs, {:.1} s", tasks.len(), time.as_secs_f64());
    for ((said, tier), count) in &counts {
        println!("  {count:5} {said} {}", if tier.is_empty() { String::new() } else { format!("(tier {tier})") });
    }
    let score: i64 = counts
        .iter()
        .map(|((said, _), count)| {
            SCORE.iter().find(|(name, _)| name == said).map_or(0, |(_, points)| points * *count as i64)
        })
        .sum();
    println!("  score {score} (2 for a proof, 1 for a race, -32 and -16 for wrong ones)");
    Ok(!counts.keys().any(|(said, _)| said.starts_with("wrong")))
}

fn request(words: &[&str]) -> Result<Request, String> {
    let mut request = Request::default();
    for pair in words.chunks(2) {
        match *pair {
            ["--tasks", directory] => request.tasks = Some(directory.into()),
            [option @ ("--time" | "--backend" | "--approx" | "--jobs"), value] => {
                request.options.extend([option.to_owned(), value.to_owned()]);
            }
            _ => {
                return Err(format!(
                    "`{}` is not --tasks, --time, --backend, --approx or --jobs with a value",
                    pair.join(" ")
                ));
            }
        }
    }
    Ok(request)
}

/// The programs that the tests look at.
fn own() -> Result<Vec<Task>, String> {
    let directory = tool::root().join("tests/programs/scan");
    let mut all = Vec::new();
    for source in files(&directory, "c")? {
        let text = std::fs::read_to_string(&source).map_err(|error| error.to_string())?;
        let has_race = text.starts_with("// verdict: race ") || text.starts_with("// verdict: race\n");
        all.push(Task { name: name(&source), source, has_race });
    }
    Ok(all)
}

/// Verification tasks that have a verdict about data races.
fn tasks(directory: &Path) -> Result<Vec<Task>, String> {
    let mut all = Vec::new();
    for description in files(directory, "yml")? {
        let text = std::fs::read_to_string(&description).map_err(|error| error.to_string())?;
        let value =
            |line: &str| line.rsplit(':').next().unwrap_or_default().trim().trim_matches(['\'', '"']).to_owned();
        let source = text.lines().find(|line| line.starts_with("input_files:")).map(value);
        let mut lines = text.lines().skip_while(|line| !line.contains("no-data-race.prp"));
        let verdict = lines.nth(1).filter(|line| line.contains("expected_verdict:")).map(value);
        if let (Some(source), Some(verdict)) = (source, verdict) {
            all.push(Task { name: name(&description), source: directory.join(source), has_race: verdict == "false" });
        }
    }
    Ok(all)
}

fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("cannot read `{}`: {error}", directory.display()))?;
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.retain(|path| path.extension().is_some_and(|found| found == extension));
    all.sort();
    Ok(all)
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The verdict about a program, and its tier.
fn scan(task: &Task, is_task: bool, options: &[String]) -> (String, String) {
    let workshop = Workshop::new();
    let out = workshop.out().display().to_string();
    let mut words: Vec<String> = ["scan", "--message-format", "json", "--out", &out].map(str::to_owned).to_vec();
    if is_task {
        words.push("--svcomp".to_owned());
    }
    words.extend(options.iter().cloned());
    words.push(task.source.display().to_string());
    let ended = workshop.run(&mut tool::racehunter(&words));
    let verdict = ended
        .stdout
        .lines()
        .rfind(|line| line.contains("\"verdict\""))
        .and_then(|line| serde_json::from_str(line).ok());
    let verdict: Value = verdict.unwrap_or_default();
    let word = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
    let said = word("verdict");
    (if said.is_empty() { "error".to_owned() } else { said }, word("tier"))
}
