//! Tables that are printed row by row, while the rest is still being computed.

use std::time::Duration;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// The columns: their headings, least widths and alignment.
pub struct Table<const N: usize> {
    columns: [(&'static str, usize, Align); N],
}

impl<const N: usize> Table<N> {
    /// Returns a table; a column is at least as wide as its heading.
    pub fn new(columns: [(&'static str, usize, Align); N]) -> Self {
        Self { columns: columns.map(|(heading, width, align)| (heading, width.max(heading.len()), align)) }
    }

    /// Returns the headings, and a line below them.
    pub fn heading(&self) -> String {
        let names = self.row(self.columns.map(|(heading, ..)| heading.to_owned()));
        let width = self.columns.iter().map(|(_, width, _)| width + 2).sum::<usize>() - 2;
        format!("{names}\n{}", "-".repeat(width))
    }

    /// Returns one row. A cell that is too wide pushes the rest to the right.
    pub fn row(&self, cells: [String; N]) -> String {
        let mut line = String::new();
        for (cell, (_, width, align)) in cells.iter().zip(&self.columns) {
            line += &match align {
                Align::Left => format!("{cell:<width$}  "),
                Align::Right => format!("{cell:>width$}  "),
            };
        }
        line.trim_end().to_owned()
    }
}

/// Returns a number with a comma between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Formats a time.
pub fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 60.. => format!("{} m {:02} s", seconds / 60, seconds % 60),
        10..60 => format!("{:.0} s", time.as_secs_f64()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// Joins one value per backend; equal values are shown once.
pub fn together(values: &[String]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
        _ => values.join(" / "),
    }
}
