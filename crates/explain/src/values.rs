//! The values that accesses read and wrote, as the source would write them.

use crate::place::Places;
use racehunter_finding::Value;
use racehunter_log::{AccessMode, Entry, Event, Record, entries};
use racehunter_symbols::{Form, Part, shortened};
use std::cell::RefCell;

/// Addresses without a name, with the numbers that stand for them: the addresses themselves differ from run to run.
#[derive(Default)]
pub(crate) struct Numbers(RefCell<Vec<u64>>);

impl Numbers {
    fn of(&self, address: u64) -> usize {
        let mut known = self.0.borrow_mut();
        let at = known.iter().position(|other| *other == address);
        at.unwrap_or_else(|| {
            known.push(address);
            known.len() - 1
        }) + 1
    }

    /// Returns true if any number was needed.
    pub(crate) fn is_used(&self) -> bool {
        !self.0.borrow().is_empty()
    }
}

/// Up to eight bytes of an access.
struct Noted {
    before: Option<u64>,
    after: Option<u64>,
    size: usize,
}

impl Noted {
    fn of(event: &Event) -> Option<Self> {
        match *event {
            Event::Value { before, after, size } => Some(Self { before, after, size: size.into() }),
            _ => None,
        }
    }
}

/// Returns what an access read or wrote, by the entries after it in the log.
pub(crate) fn value(places: &Places<'_>, entry: Entry<'_>, after: &[Record]) -> Option<Value> {
    let access = entry.access()?;
    let is_its = |other: &Entry<'_>| (other.number(), other.thread()) == (entry.number(), entry.thread());
    let noted = || entries(after).take_while(is_its).map_while(|other| Noted::of(&other.event()));
    let bytes = |bits: fn(&Noted) -> Option<u64>| {
        let mut bytes = Vec::new();
        for noted in noted() {
            bytes.extend_from_slice(&bits(&noted)?.to_le_bytes()[..noted.size]);
        }
        (!bytes.is_empty()).then_some(bytes)
    };
    let form = places.form(entry.code().0, access);
    let show = |bytes: Vec<u8>| shown(places, &bytes, access.size, form.as_ref());
    let writes = access.mode.writes();
    let is_known = !writes || access.mode == AccessMode::AtomicUpdate || places.is_lasting(access.address.0);
    let before = bytes(|noted| noted.before).filter(|_| is_known).and_then(show);
    let after = bytes(|noted| noted.after).and_then(show);
    // For a write, the new value matters.
    if after.is_none() && (writes || before.is_none()) { None } else { Some(Value { before, after }) }
}

/// Returns the first bytes of an access of `size` bytes as text, if they can be shown.
fn shown(places: &Places<'_>, bytes: &[u8], size: u64, form: Option<&Form>) -> Option<String> {
    let is_whole = bytes.len() as u64 == size;
    match form {
        Some(Form::Text) => Some(text(bytes)),
        Some(Form::Parts(parts)) if is_whole => Some(together(places, bytes, parts)),
        _ if is_whole && matches!(size, 1 | 2 | 4 | 8) => {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            Some(number(places, u64::from_le_bytes(all), 8 * size as u32, form))
        }
        _ => wide(bytes.try_into().ok().filter(|_| is_whole)?, form?),
    }
}

/// Maximum length of a value; longer ones are cut.
const LONGEST: usize = 60;

/// Returns several values, as a debugger would write them.
fn together(places: &Places<'_>, bytes: &[u8], parts: &[Part]) -> String {
    if let [Part { name, .. }] = parts
        && name.is_empty()
    {
        return part(places, bytes, &parts[0]);
    }
    let mut all = String::new();
    for (nth, each) in parts.iter().enumerate() {
        let before = if nth == 0 { "{" } else { ", " };
        let name = if each.name.is_empty() { String::new() } else { format!("{} = ", each.name) };
        let value = part(places, bytes, each);
        if all.len() + name.len() + value.len() > LONGEST {
            return format!("{all}{before}...}}");
        }
        all.push_str(&[before, &name, &value].concat());
    }
    all + "}"
}

fn part(places: &Places<'_>, bytes: &[u8], part: &Part) -> String {
    let (first, size) = ((part.first_bit / 8) as usize, part.bits / 8);
    if part.first_bit.is_multiple_of(8) && part.bits.is_multiple_of(8) {
        let value = bytes.get(first..first + size as usize).and_then(|own| shown(places, own, size, Some(&part.form)));
        return value.unwrap_or_else(|| "...".to_owned());
    }
    // A bit field spans at most nine bytes.
    let all = bytes.iter().skip(first).take(9).rev().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    let bits = (all >> (part.first_bit % 8)) as u64 & (u64::MAX >> (64 - part.bits.clamp(1, 64)));
    number(places, bits, part.bits as u32, Some(&part.form))
}

