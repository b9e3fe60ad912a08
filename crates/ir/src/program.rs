//! From an executable to its modules.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection};

use crate::{IrError, Module, SECTION, decode_all};

/// Reads all modules of an executable, shared library or object file.
///
/// # Errors
///
/// When the file cannot be read, has no modules, or damaged ones.
pub fn read_program(path: &Path) -> Result<Vec<Module>, IrError> {
    let data = fs::read(path).map_err(|source| IrError::File { path: path.to_owned(), source })?;
    read_section(&data, path)
}

/// The section with one byte for each site of a program.
const SITES: &str = "rh_sites";

/// As [`read_program`], for those who find instructions by the numbers that their sites have when the program runs: they are
/// counted through all modules.
///
/// # Errors
///
/// Also when there may be room between the sites of modules, so that numbers would mean other instructions.
pub fn read_numbered_program(path: &Path) -> Result<Vec<Module>, IrError> {
    let data = fs::read(path).map_err(|source| IrError::File { path: path.to_owned(), source })?;
    let broken = |error: object::Error| IrError::Object { path: path.to_owned(), reason: error.to_string() };
    let file = object::File::parse(&data[..]).map_err(broken)?;
    let packed = file.sections().filter(|section| section.name() == Ok(SITES)).all(|section| section.align() == 1);
    if packed { read_section(&data, path) } else { Err(IrError::Numbers { path: path.to_owned() }) }
}

/// As [`read_program`], of a file that is in memory already; `path` is for messages.
///
/// # Errors
///
/// When the file has no modules, or damaged ones.
pub fn read_section(data: &[u8], path: &Path) -> Result<Vec<Module>, IrError> {
    let broken = |error: object::Error| IrError::Object { path: path.to_owned(), reason: error.to_string() };
    let file = object::File::parse(data).map_err(broken)?;
    let mut modules = Vec::new();
    let mut found = false;
    // A linker makes one section of them, an object file may have several.
    for section in file.sections().filter(|section| section.name() == Ok(SECTION)) {
        found = true;
        modules.extend(decode_all(&section.uncompressed_data().map_err(broken)?)?);
    }
    if found { Ok(modules) } else { Err(IrError::NoSection { path: path.to_owned() }) }
}
