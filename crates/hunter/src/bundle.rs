//! A finding in one file, with its program and sources: `racehunter bundle`.
//!
//! A bundle is a plain tar archive, which any `tar` can unpack: `bundle.json` says what it is, `finding.json` is the
//! stored finding, `program` is the program, `input` its standard input, and `sources/` has the files that the finding names.

use crate::archive::{self, Member};
use crate::{Error, Stored, files};
use racehunter_symbols::source::is_source;
use serde::{Deserialize, Serialize};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Version of the format.
const VERSION: u32 = 1;
/// The file extension of bundles.
pub const EXTENSION: &str = "rhbundle";

/// The description in a bundle.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    version: u32,
    /// The machine that the program is for.
    architecture: String,
    /// The version of RaceHunter that made it.
    made_by: String,
    /// The sources in it: their names in the finding, and in the archive.
    sources: Vec<(String, String)>,
}

/// Returns true if a file has the name of a bundle.
#[must_use]
pub fn is_bundle(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// Packs a finding, the program at `program`, and their files into one archive.
///
/// # Errors
/// If a file cannot be read, or the input is not the one with which it was found.
pub fn pack(stored: &Stored, program: &Path) -> Result<Vec<u8>, Error> {
    let read = |path: &Path| files::read(path).map_err(Error::file("read", path));
    let mut members = vec![Member { name: "program".to_owned(), mode: 0o755, bytes: read(program)? }];
    if let Some(input) = &stored.input {
        if stored.world.as_ref().is_some_and(|world| !world.has_input(input)) {
            return Err(Error::InputChanged(input.clone()));
        }
        members.push(Member { name: "input".to_owned(), mode: 0o644, bytes: read(input)? });
    }
    let mut sources = Vec::new();
    for source in &stored.sources {
        // A missing source is not an error. A file that does not look like source code is never packed, even if the
        // finding names it.
        let path = Path::new(&source.file);
        let Some(bytes) = files::read(path).ok().filter(|_| is_source(path)) else { continue };
        let base = source.file.rsplit('/').next().unwrap_or_default();
        let name = format!("sources/{}-{base}", sources.len() + 1);
        sources.push((source.file.clone(), name.clone()));
        members.push(Member { name, mode: 0o644, bytes });
    }
    let description = Description {
        version: VERSION,
        architecture: std::env::consts::ARCH.to_owned(),
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        sources,
    };
    let json = |name: &str, bytes: Vec<u8>| Member { name: name.to_owned(), mode: 0o644, bytes };
    members.insert(0, json("finding.json", serde_json::to_vec_pretty(stored)?));
    members.insert(0, json("bundle.json", serde_json::to_vec_pretty(&description)?));
    Ok(archive::write(&members))
}

/// An unpacked bundle. Its files disappear with it.
pub struct Unpacked {
    /// The finding; its program and input are those of the bundle.
    pub stored: Stored,
    /// The sources: their names in the finding, and where they are now.
    pub sources: Vec<(String, PathBuf)>,
    directory: TempDir,
}

impl Unpacked {
    /// Returns the directory of its files.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Unpacks a bundle into a directory of its own.
///
/// # Errors
/// If it is damaged, or its program is for another machine.
pub fn unpack(path: &Path) -> Result<Unpacked, Error> {
    let bytes = files::read(path).map_err(Error::file("read", path))?;
    let not_one = |why: &str| Error::Bundle { path: path.to_path_buf(), why: why.to_owned() };
    let members = archive::read(&bytes).ok_or_else(|| not_one("it is no tar archive, or is cut off"))?;
    let member = |name: &str| members.iter().find(|member| member.name == name);
    let text = |name: &'static str| member(name).ok_or_else(|| not_one(&format!("it has no `{name}`")));
    let damaged = |what| move |source| Error::Damaged { path: path.to_path_buf(), what, source };
    let description: Description = serde_json::from_slice(&text("bundle.json")?.bytes).map_err(damaged("bundle"))?;
    if description.version != VERSION {
        return Err(not_one("another version of RaceHunter has made it"));
    }
    if description.architecture != std::env::consts::ARCH {
        let (of, here) = (&description.architecture, std::env::consts::ARCH);
        return Err(not_one(&format!("its program is for {of}, and this machine is {here}")));
    }
    let mut stored: Stored = serde_json::from_slice(&text("finding.json")?.bytes).map_err(damaged("finding"))?;
    let directory = tempfile::Builder::new().prefix("racehunter-bundle-").tempdir();
    let directory = directory.map_err(Error::file("create", &std::env::temp_dir()))?;
    let put = |member: &Member, name: &str| -> Result<PathBuf, Error> {
        let path = directory.path().join(name);
        files::write(&path, &member.bytes)?;
        let mode = Permissions::from_mode(member.mode & 0o755);
        std::fs::set_permissions(&path, mode).map_err(Error::file("write", &path))?;
        Ok(path)
    };
    stored.program = put(text("program")?, "program")?;
    stored.input = match (&stored.input, member("input")) {
        (Some(_), Some(input)) => Some(put(input, "input")?),
        (Some(_), None) => return Err(not_one("it has no `input`")),
        (None, _) => None,
    };
    let mut sources = Vec::new();
    for (number, (file, name)) in description.sources.iter().enumerate() {
        let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if let Some(member) = member(name).filter(|_| is_source(Path::new(file))) {
            sources.push((file.clone(), put(member, &format!("source-{number}.{ending}"))?));
        }
    }
    Ok(Unpacked { stored, sources, directory })
}
