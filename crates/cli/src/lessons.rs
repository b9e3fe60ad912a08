//! `racehunter explain`: what a kind of finding means.

use crate::exit::{Exit, advise};
use anyhow::{Context as _, Result};
use racehunter_finding::Kind;
use racehunter_report::kinds::{Lesson, lesson};
use std::fmt::Write as _;
use std::io::Write as _;

/// Explains one kind, or lists all of them.
pub fn run(name: Option<&str>) -> Result<Exit> {
    let text = match name {
        None => list(),
        Some(name) => {
            // As it stands in a report: `error[data-race]`.
            let plain = name.trim_end_matches(']').rsplit('[').next().unwrap_or(name);
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == plain).ok_or_else(|| {
                let names = Kind::ALL.map(Kind::name).join(", ");
                advise(format!("there is no kind of finding `{name}`"), format!("the kinds are {names}"))
            })?;
            page(&lesson(kind))
        }
    };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write")?;
    Ok(Exit::Clean)
}

fn list() -> String {
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
    const WIDTH: usize = 78;
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
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
