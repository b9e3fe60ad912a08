//! The interleaving: an overview, a drawing with one lane per thread, and the same as a table.
//!
//! With many threads, the table has narrow lanes instead of a column for each thread, so that it stays readable. Steps
//! of the drawing and rows of the table have the same `data-step`, by which the script links and filters them.

use std::fmt::Write as _;

use racehunter_finding::{Finding, Step};

use super::{color, escape, prose};
use crate::interleaving::{CLASSES, class, held, object, wakeups};
use crate::short::location;
use crate::text::count;
use crate::threads::Threads;
use crate::values;

/// With more threads than this, the table has lanes instead of columns.
const COLUMNS: usize = 5;
const TOP: usize = 20;
/// Names of lanes are left of the drawing, so that they stay when it is scrolled.
const MARGIN: usize = 14;

/// Writes all views of the interleaving.
pub(super) fn timeline(out: &mut String, finding: &Finding, threads: &Threads) {
    let lanes = lanes(finding);
    let drawing = Drawing { finding, threads, lanes: &lanes };
    out.push_str("<h3>The interleaving</h3>\n<div class=\"timeline\">\n");
    drawing.tools(out);
    if finding.steps.len() > 40 {
        drawing.overview(out);
    }
    drawing.draw(out);
    if lanes.len() > COLUMNS {
        drawing.list(out)
    } else {
        drawing.table(out)
    }
    out.push_str("</div>\n");
}

/// Returns the threads that do something, in order of creation.
fn lanes(finding: &Finding) -> Vec<u32> {
    let mut lanes: Vec<u32> = finding.steps.iter().map(|step| step.thread).collect();
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Returns true for the steps that the finding is about: where it shows, those that its cause names, and the accesses that
/// take part.
fn is_marked(finding: &Finding, step: &Step) -> bool {
    // Steps that are not counted, such as `free`, have the number of the event before them.
    let is_access = matches!(class(step), "read" | "write");
    let is_place = || finding.sites.iter().any(|site| site.event == step.event && site.thread == step.path);
    step.culprit
        || is_named(finding, step)
        || step.event > 0 && finding.kind.is_about_memory() && is_access && is_place()
}

/// Returns true if the cause of a finding names a step.
fn is_named(finding: &Finding, step: &Step) -> bool {
    step.number > 0 && finding.cause_steps.contains(&step.number)
}

/// Returns the anchor of a step that the cause of a finding names.
pub(super) fn anchor(finding: &Finding, number: u64) -> String {
    format!("f-{}-{number}", escape(&finding.id))
}

struct Drawing<'a> {
    finding: &'a Finding,
    threads: &'a Threads,
    lanes: &'a [u32],
}

