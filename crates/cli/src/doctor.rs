//! `racehunter doctor`: checks the installation and says how to fix it; shows which parts of a program are
//! instrumented.

use crate::config::Config;
use crate::exit::Exit;
use anyhow::{Context as _, Result, bail};
use racehunter_compile::Toolkit;
use racehunter_report::seen;
use racehunter_symbols::{Kind, inspect, instrumentation};
use std::path::Path;
use std::process::{Command, Stdio};

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

/// Prints what is installed. The exit code says whether that is enough.
pub fn run() -> Result<Exit> {
    let mut ready = true;
    let toolkit = match Toolkit::discover() {
        Ok(toolkit) => toolkit,
        Err(error) => {
            println!("not ready: {error}");
            return Ok(Exit::Error);
        }
    };
    println!("compiler  {} (LLVM {})", toolkit.compiler.c.display(), toolkit.compiler.version);
    println!("plugin    {}", toolkit.plugin.display());
    println!("runtime   {}", toolkit.runtime.display());
    match &toolkit.include {
        Some(path) => println!("headers   {}", path.display()),
        None => println!("headers   missing: `#include <racehunter.h>` will not work; install RaceHunter again"),
    }
    match Config::load() {
        Ok(config) => println!("settings  {}", config.describe()),
        Err(error) => {
            ready = false;
            println!("settings  {error:#}\n          fix: correct the file, or name another one in RACEHUNTER_CONFIG");
        }
    }
    println!("gdb       {}", gdb());
    if let Some((trouble, fix)) = memory() {
        ready = false;
        println!("memory    {trouble}\n          fix: {fix}");
    }
    match trial() {
        Ok(()) => println!("trial     compiled a program, found its race and replayed it"),
        Err(error) => {
            ready = false;
            println!("trial     {error:#}\n          fix: `racehunter hunt` of a file of your own may say more");
        }
    }
    println!("{}", if ready { "ready" } else { "not ready" });
    Ok(if ready { Exit::Clean } else { Exit::Error })
}

/// Prints which parts of a program are instrumented: its functions, and the functions they call.
pub fn program(path: &Path) -> Result<Exit> {
    let toolkit = Toolkit::discover()?;
    let binary = inspect(path)?;
    println!("program   {binary}");
    if let Some(help) = binary.help() {
        println!("          fix: {help}");
    }
    if !matches!(binary.kind, Kind::Instrumented | Kind::Library) {
        return Ok(Exit::Error);
    }
    print!("{}", seen(&instrumentation(path, &toolkit.runtime)?));
    Ok(Exit::Clean)
}

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

/// Compiles, hunts and replays a small program.
fn trial() -> Result<()> {
    let directory = tempfile::Builder::new().prefix("racehunter-doctor-").tempdir();
    let directory = directory.context("cannot create a temporary directory")?;
    let directory = directory.path();
    std::fs::write(directory.join("trial.c"), TRIAL).context("cannot write a file")?;
    let own = std::env::current_exe().context("cannot find the program itself")?;
    let output = Command::new(own)
        .args(["hunt", "--quiet", "--stop-on-first", "--message-format", "short", "trial.c"])
        .current_dir(directory)
        .env("RACEHUNTER_CONFIG", "")
        .output()
        .context("cannot run the program itself")?;
    let (out, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(1) || !out.contains("[data-race]") {
        let last = complaints.lines().chain(out.lines()).next().unwrap_or("it said nothing");
        bail!("a program with a race was hunted, and the race was not found: {last}");
    }
    Ok(())
}
