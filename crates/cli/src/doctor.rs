//! `racehunter doctor`: checks the installation and says how to fix it; shows which parts of a program are
//! instrumented.

use crate::config;
use crate::exit::Exit;
use anyhow::Result;
use racehunter_compile::Toolkit;
use racehunter_hunter::installation;
use racehunter_report::seen;
use racehunter_symbols::{Kind, inspect, instrumentation};
use std::path::Path;

/// Prints what is installed. The exit code says whether that is enough.
pub fn run() -> Result<Exit> {
    let toolkit = match Toolkit::discover() {
        Ok(toolkit) => toolkit,
        Err(error) => {
            println!("not ready: {error}");
            return Ok(Exit::Error);
        }
    };
    let settings = config::load().map(|settings| settings.describe()).map_err(|error| format!("{error:#}"));
    let own = std::env::current_exe().map_err(|error| format!("cannot find the program itself: {error}"));
    let is_ready = installation::check(&toolkit, settings, own, &|check| println!("{check}"));
    println!("{}", if is_ready { "ready" } else { "not ready" });
    Ok(if is_ready { Exit::Clean } else { Exit::Error })
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