/// Returns a text in quotes, as far as it is known.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    let shown = &bytes[..end.unwrap_or(bytes.len()).min(LONGEST)];
    let dots = if end == Some(shown.len()) { "" } else { "..." };
    format!("\"{}\"{dots}", shown.escape_ascii())
}

/// Returns a number of sixteen bytes.
fn wide(bytes: [u8; 16], form: &Form) -> Option<String> {
    match form {
        Form::Signed => Some(i128::from_le_bytes(bytes).to_string()),
        Form::Unsigned => Some(u128::from_le_bytes(bytes).to_string()),
        _ => None,
    }
}

/// Returns a number of `count` bits.
fn number(places: &Places<'_>, bits: u64, count: u32, form: Option<&Form>) -> String {
    let signed = sign_extended(bits, count);
    match form {
        Some(Form::Unsigned) => bits.to_string(),
        Some(Form::Boolean) if bits < 2 => (bits == 1).to_string(),
        Some(Form::Character) if (0x20..0x7f).contains(&bits) => format!("'{}'", char::from(bits as u8)),
        Some(Form::Float) if count == 32 => f32::from_bits(bits as u32).to_string(),
        Some(Form::Float) if count == 64 => f64::from_bits(bits).to_string(),
        Some(Form::Enumeration(names)) => {
            let name = names.iter().find(|(number, _)| *number == signed || *number == bits.cast_signed());
            name.map_or_else(|| signed.to_string(), |(_, name)| name.clone())
        }
        Some(Form::Pointer) => pointer(places, bits),
        // A whole structure, or part of something.
        Some(Form::Other | Form::Parts(_)) | None if looks_like_address(bits, count) => pointer(places, bits),
        Some(Form::Other | Form::Parts(_) | Form::Boolean | Form::Float) if bits > 9 => format!("{bits:#x}"),
        Some(Form::Other | Form::Parts(_) | Form::Boolean | Form::Float) => bits.to_string(),
        Some(Form::Signed | Form::Character | Form::Text) | None => signed.to_string(),
    }
}

/// Returns true if a number is in the address range of a process; other numbers rarely are.
fn looks_like_address(bits: u64, count: u32) -> bool {
    count == 64 && (1 << 42..1 << 47).contains(&bits)
}

fn pointer(places: &Places<'_>, address: u64) -> String {
    if address == 0 {
        return "null".to_owned();
    }
    let relative = address.wrapping_sub(places.load_address);
    if let Some(symbol) = places.symbols.data_symbol(relative) {
        return format!("&{}", symbol.name);
    }
    // Symbols are looked up by return addresses, so ask for the address after the first instruction.
    let function = places.symbols.frames(relative.wrapping_add(1)).pop();
    match function.filter(|frame| !frame.function.starts_with("??") && !frame.file.is_empty()) {
        Some(frame) => shortened(&frame.function).into_owned(),
        None => format!("#{}", places.numbers.of(address)),
    }
}

fn sign_extended(bits: u64, count: u32) -> i64 {
    let unused = 64 - count.clamp(1, 64);
    (bits << unused).cast_signed() >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_those_of_the_size() {
        assert_eq!(sign_extended(0xff, 8), -1);
        assert_eq!(sign_extended(0xff, 16), 255);
        assert_eq!(sign_extended(0xffff_ffff, 32), -1);
        assert_eq!(sign_extended(u64::MAX, 64), -1);
        assert_eq!([0b011, 0b100].map(|bits| sign_extended(bits, 3)), [3, -4]);
    }

    #[test]
    fn texts_end_at_a_zero_or_are_cut() {
        assert_eq!(text(b"a\"b\n\0rest"), "\"a\\\"b\\n\"");
        assert_eq!(text(b"\0"), "\"\"");
        assert_eq!(text(b"no end"), "\"no end\"...");
        assert_eq!(text(&[b'x'; 64]), format!("\"{}\"...", "x".repeat(LONGEST)));
    }

    #[test]
    fn the_same_address_has_the_same_number() {
        let numbers = Numbers::default();
        assert!(!numbers.is_used());
        assert_eq!([7, 9, 7].map(|address| numbers.of(address)), [1, 2, 1]);
        assert!(numbers.is_used());
    }
}
