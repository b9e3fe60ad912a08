//! One self-contained page about all findings and campaigns in a directory.
//!
//! The essentials are plain HTML: sources, stacks, the interleaving as a table, what was covered, how to replay. The
//! script only adds comfort (zoom, search and filters, a line that follows the pointer, copying). All foreign text
//! (sources, names, messages) goes through `escape`.

mod finding;
mod timeline;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use racehunter_finding::{Coverage, Finding};

use crate::short::{extent, found, is_proof, place, sentence, severity};
use crate::sources::Sources;
use crate::text::{clean, count};
use crate::{Bound, Told};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The contents of the page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The campaigns, in the order in which they are shown.
    pub campaigns: Vec<Hunted>,
    /// The findings of all of them.
    pub findings: Vec<Shown>,
    /// When and where the page was written, and at which commit: names and values, as far as known.
    pub about: Vec<(String, String)>,
}

/// A campaign as the page shows it.
#[derive(Clone, Debug)]
pub struct Hunted {
    /// The command that repeats the hunt.
    pub command: String,
    /// What was explored.
    pub coverage: Coverage,
    /// The bounds that are finished.
    pub bounds: Vec<Bound>,
    /// Numbers of findings of this campaign that count, that are suppressed, and that are not confirmed.
    pub findings: [u64; 3],
    /// How long it took.
    pub elapsed: Duration,
}

/// A finding as the page shows it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The finding.
    pub finding: Finding,
    /// The program and its arguments, as typed.
    pub program: String,
    /// The command that replays it.
    pub replay: String,
}

/// Returns the whole page. Source files are looked for below `root`.
#[must_use]
pub fn page(page: &Page, root: &Path) -> String {
    let mut sources = Sources::below(root.to_path_buf());
    let told = Told::of(page.findings.iter().map(|shown| &shown.finding));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>RaceHunter: {0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>RaceHunter</h1><p class=\"verdict {1}\">{0}</p></header>\n<main>\n",
        escape(&found(told)),
        if told.findings == 0 { "good" } else { "bad" },
    );
    about(&mut out, page);
    let findings = by_cause(&page.findings);
    contents(&mut out, &findings);
    for shown in findings {
        finding::section(&mut out, shown, &mut sources);
    }
    for campaign in &page.campaigns {
        covered(&mut out, campaign);
    }
    if page.campaigns.is_empty() {
        out += "<section class=\"campaign\"><h2>What was covered</h2><p>No campaign is kept here: nothing is known \
                about what was explored.</p></section>\n";
    }
    let _ = write!(
        out,
        "</main>\n<footer>Written by RaceHunter {}. Every finding that is called an error was replayed before it was \
         reported.</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
    );
    out
}

/// Writes when, where and at which commit the page was written.
fn about(out: &mut String, page: &Page) {
    if page.about.is_empty() {
        return;
    }
    let item = |(name, value): &(String, String)| format!("<span>{} <b>{}</b></span>", escape(name), escape(value));
    let items: Vec<String> = page.about.iter().map(item).collect();
    let _ = writeln!(out, "<p class=\"about\">{}</p>", items.join(" "));
}

/// Returns each finding, followed by those with the same cause.
fn by_cause(findings: &[Shown]) -> Vec<&Shown> {
    let first_of = |shown: &Shown| shown.finding.variant_of.clone().unwrap_or_else(|| shown.finding.id.clone());
    let is_there = |id: &str| findings.iter().any(|shown| shown.finding.id == *id);
    let heads =
        findings.iter().filter(|shown| shown.finding.variant_of.as_deref().is_none_or(|first| !is_there(first)));
    let group = |head: &'_ Shown| {
        let id = head.finding.id.clone();
        findings.iter().filter(move |shown| shown.finding.id != id && first_of(shown) == id)
    };
    heads.flat_map(|head| std::iter::once(head).chain(group(head))).collect()
}

/// Returns each text once, in order.
fn different(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut different = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
    }
    different
}

