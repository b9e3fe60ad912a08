//! `racehunter list`: the findings in a directory, one line each.

use crate::arguments::List;
use crate::exit::Exit;
use crate::output::{replay_options, reporter};
use crate::report::findings;
use anyhow::{Context as _, Result};
use racehunter_hunter::{Stored, Suppressions, shell};
use racehunter_report::{Format, list};
use std::io::Write as _;

/// Lists findings. The exit code says whether they could be read, not whether there are any.
pub fn run(arguments: &List, suppressions: &Suppressions) -> Result<Exit> {
    let out = arguments.directory.as_ref().unwrap_or(&arguments.out);
    let mut findings = findings(out, suppressions)?;
    findings.sort_by_key(|stored| (!stored.finding.counts(), stored.program.clone(), stored.finding.execution));
    if arguments.output.message_format == Format::Human {
        let program = |stored: &Stored| {
            let words = std::iter::once(stored.program.display().to_string()).chain(stored.arguments.iter().cloned());
            shell::join(&words.collect::<Vec<_>>())
        };
        let lines: Vec<_> = findings.iter().map(|stored| (&stored.finding, program(stored))).collect();
        let text = list::lines(&lines, out);
        std::io::stdout().write_all(text.as_bytes()).context("cannot write the list")?;
        return Ok(Exit::Clean);
    }
    let mut reporter = reporter(arguments.output).replay_options(replay_options(out));
    for stored in &findings {
        reporter.finding(&stored.finding).context("cannot write the list")?;
    }
    reporter.finish().context("cannot write the list")?;
    Ok(Exit::Clean)
}
