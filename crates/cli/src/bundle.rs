//! `racehunter bundle`: a finding in one file.

use crate::arguments::Bundle;
use crate::exit::Exit;
use crate::replay::around;
use anyhow::{Context as _, Result};
use racehunter_hunter::{bundle, files, locate, store};
use std::io::Write as _;
use std::path::PathBuf;

/// Writes the file.
pub fn run(arguments: &Bundle) -> Result<Exit> {
    let stored = store::load(&arguments.out, &arguments.id)?;
    let program = match &arguments.program {
        Some(program) => locate::named(&stored, program)?,
        None => locate::program(&stored, &around(&arguments.out))?,
    };
    let bytes = bundle::pack(&stored, &program)?;
    let default = || PathBuf::from(format!("{}.{}", stored.finding.id, bundle::EXTENSION));
    let path = arguments.output.clone().unwrap_or_else(default);
    let mut file = files::create_named(&path)?;
    file.write_all(&bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!(
        "wrote {} ({} kB); elsewhere: racehunter replay {}",
        path.display(),
        bytes.len().div_ceil(1000),
        path.display()
    );
    Ok(Exit::Clean)
}
