//! Traces in files.

use crate::{Error, target};
use racehunter_trace::{Trace, file, text};
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

/// How a trace in RaceHunter's own format begins.
const MAGIC: &[u8] = b"RHTRACE";
/// Traces with more events are read in segments.
const LONG: u64 = 20_000_000;
/// The length of a segment.
const SEGMENT: u32 = 2_000_000;

/// Reads a trace. The first bytes of the file show its format.
///
/// # Errors
/// If it cannot be read, or is not a trace.
pub fn load(path: &Path) -> Result<Trace, Error> {
    if path.is_dir() {
        return Err(Error::DirectoryOfTraces(path.to_path_buf()));
    }
    let mut input = File::open(path).map_err(Error::file("read the trace", path))?;
    let mut begin = Vec::new();
    (&mut input).take(8).read_to_end(&mut begin).map_err(Error::file("read the trace", path))?;
    if begin.starts_with(MAGIC) {
        drop(input);
        return file::Reader::open(path).and_then(|reader| reader.read()).map_err(Error::trace(path));
    }
    text::read(BufReader::with_capacity(1 << 20, begin.chain(input))).map_err(Error::trace(path))
}

/// Returns true if a file is a program or a source file rather than a trace.
pub(crate) fn is_program(path: &Path) -> Result<bool, Error> {
    let is_source = target::language(path).is_some();
    if is_source || path.is_dir() {
        return Ok(is_source);
    }
    begins_with(path, b"\x7fELF")
}

/// Returns a trace that is to be read in segments, and their length. A length of `u32::MAX` means that the trace is not
/// divided; without one, long traces are.
pub(crate) fn segmented(path: &Path, length: Option<u32>) -> Result<Option<(file::MappedReader, usize)>, Error> {
    if length == Some(u32::MAX) || is_program(path)? || path.is_dir() || !begins_with(path, MAGIC)? {
        return Ok(None);
    }
    let reader = file::Reader::open(path).map_err(Error::trace(path))?;
    let events = reader.events().map_err(Error::trace(path))?;
    let length = match length {
        Some(length) => length,
        None if events > LONG => SEGMENT,
        None => return Ok(None),
    };
    Ok(Some((reader, length as usize)))
}

fn begins_with(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let mut begin = Vec::new();
    let file = File::open(path).map_err(Error::file("read", path))?;
    file.take(bytes.len() as u64).read_to_end(&mut begin).map_err(Error::file("read", path))?;
    Ok(begin == bytes)
}
