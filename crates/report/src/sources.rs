//! The user's source files, read when they are quoted.

use std::collections::HashMap;
use std::path::PathBuf;

use racehunter_symbols::source;

/// Source files by name, each read once.
#[derive(Default)]
pub(crate) struct Sources {
    root: PathBuf,
    /// Copies of source files, by the names of the originals.
    copies: Vec<(String, PathBuf)>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Looks for relative names below `root`.
    pub(crate) fn below(root: PathBuf) -> Self {
        Self { root, ..Self::default() }
    }

    /// Adds copies, which are used for files that cannot be read.
    pub(crate) fn add_copies(&mut self, copies: Vec<(String, PathBuf)>) {
        self.copies.extend(copies);
    }

    /// Returns a line of a file, counted from 1.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let read = || {
            let is_of = |(name, _): &&(String, PathBuf)| {
                file.strip_suffix(name.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            };
            let copy = || self.copies.iter().find(is_of).and_then(|(_, copy)| source::lines(copy));
            source::lines(&self.root.join(file)).or_else(copy)
        };
        let lines = self.files.entry(file.to_owned()).or_insert_with(read).as_ref()?;
        lines.get(usize::try_from(line).ok()?.checked_sub(1)?).map(String::as_str)
    }
}