impl Drawing<'_> {
    fn steps(&self) -> &[Step] {
        &self.finding.steps
    }

    fn lane(&self, thread: u32) -> usize {
        self.lanes.iter().position(|lane| *lane == thread).unwrap_or(0)
    }

    /// Returns the short name `T3`.
    fn short(thread: u32) -> String {
        if thread == 0 { "main".to_owned() } else { format!("T{thread}") }
    }

    /// Writes the tools that need the script; they are hidden without it.
    fn tools(&self, out: &mut String) {
        out.push_str(
            "<div class=\"tools\" hidden><button type=\"button\" data-zoom=\"0.8\" aria-label=\"Zoom out\">&minus;</button>\
             <button type=\"button\" data-zoom=\"1.25\" aria-label=\"Zoom in\">+</button>\
             <button type=\"button\" data-zoom=\"fit\">fit</button>\
             <output class=\"detail\">Point at a step, or use the arrow keys.</output></div>\n",
        );
        out.push_str("<details class=\"filters\" hidden><summary>Search and filter</summary><div>");
        out.push_str("<label>Search <input type=\"search\" aria-label=\"Search steps\"></label>");
        let mut objects: Vec<&str> = self.steps().iter().filter_map(object).collect();
        objects.sort_unstable();
        objects.dedup();
        out.push_str("<select aria-label=\"Object\"><option value=\"\">all objects</option>");
        for object in objects {
            let _ = write!(out, "<option>{}</option>", escape(object));
        }
        out.push_str("</select> <fieldset><legend>Threads</legend>");
        for &lane in self.lanes {
            let (name, color) = (escape(&self.threads.heading(lane)), color(lane));
            let _ = write!(
                out,
                "<label class=\"thread {color}\"><input type=\"checkbox\" checked data-thread=\"{lane}\">{name}</label>"
            );
        }
        out.push_str("</fieldset><fieldset><legend>Kinds</legend>");
        let used = |name: &&&str| self.steps().iter().any(|step| class(step) == **name);
        for name in CLASSES.iter().filter(used) {
            let _ = write!(out, "<label><input type=\"checkbox\" checked data-class=\"{name}\">{name}</label>");
        }
        out.push_str("</fieldset><output class=\"matches\"></output></div></details>\n");
    }

    /// Writes the overview, which always fits the window.
    fn overview(&self, out: &mut String) {
        let (width, height) = (self.steps().len(), self.lanes.len());
        let _ = write!(
            out,
            "<svg class=\"overview\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"Overview of all steps\">"
        );
        // Consecutive steps of one thread are one bar.
        let mut number = 0;
        while let Some(first) = self.steps().get(number) {
            let length = self.steps()[number..].iter().take_while(|step| step.thread == first.thread).count();
            let (y, color) = (self.lane(first.thread), color(first.thread));
            let _ = write!(out, "<rect class=\"{color}\" x=\"{number}\" y=\"{y}\" width=\"{length}\" height=\"1\"/>");
            number += length;
        }
        for (number, step) in self.steps().iter().enumerate() {
            let marked = is_marked(self.finding, step);
            if marked || step.preempted {
                let name = if marked { "marked" } else { "preempted" };
                let _ = write!(out, "<rect class=\"{name}\" x=\"{number}\" y=\"0\" width=\"1\" height=\"{height}\"/>");
            }
        }
        let _ = writeln!(out, "<rect class=\"window\" x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\"/></svg>");
    }

    fn draw(&self, out: &mut String) {
        // Distance between steps, and between lanes.
        let step_width = if self.steps().len() > 120 { 16 } else { 26 };
        let lane_height = if self.lanes.len() > COLUMNS { 26 } else { 38 };
        let width = 2 * MARGIN + step_width * self.steps().len().max(1);
        let height = TOP + lane_height * self.lanes.len();
        let y_of = |thread: u32| TOP + lane_height / 2 + lane_height * self.lane(thread);
        let x_of = |number: usize| MARGIN + step_width / 2 + step_width * number;
        let _ = write!(out, "<div class=\"drawing\" style=\"--lane:{lane_height}px\"><div class=\"names\">");
        for &lane in self.lanes {
            let name = escape(&self.threads.heading(lane));
            let _ = write!(out, "<div class=\"thread {}\" title=\"{name}\">{name}</div>", color(lane));
        }
        let _ = write!(
            out,
            "</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Drawing of the interleaving of {id}\"><svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
             role=\"img\" aria-label=\"The interleaving, one lane per thread; the table below says the same\">\n",
            id = escape(&self.finding.id),
        );
        for &lane in self.lanes {
            let y = y_of(lane);
            let _ = writeln!(out, "<line class=\"lane\" x1=\"0\" x2=\"{width}\" y1=\"{y}\" y2=\"{y}\"/>");
        }
        for held in held(self.steps()) {
            let (x, y) = (x_of(held.from), y_of(held.thread) + 7);
            let (width, lock) = (x_of(held.to) - x, escape(held.lock));
            let name = escape(&self.threads.heading(held.thread));
            let _ = writeln!(
                out,
                "<rect class=\"held\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"3\" rx=\"1.5\"><title>{name} holds \
                 {lock}</title></rect>"
            );
        }
        for (number, pair) in self.steps().windows(2).enumerate() {
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
        for (from, to) in wakeups(self.steps()) {
            let [(x1, y1), (x2, y2)] = [from, to].map(|number| (x_of(number), y_of(self.steps()[number].thread)));
            let (middle, y) = (usize::midpoint(x1, x2), y1.min(y2).saturating_sub(lane_height / 2).max(4));
            let _ = writeln!(out, "<path class=\"wake\" d=\"M{x1} {y1} Q{middle} {y} {x2} {y2}\"/>");
        }
        for (number, missing) in self.gaps().filter(|(number, _)| *number > 0) {
            let (x, missing) = ((x_of(number - 1) + x_of(number)) / 2, count(missing, "step"));
            let height = height - TOP;
            let _ = writeln!(
                out,
                "<rect class=\"gap\" x=\"{x}\" y=\"{TOP}\" width=\"2\" height=\"{height}\"><title>&hellip; {missing}</title></rect>"
            );
        }
        let every = if step_width < 20 { 10 } else { 5 };
        for (number, step) in self.steps().iter().enumerate() {
            let (x, y) = (x_of(number), y_of(step.thread));
            let is_marked = is_marked(self.finding, step);
            let shown = crate::human::number(self.steps(), number);
            let text = self.describe(shown, step);
            let _ = writeln!(
                out,
                "<g class=\"step {}\" data-step=\"{}\" data-text=\"{text}\">{}<circle cx=\"{x}\" cy=\"{y}\" \
                 r=\"6\"/><title>{text}</title></g>",
                class(step),
                number + 1,
                if is_marked {
                    format!("<circle class=\"ring\" cx=\"{x}\" cy=\"{y}\" r=\"11\"/>")
                } else {
                    String::new()
                },
            );
            if number % every == 0 || is_marked {
                let _ = writeln!(out, "<text x=\"{x}\" y=\"12\">{shown}</text>");
            }
        }
        out.push_str("</svg></div></div>\n");
        out.push_str(
            "<p class=\"legend\"><span class=\"read\">read</span><span class=\"write\">write</span>\
             <span class=\"lock\">lock</span><span class=\"unlock\">unlock</span><span class=\"wait\">wait</span>\
             <span class=\"other\">other</span><span class=\"key-preemption\">preemption</span>\
             <span class=\"key-held\">lock held</span><span class=\"key-wake\">lets another thread continue</span>\
             <span class=\"key-culprit\">what the finding is about</span></p>\n",
        );
    }

    /// Returns where steps are left out, by the next step that is shown, and how many.
    fn gaps(&self) -> impl Iterator<Item = (usize, u64)> {
        let number = |at: usize| crate::human::number(self.steps(), at);
        let before = move |at: usize| at.checked_sub(1).map_or(0, number);
        let missing = move |at: usize| number(at).saturating_sub(before(at)).saturating_sub(1);
        (0..self.steps().len()).map(move |at| (at, missing(at))).filter(|(_, missing)| *missing > 0)
    }

    /// Returns a step in one line, escaped.
    fn describe(&self, number: u64, step: &Step) -> String {
        let place = location(&step.file, step.line, 0).map_or_else(String::new, |place| format!(" at {place}"));
        let preempted = if step.preempted { ", after a preemption" } else { "" };
        let event = if step.event > 0 { format!(" (event {})", step.event) } else { String::new() };
        let (thread, what, value) = (self.threads.heading(step.thread), step.what.trim(), values::whole(step));
        escape(&format!("{number}. {thread}: {what}{value}{place}{preempted}{event}"))
    }

    fn begin(&self) -> String {
        let id = escape(&self.finding.id);
        format!("<div class=\"steps\" tabindex=\"0\" role=\"region\" aria-label=\"Table of the steps of {id}\"><table")
    }

    /// Writes the table with a column for each thread.
    fn table(&self, out: &mut String) {
        let _ = write!(out, "{}><thead><tr><th>step</th>", self.begin());
        for &lane in self.lanes {
            let _ = write!(out, "<th class=\"thread {}\">{}</th>", color(lane), escape(&self.threads.heading(lane)));
        }
        out.push_str("</tr></thead><tbody>\n");
        self.rows(out, self.lanes.len(), |out, number, step| {
            let before = number.checked_sub(1).and_then(|before| self.steps().get(before)).map(|before| before.thread);
            for &lane in self.lanes {
                if lane == step.thread {
                    let _ = write!(out, "<td class=\"{}\">{}</td>", class(step), self.cell(step));
                } else if step.preempted && before == Some(lane) {
                    out.push_str("<td class=\"stopped\">preempted</td>");
                } else {
                    out.push_str("<td></td>");
                }
            }
        });
    }

    /// Writes the table with one narrow lane for each thread, and one column for the steps.
    fn list(&self, out: &mut String) {
        let _ = write!(out, "{} class=\"lanes\"><thead><tr><th>step</th>", self.begin());
        for &lane in self.lanes {
            let (name, short) = (escape(&self.threads.heading(lane)), Self::short(lane));
            let _ = write!(out, "<th class=\"cell thread {}\" title=\"{name}\">{short}</th>", color(lane));
        }
        out.push_str("<th>thread</th><th>what it does</th></tr></thead><tbody>\n");
        let held = held(self.steps());
        self.rows(out, self.lanes.len() + 2, |out, number, step| {
            for &lane in self.lanes {
                let lock = held.iter().find(|held| held.thread == lane && (held.from..=held.to).contains(&number));
                match (lane == step.thread, lock) {
                    (true, _) => _ = write!(out, "<td class=\"cell {} now\">&#9679;</td>", color(lane)),
                    (false, Some(held)) => {
                        _ = write!(out, "<td class=\"cell holds\" title=\"holds {}\"></td>", escape(held.lock))
                    }
                    (false, None) => out.push_str("<td class=\"cell\"></td>"),
                }
            }
            let (color, name) = (color(step.thread), escape(&self.threads.heading(step.thread)));
            let stopped = if step.preempted { "<span class=\"stopped\">after a preemption: </span>" } else { "" };
            let (class, cell) = (class(step), self.cell(step));
            let _ = write!(out, "<td class=\"thread {color}\">{name}</td><td class=\"{class}\">{stopped}{cell}</td>");
        });
    }

    /// Writes the rows of either table, with a line where steps are left out.
    fn rows(&self, out: &mut String, columns: usize, cells: impl Fn(&mut String, usize, &Step)) {
        let mut gaps = self.gaps().peekable();
        for (number, step) in self.steps().iter().enumerate() {
            let marked = match (is_marked(self.finding, step), step.preempted) {
                (true, true) => " class=\"culprit preempted\"",
                (true, false) => " class=\"culprit\"",
                (false, true) => " class=\"preempted\"",
                (false, false) => "",
            };
            let shown = crate::human::number(self.steps(), number);
            if let Some((_, missing)) = gaps.next_if(|(at, _)| *at == number) {
                let missing = count(missing, "step");
                let _ =
                    writeln!(out, "<tr class=\"gap\"><td></td><td colspan=\"{columns}\">&hellip; {missing}</td></tr>");
            }
            let anchor = match is_named(self.finding, step) {
                true => format!(" id=\"{}\"", anchor(self.finding, step.number)),
                false => String::new(),
            };
            let (thread, class, object) = (step.thread, class(step), escape(object(step).unwrap_or_default()));
            let _ = write!(
                out,
                "<tr data-step=\"{}\" data-thread=\"{thread}\" data-class=\"{class}\" data-object=\"{object}\"{marked}{anchor}><td>{shown}</td>",
                number + 1
            );
            cells(out, number, step);
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }

    /// Returns what a step does, and where.
    fn cell(&self, step: &Step) -> String {
        // A whole path would leave no room for the other threads.
        let mut files = self.steps().iter().map(|step| &step.file).filter(|file| !file.is_empty());
        let is_one_file = files.next().is_none_or(|first| files.all(|file| file == first));
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
        format!("{what}{value}{place}{mark}")
    }
}
