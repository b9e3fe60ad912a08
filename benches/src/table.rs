//! The one table that is printed.

use std::fmt;
use unicode_width::UnicodeWidthStr as _;

/// A figure and its unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A time, or a time per something.
    Seconds(f64),
    /// A number per second.
    PerSecond(f64),
    /// A ratio.
    Times(f64),
    /// Bytes per item.
    Bytes(f64),
    /// Memory.
    Mebibytes(f64),
    /// A published figure, measured elsewhere.
    Published(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Seconds(time) => {
                let (factor, unit) = match time.abs() {
                    time if time < 1e-6 => (1e9, "ns"),
                    time if time < 1e-3 => (1e6, "us"),
                    time if time < 1.0 => (1e3, "ms"),
                    _ => (1.0, "s"),
                };
                write!(f, "{} {unit}", three_digits(time * factor))
            }
            Self::PerSecond(rate) if rate >= 1e6 => write!(f, "{} M/s", three_digits(rate / 1e6)),
            Self::PerSecond(rate) if rate >= 1e3 => write!(f, "{} k/s", three_digits(rate / 1e3)),
            Self::PerSecond(rate) => write!(f, "{}/s", three_digits(rate)),
            Self::Times(factor) => write!(f, "{}x", three_digits(factor)),
            Self::Bytes(bytes) => write!(f, "{} B", three_digits(bytes)),
            Self::Mebibytes(mebibytes) => write!(f, "{} MiB", three_digits(mebibytes)),
            Self::Published(text) => f.write_str(text),
        }
    }
}

fn three_digits(number: f64) -> String {
    let digits = match number.abs() {
        number if number < 10.0 => 2,
        number if number < 100.0 => 1,
        _ => 0,
    };
    format!("{number:.digits$}")
}

/// The goal for a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// At most this.
    AtMost(Value),
    /// At least this.
    AtLeast(Value),
}

impl Goal {
    /// Returns the verdict about a measured figure.
    fn verdict(&self, measured: f64) -> String {
        // The relative distance from the goal.
        let miss = match self {
            Self::AtMost(limit) => measured / limit.number() - 1.0,
            Self::AtLeast(limit) => 1.0 - measured / limit.number(),
        };
        if miss <= 0.0 { "reached".to_owned() } else { format!("missed by {:.0} %", (miss * 100.0).ceil()) }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "<= {limit}"),
            Self::AtLeast(limit) => write!(f, ">= {limit}"),
        }
    }
}

impl Value {
    fn number(&self) -> f64 {
        match *self {
            Self::Seconds(number) | Self::PerSecond(number) | Self::Times(number) => number,
            Self::Bytes(number) | Self::Mebibytes(number) => number,
            Self::Published(_) => f64::NAN,
        }
    }
}

/// One line. Missing values are not shown.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the measurement.
    pub name: String,
    /// The plain program.
    pub plain: Option<Value>,
    /// The peer.
    pub peer: Option<Value>,
    /// RaceHunter.
    pub ours: Value,
    /// Their ratio.
    pub ratio: Option<f64>,
    /// The goal, and the figure to compare with it.
    pub goal: Option<(Goal, f64)>,
    /// Further remarks, below the table.
    pub notes: Vec<String>,
}

impl Row {
    /// Returns a row with only a figure.
    pub fn new(name: impl Into<String>, ours: Value) -> Self {
        Self { name: name.into(), plain: None, peer: None, ours, ratio: None, goal: None, notes: Vec::new() }
    }
}

/// Rows in order.
pub struct Table {
    rows: Vec<Row>,
    judged: bool,
}

impl Table {
    /// Returns a table without rows. Unless it is judged, it does not say whether goals were reached.
    pub fn new(judged: bool) -> Self {
        Self { rows: Vec::new(), judged }
    }

    /// Adds rows at the end.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["row", "plain", "peer", "ours", "ratio", "goal", "", "note"].map(str::to_owned);
        let mut notes = Vec::new();
        let mut lines = vec![head];
        for row in &self.rows {
            let shown = |value: &Option<Value>| value.as_ref().map(Value::to_string).unwrap_or_default();
            let (goal, verdict) = match &row.goal {
                Some((goal, measured)) if self.judged => (goal.to_string(), goal.verdict(*measured)),
                Some((goal, _)) => (goal.to_string(), "not judged".to_owned()),
                None => Default::default(),
            };
            let marks: Vec<String> = (notes.len() + 1..=notes.len() + row.notes.len()).map(|n| n.to_string()).collect();
            notes.extend(&row.notes);
            lines.push([
                row.name.clone(),
                shown(&row.plain),
                shown(&row.peer),
                row.ours.to_string(),
                row.ratio.map(|ratio| Value::Times(ratio).to_string()).unwrap_or_default(),
                goal,
                verdict,
                marks.join(" "),
            ]);
        }
        let width = |column: usize| lines.iter().map(|line| line[column].width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
        for (number, line) in lines.iter().enumerate() {
            let mut text = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                let space = " ".repeat(width - cell.width());
                // Figures to the right, words to the left.
                if (1..=4).contains(&column) {
                    text += &format!("{space}{cell}  ");
                } else {
                    text += &format!("{cell}{space}  ");
                }
            }
            writeln!(f, "{}", text.trim_end())?;
            if number == 0 {
                writeln!(f, "{}", "-".repeat(widths.iter().map(|width| width + 2).sum::<usize>() - 2))?;
            }
        }
        for (number, note) in notes.iter().enumerate() {
            writeln!(f, "{}. {note}", number + 1)?;
        }
        Ok(())
    }
}

/// Returns a number with a comma between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(Value::Seconds(0.000_000_020_04).to_string(), "20.0 ns");
        assert_eq!(Value::Seconds(0.000_12).to_string(), "120 us");
        assert_eq!(Value::Seconds(61.26).to_string(), "61.3 s");
        assert_eq!(Value::PerSecond(1_234_567.0).to_string(), "1.23 M/s");
        assert_eq!(Value::Times(0.4).to_string(), "0.40x");
        assert_eq!(thousands(1_300_000), "1,300,000");
        assert_eq!(thousands(999), "999");
    }

    #[test]
    fn a_verdict_says_by_how_much() {
        let at_most = Goal::AtMost(Value::Times(0.4));
        assert_eq!(at_most.verdict(0.4), "reached");
        assert_eq!(at_most.verdict(0.5), "missed by 25 %");
        let at_least = Goal::AtLeast(Value::Times(10.0));
        assert_eq!(at_least.verdict(12.0), "reached");
        assert_eq!(at_least.verdict(7.5), "missed by 25 %");
    }

    #[test]
    fn notes_are_numbered_over_all_rows() {
        let mut table = Table::new(true);
        let row = |name: &str, note: &str| Row {
            notes: vec![note.to_owned()],
            goal: Some((Goal::AtMost(Value::Seconds(1.0)), 2.0)),
            ..Row::new(name, Value::Seconds(2.0))
        };
        table.extend([row("first", "one"), row("second", "another")]);
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "first                2.00 s         <= 1.00 s  missed by 100 %  1");
        assert_eq!(&lines[4..], ["1. one", "2. another"]);
        table.judged = false;
        assert!(table.to_string().contains("<= 1.00 s  not judged"));
    }
}
