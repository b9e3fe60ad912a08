//! Files of ours, in directories that others may have prepared.
//!
//! What a project brings along is not trusted more than its program: a directory that belongs to somebody else is not used,
//! nothing is written through a symbolic link, and what is not a plain file is not read.

use crate::exit::advise;
use anyhow::{Context as _, Result};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Where findings are kept unless the user says otherwise.
pub const DEFAULT_OUT: &str = ".racehunter";
/// Largest number of bytes of a file that is read whole.
const MOST: u64 = 1 << 30;

/// Who runs this.
fn own_user() -> Option<u32> {
    std::fs::metadata("/proc/self").ok().map(|of| of.uid())
}

/// Whether a file belongs to somebody who could not do anything else to this user: to the user, or to the administrator.
pub fn is_own(of: &Metadata) -> bool {
    own_user().is_none_or(|own| of.uid() == own) || of.uid() == 0
}

/// Refuses a directory that lies where findings are kept, and that the user has neither made nor named.
pub fn check_out(out: &Path) -> Result<()> {
    if out != Path::new(DEFAULT_OUT) {
        return Ok(());
    }
    let Ok(found) = std::fs::symlink_metadata(out) else { return Ok(()) };
    let what = match found.file_type() {
        _ if !is_own(&found) => "belongs to another user",
        kind if kind.is_symlink() => "is a symbolic link",
        _ => return Ok(()),
    };
    Err(advise(format!("`{}` {what}, and is not used", out.display()), "name a directory of your own: --out DIR"))
}

/// Makes a directory below the one where findings are kept. One that is there as a link is refused.
pub fn directory(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot create `{}`", path.display()))?;
    let found = std::fs::symlink_metadata(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    anyhow::ensure!(found.is_dir(), "`{}` is a symbolic link, and nothing is written there", path.display());
    Ok(())
}

/// A new file. What has its name is taken away first, whatever it is; a link is not followed.
pub fn create(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().write(true).read(true).create_new(true).mode(0o644).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            open()
        }
        result => result,
    }
}

/// Writes a file that has its name only when it is whole.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let put = || create(&unfinished)?.write_all(bytes).and_then(|()| std::fs::rename(&unfinished, path));
    put().with_context(|| format!("cannot write `{}`", path.display())).inspect_err(|_| {
        // Best effort: it is of no use to anybody.
        let _ = std::fs::remove_file(&unfinished);
    })
}

/// Opens what the user has named to be written. A link to a file is not followed: who put it there may not be the user.
pub fn create_named(path: &Path) -> Result<File> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // `/dev/stdout` is one too, and leads to no file.
    let leads_to_file = !path.exists() || path.is_file();
    let is_device = ["/dev", "/proc"].iter().any(|directory| path.starts_with(directory));
    anyhow::ensure!(
        !is_link || !leads_to_file || is_device,
        "`{}` is a symbolic link, and nothing is written through one",
        path.display()
    );
    File::create(path).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Opens a plain file; a pipe or a device would keep us waiting.
pub fn open(path: &Path) -> io::Result<File> {
    /// As on all systems that this runs on.
    const NONBLOCK: i32 = 0o4000;
    let file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    Ok(file)
}

/// What is in a plain file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
