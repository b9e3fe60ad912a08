//! What variable bounding saves: the time of one execution by the number of variables that it tracks, the executions
//! and time needed to find a bug, and the ranks of bugs. The tables are those of S. Bindal, S. Bansal, A. Lal,
//! "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", 2013 (2, 4, 1 and 3), for
//! programs of the same kinds, which are in `programs/bounding` and in `suite`.

mod finding;
mod ranks;
mod tracking;

use crate::programs::{Programs, Source};
use crate::rows::Effort;
use anyhow::Result;
use std::path::Path;

/// Prints all tables, or the selected ones: `time`, of these programs, `executions`, or `ranks`.
pub fn show(programs: &Programs, effort: Effort, wanted: Option<&str>, names: &[&str]) -> Result<()> {
    let is_wanted = |table: &str| wanted.is_none_or(|wanted| wanted == table);
    if is_wanted("time") {
        tracking::show(programs, effort, names)?;
    }
    if wanted.is_none() {
        println!();
    }
    if is_wanted("executions") {
        finding::show(programs, effort)?;
    }
    if wanted.is_none() {
        println!();
    }
    if is_wanted("ranks") {
        ranks::show(programs, effort)?;
    }
    Ok(())
}

/// Returns a program of `suite`, by its name without `.c`, in a size if it has any.
fn suite(name: &'static str, size: Option<u32>) -> Source {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite");
    let flags = size.iter().map(|size| format!("-DN={size}")).collect();
    Source { name, files: vec![directory.join(format!("{name}.c"))], flags }
}

/// Returns a program of `programs/bounding`, by its name without `.c`.
fn source(name: &'static str, flags: Vec<String>) -> Source {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/bounding");
    Source { name, files: vec![directory.join(format!("{name}.c"))], flags }
}
