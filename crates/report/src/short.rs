//! One line per finding.

use racehunter_finding::{Coverage, Finding, Site, Uncontrolled};

use crate::Told;
use crate::messages;
use crate::text::{clean, count};

/// `src/queue.c:43:9: error: data race on `q->count`, also src/drain.c:18:12 [data-race] [7f3a]`
///
/// Editors read it like compiler output: only `error:` or `warning:` comes after the place.
pub(crate) fn finding(finding: &Finding) -> String {
    let place = finding.sites.first().map_or_else(|| "??".to_owned(), place);
    let mut others: Vec<String> = finding.sites.iter().skip(1).map(self::place).collect();
    others.retain(|other| *other != place);
    others.dedup();
    let also = if others.is_empty() { String::new() } else { format!(", also {}", others.join(", ")) };
    let because = finding.suppressed.as_ref().map_or_else(String::new, |reason| format!(": {}", clean(reason)));
    format!(
        "{place}: {}: {}{also} [{}] [{}]{because}\n",
        severity(finding),
        clean(&finding.message),
        finding.kind.name(),
        clean(&finding.id)
    )
}

/// Returns how serious it is: confirmed, seen once, or suppressed.
pub(crate) fn severity(finding: &Finding) -> &'static str {
    match (&finding.suppressed, finding.confirmed) {
        (Some(_), _) => "suppressed",
        (None, true) => "error",
        (None, false) => "warning",
    }
}

/// Returns the place of a site, as precise as it is known.
pub(crate) fn place(site: &Site) -> String {
    location(&site.file, site.line, site.column).unwrap_or_else(|| clean(&site.function))
}

/// `file:line:column`, without what is unknown.
pub(crate) fn location(file: &str, line: u32, column: u32) -> Option<String> {
    let file = clean(file);
    match (file.as_str(), line, column) {
        ("", _, _) => None,
        (file, 0, _) => Some(file.to_owned()),
        (file, line, 0) => Some(format!("{file}:{line}")),
        (file, line, column) => Some(format!("{file}:{line}:{column}")),
    }
}

/// Returns one line about the campaign.
pub(crate) fn summary(coverage: &Coverage, told: Told) -> String {
    let note = |what: &Uncontrolled| if what.what.is_unseen() { "unseen" } else { "uncontrolled" };
    let outside = coverage.uncontrolled.iter().map(|what| format!("note[{}]: {}\n", note(what), sentence(what)));
    let outside: String = outside.collect();
    let unclear = unclear(coverage).map_or_else(String::new, |why| format!("; {why}"));
    format!("{outside}summary: {}; {}{unclear}\n", found(told), explored(coverage, told))
}

/// Returns what is not under control, where, and what that means.
pub(crate) fn sentence(what: &Uncontrolled) -> String {
    let place = location(&what.file, what.line, 0);
    messages::uncontrolled(&what.what, &clean(&what.detail), place.as_deref())
}

/// Returns everything that was not seen, by name and place, in one line; nothing if all was seen.
pub(crate) fn not_seen(coverage: &Coverage) -> Option<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for unseen in coverage.uncontrolled.iter().filter(|what| what.what.is_unseen()) {
        let name = messages::unseen(&unseen.what, &clean(&unseen.detail));
        let place = location(&unseen.file, unseen.line, 0);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.extend(place),
            None => all.push((name, place.into_iter().collect())),
        }
    }
    let told = |(name, places): &(String, Vec<String>)| match places.as_slice() {
        [] => name.clone(),
        places => format!("{name} at {}", places.join(" and ")),
    };
    (!all.is_empty()).then(|| format!("not seen: {}", all.iter().map(told).collect::<Vec<_>>().join(", ")))
}

/// `no finding`, `2 findings, 1 not confirmed, 1 suppressed`.
pub(crate) fn found(told: Told) -> String {
    let first = told.findings - told.variants.min(told.findings);
    let mut found = if told.findings == 0 { "no finding".to_owned() } else { count(first, "finding") };
    if told.variants > 0 {
        found += &format!(" with {}", count(told.variants, "variant"));
    }
    if told.unconfirmed > 0 {
        found += &format!(", {} not confirmed", told.unconfirmed);
    }
    if told.suppressed > 0 {
        found += &format!(", {} suppressed", told.suppressed);
    }
    found
}

/// Returns what the absence of findings means, in the first words of a summary; nothing if there are findings.
pub(crate) fn meaning(coverage: &Coverage, told: Told) -> Option<&'static str> {
    let is_outside = coverage.uncontrolled.iter().any(|what| !what.what.is_unseen());
    match () {
        () if told.findings > 0 => None,
        () if !coverage.unclear.is_empty() => Some("unclear"),
        () if is_proof(coverage, told) => Some("proved"),
        () if told.unconfirmed > 0 || told.suppressed > 0 => Some("no proof"),
        () if is_outside => Some("no proof: part of it was not under control"),
        () if !coverage.finished => Some("no proof: schedules are left"),
        () => Some("no proof: part of it was not seen"),
    }
}

/// Returns why the absence of findings means nothing, if that is the case.
pub(crate) fn unclear(coverage: &Coverage) -> Option<String> {
    (!coverage.unclear.is_empty()).then(|| clean(&coverage.unclear.join("; ")))
}

/// Returns what was explored, as "proved" or "explored".
pub(crate) fn explored(coverage: &Coverage, told: Told) -> String {
    let word = if is_proof(coverage, told) { "proved" } else { "explored" };
    let is_unseen = coverage.finished && coverage.uncontrolled.iter().any(|what| what.what.is_unseen());
    let unseen = if is_unseen { " (not all of it was seen)" } else { "" };
    format!("{word} {}{unseen}", extent(coverage))
}

/// Returns true if nothing was found and nothing was left out. A suppressed finding was found.
pub(crate) fn is_proof(coverage: &Coverage, told: Told) -> bool {
    coverage.complete && coverage.unclear.is_empty() && told == Told::default()
}

/// Returns the guarantee and the work it took.
pub(crate) fn extent(coverage: &Coverage) -> String {
    let mut executions = count(coverage.executions, "execution");
    if coverage.left_out > 0 {
        executions += &format!(", {} like others left out", coverage.left_out);
    }
    let incomplete = if coverage.complete || coverage.finished { "" } else { " (incomplete)" };
    match clean(&coverage.guarantee) {
        guarantee if guarantee.is_empty() => format!("{executions}{incomplete}"),
        guarantee => format!("{guarantee}: {executions}{incomplete}"),
    }
}
