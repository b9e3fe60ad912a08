//! What a developer types: `cargo xtask build|install|demo|test|targets|chaos|real|bench`.
//!
//! Everything that the project needs beyond a Rust toolchain and a C compiler is installed from here, or named in one
//! line where that is not possible. See [`packages`] for what that is, and [`build`] for how the parts fit together.
#![forbid(unsafe_code)]

mod build;
mod demo;
mod packages;
mod shell;
mod test;

use anyhow::{Result, bail};
use build::Kit;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo      build everything, hunt a real bug, show the report and replay it
  test      everything that CI runs: formatting, lints, documentation, unit and end-to-end tests
  targets   hunt every program below targets/, and print a table: `cargo xtask targets [NAME...]
            [--backend fibers|threads|both]`
  chaos     hunt a program that crashes, hangs, kills its parent, ...: `cargo xtask chaos [--runs N]`
  real      run sqlite3, zstd, xz and a server under control: `cargo xtask real [--runs N] [NAME...]`
  build     build the command, the runtime and the compiler plugin into target/racehunter
  install   build, and put racehunter, racehunter-cc and racehunter-c++ on the PATH ($CARGO_HOME/bin)
  bench     measure: `cargo xtask bench micro`
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
        ["demo"] => demo::run(&Kit::build()?),
        ["test", rest @ ..] => test::run(rest),
        ["build"] => {
            let kit = Kit::build()?;
            println!("built {}", kit.program().display());
            Ok(())
        }
        ["install"] => install(),
        ["targets" | "chaos" | "real", ..] => show(&words),
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
    println!("installed {} (and racehunter-cc, racehunter-c++ beside it)", installed.display());
    Ok(())
}

/// What the end-to-end tests assert, as a table.
fn show(words: &[&str]) -> Result<()> {
    let kit = Kit::build()?;
    let mut arguments = vec!["run", "--quiet", "--release", "--package", "racehunter-e2e", "--"];
    arguments.extend(words);
    let status = shell::cargo(&arguments).env("RACEHUNTER", kit.program()).status()?;
    // The table says why.
    if status == Some(0) { Ok(()) } else { std::process::exit(1) }
}

fn bench(what: &[&str]) -> Result<()> {
    let kit = Kit::build()?;
    packages::need(packages::BENCH)?;
    let mut arguments = vec!["run", "--quiet", "--release", "--package", "racehunter-benches", "--"];
    arguments.extend(what);
    shell::cargo(&arguments).env("RACEHUNTER", kit.program()).done()
}
