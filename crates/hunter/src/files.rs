//! Files of ours, in directories that others may have prepared.
//!
//! What a project brings along is not trusted more than its program: a directory that belongs to somebody else is not used,
//! nothing is written through a symbolic link, and what is not a plain file is not read.

use crate::Error;
use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use tempfile::{NamedTempFile, TempPath};

/// Where findings are kept unless the user says otherwise.
pub const DEFAULT_OUT: &str = ".racehunter";
/// Largest number of bytes of a file that is read whole.
const MOST: u64 = 1 << 30;

/// Returns true if a file belongs to somebody who could not do anything else to this user: to the user, or to the
/// administrator.
#[must_use]
pub fn is_own(of: &Metadata) -> bool {
    of.uid() == rustix::process::geteuid().as_raw() || of.uid() == 0
}

/// Refuses a directory that lies where findings are kept by default, and that the user has neither made nor named.
///
/// # Errors
/// When it belongs to somebody else, or is a link.
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

/// Makes a directory below the one where findings are kept.
///
/// # Errors
/// When that is not possible, or there is a link in its place.
pub fn directory(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(Error::file("create", path))?;
    let found = std::fs::symlink_metadata(path).map_err(Error::file("read", path))?;
    if found.is_dir() { Ok(()) } else { Err(Error::LinkedDirectory(path.to_path_buf())) }
}

/// Returns the directory of a file.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a file beside `path` that is to take its place when it is whole, and disappears if that never happens.
pub(crate) fn unfinished(path: &Path, suffix: &str) -> Result<NamedTempFile, Error> {
    let name = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&name).suffix(suffix).permissions(Permissions::from_mode(0o644));
    builder.tempfile_in(parent(path)).map_err(Error::file("write", path))
}

/// Gives a file that is whole its name. What has the name is replaced, whatever it is; a link is not followed.
pub(crate) fn finish(file: NamedTempFile, path: &Path) -> Result<(), Error> {
    file.persist(path).map(drop).map_err(|error| Error::file("write", path)(error.error))
}

/// Returns a name beside `path` that no file has, for another program to write to. It disappears unless it is
/// persisted.
pub(crate) fn name_beside(path: &Path) -> Result<TempPath, Error> {
    let name = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let free = |path: &Path| match std::fs::symlink_metadata(path) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => Ok(()),
    };
    let named = tempfile::Builder::new().prefix(&name).make_in(parent(path), free);
    named.map(NamedTempFile::into_temp_path).map_err(Error::file("write", path))
}

/// Writes a file that has its name only when it is whole.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = unfinished(path, "")?;
    file.write_all(bytes).map_err(Error::file("write", path))?;
    finish(file, path)
}

/// Opens what the user has named to be written. A link to a file is not followed: the user may not be the one who put it there.
///
/// # Errors
/// When it cannot be written, or is a link.
pub fn create_named(path: &Path) -> Result<File, Error> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // `/dev/stdout` is a link too, and leads to no file.
    let leads_to_file = !path.exists() || path.is_file();
    let is_device = ["/dev", "/proc"].iter().any(|directory| path.starts_with(directory));
    if is_link && leads_to_file && !is_device {
        return Err(Error::LinkedFile(path.to_path_buf()));
    }
    File::create(path).map_err(Error::file("write", path))
}

/// Opens a plain file; a pipe or a device would keep us waiting.
///
/// # Errors
/// When it cannot be opened, or is not a plain file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    Ok(file)
}

/// Returns what is in a plain file.
///
/// # Errors
/// When it cannot be read, or is not a plain file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
