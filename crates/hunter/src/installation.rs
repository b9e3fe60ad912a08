//! Checks whether this machine has what hunts and replays need.

use crate::Error;
use racehunter_compile::Toolkit;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is known about one part of the installation.
#[derive(Clone, Debug)]
pub struct Check {
    /// The part.
    pub part: &'static str,
    /// What is there, or what is wrong.
    pub text: String,
    /// What to do, if it does not suffice.
    pub fix: Option<String>,
}

impl std::fmt::Display for Check {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:<9} {}", self.part, self.text)?;
        self.fix.as_ref().map_or(Ok(()), |fix| write!(out, "\n{:10}fix: {fix}", ""))
    }
}

/// Checks everything that hunts need, and passes what it finds to `say`, one part at a time. `settings` describes the
/// settings, or says why they cannot be used; `command` is `racehunter`. Returns true if hunts will work.
pub fn check(
    toolkit: &Toolkit,
    settings: Result<String, String>,
    command: Result<PathBuf, String>,
    say: &dyn Fn(&Check),
) -> bool {
    let fine = |part: &'static str, text: String| {
        say(&Check { part, text, fix: None });
        true
    };
    let wrong = |part: &'static str, text: String, fix: &str| {
        say(&Check { part, text, fix: Some(fix.to_owned()) });
        false
    };
    fine("compiler", format!("{} (LLVM {})", toolkit.compiler.c.display(), toolkit.compiler.version));
    fine("plugin", toolkit.plugin.display().to_string());
    fine("runtime", toolkit.runtime.display().to_string());
    let headers = toolkit.include.as_ref().map_or_else(
        || "missing: `#include <racehunter.h>` will not work; install RaceHunter again".to_owned(),
        |path| path.display().to_string(),
    );
    fine("headers", headers);
    let has_settings = match settings {
        Ok(text) => fine("settings", text),
        Err(error) => wrong("settings", error, "correct the file, or name another one in RACEHUNTER_CONFIG"),
    };
    fine("gdb", gdb());
    let has_memory = memory().is_none_or(|(trouble, fix)| wrong("memory", trouble.to_owned(), fix));
    let works = match command.and_then(|command| trial(&command).map_err(|error| error.chain())) {
        Ok(()) => fine("trial", "compiled a program, found its race and replayed it".to_owned()),
        Err(error) => wrong("trial", error, "`racehunter hunt` of a file of your own may say more"),
    };
    has_settings && has_memory && works
}

/// A race that the first execution shows.
const TRIAL: &str = "#include <pthread.h>
int shared;
static void *work(void *unused) { shared++; return unused; }
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, work, 0)) return 1;
    shared++;
    pthread_join(thread, 0);
    return 0;
}
";

/// Describes gdb, which only `replay --gdb` needs.
fn gdb() -> String {
    let version = Command::new("gdb").args(["-batch", "-ex", "python print('python')"]).stderr(Stdio::null()).output();
    match version {
        Err(_) => "not there; `racehunter replay ID --gdb` needs it: install the package `gdb`".to_owned(),
        Ok(output) if !String::from_utf8_lossy(&output.stdout).contains("python") => {
            "there, but without Python, which `racehunter replay ID --gdb` needs".to_owned()
        }
        Ok(_) => "there, for `racehunter replay ID --gdb`".to_owned(),
    }
}

/// Returns why the system cannot give the detector its address space, and the fix.
fn memory() -> Option<(&'static str, &'static str)> {
    let overcommit = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    if overcommit.trim() == "2" {
        return Some(("the system does not overcommit memory", "sysctl vm.overcommit_memory=0"));
    }
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let space = limits.lines().find(|line| line.starts_with("Max address space"))?;
    let is_limited = space.split_whitespace().nth(3).is_none_or(|limit| limit != "unlimited");
    is_limited.then_some(("the address space of programs is limited", "ulimit -v unlimited"))
}

/// Compiles, hunts and replays a small program with this command.
fn trial(command: &Path) -> Result<(), Error> {
    let directory = tempfile::Builder::new().prefix("racehunter-doctor-").tempdir();
    let directory = directory.map_err(|source| Error::Trial("cannot create a temporary directory", source))?;
    let directory = directory.path();
    std::fs::write(directory.join("trial.c"), TRIAL).map_err(|source| Error::Trial("cannot write a file", source))?;
    let output = Command::new(command)
        .args(["hunt", "--quiet", "--stop-on-first", "--message-format", "short", "trial.c"])
        .current_dir(directory)
        .env("RACEHUNTER_CONFIG", "")
        .output()
        .map_err(|source| Error::Trial("cannot run the program itself", source))?;
    let (out, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(1) || !out.contains("[data-race]") {
        let last = complaints.lines().chain(out.lines()).next().unwrap_or("it said nothing");
        return Err(Error::TrialFailed(last.to_owned()));
    }
    Ok(())
}
