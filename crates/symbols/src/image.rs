//! One ELF file with its debug information and symbol tables.

use std::path::Path;
use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian, SectionId};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, SymbolKind};
use racehunter_finding::Frame;

use crate::demangle::demangle;
use crate::forms::Form;
use crate::inspect::read;
use crate::paths::Paths;
use crate::variables::Variables;
use crate::{DataSymbol, SymbolsError};

/// The reader of DWARF. Shared ownership instead of borrowing, so that an [`Image`] owns all it needs.
pub(crate) type Bytes = EndianArcSlice<LittleEndian>;

/// The section with the descriptions of calls that are not seen.
const UNSEEN: &str = "rh_unseen";

/// One executable or shared library. Addresses are those of the file, before loading.
pub(crate) struct Image {
    dwarf: Arc<Dwarf<Bytes>>,
    lines: Option<Context<Bytes>>,
    variables: std::cell::OnceCell<Variables>,
    functions: Vec<Named>,
    objects: Vec<Named>,
    thread_locals: Vec<Named>,
    /// The plugin's descriptions of calls that are not seen, and the load address of this section.
    unseen: (u64, Vec<u8>),
    /// The first loaded address, and the one after the last.
    pub(crate) first: u64,
    pub(crate) end: u64,
}

/// An entry of the ELF symbol table.
struct Named {
    address: u64,
    size: u64,
    name: String,
}

impl Image {
    pub(crate) fn load(path: &Path) -> Result<Self, SymbolsError> {
        Self::parse(path, &read(path)?)
    }

    /// As [`Self::load`], for a file that was already read.
    pub(crate) fn parse(path: &Path, data: &[u8]) -> Result<Self, SymbolsError> {
        let damaged = |error: &dyn std::fmt::Display| SymbolsError::Damaged {
            path: path.to_path_buf(),
            reason: error.to_string(),
        };
        let file = object::File::parse(data).map_err(|error| damaged(&error))?;
        // A section that cannot be read is treated as absent: the rest may still be useful.
        let section = |id: SectionId| -> Result<Bytes, gimli::Error> {
            let bytes = file
                .section_by_name(id.name())
                .and_then(|section| section.uncompressed_data().ok())
                .unwrap_or_default();
            Ok(Bytes::new(Arc::from(&*bytes), LittleEndian))
        };
        let dwarf = Arc::new(Dwarf::load(section).map_err(|error| damaged(&error))?);
        let loaded = || file.segments().filter(|segment| segment.size() > 0);
        Ok(Self {
            lines: Context::from_arc_dwarf(Arc::clone(&dwarf)).ok(),
            dwarf,
            variables: std::cell::OnceCell::new(),
            functions: named(&file, SymbolKind::Text),
            objects: named(&file, SymbolKind::Data),
            thread_locals: named(&file, SymbolKind::Tls),
            unseen: file.section_by_name(UNSEEN).map_or_else(Default::default, |section| {
                (section.address(), section.data().unwrap_or_default().to_vec())
            }),
            first: loaded().map(|segment| segment.address()).min().unwrap_or(0),
            end: loaded().map(|segment| segment.address().saturating_add(segment.size())).max().unwrap_or(0),
        })
    }

    /// Returns the description at an offset of that section.
    pub(crate) fn unseen(&self, offset: u64) -> Option<(u8, String)> {
        let bytes = self.unseen.1.get(usize::try_from(offset).ok()?..)?;
        let (&effect, name) = bytes.split_first()?;
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        Some((effect, String::from_utf8_lossy(name).into_owned()))
    }

