//! What a value means: from the bytes of a variable to what its type says that they are.

use gimli::{Dwarf, Reader as _};

use crate::image::Bytes;
use crate::types::is_transparent;
use crate::variables::{Place, Units, reference};

/// How the bytes of a value are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number that can be negative.
    Signed,
    /// A number that cannot.
    Unsigned,
    /// `true` or `false`.
    Boolean,
    /// A letter.
    Character,
    /// A number in floating point.
    Float,
    /// An address.
    Pointer,
    /// One of these names, or a combination of them.
    Enumeration(Vec<(i64, String)>),
    /// Nothing that has a value of its own, such as a whole structure.
    Other,
}

/// Types nest; damaged debug information nests forever.
const DEEPEST: u32 = 64;

/// How values of the type are read; nothing when debug information does not tell.
pub(crate) fn form(units: &Units, dwarf: &Dwarf<Bytes>, mut place: Place) -> Option<Form> {
    for _ in 0..DEEPEST {
        let entry = units.entry(place)?;
        match entry.tag() {
            gimli::DW_TAG_base_type => {
                let gimli::AttributeValue::Encoding(encoding) = entry.attr_value(gimli::DW_AT_encoding).ok()?? else {
                    return None;
                };
                return Some(match encoding {
                    gimli::DW_ATE_signed => Form::Signed,
                    gimli::DW_ATE_unsigned => Form::Unsigned,
                    gimli::DW_ATE_boolean => Form::Boolean,
                    gimli::DW_ATE_float => Form::Float,
                    gimli::DW_ATE_signed_char | gimli::DW_ATE_UTF => Form::Character,
                    // Bytes are numbers more often than letters.
                    gimli::DW_ATE_unsigned_char => Form::Unsigned,
                    gimli::DW_ATE_address => Form::Pointer,
                    _ => Form::Other,
                });
            }
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                return Some(Form::Pointer);
            }
            gimli::DW_TAG_enumeration_type => return Some(Form::Enumeration(enumerators(units, dwarf, place))),
            tag if is_transparent(tag) => place = reference(units, &entry, place, gimli::DW_AT_type)?,
            _ => return Some(Form::Other),
        }
    }
    None
}

fn enumerators(units: &Units, dwarf: &Dwarf<Bytes>, place: Place) -> Vec<(i64, String)> {
    let mut names = Vec::new();
    let (Some(mut tree), Some(unit)) = (units.tree(place), units.unit(dwarf, place)) else { return names };
    let Ok(root) = tree.root() else { return names };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        let name = entry.attr_value(gimli::DW_AT_name).ok().flatten();
        let name = name.and_then(|value| Some(unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned()));
        let value = entry.attr_value(gimli::DW_AT_const_value).ok().flatten();
        let number = value.and_then(|value| value.sdata_value().or_else(|| value.udata_value().map(u64::cast_signed)));
        names.extend(number.zip(name));
    }
    names
}
