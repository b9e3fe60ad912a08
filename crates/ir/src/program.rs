//! From an executable to its modules.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection};

use crate::{IrError, Module, SECTION, decode_all};

/// Reads all modules of an executable, shared library or object file.
///
/// # Errors
///
/// If the file cannot be read, or has no modules or damaged ones.
pub fn read_program(path: &Path) -> Result<Vec<Module>, IrError> {
    let data = fs::read(path).map_err(|source| IrError::File { path: path.to_owned(), source })?;
    read_section(&data, path)
}

/// The section with one byte for each site of a program.
const SITES: &str = "rh_sites";

/// As [`read_program`], for callers that find instructions by the site numbers of the running program, which are
/// counted through all modules.
///
/// # Errors
///
/// Also if there may be gaps between the sites of modules, so that numbers would mean other instructions.
pub fn read_numbered_program(path: &Path) -> Result<Vec<Module>, IrError> {
    let data = fs::read(path).map_err(|source| IrError::File { path: path.to_owned(), source })?;
    let broken = |error: object::Error| IrError::Object { path: path.to_owned(), reason: error.to_string() };
    let file = object::File::parse(&data[..]).map_err(broken)?;
    let packed = file.sections().filter(|section| section.name() == Ok(SITES)).all(|section| section.align() == 1);
    if packed { read_section(&data, path) } else { Err(IrError::Numbers { path: path.to_owned() }) }
}

/// As [`read_program`], for a file that is already in memory; `path` is for messages.
///
/// # Errors
///
/// If the file has no modules, or damaged ones.
pub fn read_section(data: &[u8], path: &Path) -> Result<Vec<Module>, IrError> {
    let broken = |error: object::Error| IrError::Object { path: path.to_owned(), reason: error.to_string() };
    let file = object::File::parse(data).map_err(broken)?;
    let mut modules = Vec::new();
    let mut found = false;
    // A linker joins them into one section; an object file may have several.
    for section in file.sections().filter(|section| section.name() == Ok(SECTION)) {
        found = true;
        modules.extend(decode_all(&section.uncompressed_data().map_err(broken)?)?);
    }
    if found { Ok(modules) } else { Err(IrError::NoSection { path: path.to_owned() }) }
}
