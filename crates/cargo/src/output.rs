//! Messages on standard error.

use clap::ArgMatches;

/// How much to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Nothing but errors.
    Quiet,
    /// Progress and errors.
    Normal,
}

impl Voice {
    /// Reads the choice from the command line.
    pub fn of(matches: &ArgMatches) -> Self {
        if matches.get_flag("quiet") { Self::Quiet } else { Self::Normal }
    }

    /// Prints a word and a text, as cargo does.
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
