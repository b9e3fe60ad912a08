//! The compiler wrappers `racehunter cc` and `racehunter c++`.
//!
//! They behave like clang for every use that a build system makes of a compiler, and add what RaceHunter needs: the
//! plugin to each compilation, the runtime to each executable. This crate knows only command lines; it does not know
//! what the plugin and the runtime do.
//!
//! * [`Toolkit`] says where the compiler, the plugin and the runtime are.
//! * [`Invocation`] parses a command line as far as it matters here.
//! * [`command_line`] turns a command into the arguments for clang.
//! * [`run`] does all of this and runs clang.
//!
//! # What is added, and where
//!
//! RaceHunter's flags come before the user's, so that the user's win if both set the same thing (`-g0`,
//! `-fno-sanitize=thread`). Instrumented objects are never linked with `-fsanitize=thread`: the runtime replaces
//! ThreadSanitizer's. Shared libraries get no runtime; they use the one in the executable.
#![forbid(unsafe_code)]

mod command;
mod error;
mod invocation;
mod options;
mod response;
mod toolkit;

pub use command::command_line;
pub use error::CompileError;
pub use invocation::{Invocation, Output, Stage};
pub use toolkit::{Compiler, Toolkit};

use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The language that a wrapper is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C: `racehunter cc`, in place of `clang`.
    C,
    /// C++: `racehunter c++`, in place of `clang++`.
    Cxx,
}

/// Runs clang with the user's arguments and RaceHunter's, and waits for it.
///
/// # Errors
///
/// When the command asks for something that cannot work (see [`CompileError`]), or clang cannot be started. A
/// compilation that fails is not an error of this function: it is the returned status.
pub fn run(language: Language, arguments: Vec<OsString>, toolkit: &Toolkit) -> Result<ExitStatus, CompileError> {
    run_with(language, arguments, toolkit, &[])
}

/// As [`run`], with additional environment variables for clang, and so for the plugin.
///
/// # Errors
///
/// As [`run`].
pub fn run_with(
    language: Language,
    arguments: Vec<OsString>,
    toolkit: &Toolkit,
    environment: &[(&str, &str)],
) -> Result<ExitStatus, CompileError> {
    let program = toolkit.program(language);
    let arguments = command_line(arguments, toolkit)?;
    let failed = |source: io::Error| CompileError::Start { program: program.to_owned(), source };
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied());
    let mut child = command.spawn().map_err(failed)?;
    under_way().push(child.id());
    let status = child.wait();
    under_way().retain(|&other| other != child.id());
    status.map_err(failed)
}

/// The compilers that are running.
static UNDER_WAY: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<u32>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all running compilations and the processes that the compilers have started, because the time is up.
pub fn stop_all() {
    for &compiler in under_way().iter() {
        let list = std::fs::read_to_string(format!("/proc/{compiler}/task/{compiler}/children")).unwrap_or_default();
        let children = list.split_ascii_whitespace().filter_map(|child| child.parse().ok());
        for process in children.chain([compiler as i32]).filter_map(Pid::from_raw) {
            // It may have ended by now, which is fine.
            let _ = kill_process(process, Signal::KILL);
        }
    }
}
