//! Phrases that do not belong in comments, messages and documents: each has a plainer word, which the table names.
//!
//! The filter is a floor: text that passes may still be bad, but these phrases cannot come back.

use super::{files, name, read};
use crate::shell::root;
use anyhow::Result;

/// A phrase in lower case, and what to write instead.
const PHRASES: [(&str, &str); 17] = [
    ("so many", "this many, or the number itself"),
    ("is none of", "is not one of"),
    ("whoever", "the thread, process or user that is meant"),
    ("nobody", "no thread, no process, or the passive"),
    ("anybody", "any thread or process"),
    ("somebody", "another thread or process"),
    ("is told", "is reported, is named, or learns"),
    ("are told", "are reported, are named, or learn"),
    ("was told", "was reported, was named, or learned"),
    ("told apart", "distinguished"),
    ("hunted in", "hunted"),
    ("its like", "similar ones"),
    ("goes on", "continues"),
    ("went on", "continued"),
    ("comes to its end", "ends"),
    ("came to its end", "ended"),
    ("the clock on the wall", "wall-clock time, real time"),
];

pub(super) fn check() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for directory in ["crates", "xtask", "tests", "benches", "fuzz"] {
        for file in files(&root().join(directory), "rs")? {
            // The table above contains every phrase.
            if !file.ends_with("architecture/words.rs") {
                wrong.extend(phrases(&name(&file), &read(&file)?, prose_of_code));
            }
        }
    }
    for file in super::documents::documents()? {
        wrong.extend(phrases(&name(&file), &read(&file)?, |line| Some(line.to_owned())));
    }
    Ok(wrong)
}

/// Returns the phrases in a text, with their places. `prose` extracts the text to check from a line.
fn phrases(file: &str, text: &str, prose: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some(line) = prose(line).map(|line| line.to_lowercase()) else { continue };
        for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| has_words(&line, phrase)) {
            found.push(format!("{file}:{number}: `{phrase}`; write: {instead}"));
        }
    }
    found
}

/// Returns the comment or the string literals of a line of Rust.
fn prose_of_code(line: &str) -> Option<String> {
    if let Some(comment) = line.trim_start().strip_prefix("//") {
        return Some(comment.to_owned());
    }
    let strings: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    (!strings.is_empty()).then(|| strings.join(" "))
}

/// Returns whether a text contains a phrase as whole words.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
    text.match_indices(phrase)
        .any(|(at, _)| is_edge(text[..at].chars().next_back()) && is_edge(text[at + phrase.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_in_comments_and_strings_only() {
        let text =
            "// A thread goes on.\nlet goes_on = 1; // unrelated\nbail!(\"Nobody is there\");\n/// It undergoes on.\n";
        let found = phrases("a.rs", text, prose_of_code);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.rs:1: `goes on`") && found[1].starts_with("a.rs:3: `nobody`"), "{found:?}");
    }
}
