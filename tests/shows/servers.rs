//! Programs of many kinds from Debian's source packages, and what is predicted from one execution of each: `cargo xtask
//! bench servers [--dir DIR] [--seed S] [--time T] [NAME...]`.
//!
//! The table is like table III of the ReConP paper: races under M2, SeqCheck, SeqCheck as published, and necessary reads
//! (NRE), the time of each, and the share that following the code has in the last one. Races are pairs of instructions.
//! Predictions are tried on the program: those of published SeqCheck that do not show, and that no sound policy makes,
//! are counted as false. `benches/servers.toml` lists the programs.

use crate::predict::recorded;
use crate::projects::build::{Recipe, build_one, digest};
use crate::projects::source::Sources;
use crate::table::{Align, Table, thousands};
use racehunter_e2e::{Workshop, racehunter, root, run, tool};
use racehunter_explore::Tail;
use racehunter_launch::Program;
use racehunter_predict::{Index, Kind, Options, Policy, predict};
use racehunter_trace::Trace;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Options of the build: fast enough, with line numbers.
const FLAGS: &str = "-g -O1";

/// The file with the programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Servers {
    program: Vec<Server>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    name: String,
    kind: String,
    /// Debian's source package.
    package: String,
    /// A script that builds it.
    build: String,
    run: Vec<String>,
    /// A shell command that is started when the program listens.
    client: Option<String>,
}

struct Arguments<'a> {
    directory: PathBuf,
    seed: Option<u64>,
    time: &'a str,
    names: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    fn read(words: &[&'a str]) -> Result<Self, String> {
        let directory = root().join("target/servers");
        let mut options = Self { directory, seed: Some(1), time: "120s", names: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
            match word {
                "--dir" => options.directory = root().join(value()?),
                "--seed" => options.seed = Some(value()?.parse().map_err(|_| "the seed is not a number")?),
                "--time" => options.time = value()?,
                _ => options.names.push(word),
            }
        }
        Ok(options)
    }
}

/// The policies of the table.
const POLICIES: [Policy; 4] = [Policy::M2, Policy::SeqCheck, Policy::PublishedSeqCheck, Policy::Nre];

/// Time for the predictions under one policy.
const LONGEST: Duration = Duration::from_secs(120);

/// Prints a row for each of the named programs, or for all. Returns true if all were recorded, and every sound policy
/// predicts what the narrower ones do.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let arguments = Arguments::read(words)?;
    let file = root().join("benches/servers.toml");
    let error = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let servers = std::fs::read_to_string(&file).map_err(|e| error(&e))?;
    let servers: Servers = toml::from_str(&servers).map_err(|e| error(&e))?;
    let is_chosen = |server: &&Server| arguments.names.is_empty() || arguments.names.contains(&server.name.as_str());
    let chosen: Vec<&Server> = servers.program.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(format!("no program is called {}", arguments.names.join(" or ")));
    }
    let sources = Sources::new(&arguments.directory)?;
    let table = Table::new([
        ("program", 10, Align::Left),
        ("version", 15, Align::Left),
        ("kind", 17, Align::Left),
        ("threads", 0, Align::Right),
        ("events", 11, Align::Right),
        ("B/event", 0, Align::Right),
        ("recorded", 8, Align::Right),
        ("m2", 10, Align::Right),
        ("seqcheck", 10, Align::Right),
        ("as published", 12, Align::Right),
        ("nre", 10, Align::Right),
        ("following", 0, Align::Right),
        ("nre shown", 9, Align::Right),
        ("published false", 0, Align::Right),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    for server in chosen {
        let row = sources.get(&server.package).and_then(|source| {
            let place = arguments.directory.join(&server.name).join("racehunter");
            let tool = tool::path();
            let bin = tool.parent().unwrap_or(&tool);
            let compilers = [bin.join("racehunter-cc"), bin.join("racehunter-c++")];
            let recipe = Recipe { script: &server.build, flags: FLAGS, compilers };
            build_one(&recipe, &source, &place, digest(&bin.join("../lib/racehunter")))?;
            measure(server, &source.version, &place, &arguments)
        });
        match row {
            Ok((cells, is_right)) => {
                println!("{}", table.row(cells));
                good &= is_right;
            }
            Err(what) => {
                println!("{:<10}  {what}", server.name);
                good = false;
            }
        }
    }
    Ok(good)
}

/// The races of one policy, as pairs of sites.
struct Predicted {
    races: BTreeSet<[u32; 2]>,
    unfinished: usize,
    took: Duration,
}

impl Predicted {
    fn new(trace: &Trace, policy: Policy) -> Result<Self, String> {
        let began = Instant::now();
        let index = Index::new(trace).map_err(|error| error.to_string())?;
        let options = Options { policy, ..Options::default() };
        let report = predict(&index, &options, &|| began.elapsed() > LONGEST);
        let is_race = |prediction: &&racehunter_predict::Prediction| prediction.kind == Kind::Race;
        let races = report.predictions.iter().filter(is_race).map(|prediction| {
            let mut sites = [0, 1].map(|at| trace.site(prediction.events[at]));
            sites.sort_unstable();
            sites
        });
        Ok(Self { races: races.collect(), unfinished: report.unfinished.len(), took: began.elapsed() })
    }

    fn cell(&self) -> String {
        let unfinished = if self.unfinished > 0 { format!("+{}?", self.unfinished) } else { String::new() };
        format!("{}{unfinished} {:.1}s", self.races.len(), self.took.as_secs_f64())
    }
}

fn measure(
    server: &Server,
    version: &str,
    place: &Path,
    arguments: &Arguments<'_>,
) -> Result<([String; 14], bool), String> {
    // Programs find their files there.
    std::env::set_current_dir(place).map_err(|error| format!("{}: {error}", place.display()))?;
    let (program, rest) = server.run.split_first().ok_or("there is no command")?;
    let path = place.join(program);
    let client = server.client.as_deref().map(str::trim).map(str::to_owned);
    let program =
        Program { path, arguments: rest.iter().map(Into::into).collect(), input: None, client, libraries: None };
    let tail = arguments.seed.map_or(Tail::MinSwitches, Tail::random);
    let recorded = recorded(program, tail)?;
    let mut predicted = Vec::new();
    for policy in POLICIES {
        predicted.push(Predicted::new(&recorded.trace, policy)?);
    }
    let [m2, seqcheck, published, nre] = predicted.as_slice() else { return Err("a policy is missing".to_owned()) };
    let total = recorded.plain + recorded.following + nre.took;
    let is_right = m2.races.is_subset(&seqcheck.races) && seqcheck.races.is_subset(&nre.races);
    let trial = Trial::new(server, place, arguments)?;
    let sound = trial.predict(Policy::Nre, false)?.unconfirmed;
    let shown = trial.predict(Policy::Nre, true)?;
    let of_published = trial.predict(Policy::PublishedSeqCheck, true)?;
    let cells = [
        server.name.clone(),
        version.to_owned(),
        server.kind.clone(),
        recorded.trace.threads().len().to_string(),
        thousands(recorded.trace.len() as u64),
        format!("{:.2}", recorded.bytes as f64 / recorded.trace.len().max(1) as f64),
        format!("{:.1}s", (recorded.plain + recorded.following).as_secs_f64()),
        m2.cell(),
        seqcheck.cell(),
        published.cell(),
        nre.cell(),
        format!("{:.0} %", 100.0 * recorded.following.as_secs_f64() / total.as_secs_f64()),
        format!("{} of {}", shown.predictions - shown.unconfirmed.len(), shown.predictions),
        of_published.unconfirmed.difference(&sound).count().to_string(),
    ];
    Ok((cells, is_right))
}

/// What trying the predictions of one policy showed.
struct Tried {
    predictions: usize,
    /// The predictions that the program did not show.
    unconfirmed: BTreeSet<String>,
}

/// A recording in a file, and the program to try predictions on.
struct Trial<'a> {
    server: &'a Server,
    place: &'a Path,
    arguments: &'a Arguments<'a>,
    workshop: Workshop,
}

