//! `racehunter list`: the findings in a directory, one line each.

use crate::arguments::{List, MessageFormat};
use crate::exit::Exit;
use crate::output::{replay_options, reporter};
use anyhow::{Context as _, Result};
use racehunter_hunter::{Stored, Suppressions, locate, shell, store};
use racehunter_report::{list, notes};
use std::io::Write as _;

/// Lists findings. The exit code says whether they could be read, not whether there are any.
pub fn run(arguments: &List, suppressions: &Suppressions) -> Result<Exit> {
    let out = arguments.directory.as_ref().unwrap_or(&arguments.out);
    let mut findings = Vec::new();
    for stored in store::all(out)? {
        match stored {
            Ok(stored) => findings.push(stored),
            Err(error) => eprintln!("warning: {}", notes::left_out(&error.chain())),
        }
    }
    findings.iter_mut().for_each(|stored| suppressions.apply(&mut stored.finding));
    findings.iter_mut().for_each(set_aside_earlier_builds);
    findings.sort_by_key(|stored| (!stored.finding.counts(), stored.program.clone(), stored.finding.execution));
    if arguments.message_format == MessageFormat::Human {
        let program = |stored: &Stored| {
            let words = std::iter::once(stored.program.display().to_string()).chain(stored.arguments.iter().cloned());
            shell::join(&words.collect::<Vec<_>>())
        };
        let lines: Vec<_> = findings.iter().map(|stored| (&stored.finding, program(stored))).collect();
        let text = list::lines(&lines, out);
        std::io::stdout().write_all(text.as_bytes()).context("cannot write the list")?;
        return Ok(Exit::Clean);
    }
    let mut reporter = reporter(arguments.message_format, arguments.color.into()).replay_options(replay_options(out));
    for stored in &findings {
        reporter.finding(&stored.finding).context("cannot write the list")?;
    }
    reporter.finish().context("cannot write the list")?;
    Ok(Exit::Clean)
}

/// Suppresses findings of earlier builds, which say nothing about the current program.
pub fn set_aside_earlier_builds(stored: &mut Stored) {
    if stored.finding.suppressed.is_none() && locate::was_rebuilt(stored) {
        stored.finding.suppressed = Some(notes::earlier_build(&stored.program));
    }
}
