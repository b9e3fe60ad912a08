//! `racehunter suppress`: adds known findings to a baseline file.

use crate::arguments::Suppress;
use crate::exit::{Exit, advise};
use anyhow::{Context as _, Result};
use racehunter_hunter::suppressions::entry;
use racehunter_hunter::{Suppressions, files, store};
use std::path::Path;

/// Adds findings to the file.
pub fn run(arguments: &Suppress, known: &Suppressions) -> Result<Exit> {
    if arguments.reason.trim().is_empty() {
        return Err(advise("a suppression needs a reason", "say why the finding does not matter: --reason TEXT"));
    }
    let found = match arguments.all {
        true => store::all(&arguments.out)?.into_iter().collect::<Result<Vec<_>, _>>()?,
        false => {
            let found = arguments.ids.iter().map(|id| store::load(&arguments.out, id));
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    let before = read(&arguments.baseline)?;
    let mut text = before.clone();
    let mut added = 0;
    for mut stored in found {
        known.apply(&mut stored.finding);
        let finding = &stored.finding;
        if finding.suppressed.is_some() {
            println!("{} is suppressed already: {}", finding.id, finding.suppressed.as_deref().unwrap_or_default());
            continue;
        }
        if arguments.all && !finding.counts() {
            continue;
        }
        text += &entry(finding, &arguments.reason);
        added += 1;
        println!("{} [{}] is suppressed from now on", finding.id, finding.kind.name());
    }
    if added == 0 {
        println!("nothing to add to `{}`", arguments.baseline.display());
        return Ok(Exit::Clean);
    }
    // The old contents may be anything, and the next command must be able to read the new ones.
    Suppressions::read(&arguments.baseline.display().to_string(), &text)?;
    files::write(&arguments.baseline, text.as_bytes())?;
    Ok(Exit::Clean)
}

/// Returns the contents of the file, or the first line of a new one.
fn read(path: &Path) -> Result<String> {
    if !path.exists() {
        return Ok("# Findings of RaceHunter that do not count. `racehunter suppress` adds to this file.\n".to_owned());
    }
    let bytes = files::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    String::from_utf8(bytes).with_context(|| format!("`{}` is not text", path.display()))
}
