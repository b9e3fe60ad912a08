//! Findings on disk: `.racehunter/findings/ID.json`, files that can be attached to a bug report.

use crate::sources::Source;
use crate::world::World;
use crate::{Error, files};
use racehunter_finding::Finding;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A finding, with what is needed to run its program again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// Version of this format.
    pub version: u32,
    /// The program.
    pub program: PathBuf,
    /// Its identity: a rebuilt program is a different one.
    pub identity: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: Option<PathBuf>,
    /// The command that is started when it listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The output was compared, so that printing is a scheduling point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks_output: bool,
    /// The sources that the finding names, as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// What the program depended on besides its arguments when this was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// The finding.
    pub finding: Finding,
}

/// Version of the format of stored findings.
pub const VERSION: u32 = 1;

fn directory(out: &Path) -> PathBuf {
    out.join("findings")
}

/// Writes a finding; its file gets its name only when it is complete.
///
/// # Errors
/// If it cannot be written.
pub fn save(out: &Path, stored: &Stored) -> Result<(), Error> {
    files::check_out(out)?;
    let directory = directory(out);
    files::directory(&directory)?;
    let id = &stored.finding.id;
    if let Ok(before) = read(&directory, id)
        && before.identity != stored.identity
    {
        let builds = builds_directory(out);
        files::directory(&builds)?;
        files::write(&builds.join(build_name(id, &before.identity)), &serde_json::to_vec_pretty(&before)?)?;
    }
    files::write(&directory.join(format!("{id}.json")), &serde_json::to_vec_pretty(stored)?)
}

/// Returns the directory for findings of other builds: the same bug in a rebuilt program has the same id, but another
/// schedule.
fn builds_directory(out: &Path) -> PathBuf {
    directory(out).join("builds")
}

/// Returns the file name of a build's finding.
fn build_name(id: &str, identity: &str) -> String {
    let identity: String = identity.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{id}-{identity}.json")
}

/// Returns the stored versions of a finding from earlier builds of its program.
#[must_use]
pub fn other_builds(out: &Path, id: &str) -> Vec<Stored> {
    let directory = builds_directory(out);
    let prefix = format!("{id}-");
    let Ok(entries) = std::fs::read_dir(&directory) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str().map(str::to_owned))
        .filter(|name| name.starts_with(&prefix) && name.ends_with(".json"))
        .collect();
    names.sort();
    let text = |name: &String| files::read(&directory.join(name)).ok();
    let stored = names.iter().filter_map(text).filter_map(|text| serde_json::from_slice::<Stored>(&text).ok());
    stored.filter(|stored| stored.version == VERSION && stored.finding.id == id).collect()
}

/// Returns true if this is an id, and does not lead out of the directory.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|letter| letter.is_ascii_alphanumeric())
}

/// Returns the ids of all findings, in order.
fn ids(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut ids: Vec<String> = std::fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .filter(|name| is_id(name))
        .collect();
    ids.sort();
    Ok(ids)
}

/// Returns all findings, by id. A file that is damaged, or is not a finding, becomes a separate error.
///
/// # Errors
/// If the directory cannot be read.
pub fn all(out: &Path) -> Result<Vec<Result<Stored, Error>>, Error> {
    files::check_out(out)?;
    let directory = directory(out);
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let ids = ids(&directory).map_err(Error::file("read", &directory))?;
    Ok(ids.iter().map(|id| read(&directory, id)).collect())
}

/// Reads the finding whose id begins with `id`.
///
/// # Errors
/// If no finding or more than one matches, or it cannot be read.
pub fn load(out: &Path, id: &str) -> Result<Stored, Error> {
    files::check_out(out)?;
    let directory = directory(out);
    let mut ids = ids(&directory).map_err(|source| Error::NoFindings { out: out.to_path_buf(), source })?;
    ids.retain(|name| name.starts_with(id));
    match ids.as_slice() {
        [only] => read(&directory, only),
        [] => Err(Error::NoSuchFinding { id: id.to_owned(), out: out.to_path_buf() }),
        _ => Err(Error::Ambiguous { id: id.to_owned(), ids }),
    }
}

fn read(directory: &Path, id: &str) -> Result<Stored, Error> {
    let path = directory.join(format!("{id}.json"));
    let text = files::read(&path).map_err(Error::file("read", &path))?;
    let damaged = |source| Error::Damaged { path: path.clone(), what: "finding", source };
    let stored: Stored = serde_json::from_slice(&text).map_err(damaged)?;
    if stored.version != VERSION {
        return Err(Error::FindingVersion(path));
    }
    if stored.finding.id != id {
        return Err(Error::OtherFinding { path, id: stored.finding.id });
    }
    Ok(stored)
}
