//! Which parts of a program are instrumented, from the file alone.
//!
//! Every instrumented function begins with the same eight bytes, and every call or piece of assembler that
//! instrumentation cannot see into has a description in a separate section. This works with any linker, even if a build
//! system bypasses the wrapper.

use std::collections::BTreeSet;
use std::path::Path;

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use racehunter_sight::{Effect, MARK, SECTION};

use crate::SymbolsError;
use crate::demangle::demangle;
use crate::image::Image;
use crate::inspect::read;
use crate::paths::Paths;

/// Functions that the compiler and its driver add to every program, and code that runs before or after the program's
/// own.
const OF_THE_COMPILER: [&str; 13] = [
    "_start",
    "_init",
    "_fini",
    "_dl_relocate_static_pie",
    "deregister_tm_clones",
    "register_tm_clones",
    "__do_global_dtors_aux",
    "frame_dummy",
    "atexit",
    "at_quick_exit",
    "__clang_call_terminate",
    "tsan.module_ctor",
    "__rh_constructor",
];

/// Which parts of a program are instrumented, and which are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instrumentation {
    /// The number of instrumented functions.
    pub functions: usize,
    /// The names of the other functions, with their files if known.
    pub plain: Vec<(String, String)>,
    /// Unknown code that instrumented code calls or contains: what it can hide, and its name.
    pub gaps: Vec<(Effect, String)>,
    /// The shared libraries that it is linked with.
    pub libraries: Vec<String>,
    /// It has a symbol table, which is needed to identify uninstrumented functions.
    pub has_symbols: bool,
}

/// Inspects an instrumented program or shared library. Functions of the runtime's archive do not count.
///
/// # Errors
/// If one of the files cannot be read, or is damaged.
pub fn instrumentation(path: &Path, runtime: &Path) -> Result<Instrumentation, SymbolsError> {
    let data = read(path)?;
    let damaged = |error: object::Error| SymbolsError::Damaged { path: path.to_path_buf(), reason: error.to_string() };
    let file = object::File::parse(&*data).map_err(damaged)?;
    let mut result = Instrumentation {
        gaps: gaps(&file),
        libraries: libraries(&data),
        has_symbols: file.symbols().any(|symbol| symbol.kind() == SymbolKind::Text),
        ..Instrumentation::default()
    };
    let ours = defined_in(runtime)?;
    let image = Image::load(path)?;
    let paths = Paths::new(std::env::current_dir().unwrap_or_default());
    let mut plain = BTreeSet::new();
    // A function may have several names, but counts once.
    let mut counted = BTreeSet::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        if name.is_empty() || OF_THE_COMPILER.contains(&name) || ours.contains(name) {
            continue;
        }
        let begins = symbol
            .section_index()
            .and_then(|index| file.section_by_index(index).ok())
            .and_then(|section| section.data_range(symbol.address(), 8).ok().flatten());
        if begins == Some(&MARK.to_le_bytes()) {
            result.functions += usize::from(counted.insert(symbol.address()));
        } else {
            let frames = image.frames(symbol.address(), &paths);
            let source = frames.last().map_or_else(String::new, |frame| frame.file.clone());
            plain.insert((demangle(name), source));
        }
    }
    result.plain = plain.into_iter().collect();
    Ok(result)
}

/// Returns the plugin's descriptions, except those of modelled functions.
fn gaps(file: &object::File<'_>) -> Vec<(Effect, String)> {
    let section = file.section_by_name(SECTION);
    let bytes = section.as_ref().and_then(|section| section.data().ok()).unwrap_or_default();
    let mut gaps = BTreeSet::new();
    // A description is a number and a name; there may be padding between modules.
    let mut rest = bytes;
    while let Some((&number, after)) = rest.split_first() {
        rest = after;
        let Some(effect) = Effect::from_byte(number).filter(|&effect| effect != Effect::None) else { continue };
        let end = after.iter().position(|&byte| byte == 0).unwrap_or(after.len());
        if !effect.is_modelled() {
            gaps.insert((effect as u8, demangle(&String::from_utf8_lossy(&after[..end]))));
        }
        rest = after.get(end + 1..).unwrap_or_default();
    }
    gaps.into_iter().filter_map(|(effect, name)| Some((Effect::from_byte(effect)?, name))).collect()
}

/// Returns the shared libraries that the program is linked with.
fn libraries(data: &[u8]) -> Vec<String> {
    use object::Endianness;
    use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
    let needed = || -> object::Result<Vec<String>> {
        let file = ElfFile64::<Endianness>::parse(data)?;
        let endian = file.endian();
        let sections = file.elf_header().sections(endian, data)?;
        let Some((entries, strings)) = sections.dynamic(endian, data)? else { return Ok(Vec::new()) };
        let strings = sections.strings(endian, data, strings)?;
        let names = (entries.iter())
            .filter(|entry| entry.d_tag(endian) == u64::from(object::elf::DT_NEEDED))
            .filter_map(|entry| strings.get(entry.d_val(endian) as u32).ok());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    };
    needed().unwrap_or_default()
}

/// Returns the functions of an archive.
fn defined_in(archive: &Path) -> Result<BTreeSet<String>, SymbolsError> {
    let data = read(archive)?;
    let damaged =
        |error: object::Error| SymbolsError::Damaged { path: archive.to_path_buf(), reason: error.to_string() };
    let mut names = BTreeSet::new();
    for member in ArchiveFile::parse(&*data).map_err(damaged)?.members() {
        let member = member.map_err(damaged)?;
        // Rust archives have members that are not objects.
        let Ok(file) = object::File::parse(member.data(&*data).map_err(damaged)?) else { continue };
        let defined = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
        names.extend(defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)));
    }
    Ok(names)
}
