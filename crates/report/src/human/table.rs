//! The interleaving: one row per step, one column per thread.

use std::collections::BTreeMap;

use racehunter_finding::{Finding, Kind, Step};

use crate::color::{ERROR, FAINT, STRONG, WARNING, paint};
use crate::interleaving::is_unnamed;
use crate::text::{clean, count, pad, shorten, width, wrap};
use crate::threads::Threads;
use crate::values;

/// Interleavings up to this length are shown whole.
const WHOLE: u64 = 30;
/// Steps kept before and after the interesting ones of a longer interleaving.
const AROUND: usize = 3;
/// Spaces between columns.
const GAP: usize = 2;
/// Width of the mark of a preemption.
const NARROWEST: usize = 15;
/// Width of the step numbers with their margins.
const NUMBER: usize = 8;

/// One line of the table.
enum Row<'a> {
    /// A step, by its place in the list.
    Step(usize, &'a Step),
    /// A number of steps that are left out.
    Gap(u64),
}

/// A column: the thread's number, and where it begins.
struct Column {
    thread: u32,
    heading: String,
    start: usize,
}

/// Returns the table, or nothing when the steps are not known.
pub(super) fn table(finding: &Finding, threads: &Threads, columns: usize) -> String {
    if finding.steps.is_empty() {
        return String::new();
    }
    let rows = rows(&finding.steps);
    let cells = Cells::of(finding);
    // Columns are easier to read than a list, as long as nothing has to be cut.
    match layout(&rows, &cells, threads, columns) {
        Some(layout) => side_by_side(finding, &rows, &cells, &layout),
        None => one_below_the_other(finding, &rows, &cells, threads, columns),
    }
}

/// Returns the number of a step in the whole interleaving, from 1.
pub(crate) fn number(steps: &[Step], at: usize) -> u64 {
    match steps[at].number {
        0 => at as u64 + 1,
        number => number,
    }
}

/// Returns the steps to show: all of a short interleaving that say what they access, else those that matter.
fn rows(steps: &[Step]) -> Vec<Row<'_>> {
    let last = steps.len() - 1;
    let is_short = number(steps, last) <= WHOLE;
    let mut kept: Vec<bool> = steps.iter().map(|step| is_short && !is_unnamed(step)).collect();
    if steps.iter().any(|step| step.matters) {
        for (at, step) in steps.iter().enumerate() {
            kept[at] |= step.matters;
        }
    } else if is_short {
        // Those of earlier versions do not say what matters.
        kept.fill(true);
    } else {
        keep_around(steps, &mut kept);
    }
    let mut rows = Vec::new();
    let mut next = 1;
    for (at, step) in steps.iter().enumerate() {
        let number = number(steps, at);
        // Showing a single step takes no more room than the line that stands for it.
        let is_alone = number == next
            && steps
                .get(at + 1)
                .is_none_or(|_| kept[at + 1] && self::number(steps, at + 1) == number.saturating_add(1));
        if !kept[at] && !is_alone {
            continue;
        }
        if number > next {
            rows.push(Row::Gap(number - next));
        }
        rows.push(Row::Step(at, step));
        next = number.saturating_add(1);
    }
    let end = number(steps, last).saturating_add(1);
    if end > next {
        rows.push(Row::Gap(end - next));
    }
    rows
}

/// If it is unknown which steps matter, keeps the beginning, the end, and the steps around preemptions and the culprit.
fn keep_around(steps: &[Step], kept: &mut [bool]) {
    let interesting = |step: &Step| step.preempted || step.culprit;
    let many = steps.iter().filter(|step| interesting(step)).count() > 6;
    let around = if many { 1 } else { AROUND };
    let mut keep = |from: usize, to: usize| kept[from..to.min(steps.len())].fill(true);
    keep(0, AROUND);
    keep(steps.len().saturating_sub(AROUND), steps.len());
    for (at, _) in steps.iter().enumerate().filter(|(_, step)| interesting(step)) {
        keep(at.saturating_sub(around), at + around + 1);
    }
}

/// How steps are written into cells.
#[derive(Clone, Copy)]
struct Cells {
    /// Word for the step at which the bug shows.
    culprit: &'static str,
}

