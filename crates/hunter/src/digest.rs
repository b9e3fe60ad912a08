//! Digests that name files. They do not depend on the compiler that built the tool, so that tools of different builds
//! find each other's files.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Returns the SHA-256 in hexadecimal, by which witnesses identify files.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns a hash of a list of texts, including their boundaries.
pub(crate) fn number<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    /// A change here would make campaigns and programs of earlier versions unusable.
    #[test]
    fn numbers_stay_as_they_are() {
        assert_eq!(number([&b"a"[..], b"bc"]), 0x9a8a_cca1_b6c6_c0be);
        assert_ne!(number([&b"a"[..], b"bc"]), number([&b"ab"[..], b"c"]));
    }
}
