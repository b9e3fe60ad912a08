//! Findings, one line each.

use std::path::Path;

use racehunter_finding::Finding;

use crate::short::{place, severity};
use crate::text::{clean, count, pad, width};

/// Returns a line for each finding, with its program above the first one.
#[must_use]
pub fn lines(findings: &[(&Finding, String)], out: &Path) -> String {
    if findings.is_empty() {
        return format!("no findings in `{}`\n", out.display());
    }
    let rows: Vec<[String; 5]> = findings.iter().map(|(finding, _)| row(finding)).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(widest);
    let mut text = String::new();
    let mut program = None;
    for ((_, of), row) in findings.iter().zip(&rows) {
        if program.replace(of) != Some(of) {
            text += &format!("{}\n", clean(of));
        }
        let cells = row.iter().zip(widths).map(|(cell, width)| pad(cell, width)).collect::<Vec<_>>().join("  ");
        text += &format!("  {cells}  {}\n", row[4]);
    }
    let counted = findings.iter().filter(|(finding, _)| finding.counts()).count();
    text += &format!("{}, {} count\n", count(findings.len() as u64, "finding"), counted);
    text
}

fn row(finding: &Finding) -> [String; 5] {
    let place = finding.sites.first().map_or_else(|| "??".to_owned(), place);
    let mut message = clean(&finding.message);
    if let Some(first) = &finding.variant_of {
        message += &format!(" (the same cause as {})", clean(first));
    }
    if let Some(reason) = &finding.suppressed {
        message += &format!(" ({})", clean(reason));
    }
    [clean(&finding.id), severity(finding).to_owned(), finding.kind.name().to_owned(), place, message]
}
