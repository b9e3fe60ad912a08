//! Where the variables of a program are, by its debug information.

use std::sync::Arc;

use gimli::{
    Attribute, AttributeValue, DebuggingInformationEntry, Dwarf, EntriesTree, Operation, Reader as _, Unit, UnitOffset,
    UnitRef,
};

use crate::DataSymbol;
use crate::demangle::demangle;
use crate::forms::Form;
use crate::image::Bytes;
use crate::paths::Paths;
use crate::scopes::{self, Functions, Scope, Typed};
use crate::types::{TypeWalk, size_of};

pub(crate) type Offset = usize;
pub(crate) type Entry<'a> = DebuggingInformationEntry<'a, 'a, Bytes, Offset>;

/// A DIE: the unit's number and the offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) unit: usize,
    pub(crate) offset: UnitOffset<Offset>,
}

/// The variables with a fixed address, by address, and the units that describe them.
pub(crate) struct Variables {
    units: Units,
    globals: Vec<Located>,
    thread_locals: Vec<Located>,
    functions: Functions,
}

/// A variable, or a part of it that the optimiser has placed separately.
pub(crate) struct Located {
    address: u64,
    pub(crate) place: Place,
    /// The offset of the part in the variable, and its size.
    part: Option<(u64, u64)>,
}

impl Located {
    /// Returns the offset of an address into the variable, if it is not before it.
    fn offset(&self, address: u64) -> Option<u64> {
        let at = address - self.address;
        match self.part {
            None => Some(at),
            Some((begins, size)) => (at < size).then(|| begins + at),
        }
    }
}

/// All units of a file, in the order of the file.
pub(crate) struct Units(Vec<Unit<Bytes>>);

impl Units {
    fn parse(dwarf: &Dwarf<Bytes>) -> Self {
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            // Units that cannot be parsed are left out; the others remain usable.
            units.extend(dwarf.unit(header));
        }
        Self(units)
    }

    pub(crate) fn unit<'a>(&'a self, dwarf: &'a Dwarf<Bytes>, place: Place) -> Option<UnitRef<'a, Bytes>> {
        Some(UnitRef::new(dwarf, self.0.get(place.unit)?))
    }

    pub(crate) fn entry<'a>(&'a self, place: Place) -> Option<Entry<'a>> {
        self.0.get(place.unit)?.entry(place.offset).ok()
    }

    pub(crate) fn tree<'a>(&'a self, place: Place) -> Option<EntriesTree<'a, 'a, Bytes>> {
        self.0.get(place.unit)?.entries_tree(Some(place.offset)).ok()
    }

    /// Returns the DIE that an attribute refers to, in the same unit or (link-time optimisation) in another.
    pub(crate) fn refers(&self, from: Place, value: AttributeValue<Bytes>) -> Option<Place> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Place { unit: from.unit, offset }),
            AttributeValue::DebugInfoRef(global) => {
                let start =
                    |unit: &Unit<Bytes>| unit.header.offset().as_debug_info_offset().map_or(usize::MAX, |at| at.0);
                let unit = self.0.partition_point(|unit| start(unit) <= global.0).checked_sub(1)?;
                let offset = global.to_unit_offset(&self.0.get(unit)?.header)?;
                Some(Place { unit, offset })
            }
            _ => None,
        }
    }
}

impl Variables {
    /// Indexes all of the debug information, in one pass.
    pub(crate) fn index(dwarf: &Arc<Dwarf<Bytes>>) -> Self {
        let units = Units::parse(dwarf);
        let mut variables =
            Self { units, globals: Vec::new(), thread_locals: Vec::new(), functions: Functions::default() };
        for number in 0..variables.units.0.len() {
            // An error ends the unit; the variables before it are kept.
            let _ = variables.index_unit(dwarf, number);
        }
        variables.globals.sort_by_key(|variable| variable.address);
        variables.thread_locals.sort_by_key(|variable| variable.address);
        variables
    }

