//! From the bytes of a variable to a value of its type.

use gimli::{Dwarf, Reader as _};

use crate::image::Bytes;
use crate::types::{Member, TypeWalk, is_reserved, is_transparent, size_of};
use crate::variables::{Place, Units, reference};

/// How to read the bytes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A signed number.
    Signed,
    /// An unsigned number.
    Unsigned,
    /// `true` or `false`.
    Boolean,
    /// A character.
    Character,
    /// A number in floating point.
    Float,
    /// An address.
    Pointer,
    /// One of these names, or a combination of them.
    Enumeration(Vec<(i64, String)>),
    /// Characters, up to a zero.
    Text,
    /// Several values, such as the members of a structure, the elements of an array, and bit fields.
    Parts(Vec<Part>),
    /// Something without a value.
    Other,
}

/// One of several values in the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name; empty for array elements.
    pub name: String,
    /// Its first bit; the lowest bit of the first byte is 0.
    pub first_bit: u64,
    /// Its length.
    pub bits: u64,
    /// How to read it.
    pub form: Form,
}

/// Maximum nesting of types; damaged debug information can nest for ever.
const DEEPEST: u32 = 64;

/// Maximum number of parts of a value and of their nesting; larger values are not shown anyway. Damaged debug
/// information could have any number.
const MOST_PARTS: usize = 16;
const NESTED: u32 = 6;

impl TypeWalk<'_> {
    /// Returns how to read the bytes at `offset` of a value of the type; `None` if debug information does not say.
    pub(crate) fn form(&self, type_place: Place, offset: u64) -> Option<Form> {
        self.form_of(type_place, offset, self.size, 0)
    }

    /// As [`TypeWalk::form`], if the offset is known to be 0 only when the access covers the whole value.
    pub(crate) fn form_from_start(&self, type_place: Place) -> Option<Form> {
        if size_of(self.units, type_place, 0)? == self.size {
            return self.form(type_place, 0).filter(|form| *form != Form::Other);
        }
        // Any part of a text is a text, and so is what a pointer to its first character points to.
        self.is_text(type_place).then_some(Form::Text)
    }

    /// Returns how an access to these bytes reads a bit field. Returns nothing unless the access clearly begins where
    /// the row of bit fields does.
    pub(crate) fn form_of_bits(&self, structure: Place, name: &str, address: u64) -> Option<Form> {
        let members = self.members(structure);
        let at = members.iter().position(|member| member.name == name)?;
        let (first, bits) = members[at].bits?;
        let row = members[..=at].iter().rev().take_while(|member| member.bits.is_some()).last()?.offset;
        let first_bit = first.checked_sub(8 * row)?;
        // Structures of this size begin at multiples of it.
        let alignment = 1 << size_of(self.units, structure, 0)?.trailing_zeros().min(2);
        let begins_there = self.size <= alignment && address.wrapping_sub(row) % alignment == 0;
        if !begins_there || first_bit + bits > 8 * self.size {
            return None;
        }
        let form = form(self.units, self.dwarf, members[at].type_place)?;
        Some(Form::Parts(vec![Part { name: String::new(), first_bit, bits, form }]))
    }

    fn form_of(&self, mut place: Place, offset: u64, size: u64, depth: u32) -> Option<Form> {
        if depth > NESTED {
            return Some(Form::Other);
        }
        for _ in 0..DEEPEST {
            let entry = self.units.entry(place)?;
            match entry.tag() {
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                    return self.form_of_members(&self.members(place), offset, size, depth);
                }
                gimli::DW_TAG_array_type if self.is_text(place) && size > 1 => return Some(Form::Text),
                gimli::DW_TAG_array_type => {
                    let element = reference(self.units, &entry, place, gimli::DW_AT_type)?;
                    return self.form_of_elements(element, offset, size, depth);
                }
                tag if is_transparent(tag) => place = reference(self.units, &entry, place, gimli::DW_AT_type)?,
                _ if offset == 0 && size_of(self.units, place, 0)? == size => {
                    return form(self.units, self.dwarf, place);
                }
                _ => return Some(Form::Other),
            }
        }
        None
    }

    fn form_of_members(&self, members: &[Member], offset: u64, size: u64, depth: u32) -> Option<Form> {
        let end = offset.checked_add(size)?;
        let touched = || members.iter().filter(|member| member.offset < end && offset < member.end());
        if let Some(member) = touched().find(|member| member.offset <= offset && end <= member.end())
            && member.bits.is_none()
        {
            return self.form_of(member.type_place, offset - member.offset, size, depth + 1);
        }
        if touched().count() > MOST_PARTS {
            return Some(Form::Other);
        }
        let mut parts = Vec::new();
        for member in touched() {
            // Users do not know the internals of a library type, so say nothing about a part.
            if is_reserved(&member.name) || member.offset < offset || member.end() > end {
                return Some(Form::Other);
            }
            let (first, bits) = member.bits.unwrap_or((8 * member.offset, 8 * member.size));
            let form = match member.bits {
                Some(_) => form(self.units, self.dwarf, member.type_place)?,
                None => self.form_of(member.type_place, 0, member.size, depth + 1)?,
            };
            let first_bit = first - 8 * offset;
            match form {
                // Bases and structures without a name.
                Form::Parts(inner) if member.name.is_empty() => {
                    parts.extend(inner.into_iter().map(|part| Part { first_bit: part.first_bit + first_bit, ..part }));
                }
                form => parts.push(Part { name: member.name.clone(), first_bit, bits, form }),
            }
        }
        if let [only] = &mut parts[..] {
            // Its name stands for all of the bytes.
            only.name.clear();
        }
        Some(if parts.is_empty() || parts.len() > MOST_PARTS { Form::Other } else { Form::Parts(parts) })
    }

    fn form_of_elements(&self, element: Place, offset: u64, size: u64, depth: u32) -> Option<Form> {
        let each = size_of(self.units, element, 0).filter(|size| *size > 0)?;
        if offset % each + size <= each {
            return self.form_of(element, offset % each, size, depth + 1);
        }
        if !offset.is_multiple_of(each) || !size.is_multiple_of(each) || size / each > MOST_PARTS as u64 {
            return Some(Form::Other);
        }
        let form = self.form_of(element, 0, each, depth + 1)?;
        let part = |nth| Part { name: String::new(), first_bit: 8 * each * nth, bits: 8 * each, form: form.clone() };
        Some(Form::Parts((0..size / each).map(part).collect()))
    }

    /// Returns true for a character or an array of them.
    fn is_text(&self, mut place: Place) -> bool {
        for _ in 0..DEEPEST {
            let Some(entry) = self.units.entry(place) else { return false };
            let inner = match entry.tag() {
                gimli::DW_TAG_base_type => {
                    let is_byte = size_of(self.units, place, 0) == Some(1);
                    return is_byte && form(self.units, self.dwarf, place) == Some(Form::Character);
                }
                tag if tag == gimli::DW_TAG_array_type || is_transparent(tag) => {
                    reference(self.units, &entry, place, gimli::DW_AT_type)
                }
                _ => return false,
            };
            let Some(inner) = inner else { return false };
            place = inner;
        }
        false
    }
}

/// Returns how to read values of a type without parts; `None` if debug information does not say.
fn form(units: &Units, dwarf: &Dwarf<Bytes>, mut place: Place) -> Option<Form> {
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
                    // Bytes are numbers more often than characters.
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
