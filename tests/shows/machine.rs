//! A virtual machine under test, as in table 3 of the 2025 paper: `cargo xtask bench machine [--dir DIR] [--runs N] [--time T]`.
//!
//! The machine is QuickJS with its workers, which are threads. Its source is in a crate that bundles it, and is not
//! part of this project: cargo fetches the crate, and everything is built in DIR. The first rows are the search of the
//! paper, without a detector; the last is the default of `hunt`, on a script of this project in which workers lose an
//! addition.

use crate::long::processor_time;
use crate::table::{Align, Table, thousands, time};
use racehunter_e2e::results::Hunted;
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, root, run, tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate, and where the source is in it.
const CRATE: (&str, &str, &str) = ("rquickjs-sys", "=0.9.0", "quickjs");
const SOURCES: [&str; 9] = [
    "cutils.c",
    "libbf.c",
    "libregexp.c",
    "libunicode.c",
    "quickjs.c",
    "quickjs-libc.c",
    "gen/repl.c",
    "gen/standalone.c",
    "qjs.c",
];
const FLAGS: [&str; 5] = ["-g", "-O1", "-w", "-D_GNU_SOURCE", "-pthread"];

/// As in the paper, except for the bound: two switches plus those that the script always needs, and those that turns
/// cost.
const SEARCH: [&str; 11] = [
    "--analysis",
    "context-bound",
    "--bound-kind",
    "switches",
    "--bound",
    "100",
    "--no-iterate",
    "--strategy",
    "fair=10000",
    "--detector",
    "none",
];

/// Prints a row for each search; returns true if all of them succeeded.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (mut directory, mut runs, mut limit) = (root().join("target/machine"), "1000", "10m");
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "--dir" => directory = root().join(value()?),
            "--runs" => runs = value()?,
            "--time" => limit = value()?,
            _ => return Err(format!("there is no option {word}")),
        }
    }
    let source = source(&directory)?;
    let machine = build(&source, &directory)?;
    let (worker, counter) = (source.join("tests/test_worker.js"), root().join("benches/programs/workers.js"));
    let table = Table::new([
        ("script", 15, Align::Left),
        ("search", 22, Align::Left),
        ("accesses", 9, Align::Right),
        ("executions", 0, Align::Right),
        ("time", 8, Align::Right),
        ("points", 7, Align::Right),
        ("diverged", 0, Align::Right),
        ("found", 0, Align::Left),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    let all = [&SEARCH[..], &["--points", "all"]].concat();
    for (script, search, options) in [
        (&worker, "as in the paper", &SEARCH[..]),
        (&worker, "every access a point", &all[..]),
        (&worker, "auto", &[][..]),
        (&counter, "auto", &["--stop-on-first"][..]),
    ] {
        let (hunted, took) = hunt(&machine, script, &[options, &["--runs", runs, "--time", limit]].concat());
        let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(summary) = &hunted.summary else {
            let why = hunted.ended.stderr.lines().next().unwrap_or("nothing is said");
            println!("{name:<15}  {search:<22}  {why}");
            good = false;
            continue;
        };
        let found = hunted.findings.iter().map(|finding| finding.kind.clone()).collect::<Vec<_>>();
        let cells = [
            name,
            search.to_owned(),
            thousands(summary.events),
            thousands(summary.executions),
            time(took),
            thousands(summary.points),
            summary.diverged.to_string(),
            if found.is_empty() { "nothing".to_owned() } else { found.join(", ") },
        ];
        println!("{}", table.row(cells));
    }
    Ok(good)
}

/// Returns the directory of the machine's source in cargo's registry; fetches it if necessary.
fn source(directory: &Path) -> Result<PathBuf, String> {
    let package = directory.join("package");
    let (name, version, inside) = CRATE;
    let manifest = format!(
        "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n{name} = \"{version}\"\n\n[workspace]\n"
    );
    let error = |error: std::io::Error| format!("{}: {error}", package.display());
    std::fs::create_dir_all(package.join("src")).map_err(error)?;
    std::fs::write(package.join("Cargo.toml"), manifest).map_err(error)?;
    std::fs::write(package.join("src/lib.rs"), "").map_err(error)?;
    let mut cargo = Command::new("cargo");
    let ended = run(cargo.args(["metadata", "--format-version", "1"]).current_dir(&package));
    let packages = serde_json::from_str::<serde_json::Value>(&ended.stdout).map_err(|_| ended.stderr.clone())?;
    let packages = packages["packages"].as_array().cloned().unwrap_or_default();
    let path =
        packages.iter().find(|package| package["name"] == name).and_then(|found| found["manifest_path"].as_str());
    let path = path.ok_or_else(|| format!("cargo knows no crate {name}"))?;
    Ok(Path::new(path).parent().unwrap_or(Path::new("/")).join(inside))
}

/// Builds the machine with the compiler wrapper, unless an existing one is newer than the runtime.
fn build(source: &Path, directory: &Path) -> Result<PathBuf, String> {
    let program = directory.join("qjs");
    let changed = |path: &Path| std::fs::metadata(path).and_then(|of| of.modified()).ok();
    if changed(&program).is_some_and(|built| changed(&tool::path()).is_some_and(|kit| kit < built)) {
        return Ok(program);
    }
    let mut command = Command::new(tool::path());
    command.arg("cc").args(FLAGS).args(SOURCES.map(|name| source.join(name)));
    let ended = run(command.args(["-o", &text(&program), "-lm", "-ldl"]).current_dir(directory));
    if ended.status == Some(0) { Ok(program) } else { Err(ended.stderr) }
}

/// Returns a hunt, and the processor time of everything involved.
fn hunt(machine: &Path, script: &Path, options: &[&str]) -> (Hunted, std::time::Duration) {
    let workshop = Workshop::new();
    let mut command = workshop.hunt_command(machine, &[&["--jobs", "1"], options].concat());
    let began = processor_time();
    let hunted = Hunted::new(run(command.arg("--").arg(script)));
    (hunted, processor_time().saturating_sub(began))
}