    /// Returns the offset of an address in that section.
    pub(crate) fn offset_in_unseen(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.unseen.0).filter(|&offset| offset < self.unseen.1.len() as u64)
    }

    /// Returns true if it has a function of this name.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }

    /// Returns the frames at a code address, innermost first; empty if nothing is known.
    pub(crate) fn frames(&self, address: u64, paths: &Paths) -> Vec<Frame> {
        let mut frames = self.frames_by_lines(address, paths);
        let entry = nearest(&self.functions, address);
        match (frames.last_mut(), entry) {
            // A line without a function: code that the compiler generated outside any function of the source.
            (Some(outermost), None) if outermost.function.is_empty() => outermost.function.push_str("??"),
            (Some(outermost), Some(entry)) => {
                // Some compilers record the scopes of a function only in its linker name.
                let is_scoped = entry.name.starts_with("_Z") && !entry.name.contains('.');
                if outermost.function.is_empty() || (is_scoped && !outermost.function.contains("::")) {
                    outermost.function = demangle(&entry.name);
                }
            }
            (None, Some(entry)) => {
                frames.push(Frame { function: demangle(&entry.name), file: String::new(), line: 0, column: 0 });
            }
            (Some(_) | None, None) => {}
        }
        frames
    }

    fn frames_by_lines(&self, address: u64, paths: &Paths) -> Vec<Frame> {
        let Some(lines) = &self.lines else { return Vec::new() };
        let Ok(mut found) = lines.find_frames(address).skip_all_loads() else { return Vec::new() };
        let mut frames = Vec::new();
        // A broken entry ends the walk; earlier entries are still valid.
        while let Ok(Some(frame)) = found.next() {
            let location = frame.location.as_ref();
            let number = |field: Option<u32>| field.unwrap_or(0);
            frames.push(Frame {
                function: frame
                    .function
                    .as_ref()
                    .and_then(|name| name.raw_name().ok())
                    .map_or_else(String::new, |name| demangle(&name)),
                file: location.and_then(|location| location.file).map_or_else(String::new, |file| paths.shown(file)),
                line: number(location.and_then(|location| location.line)),
                column: number(location.and_then(|location| location.column)),
            });
        }
        frames
    }

    /// Returns the variable at a data address, for an access of `size` bytes.
    pub(crate) fn data_symbol(&self, address: u64, size: u64, paths: &Paths) -> Option<DataSymbol> {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        match variables.at(&self.dwarf, address, size, false, paths) {
            Some(symbol) => Some(qualified(symbol, nearest(&self.objects, address))),
            None => from_table(&self.objects, address, false),
        }
    }

    /// Returns where global variables are.
    pub(crate) fn globals(&self) -> impl Iterator<Item = std::ops::Range<u64>> + '_ {
        self.objects.iter().map(|object| object.address..object.address.saturating_add(object.size))
    }

    /// Returns how to read the value of an expression in a function.
    pub(crate) fn form_of_expression(&self, function: (&str, u32), expression: &str, at: (u64, u64)) -> Option<Form> {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        variables.form_of_expression(&self.dwarf, function, expression, at)
    }

    /// Returns the part at an offset of what an expression in a function points to, in a block of such values.
    pub(crate) fn part_of_expression(
        &self,
        function: (&str, u32),
        expression: &str,
        at: (u64, u64, u64),
    ) -> Option<(String, Option<Form>)> {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        variables.part_of_expression(&self.dwarf, function, expression, at)
    }

    /// Returns true if an expression in a function is an array.
    pub(crate) fn is_array(&self, function: (&str, u32), expression: &str) -> bool {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        variables.is_array(&self.dwarf, function, expression)
    }

    /// Returns the size of an expression's value if it is a number or the like.
    pub(crate) fn plain_size(&self, function: (&str, u32), expression: &str) -> Option<u64> {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        variables.plain_size(&self.dwarf, function, expression)
    }

    /// Returns the size of the elements that an expression selects from.
    pub(crate) fn element_size(&self, function: (&str, u32), expression: &str) -> Option<u64> {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        variables.element_size(&self.dwarf, function, expression)
    }

    /// Returns the thread-local variable at an offset into the file's block of thread-local memory.
    pub(crate) fn thread_local(&self, offset: u64, size: u64, paths: &Paths) -> Option<DataSymbol> {
        let variables = self.variables.get_or_init(|| Variables::index(&self.dwarf));
        variables.at(&self.dwarf, offset, size, true, paths).or_else(|| from_table(&self.thread_locals, offset, true))
    }
}

/// Returns the symbols of one kind by address: of the full table, or of the dynamic one in a stripped file.
fn named(file: &object::File<'_>, kind: SymbolKind) -> Vec<Named> {
    let of = |symbols: object::SymbolIterator<'_, '_>| -> Vec<Named> {
        symbols
            .filter(|symbol| symbol.kind() == kind && symbol.is_definition())
            .filter_map(|symbol| {
                let name = symbol.name().ok()?.to_owned();
                Some(Named { address: symbol.address(), size: symbol.size(), name })
            })
            .collect()
    };
    let mut symbols = of(file.symbols());
    if symbols.is_empty() {
        symbols = of(file.dynamic_symbols());
    }
    symbols.sort_by_key(|symbol| (symbol.address, symbol.size));
    symbols
}

/// Returns the symbol that contains the address. Assembly code often has no size; then the nearest symbol below counts.
fn nearest(symbols: &[Named], address: u64) -> Option<&Named> {
    let after = symbols.partition_point(|symbol| symbol.address <= address);
    let symbol = symbols.get(after.checked_sub(1)?)?;
    (symbol.size == 0 || address - symbol.address < symbol.size).then_some(symbol)
}

/// Adds the namespaces of a variable, which some compilers record only in its linker name.
fn qualified(mut symbol: DataSymbol, entry: Option<&Named>) -> DataSymbol {
    let Some(entry) = entry.filter(|entry| entry.name.starts_with("_Z")) else { return symbol };
    let full = demangle(&entry.name);
    let variable = symbol.name.find(['.', '[']).unwrap_or(symbol.name.len());
    let scopes = full.strip_suffix(&symbol.name[..variable]).filter(|scopes| scopes.ends_with("::"));
    if let Some(scopes) = scopes {
        symbol.name.insert_str(0, scopes);
    }
    symbol
}

fn from_table(symbols: &[Named], address: u64, thread_local: bool) -> Option<DataSymbol> {
    let symbol = nearest(symbols, address).filter(|symbol| symbol.size > 0)?;
    let offset = address - symbol.address;
    let name = demangle(&symbol.name);
    Some(DataSymbol {
        name: if offset == 0 { name } else { format!("{name}+{offset}") },
        offset,
        size: symbol.size,
        thread_local,
        file: String::new(),
        line: 0,
        form: None,
    })
}
