//! Workflow commands: GitHub shows them at the lines of a pull request.

use racehunter_finding::{Coverage, Finding, Uncontrolled};

use crate::short::{explored, found, place, sentence, severity, unclear};
use crate::text::clean;
use crate::threads::Threads;
use crate::{Told, Verdict};

/// Returns an error at the first place, and a notice at each other place.
pub(crate) fn finding(finding: &Finding) -> String {
    let threads = Threads::of(finding);
    let title = format!("{} {}", finding.kind.name(), finding.id);
    let others: Vec<String> = finding.sites.iter().skip(1).map(place).collect();
    let mut message = clean(&finding.message);
    if !others.is_empty() {
        message += &format!("\nalso at {}", others.join(", "));
    }
    // A suspected race has no schedule.
    if finding.was_executed() {
        message += &format!("\nreplay: racehunter replay {}", finding.id);
    }
    let severity = match severity(finding) {
        "suppressed" => "notice",
        other => other,
    };
    if let Some(reason) = &finding.suppressed {
        message += &format!("\nsuppressed: {}", clean(reason));
    }
    let mut out = String::new();
    match finding.sites.first() {
        Some(site) => out += &command(severity, Some((&site.file, site.line, site.column)), &title, &message),
        None => out += &command(severity, None, &title, &message),
    }
    for site in finding.sites.iter().skip(1) {
        let what = format!("{}, {}: {}", site.access, threads.sentence(&site.thread), clean(&finding.message));
        out += &command("notice", Some((&site.file, site.line, site.column)), &title, &what);
    }
    out
}

/// Returns a notice without a place.
pub(crate) fn summary(coverage: &Coverage, told: Told) -> String {
    let notice = |what: &Uncontrolled| {
        let title = if what.what.is_unseen() { "RaceHunter: not seen" } else { "RaceHunter: not under control" };
        command("notice", Some((&what.file, what.line, 0)), title, &sentence(what))
    };
    let outside: String = coverage.uncontrolled.iter().map(notice).collect();
    let mut message = format!("{}; {}", found(told), explored(coverage, told));
    let why = unclear(coverage);
    let severity = if why.is_some() { "warning" } else { "notice" };
    message.extend(why.map(|why| format!("; {why}")));
    outside + &command(severity, None, "RaceHunter", &message)
}

/// Returns a notice without a place, and one for each thing that is not modelled.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let gaps: String =
        verdict.gaps.iter().map(|gap| command("notice", None, "RaceHunter: not modelled", &clean(gap))).collect();
    gaps + &command("notice", None, "RaceHunter", &verdict.sentence())
}

/// Returns an error without a place.
pub(crate) fn problem(message: &str, help: &[&str]) -> String {
    let lines: Vec<&str> = std::iter::once(message).chain(help.iter().copied()).collect();
    command("error", None, "RaceHunter", &lines.join("\n"))
}

fn command(name: &str, place: Option<(&str, u32, u32)>, title: &str, message: &str) -> String {
    let mut properties = Vec::new();
    if let Some((file, line, column)) = place.filter(|(file, _, _)| !file.is_empty()) {
        properties.push(format!("file={}", property(file)));
        let numbers = [("line", line), ("col", column)];
        properties
            .extend(numbers.iter().filter(|(_, value)| *value > 0).map(|(name, value)| format!("{name}={value}")));
    }
    properties.push(format!("title={}", property(title)));
    format!("::{name} {}::{}\n", properties.join(","), data(message))
}

/// Escapes what the runner unescapes.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn what_would_end_a_field_is_escaped() {
        let line = command("error", Some(("a,b:c.c", 3, 0)), "50%", "one\ntwo: 100%");
        assert_eq!(line, "::error file=a%2Cb%3Ac.c,line=3,title=50%25::one%0Atwo: 100%25\n");
    }
}
