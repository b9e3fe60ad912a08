//! The commands for developers: `cargo xtask
//! build|install|dist|demo|demo-rust|test|architecture|recipes|browser|targets|probes|chaos|real|oracle|bench`.
//!
//! This program installs everything that the project needs beyond a Rust toolchain and a C compiler, or names it in one
//! line if that is not possible. See [`packages`] for the list, and [`build`] for how the parts fit together.
#![forbid(unsafe_code)]

mod architecture;
mod browser;
mod build;
mod clean_root;
mod demo;
mod dist;
mod packages;
mod recipes;
mod shell;
mod test;

use anyhow::{Result, bail};
use build::{Kit, Profile};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo      build everything, hunt a real bug, show the report and replay it
  demo-rust the same with a Rust crate and its own tests
  test      run what CI runs for each change: formatting, lints, documentation, unit and end-to-end tests; `cargo xtask test NAME...`
            runs the end-to-end tests whose names contain one of these; `cargo xtask test --all` runs everything, at length
  architecture  check what ARCHITECTURE.md claims about the code: layers, unsafe code, clock, sizes, links of the documents
  targets   hunt every program below targets/, and print a table: `cargo xtask targets [NAME...]
            [--backend fibers|threads|both]`
  probes    check every answer about programs for which the right answer is known: `cargo xtask probes [NAME...] [--dir DIR]
            [--jobs N] [--busy N] [--time T] [--cross] [--list] [--results FILE]`
  chaos     hunt a program that crashes, hangs, kills its parent, ...: `cargo xtask chaos [--runs N]`; and one that
            overwrites what it shares with the controller: `cargo xtask chaos --garble [SEEDS]`
  real      run sqlite3, zstd, xz and a server under control: `cargo xtask real [--runs N] [NAME...]`
  oracle    compare predictions and proofs with plain enumeration, at length: `cargo xtask oracle [--traces N] [--programs N] [--hunts N]`
  recipes   have the recipes for Kubernetes and Slurm in docs/fleet.md checked by kubernetes-validate and sbatch
  browser   check the page of `racehunter report --html` in headless Chromium: it renders, reacts, and fits
  build     build the command, the runtime and the compiler plugin into target/racehunter
  install   build, and put racehunter, racehunter-cc, racehunter-c++ and cargo-racehunter on the PATH ($CARGO_HOME/bin)
  dist      build, and make a tarball, a Debian package and their checksums in target/dist, for machines without a toolchain;
            `cargo xtask dist --clean-root` also installs the package in a root file system of its own, and hunts there
  bench     measure: `cargo xtask bench micro`; schedules until a bug shows: `cargo xtask bench hunt [--seeds N] [--runs N]
            [--analysis A]... [NAME...]`; methods side by side, and long executions: `cargo xtask bench tables
            [--runs N] [--time T] [--table N]... [NAME...]`; verdicts of `racehunter scan`: `cargo xtask bench static
            [--tasks DIR | --labels DIR [--cflags F] | --targets | --real [NAME] | --programs [--dir DIR] [--sources DIR] [NAME...]]
            [--attack T] [--mutants] [--time T] [--backend B] [--approx A] [--jobs N] [--models FILE]`; predictions: `cargo xtask bench predict [--quick]
            [--least EVENTS] [--most EVENTS] [--rapid CLASSPATH] [--plot FILE.svg]` on generated traces, `cargo xtask bench predict --real [NAME...]`; the savings
            of variable bounding: `cargo xtask bench bounding`; ThreadSanitizer's own tests, by both tools: `cargo xtask bench tsan --dir DIR
            [--time T] [NAME...]`, where DIR is `test/tsan` of compiler-rt; the methods on SCTBench: `cargo xtask bench sctbench
            --dir DIR [--runs N] [--time T] [NAME...]`, where DIR is its `benchmarks`; real projects and their own tests: `cargo xtask bench projects
            [--dir DIR] [--time T] [--runs N] [NAME...]`; predictions from programs of many kinds: `cargo xtask bench servers [--dir DIR] [--seed S] [--time T] [NAME...]`; the experiments of the paper on watchpoints: `cargo xtask bench watchpoint
            [NAME...]`, and its hypothesis that checking conflicting accesses finds races sooner than checking random ones: `cargo xtask bench
            hypothesis [--seeds N] [--runs N] [NAME...]`; what an explored execution of sqlite3, zstd, xz and a server costs, beside
            ThreadSanitizer: `cargo xtask bench real [--runs N] [NAME...]`; a virtual machine with threads: `cargo xtask bench machine [--dir DIR] [--runs N] [--time T]`; correct uses of popular crates, from
            the registry: `cargo xtask bench crates [OPTIONS OF cargo racehunter test]`; published bugs of crates, and the versions
            that repair them: `cargo xtask bench advisories [--runs N] [--time T] [NAME...]`; the crates' own tests: `cargo xtask
            bench suites [--runs N] [--time T] [NAME...]`; hunts with more and more workers, and simulated workers at one server: `cargo xtask
            bench fleet [--quick] [--wait MS] [--steps N] [--workers N,...] [--simulated N]`; beside loom, Shuttle and ThreadSanitizer: `cargo xtask bench peers [--runs N] [--time T]`
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["browser"] => browser::run(&Kit::build_with(Profile::Quick)?),
        ["architecture"] => architecture::run(),
        ["recipes"] => recipes::run(),
        ["demo"] => demo::run(&Kit::build()?),
        ["demo-rust"] => {
            packages::need(packages::RUST)?;
            demo::run_rust(&Kit::build()?)
        }
        ["test", rest @ ..] => test::run(rest),
        ["build"] => {
            let kit = Kit::build()?;
            println!("built {}", kit.program().display());
            Ok(())
        }
        ["install"] => install(),
        ["dist"] => dist::run(&Kit::build()?, false),
        ["dist", "--clean-root"] => dist::run(&Kit::build()?, true),
        ["targets" | "chaos" | "real" | "probes", ..] => show(&words),
        ["oracle", options @ ..] => oracle(options),
        ["bench", "static", rest @ ..] => show(&[&["scan"], rest].concat()),
        ["bench", "hunt", rest @ ..] => show(&[&["hunt"], rest].concat()),
        ["bench", "predict", "--real", rest @ ..] => show(&[&["predict"], rest].concat()),
        ["bench", "tsan", rest @ ..] => show(&[&["tsan"], rest].concat()),
        ["bench", "sctbench", rest @ ..] => show(&[&["sctbench"], rest].concat()),
        ["bench", "real", rest @ ..] => {
            packages::need(packages::BENCH)?;
            show(&[&["price"], rest].concat())
        }
        ["bench", "fleet", rest @ ..] => {
            packages::need(packages::FLEET)?;
            show(&[&["fleet"], rest].concat())
        }
        ["bench", "machine", rest @ ..] => show(&[&["machine"], rest].concat()),
        ["bench", "projects", rest @ ..] => {
            packages::need(packages::PROJECTS)?;
            show(&[&["projects"], rest].concat())
        }
        ["bench", "servers", rest @ ..] => {
            packages::need(packages::PROJECTS)?;
            packages::need(packages::SERVERS)?;
            show(&[&["servers"], rest].concat())
        }
        ["bench", "crates", rest @ ..] => {
            packages::need(packages::RUST)?;
            demo::run_crates(&Kit::build()?, rest)
        }
        ["bench", what @ ("advisories" | "suites" | "peers"), rest @ ..] => {
            packages::need(packages::RUST)?;
            show(&[&[*what], rest].concat())
        }
        ["bench", "tables", rest @ ..] => show(&[&["tables"], rest].concat()),
        ["bench", "watchpoint", rest @ ..] => show(&[&["watchpoint"], rest].concat()),
        ["bench", "hypothesis", rest @ ..] => show(&[&["hypothesis"], rest].concat()),
        ["bench", what @ ..] => bench(what),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!("{USAGE}"),
    }
}

fn install() -> Result<()> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME")?;
        Some(PathBuf::from(home).join(".cargo"))
    });
    let Some(home) = home else { bail!("neither CARGO_HOME nor HOME is set: where to install?") };
    let installed = Kit::build()?.copy_to(&home)?;
    println!("installed {} (and racehunter-cc, racehunter-c++, cargo-racehunter beside it)", installed.display());
    Ok(())
}

/// Prints what the end-to-end tests assert, as a table.
fn show(words: &[&str]) -> Result<()> {
    let kit = Kit::build()?;
    let mut arguments = vec!["run", "--quiet", "--release", "--package", "racehunter-e2e", "--"];
    arguments.extend(words);
    let status = shell::cargo(&arguments).env("RACEHUNTER", kit.program()).status()?;
    // The table says why.
    if status == Some(0) { Ok(()) } else { std::process::exit(1) }
}

/// Runs the tests that compare prediction, static analysis and searches with enumeration, on many more traces and programs
/// than in CI. Each fails at the first false result; those of predictions and proofs also print how much of what enumeration
/// finds they found.
fn oracle(options: &[&str]) -> Result<()> {
    let (mut traces, mut programs, mut hunts) = ("1000000", "100000", "12000");
    for option in options.chunks(2) {
        match *option {
            ["--traces", number] => traces = number,
            ["--programs", number] => programs = number,
            ["--hunts", number] => hunts = number,
            _ => bail!("{USAGE}"),
        }
    }
    let Ok(total) = traces.parse::<u64>() else { bail!("`{traces}` is not a number of traces") };
    // Three tests with eight kinds of traces each.
    let each = total.div_ceil(24).to_string();
    let cargo = |tests: &[&str]| {
        let mut arguments = vec!["test", "--quiet", "--release", "--package", "racehunter-predict"];
        arguments.extend(tests);
        arguments.extend(["--", "--nocapture", "--test-threads", "1"]);
        shell::cargo(&arguments)
    };
    cargo(&["--test", "all", "_threads_"]).env("RACEHUNTER_ORACLE_TRACES", &each).done()?;
    cargo(&["--test", "all", "code::"]).env("RACEHUNTER_ORACLE_PROGRAMS", programs).done()?;
    cargo(&["--test", "all", "programs::"]).env("RACEHUNTER_ORACLE_PROGRAMS", programs).done()?;
    let scan = ["test", "--quiet", "--release", "--package", "racehunter-scan", "--test", "all", "--", "--nocapture"];
    shell::cargo(&scan).env("RACEHUNTER_ORACLE_PROGRAMS", programs).done()?;
    let searches = ["test", "--quiet", "--release", "--package", "racehunter-analyses", "--test", "all"];
    shell::cargo(&searches).env("RACEHUNTER_ORACLE_HUNTS", hunts).done()
}

fn bench(what: &[&str]) -> Result<()> {
    let kit = Kit::build()?;
    packages::need(packages::BENCH)?;
    let mut arguments =
        vec!["run", "--quiet", "--release", "--package", "racehunter-benches", "--features", "peers", "--"];
    arguments.extend(what);
    shell::cargo(&arguments).env("RACEHUNTER", kit.program()).done()
}
