//! Building a project by its own build system, which knows only the names of two compilers.

use super::source::Source;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a project is built.
pub struct Recipe<'a> {
    /// A script for `sh -eu`, which is run in the unpacked source.
    pub script: &'a str,
    /// The value of CFLAGS and CXXFLAGS.
    pub flags: &'a str,
    /// The values of CC and CXX.
    pub compilers: [PathBuf; 2],
}

/// Builds a project in an empty directory. An earlier build by the same script and compiler is reused.
pub fn build_one(recipe: &Recipe<'_>, source: &Source, place: &Path, compiled_by: u64) -> Result<(), String> {
    let error = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let done = place.with_extension("done");
    let stamp = format!("{}# {} {compiled_by:x}\n", recipe.script, recipe.flags);
    if std::fs::read_to_string(&done).is_ok_and(|known| known == stamp) {
        return Ok(());
    }
    source.unpack(place)?;
    let log = place.with_extension("log");
    let output = File::create(&log).map_err(|e| error(&log, e))?;
    let errors = output.try_clone().map_err(|e| error(&log, e))?;
    let mut shell = Command::new("sh");
    shell.args(["-euc", recipe.script]).current_dir(place).stdin(Stdio::null()).stdout(output).stderr(errors);
    let [cc, cxx] = &recipe.compilers;
    shell.env("CC", cc).env("CXX", cxx).env("CFLAGS", recipe.flags).env("CXXFLAGS", recipe.flags);
    // Not by `run`: a build can take longer than the commands of the tests may.
    let status = shell.status().map_err(|e| error(place, e))?;
    if !status.success() {
        return Err(format!("the build failed ({status}): see {}", log.display()));
    }
    std::fs::write(&done, stamp).map_err(|e| error(&done, e))
}

/// Returns a hash of the files of a directory.
pub fn digest(directory: &Path) -> u64 {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.iter().filter_map(|file| std::fs::read(file).ok()).for_each(|content| content.hash(&mut hasher));
    hasher.finish()
}
