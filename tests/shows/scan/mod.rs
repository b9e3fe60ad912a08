//! `cargo xtask bench static`: what `racehunter scan` says about programs whose races are known, by tier, and how
//! long it takes. `--targets` adds the programs below `targets/`. `--tasks DIRECTORY` scans verification tasks:
//! sources with their verdicts in YAML files beside them. `--labels DIRECTORY` scans programs of other tools' tests,
//! at any depth, whose lines are labelled in comments: `RACE!` for a line that races, `NORACE` for one that does not
//! (`--cflags` is for these). `--attack TIME` hunts every program that was called race-free for that long, and
//! `--mutants` also every program that results from removing a lock or a wait and is still called race-free. `--real`
//! scans real programs, of which nothing is known; `--programs` scans those of Debian's source packages.

mod attack;
mod programs;
mod real;

use crate::table::{Align, Table};
use racehunter_e2e::annotations::targets;
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
    cflags: Option<String>,
}

/// The options of the command line.
#[derive(Default)]
struct Request {
    tasks: Option<PathBuf>,
    labels: Option<PathBuf>,
    cflags: Option<String>,
    targets: bool,
    attack: Option<String>,
    mutants: bool,
    options: Vec<String>,
}

/// Points of the competition: for proofs, races, wrong proofs and wrong races.
const SCORE: [(&str, i64); 4] = [("race-free", 2), ("race", 1), ("wrong race-free", -32), ("wrong race", -16)];

/// Scans all programs; returns true if no verdict is wrong.
pub fn show(words: &[&str]) -> Result<bool, String> {
    if let ["--real", names @ ..] = words {
        return real::show(names);
    }
    if let ["--programs", rest @ ..] = words {
        return programs::show(rest);
    }
    let request = request(words)?;
    let tasks = match (&request.tasks, &request.labels) {
        (Some(directory), _) => tasks(directory)?,
        (None, Some(directory)) => labelled(directory, request.cflags.as_ref())?,
        (None, None) => own(request.targets)?,
    };
    let is_task = request.tasks.is_some();
    let mut refuted = Vec::new();
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
        if let Some(patience) = request.attack.as_ref().filter(|_| verdict == "race-free") {
            refuted.extend(attack::attack(task, patience));
            if request.mutants {
                refuted.extend(attack::mutants(task, patience)?);
            }
        }
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
    if request.attack.is_some() {
        let proofs: u64 = counts.iter().filter(|((said, _), _)| said == "race-free").map(|(_, count)| count).sum();
        println!("  {proofs} proofs attacked, {} refuted", refuted.len());
        refuted.iter().for_each(|what| println!("  REFUTED {what}"));
    }
    Ok(refuted.is_empty() && !counts.keys().any(|(said, _)| said.starts_with("wrong")))
}

fn request(words: &[&str]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value = || words.next().map(|word| (*word).to_owned()).ok_or(format!("`{word}` needs a value"));
        match word {
            "--targets" => request.targets = true,
            "--mutants" => request.mutants = true,
            "--tasks" => request.tasks = Some(value()?.into()),
            "--labels" => request.labels = Some(value()?.into()),
            "--cflags" => request.cflags = Some(value()?),
            "--attack" => request.attack = Some(value()?),
            "--time" | "--backend" | "--approx" | "--jobs" | "--models" => {
                request.options.extend([word.to_owned(), value()?])
            }
            _ => {
                let known = "--tasks, --labels, --cflags, --targets, --attack, --mutants, --time, --backend, --approx, --jobs, --models; \
                             or --real or --programs first";
                return Err(format!("`{word}` is not one of {known}"));
            }
        }
    }
    if request.mutants && request.attack.is_none() {
        return Err("--mutants needs --attack TIME".to_owned());
    }
    Ok(request)
}

/// Returns the programs that the tests scan.
fn own(with_targets: bool) -> Result<Vec<Task>, String> {
    let directory = tool::root().join("tests/programs/scan");
    let mut all = Vec::new();
    for source in files(&directory, "c")? {
        let text = std::fs::read_to_string(&source).map_err(|error| error.to_string())?;
        let has_race = text.starts_with("// verdict: race ") || text.starts_with("// verdict: race\n");
        all.push(Task { name: name(&source), source, has_race, cflags: None });
    }
    if with_targets {
        all.extend(targets().into_iter().map(|target| {
            let has_race = target.bug.as_ref().is_some_and(|bug| !bug.marked("data-race").is_empty());
            let name = target.path.trim_start_matches("targets/").to_owned();
            Task { name, source: tool::root().join(&target.path), has_race, cflags: target.cflags }
        }));
    }
    Ok(all)
}

/// Returns the verification tasks that have a verdict about data races.
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
            let (name, source) = (name(&description), directory.join(source));
            all.push(Task { name, source, has_race: verdict == "false", cflags: None });
        }
    }
    Ok(all)
}

/// Returns the programs with threads that have a label. A label applies to its line: a program has a race if one of its
/// lines has, and no known race if there are only lines without.
fn labelled(directory: &Path, cflags: Option<&String>) -> Result<Vec<Task>, String> {
    let mut all = Vec::new();
    let mut work = vec![directory.to_path_buf()];
    while let Some(below) = work.pop() {
        let entries =
            std::fs::read_dir(&below).map_err(|error| format!("cannot read `{}`: {error}", below.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() && !path.is_symlink() {
                work.push(path);
                continue;
            }
            if !path.extension().is_some_and(|extension| extension == "c" || extension == "cpp") {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).map_err(|error| error.to_string())?).into_owned();
            let without = text.replace("NORACE", "");
            let has_race = without.contains("RACE!");
            let is_free = text.contains("NORACE") && !without.contains("RACE");
            if text.contains("pthread_create") && (has_race || is_free) {
                let name = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
                all.push(Task { name, source: path, has_race, cflags: cflags.cloned() });
            }
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
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

/// Returns the verdict about a program, and its tier.
fn scan(task: &Task, is_task: bool, options: &[String]) -> (String, String) {
    let workshop = Workshop::new();
    let out = workshop.out().display().to_string();
    let mut words: Vec<String> = ["scan", "--message-format", "json", "--out", &out].map(str::to_owned).to_vec();
    if is_task {
        words.push("--svcomp".to_owned());
    }
    words.extend(options.iter().cloned());
    words.extend(task.cflags.iter().flat_map(|cflags| ["--cflags".to_owned(), cflags.clone()]));
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
