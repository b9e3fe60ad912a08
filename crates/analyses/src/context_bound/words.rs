//! Parses the option values of the search.

use super::{BoundKind, Reduction, Strategy};
use std::str::FromStr;

/// An option value that is not valid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{word}` is not one of {expected}")]
pub struct UnknownWord {
    /// The value.
    pub word: String,
    /// The valid values.
    pub expected: &'static str,
}

impl FromStr for BoundKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "preemptions" => Ok(Self::Preemptions),
            "switches" => Ok(Self::Switches),
            _ => Err(UnknownWord { word: word.to_owned(), expected: "preemptions, switches" }),
        }
    }
}

impl FromStr for Reduction {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "caching" => Ok(Self::Caching),
            "dynamic" => Ok(Self::Dynamic),
            _ => Err(UnknownWord { word: word.to_owned(), expected: "caching, dynamic" }),
        }
    }
}

impl FromStr for Strategy {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let unknown = || UnknownWord { word: word.to_owned(), expected: "random, min-switches, fair=N (N > 0)" };
        match word {
            "random" => Ok(Self::Random),
            "min-switches" => Ok(Self::MinSwitches),
            _ => {
                let limit = word.strip_prefix("fair=").and_then(|limit| limit.parse().ok());
                limit.filter(|&limit| limit > 0).map(Self::Fair).ok_or_else(unknown)
            }
        }
    }
}

impl std::fmt::Display for Reduction {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Caching => "caching",
            Self::Dynamic => "dynamic",
        })
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Random => out.write_str("random"),
            Self::MinSwitches => out.write_str("min-switches"),
            Self::Fair(events) => write!(out, "fair={events}"),
        }
    }
}

/// Returns the noun for this many.
pub(super) fn plural(count: u32, noun: &str) -> String {
    match (count, noun) {
        (1, _) => noun.to_owned(),
        (_, "switch") => "switches".to_owned(),
        _ => format!("{noun}s"),
    }
}
