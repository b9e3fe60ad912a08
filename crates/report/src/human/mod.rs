//! Reports in the style of a good compiler.

mod bystanders;
mod label;
mod snippet;
mod summary;
mod table;

use racehunter_finding::{Finding, Frame, Kind, Site};
use racehunter_symbols::{own_frame, shortened};

use crate::Replay;
use crate::color::{ERROR, FAINT, FRAME, GOOD, STRONG, WARNING, paint};
use crate::messages;
use crate::short::{location, place};
use crate::sources::Sources;
use crate::text::{clean, count, pad, width, within, wrap};
use crate::threads::Threads;

pub(crate) use label::labels;
pub(crate) use summary::{lessons, summary};
pub(crate) use table::number;

/// Maximum number of stack frames shown.
const FRAMES: usize = 12;

/// Returns the whole report of a finding.
pub(crate) fn finding(finding: &Finding, sources: &mut Sources, replay: &Replay, columns: usize) -> String {
    if finding.suppressed.is_some() {
        return suppressed(finding);
    }
    if let Some(first) = &finding.variant_of {
        return variant(finding, first, replay, columns);
    }
    let threads = Threads::of(finding);
    let mut out = heading(finding, columns);
    if let Some(cause) = &finding.cause {
        for (number, line) in wrap(&clean(cause), columns.saturating_sub(CAUSE.len())).iter().enumerate() {
            let lead = if number == 0 { paint(FRAME, CAUSE).to_string() } else { " ".repeat(CAUSE.len()) };
            out += &format!("{lead}{line}\n");
        }
    }
    let gutter = finding.sites.iter().map(|site| site.line.to_string().len()).max().unwrap_or(1).max(2);
    let involved = bystanders::involved(finding);
    let mut number = 0;
    // Threads that wait at the same place share the line of source.
    for alike in finding.sites[..involved].chunk_by(is_alike) {
        let labels: Vec<String> =
            (number..).zip(alike).flat_map(|(number, site)| labels(finding, number, site, &threads)).collect();
        out += &snippet::snippet(&alike[0], number == 0, &labels, sources, gutter, columns);
        out += &stack(&alike[0], gutter, columns);
        number += alike.len();
    }
    out += &bystanders::lines(finding, involved, &threads, columns);
    out += &table::table(finding, &threads, columns);
    let has_addresses = shows_numbered_address(&out);
    for note in finding.notes.iter().filter(|note| has_addresses || **note != messages::numbered_addresses()) {
        out += &format!("  {} note: {}\n", paint(FRAME, "="), clean(note));
    }
    out += &footer(finding, replay);
    out.push('\n');
    out
}

/// Returns true if a text has an address that is shown as a number: `read first = #1`. The number of one of several locks with
/// the same name follows that name.
fn shows_numbered_address(text: &str) -> bool {
    text.match_indices('#').any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let follows_name = before.strip_suffix(' ').is_some_and(|name| {
            name.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ']' | ')'))
        });
        after.starts_with(|letter: char| letter.is_ascii_digit()) && (!follows_name || before.ends_with(" of "))
    })
}

/// Returns true if two threads wait at the same place, by the same calls.
fn is_alike(one: &Site, other: &Site) -> bool {
    let place = |site: &Site| (site.file.clone(), site.line, site.column, site.access.clone());
    one.waits_for.is_some() && other.waits_for.is_some() && place(one) == place(other) && one.stack == other.stack
}

/// The text before the cause of a finding.
const CAUSE: &str = "  cause: ";

/// Returns a variant of another finding, in three lines.
fn variant(finding: &Finding, first: &str, replay: &Replay, columns: usize) -> String {
    let mark = paint(FRAME, "=");
    let mut out = heading(finding, columns);
    let places: Vec<String> = finding.sites.iter().map(place).collect();
    out += &format!("  {} {}\n", paint(FRAME, "-->"), places.join(", "));
    out += &format!("  {mark} the same cause as {}    ", clean(first));
    out += &format!("{mark} replay: {}\n\n", replay.command(finding));
    out
}

/// Returns a suppressed finding, in three lines.
fn suppressed(finding: &Finding) -> String {
    let mark = paint(FRAME, "=");
    let kind = finding.kind.name();
    let mut out = format!("{}: {}\n", paint(FAINT, format_args!("suppressed[{kind}]")), clean(&finding.message));
    if let Some(site) = finding.sites.first() {
        out += &format!("  {} {}\n", paint(FRAME, "-->"), place(site));
    }
    let reason = finding.suppressed.as_deref().map(clean).unwrap_or_default();
    out += &format!("  {mark} suppressed: {reason}    {mark} id: {}\n\n", clean(&finding.id));
    out
}

/// Describes a problem with the use of the tool.
pub(crate) fn problem(message: &str, help: &[&str]) -> String {
    let mut out = format!("{}{}\n", paint(ERROR, "error"), paint(STRONG, format_args!(": {}", clean(message))));
    for line in help {
        out += &format!("  {} help: {}\n", paint(FRAME, "="), clean(line));
    }
    out
}