    fn index_unit(&mut self, dwarf: &Dwarf<Bytes>, number: usize) -> gimli::Result<()> {
        let Some(unit) = self.units.0.get(number) else { return Ok(()) };
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let offset = entries.next_offset();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let place = Place { unit: number, offset };
            let is_function = abbreviation.tag() == gimli::DW_TAG_subprogram && abbreviation.has_children();
            if abbreviation.tag() != gimli::DW_TAG_variable && !is_function {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let (mut locations, mut line) = (Vec::new(), None);
            for specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(*specification)?;
                match attribute.name() {
                    gimli::DW_AT_location => locations = fixed_locations(dwarf, unit, &attribute),
                    gimli::DW_AT_decl_line => line = attribute.udata_value(),
                    _ => {}
                }
            }
            if is_function {
                // A function that is defined in its class has its line there.
                let line = line.or_else(|| scopes::line(&self.units, place));
                if let Some((line, name)) = line.zip(scopes::name(&self.units, dwarf, place)) {
                    self.functions.entry(name).or_default().push((line, place));
                }
                continue;
            }
            for Location { base, part } in locations {
                match base {
                    // Discarded by the linker.
                    Base::Address(0 | u64::MAX) => {}
                    Base::Address(address) => self.globals.push(Located { address, place, part }),
                    Base::ThreadLocal(address) => self.thread_locals.push(Located { address, place, part }),
                }
            }
        }
        Ok(())
    }

    /// Returns the variable that holds the address, with the path to the smallest part that holds `size` bytes there.
    pub(crate) fn at(
        &self,
        dwarf: &Dwarf<Bytes>,
        address: u64,
        size: u64,
        thread_local: bool,
        paths: &Paths,
    ) -> Option<DataSymbol> {
        let table = if thread_local { &self.thread_locals } else { &self.globals };
        let after = table.partition_point(|variable| variable.address <= address);
        let start = table.get(after.checked_sub(1)?)?.address;
        // Several DIEs can describe one variable; the first one with its name and size is used.
        let same = table[..after].iter().rev().take_while(|variable| variable.address == start);
        same.filter_map(|variable| {
            self.describe(dwarf, variable.place, variable.offset(address)?, size, thread_local, paths)
        })
        .next()
    }

    fn describe(
        &self,
        dwarf: &Dwarf<Bytes>,
        place: Place,
        offset: u64,
        size: u64,
        thread_local: bool,
        paths: &Paths,
    ) -> Option<DataSymbol> {
        let facts = Facts::of(&self.units, dwarf, place)?;
        let whole = size_of(&self.units, facts.type_place?, 0)?;
        if offset >= whole {
            return None;
        }
        let mut name = facts.name?;
        let walk = TypeWalk { units: &self.units, dwarf, size };
        walk.describe(facts.type_place?, offset, &mut name);
        let (file, line) = facts.declared.unwrap_or_default();
        let form = walk.form(facts.type_place?, offset);
        Some(DataSymbol { name, offset, size: whole, thread_local, file: paths.shown(&file), line, form })
    }

    fn scope<'a>(&'a self, dwarf: &'a Dwarf<Bytes>) -> Scope<'a> {
        Scope { units: &self.units, dwarf, functions: &self.functions, globals: &self.globals }
    }

    /// Returns the size of the elements that an expression selects from by following a pointer.
    pub(crate) fn element_size(
        &self,
        dwarf: &Dwarf<Bytes>,
        (function, line): (&str, u32),
        expression: &str,
    ) -> Option<u64> {
        let place = self.scope(dwarf).chosen_from(function, line, expression)?;
        size_of(&self.units, place, 0).filter(|size| *size > 0)
    }

    /// Returns how an access to `size` bytes from `address` on reads the value of an expression.
    pub(crate) fn form_of_expression(
        &self,
        dwarf: &Dwarf<Bytes>,
        (function, line): (&str, u32),
        expression: &str,
        (address, size): (u64, u64),
    ) -> Option<Form> {
        let walk = TypeWalk { units: &self.units, dwarf, size };
        match self.scope(dwarf).value_of(function, line, expression)? {
            Typed::Whole(place) => walk.form_from_start(place),
            Typed::Bits(structure, name) => walk.form_of_bits(structure, name, address),
        }
    }

    /// Returns what an access touches that is `offset` bytes into a heap block: the path to the part of the
    /// expression's value, and how to read it. Returns nothing unless the block clearly consists of such values: a
    /// pointer may lead into the middle of something else.
    pub(crate) fn part_of_expression(
        &self,
        dwarf: &Dwarf<Bytes>,
        (function, line): (&str, u32),
        expression: &str,
        (offset, size, block): (u64, u64, u64),
    ) -> Option<(String, Option<Form>)> {
        let place = self.scope(dwarf).type_of(function, line, expression)?;
        let each = size_of(&self.units, place, 0)?;
        let is_element =
            expression.ends_with(']') && self.scope(dwarf).chosen_from(function, line, expression).is_some();
        if block != each && !(is_element && block.checked_rem(each) == Some(0)) {
            return None;
        }
        let walk = TypeWalk { units: &self.units, dwarf, size };
        let mut path = String::new();
        walk.describe(place, offset % each, &mut path);
        Some((path, walk.form(place, offset % each)))
    }

    /// Returns the size of an expression's value if it is a number or the like, which has no parts.
    pub(crate) fn plain_size(
        &self,
        dwarf: &Dwarf<Bytes>,
        (function, line): (&str, u32),
        expression: &str,
    ) -> Option<u64> {
        let place = self.scope(dwarf).type_of(function, line, expression)?;
        let place = self.scope(dwarf).plain(place);
        let tag = self.units.entry(place)?.tag();
        matches!(tag, gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type)
            .then(|| size_of(&self.units, place, 0))
            .flatten()
    }

    /// Returns true if an expression is an array, which is shown by its name rather than by what its name points to.
    pub(crate) fn is_array(&self, dwarf: &Dwarf<Bytes>, (function, line): (&str, u32), expression: &str) -> bool {
        let place = self.scope(dwarf).type_of(function, line, expression);
        let entry = place.and_then(|place| self.units.entry(place));
        entry.is_some_and(|entry| entry.tag() == gimli::DW_TAG_array_type)
    }
}

