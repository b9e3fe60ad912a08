//! Threads of a deadlock that wait only because others do.

use racehunter_finding::{Finding, Kind, Site};

use super::label::labels;
use crate::color::{FRAME, paint};
use crate::short::place;
use crate::text::wrap;
use crate::threads::Threads;

/// Returns how many of the sites take part: those of the threads that wait for each other, which come first. If no
/// threads wait in a cycle, all but those that wait for the end of another one of them.
pub(super) fn involved(finding: &Finding) -> usize {
    let sites = &finding.sites;
    if !matches!(finding.kind, Kind::Deadlock | Kind::LostWakeup) {
        return sites.len();
    }
    let is_cycle = |length: usize| {
        let next = |at: usize| &sites[(at + 1) % length].thread;
        (0..length).all(|at| owner(&sites[at]) == Some(next(at)))
    };
    let joins = |site: &Site| {
        let is_waiting = |thread: &String| sites.iter().any(|other| other.thread == *thread);
        site.access == "join" && owner(site).is_some_and(is_waiting)
    };
    let without_joins = || sites.iter().rposition(|site| !joins(site)).map_or(sites.len(), |last| last + 1);
    (1..=sites.len()).find(|length| is_cycle(*length)).unwrap_or_else(without_joins)
}

/// Returns the owner of what a thread waits for.
fn owner(site: &Site) -> Option<&String> {
    site.waits_for.as_ref()?.owner.as_ref()
}

/// Returns one line for each of the others.
pub(super) fn lines(finding: &Finding, involved: usize, threads: &Threads, columns: usize) -> String {
    let mut out = String::new();
    for (number, site) in finding.sites.iter().enumerate().skip(involved) {
        let text = format!("{} ({})", labels(finding, number, site, threads).join(", "), place(site));
        for (number, line) in wrap(&text, columns.saturating_sub(LEAD.len() + 4)).iter().enumerate() {
            let lead = if number == 0 { format!("{} {LEAD}", paint(FRAME, "=")) } else { " ".repeat(LEAD.len() + 2) };
            out += &format!("  {lead}{line}\n");
        }
    }
    out
}

/// The text before each of them.
const LEAD: &str = "because of that: ";
