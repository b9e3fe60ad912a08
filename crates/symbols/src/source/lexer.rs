//! Tokens of one line of C, C++ or Rust.

use std::ops::Range;

/// The kind of a token, as far as finding expressions needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A name.
    Name,
    /// A keyword that an operand follows, such as `return`.
    Keyword,
    /// A number, a character or a string.
    Literal,
    /// Everything else.
    Sign,
}

/// A token and its bytes in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) class: Class,
    pub(super) range: Range<usize>,
}

/// Longest first, so that the longest match wins.
const SIGNS: [&str; 27] = [
    "<<=", ">>=", "->*", "...", "<=>", "->", "++", "--", "::", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "==", "!=", "<=", ">=", "&&", "||", "##", ".*",
];

const KEYWORDS: [&str; 20] = [
    "return",
    "case",
    "else",
    "do",
    "delete",
    "new",
    "throw",
    "sizeof",
    "alignof",
    "co_return",
    "co_yield",
    "co_await",
    "goto",
    "if",
    "while",
    "for",
    "switch",
    "in",
    "not",
    "typeof",
];

/// Returns the tokens of a line, without comments and white space.
pub(super) fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = line.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &line[at..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            break;
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            let (class, length) = token(rest, first);
            tokens.push(Token { class, range: at..at + length });
            length
        };
        at += length;
    }
    tokens
}

/// Returns the class and length of the token at the start of the text.
fn token(text: &str, first: char) -> (Class, usize) {
    let while_true = |wanted: fn(char) -> bool| text.find(|letter: char| !wanted(letter)).unwrap_or(text.len());
    if first.is_alphabetic() || first == '_' || first == '$' {
        let length = while_true(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$');
        let class = if KEYWORDS.contains(&&text[..length]) { Class::Keyword } else { Class::Name };
        return (class, length);
    }
    if first.is_ascii_digit() {
        // Exponents with a sign are split in two, which does no harm here.
        return (Class::Literal, while_true(|letter| letter.is_alphanumeric() || letter == '.' || letter == '\''));
    }
    if first == '"' || first == '\'' {
        return (Class::Literal, quoted(text, first));
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign));
    (Class::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
}

/// Returns the length of a quoted text with its quotes; up to the end of the line if it is not closed.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}