impl Cells {
    const fn of(finding: &Finding) -> Self {
        Self {
            culprit: match finding.kind {
                Kind::DataRace => "race",
                Kind::Deadlock => "deadlock",
                Kind::LostWakeup => "waits for ever",
                Kind::Assertion => "fails",
                Kind::Crash => "crashes",
                Kind::UseAfterFree | Kind::DoubleFree => "freed memory",
                Kind::Misuse => "misuse",
                Kind::Atomicity => "interrupted",
                Kind::ExitStatus | Kind::Output => "differs",
            },
        }
    }

    /// Returns the text of a step. `file` is that of the line before: a file is named where it changes.
    fn text<'s>(step: &'s Step, file: &mut Option<&'s str>) -> String {
        let place = match step.line {
            0 => String::new(),
            line if file.is_none() || *file == Some(&step.file) => format!(" :{line}"),
            line => format!(" {}:{line}", step.file.rsplit('/').next().unwrap_or_default()),
        };
        if step.line > 0 {
            *file = Some(&step.file);
        }
        format!("{}{}{}", clean(&step.what), values::brief(step), clean(&place))
    }

    /// Returns the texts of all rows; each `lane` has its own previous line.
    fn texts<'s>(rows: &[Row<'s>], lane: impl Fn(&Step) -> u32) -> Vec<String> {
        let files = rows.iter().filter_map(|row| match row {
            Row::Step(_, step) if step.line > 0 => Some(step.file.as_str()),
            _ => None,
        });
        // If everything is in one file, the report has already named it.
        let mut different: Vec<&str> = files.collect();
        different.sort_unstable();
        different.dedup();
        let first = if different.len() > 1 { Some("") } else { None };
        let mut before: BTreeMap<u32, Option<&'s str>> = BTreeMap::new();
        let text = |row: &Row<'s>| match row {
            Row::Step(_, step) => Self::text(step, before.entry(lane(step)).or_insert(first)),
            Row::Gap(_) => String::new(),
        };
        rows.iter().map(text).collect()
    }

    fn culprit(&self) -> String {
        format!("<- {}", self.culprit)
    }
}

/// Columns side by side.
struct Layout {
    columns: Vec<Column>,
    /// The text of each row's cell.
    texts: Vec<String>,
}

impl Layout {
    fn of(&self, thread: u32) -> Option<&Column> {
        self.columns.iter().find(|column| column.thread == thread)
    }
}

