//! `racehunter merge`: joins the parts of a divided campaign.

use crate::arguments::Merge;
use crate::exit::Exit;
use crate::hunt::{exit, failure};
use crate::output::{replay_options, reporter};
use anyhow::{Context as _, Result};
use racehunter_hunter::{Interrupts, Suppressions, merge, store};
use racehunter_report::notes;

/// Joins campaigns, and reports the result.
pub fn run(arguments: &Merge, suppressions: &Suppressions) -> Result<Exit> {
    let parts = merge::read(&arguments.directories)?;
    for (number, (directory, kept)) in &parts.parts {
        let findings = kept.findings.len() + kept.unconfirmed.len();
        arguments.voice.note(|| notes::part(*number, parts.of, directory, kept.coverage.executions, findings));
    }
    let merged = parts.join(suppressions)?;
    let options = replay_options(&arguments.out);
    let mut reporter = reporter(arguments.output).replay_options(options);
    for stored in &merged.findings {
        store::save(&arguments.out, stored)?;
        reporter.finding(&stored.finding).context("cannot write the results")?;
    }
    arguments.voice.note(|| notes::kept_findings(merged.findings.len(), &arguments.out));
    let exit = exit(merged.counted(), &merged.coverage, arguments.require_complete, &Interrupts::default());
    let mut reporter = reporter.failure(failure(exit, &merged.coverage));
    reporter.summary(&merged.coverage, merged.elapsed).context("cannot write the results")?;
    Ok(exit)
}
