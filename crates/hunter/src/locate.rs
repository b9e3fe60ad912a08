//! Finds the program of a finding.

use crate::{Error, Stored, files, store};
use racehunter_report::notes;
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
fn program(stored: &Stored, around: &[PathBuf]) -> Result<PathBuf, Error> {
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
fn named(stored: &Stored, path: &Path) -> Result<PathBuf, Error> {
    if !path.exists() {
        return Err(Error::Missing(path.to_path_buf()));
    }
    if !is_it(path, &stored.identity) {
        return Err(Error::FindingRebuilt { program: path.to_path_buf(), id: stored.finding.id.clone() });
    }
    path.canonicalize().map_err(Error::file("find", path))
}

/// Returns true if the program of a finding still exists but was rebuilt.
fn was_rebuilt(stored: &Stored) -> bool {
    inspect(&stored.program).is_ok_and(|binary| binary.identity != stored.identity)
}

/// Suppresses a finding of an earlier build, which says nothing about the current program.
pub fn set_aside_earlier_build(stored: &mut Stored) {
    if stored.finding.suppressed.is_none() && was_rebuilt(stored) {
        stored.finding.suppressed = Some(notes::earlier_build(&stored.program));
    }
}

/// Returns where to look for the program of a finding that has moved: this directory, and that of the findings.
fn around(out: &Path) -> Vec<PathBuf> {
    let mut around = vec![PathBuf::from(".")];
    if out != Path::new(files::DEFAULT_OUT) {
        around.extend(out.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_path_buf));
        around.push(out.to_path_buf());
    }
    around
}

/// Returns the program of a finding: the one that the user names, or else the one that [`program`] finds.
///
/// # Errors
/// If the given program is not that of the finding, or no program is found.
pub fn find(stored: &Stored, path: Option<&Path>, out: &Path) -> Result<PathBuf, Error> {
    match path {
        Some(path) => named(stored, path),
        None => program(stored, &around(out)),
    }
}

/// Returns a finding with its program where it is now. The program may be an earlier build that has the same finding,
/// which is then returned instead.
///
/// # Errors
/// If no program is that of the finding.
pub fn find_any_build(stored: Stored, path: Option<&Path>, out: &Path) -> Result<Stored, Error> {
    match find(&stored, path, out) {
        Ok(program) => Ok(Stored { program, ..stored }),
        Err(error) => {
            let mut others = store::other_builds(out, &stored.finding.id).into_iter();
            let found = |other: Stored| find(&other, path, out).ok().map(|program| Stored { program, ..other });
            others.find_map(found).ok_or(error)
        }
    }
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