/// Places the columns side by side; returns nothing if they do not fit.
fn layout(rows: &[Row<'_>], cells: &Cells, threads: &Threads, columns: usize) -> Option<Layout> {
    let texts = Cells::texts(rows, |step| step.thread);
    let mut wanted: BTreeMap<u32, usize> = BTreeMap::new();
    for (row, text) in rows.iter().zip(&texts) {
        let Row::Step(_, step) = row else { continue };
        let heading = width(&threads.heading(step.thread));
        let widest = wanted.entry(step.thread).or_insert(heading.max(NARROWEST));
        *widest = (*widest).max(width(text));
    }
    // The culprit's mark stands to the right of its cell. With columns there is room for it.
    let mark = 1 + width(&cells.culprit());
    let marked = rows.iter().filter_map(|row| match row {
        Row::Step(_, step) if step.culprit => Some(step.thread),
        Row::Step(..) | Row::Gap(_) => None,
    });
    let beyond = |thread: u32| wanted.range(thread + 1..).map(|(_, width)| width + GAP).sum::<usize>();
    let reserved = marked.map(|thread| mark.saturating_sub(beyond(thread))).max().unwrap_or(0);
    let taken = NUMBER + GAP * (wanted.len() - 1) + reserved + wanted.values().sum::<usize>();
    if taken > columns {
        return None;
    }
    let mut start = NUMBER;
    let mut placed = Vec::new();
    for (thread, width) in wanted {
        placed.push(Column { thread, heading: threads.heading(thread), start });
        start += width + GAP;
    }
    Some(Layout { columns: placed, texts })
}

fn side_by_side(finding: &Finding, rows: &[Row<'_>], cells: &Cells, layout: &Layout) -> String {
    let mut heading = Canvas::default();
    for column in &layout.columns {
        heading.put(column.start, &column.heading);
    }
    let mut out = format!("{}\n", paint(STRONG, format_args!("  step{}", &heading.0[6.min(heading.0.len())..])));
    for (row, text) in rows.iter().zip(&layout.texts) {
        match row {
            Row::Gap(length) => out += &gap(*length),
            Row::Step(at, step) => out += &step_row(finding, (*at, step), text, cells, layout),
        }
    }
    out
}

/// Returns the previous step of the list, if it is also the previous step of the interleaving.
fn before(steps: &[Step], at: usize) -> Option<&Step> {
    let before = at.checked_sub(1)?;
    (number(steps, before).saturating_add(1) == number(steps, at)).then(|| &steps[before])
}

fn step_row(finding: &Finding, (at, step): (usize, &Step), text: &str, cells: &Cells, layout: &Layout) -> String {
    let mut line = Canvas::default();
    line.put(0, &format!("{:>4}", number(&finding.steps, at)));
    let Some(own) = layout.of(step.thread) else { return String::new() };
    let before = before(&finding.steps, at);
    let other = before.filter(|_| step.preempted).and_then(|before| layout.of(before.thread));
    match other {
        Some(from) if from.start < own.start => {
            let length = own.start - from.start - 1;
            line.put(from.start, &format!("{:-<length$}> ", "-- preempted ", length = length - 1));
            line.put(own.start, text);
        }
        Some(from) if from.start > own.start => {
            line.put(own.start, text);
            let start = own.start + width(text) + 1;
            let length = (from.start + "-- preempted --".len()).saturating_sub(start + 1);
            line.put(start, &format!("<{:->length$}", " preempted --"));
        }
        _ => line.put(own.start, text),
    }
    if step.culprit {
        line.0 += &format!(" {}", cells.culprit());
    }
    let line = line.0;
    if step.culprit {
        format!("{}\n", paint(ERROR, line))
    } else if other.is_some() {
        format!("{}\n", paint(WARNING, line))
    } else {
        format!("{line}\n")
    }
}

/// Writes one line per step, with the name of its thread, if columns do not fit side by side.
fn one_below_the_other(
    finding: &Finding,
    rows: &[Row<'_>],
    cells: &Cells,
    threads: &Threads,
    columns: usize,
) -> String {
    let shown = |row: &Row<'_>| match row {
        Row::Step(_, step) => width(&threads.heading(step.thread)),
        Row::Gap(_) => 0,
    };
    let name_width = rows.iter().map(shown).max().unwrap_or(0).max("thread".len()).min(columns / 3);
    let name_of = |thread: u32| pad(&shorten(&threads.heading_within(thread, name_width), name_width), name_width);
    let text_start = NUMBER + name_width + GAP;
    let mut out = format!("{}\n", paint(STRONG, "  step  thread"));
    for (row, text) in rows.iter().zip(Cells::texts(rows, |_| 0)) {
        let (at, step) = match row {
            Row::Gap(length) => {
                out += &gap(*length);
                continue;
            }
            Row::Step(at, step) => (*at, *step),
        };
        if let Some(before) = before(&finding.steps, at).filter(|_| step.preempted) {
            let name = name_of(before.thread);
            out += &format!("{}{}\n", " ".repeat(NUMBER), paint(WARNING, format_args!("{name}  -- preempted --")));
        }
        let text = if step.culprit { format!("{text} {}", cells.culprit()) } else { text };
        let mut lead = format!("{:>4}    {}  ", number(&finding.steps, at), name_of(step.thread));
        for part in wrap(&text, columns.saturating_sub(text_start)) {
            match step.culprit {
                true => out += &format!("{}\n", paint(ERROR, format_args!("{lead}{part}"))),
                false => out += &format!("{lead}{part}\n"),
            }
            lead = " ".repeat(text_start);
        }
    }
    out
}

fn gap(length: u64) -> String {
    format!("{}{}\n", " ".repeat(NUMBER), paint(FAINT, format_args!("... {} ...", count(length, "step"))))
}

/// A line that is written at columns from left to right.
#[derive(Default)]
struct Canvas(String);

impl Canvas {
    fn put(&mut self, column: usize, text: &str) {
        self.0 = pad(&self.0, column);
        self.0.push_str(text);
    }
}
