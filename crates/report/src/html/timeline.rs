//! The interleaving: a drawing with one lane per thread, and the same as a table.

use std::fmt::Write as _;

use racehunter_finding::{Finding, Step};

use super::{escape, prose};
use crate::short::location;
use crate::text::count;
use crate::threads::Threads;
use crate::values;

/// Distance of two steps, and of two lanes.
const STEP: usize = 26;
const LANE: usize = 38;
const TOP: usize = 20;
/// Names of lanes are left of the drawing, so that they stay when it is scrolled.
const MARGIN: usize = 14;

/// Both forms.
pub(super) fn timeline(out: &mut String, finding: &Finding, threads: &Threads) {
    let lanes = lanes(finding);
    out.push_str("<h3>The interleaving</h3>\n<div class=\"timeline\">\n");
    drawing(out, finding, threads, &lanes);
    table(out, finding, threads, &lanes);
    out.push_str("</div>\n");
}

/// The threads that do something, in order of creation.
fn lanes(finding: &Finding) -> Vec<u32> {
    let mut lanes: Vec<u32> = finding.steps.iter().map(|step| step.thread).collect();
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// The steps that the finding is about: where it shows, and the accesses that take part.
fn is_marked(finding: &Finding, step: &Step) -> bool {
    // What is not counted, as `free`, has the number of the event before it.
    let is_access = matches!(class(step), "read" | "write");
    let is_place = || finding.sites.iter().any(|site| site.event == step.event && site.thread == step.path);
    step.culprit || step.event > 0 && finding.kind.is_about_memory() && is_access && is_place()
}

/// What a step is, for its colour.
fn class(step: &Step) -> &'static str {
    let words = step.what.trim_start_matches("atomic ").trim_start_matches("fail to ");
    match words.split_whitespace().next().unwrap_or_default() {
        "read" => "read",
        "write" | "update" | "free" => "write",
        "lock" | "read-lock" => "lock",
        "unlock" => "unlock",
        "wait" | "waits" => "wait",
        _ => "other",
    }
}

fn drawing(out: &mut String, finding: &Finding, threads: &Threads, lanes: &[u32]) {
    let width = 2 * MARGIN + STEP * finding.steps.len().max(1);
    let height = TOP + LANE * lanes.len();
    let y_of = |thread: u32| TOP + LANE / 2 + LANE * lanes.iter().position(|lane| *lane == thread).unwrap_or(0);
    let x_of = |number: usize| MARGIN + STEP / 2 + STEP * number;
    out.push_str("<div class=\"tools\" hidden><button type=\"button\" data-zoom=\"0.8\">&minus;</button>");
    out.push_str("<button type=\"button\" data-zoom=\"1.25\">+</button>");
    out.push_str("<button type=\"button\" data-zoom=\"fit\">fit</button>");
    out.push_str("<output class=\"detail\">Point at a step, or use the arrow keys.</output></div>\n");
    out.push_str("<div class=\"drawing\"><div class=\"names\">");
    for lane in lanes {
        let _ = write!(out, "<div class=\"thread t{}\">{}</div>", lane % 8, escape(&threads.heading(*lane)));
    }
    let _ = write!(
        out,
        "</div>\n<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"The interleaving, one lane per \
         thread; the table below says the same\">\n"
    );
    for lane in lanes {
        let y = y_of(*lane);
        let _ = writeln!(out, "<line class=\"lane\" x1=\"0\" x2=\"{width}\" y1=\"{y}\" y2=\"{y}\"/>");
    }
    for (number, pair) in finding.steps.windows(2).enumerate() {
        let (x1, x2) = (x_of(number), x_of(number + 1));
        let (y1, y2) = (y_of(pair[0].thread), y_of(pair[1].thread));
        let class = match (pair[0].thread == pair[1].thread, pair[1].preempted) {
            (true, _) => "run",
            (false, true) => "preemption",
            (false, false) => "switch",
        };
        let middle = usize::midpoint(x1, x2);
        let _ = writeln!(out, "<path class=\"{class}\" d=\"M{x1} {y1} H{middle} V{y2} H{x2}\"/>");
    }
    for (number, step) in finding.steps.iter().enumerate() {
        let (x, y) = (x_of(number), y_of(step.thread));
        let is_marked = is_marked(finding, step);
        let shown = crate::human::number(&finding.steps, number);
        let text = describe(shown, step, threads);
        let _ = writeln!(
            out,
            "<g class=\"step {}\" data-step=\"{}\" data-text=\"{text}\">{}<circle cx=\"{x}\" cy=\"{y}\" \
             r=\"6\"/><title>{text}</title></g>",
            class(step),
            number + 1,
            if is_marked { format!("<circle class=\"ring\" cx=\"{x}\" cy=\"{y}\" r=\"11\"/>") } else { String::new() },
        );
        if number % 5 == 0 || is_marked {
            let _ = writeln!(out, "<text x=\"{x}\" y=\"12\">{shown}</text>");
        }
    }
    out.push_str("</svg></div></div>\n");
    out.push_str(
        "<p class=\"legend\"><span class=\"read\">read</span><span class=\"write\">write</span>\
         <span class=\"lock\">lock</span><span class=\"unlock\">unlock</span><span class=\"wait\">wait</span>\
         <span class=\"other\">other</span><span class=\"key-preemption\">preemption</span>\
         <span class=\"key-culprit\">what the finding is about</span></p>\n",
    );
}

