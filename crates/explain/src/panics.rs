//! Programs in Rust that fail by a panic.

use crate::Culprit;
use crate::place::Places;
use racehunter_explore::Kind;
use racehunter_finding::{Finding, Frame, Site};
use racehunter_report::messages;

/// The panic at a line of a file: the log has the stack, the program has told what it says.
pub(crate) fn describe(places: &Places<'_>, file: &str, line: u32, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Assertion;
    let told = places.execution.panic();
    let (message, column) = told.map_or_else(Default::default, |panic| (panic.message, panic.column));
    finding.message = messages::panic(&message);
    let is_place = |frame: &Frame| frame.line == line && frame.file.ends_with(file);
    let panics = places.execution.records.iter().filter(|record| record.kind == Kind::Panic);
    let found = panics.rev().find(|record| places.stack(record).0.iter().any(is_place));
    let Some(record) = found else {
        let access = "panic".to_owned();
        finding.sites.push(Site { file: file.to_owned(), line, column, access, ..places.bare(0) });
        return None;
    };
    let mut site = places.site(record, record.kind, 0);
    site.access = "panic".to_owned();
    let (frames, _) = places.stack(record);
    if let Some(at) = frames.iter().position(is_place) {
        site.stack = frames.into_iter().skip(at).collect();
        let place = &site.stack[0];
        (site.file, site.line, site.function) = (place.file.clone(), line, place.function.clone());
    }
    site.column = column;
    finding.sites.push(site);
    Culprit::state(record.index)
}
