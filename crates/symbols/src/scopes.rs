//! The type of a source expression, by the variables that its function can see.

use gimli::{Dwarf, Reader as _};
use rustc_hash::FxHashMap;

use crate::image::Bytes;
use crate::types::{TypeWalk, is_transparent};
use crate::variables::{Located, Place, Units, reference};

/// Where the functions of a program are described, by their names without scopes.
pub(crate) type Functions = FxHashMap<String, Vec<(u64, Place)>>;

/// Determines types of expressions.
pub(crate) struct Scope<'a> {
    pub(crate) units: &'a Units,
    pub(crate) dwarf: &'a Dwarf<Bytes>,
    pub(crate) functions: &'a Functions,
    pub(crate) globals: &'a [Located],
}

/// A step from a value to a part of it.
enum Part<'t> {
    /// `.name` and `->name`: follows a pointer if there is one.
    Member(&'t str),
    /// `[...]`
    Element,
}

/// The kind of an expression.
pub(crate) enum Typed<'t> {
    /// A value of this type.
    Whole(Place),
    /// The bit field of this name in the structure.
    Bits(Place, &'t str),
}

impl Scope<'_> {
    /// As [`Scope::type_of`], also for bit fields.
    pub(crate) fn value_of<'t>(&self, function: &str, line: u32, expression: &'t str) -> Option<Typed<'t>> {
        if let Some(place) = self.type_of(function, line, expression) {
            return Some(Typed::Whole(place));
        }
        let at = expression.rfind(['.', '>'])?;
        let (of, member) = (expression[..at].trim_end_matches('-'), &expression[at + 1..]);
        let structure = self.type_of(function, line, of)?;
        Some(Typed::Bits(self.plain(self.pointee(structure).unwrap_or(structure)), member))
    }

    /// Returns the type of `expression`, a chain such as `q->items[i].next` or `*p`, on a line of a function.
    pub(crate) fn type_of(&self, function: &str, line: u32, expression: &str) -> Option<Place> {
        let (stars, chain) = stars(expression);
        let (name, parts) = parse(chain)?;
        let mut place = self.variable(function, line, name)?;
        for part in parts {
            place = match part {
                Part::Member(name) => self.member(self.pointee(place).unwrap_or(place), name)?,
                Part::Element => self.element(place)?,
            };
        }
        (0..stars).try_fold(place, |place, _| self.pointee(place))
    }

    /// Returns the type of the elements that an expression selects from, if it follows a pointer to them and none after
    /// that.
    pub(crate) fn chosen_from(&self, function: &str, line: u32, expression: &str) -> Option<Place> {
        let open = expression.rfind('[')?;
        if expression[open..].contains("->") || expression.starts_with('*') {
            return None;
        }
        self.pointee(self.type_of(function, line, &expression[..open])?)
    }

    /// Returns the type of the variable that a function knows by this name: its own, a member of its object, or a
    /// global.
    fn variable(&self, function: &str, line: u32, name: &str) -> Option<Place> {
        let function = self.function(function, line);
        let own = function.and_then(|function| self.local(function, name));
        let of_object = || {
            let object = self.pointee(self.local(function?, "this")?)?;
            self.member(object, name)
        };
        own.or_else(of_object).or_else(|| self.global(name))
    }

    /// Returns the description of a function that holds a line: the last one of its name that begins before it.
    fn function(&self, name: &str, line: u32) -> Option<Place> {
        let candidates = self.functions.get(simple_name(name))?;
        let before = candidates.iter().filter(|(begins, _)| *begins <= u64::from(line));
        before.max_by_key(|(begins, _)| *begins).map(|(_, place)| *place)
    }

    /// Returns the type of a variable or parameter of a function. Returns nothing if several of that name have
    /// different types.
    fn local(&self, function: Place, wanted: &str) -> Option<Place> {
        let unit = self.units.unit(self.dwarf, function)?;
        let mut cursor = unit.entries_at_offset(function.offset).ok()?;
        let (mut depth, mut found) = (0, None);
        // The depth of a type or of another function in this one, whose variables are its own.
        let mut inner = None;
        cursor.next_entry().ok()??;
        while let Ok(Some((step, entry))) = cursor.next_dfs() {
            depth += step;
            if depth <= 0 {
                break;
            }
            inner = inner.filter(|&inner| depth > inner);
            if inner.is_some() {
                continue;
            }
            if is_of_its_own(entry.tag()) {
                inner = Some(depth);
                continue;
            }
            let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
            if !is_variable || self.name(Place { offset: entry.offset(), ..function }).as_deref() != Some(wanted) {
                continue;
            }
            let place = self.plain(self.type_of_entry(Place { offset: entry.offset(), ..function })?);
            match found {
                Some(other) if other != place => return None,
                _ => found = Some(place),
            }
        }
        found
    }

    fn global(&self, wanted: &str) -> Option<Place> {
        let simple = simple_name(wanted);
        let mut places = self.globals.iter().map(|variable| variable.place);
        let place = places.find(|place| self.name(*place).as_deref() == Some(simple))?;
        // A variable in parts occurs several times.
        if places.any(|other| other != place && self.name(other).as_deref() == Some(simple)) {
            return None;
        }
        self.type_of_entry(place)
    }

    fn type_of_entry(&self, place: Place) -> Option<Place> {
        let entry = self.units.entry(place)?;
        reference(self.units, &entry, place, gimli::DW_AT_type).or_else(|| {
            let declared = reference(self.units, &entry, place, gimli::DW_AT_specification)
                .or_else(|| reference(self.units, &entry, place, gimli::DW_AT_abstract_origin))?;
            reference(self.units, &self.units.entry(declared)?, declared, gimli::DW_AT_type)
        })
    }

    fn name(&self, place: Place) -> Option<String> {
        name(self.units, self.dwarf, place)
    }

    /// Returns what a pointer or reference points to.
    fn pointee(&self, place: Place) -> Option<Place> {
        let place = self.plain(place);
        let entry = self.units.entry(place)?;
        let is_pointer = matches!(
            entry.tag(),
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
        );
        let to = is_pointer.then(|| reference(self.units, &entry, place, gimli::DW_AT_type)).flatten()?;
        Some(self.plain(to))
    }

    /// Returns the elements of an array, or what a pointer to its first element points to.
    fn element(&self, place: Place) -> Option<Place> {
        let place = self.plain(place);
        let entry = self.units.entry(place)?;
        match entry.tag() {
            gimli::DW_TAG_array_type => {
                let is_plain = crate::types::dimensions(self.units, place)?.len() == 1;
                let element = reference(self.units, &entry, place, gimli::DW_AT_type)?;
                is_plain.then(|| self.plain(element))
            }
            _ => self.pointee(place),
        }
    }

    fn member(&self, structure: Place, name: &str) -> Option<Place> {
        let walk = TypeWalk { units: self.units, dwarf: self.dwarf, size: 1 };
        walk.member_named(self.plain(structure), name, 0).map(|place| self.plain(place))
    }

    /// Returns the type without qualifiers and other names for it.
    pub(crate) fn plain(&self, mut place: Place) -> Place {
        for _ in 0..64 {
            let Some(entry) = self.units.entry(place).filter(|entry| is_transparent(entry.tag())) else { break };
            let Some(inner) = reference(self.units, &entry, place, gimli::DW_AT_type) else { break };
            place = inner;
        }
        place
    }
}

