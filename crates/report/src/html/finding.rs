//! One finding on the page.

use std::fmt::Write as _;

use racehunter_finding::{Finding, Frame, Site};
use racehunter_symbols::shortened;

use super::{Shown, color, escape, prose, timeline};
use crate::human::{details, labels};
use crate::kinds::lesson;
use crate::short::{location, severity};
use crate::sources::Sources;
use crate::text::count;
use crate::threads::Threads;

/// Lines of source above and below a place.
const AROUND: u32 = 4;

/// Writes everything about one finding.
pub(super) fn section(out: &mut String, shown: &Shown, sources: &mut Sources) {
    let finding = &shown.finding;
    let threads = Threads::of(finding);
    let lesson = lesson(finding.kind);
    let _ = write!(
        out,
        "<section class=\"finding\" id=\"f-{id}\">\n<h2><span class=\"badge {severity}\">{kind}</span> {message} \
         <a class=\"permalink\" href=\"#f-{id}\" title=\"Link to this finding\" aria-label=\"Link to finding {id}\">#</a></h2>\n",
        id = escape(&finding.id),
        severity = severity(finding),
        kind = finding.kind.name(),
        message = prose(&finding.message),
    );
    if let Some(cause) = &finding.cause {
        let _ = writeln!(out, "<p class=\"cause\">Cause: {}</p>", with_links(finding, &prose(cause)));
    }
    if let Some(first) = &finding.variant_of {
        let first = escape(first);
        let _ = writeln!(out, "<p class=\"details\">The same cause as <a href=\"#f-{first}\">{first}</a></p>");
    }
    if let Some(details) = details(finding) {
        let _ = writeln!(out, "<p class=\"details\">{}</p>", prose(&details));
    }
    // A variant is there to be looked up; the finding with the same cause is there to be read.
    if finding.variant_of.is_some() {
        out.push_str("<details class=\"whole\"><summary>Places, steps and replay</summary>\n");
    }
    if let Some(reason) = &finding.suppressed {
        let _ = writeln!(out, "<p class=\"details\">Suppressed: {}</p>", prose(reason));
    }
    out.push_str("<div class=\"places\">\n");
    for (number, site) in finding.sites.iter().enumerate() {
        place(out, finding, number, site, &threads, sources);
    }
    out.push_str("</div>\n");
    if let Some(object) = finding.object.as_ref().filter(|object| object.allocated.len() > 1) {
        out.push_str("<details><summary>Where the memory was allocated</summary>");
        stack(out, &object.allocated);
        out.push_str("</details>\n");
    }
    if !finding.steps.is_empty() {
        timeline::timeline(out, finding, &threads);
    }
    for note in &finding.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", prose(note));
    }
    replay(out, shown);
    if finding.variant_of.is_some() {
        out.push_str("</details>\n</section>\n");
        return;
    }
    let _ = write!(
        out,
        "<details class=\"lesson\"><summary>What {} means, and how one usually repairs it</summary>\n<p>{}</p>\n\
         <pre>{}</pre>\n<p>{}</p></details>\n</section>\n",
        finding.kind.name(),
        prose(lesson.meaning),
        code(lesson.example),
        prose(lesson.repair),
    );
}

/// Makes links of the steps that the cause of a finding names, as far as the table shows them.
fn with_links(finding: &Finding, cause: &str) -> String {
    const STEP: &str = "step ";
    let is_shown =
        |number: &u64| finding.cause_steps.contains(number) && finding.steps.iter().any(|step| step.number == *number);
    let mut parts = cause.split(STEP);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, rest) = part.split_at(digits);
        let _ = match number.parse().ok().filter(is_shown) {
            Some(step) => write!(out, "<a href=\"#{}\">{STEP}{number}</a>{rest}", timeline::anchor(finding, step)),
            None => write!(out, "{STEP}{part}"),
        };
    }
    out
}

/// Escapes several lines of code. Of all control characters, only line ends are kept.
fn code(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

fn replay(out: &mut String, shown: &Shown) {
    let Finding { replayed: [again, tried], confirmed, execution, preemptions, .. } = &shown.finding;
    let mut facts = vec![count(u64::from(*preemptions), "preemption")];
    facts.push(match (confirmed, tried) {
        (true, _) => format!("replayed {again}/{tried}"),
        (false, 0) => "not confirmed: not replayed".to_owned(),
        (false, _) => format!("not confirmed: replayed {again}/{tried}"),
    });
    if *execution > 0 {
        facts.push(format!("first seen in execution {execution}"));
    }
    let _ = write!(
        out,
        "<p class=\"facts\">{}</p>\n<p>In <code>{}</code>. To see it again:</p>\n<pre class=\"command\">{}</pre>\n",
        escape(&facts.join(" · ")),
        escape(&shown.program),
        escape(&shown.replay)
    );
}

/// A place with its source, the thread, its locks and its stack.
fn place(out: &mut String, finding: &Finding, number: usize, site: &Site, threads: &Threads, sources: &mut Sources) {
    let name = location(&site.file, site.line, site.column).unwrap_or_else(|| site.function.clone());
    let _ = write!(
        out,
        "<article class=\"place\">\n<h3><span class=\"thread {}\">{}</span> <code>{}</code></h3>\n",
        color(threads.number(&site.thread).unwrap_or(0)),
        prose(&threads.sentence(&site.thread)),
        escape(&name)
    );
    for label in labels(finding, number, site, threads) {
        let _ = writeln!(out, "<p class=\"label\">{}</p>", prose(&label));
    }
    excerpt(out, site, sources);
    if site.stack.len() > 1 {
        out.push_str("<p class=\"caption\">Call stack, innermost first</p>");
        stack(out, &site.stack);
    }
    out.push_str("</article>\n");
}

fn stack(out: &mut String, frames: &[Frame]) {
    out.push_str("<ol class=\"stack\">\n");
    for frame in frames {
        let place = location(&frame.file, frame.line, frame.column).unwrap_or_default();
        let _ = writeln!(
            out,
            "<li><code>{}</code> <span class=\"where\">{}</span></li>",
            escape(&shortened(&frame.function)),
            escape(&place)
        );
    }
    out.push_str("</ol>\n");
}

/// The lines around a place, which is marked.
fn excerpt(out: &mut String, site: &Site, sources: &mut Sources) {
    if sources.line(&site.file, site.line).is_none() {
        return;
    }
    out.push_str("<pre class=\"source\" tabindex=\"0\">");
    for line in site.line.saturating_sub(AROUND).max(1)..=site.line.saturating_add(AROUND) {
        let Some(text) = sources.line(&site.file, line) else { continue };
        let class = if line == site.line { " class=\"here\"" } else { "" };
        let _ = writeln!(out, "<span{class}><b>{line:>5}</b> {}</span>", escape(text.trim_end()));
    }
    out.push_str("</pre>\n");
}
