//! Command lines as text.

/// A word as the shell reads it back.
#[must_use]
pub fn quote(word: &str) -> String {
    let quoted = shlex::try_quote(word);
    // No argument of a program has a zero byte.
    quoted.map_or_else(|_| word.replace('\0', ""), std::borrow::Cow::into_owned)
}

/// Words as one line that the shell takes apart again.
#[must_use]
pub fn join(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{join, quote};

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quote("--size=4"), "--size=4");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(join(&["a".to_owned(), "b $c".to_owned()]), "a 'b $c'");
    }
}
