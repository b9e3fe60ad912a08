//! `cargo xtask bench static --programs [--dir DIR] [--sources DIR] [NAME...]`: what the analysis says about real programs with threads,
//! what it costs, and what keeps it from a proof.
//!
//! `benches/static.toml` lists the programs. Most come from Debian's source packages. The source of a program that is a
//! directory of its name below `--sources` is taken from there.

use crate::projects::build::{Recipe, build_one, digest};
use crate::projects::source::{Source, Sources};
use crate::table::{Align, Table, thousands};
use racehunter_e2e::{Workshop, root, tool};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// The optimiser may remove code that contains a race.
const FLAGS: &str = "-g -O0";
/// Time for one scan. A person waits no longer than a minute.
const TIME: &str = "60s";
/// Reasons that are shown for each program and for all of them.
const SHOWN: usize = 6;
const SHOWN_OF_ALL: usize = 12;
/// Functions without a description that are shown for all programs.
const SHOWN_FUNCTIONS: usize = 40;

/// The file with the programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    program: Vec<Program>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    /// Debian's source package; without it, the source has to be below `--sources`.
    package: Option<String>,
    /// A script that builds it.
    build: String,
    /// The executable, or the objects.
    scan: Vec<String>,
}

/// The options of the command line.
struct Options<'a> {
    directory: PathBuf,
    sources: Option<PathBuf>,
    names: Vec<&'a str>,
}

impl<'a> Options<'a> {
    fn read(words: &[&'a str]) -> Result<Self, String> {
        let mut options = Self { directory: root().join("target/projects"), sources: None, names: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
            match word {
                "--dir" => options.directory = root().join(value()?),
                "--sources" => options.sources = Some(root().join(value()?)),
                _ => options.names.push(word),
            }
        }
        Ok(options)
    }
}

fn list() -> Result<Vec<Program>, String> {
    let file = root().join("benches/static.toml");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let programs: Programs = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(programs.program)
}

/// Prints a row for each program, and the reasons for gaps; returns true if every program that is there was analysed.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let options = Options::read(words)?;
    let mut programs = list()?;
    programs.retain(|program| options.names.is_empty() || options.names.contains(&program.name.as_str()));
    if programs.is_empty() {
        return Err(format!("no program is called {}", options.names.join(" or ")));
    }
    let sources = Sources::new(&options.directory)?;
    let table = Table::new([
        ("program", 14, Align::Left),
        ("version", 10, Align::Left),
        ("verdict", 9, Align::Left),
        ("threads", 0, Align::Right),
        ("candidates", 0, Align::Right),
        ("memory", 0, Align::Right),
        ("gaps", 6, Align::Right),
        ("seconds", 0, Align::Right),
        ("MiB", 5, Align::Right),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    let (mut reasons, mut functions) = (Counts::default(), Counts::default());
    let mut verdicts = Counts::default();
    for program in &programs {
        let built = source(program, &sources, &options).and_then(|source| build(program, &source, &options.directory));
        let (version, files) = match built {
            Ok(built) => built,
            Err(what) => {
                println!("{:<14}  not built: {what}", program.name);
                continue;
            }
        };
        let scanned = scan(&files)?;
        let Some(verdict) = scanned.lines.iter().find(|line| line["reason"] == "verdict") else {
            println!("{:<14}  no verdict", program.name);
            good = false;
            continue;
        };
        let number = |field: &str| verdict[field].as_u64().unwrap_or(0);
        let word = verdict["verdict"].as_str().unwrap_or_default().to_owned();
        verdicts.add(&word);
        println!(
            "{}",
            table.row([
                program.name.clone(),
                version,
                word,
                number("threads").to_string(),
                thousands(number("candidates")),
                thousands(number("memory")),
                thousands(number("gaps")),
                format!("{:.1}", number("elapsed_ms") as f64 / 1000.0),
                thousands(scanned.memory >> 10),
            ])
        );
        let mut own = Counts::default();
        for line in scanned.lines.iter().filter(|line| line["reason"] == "gap") {
            let message = line["message"].as_str().unwrap_or_default();
            let reason = without_names(message);
            own.add(&reason);
            reasons.add(&reason);
            if let Some(function) = message.strip_prefix("a call of `").and_then(|rest| rest.split('`').next()) {
                functions.add(function);
            }
        }
        own.most(SHOWN).for_each(|(what, count)| println!("    {count:6} x {what}"));
    }
    println!();
    verdicts.most(usize::MAX).for_each(|(what, count)| println!("{count:6} {what}"));
    println!("\ngaps of all programs, by reason:");
    reasons.most(SHOWN_OF_ALL).for_each(|(what, count)| println!("    {count:6} x {what}"));
    let named: Vec<String> = functions.most(SHOWN_FUNCTIONS).map(|(name, count)| format!("{name} {count}")).collect();
    println!("\nfunctions without a description, by calls: {}", named.join(", "));
    Ok(good)
}

/// How often each of several words occurs.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, word: &str) {
        *self.0.entry(word.to_owned()).or_default() += 1;
    }

