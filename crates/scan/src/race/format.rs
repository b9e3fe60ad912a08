//! Formats of `printf` and related functions: whether one of them writes to its arguments, or prints addresses.

use crate::pointer::address::Base;
use crate::pointer::{InstanceId, PointsTo};
use racehunter_ir::{Operand, SymbolKind};

/// Returns true if a format may contain `%n`, which writes.
pub fn may_count(points_to: &PointsTo<'_>, id: InstanceId, format: &Operand) -> bool {
    may_convert(points_to, id, format, b'n')
}

/// Returns true if a format may contain a conversion. It cannot if it is a constant text with other characters.
pub fn may_convert(points_to: &PointsTo<'_>, id: InstanceId, format: &Operand, wanted: u8) -> bool {
    let addresses = points_to.operand(id, format);
    addresses.is_empty()
        || addresses.iter().any(|(base, offset)| {
            let Base::Variable(variable) = *points_to.describe(base) else { return true };
            let kind = points_to.program.variable_kind(variable);
            let SymbolKind::Variable { constant: true, defined: true, numbers: Some(numbers), .. } = kind else {
                return true;
            };
            // It may start anywhere in the text.
            let begin = offset.only().unwrap_or(0);
            let mut text: Vec<(u64, u8)> = Vec::new();
            for number in numbers {
                match u8::try_from(number.value) {
                    Ok(letter) if number.bytes == 1 => text.push((number.at, letter)),
                    // Characters outside ASCII are negative, and not part of a conversion.
                    _ if number.bytes == 1 => text.push((number.at, 0x80)),
                    _ => return true,
                }
            }
            text.sort_unstable();
            let letters = text.into_iter().filter(|(at, _)| i64::try_from(*at).is_ok_and(|at| at >= begin));
            converts(letters.map(|(_, letter)| letter), wanted)
        })
}

/// Returns true if a text has a conversion with this letter. Digits and signs may stand between `%` and the letter of a
/// conversion.
fn converts(text: impl Iterator<Item = u8>, wanted: u8) -> bool {
    let mut is_inside = false;
    for letter in text {
        is_inside = match letter {
            b'%' => !is_inside,
            _ if is_inside && letter == wanted => return true,
            b'0'..=b'9'
            | b'-'
            | b'+'
            | b' '
            | b'#'
            | b'.'
            | b'*'
            | b'\''
            | b'$'
            | b'h'
            | b'l'
            | b'j'
            | b'z'
            | b't'
            | b'L'
            | b'q'
            | b'w'
            | b'I' => is_inside,
            _ => false,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::converts;

    #[test]
    fn addresses_that_are_printed_are_found() {
        assert!(converts(b"%s at %p".iter().copied(), b'p') && converts(b"%-16p".iter().copied(), b'p'));
        assert!(!converts(b"%d people, %%p".iter().copied(), b'p'));
    }

    #[test]
    fn conversions_that_write_are_found() {
        for text in ["%n", "%s %n", "%%%n", "%*d%hhn", "%1$n", "%-5lln"] {
            assert!(converts(text.bytes(), b'n'), "{text}");
        }
        for text in ["", "n", "%%n", "%dn", "%s name", "100% known"] {
            assert!(!converts(text.bytes(), b'n'), "{text}");
        }
    }
}
