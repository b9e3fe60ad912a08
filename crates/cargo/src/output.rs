//! What is said on the way, on standard error.

use clap::ArgMatches;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Nothing but errors.
    Quiet,
    /// What is done.
    Normal,
}

impl Voice {
    /// As the command line asks for it.
    pub fn of(matches: &ArgMatches) -> Self {
        if matches.get_flag("quiet") { Self::Quiet } else { Self::Normal }
    }

    /// A word, and more about it, as cargo does it.
    pub fn say(self, word: &str, text: &str) {
        if self == Self::Normal {
            eprintln!("{word:>12} {text}");
        }
    }
}

/// Returns a number of things, with an s when there are several.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
