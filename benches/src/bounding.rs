//! What variable bounding saves: the time of one execution by the number of variables that it is about, and the executions
//! and time that it takes to find a bug. The two tables are those of S. Bindal, S. Bansal, A. Lal, "Variable and Thread
//! Bounding for Systematic Testing of Multithreaded Programs", 2013 (2 and 4), for programs of the same kinds, which are in
//! `programs/bounding`.

mod finding;
mod tracking;

use crate::programs::{Programs, Source};
use crate::rows::Effort;
use anyhow::Result;
use std::path::Path;

/// Prints both tables, or the one that is wanted: `time`, of these programs, or `executions`.
pub fn show(programs: &Programs, effort: Effort, wanted: Option<&str>, names: &[&str]) -> Result<()> {
    if wanted != Some("executions") {
        tracking::show(programs, effort, names)?;
    }
    if wanted.is_none() {
        println!();
    }
    if wanted != Some("time") {
        finding::show(programs, effort)?;
    }
    Ok(())
}

/// A program of `programs/bounding`, by its name without `.c`.
fn source(name: &'static str, flags: Vec<String>) -> Source {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/bounding");
    Source { name, files: vec![directory.join(format!("{name}.c"))], flags }
}
