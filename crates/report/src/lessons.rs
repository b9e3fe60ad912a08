//! Explanations of the kinds of findings, as pages for a terminal.

use crate::kinds::{Lesson, lesson};
use racehunter_finding::Kind;
use std::fmt::Write as _;

/// Columns of a paragraph.
const WIDTH: usize = 78;

/// Returns the page of a kind. The name may be as it stands in a report: `error[data-race]`.
///
/// # Errors
/// When there is no such kind: the names of all of them.
pub fn explain(name: &str) -> Result<String, String> {
    let plain = name.trim_end_matches(']').rsplit('[').next().unwrap_or(name);
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == plain);
    kind.map(|kind| page(&lesson(kind))).ok_or_else(|| Kind::ALL.map(Kind::name).join(", "))
}

/// Returns all kinds, one line each.
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

/// Breaks a paragraph into lines that fit a terminal.
fn fill(paragraph: &str) -> String {
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = textwrap::Options::new(WIDTH).break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&words, options.wrap_algorithm(textwrap::WrapAlgorithm::FirstFit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn a_page_has_every_word_of_its_lesson_in_order() {
        for kind in Kind::ALL {
            let lesson = lesson(kind);
            let parts = [kind.name(), ":", lesson.title, lesson.meaning, "For example:", lesson.example];
            let whole = [&parts[..], &["What usually helps:", lesson.repair]].concat().join(" ").replacen(" :", ":", 1);
            let page = explain(kind.name()).expect("every kind has a page");
            assert_eq!(words(&page), words(&whole), "{}", kind.name());
        }
    }

    #[test]
    fn pages_and_list_fit_eighty_columns() {
        let pages = Kind::ALL.map(|kind| page(&lesson(kind)));
        for line in pages.iter().flat_map(|page| page.lines()).chain(list().lines()) {
            assert!(line.chars().count() <= 80, "too long: {line}");
        }
    }

    #[test]
    fn a_kind_is_found_by_the_words_of_a_report() {
        for kind in Kind::ALL {
            let page = explain(kind.name()).expect("every kind has a page");
            assert!(page.starts_with(&format!("{}: ", kind.name())), "{page}");
            assert_eq!(explain(&format!("error[{}]", kind.name())), Ok(page));
        }
    }

    #[test]
    fn an_unknown_kind_is_answered_with_the_names_of_all() {
        let names = explain("data-rac").expect_err("there is no such kind");
        assert_eq!(names.split(", ").collect::<Vec<_>>(), Kind::ALL.map(Kind::name));
    }

    #[test]
    fn the_list_has_one_line_per_kind_and_no_title_twice() {
        let list = list();
        let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, Kind::ALL.map(Kind::name));
        let titles: std::collections::BTreeSet<&str> = list.lines().map(|line| line[16..].trim()).collect();
        assert_eq!(titles.len(), Kind::ALL.len(), "{titles:?}");
        assert!(!titles.contains(""), "{titles:?}");
    }
}
