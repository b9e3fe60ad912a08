//! What the kinds of findings mean, as pages for a terminal.

use crate::kinds::{Lesson, lesson};
use racehunter_finding::Kind;
use std::fmt::Write as _;

/// Columns of a paragraph.
const WIDTH: usize = 78;

/// The page of a kind. The name may be as it stands in a report: `error[data-race]`.
///
/// # Errors
/// When there is no such kind: the names of all of them.
pub fn explain(name: &str) -> Result<String, String> {
    let plain = name.trim_end_matches(']').rsplit('[').next().unwrap_or(name);
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == plain);
    kind.map(|kind| page(&lesson(kind))).ok_or_else(|| Kind::ALL.map(Kind::name).join(", "))
}

/// All kinds, one line each.
#[must_use]
pub fn list() -> String {
    let mut text = String::new();
    for lesson in Kind::ALL.map(lesson) {
        let _ = writeln!(text, "{:<16}{}", lesson.kind.name(), lesson.title);
    }
    text
}

fn page(lesson: &Lesson) -> String {
    let mut text = format!("{}: {}\n\n{}\n\nFor example:\n\n", lesson.kind.name(), lesson.title, fill(lesson.meaning));
    for line in lesson.example.lines() {
        let _ = writeln!(text, "    {line}");
    }
    let _ = write!(text, "\nWhat usually helps:\n\n{}\n", fill(lesson.repair));
    text
}

/// Breaks a paragraph into lines that a terminal has room for.
fn fill(paragraph: &str) -> String {
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = textwrap::Options::new(WIDTH).break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&words, options.wrap_algorithm(textwrap::WrapAlgorithm::FirstFit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_fits_the_terminal() {
        for kind in Kind::ALL {
            let page = page(&lesson(kind));
            assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
            assert!(list().contains(kind.name()));
        }
    }
}
