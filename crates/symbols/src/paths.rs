//! File names as the user would type them.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};

use rustc_hash::FxHashMap;

/// The working directory as Bazel records it, wherever it compiles.
const ANY_WORKING: &str = "/proc/self/cwd";

/// Shortens the names that the compiler recorded, and caches them, because each is needed many times.
pub(crate) struct Paths {
    working: PathBuf,
    known: RefCell<FxHashMap<String, String>>,
}

impl Paths {
    /// Creates a table in which names below `working` become relative to it.
    pub(crate) fn new(working: PathBuf) -> Self {
        Self { working, known: RefCell::default() }
    }

    /// Returns the name to show for `recorded`.
    pub(crate) fn shown(&self, recorded: &str) -> String {
        if let Some(known) = self.known.borrow().get(recorded) {
            return known.clone();
        }
        let shown = self.shorten(recorded);
        self.known.borrow_mut().insert(recorded.to_owned(), shown.clone());
        shown
    }

    fn shorten(&self, recorded: &str) -> String {
        let tidy = without_detours(Path::new(recorded));
        let relative =
            tidy.strip_prefix(&self.working).or_else(|_| tidy.strip_prefix(ANY_WORKING)).map(Path::to_path_buf);
        match relative {
            Ok(relative) if !relative.as_os_str().is_empty() => relative.to_string_lossy().into_owned(),
            _ => tidy.to_string_lossy().into_owned(),
        }
    }
}

/// Converts `a/./b/../c` to `a/c`. With symbolic links the two can differ, so a name that exists only in its long form
/// stays.
fn without_detours(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    if path.exists() && !tidy.exists() { path.to_path_buf() } else { tidy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_the_working_directory_are_relative() {
        let paths = Paths::new(PathBuf::from("/home/me/project"));
        assert_eq!(paths.shown("/home/me/project/src/queue.c"), "src/queue.c");
        assert_eq!(paths.shown("/home/me/project/build/../src/./queue.c"), "src/queue.c");
        assert_eq!(paths.shown("/home/me/projects/queue.c"), "/home/me/projects/queue.c");
        assert_eq!(paths.shown("/proc/self/cwd/src/queue.c"), "src/queue.c");
        assert_eq!(paths.shown("queue.c"), "queue.c");
        assert_eq!(paths.shown("../queue.c"), "../queue.c");
        assert_eq!(paths.shown(""), "");
    }
}
