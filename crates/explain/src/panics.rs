//! Rust programs that panic.

use crate::Culprit;
use crate::place::Places;
use racehunter_finding::{Finding, Frame, Site};
use racehunter_log::{CodeAddress, Event};
use racehunter_report::messages;

/// Describes the panic at a line of a file: the log has the stack, and the program has printed the message.
pub(crate) fn describe(places: &Places<'_>, file: &str, line: u32, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Assertion;
    let printed = places.execution.panic();
    let (message, column) = printed.map_or_else(Default::default, |panic| (panic.message, panic.column));
    finding.message = messages::panic(&message);
    let is_place = |frame: &Frame| frame.line == line && frame.file.ends_with(file);
    let panics = places.execution.entries().filter(|entry| entry.event() == Event::Panic);
    let found = panics.rev().find(|&entry| places.stack(entry).0.iter().any(is_place));
    let Some(entry) = found else {
        let access = "panic".to_owned();
        finding.sites.push(Site { file: file.to_owned(), line, column, access, ..places.bare(CodeAddress::UNKNOWN) });
        return None;
    };
    let mut site = places.site(entry, "panic", 0);
    let (frames, _) = places.stack(entry);
    if let Some(at) = frames.iter().position(is_place) {
        site.stack = frames.into_iter().skip(at).collect();
        let place = &site.stack[0];
        let (file, function) = (place.file.clone(), place.function.clone());
        site.file = file;
        site.line = line;
        site.function = function;
    }
    site.column = column;
    finding.sites.push(site);
    Culprit::state(entry.number())
}
