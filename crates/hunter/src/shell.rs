//! Command lines as text.

/// Quotes a word for a shell.
#[must_use]
pub fn quote(word: &str) -> String {
    // Leave characters unquoted that people would: shlex would quote an equals sign too.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let quoted = shlex::try_quote(word);
    // No argument of a program contains a zero byte.
    quoted.map_or_else(|_| word.replace('\0', ""), std::borrow::Cow::into_owned)
}

/// Joins words into one line for a shell.
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
        for word in ["--size=4", "", "it's", "b $c", "a\"b\\", "`id`", "new\nline"] {
            assert_eq!(shlex::split(&quote(word)), Some(vec![word.to_owned()]), "{word}");
        }
        let line = join(&["a".to_owned(), "b $c".to_owned()]);
        assert_eq!(shlex::split(&line), Some(vec!["a".to_owned(), "b $c".to_owned()]));
    }
}
