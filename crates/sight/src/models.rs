//! What C library functions do to their callers' memory, and to their own state.
//!
//! An entry is a line: names, a colon, then the accesses of a call. The runtime announces those that are known before the call,
//! and adds those that depend on its result when it has returned. An access is
//!
//! ```text
//! [>] direction place [length] [condition]
//! ```
//!
//! | part | |
//! |---|---|
//! | `>` | known only when the call has returned; before it, the place is a scheduling point and nothing more |
//! | direction | `r` read, `w` written, `m` read and written, `a` changed under a lock of the library's own: a point, never a race |
//! | place | `2` the memory argument 2 points to, `~2` the same for a stream, which matters whatever else is known, `*2` that to which the pointer there points, `=` what the result points to, `$name` hidden state, `@name` a variable of the library that programs can use |
//! | length | `.8` bytes, `s` a string with its end, `s2` a string, limited to the number of bytes in argument 2, `l1` as long as the string at argument 1, `n2` argument 2, `n1x2` their product, `n2k4` four times argument 2, `u2` argument 2 without its last bit, `p1` a byte for each page of argument 1, `f0` a set of as many descriptors as argument 0 says, `i2` the number at argument 2, `v` the result, `v2` the same, at most argument 2, `vk4` four times it, `vx1` times argument 1, `j` the result and one more, `j2` the same, at most argument 2, `e` up to where the result points, or the whole string, `e2` the same for a block |
//! | | `z`, `z2`, `y1`, `t2` and `q`: as `s`, `s2`, `l1`, `j2` and `e`, for wide characters |
//! | condition | `?` the result is not zero, `!` it is zero, `+` it is not negative, `^` it is positive |
//!
//! `#word` is a routine of the runtime, for what has no such form. `&` means that the model is incomplete: the call
//! is also noted as not seen. Sizes are those of x86-64.
//!
//! State that POSIX allows to race inside the library, and that the GNU C library protects by a lock (`rand`), is
//! `a`: schedules with a different order are explored, and no race is reported.

mod functions;
mod hidden;

pub use functions::ALL;
pub use hidden::HIDDEN;

/// One access of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch<'a> {
    /// Whether it is known only when the call has returned.
    pub is_after: bool,
    /// What happens to the memory.
    pub direction: Direction,
    /// The memory.
    pub place: Place<'a>,
    /// The number of bytes.
    pub length: Length,
    /// The condition on the result.
    pub condition: Condition,
}

/// What happens to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read, then written.
    Modify,
    /// It is changed under a lock that is not seen.
    Locked,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// What an argument points to.
    Argument(u8),
    /// The stream that an argument points to.
    Stream(u8),
    /// What the pointer behind an argument points to.
    Behind(u8),
    /// What the result points to.
    Result,
    /// State inside the library.
    Hidden(&'a str),
    /// A variable of the library that programs can use too.
    Variable(&'a str),
}

/// The number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A fixed number of bytes.
    Bytes(u32),
    /// A string with its terminator, with characters of a given size, at most as many as an argument says.
    Text(u8, Option<u8>),
    /// As long as the string that another argument points to.
    As(u8, u8),
    /// An argument, times another, times a number.
    Product(u8, Option<u8>, u32),
    /// An argument, rounded down to an even number.
    Even(u8),
    /// A byte for each page of as many bytes as an argument says.
    Pages(u8),
    /// A set of descriptors.
    Descriptors(u8),
    /// The result, times an argument, times a number.
    Result(Option<u8>, u32),
    /// The result, at most an argument.
    ResultUpTo(u8),
    /// The result plus one, in units of some bytes, at most as many as an argument says.
    ResultAndOne(u8, Option<u8>),
    /// The 32-bit number that an argument points to.
    Pointed(u8),
    /// Up to where the result points; otherwise the whole string of characters of a size, or as many bytes as an argument says.
    UpToResult(u8, Option<u8>),
}

/// The condition on the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Anything.
    Always,
    /// Not zero.
    Something,
    /// Zero.
    Zero,
    /// Not negative.
    Success,
    /// Positive.
    Positive,
}

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// An access.
    Touch(Touch<'a>),
    /// A routine of the runtime, and its number.
    Routine(&'a str, u8),
    /// The model is incomplete.
    Partly,
}

/// Returns whether a routine only notes calls that fail after they have written an unknown amount: `halts0` if the result is then
/// negative, `halts1` if it is zero, `short12` if fewer items were read than argument 2 says, each of as many bytes as argument 1
/// says.
#[must_use]
pub fn is_about_failures(routine: &str) -> bool {
    matches!(routine, "halts" | "short")
}

/// Returns the model of a function, by its linker name.
#[must_use]
pub fn of(name: &str) -> Option<&'static str> {
    exactly(name).or_else(|| crate::plain(name).and_then(exactly))
}

/// Returns the model for exactly this name.
pub(crate) fn exactly(name: &str) -> Option<&'static str> {
    ALL.iter().find_map(|(names, model)| names.split_ascii_whitespace().any(|known| known == name).then_some(*model))
}

/// Returns the parts of a model, up to the first that is not understood.
pub fn parts(model: &str) -> impl Iterator<Item = Part<'_>> {
    model.split_ascii_whitespace().map_while(part)
}

