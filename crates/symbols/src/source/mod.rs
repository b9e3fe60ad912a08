//! How the source spells what an instruction touches.
//!
//! Debug information gives an access a line and a column, but no name. The column is reliable, though: for clang it
//! is the operator of an assignment or increment, the member's name of `a->b`, and the start of everything else. From
//! there a small lexer finds the expression on that line. It understands no types and no macros; if a line could mean
//! more than one thing, the answer is `None` or the longest expression that starts there.
//!
//! Pure functions over one line of text; start at [`span`].

mod lexer;
mod spell;

use std::ops::Range;
use std::path::Path;

use lexer::tokens;
use spell::Line;

/// What the instruction does with the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it, or reads and writes it.
    Write,
    /// Calls a function on it, such as `lock`; also every outer frame of an access in inlined library code.
    Call,
}

/// Maximum length of an expression that is shown as a name.
const LONGEST: usize = 60;

/// File extensions of sources.
const ENDINGS: [&str; 32] = [
    "c", "cc", "cp", "cpp", "cxx", "c++", "h", "hh", "hp", "hpp", "hxx", "h++", "i", "ii", "inc", "inl", "ipp", "ixx",
    "tcc", "tpp", "txx", "def", "cppm", "m", "mm", "s", "l", "y", "ll", "yy", "in", "rs",
];
/// Maximum size of a source file.
const MOST: u64 = 64 << 20;

/// Returns the lines of a source file, if it can be read. Invalid UTF-8 is replaced.
///
/// The name comes from the program, which can name any file as its source (`#line 1 "/etc/passwd"`): only files with
/// the name of a source are read and quoted.
#[must_use]
pub fn lines(file: &Path) -> Option<Vec<String>> {
    let found = std::fs::metadata(file).ok()?;
    if !is_source(file) || !found.is_file() || found.len() > MOST {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

/// Returns true if a file has the name of a source.
#[must_use]
pub fn is_source(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// Returns the bytes of `line` that spell what is accessed at the column (counted from 1, in bytes).
#[must_use]
pub fn span(file: &str, line: &str, column: u32, access: Access) -> Option<Range<usize>> {
    spelling(file, line, column, access).map(|spelling| spelling.range)
}

/// Returns the text of the expression at the column: [`span`], with a `*` where the source has a pointer but the memory
/// behind it is meant.
#[must_use]
pub fn expression(file: &str, line: &str, column: u32, access: Access) -> Option<String> {
    let spelling = spelling(file, line, column, access)?;
    let text = line.get(spelling.range)?.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let simple = text.chars().all(|letter| letter.is_alphanumeric() || "_->.[]:".contains(letter));
    Some(match (spelling.behind, simple) {
        (false, _) => text,
        (true, true) => format!("*{text}"),
        (true, false) => format!("*({text})"),
    })
}

/// Returns the assignment target of the call at the column, in the same statement: `q->head` for `q->head =
/// malloc(8);`.
#[must_use]
pub fn assigned(line: &str, column: u32) -> Option<&str> {
    let start = usize::try_from(column.checked_sub(1)?).ok()?;
    let tokens = tokens(line);
    let at = tokens.iter().position(|token| token.range.contains(&start))?;
    let range = Line { text: line, tokens: &tokens }.assigned(at)?;
    line.get(range).filter(|text| text.len() <= LONGEST)
}

fn spelling(file: &str, line: &str, column: u32, access: Access) -> Option<spell::Spelling> {
    let start = usize::try_from(column.checked_sub(1)?).ok()?;
    let tokens = tokens(line);
    let at = tokens.iter().position(|token| token.range.contains(&start))?;
    let line = Line { text: line, tokens: &tokens };
    let called = || line.called_member(at).filter(|_| file.ends_with(".c") && access == Access::Read);
    if let Some(member) = called() {
        return Some(member);
    }
    if file.ends_with(".rs") { line.rust(at) } else { line.accessed(at, access).filter(|found| !line.declares(found)) }
}

#[cfg(test)]
mod tests;
