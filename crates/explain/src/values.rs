//! What accesses read and wrote, as one would write it in the source.

use crate::place::Places;
use racehunter_explore::{Kind, Record, VALUE_AFTER, VALUE_BEFORE};
use racehunter_finding::Value;
use racehunter_symbols::Form;
use std::cell::RefCell;

/// Addresses without a name, by the numbers that stand for them: the addresses themselves differ from run to run.
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

    /// Whether any was needed.
    pub(crate) fn is_used(&self) -> bool {
        !self.0.borrow().is_empty()
    }
}

/// What the access before this record in the log read or wrote.
pub(crate) fn value(places: &Places<'_>, access: &Record, record: &Record) -> Option<Value> {
    if record.kind != Kind::Value || (record.index, record.thread) != (access.index, access.thread) {
        return None;
    }
    let form = places.form(access);
    let show = |bits: u64| shown(places, bits, u32::from(record.size), form.as_ref());
    let is_known = !access.kind.is_write() || access.kind == Kind::AtomicUpdate || places.is_lasting(access.object);
    let before = (record.detail & VALUE_BEFORE != 0 && is_known).then(|| show(record.object));
    let after = (record.detail & VALUE_AFTER != 0).then(|| show(record.extra));
    // What a write left is what matters of it.
    if access.kind.is_write() && after.is_none() { None } else { Some(Value { before, after }) }
}

fn shown(places: &Places<'_>, bits: u64, size: u32, form: Option<&Form>) -> String {
    let signed = sign_extended(bits, size);
    match form {
        Some(Form::Unsigned) => bits.to_string(),
        Some(Form::Boolean) if bits < 2 => (bits == 1).to_string(),
        Some(Form::Character) if (0x20..0x7f).contains(&bits) => format!("'{}'", char::from(bits as u8)),
        Some(Form::Float) if size == 4 => f32::from_bits(bits as u32).to_string(),
        Some(Form::Float) if size == 8 => f64::from_bits(bits).to_string(),
        Some(Form::Enumeration(names)) => {
            let name = names.iter().find(|(number, _)| *number == signed || *number == bits.cast_signed());
            name.map_or_else(|| signed.to_string(), |(_, name)| name.clone())
        }
        Some(Form::Pointer) => pointer(places, bits),
        // A whole structure, or part of something.
        Some(Form::Other) if looks_like_address(bits, size) => pointer(places, bits),
        Some(Form::Other | Form::Boolean | Form::Float) if bits > 9 => format!("{bits:#x}"),
        Some(Form::Other | Form::Boolean | Form::Float) => bits.to_string(),
        None if looks_like_address(bits, size) => pointer(places, bits),
        Some(Form::Signed | Form::Character) | None => signed.to_string(),
    }
}

/// Where the memory of a process is on this machine; numbers are rarely there.
fn looks_like_address(bits: u64, size: u32) -> bool {
    size == 8 && (1 << 42..1 << 47).contains(&bits)
}

fn pointer(places: &Places<'_>, address: u64) -> String {
    if address == 0 {
        return "null".to_owned();
    }
    let relative = address.wrapping_sub(places.load_address);
    if let Some(symbol) = places.symbols.data_symbol(relative) {
        return format!("&{}", symbol.name);
    }
    // Asked for the place after its first instruction, as for a return address.
    let function = places.symbols.frames(relative.wrapping_add(1)).pop();
    match function.filter(|frame| !frame.function.starts_with("??") && !frame.file.is_empty()) {
        Some(frame) => frame.function,
        None => format!("#{}", places.numbers.of(address)),
    }
}

fn sign_extended(bits: u64, size: u32) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8);
    (bits << unused).cast_signed() >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_those_of_the_size() {
        assert_eq!(sign_extended(0xff, 1), -1);
        assert_eq!(sign_extended(0xff, 2), 255);
        assert_eq!(sign_extended(0xffff_ffff, 4), -1);
        assert_eq!(sign_extended(u64::MAX, 8), -1);
    }

    #[test]
    fn the_same_address_has_the_same_number() {
        let numbers = Numbers::default();
        assert!(!numbers.is_used());
        assert_eq!([7, 9, 7].map(|address| numbers.of(address)), [1, 2, 1]);
        assert!(numbers.is_used());
    }
}