fn part(text: &str) -> Option<Part<'_>> {
    if text == "&" {
        return Some(Part::Partly);
    }
    if let Some(routine) = text.strip_prefix('#') {
        let end = routine.find(|letter: char| letter.is_ascii_digit()).unwrap_or(routine.len());
        return Some(Part::Routine(&routine[..end], routine[end..].parse().unwrap_or(u8::MAX)));
    }
    let (is_after, text) = match text.strip_prefix('>') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (direction, rest) = text.split_at_checked(1)?;
    let direction = match direction {
        "r" => Direction::Read,
        "w" => Direction::Write,
        "m" => Direction::Modify,
        "a" => Direction::Locked,
        _ => return None,
    };
    if let Some(name) = rest.strip_prefix('$') {
        let touch = Touch {
            is_after,
            direction,
            place: Place::Hidden(name),
            length: Length::Bytes(1),
            condition: Condition::Always,
        };
        return Some(Part::Touch(touch));
    }
    if let Some(named) = rest.strip_prefix('@') {
        let (name, bytes) = named.split_once('.')?;
        let (place, length) = (Place::Variable(name), Length::Bytes(bytes.parse().ok()?));
        return Some(Part::Touch(Touch { is_after, direction, place, length, condition: Condition::Always }));
    }
    let mut bytes = rest.bytes();
    let place = match bytes.next()? {
        b'*' => Place::Behind(digit(bytes.next()?)?),
        b'~' => Place::Stream(digit(bytes.next()?)?),
        b'=' => Place::Result,
        byte => Place::Argument(digit(byte)?),
    };
    let rest = &rest[rest.len() - bytes.len()..];
    let (rest, condition) = match rest.as_bytes().last() {
        Some(b'?') => (&rest[..rest.len() - 1], Condition::Something),
        Some(b'!') => (&rest[..rest.len() - 1], Condition::Zero),
        Some(b'+') => (&rest[..rest.len() - 1], Condition::Success),
        Some(b'^') => (&rest[..rest.len() - 1], Condition::Positive),
        _ => (rest, Condition::Always),
    };
    Some(Part::Touch(Touch { is_after, direction, place, length: length(rest)?, condition }))
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

fn length(text: &str) -> Option<Length> {
    let (kind, rest) = text.split_at_checked(1)?;
    let argument = |text: &str| text.bytes().next().and_then(digit);
    let factor = |rest: &str| rest.strip_prefix('k').map_or(Some(1), |number| number.parse().ok());
    Some(match kind {
        "." => Length::Bytes(rest.parse().ok()?),
        "s" => Length::Text(1, argument(rest)),
        "z" => Length::Text(4, argument(rest)),
        "l" => Length::As(1, argument(rest)?),
        "y" => Length::As(4, argument(rest)?),
        "n" => {
            let first = argument(rest)?;
            let rest = &rest[1..];
            match rest.strip_prefix('x') {
                Some(second) => Length::Product(first, Some(argument(second)?), 1),
                None => Length::Product(first, None, factor(rest)?),
            }
        }
        "u" => Length::Even(argument(rest)?),
        "p" => Length::Pages(argument(rest)?),
        "f" => Length::Descriptors(argument(rest)?),
        "v" => match rest.strip_prefix('x') {
            Some(second) => Length::Result(Some(argument(second)?), 1),
            None => match argument(rest) {
                Some(most) => Length::ResultUpTo(most),
                None => Length::Result(None, factor(rest)?),
            },
        },
        "j" => Length::ResultAndOne(1, argument(rest)),
        "t" => Length::ResultAndOne(4, argument(rest)),
        "i" => Length::Pointed(argument(rest)?),
        "e" => Length::UpToResult(1, argument(rest)),
        "q" => Length::UpToResult(4, argument(rest)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn every_model_is_understood() {
        for (names, model) in ALL {
            assert_eq!(parts(model).count(), model.split_ascii_whitespace().count(), "{names}: {model}");
        }
    }

    #[test]
    fn hidden_state_has_a_name() {
        let all = ALL.iter().flat_map(|(_, model)| parts(model));
        let names: BTreeSet<&str> = all
            .filter_map(|part| match part {
                Part::Touch(Touch { place: Place::Hidden(name), .. }) => Some(name),
                _ => None,
            })
            .collect();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), HIDDEN);
    }

    #[test]
    fn each_function_has_one_model() {
        let mut seen = BTreeSet::new();
        let names = ALL.iter().flat_map(|(names, _)| names.split_ascii_whitespace());
        let twice: Vec<&str> = names.filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn accesses_have_parts() {
        let touches: Vec<Part<'_>> = parts(">w0vx1 m$strtok r*1.4 #printf2 &").collect();
        let touch = |is_after, direction, place, length| {
            Part::Touch(Touch { is_after, direction, place, length, condition: Condition::Always })
        };
        assert_eq!(
            touches,
            [
                touch(true, Direction::Write, Place::Argument(0), Length::Result(Some(1), 1)),
                touch(false, Direction::Modify, Place::Hidden("strtok"), Length::Bytes(1)),
                touch(false, Direction::Read, Place::Behind(1), Length::Bytes(4)),
                Part::Routine("printf", 2),
                Part::Partly,
            ]
        );
        assert_eq!(parts("x0").next(), None);
        assert_eq!(of("__isoc99_sscanf"), of("sscanf"));
        assert_eq!(of("frobnicate"), None);
    }
}
