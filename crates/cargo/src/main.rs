//! `cargo racehunter`: hunts the tests of unchanged Rust crates, with the stable toolchain.
//!
//! It builds a crate with cargo, acting as the rustc wrapper ([`wrapper`]), against a standard library that was
//! instrumented once for the toolchain ([`sysroot`]), and as the compiler for C and C++ ([`compilers`]). It asks each
//! test program for its tests ([`harness`]), and hunts each test on its own with `racehunter hunt` ([`hunts`]). It
//! knows schedules and findings only from the output of that command. Start at [`mod@test`].
#![forbid(unsafe_code)]

mod arguments;
mod build;
mod compilers;
mod harness;
mod hunts;
mod junit;
mod output;
mod sysroot;
mod test;
mod toolchain;
mod wrapper;

use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Usage or internal error, as for `racehunter`.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    if let Some(code) = compilers::run_if_asked().or_else(wrapper::run_if_asked) {
        return code;
    }
    match run(std::env::args_os().collect()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error}");
            error.chain().skip(1).for_each(|cause| eprintln!("  = because: {cause}"));
            ExitCode::from(ERROR)
        }
    }
}

fn run(mut words: Vec<OsString>) -> Result<u8> {
    // Cargo passes the name of the command on.
    if words.get(1).is_some_and(|word| word == "racehunter") {
        words.remove(1);
    }
    // Options of other commands are passed on to `racehunter` unread.
    if let Some("replay" | "report" | "explain") = words.get(1).and_then(|word| word.to_str()) {
        return pass_on(&words[1..]);
    }
    let matches = arguments::command().get_matches_from(words);
    match matches.subcommand() {
        Some(("setup", matches)) => sysroot::set_up(matches),
        Some(("test", matches)) => test::run(matches),
        Some(("run", matches)) => test::run_program(matches),
        Some(("build", matches)) => build::run(matches),
        _ => unreachable!("clap asks for one of them"),
    }
}

/// Runs a command of `racehunter` on the findings of this workspace.
fn pass_on(words: &[OsString]) -> Result<u8> {
    let mut command = Command::new(racehunter());
    command.args(words);
    if words[0] != "explain" && !words.iter().any(|word| word == "--out") {
        command.arg("--out").arg(build::workspace_root(None)?.join(build::OUT));
    }
    let status = command.status().context("cannot run `racehunter`")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(ERROR))
}

/// Returns the path of `racehunter`.
fn racehunter() -> PathBuf {
    beside("racehunter")
}

/// Returns a command of RaceHunter: beside this one, or on the search path.
fn beside(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| {
        let own = own.canonicalize().unwrap_or(own);
        Some(own.parent()?.join(name)).filter(|path| path.is_file())
    });
    beside.unwrap_or_else(|| PathBuf::from(name))
}
