//! From an offset into a variable to the field that lies there.

use std::fmt::Write as _;

use gimli::{AttributeValue, Dwarf, Reader as _};

use crate::image::Bytes;
use crate::variables::{Entry, Place, Units, reference};

/// Maximum nesting of types; damaged debug information can nest for ever.
const DEEPEST: u32 = 64;

/// A walk down a type to the smallest part that holds `size` bytes.
pub(crate) struct TypeWalk<'a> {
    pub(crate) units: &'a Units,
    pub(crate) dwarf: &'a Dwarf<Bytes>,
    pub(crate) size: u64,
}

/// A part of a structure.
pub(crate) struct Member {
    /// Empty for base classes and for unnamed structures, whose fields belong to the outer one.
    pub(crate) name: String,
    pub(crate) type_place: Place,
    /// The bytes that contain it.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// The first bit and the number of bits, for a bit field.
    pub(crate) bits: Option<(u64, u64)>,
}

impl Member {
    /// Returns the offset of the byte after it.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

impl TypeWalk<'_> {
    /// Appends to `name` the path to what lies at `offset` in a variable of this type. The path ends early where it
    /// cannot be followed.
    pub(crate) fn describe(&self, type_place: Place, offset: u64, name: &mut String) {
        let _ = self.descend(type_place, offset, name, 0);
    }

    fn descend(&self, type_place: Place, offset: u64, name: &mut String, depth: u32) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let entry = self.units.entry(type_place)?;
        match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                let member = self.member(type_place, offset)?;
                self.enter_member(member, offset, name, depth)
            }
            // The members of a union overlap, so it is unknown which one is meant.
            gimli::DW_TAG_union_type => None,
            gimli::DW_TAG_array_type => self.element(type_place, &entry, offset, name, depth),
            tag if is_transparent(tag) => {
                let inner = reference(self.units, &entry, type_place, gimli::DW_AT_type)?;
                self.descend(inner, offset, name, depth + 1)
            }
            _ => None,
        }
    }

    fn enter_member(&self, member: Member, offset: u64, name: &mut String, depth: u32) -> Option<()> {
        // Reserved names are internal to a library type, such as a mutex or a vector: users know only the whole.
        if is_reserved(&member.name) {
            return None;
        }
        if !member.name.is_empty() {
            name.push('.');
            name.push_str(&member.name);
        }
        self.descend(member.type_place, offset - member.offset, name, depth + 1)
    }

    /// Returns the one member that holds the given bytes. Returns nothing if there are several, as with bit fields that
    /// share a byte, or if the bytes span more than one.
    fn member(&self, structure: Place, offset: u64) -> Option<Member> {
        let end = offset.saturating_add(self.size);
        let is_touched = |member: &Member| member.offset < end && offset < member.end();
        let mut touched = self.members(structure).into_iter().filter(is_touched);
        let found = touched.next().filter(|member| member.offset <= offset && end <= member.end())?;
        touched.next().is_none().then_some(found)
    }

    /// Returns the members of a structure or union, with its bases.
    pub(crate) fn members(&self, structure: Place) -> Vec<Member> {
        let mut members = Vec::new();
        let Some(mut tree) = self.units.tree(structure) else { return members };
        let Ok(root) = tree.root() else { return members };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                members.extend(self.read_member(structure, entry));
            }
        }
        members
    }

    /// Returns the type of a named member of a structure or union, including those of its bases and unnamed parts.
    pub(crate) fn member_named(&self, structure: Place, wanted: &str, depth: u32) -> Option<Place> {
        if depth > DEEPEST {
            return None;
        }
        let members = self.members(structure);
        if let Some(member) = members.iter().find(|member| member.name == wanted) {
            // The type does not describe a part of its bits.
            return member.bits.is_none().then_some(member.type_place);
        }
        let mut inside = members.iter().filter(|member| member.name.is_empty());
        inside.find_map(|member| self.member_named(member.type_place, wanted, depth + 1))
    }

    fn read_member(&self, structure: Place, entry: &Entry<'_>) -> Option<Member> {
        let unit = self.units.unit(self.dwarf, structure)?;
        let number = |name| entry.attr_value(name).ok()??.udata_value();
        let name = match entry.attr_value(gimli::DW_AT_name).ok()? {
            Some(value) => unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned(),
            None => String::new(),
        };
        let type_place = reference(self.units, entry, structure, gimli::DW_AT_type)?;
        if let Some(bits) = number(gimli::DW_AT_bit_size) {
            let first = number(gimli::DW_AT_data_bit_offset)?;
            let end = first.checked_add(bits)?.div_ceil(8);
            return Some(Member {
                name,
                type_place,
                offset: first / 8,
                size: end - first / 8,
                bits: Some((first, bits)),
            });
        }
        let offset = match entry.attr_value(gimli::DW_AT_data_member_location).ok()? {
            // Static members have no offset, and the members of a union have offset 0.
            None if entry.attr_value(gimli::DW_AT_external).ok()?.is_some() => return None,
            None => 0,
            // Virtual base classes are found by an expression at run time.
            Some(AttributeValue::Exprloc(_)) => return None,
            Some(value) => value.udata_value()?,
        };
        Some(Member { name, type_place, offset, size: size_of(self.units, type_place, 0)?, bits: None })
    }

    fn element(&self, array: Place, entry: &Entry<'_>, offset: u64, name: &mut String, depth: u32) -> Option<()> {
        let element = reference(self.units, entry, array, gimli::DW_AT_type)?;
        let dimensions = dimensions(self.units, array)?;
        let element_size = size_of(self.units, element, 0).filter(|size| *size > 0)?;
        if self.size > element_size {
            return None;
        }
        let mut row = dimensions.iter().skip(1).try_fold(element_size, |size, count| size.checked_mul(*count))?;
        let mut rest = offset;
        for following in dimensions.iter().skip(1).chain(std::iter::once(&1)) {
            write!(name, "[{}]", rest.checked_div(row)?).ok()?;
            rest %= row;
            row = row.checked_div(*following)?;
        }
        self.descend(element, rest, name, depth + 1)
    }
}

