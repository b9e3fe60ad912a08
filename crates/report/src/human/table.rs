//! The interleaving: one row per step, one column per thread.

use racehunter_finding::{Finding, Kind, Step};

use crate::color::{ERROR, FAINT, STRONG, WARNING, paint};
use crate::text::{clean, count, pad, shorten, width};
use crate::threads::Threads;
use crate::values;

/// Interleavings up to this length are shown whole.
const WHOLE: usize = 30;
/// Steps kept before and after the interesting ones of a longer interleaving.
const AROUND: usize = 3;
/// Spaces between columns.
const GAP: usize = 2;
/// A column narrower than this tells nothing.
const NARROWEST: usize = 15;
/// Of an operation so much is shown at least, before its value is left out.
const LEAST: usize = 10;
/// Width of the step numbers with their margins.
const NUMBER: usize = 8;

/// One line of the table.
enum Row<'a> {
    /// A step, by its number from 1.
    Step(usize, &'a Step),
    /// Steps that are left out.
    Gap(usize),
}

/// A column: the thread's number and its width.
struct Column {
    thread: u32,
    heading: String,
    start: usize,
    width: usize,
}

/// The table, or nothing when the steps are not known.
pub(super) fn table(finding: &Finding, threads: &Threads, columns: usize) -> String {
    if finding.steps.is_empty() {
        return String::new();
    }
    let rows = rows(&finding.steps);
    let full = Cells::of(finding);
    let brief = Cells { with_files: false, ..full };
    // The names of the files are in the report already: they are the first to go when room is short.
    if let Some(layout) = layout(&rows, &full, threads, columns).filter(|layout| layout.is_whole) {
        return side_by_side(finding, &rows, &full, &layout);
    }
    match layout(&rows, &brief, threads, columns) {
        Some(layout) => side_by_side(finding, &rows, &brief, &layout),
        None => one_below_the_other(finding, &rows, &full, threads, columns),
    }
}

/// The steps to show: all, or those around the preemptions and the culprit.
fn rows(steps: &[Step]) -> Vec<Row<'_>> {
    let interesting = |step: &Step| step.preempted || step.culprit;
    let many = steps.iter().filter(|step| interesting(step)).count() > 6;
    let around = if many { 1 } else { AROUND };
    let mut kept = vec![steps.len() <= WHOLE; steps.len()];
    let mut keep = |from: usize, to: usize| kept[from..to.min(steps.len())].fill(true);
    keep(0, AROUND);
    keep(steps.len().saturating_sub(AROUND), steps.len());
    for (at, _) in steps.iter().enumerate().filter(|(_, step)| interesting(step)) {
        keep(at.saturating_sub(around), at + around + 1);
    }
    let mut rows = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let is_alone = !kept[at] && (at == 0 || kept[at - 1]) && kept.get(at + 1).is_none_or(|next| *next);
        match rows.last_mut() {
            // One step takes no more room than the line that says it is missing.
            _ if kept[at] || is_alone => rows.push(Row::Step(at + 1, step)),
            Some(Row::Gap(length)) => *length += 1,
            _ => rows.push(Row::Gap(1)),
        }
    }
    rows
}

/// How steps are written into cells.
#[derive(Clone, Copy)]
struct Cells {
    /// With the names of files, because more than one takes part.
    with_files: bool,
    /// Word for the step at which the bug shows.
    culprit: &'static str,
}

