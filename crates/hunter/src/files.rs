//! Files in directories that others may have prepared.
//!
//! The files of a project are not trusted more than its program: a directory that belongs to another user is not used,
//! nothing is written through a symbolic link, and only plain files are read.

use crate::Error;
use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use tempfile::{NamedTempFile, TempPath};

/// The default directory of the findings.
pub const DEFAULT_OUT: &str = ".racehunter";
/// Maximum size of a file that is read whole, in bytes.
const MOST: u64 = 1 << 30;

/// Returns true if a file belongs to the user or to the administrator, who could harm the user anyway.
#[must_use]
pub fn is_own(of: &Metadata) -> bool {
    of.uid() == rustix::process::geteuid().as_raw() || of.uid() == 0
}

/// Refuses the default directory of findings if the user has neither created nor named it.
///
/// # Errors
/// If it belongs to another user, or is a link.
pub fn check_out(out: &Path) -> Result<(), Error> {
    if out != Path::new(DEFAULT_OUT) {
        return Ok(());
    }
    let Ok(found) = std::fs::symlink_metadata(out) else { return Ok(()) };
    let what = match found.file_type() {
        _ if !is_own(&found) => "belongs to another user",
        kind if kind.is_symlink() => "is a symbolic link",
        _ => return Ok(()),
    };
    Err(Error::Untrusted { path: out.to_path_buf(), what })
}

/// Creates a directory below the one of the findings.
///
/// # Errors
/// If that is not possible, or there is a link in its place.
pub fn directory(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(Error::file("create", path))?;
    let found = std::fs::symlink_metadata(path).map_err(Error::file("read", path))?;
    if found.is_dir() { Ok(()) } else { Err(Error::LinkedDirectory(path.to_path_buf())) }
}

/// Returns the directory of a file.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a temporary file beside `path` that will replace it when complete, and disappears otherwise.
pub(crate) fn unfinished(path: &Path, suffix: &str) -> Result<NamedTempFile, Error> {
    let name = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&name).suffix(suffix).permissions(Permissions::from_mode(0o644));
    builder.tempfile_in(parent(path)).map_err(Error::file("write", path))
}

/// Gives a complete file its name. Replaces whatever has that name; does not follow a link.
pub(crate) fn finish(file: NamedTempFile, path: &Path) -> Result<(), Error> {
    file.persist(path).map(drop).map_err(|error| Error::file("write", path)(error.error))
}

/// Returns an unused name beside `path`, for another program to write to. It disappears unless it is persisted.
pub(crate) fn name_beside(path: &Path) -> Result<TempPath, Error> {
    let name = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let free = |path: &Path| match std::fs::symlink_metadata(path) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => Ok(()),
    };
    let named = tempfile::Builder::new().prefix(&name).make_in(parent(path), free);
    named.map(NamedTempFile::into_temp_path).map_err(Error::file("write", path))
}

/// Writes a file that gets its name only when it is complete.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = unfinished(path, "")?;
    file.write_all(bytes).map_err(Error::file("write", path))?;
    finish(file, path)
}

/// Opens a file for writing that the user has named. Does not follow a link to a file, because another user may have
/// put it there.
///
/// # Errors
/// If it cannot be written, or is a link.
pub fn create_named(path: &Path) -> Result<File, Error> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // `/dev/stdout` is a link too, but does not lead to a file.
    let leads_to_file = !path.exists() || path.is_file();
    let is_device = ["/dev", "/proc"].iter().any(|directory| path.starts_with(directory));
    if is_link && leads_to_file && !is_device {
        return Err(Error::LinkedFile(path.to_path_buf()));
    }
    File::create(path).map_err(Error::file("write", path))
}

/// Opens a plain file; a pipe or a device could block.
///
/// # Errors
/// If it cannot be opened, or is not a plain file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    Ok(file)
}

/// Returns the contents of a plain file.
///
/// # Errors
/// If it cannot be read, or is not a plain file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    // Room for all of it and for the read that notices its end: a vector that grows is copied many times.
    let size = file.metadata()?.len().min(MOST) + 32;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
