//! Findings on disk: `.racehunter/findings/ID.json`, files that can be attached to a bug report.

use anyhow::{Context as _, Result, bail};
use racehunter_finding::Finding;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A finding, with what is needed to run its program again.
#[derive(Clone, Serialize, Deserialize)]
pub struct Stored {
    /// Version of this format.
    pub version: u32,
    /// The program.
    pub program: PathBuf,
    /// Its identity: a program that was built again is another one.
    pub identity: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: Option<PathBuf>,
    /// The finding.
    pub finding: Finding,
}

/// Version of the format of stored findings.
pub const VERSION: u32 = 1;

fn directory(out: &Path) -> PathBuf {
    out.join("findings")
}

/// Writes a finding, under its name only when it is whole.
pub fn save(out: &Path, stored: &Stored) -> Result<()> {
    let directory = directory(out);
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create `{}`", directory.display()))?;
    let path = directory.join(format!("{}.json", stored.finding.id));
    let unfinished = directory.join(format!(".{}.{}", stored.finding.id, std::process::id()));
    let text = serde_json::to_vec_pretty(stored)?;
    std::fs::write(&unfinished, text)
        .and_then(|()| std::fs::rename(&unfinished, &path))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// The ids of all findings, in order.
fn ids(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut ids: Vec<String> = std::fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .filter(|name| !name.starts_with('.'))
        .collect();
    ids.sort();
    Ok(ids)
}

/// All findings, by their ids.
pub fn all(out: &Path) -> Result<Vec<Stored>> {
    let directory = directory(out);
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let ids = ids(&directory).with_context(|| format!("cannot read `{}`", directory.display()))?;
    ids.iter().map(|id| read(&directory, id)).collect()
}

/// Reads the finding whose id begins with `id`.
pub fn load(out: &Path, id: &str) -> Result<Stored> {
    let directory = directory(out);
    let mut ids = ids(&directory).with_context(|| format!("there are no findings in `{}`", out.display()))?;
    ids.retain(|name| name.starts_with(id));
    let [only] = ids.as_slice() else {
        if ids.is_empty() {
            bail!("there is no finding `{id}` in `{}`", out.display());
        }
        bail!("`{id}` can be {}", ids.join(" or "));
    };
    read(&directory, only)
}

fn read(directory: &Path, id: &str) -> Result<Stored> {
    let path = directory.join(format!("{id}.json"));
    let text = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let stored: Stored =
        serde_json::from_slice(&text).with_context(|| format!("`{}` is not a finding", path.display()))?;
    if stored.version != VERSION {
        bail!("`{}` was written by another version of RaceHunter", path.display());
    }
    Ok(stored)
}
