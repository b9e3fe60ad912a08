//! Identity of a finding.

use crate::Kind;

/// Returns a short id from what makes two findings the same bug: the kind and the places (`file:line:function`),
/// without addresses, thread numbers or order, so that it survives other schedules, other machines and unrelated edits
/// of other files.
#[must_use]
pub fn fingerprint(kind: Kind, places: &[String]) -> String {
    let mut places: Vec<&str> = places.iter().map(String::as_str).collect();
    places.sort_unstable();
    places.dedup();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let text = std::iter::once(kind.name()).chain(places);
    for byte in text.flat_map(|part| part.bytes().chain(std::iter::once(0))) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    // Fold to 32 bits: long enough that two bugs of one program do not collide, short enough to type.
    format!("{:08x}", (hash >> 32) as u32 ^ hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_places_does_not_matter() {
        let (a, b) = ("a.c:1:f".to_owned(), "b.c:2:g".to_owned());
        assert_eq!(
            fingerprint(Kind::DataRace, &[a.clone(), b.clone()]),
            fingerprint(Kind::DataRace, &[b.clone(), a.clone()])
        );
        assert_ne!(fingerprint(Kind::DataRace, std::slice::from_ref(&a)), fingerprint(Kind::DataRace, &[b]));
        assert_ne!(
            fingerprint(Kind::DataRace, std::slice::from_ref(&a)),
            fingerprint(Kind::Crash, std::slice::from_ref(&a))
        );
    }
}
