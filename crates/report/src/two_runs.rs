//! A recorded run beside a predicted one: what happened, what could have happened, and where they part.

use serde::Serialize;
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Two runs that begin with the same events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TwoRuns {
    /// The number of events that they have in common at the start.
    pub common: u64,
    /// What happened after that, as far as the prediction is about it.
    pub happened: Vec<Turn>,
    /// What could have happened instead.
    pub could_have: Vec<Turn>,
}

/// Successive events of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The thread; empty for turns that are left out.
    pub thread: String,
    /// How many events, or how many turns are left out.
    pub events: u64,
    /// Its last event.
    pub what: String,
    /// Where that is in the source, as `file:line`.
    pub place: String,
    /// The event is part of the bug.
    pub culprit: bool,
    /// It has not happened yet: it is about to.
    pub about_to: bool,
}

/// Columns of text on each side.
const WIDTH: usize = 50;

impl Turn {
    fn text(&self) -> String {
        if self.thread.is_empty() {
            return format!("    ... {} more turns", self.events);
        }
        let mark = if self.culprit { ">>" } else { "  " };
        let before = match (self.about_to, self.events) {
            (true, _) => "is about to ".to_owned(),
            (false, 0 | 1) => String::new(),
            (false, events) => format!("... {} events, then ", events - 1),
        };
        let name = self.place.rsplit('/').next().unwrap_or_default();
        format!("{mark} {}: {before}{} {name}", self.thread, self.what).trim_end().to_owned()
    }
}

impl TwoRuns {
    /// Returns them side by side, for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            format!("   the two runs are the same for {}, then part:\n", crate::text::count(self.common, "event"));
        let _ = writeln!(text, "   {} | what could have happened", padded("what happened"));
        for row in 0..self.happened.len().max(self.could_have.len()) {
            let side = |turns: &[Turn]| turns.get(row).map(Turn::text).unwrap_or_default();
            let line = format!("   {} | {}", padded(&side(&self.happened)), side(&self.could_have));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// Returns text with exactly as many columns as one side has.
fn padded(text: &str) -> String {
    let mut short = String::new();
    let mut width = 0;
    for character in text.chars() {
        let next = width + character.width().unwrap_or(0);
        if next > WIDTH - 1 && text.width() > WIDTH {
            short.push('~');
            width += 1;
            break;
        }
        short.push(character);
        width = next;
    }
    short + &" ".repeat(WIDTH.saturating_sub(width))
}

#[cfg(test)]
mod tests {
    use super::{Turn, TwoRuns};

    fn turn(thread: &str, events: u64, what: &str, about_to: bool) -> Turn {
        let place = "src/queue.c:7".to_owned();
        Turn { thread: thread.to_owned(), events, what: what.to_owned(), place, culprit: about_to, about_to }
    }

    #[test]
    fn rows_are_aligned_and_long_ones_are_cut() {
        let runs = TwoRuns {
            common: 3,
            happened: vec![
                turn("T1", 4, "unlock mutex", false),
                turn("T2", 1, "write a_name_that_goes_on_and_on_and_on", false),
            ],
            could_have: vec![turn("T2", 1, "write x", true)],
        };
        let text = runs.text();
        insta::assert_snapshot!(text, @"
           the two runs are the same for 3 events, then part:
           what happened                                      | what could have happened
              T1: ... 3 events, then unlock mutex queue.c:7   | >> T2: is about to write x queue.c:7
              T2: write a_name_that_goes_on_and_on_and_on qu~ |
        ");
    }
}