/// Returns the size of a value of the type.
pub(crate) fn size_of(units: &Units, type_place: Place, depth: u32) -> Option<u64> {
    if depth > DEEPEST {
        return None;
    }
    let entry = units.entry(type_place)?;
    if let Some(value) = entry.attr_value(gimli::DW_AT_byte_size).ok()? {
        return value.udata_value();
    }
    match entry.tag() {
        gimli::DW_TAG_array_type => {
            let element = size_of(units, reference(units, &entry, type_place, gimli::DW_AT_type)?, depth + 1)?;
            dimensions(units, type_place)?.into_iter().try_fold(element, u64::checked_mul)
        }
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => Some(8),
        tag if is_transparent(tag) => {
            size_of(units, reference(units, &entry, type_place, gimli::DW_AT_type)?, depth + 1)
        }
        _ => None,
    }
}

/// Returns the numbers of elements of an array, outermost first.
pub(crate) fn dimensions(units: &Units, array: Place) -> Option<Vec<u64>> {
    let mut tree = units.tree(array)?;
    let mut children = tree.root().ok()?.children();
    let mut counts = Vec::new();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        if entry.tag() != gimli::DW_TAG_subrange_type {
            continue;
        }
        let number = |name| entry.attr_value(name).ok()??.udata_value();
        let count = number(gimli::DW_AT_count)
            .or_else(|| number(gimli::DW_AT_upper_bound).and_then(|last| last.checked_add(1)));
        counts.push(count?);
    }
    Some(counts)
}

/// Returns true for types that add nothing to the layout of another.
pub(crate) fn is_transparent(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
    )
}

/// Returns true for names that C and C++ reserve for the implementation.
pub(crate) fn is_reserved(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_') && letters.next().is_some_and(|second| second == '_' || second.is_ascii_uppercase())
}