impl<'a> Trial<'a> {
    /// Records the program.
    fn new(server: &'a Server, place: &'a Path, arguments: &'a Arguments<'a>) -> Result<Self, String> {
        let trial = Self { server, place, arguments, workshop: Workshop::new() };
        let mut command = racehunter(["record", "--timeout", "300s", "--output"]);
        command.arg(trial.trace());
        if let Some(seed) = arguments.seed {
            command.args(["--seed", &seed.to_string()]);
        }
        trial.add_client(&mut command);
        let ended = run(command.arg(place.join(&server.run[0])).arg("--").args(&server.run[1..]).current_dir(place));
        if ended.status == Some(0) { Ok(trial) } else { Err(format!("it cannot be recorded: {}", ended.stderr)) }
    }

    fn trace(&self) -> PathBuf {
        self.workshop.path("trace.rht")
    }

    fn add_client(&self, command: &mut Command) {
        if let Some(client) = &self.server.client {
            command.args(["--with", client.trim()]);
        }
    }

    /// Predicts under a policy, and tries the predictions if `confirm` says so.
    fn predict(&self, policy: Policy, confirm: bool) -> Result<Tried, String> {
        let mut command = racehunter(["predict", "--message-format", "json", "--policy", policy.name()]);
        command.args(["--time", self.arguments.time, "--out"]).arg(self.workshop.path("findings"));
        if confirm {
            command.arg("--confirm").arg(self.place.join(&self.server.run[0]));
            self.add_client(&mut command);
        }
        let ended = run(command.arg(self.trace()).current_dir(self.place));
        let lines = ended.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let lines: Vec<serde_json::Value> = lines.collect();
        let summary = lines.iter().find(|line| line["reason"] == "summary").ok_or(ended.stderr)?;
        let unconfirmed = lines.iter().filter(|line| line["predicted"] == true);
        Ok(Tried {
            predictions: summary["predictions"].as_u64().unwrap_or(0) as usize,
            unconfirmed: unconfirmed.filter_map(|line| line["id"].as_str().map(str::to_owned)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_programs_is_read() {
        let file = std::fs::read_to_string(root().join("benches/servers.toml")).expect("the list is there");
        let servers: Servers = toml::from_str(&file).expect("the list can be read");
        assert!(servers.program.len() >= 5, "fewer programs than promised");
        assert!(servers.program.iter().all(|server| !server.run.is_empty()), "a command is empty");
    }
}