    /// Returns the commonest words first.
    fn most(&self, count: usize) -> impl Iterator<Item = (&str, u64)> {
        let mut all: Vec<(&str, u64)> = self.0.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all.into_iter().take(count)
    }
}

/// Returns a message in which names are left out, so that gaps of one kind have one message.
fn without_names(message: &str) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return message.to_owned();
    }
    let shown = parts.iter().enumerate().map(|(index, part)| if index % 2 == 1 { "`...`" } else { part });
    shown.collect()
}

fn source(program: &Program, sources: &Sources, options: &Options<'_>) -> Result<Source, String> {
    let here = options.sources.as_ref().map(|sources| sources.join(&program.name)).filter(|here| here.is_dir());
    match (here, &program.package) {
        (Some(here), _) => Ok(Source::directory(&here)),
        (None, Some(package)) => sources.get(package),
        (None, None) => Err("its source is not below the directory that --sources names".to_owned()),
    }
}

/// Builds a program by RaceHunter's wrappers; returns its version and what to scan.
fn build(program: &Program, source: &Source, directory: &Path) -> Result<(String, Vec<PathBuf>), String> {
    let place = directory.join(&program.name).join("static");
    let tool = tool::path();
    let bin = tool.parent().unwrap_or(&tool);
    let compilers = [bin.join("racehunter-cc"), bin.join("racehunter-c++")];
    let recipe = Recipe { script: &program.build, flags: FLAGS, compilers };
    build_one(&recipe, source, &place, digest(&bin.join("../lib/racehunter")))?;
    Ok((source.version.clone(), program.scan.iter().map(|file| place.join(file)).collect()))
}

struct Scanned {
    lines: Vec<Value>,
    /// Peak memory in KiB.
    memory: u64,
}

/// Analyses a program; nothing is executed.
fn scan(files: &[PathBuf]) -> Result<Scanned, String> {
    let workshop = Workshop::new();
    let mut command =
        tool::racehunter(["scan", "--approx", "over", "--time", TIME, "--message-format", "json", "--out"]);
    command.arg(workshop.out()).args(files);
    let report = std::fs::File::create(workshop.path("report")).map_err(|error| error.to_string())?;
    let started = command.stdin(Stdio::null()).stdout(report).stderr(Stdio::null()).spawn();
    let mut child = started.map_err(|error| error.to_string())?;
    let mut memory = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        memory = memory.max(super::real::peak(child.id()).unwrap_or(0));
        thread::sleep(Duration::from_millis(20));
    }
    let text = std::fs::read_to_string(workshop.path("report")).map_err(|error| error.to_string())?;
    Ok(Scanned { lines: text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), memory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_programs_is_read() {
        let programs = list().expect("the list can be read");
        assert!(programs.len() >= 10, "fewer programs than promised");
        assert!(programs.iter().all(|program| !program.scan.is_empty()), "a program names nothing to scan");
    }

    #[test]
    fn gaps_of_one_kind_have_one_message() {
        assert_eq!(without_names("a call of `f`, which is not known"), "a call of `...`, which is not known");
        assert_eq!(without_names("an address that is not known"), "an address that is not known");
        assert_eq!(without_names("a ` alone"), "a ` alone");
    }
}