/// Writes the list of findings, if there is more than one. Findings with the same cause are below the first of them.
fn contents(out: &mut String, findings: &[&Shown]) {
    if findings.len() < 2 {
        return;
    }
    out.push_str("<nav aria-label=\"Findings\"><ol>\n");
    for Shown { finding, .. } in findings.iter().copied() {
        let variant = if finding.variant_of.is_some() { " class=\"variant\"" } else { "" };
        let _ = writeln!(
            out,
            "<li{variant}><a href=\"#f-{id}\"><span class=\"badge {severity}\">{kind}</span> {message} \
             <span class=\"where\">{places}</span></a></li>",
            id = escape(&finding.id),
            severity = severity(finding),
            kind = finding.kind.name(),
            message = prose(&finding.message),
            places = escape(&different(finding.sites.iter().map(place)).join(", ")),
        );
    }
    out.push_str("</ol></nav>\n");
}

/// Writes what a campaign explored, and what it did not.
fn covered(out: &mut String, campaign: &Hunted) {
    let Hunted { command, coverage, bounds, findings, elapsed } = campaign;
    let &[findings, suppressed, unconfirmed] = findings;
    let told = Told { findings, suppressed, unconfirmed, variants: 0 };
    let word = if is_proof(coverage, told) { "Proved" } else { "Explored" };
    let _ = write!(
        out,
        "<section class=\"campaign\">\n<h2>What was covered</h2>\n<pre class=\"command\">{}</pre>\n<dl>\n",
        escape(command)
    );
    if !coverage.unclear.is_empty() {
        row(out, "Unclear", &list(coverage.unclear.iter().map(String::as_str)));
    }
    row(out, word, &prose(&extent(coverage)));
    if let Some(chance) = &coverage.chance {
        row(out, "Chance", &prose(chance));
    }
    row(out, "Assumes", &list(coverage.assumes.iter().map(ToString::to_string)));
    let failed = format!("{} diverged, {} timed out", coverage.diverged, coverage.timed_out);
    row(out, "Missed", &list(coverage.missed.iter().map(String::as_str).chain([failed.as_str()])));
    let outside: Vec<String> = coverage
        .uncontrolled
        .iter()
        .map(|what| format!("{} ({})", sentence(what), count(what.executions, "execution")))
        .collect();
    if !outside.is_empty() {
        row(out, "Outside", &list(outside.iter().map(String::as_str)));
    }
    let size = format!(
        "{}, {} in the longest execution, {}, {:.1} s",
        count(coverage.points, "point"),
        count(coverage.events, "event"),
        count(coverage.threads, "thread"),
        elapsed.as_secs_f64()
    );
    row(out, "Size", &escape(&size));
    out.push_str("</dl>\n");
    if !bounds.is_empty() {
        out.push_str("<table class=\"bounds\"><caption>Finished bounds</caption><thead><tr><th>bound</th><th>executions</th><th>complete</th></tr></thead><tbody>\n");
        for bound in bounds {
            let complete = if bound.complete { "yes" } else { "no" };
            let _ = writeln!(out, "<tr><td>{}</td><td>{}</td><td>{complete}</td></tr>", bound.bound, bound.executions);
        }
        out.push_str("</tbody></table>\n");
    }
    out.push_str("</section>\n");
}

/// Writes one row of a description list; the text is already HTML.
fn row(out: &mut String, name: &str, html: &str) {
    let _ = writeln!(out, "<dt>{}</dt><dd>{html}</dd>", escape(name));
}

fn list<L: AsRef<str>>(lines: impl Iterator<Item = L>) -> String {
    let items: String = lines.map(|line| format!("<li>{}</li>", prose(line.as_ref()))).collect();
    if items.is_empty() { "nothing".to_owned() } else { format!("<ul>{items}</ul>") }
}

/// Returns the class that gives a thread its colour. There are as many colours as one can distinguish.
fn color(thread: u32) -> String {
    format!("t{}", thread % 16)
}

/// Escapes foreign text.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}

/// Converts a sentence to HTML, with `` `names` `` as code.
fn prose(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let set = |(number, part): (usize, &&str)| match number % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        assert_eq!(escape("<a href=\"x\">'&\u{1b}"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}");
        assert_eq!(prose("race on `q<int>`"), "race on <code>q&lt;int&gt;</code>");
        assert_eq!(prose("a ` alone"), "a ` alone");
    }
}
