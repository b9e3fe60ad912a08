//! Small helpers for text in columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that the text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text without anything that could move the cursor: reports quote sources and output that we did not write.
/// Tabs become four spaces.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => out.push_str("    "),
            '\n' => out.push(' '),
            _ if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

/// At most `columns` of the text; what is cut off at the end is marked.
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

/// The text and spaces up to `columns`.
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
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("unbreakable word", 4), ["unbreakable", "word"]);
    }
}
