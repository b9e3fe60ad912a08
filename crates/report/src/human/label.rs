//! The text next to a place: who does what there.

use racehunter_finding::{Finding, Kind, Site};

use crate::short::location;
use crate::text::clean;
use crate::threads::Threads;
use crate::values;

/// Returns the lines of the label of a site, at least one.
pub(crate) fn labels(finding: &Finding, number: usize, site: &Site, threads: &Threads) -> Vec<String> {
    let thread = threads.sentence(&site.thread);
    if let Some(waiting) = &site.waits_for {
        let object = clean(&waiting.object);
        let awaited = match waiting.owner.as_deref().map(|owner| threads.sentence(owner)) {
            Some(owner) if site.access == "join" => format!("the end of {owner}"),
            Some(owner) => format!("`{object}`, held by {owner}"),
            None => format!("`{object}`"),
        };
        let mut lines = vec![format!("{thread} waits for {awaited}")];
        lines.extend(site.locks.iter().map(|lock| holds(finding, site, lock)));
        return lines;
    }
    let mut line = format!("{}, {thread}", what(finding.kind, number, site));
    let is_memory = finding.kind.is_about_memory();
    if !site.locks.is_empty() {
        let locks: Vec<String> = site.locks.iter().map(|lock| format!("`{}`", clean(lock))).collect();
        line += &format!(", holding {}", locks.join(", "));
    } else if is_memory {
        line += ", holding no lock";
    }
    vec![line]
}

/// Returns the operation in words.
fn what(kind: Kind, number: usize, site: &Site) -> String {
    match (kind, number) {
        (Kind::Assertion, 0) if site.access == "panic" => "panics here".to_owned(),
        (Kind::Assertion, 0) => "the assertion fails here".to_owned(),
        (Kind::Crash, 0) => "crashes here".to_owned(),
        (Kind::ExitStatus, _) if site.access == "fail" => "the test fails here".to_owned(),
        _ if site.access.is_empty() => "here".to_owned(),
        _ => clean(&site.access).replace('-', " ") + &values::of(&site.access, site.value.as_ref()),
    }
}

/// Describes a lock that is held while waiting, and where it was taken if the steps show it.
fn holds(finding: &Finding, site: &Site, lock: &str) -> String {
    let takes = |what: &str| {
        let mut words = what.split_whitespace();
        words.next().is_some_and(|word| word.ends_with("lock") && word != "unlock")
            && what.split_once(' ').is_some_and(|(_, object)| object.trim() == lock)
    };
    let taken = finding.steps.iter().rev().find(|step| step.path == site.thread && takes(&step.what));
    let place = taken.and_then(|step| location(&step.file, step.line, 0));
    let since = place.map_or_else(String::new, |place| format!(", locked at {place}"));
    format!("while holding `{}`{since}", clean(lock))
}
