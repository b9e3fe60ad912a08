//! Compares what a hunt reported about a program below `targets/` with the program's annotations.

use crate::annotations::{Annotated, Target};
use crate::results::{Finding, Hunted, Summary};
use std::collections::BTreeSet;

/// Judges the hunt of a program; returns the finding that it had to report, or nothing for a program without a bug.
///
/// # Errors
/// If something is missing or reported wrongly; the error says what.
pub fn judge<'a>(hunted: &'a Hunted, target: &Target) -> Result<Option<&'a Finding>, String> {
    let summary = hunted.summary.as_ref().ok_or_else(|| {
        let words = hunted.ended.stderr.trim();
        format!("the hunt did not finish: {words}")
    })?;
    let found = match &target.bug {
        Some(bug) => Some(expected(hunted, &target.path, bug)?),
        None if hunted.findings.is_empty() => None,
        None => return Err(format!("a correct program has findings: {}", hunted.overview().join("; "))),
    };
    whole(summary, hunted.findings.len())?;
    let status = i32::from(found.is_some());
    if hunted.ended.status != Some(status) {
        return Err(format!("the exit code is {:?} where it should be {status}", hunted.ended.status));
    }
    Ok(found)
}

/// Returns the finding at exactly the marked lines, after checking all others.
fn expected<'a>(hunted: &'a Hunted, path: &str, bug: &Annotated) -> Result<&'a Finding, String> {
    let mut best: Option<&Finding> = None;
    for finding in &hunted.findings {
        if possible(finding, path, bug)? == bug.lines
            && finding.kind == bug.kind
            && best.is_none_or(|known| finding.preemptions < known.preemptions)
        {
            best = Some(finding);
        }
    }
    let finding = best.ok_or_else(|| {
        let found = hunted.overview();
        let instead = if found.is_empty() { String::new() } else { format!(", but {}", found.join("; ")) };
        format!("no finding at exactly the lines {:?}{instead}", bug.lines)
    })?;
    let (shown, least) = (finding.preemptions, bug.preemptions);
    if shown > least {
        return Err(format!("{} shown with {shown} preemptions where {least} are enough", finding.id));
    }
    Ok(finding)
}

/// Checks a finding about a program with a bug; returns its lines.
fn possible(finding: &Finding, path: &str, bug: &Annotated) -> Result<BTreeSet<u32>, String> {
    let Finding { id, kind, confirmed, replayed, message, .. } = finding;
    let lines = lines(finding, path)?;
    if kind == "exit-status" && *confirmed {
        // The program computes a wrong result because of its bug, and reports that.
        return Ok(lines);
    }
    let marked = bug.marked(kind);
    if marked.is_empty() {
        return Err(format!("the only bug is of another kind: {message} at {lines:?}"));
    }
    if !*confirmed || *replayed != [5, 5] {
        return Err(format!("{id} was not confirmed: {replayed:?}"));
    }
    if !lines.is_subset(&marked) {
        return Err(format!("{kind}: {message} at lines {lines:?}, where only {marked:?} are marked"));
    }
    Ok(lines)
}

/// Returns the lines of the program that a finding refers to.
fn lines(finding: &Finding, path: &str) -> Result<BTreeSet<u32>, String> {
    let places = finding.sites.iter().map(|site| site.line_in(path));
    let lines: Option<BTreeSet<u32>> = places.collect();
    lines.ok_or_else(|| format!("a site outside of the program: {:?}", finding.sites))
}

/// Checks that every execution followed its plan to the end, and that all findings are counted.
fn whole(summary: &Summary, findings: usize) -> Result<(), String> {
    if (summary.diverged, summary.timed_out) != (0, 0) {
        return Err(format!("{} executions diverged, {} were stopped", summary.diverged, summary.timed_out));
    }
    if summary.findings != findings as u64 {
        return Err(format!("the summary counts {} findings where {findings} were reported", summary.findings));
    }
    Ok(())
}