/// Returns the title. The threads of a deadlock are below each other if one line has no room for all of them.
fn heading(finding: &Finding, columns: usize) -> String {
    let (severity, style) = if finding.confirmed { ("error", ERROR) } else { ("warning", WARNING) };
    let severity = format!("{severity}[{}]", finding.kind.name());
    let message = clean(&finding.message);
    let details = details(finding).map(|details| format!("({details})"));
    let whole = details.as_ref().map_or_else(|| message.clone(), |details| format!("{message} {details}"));
    let lead = width(&severity) + 2;
    let room = columns.saturating_sub(lead);
    let parts =
        |end| message.split_inclusive(end).chain(details.as_deref()).flat_map(|part| wrap(part, room)).collect();
    let lines: Vec<String> = match finding.kind {
        _ if width(&whole) <= room || room < lead => vec![whole],
        Kind::Deadlock => parts("; "),
        _ if width(&message) <= room => parts("\n"),
        _ => wrap(&whole, room),
    };
    let separator = format!("\n{}", " ".repeat(lead));
    format!("{}{}\n", paint(style, severity), paint(STRONG, format_args!(": {}", lines.join(&separator))))
}

/// Returns what kind of memory it is about: `4 bytes, heap, allocated at src/queue.c:21`.
pub(crate) fn details(finding: &Finding) -> Option<String> {
    let is_memory = finding.kind.is_about_memory();
    let object = finding.object.as_ref().filter(|_| is_memory)?;
    let mut parts = Vec::new();
    // The name is that of the part which both accesses use.
    let accessed = finding.sites.iter().map(|site| u64::from(site.size)).filter(|size| *size > 0).min();
    let size = accessed.unwrap_or(object.size);
    if size > 0 {
        parts.push(count(size, "byte"));
    }
    // The region of a descriptor adds nothing to the message.
    if !["", "unknown", "descriptor"].contains(&object.region.as_str()) {
        parts.push(clean(&object.region));
    }
    // If the source names the index, the object's name already shows it.
    if let Some(element) = object.element.filter(|element| !object.name.contains(&format!("[{element}]"))) {
        parts.push(format!("element {element}"));
    }
    let allocated = own_frame(&object.allocated).and_then(|own| object.allocated.get(own));
    if let Some(place) = allocated.and_then(|frame| location(&frame.file, frame.line, 0)) {
        parts.push(format!("allocated at {place}"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the call stack of a place, if it says more than the place itself.
fn stack(site: &Site, gutter: usize, columns: usize) -> String {
    if site.stack.len() < 2 {
        return String::new();
    }
    let shown = &site.stack[..site.stack.len().min(FRAMES)];
    let widest = columns / 2;
    let names: Vec<String> =
        shown.iter().map(|frame| within(&clean(&shortened(&frame.function)), widest).to_owned()).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0).min(widest);
    let mut out = String::new();
    for (number, (frame, name)) in shown.iter().zip(&names).enumerate() {
        let lead = if number == 0 { format!("{} stack:", paint(FRAME, "=")) } else { " ".repeat(8) };
        out += &format!("{} {lead} {}\n", " ".repeat(gutter), frame_text(frame, name, widest).trim_end());
    }
    let hidden = site.stack.len() - shown.len();
    if hidden > 0 {
        out += &format!("{} {} ... {}\n", " ".repeat(gutter), " ".repeat(8), count(hidden as u64, "more frame"));
    }
    out
}

fn frame_text(frame: &Frame, name: &str, widest: usize) -> String {
    match location(&frame.file, frame.line, frame.column) {
        Some(place) => format!("{}  {}", pad(name, widest), paint(FAINT, place)),
        None => name.to_owned(),
    }
}

fn footer(finding: &Finding, replay: &Replay) -> String {
    let [shown, tried] = finding.replayed;
    let replayed = match (finding.confirmed, tried) {
        (true, _) => paint(GOOD, format_args!("replayed {shown}/{tried}")),
        (false, 0) => paint(WARNING, "not confirmed: not replayed"),
        (false, _) => paint(WARNING, format_args!("not confirmed: replayed {shown}/{tried}")),
    };
    let mark = paint(FRAME, "=");
    // A prediction has no schedule and cannot be replayed.
    if tried == 0 && finding.schedule.switches.is_empty() {
        return format!("  {mark} {}, {replayed}\n", count(u64::from(finding.preemptions), "preemption"));
    }
    let command = replay.command(finding);
    format!(
        "  {mark} {}, {replayed}    {mark} replay: {command}\n",
        count(u64::from(finding.preemptions), "preemption")
    )
}

#[cfg(test)]
mod tests {
    use super::shows_numbered_address;

    #[test]
    fn numbers_of_locks_are_no_addresses() {
        for text in ["read first = #1 :4", "write of #2, thread T1", "write n #1 -> #2", "{next = #3}"] {
            assert!(shows_numbered_address(text), "{text}");
        }
        for text in ["lock b->lock #1 :4", "lock tables[0] #2", "#include <stdio.h>", "// see issue #12"] {
            assert!(!shows_numbered_address(text), "{text}");
        }
    }
}
