//! The user's source files, read when they are quoted.

use std::collections::HashMap;
use std::path::PathBuf;

use racehunter_symbols::source;

/// Source files by name, each read once.
#[derive(Default)]
pub(crate) struct Sources {
    root: PathBuf,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Relative names are below `root`.
    pub(crate) fn below(root: PathBuf) -> Self {
        Self { root, files: HashMap::new() }
    }

    /// A line of a file, counted from 1.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let lines =
            self.files.entry(file.to_owned()).or_insert_with(|| source::lines(&self.root.join(file))).as_ref()?;
        lines.get(usize::try_from(line).ok()?.checked_sub(1)?).map(String::as_str)
    }
}
