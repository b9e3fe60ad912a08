//! `racehunter bundle`: a finding in one file.

use crate::arguments::Bundle;
use crate::exit::Exit;
use anyhow::{Context as _, Result};
use racehunter_hunter::{bundle, files, locate, store};
use racehunter_report::notes;
use std::io::Write as _;
use std::path::PathBuf;

/// Writes the file.
pub fn run(arguments: &Bundle) -> Result<Exit> {
    let stored = store::load(&arguments.out, &arguments.id)?;
    let program = locate::find(&stored, arguments.program.as_deref(), &arguments.out)?;
    let bytes = bundle::pack(&stored, &program)?;
    let default = || PathBuf::from(format!("{}.{}", stored.finding.id, bundle::EXTENSION));
    let path = arguments.output.clone().unwrap_or_else(default);
    let mut file = files::create_named(&path)?;
    file.write_all(&bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("{}", notes::bundled(&path, bytes.len()));
    Ok(Exit::Clean)
}
