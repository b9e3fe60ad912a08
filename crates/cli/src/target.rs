//! From what the user names to a program that can be run.

use crate::exit::advise;
use crate::files;
use anyhow::{Context as _, Result, bail};
use racehunter_compile::{Language, Toolkit};
use racehunter_symbols::{Symbols, inspect};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Compiles a source file, and looks at a program before it is run.
pub fn prepare(target: &Path, cflags: Option<&str>, out: &Path, shortcuts: bool) -> Result<PathBuf> {
    if !target.exists() {
        bail!("`{}` does not exist", target.display());
    }
    if target.is_dir() {
        bail!("`{}` is a directory, not a program or source file", target.display());
    }
    let program = match language(target) {
        Some(language) => build(target, language, cflags, out, shortcuts)?,
        None if cflags.is_some() => {
            bail!("--cflags is for source files, and `{}` is not one", target.display())
        }
        None => target.to_path_buf(),
    };
    // A name without a slash would be searched for in PATH.
    program.canonicalize().with_context(|| format!("cannot find `{}`", program.display()))
}

/// Symbols of the program, if it is one that can be hunted.
pub fn symbols(program: &Path) -> Result<Symbols> {
    let binary = inspect(program)?;
    if !binary.is_huntable() {
        let message = binary.to_string();
        return Err(match binary.help() {
            Some(help) => advise(message, help),
            None => anyhow::anyhow!(message),
        });
    }
    Ok(Symbols::load(program)?)
}

/// The language of a source file, by its name.
pub fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" | "i" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" | "cp" => Some(Language::Cxx),
        _ => None,
    }
}

/// Compiles one file to a program below `out`, where it stays for replays.
///
/// Without optimisation: an optimiser takes racy reads away, or out of their loop, and copies the places of accesses with
/// the functions that it inlines. What executions take is mostly not the program's own code.
fn build(source: &Path, language: Language, cflags: Option<&str>, out: &Path, shortcuts: bool) -> Result<PathBuf> {
    let toolkit = Toolkit::discover()?;
    let full = source.canonicalize().with_context(|| format!("cannot find `{}`", source.display()))?;
    let mut hasher = DefaultHasher::new();
    (&full, cflags, shortcuts).hash(&mut hasher);
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let directory = out.join("build");
    files::check_out(out)?;
    files::directory(&directory)?;
    let program = directory.join(format!("{name}-{:08x}", hasher.finish() as u32));
    let mut arguments: Vec<OsString> = vec!["-O0".into(), "-g".into(), "-pthread".into()];
    arguments.extend(cflags.unwrap_or_default().split_ascii_whitespace().map(OsString::from));
    arguments.extend([source.into(), "-lm".into()]);
    let environment: &[_] = if shortcuts { &[("RACEHUNTER_SHORTCUTS", "1")] } else { &[] };
    if !compile(language, arguments, &program, &toolkit, environment)? {
        bail!("`{}` does not compile", source.display());
    }
    Ok(program)
}

/// Runs the compiler for `output`.
pub fn compile(
    language: Language,
    mut arguments: Vec<OsString>,
    output: &Path,
    toolkit: &Toolkit,
    environment: &[(&str, &str)],
) -> Result<bool> {
    in_place(output, |unfinished| {
        arguments.extend(["-o".into(), unfinished.into()]);
        Ok(racehunter_compile::run_with(language, arguments, toolkit, environment)?.success())
    })
}

/// Makes a file that has its name only when it is whole: another command may be using the one before.
pub fn in_place(path: &Path, make: impl FnOnce(&Path) -> Result<bool>) -> Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!(".{}.{name}", std::process::id()));
    if std::fs::symlink_metadata(&unfinished).is_ok() {
        std::fs::remove_file(&unfinished).with_context(|| format!("cannot remove `{}`", unfinished.display()))?;
    }
    if !make(&unfinished)? {
        return Ok(false);
    }
    std::fs::rename(&unfinished, path).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(true)
}
