//! Small helpers for text in columns.

use racehunter_finding::Finding;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of columns that the text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Returns the text without anything that could move the cursor, because reports quote foreign sources and output. Tabs
/// become four spaces.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => out.push_str("    "),
            '\n' => out.push(' '),
            _ if letter.is_control() || reorders(letter) => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

/// Returns true for invisible characters that change how their neighbours are displayed, so that the text reads
/// differently.
const fn reorders(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns a finding in which every text is [`clean`].
///
/// # Panics
/// Never: what was written can be read.
#[must_use]
pub fn cleaned(finding: &Finding) -> Finding {
    fn walk(value: &mut Value) {
        match value {
            Value::String(text) => *text = clean(text),
            Value::Array(values) => values.iter_mut().for_each(walk),
            Value::Object(fields) => fields.values_mut().for_each(walk),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let clean = serde_json::to_value(finding).and_then(|mut value| {
        walk(&mut value);
        serde_json::from_value(value)
    });
    clean.expect("a finding survives JSON")
}

/// Returns at most `columns` of the text; marks the place where it is cut off.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(letter);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// Returns the text and spaces up to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// `1 preemption`, `2 preemptions`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Breaks the text into lines of at most `columns` at spaces.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            if line.is_empty() {
                line.push_str(word);
                continue;
            }
            if width(line) + 1 + width(word) <= columns {
                line.push(' ');
                line.push_str(word);
                continue;
            }
        }
        lines.push(word.to_owned());
    }
    lines
}

/// Returns a qualified name without its outer parts if it is too long: `TestBody::{lambda}`.
pub(crate) fn within(name: &str, columns: usize) -> &str {
    let mut name = name;
    while width(name) > columns
        && let Some((_, inner)) = name.split_once("::").filter(|(_, inner)| inner.contains("::"))
    {
        name = inner;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_keeps_to_the_columns() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("abcdef", 0), "");
        assert!(width(&shorten("日本語日本語", 5)) <= 5);
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(clean("a\tb\x1b[31m\r"), "a    b\u{fffd}[31m\u{fffd}");
        assert_eq!(
            clean("a\u{202e}b\u{2066}c\u{200b}d\u{2028}e\u{feff}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}"
        );
        assert_eq!(clean("größer, 日本語, é"), "größer, 日本語, é");
    }

    #[test]
    fn long_names_lose_their_outer_parts() {
        let name = "Stock_NeverSells_Test::TestBody::{lambda}";
        assert_eq!(
            [50, 40, 18, 3].map(|columns| within(name, columns)),
            [name, "TestBody::{lambda}", "TestBody::{lambda}", "TestBody::{lambda}"]
        );
        assert_eq!(within("a_function_without_scopes", 3), "a_function_without_scopes");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("unbreakable word", 4), ["unbreakable", "word"]);
    }
}