impl Cells {
    fn of(finding: &Finding) -> Self {
        let mut files = finding.steps.iter().map(|step| step.file.as_str()).filter(|file| !file.is_empty());
        let first = files.next();
        Self {
            with_files: files.any(|file| Some(file) != first),
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

    fn place(&self, step: &Step) -> String {
        let file = if self.with_files { step.file.rsplit('/').next().unwrap_or_default() } else { "" };
        if step.line == 0 { String::new() } else { clean(&format!(" {file}:{}", step.line)) }
    }

    /// The text of a step in at most `columns`: value and place are kept, the operation is cut.
    fn text(&self, step: &Step, columns: usize) -> String {
        let (what, value, place) = (clean(&step.what), values::brief(step), self.place(step));
        // What goes first is the end of a long name, then the value, then the place.
        let kept = [format!("{value}{place}"), place]
            .into_iter()
            .find(|kept| width(kept) + width(&what).min(LEAST) <= columns);
        let kept = kept.unwrap_or_default();
        format!("{}{kept}", shorten(&what, columns - width(&kept)))
    }

    fn culprit(&self) -> String {
        format!("<- {}", self.culprit)
    }
}

/// Columns side by side.
struct Layout {
    columns: Vec<Column>,
    /// Nothing had to be cut.
    is_whole: bool,
}

impl Layout {
    fn of(&self, thread: u32) -> Option<&Column> {
        self.columns.iter().find(|column| column.thread == thread)
    }
}

/// Places the columns side by side, or tells that they do not fit.
fn layout(rows: &[Row<'_>], cells: &Cells, threads: &Threads, columns: usize) -> Option<Layout> {
    let mut wanted: Vec<(u32, usize)> = Vec::new();
    for row in rows {
        let Row::Step(_, step) = row else { continue };
        let text = width(&cells.text(step, usize::MAX));
        match wanted.iter_mut().find(|(thread, _)| *thread == step.thread) {
            Some((_, widest)) => *widest = (*widest).max(text),
            None => wanted.push((step.thread, text)),
        }
    }
    wanted.sort_unstable();
    for (thread, widest) in &mut wanted {
        *widest = (*widest).max(width(&threads.heading(*thread))).max(NARROWEST);
    }
    // The mark of the culprit stands right of its cell. Where there are columns, that costs nothing.
    let mark = 1 + width(&cells.culprit());
    let marked = rows.iter().filter_map(|row| match row {
        Row::Step(_, step) if step.culprit => Some(step.thread),
        Row::Step(..) | Row::Gap(_) => None,
    });
    let beyond = |thread: u32| wanted.iter().filter(|(other, _)| *other > thread).count() * (NARROWEST + GAP);
    let reserved = marked.map(|thread| mark.saturating_sub(beyond(thread))).max().unwrap_or(0);
    let room = columns.checked_sub(NUMBER + GAP * (wanted.len() - 1) + reserved)?;
    // Where nothing is read or written there is least to lose.
    let has_values = |thread: u32| {
        rows.iter().any(|row| matches!(row, Row::Step(_, step) if step.thread == thread && step.value.is_some()))
    };
    let is_whole = narrow(&mut wanted, room, &|thread| !has_values(thread))?;
    let mut start = NUMBER;
    let mut columns = Vec::new();
    for (thread, width) in wanted {
        columns.push(Column { thread, heading: shorten(&threads.heading(thread), width), start, width });
        start += width + GAP;
    }
    Some(Layout { columns, is_whole })
}

/// Takes from the widest columns until all fit into `room`, first from those that matter less; true when nothing had to be
/// taken.
fn narrow(wanted: &mut [(u32, usize)], room: usize, matters_less: &dyn Fn(u32) -> bool) -> Option<bool> {
    if wanted.len() * NARROWEST > room {
        return None;
    }
    let mut is_whole = true;
    while wanted.iter().map(|(_, width)| width).sum::<usize>() > room {
        let can_give = |(thread, width): &(u32, usize)| matters_less(*thread) && *width > NARROWEST;
        let (_, widest) = wanted.iter_mut().max_by_key(|column| (can_give(column), column.1))?;
        *widest -= 1;
        is_whole = false;
    }
    Some(is_whole)
}

fn side_by_side(finding: &Finding, rows: &[Row<'_>], cells: &Cells, layout: &Layout) -> String {
    let mut heading = Canvas::default();
    for column in &layout.columns {
        heading.put(column.start, &column.heading);
    }
    let mut out = format!("{}\n", paint(STRONG, format_args!("  step{}", &heading.0[6.min(heading.0.len())..])));
    for row in rows {
        match row {
            Row::Gap(length) => out += &gap(*length),
            Row::Step(number, step) => out += &step_row(finding, *number, step, cells, layout),
        }
    }
    out
}

fn step_row(finding: &Finding, number: usize, step: &Step, cells: &Cells, layout: &Layout) -> String {
    let mut line = Canvas::default();
    line.put(0, &format!("{number:>4}"));
    let Some(own) = layout.of(step.thread) else { return String::new() };
    let text = cells.text(step, own.width);
    let before = number.checked_sub(2).and_then(|before| finding.steps.get(before));
    let other = before.filter(|_| step.preempted).and_then(|before| layout.of(before.thread));
    match other {
        Some(from) if from.start < own.start => {
            let length = own.start - from.start - 1;
            line.put(from.start, &format!("{:-<length$}> ", "-- preempted ", length = length - 1));
            line.put(own.start, &text);
        }
        Some(from) if from.start > own.start => {
            line.put(own.start, &text);
            let start = own.start + width(&text) + 1;
            let length = (from.start + "-- preempted --".len()).saturating_sub(start + 1);
            line.put(start, &format!("<{:->length$}", " preempted --"));
        }
        _ => line.put(own.start, &text),
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

/// Many threads do not fit side by side: one line per step, with the name of its thread.
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
    let text_width = columns.saturating_sub(NUMBER + name_width + GAP + 1 + width(&cells.culprit()));
    let mut out = format!("{}\n", paint(STRONG, "  step  thread"));
    for row in rows {
        let (number, step) = match row {
            Row::Gap(length) => {
                out += &gap(*length);
                continue;
            }
            Row::Step(number, step) => (*number, *step),
        };
        let before = number.checked_sub(2).and_then(|before| finding.steps.get(before));
        if let Some(before) = before.filter(|_| step.preempted) {
            let name = pad(&shorten(&threads.heading(before.thread), name_width), name_width);
            out += &format!("{}{}\n", " ".repeat(NUMBER), paint(WARNING, format_args!("{name}  -- preempted --")));
        }
        let name = pad(&shorten(&threads.heading(step.thread), name_width), name_width);
        let line = format!("{number:>4}    {name}  {}", cells.text(step, text_width));
        match step.culprit {
            true => out += &format!("{}\n", paint(ERROR, format_args!("{line} {}", cells.culprit()))),
            false => out += &format!("{line}\n"),
        }
    }
    out
}

fn gap(length: usize) -> String {
    format!("{}{}\n", " ".repeat(NUMBER), paint(FAINT, format_args!("... {} ...", count(length as u64, "step"))))
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
