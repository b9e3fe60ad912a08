//! `racehunter suppress`: adds known findings to a baseline file.

use crate::arguments::Suppress;
use crate::exit::Exit;
use anyhow::Result;
use racehunter_hunter::{Error, Suppressions, store, suppressions};

/// Adds findings to the file.
pub fn run(arguments: &Suppress, known: &Suppressions) -> Result<Exit> {
    if arguments.reason.trim().is_empty() {
        return Err(Error::NoReason.into());
    }
    let found = match arguments.all {
        true => store::all(&arguments.out)?.into_iter().collect::<Result<Vec<_>, _>>()?,
        false => {
            let found = arguments.ids.iter().map(|id| store::load(&arguments.out, id));
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut text = suppressions::baseline(&arguments.baseline)?;
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
        text += &suppressions::entry(finding, &arguments.reason);
        added += 1;
        println!("{} [{}] is suppressed from now on", finding.id, finding.kind.name());
    }
    if added == 0 {
        println!("nothing to add to `{}`", arguments.baseline.display());
        return Ok(Exit::Clean);
    }
    suppressions::write_baseline(&arguments.baseline, &text)?;
    Ok(Exit::Clean)
}
