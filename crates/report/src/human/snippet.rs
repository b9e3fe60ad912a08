//! A line of source with a place marked in it.

use std::ops::Range;

use racehunter_finding::Site;
use racehunter_symbols::source::{self, Access};

use crate::color::{ERROR, FRAME, paint};
use crate::short::place;
use crate::sources::Sources;
use crate::text::{clean, shorten, width, wrap};

/// Returns the place of a site, its line of source, and what happens there. `gutter` is the width of the line numbers.
pub(super) fn snippet(
    site: &Site,
    is_first: bool,
    labels: &[String],
    sources: &mut Sources,
    gutter: usize,
    columns: usize,
) -> String {
    let margin = " ".repeat(gutter);
    let arrow = paint(FRAME, if is_first { "-->" } else { ":::" });
    let mut out = format!("{}{arrow} {}\n", " ".repeat(gutter), shown_place(site));
    let style = if is_first { ERROR } else { FRAME };
    let Some(line) = sources.line(&site.file, site.line) else {
        // Without the source, the labels are still useful.
        for label in labels {
            out += &format!("{margin} {} {}\n", paint(FRAME, "="), paint(style, label));
        }
        return out;
    };
    let marked = Marked::new(line, site).fit(columns.saturating_sub(gutter + 3));
    let bar = paint(FRAME, "|");
    out += &format!("{} {bar} {}\n", paint(FRAME, format_args!("{:>gutter$}", site.line)), marked.text);
    let mark = format!("{}{}", " ".repeat(marked.column), paint(style, "^".repeat(marked.length)));
    let room = columns.saturating_sub(gutter + 3);
    let beside = marked.column + marked.length + 1;
    let widest = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    if beside + widest <= room {
        let first = labels.first().map_or("", String::as_str);
        out += &format!("{margin} {bar} {mark} {}\n", paint(style, first));
        for label in labels.iter().skip(1) {
            out += &format!("{margin} {bar} {}{}\n", " ".repeat(beside), paint(style, label));
        }
        return out;
    }
    // A label that does not fit beside the mark goes below it, as far to the left as necessary.
    out += &format!("{margin} {bar} {mark}\n");
    let indent = marked.column.min(room.saturating_sub(widest));
    for line in labels.iter().flat_map(|label| wrap(label, room - indent)) {
        out += &format!("{margin} {bar} {}{}\n", " ".repeat(indent), paint(style, line));
    }
    out
}

fn shown_place(site: &Site) -> String {
    if site.file.is_empty() { format!("{} (no debug information)", place(site)) } else { place(site) }
}

/// A line as shown, and the marked columns.
struct Marked {
    text: String,
    column: usize,
    length: usize,
}

impl Marked {
    fn new(line: &str, site: &Site) -> Self {
        let range = range(line, site);
        let before = line.get(..range.start).unwrap_or_default();
        let inside = line.get(range).unwrap_or_default();
        Self { column: width(&clean(before)), length: width(&clean(inside)).max(1), text: clean(line.trim_end()) }
    }

    /// Cuts the line so that it is no wider than `columns` and still shows what is marked.
    fn fit(mut self, columns: usize) -> Self {
        if width(&self.text) > columns && self.column + self.length + 1 > columns {
            // Keep a third of the width for the text before the mark.
            let cut = self.column.saturating_sub(columns / 3);
            let mut skipped = 0;
            let kept = self.text.chars().skip_while(|letter| {
                let skip = skipped < cut;
                skipped += if skip { width(letter.encode_utf8(&mut [0; 4])) } else { 0 };
                skip
            });
            self.text = format!("…{}", kept.collect::<String>());
            self.column = 1 + self.column.saturating_sub(cut);
        }
        self.text = shorten(&self.text, columns);
        self.length = self.length.min(columns.saturating_sub(self.column)).max(1);
        self
    }
}

/// Returns the bytes to mark: the expression that is accessed, else the word at the column, else the whole line.
fn range(line: &str, site: &Site) -> Range<usize> {
    let start = line.len() - line.trim_start().len();
    let whole = start..line.trim_end().len().max(start);
    let Some(at) = usize::try_from(site.column).ok().and_then(|column| column.checked_sub(1)) else { return whole };
    let access = match site.access.as_str() {
        access if access.contains("read") => Access::Read,
        access if access.contains("write") || access.contains("update") || access == "free" => Access::Write,
        _ => Access::Call,
    };
    // For a call, mark the whole call, not only its argument.
    let expression = match access {
        Access::Call => None,
        Access::Read | Access::Write => source::span(&site.file, line, site.column, access),
    };
    expression.or_else(|| call(line, at)).unwrap_or(whole)
}

/// Returns the range from the byte `at` to the end of the word there, including the brackets after it.
fn call(line: &str, at: usize) -> Option<Range<usize>> {
    let text = line.get(at..)?;
    let word = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let mut depth = 0_usize;
    if text[word..].starts_with('(') {
        for (offset, letter) in text[word..].char_indices() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at..at + word + offset + 1);
            }
        }
        return Some(at..line.trim_end().len().max(at + word));
    }
    let letter = text.chars().next()?;
    Some(at..at + word.max(letter.len_utf8()))
}
