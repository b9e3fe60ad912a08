//! Rust programs that panic.

use crate::Culprit;
use crate::place::Places;
use racehunter_explore::Panic;
use racehunter_finding::{Finding, Frame, Site};
use racehunter_log::{CodeAddress, Event};
use racehunter_report::messages;

/// Maximum number of other panics of an execution that a finding mentions.
const MOST: usize = 3;

/// Describes the panic at a line of a file: the log has the stack, and the program has printed the message.
pub(crate) fn describe(places: &Places<'_>, file: &str, line: u32, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = racehunter_finding::Kind::Assertion;
    let panics = places.execution.panics();
    let at = panics.iter().position(|panic| panic.is_at(file, line));
    let (message, column, number) = at.map_or_else(Default::default, |at| {
        let panic = &panics[at];
        (panic.message.clone(), panic.column, panic.number)
    });
    finding.message = messages::panic(&message);
    let others = panics.iter().enumerate().filter(|(other, _)| at.is_some_and(|at| at != *other));
    finding.notes.extend(others.take(MOST).map(|(other, panic)| {
        let when = if at.is_some_and(|at| other < at) { "before that" } else { "after that" };
        format!("{when}, {} panicked at {}:{}: {}", thread(panic), panic.file, panic.line, panic.message)
    }));
    let is_place = |frame: &Frame| frame.line == line && frame.file.ends_with(file);
    let is_its = |event: &Event| matches!(*event, Event::Panic { printed_as } if number == 0 || printed_as == number);
    let unwinding = places.execution.entries().filter(|entry| is_its(&entry.event()));
    let found = unwinding.rev().find(|&entry| places.stack(entry).0.iter().any(is_place));
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

/// The thread of a panic, as its message names it.
fn thread(panic: &Panic) -> String {
    match panic.thread.as_str() {
        "main" => "the main thread".to_owned(),
        "<unnamed>" => "another thread".to_owned(),
        name => format!("thread `{name}`"),
    }
}

/// Returns notes about the last panics of the thread that ended the program.
pub(crate) fn before_the_end(places: &Places<'_>) -> Vec<String> {
    if places.execution.panics().is_empty() {
        return Vec::new();
    }
    let mut panics = places.execution.printed_panics();
    let last = panics.last().map(|panic| (panic.thread.clone(), panic.number));
    panics.retain(|panic| last.as_ref().is_some_and(|last| (&panic.thread, panic.number) == (&last.0, last.1)));
    let first = panics.len().saturating_sub(MOST);
    let note = |panic: &Panic| format!("{} at {}:{}", messages::panic(&panic.message), panic.file, panic.line);
    panics[first..].iter().map(note).collect()
}