/// Returns the name of what a DIE describes, which may be in its declaration.
pub(crate) fn name(units: &Units, dwarf: &Dwarf<Bytes>, mut place: Place) -> Option<String> {
    for _ in 0..4 {
        let entry = units.entry(place)?;
        if let Some(value) = entry.attr_value(gimli::DW_AT_name).ok()? {
            return Some(units.unit(dwarf, place)?.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned());
        }
        place = reference(units, &entry, place, gimli::DW_AT_specification)
            .or_else(|| reference(units, &entry, place, gimli::DW_AT_abstract_origin))?;
    }
    None
}

/// Returns true for what has variables or members of its own.
fn is_of_its_own(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_inlined_subroutine
            | gimli::DW_TAG_subprogram
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_union_type
    )
}

/// Returns the line of the declaration of what a DIE describes, which may be in another DIE.
pub(crate) fn line(units: &Units, mut place: Place) -> Option<u64> {
    for _ in 0..4 {
        let entry = units.entry(place)?;
        if let Some(line) = entry.attr_value(gimli::DW_AT_decl_line).ok()?.and_then(|line| line.udata_value()) {
            return Some(line);
        }
        place = reference(units, &entry, place, gimli::DW_AT_specification)
            .or_else(|| reference(units, &entry, place, gimli::DW_AT_abstract_origin))?;
    }
    None
}

/// Returns a function's or variable's name without scopes, template arguments and parameters.
fn simple_name(name: &str) -> &str {
    if name.ends_with("{lambda}") {
        return "operator()";
    }
    let end = name.find(['(', '<']).unwrap_or(name.len());
    let name = &name[..end];
    name.rsplit("::").next().unwrap_or(name)
}

/// Returns the number of leading stars of an expression, and their operand.
fn stars(expression: &str) -> (usize, &str) {
    let chain = expression.trim_start_matches('*');
    let stars = expression.len() - chain.len();
    let inner = chain.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    (stars, inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(chain))
}

/// Splits a chain into its parts. Returns nothing if it contains anything else, such as a call.
fn parse(chain: &str) -> Option<(&str, Vec<Part<'_>>)> {
    let word = |text: &str| {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        text.find(|letter| !is_part(letter)).unwrap_or(text.len())
    };
    let end = word(chain);
    let (name, mut rest) = chain.split_at(end);
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let mut parts = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("->").or_else(|| rest.strip_prefix('.')) {
            let end = word(after);
            let (member, next) = after.split_at(end);
            (!member.is_empty()).then_some(())?;
            parts.push(Part::Member(member));
            rest = next;
        } else {
            let inside = rest.strip_prefix('[')?;
            let mut depth = 1;
            let close = inside.find(|letter| {
                depth += i32::from(letter == '[') - i32::from(letter == ']');
                depth == 0
            })?;
            parts.push(Part::Element);
            rest = &inside[close + 1..];
        }
    }
    Some((name, parts))
}
