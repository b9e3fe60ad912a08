//! Whether the sources have changed since a finding was made.

use crate::{Stored, digest, files};
use racehunter_finding::Finding;
use racehunter_report::messages;
use racehunter_symbols::source::is_source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// A source file as it was when a finding was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file, as the finding names it.
    pub file: String,
    /// SHA-256 of its contents.
    pub sha256: String,
}

/// Returns the sources that a finding names.
fn named(finding: &Finding) -> BTreeSet<&str> {
    let sites = finding.sites.iter().flat_map(|site| site.stack.iter().map(|frame| &frame.file).chain([&site.file]));
    let steps = finding.steps.iter().map(|step| &step.file);
    // The names come from the program, which can name any file as its source.
    sites.chain(steps).map(String::as_str).filter(|file| is_source(Path::new(file))).collect()
}

fn sha256(file: &str) -> Option<String> {
    files::read(Path::new(file)).ok().map(|bytes| digest::sha256(&bytes))
}

/// Returns the current sources of a finding, except those that cannot be read.
pub(crate) fn digests(finding: &Finding) -> Vec<Source> {
    let source = |file: &str| Some(Source { file: file.to_owned(), sha256: sha256(file)? });
    named(finding).into_iter().filter_map(source).collect()
}

/// Returns a note for each source of the sites that was changed after the program was built.
pub(crate) fn newer(finding: &Finding, program: &Path) -> Vec<String> {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let Some(built) = changed(program) else { return Vec::new() };
    let files: BTreeSet<&str> = finding.sites.iter().map(|site| site.file.as_str()).collect();
    let is_newer = |file: &&str| changed(Path::new(file)).is_some_and(|changed| changed > built);
    files.into_iter().filter(is_newer).map(messages::newer_source).collect()
}

/// Returns a note for each source that has changed since the finding was made. A missing file is not quoted, and does
/// not count.
#[must_use]
pub fn changed(stored: &Stored) -> Vec<String> {
    let is_other = |source: &&Source| sha256(&source.file).is_some_and(|now| now != source.sha256);
    stored.sources.iter().filter(is_other).map(|source| messages::changed_source(&source.file)).collect()
}
/// Returns the name of a file without its directory.
pub(crate) fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Returns true if two paths recorded by compilers can be the same file: units in different directories name a header
/// differently.
pub(crate) fn may_be_same(one: &str, other: &str) -> bool {
    let inner = |path: &str| -> PathBuf {
        let parts = Path::new(path).components();
        parts.skip_while(|part| matches!(part, Component::CurDir | Component::ParentDir)).collect()
    };
    let (one, other) = (inner(one), inner(other));
    one.ends_with(&other) || other.ends_with(&one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_the_same_name_are_told_apart_by_their_directories() {
        assert!(may_be_same("a/util.c", "a/util.c"));
        assert!(may_be_same("../a/util.c", "a/util.c"), "compiled in another directory");
        assert!(may_be_same("/home/me/project/a/util.c", "./a/util.c"));
        assert!(!may_be_same("a/util.c", "b/util.c"));
        assert!(!may_be_same("a/util.c", "../b/util.c"));
    }
}
