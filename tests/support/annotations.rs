//! The annotations of the programs below `targets/`; the convention is in `targets/README.md`.

use crate::tool::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A program below `targets/`.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its path from the root of the project, as reports have it.
    pub path: String,
    /// Its bug; nothing for fixed twins and clean programs.
    pub bug: Option<Annotated>,
    /// Options that it has to be compiled with (`// cflags: OPTIONS`).
    pub cflags: Option<String>,
}

impl Target {
    /// Returns the corrected program beside one with a bug.
    #[must_use]
    pub fn twin(&self) -> String {
        let (name, extension) = self.path.rsplit_once('.').unwrap_or((&self.path, ""));
        format!("{name}.fixed.{extension}")
    }

    /// Returns the options for hunting it.
    #[must_use]
    pub fn options(&self) -> Vec<&str> {
        self.cflags.as_deref().map(|cflags| vec!["--cflags", cflags]).unwrap_or_default()
    }
}

/// A bug as the source describes it.
#[derive(Clone, Debug)]
pub struct Annotated {
    /// The expected kind.
    pub kind: String,
    /// The lines of the expected finding.
    pub lines: BTreeSet<u32>,
    /// Further lines that may be reported, and as what.
    pub also: BTreeSet<(u32, String)>,
    /// The number of preemptions that is enough to see it.
    pub preemptions: u32,
}

impl Annotated {
    /// Returns the lines that may be reported as a bug of this kind.
    #[must_use]
    pub fn marked(&self, kind: &str) -> BTreeSet<u32> {
        let also = self.also.iter().filter(|(_, also)| also == kind).map(|(line, _)| *line);
        let own = self.lines.iter().filter(|_| kind == self.kind).copied();
        own.chain(also).collect()
    }
}

/// Returns all programs, in the order of their names.
///
/// # Panics
/// If there are none, or if one of them violates the convention.
#[must_use]
pub fn targets() -> Vec<Target> {
    let mut paths = Vec::new();
    collect(&root().join("targets"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "there are no programs below targets/");
    paths.iter().map(|path| target(path)).collect()
}

fn collect(directory: &Path, into: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).expect("targets/ can be read");
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, into);
        } else if matches!(path.extension().and_then(|extension| extension.to_str()), Some("c" | "cpp")) {
            into.push(path);
        }
    }
}

fn target(full: &Path) -> Target {
    let text = fs::read_to_string(full).expect("a program can be read");
    let path = full.strip_prefix(root()).unwrap_or(full).to_string_lossy().into_owned();
    let is_right = path.starts_with("targets/clean/") || path.contains(".fixed.");
    let bug = annotated(&path, &text);
    assert!(bug.is_none() == is_right, "{path}: a buggy program has annotations, a correct one has none");
    Target { path, bug, cflags: note(&text, "cflags").map(str::to_owned) }
}

/// Returns the value of a comment line `// NAME: ...`.
fn note<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = |line: &'a str| line.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ").map(str::trim);
    text.lines().find_map(line)
}

fn annotated(path: &str, text: &str) -> Option<Annotated> {
    let (mut lines, mut also, mut kinds) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (number, line) in (1..).zip(text.lines()) {
        // A line can have several notes.
        for note in line.split("//~ ").skip(1) {
            if let Some(kind) = note.strip_prefix("also ") {
                also.insert((number, kind.trim().to_owned()));
            } else {
                lines.insert(number);
                kinds.insert(note.trim().to_owned());
            }
        }
    }
    assert!(also.is_empty() || !lines.is_empty(), "{path}: no line that must be reported");
    let mut kinds = kinds.into_iter();
    let kind = kinds.next()?;
    assert!(kinds.next().is_none(), "{path}: one kind");
    let folder = path.split('/').nth(1).unwrap_or_default();
    let fits = folder == kind || folder == "loop" || (folder, kind.as_str()) == ("deadlock", "lost-wakeup");
    assert!(fits, "{path}: the folder is the kind of the bug");
    let preemptions = note(text, "preemptions").and_then(|number| number.parse().ok());
    let preemptions = preemptions.unwrap_or_else(|| panic!("{path}: no `// preemptions: N`"));
    Some(Annotated { kind, lines, also, preemptions })
}
