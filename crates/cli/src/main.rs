//! `racehunter`: the command line.
//!
//! Arguments and settings become calls of the hunter, its events become progress and reports, its errors messages and exit
//! codes. Only this crate reads arguments, the environment and the terminal. Start at [`mod@hunt`].
#![forbid(unsafe_code)]

mod arguments;
mod bundle;
mod config;
mod doctor;
mod exit;
mod fleet;
mod generate;
mod hunt;
mod list;
mod merge;
mod output;
mod predict;
mod record;
mod replay;
mod report;
mod scan;
mod suppress;
mod test;
mod trace;
mod voice;
mod watch;

use anyhow::Context as _;
use arguments::{Arguments, Command};
use clap::Parser as _;
use exit::Exit;
use racehunter_compile::{Language, Toolkit};
use racehunter_hunter::settings::Settings;
use racehunter_hunter::{Error, campaign};
use racehunter_report::lessons;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Under the name of a compiler it acts as one: build systems want a single word for `CC`.
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let name = std::path::Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let result = match name.as_str() {
        "racehunter-cc" => compile(Language::C, words.collect()),
        "racehunter-c++" => compile(Language::Cxx, words.collect()),
        _ => run(std::env::args_os().collect()),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            // The reader has closed the pipe, as `head` does: end silently.
            if !exit::is_closed_pipe(&error) {
                eprint!("{}", exit::render(&error));
            }
            Exit::Error.into()
        }
    }
}

/// Runs the command that a line asks for.
fn run(words: Vec<OsString>) -> anyhow::Result<Exit> {
    // Build systems start thousands of compilers, which have their own options: read no settings for them.
    let is_compiler = words.get(1).is_some_and(|word| word == "cc" || word == "c++" || word == "doctor");
    let settings = if is_compiler { Settings::default() } else { config::load()? };
    let words = if is_compiler { words } else { config::complete(&settings, words)? };
    let suppressions = &settings.suppressions;
    match Arguments::parse_from(words).command {
        Command::Hunt(arguments) => hunt(*arguments, &settings),
        Command::Merge(arguments) => merge::run(&arguments, suppressions),
        Command::Worker(arguments) => fleet::work(&arguments),
        Command::Status(arguments) => fleet::status(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Report(arguments) => report::run(&arguments, suppressions),
        Command::Test(arguments) => test::run(&arguments),
        Command::List(arguments) => list::run(&arguments, suppressions),
        Command::Suppress(arguments) => suppress::run(&arguments, suppressions),
        Command::Bundle(arguments) => bundle::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments, suppressions),
        Command::Scan(arguments) => scan::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Cc { arguments } => compile(Language::C, arguments),
        Command::Cxx { arguments } => compile(Language::Cxx, arguments),
        Command::Doctor { program: Some(program) } => doctor::program(&program),
        Command::Doctor { program: None } => doctor::run(),
        Command::Explain { kind } => explain(kind.as_deref()),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { directory } => generate::manual(directory.as_deref()),
    }
}

/// Hunts. Without a target, continues the last hunt with its original options.
fn hunt(arguments: arguments::Hunt, settings: &Settings) -> anyhow::Result<Exit> {
    if let Some(target) = &arguments.target {
        return hunt::run(&arguments, target, &settings.suppressions);
    }
    let words = campaign::recall(&arguments.out, hunt::words())?;
    let words = ["racehunter".to_owned(), "hunt".to_owned()].into_iter().chain(words).map(OsString::from).collect();
    match Arguments::parse_from(config::complete(settings, words)?).command {
        Command::Hunt(arguments) if arguments.target.is_some() => hunt(*arguments, settings),
        _ => anyhow::bail!("the last campaign in `{}` does not say what it hunts", arguments.out.display()),
    }
}

/// Explains one kind of finding, or lists all of them.
fn explain(name: Option<&str>) -> anyhow::Result<Exit> {
    let text = match name {
        None => lessons::list(),
        Some(name) => lessons::explain(name).map_err(|names| Error::NoSuchKind { name: name.to_owned(), names })?,
    };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write")?;
    Ok(Exit::Clean)
}

/// Behaves like clang, with our instrumentation.
fn compile(language: Language, arguments: Vec<OsString>) -> anyhow::Result<Exit> {
    let status = racehunter_compile::run(language, arguments, &Toolkit::discover()?)?;
    Ok(Exit::of(status))
}
