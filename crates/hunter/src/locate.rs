//! Finds the program of a finding.

use crate::{Error, Stored};
use racehunter_symbols::inspect;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Maximum depth of directories to search.
const DEPTH: usize = 6;
/// Maximum number of files to examine: the search is a convenience, and must be quick.
const MOST: usize = 4_000;

/// Returns the program of a finding, by its identity: where it was, or else below one of the directories `around`, in
/// order.
///
/// # Errors
/// If no file has the identity.
pub fn program(stored: &Stored, around: &[PathBuf]) -> Result<PathBuf, Error> {
    if is_it(&stored.program, &stored.identity) {
        return Ok(stored.program.clone());
    }
    let mut candidates = Vec::new();
    for directory in around {
        collect(directory, DEPTH, &mut candidates);
    }
    // Files of the same name first: usually the whole directory was moved.
    let name = stored.program.file_name();
    candidates.sort_by_key(|path| path.file_name() != name);
    if let Some(found) = candidates.into_iter().find(|path| is_it(path, &stored.identity)) {
        return found.canonicalize().map_err(Error::file("find", &found));
    }
    Err(match stored.program.exists() {
        true => Error::FindingRebuilt { program: stored.program.clone(), id: stored.finding.id.clone() },
        false => Error::ProgramGone { program: stored.program.clone(), id: stored.finding.id.clone() },
    })
}

/// Returns the program that the user names, if it is that of the finding.
///
/// # Errors
/// If it does not exist, or is a different program.
pub fn named(stored: &Stored, path: &Path) -> Result<PathBuf, Error> {
    if !path.exists() {
        return Err(Error::Missing(path.to_path_buf()));
    }
    if !is_it(path, &stored.identity) {
        return Err(Error::FindingRebuilt { program: path.to_path_buf(), id: stored.finding.id.clone() });
    }
    path.canonicalize().map_err(Error::file("find", path))
}

/// Returns true if the program of a finding still exists but was rebuilt.
#[must_use]
pub fn was_rebuilt(stored: &Stored) -> bool {
    inspect(&stored.program).is_ok_and(|binary| binary.identity != stored.identity)
}

fn is_it(path: &Path, identity: &str) -> bool {
    path.is_file() && inspect(path).is_ok_and(|binary| binary.identity == identity)
}

/// Collects executable files, without following links.
fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        if found.len() >= MOST {
            return;
        }
        if kind.is_dir() && depth > 0 && entry.file_name() != ".git" {
            collect(&entry.path(), depth - 1, found);
        } else if kind.is_file() && entry.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0) {
            found.push(entry.path());
        }
    }
}