enum Base {
    Address(u64),
    ThreadLocal(u64),
}

struct Location {
    base: Base,
    /// The offset of the part in the variable, and its size, unless it is all of it.
    part: Option<(u64, u64)>,
}

/// Returns the locations of a variable and its parts that never change.
fn fixed_locations(dwarf: &Dwarf<Bytes>, unit: &Unit<Bytes>, attribute: &Attribute<Bytes>) -> Vec<Location> {
    let mut locations = Vec::new();
    let Some(expression) = attribute.exprloc_value() else { return locations };
    let mut operations = expression.operations(unit.encoding());
    // The result of the operations so far: nothing yet, or nothing constant.
    let (mut base, mut begins) = (None, 0);
    while let Ok(Some(operation)) = operations.next() {
        base = match (operation, base) {
            (Operation::Address { address }, None) => Some(Base::Address(address)),
            (Operation::AddressIndex { index } | Operation::ConstantIndex { index }, None) => {
                dwarf.address(unit, index).ok().map(Base::Address)
            }
            (Operation::UnsignedConstant { value }, None) => Some(Base::Address(value)),
            (Operation::PlusConstant { value }, Some(Base::Address(address))) => {
                address.checked_add(value).map(Base::Address)
            }
            (Operation::TLS, Some(Base::Address(address))) => Some(Base::ThreadLocal(address)),
            (Operation::Piece { size_in_bits, .. }, base) => {
                let size = size_in_bits / 8;
                locations.extend(base.map(|base| Location { base, part: Some((begins, size)) }));
                begins += size;
                None
            }
            // A value that is not in memory, but may still be a part.
            _ => return locations,
        };
    }
    locations.extend(base.map(|base| Location { base, part: None }));
    locations
}

/// What the DIEs of a variable say about it. Definitions refer to declarations, and each may have a part.
#[derive(Default)]
struct Facts {
    name: Option<String>,
    type_place: Option<Place>,
    declared: Option<(String, u32)>,
}

impl Facts {
    fn of(units: &Units, dwarf: &Dwarf<Bytes>, mut place: Place) -> Option<Self> {
        let mut facts = Self::default();
        let mut plain = None;
        // Definition, declaration, abstract origin: compilers make at most three steps.
        for _ in 0..4 {
            let unit = units.unit(dwarf, place)?;
            let entry = units.entry(place)?;
            let text = |name| {
                let value = entry.attr_value(name).ok()??;
                Some(unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned())
            };
            facts.name = facts.name.or_else(|| text(gimli::DW_AT_linkage_name).map(|name| demangle(&name)));
            plain = plain.or_else(|| text(gimli::DW_AT_name));
            if facts.type_place.is_none() {
                facts.type_place = reference(units, &entry, place, gimli::DW_AT_type);
            }
            facts.declared = facts.declared.or_else(|| declaration(&unit, &entry));
            let origin = reference(units, &entry, place, gimli::DW_AT_specification)
                .or_else(|| reference(units, &entry, place, gimli::DW_AT_abstract_origin));
            match origin {
                Some(next) => place = next,
                None => break,
            }
        }
        facts.name = facts.name.or(plain);
        Some(facts)
    }
}

/// Returns the DIE that an attribute of `entry` refers to.
pub(crate) fn reference(units: &Units, entry: &Entry<'_>, place: Place, name: gimli::DwAt) -> Option<Place> {
    units.refers(place, entry.attr_value(name).ok()??)
}

fn declaration(unit: &UnitRef<'_, Bytes>, entry: &Entry<'_>) -> Option<(String, u32)> {
    let AttributeValue::FileIndex(index) = entry.attr_value(gimli::DW_AT_decl_file).ok()?? else { return None };
    let line = entry.attr_value(gimli::DW_AT_decl_line).ok()??.udata_value()?;
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value| Some(unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned());
    let mut path = std::path::PathBuf::new();
    if let Some(directory) = &unit.comp_dir {
        path.push(&*directory.to_string_lossy().ok()?);
    }
    // An absolute part replaces everything before it.
    if let Some(directory) = file.directory(header).and_then(text) {
        path.push(directory);
    }
    path.push(text(file.path_name())?);
    Some((path.to_string_lossy().into_owned(), u32::try_from(line).unwrap_or(0)))
}