/// A step in one line, escaped.
fn describe(number: u64, step: &Step, threads: &Threads) -> String {
    let place = location(&step.file, step.line, 0).map_or_else(String::new, |place| format!(" at {place}"));
    let preempted = if step.preempted { ", after a preemption" } else { "" };
    let event = if step.event > 0 { format!(" (event {})", step.event) } else { String::new() };
    let (thread, what, value) = (threads.heading(step.thread), step.what.trim(), values::whole(step));
    escape(&format!("{number}. {thread}: {what}{value}{place}{preempted}{event}"))
}

fn table(out: &mut String, finding: &Finding, threads: &Threads, lanes: &[u32]) {
    out.push_str("<div class=\"steps\"><table><thead><tr><th>step</th>");
    for lane in lanes {
        let _ = write!(out, "<th class=\"thread t{}\">{}</th>", lane % 8, escape(&threads.heading(*lane)));
    }
    out.push_str("</tr></thead><tbody>\n");
    let mut files = finding.steps.iter().map(|step| &step.file).filter(|file| !file.is_empty());
    let is_one_file = files.next().is_none_or(|first| files.all(|file| file == first));
    let mut next = 1;
    for (number, step) in finding.steps.iter().enumerate() {
        let class = match (is_marked(finding, step), step.preempted) {
            (true, _) => " class=\"culprit\"",
            (false, true) => " class=\"preempted\"",
            (false, false) => "",
        };
        let before = number.checked_sub(1).and_then(|before| finding.steps.get(before)).map(|before| before.thread);
        let shown = crate::human::number(&finding.steps, number);
        let missing = shown.saturating_sub(next);
        if missing > 0 {
            let lanes = lanes.len();
            let missing = count(missing, "step");
            let _ = writeln!(out, "<tr class=\"gap\"><td></td><td colspan=\"{lanes}\">&hellip; {missing}</td></tr>");
        }
        next = shown.saturating_add(1);
        let _ = write!(out, "<tr data-step=\"{}\"{class}><td>{shown}</td>", number + 1);
        for lane in lanes {
            if *lane == step.thread {
                // The whole path would leave no room for the other threads.
                let name = if is_one_file { "" } else { step.file.rsplit('/').next().unwrap_or_default() };
                let place = match location(&step.file, step.line, 0) {
                    Some(whole) if step.line > 0 => {
                        let short = format!("{name}:{}", step.line);
                        format!(" <span class=\"where\" title=\"{}\">{}</span>", escape(&whole), escape(&short))
                    }
                    _ => String::new(),
                };
                let mark = if step.culprit { " <span class=\"mark\">&larr; here</span>" } else { "" };
                let (what, value) = (prose(&step.what), escape(&values::brief(step)));
                let title = escape(&values::whole(step));
                let value = if value.is_empty() { value } else { format!("<b title=\"{}\">{value}</b>", title.trim()) };
                let _ = write!(out, "<td class=\"{}\">{what}{value}{place}{mark}</td>", self::class(step));
            } else if step.preempted && before == Some(*lane) {
                out.push_str("<td class=\"stopped\">preempted</td>");
            } else {
                out.push_str("<td></td>");
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}
