//! Real projects from Debian's source packages, under control: `cargo xtask bench projects [--dir DIR] [--time T] [--runs N] [NAME...]`.
//!
//! Each project is built twice by its own build system, which knows only the names of two compilers, and its own tests
//! are hunted. A plain build determines the right outcome. `benches/projects.toml` lists the projects.

pub mod build;
pub mod source;

use crate::table::{Align, Table};
use build::{Recipe, build_one, digest};
use racehunter_e2e::results::{Hunted, Uncontrolled};
use racehunter_e2e::{Workshop, racehunter, root, run, tool};
use serde::Deserialize;
use source::{Source, Sources};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Options of both builds: fast enough, with line numbers.
const FLAGS: &str = "-g -O1";

/// The file with the projects.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Projects {
    project: Vec<Project>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    name: String,
    /// Debian's source package.
    package: String,
    /// A script that builds it.
    build: String,
    /// Environment variables of its tests.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    test: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    name: String,
    run: Vec<String>,
}

/// The options of the command line.
struct Options<'a> {
    directory: PathBuf,
    time: &'a str,
    runs: &'a str,
    names: Vec<&'a str>,
}

impl<'a> Options<'a> {
    fn read(words: &[&'a str]) -> Result<Self, String> {
        let directory = root().join("target/projects");
        let mut options = Self { directory, time: "20s", runs: "200", names: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
            match word {
                "--dir" => options.directory = root().join(value()?),
                "--time" => options.time = value()?,
                "--runs" => options.runs = value()?,
                _ => options.names.push(word),
            }
        }
        Ok(options)
    }
}

/// Prints a row for every test of the named projects, or of all; returns true if every outcome is right and nothing
/// diverged. Findings are not a failure here: a project may have races, and a reader has to judge whether they are
/// real.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let options = Options::read(words)?;
    let file = root().join("benches/projects.toml");
    let projects = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let projects: Projects = toml::from_str(&projects).map_err(|error| format!("{}: {error}", file.display()))?;
    let is_chosen = |project: &&Project| options.names.is_empty() || options.names.contains(&project.name.as_str());
    let chosen: Vec<&Project> = projects.project.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(format!("no project is called {}", options.names.join(" or ")));
    }
    let sources = Sources::new(&options.directory)?;
    let table = Table::new([
        ("project", 17, Align::Left),
        ("version", 15, Align::Left),
        ("test", 28, Align::Left),
        ("plain", 8, Align::Left),
        ("under control", 0, Align::Left),
        ("findings", 10, Align::Left),
        ("unseen", 0, Align::Right),
        ("rate", 8, Align::Right),
        ("diverged", 0, Align::Right),
        ("limit", 6, Align::Left),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    for project in chosen {
        let built = sources.get(&project.package).and_then(|source| build(project, &source, &options.directory));
        let (version, built) = match built {
            Ok(built) => built,
            Err(what) => {
                println!("{:<17}  {what}", project.name);
                good = false;
                continue;
            }
        };
        for test in &project.test {
            let row = hunt(&built, test, &project.environment, &options);
            let [plain, outcome, findings, unseen, rate, diverged, limit] = row.cells;
            let (name, version, test) = (project.name.clone(), version.clone(), test.name.clone());
            let cells = [name, version, test, plain, outcome, findings, unseen, rate, diverged, limit];
            println!("{}", table.row(cells));
            print!("{}", row.remarks);
            good &= row.is_right;
        }
    }
    Ok(good)
}

/// The directories of the two builds.
struct Built {
    plain: PathBuf,
    ours: PathBuf,
}

/// Builds a project with the plain compiler and with RaceHunter's. An earlier build by the same script, runtime and
/// plugin is reused.
fn build(project: &Project, source: &Source, directory: &Path) -> Result<(String, Built), String> {
    let home = directory.join(&project.name);
    let tool = tool::path();
    let bin = tool.parent().unwrap_or(&tool);
    let version = run(&mut racehunter(["cc", "--version"])).stdout;
    let installed = version.lines().find_map(|line| line.strip_prefix("InstalledDir: ")).unwrap_or_default();
    let clang = Path::new(installed);
    let built = Built { plain: home.join("plain"), ours: home.join("racehunter") };
    let plain =
        Recipe { script: &project.build, flags: FLAGS, compilers: [clang.join("clang"), clang.join("clang++")] };
    build_one(&plain, source, &built.plain, 0)?;
    let ours = digest(&bin.join("../lib/racehunter"));
    let wrappers = [bin.join("racehunter-cc"), bin.join("racehunter-c++")];
    build_one(&Recipe { compilers: wrappers, ..plain }, source, &built.ours, ours)?;
    Ok((source.version.clone(), built))
}

struct Row {
    cells: [String; 7],
    /// Whole lines: what was found, and what was not seen.
    remarks: String,
    is_right: bool,
}

/// Outcomes that must not depend on the schedule.
const OUTCOMES: [&str; 5] = ["exit-status", "crash", "assertion", "deadlock", "lost-wakeup"];

fn hunt(built: &Built, test: &Test, environment: &BTreeMap<String, String>, options: &Options<'_>) -> Row {
    let (program, arguments) = test.run.split_first().expect("the list has no empty command");
    let mut alone = Command::new("timeout");
    alone.arg("60").arg(built.plain.join(program)).args(arguments).current_dir(&built.plain).envs(environment);
    let plain = run(&mut alone).status;
    let workshop = Workshop::new();
    let limits = ["--time", options.time, "--runs", options.runs];
    let mut command = workshop.hunt_command(&built.ours.join(program), &limits);
    command.arg("--").args(arguments).current_dir(&built.ours).envs(environment);
    let began = Instant::now();
    let hunted = Hunted::new(run(&mut command));
    let seconds = began.elapsed().as_secs_f64();
    let plain_cell = plain.map_or_else(|| "signal".to_owned(), |status| format!("exit {status}"));
    let Some(summary) = &hunted.summary else {
        let cells = [plain_cell, "NOT RUN".to_owned()].into_iter().chain(std::iter::repeat_n(String::new(), 5));
        let cells: Vec<String> = cells.collect();
        let first = hunted.ended.stderr.lines().next().unwrap_or_default();
        let remarks = format!("    {first}\n");
        return Row { cells: cells.try_into().unwrap_or_default(), remarks, is_right: false };
    };
    let wrong = hunted.findings.iter().filter(|finding| OUTCOMES.contains(&finding.kind.as_str())).count();
    // Executions that diverge end early, and say nothing about the outcome.
    let is_same = wrong == 0 && summary.completed > 0 && plain == Some(0);
    let outcome = match (wrong, summary.completed) {
        (0, 0) => "none ended",
        _ if is_same => "the same",
        _ => "DIFFERENT",
    };
    let confirmed = hunted.findings.iter().filter(|finding| finding.confirmed).count();
    let limit = match () {
        () if summary.timed_out > 0 => format!("{} timed out", summary.timed_out),
        () if summary.finished => "-".to_owned(),
        () if summary.executions.to_string() == options.runs => "runs".to_owned(),
        () => "time".to_owned(),
    };
    let cells = [
        plain_cell,
        outcome.to_owned(),
        format!("{confirmed} + {}", hunted.findings.len() - confirmed),
        summary.uncontrolled.len().to_string(),
        format!("{:.1}/s", summary.executions as f64 / seconds),
        summary.diverged.to_string(),
        limit,
    ];
    let mut remarks = String::new();
    for finding in &hunted.findings {
        let mark = if finding.confirmed { "" } else { " (unconfirmed)" };
        let places: Vec<String> = finding.sites.iter().map(|site| place(&site.file, site.line)).collect();
        let _ = writeln!(remarks, "    {}{mark} at {}: {}", finding.kind, places.join(", "), finding.message);
    }
    for unseen in summary.uncontrolled.iter().take(3) {
        let Uncontrolled { what, file, line, detail, .. } = unseen;
        let _ = writeln!(remarks, "    not seen: {what} {detail} at {}", place(file, *line));
    }
    for why in &summary.unclear {
        let _ = writeln!(remarks, "    unclear: {why}");
    }
    Row { cells, remarks, is_right: is_same && summary.diverged == 0 }
}

/// Returns a place, with only the name of its file.
fn place(file: &str, line: u32) -> String {
    format!("{}:{line}", file.rsplit('/').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_projects_is_read() {
        let file = std::fs::read_to_string(root().join("benches/projects.toml")).expect("the list is there");
        let projects: Projects = toml::from_str(&file).expect("the list can be read");
        assert!(projects.project.len() >= 8, "fewer projects than promised");
        for project in &projects.project {
            assert!(!project.test.is_empty(), "{} has no test", project.name);
            assert!(project.test.iter().all(|test| !test.run.is_empty()), "{} has an empty command", project.name);
        }
    }
}
