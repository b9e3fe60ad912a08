//! Parts of a divided campaign.

use std::str::FromStr;

/// One of the parts into which a campaign was divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 1.
    number: u32,
    /// The number of parts.
    of: u32,
}

/// An invalid part on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a part: use K/N with K from 1 to N")]
pub struct NoPart(String);

impl Default for Part {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl Part {
    /// The undivided campaign.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Returns part `number`, from 1, of `of`.
    #[must_use]
    pub const fn new(number: u32, of: u32) -> Option<Self> {
        if number >= 1 && number <= of { Some(Self { number, of }) } else { None }
    }

    /// Returns its number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of parts.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of
    }

    /// Returns whether the campaign is not divided.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Returns whether this hash belongs to the part. Each hash belongs to exactly one of the parts.
    #[must_use]
    pub const fn owns(self, hash: u64) -> bool {
        // The upper bits of a product are mixed best.
        let mixed = (hash ^ (hash >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        mixed % self.of as u64 == self.number as u64 - 1
    }
}

impl FromStr for Part {
    type Err = NoPart;

    fn from_str(word: &str) -> Result<Self, NoPart> {
        let part = word.split_once('/').and_then(|(number, of)| Self::new(number.parse().ok()?, of.parse().ok()?));
        part.ok_or_else(|| NoPart(word.to_owned()))
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hash_belongs_to_one_part() {
        for of in 1..=7 {
            let mut sizes = vec![0; of as usize];
            for hash in 0..7_000_u64 {
                let owners: Vec<u32> =
                    (1..=of).filter(|&number| Part::new(number, of).is_some_and(|part| part.owns(hash))).collect();
                assert_eq!(owners.len(), 1);
                sizes[owners[0] as usize - 1] += 1;
            }
            assert!(sizes.iter().all(|&size| size * of > 6_000), "{sizes:?}");
        }
    }

    #[test]
    fn parts_are_parsed_and_printed() {
        assert_eq!("3/16".parse(), Ok(Part { number: 3, of: 16 }));
        assert_eq!(Part::new(3, 16).map(|part| part.to_string()).as_deref(), Some("3/16"));
        for word in ["0/4", "5/4", "3", "3/", "/3", "a/b", "-1/4", ""] {
            assert!(word.parse::<Part>().is_err(), "{word}");
        }
    }
}
