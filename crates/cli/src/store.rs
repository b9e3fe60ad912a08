//! Findings on disk: `.racehunter/findings/ID.json`, files that can be attached to a bug report.

use crate::files;
use anyhow::{Context as _, Result, bail};
use racehunter_finding::Finding;
use racehunter_report::clean;
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
    /// What it prints was compared, so that printing is a scheduling point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks_output: bool,
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
    files::check_out(out)?;
    let directory = directory(out);
    files::directory(&directory)?;
    files::write(&directory.join(format!("{}.json", stored.finding.id)), &serde_json::to_vec_pretty(stored)?)
}

/// Whether this is an id, and not a way out of the directory.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|letter| letter.is_ascii_alphanumeric())
}

/// The ids of all findings, in order.
fn ids(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut ids: Vec<String> = std::fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .filter(|name| is_id(name))
        .collect();
    ids.sort();
    Ok(ids)
}

/// All findings, by their ids. Damaged files, and files that are not findings, are skipped with a warning.
pub fn all(out: &Path) -> Result<Vec<Stored>> {
    files::check_out(out)?;
    let directory = directory(out);
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let ids = ids(&directory).with_context(|| format!("cannot read `{}`", directory.display()))?;
    let readable = |id: &String| {
        read(&directory, id)
            .inspect_err(|error| eprintln!("warning: {}; it is left out", clean(&format!("{error:#}"))))
            .ok()
    };
    Ok(ids.iter().filter_map(readable).collect())
}

/// Reads the finding whose id begins with `id`.
pub fn load(out: &Path, id: &str) -> Result<Stored> {
    files::check_out(out)?;
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
    let text = files::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let stored: Stored =
        serde_json::from_slice(&text).with_context(|| format!("`{}` is not a finding", path.display()))?;
    if stored.version != VERSION {
        bail!("`{}` was written by another version of RaceHunter", path.display());
    }
    if stored.finding.id != id {
        bail!("`{}` is the finding `{}`", path.display(), stored.finding.id);
    }
    Ok(stored)
}
