//! Command lines as text.

/// A word as the shell reads it back.
pub fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Words as one line that the shell takes apart again.
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
