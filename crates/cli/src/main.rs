//! `racehunter`: the command line.
//!
//! Thin on purpose: it turns arguments into calls of the crates below, and errors into messages and exit codes. The
//! only place that reads the clock, the environment or the terminal. Start at [`mod@hunt`].
#![forbid(unsafe_code)]

mod arguments;
mod campaign;
mod confirm;
mod doctor;
mod exit;
mod gdb;
mod hunt;
mod merge;
mod predict;
mod predictions;
mod progress;
mod record;
mod replay;
mod report;
mod store;
mod target;
mod trace;
mod words;

use arguments::{Arguments, Command};
use clap::Parser;
use exit::Exit;
use racehunter_compile::{Language, Toolkit};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Installed under the name of a compiler, it is one: build systems want a single word for `CC`.
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let name = std::path::Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let result = match name.as_str() {
        "racehunter-cc" => compile(Language::C, words.collect()),
        "racehunter-c++" => compile(Language::Cxx, words.collect()),
        _ => match Arguments::parse().command {
            Command::Hunt(arguments) => hunt(arguments),
            Command::Merge(arguments) => merge::run(&arguments),
            Command::Replay(arguments) => replay::run(&arguments),
            Command::Report(arguments) => arguments.check().and_then(|()| report::run(&arguments)),
            Command::Record(arguments) => record::run(&arguments),
            Command::Predict(arguments) => predict::run(&arguments),
            Command::Trace(arguments) => trace::run(&arguments),
            Command::Cc { arguments } => compile(Language::C, arguments),
            Command::Cxx { arguments } => compile(Language::Cxx, arguments),
            Command::Doctor => doctor::run(),
        },
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprint!("{}", exit::render(&error));
            Exit::Error.into()
        }
    }
}

/// Hunts; without a target it goes on with the last hunt, as that was started.
fn hunt(arguments: arguments::Hunt) -> anyhow::Result<Exit> {
    if let Some(target) = &arguments.target {
        return hunt::run(&arguments, target);
    }
    let words = campaign::recall(&arguments.out)?;
    match Arguments::parse_from(["racehunter".to_owned(), "hunt".to_owned()].into_iter().chain(words)).command {
        Command::Hunt(arguments @ arguments::Hunt { target: Some(_), .. }) => hunt(arguments),
        _ => anyhow::bail!("the last campaign in `{}` does not say what it hunts", arguments.out.display()),
    }
}

/// Behaves like clang, with our instrumentation.
fn compile(language: Language, arguments: Vec<OsString>) -> anyhow::Result<Exit> {
    let status = racehunter_compile::run(language, arguments, &Toolkit::discover()?)?;
    Ok(Exit::Status(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}
