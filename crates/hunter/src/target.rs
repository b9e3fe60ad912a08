//! From the user's target to a program that can be run.

use crate::{Error, digest, files};
use racehunter_compile::{Language, Toolkit};
use racehunter_symbols::Symbols;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Returns the program for a target: a source file is compiled to a program below `out`. With `shortcuts`, executions
/// can skip code that is irrelevant to them.
///
/// # Errors
/// If the file does not exist or does not compile.
pub fn prepare(target: &Path, cflags: Option<&str>, out: &Path, shortcuts: bool) -> Result<PathBuf, Error> {
    if !target.exists() {
        return Err(Error::Missing(target.to_path_buf()));
    }
    if target.is_dir() {
        return Err(Error::Directory(target.to_path_buf()));
    }
    let program = match language(target) {
        Some(language) => build(target, language, cflags, out, shortcuts)?,
        None if cflags.is_some() => return Err(Error::NotASource(target.to_path_buf())),
        None => target.to_path_buf(),
    };
    // A name without a slash would be searched for in PATH.
    program.canonicalize().map_err(Error::file("find", &program))
}

/// Returns the symbols of the program, if it can be hunted.
pub(crate) fn symbols(program: &Path) -> Result<Symbols, Error> {
    Symbols::load_huntable(program)?.map_err(|binary| {
        let help = binary.help().map(ToString::to_string);
        Error::NotHuntable { message: binary.to_string(), help }
    })
}

/// Returns the language of a source file, by its name.
#[must_use]
pub fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" | "i" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" | "cp" => Some(Language::Cxx),
        _ => None,
    }
}

/// Returns the words of `--cflags`, split as a shell would.
pub(crate) fn compiler_options(cflags: Option<&str>) -> Result<Vec<OsString>, Error> {
    let text = cflags.unwrap_or_default();
    let words = shlex::split(text).ok_or_else(|| Error::Quotation(text.to_owned()))?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Compiles one file to a program below `out`, where it stays for replays.
///
/// Without optimisation: an optimiser removes racy reads, or moves them out of their loop, and copies accesses with the
/// functions that it inlines. Executions spend most of their time elsewhere.
fn build(
    source: &Path,
    language: Language,
    cflags: Option<&str>,
    out: &Path,
    shortcuts: bool,
) -> Result<PathBuf, Error> {
    let toolkit = Toolkit::discover()?;
    let full = source.canonicalize().map_err(Error::file("find", source))?;
    let flags = cflags.map_or_else(String::new, |flags| format!("={flags}"));
    let number = digest::number([full.as_os_str().as_bytes(), flags.as_bytes(), &[u8::from(shortcuts)]]);
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let directory = out.join("build");
    files::check_out(out)?;
    files::directory(&directory)?;
    let program = directory.join(format!("{name}-{:08x}", number as u32));
    let mut arguments: Vec<OsString> = vec!["-O0".into(), "-g".into(), "-pthread".into()];
    arguments.extend(compiler_options(cflags)?);
    arguments.extend([source.into(), "-lm".into()]);
    let environment: &[_] = if shortcuts { &[("RACEHUNTER_SHORTCUTS", "1")] } else { &[] };
    if !compile(language, arguments, &program, &toolkit, environment)? {
        return Err(Error::DoesNotCompile(source.to_path_buf()));
    }
    Ok(program)
}

/// Runs the compiler for `output`, which gets its name only when it is complete: another command may be using the
/// previous one. Returns false if the compiler rejects the source.
pub(crate) fn compile(
    language: Language,
    mut arguments: Vec<OsString>,
    output: &Path,
    toolkit: &Toolkit,
    environment: &[(&str, &str)],
) -> Result<bool, Error> {
    let unfinished = files::name_beside(output)?;
    arguments.extend(["-o".into(), unfinished.as_os_str().into()]);
    if !racehunter_compile::run_with(language, arguments, toolkit, environment)?.success() {
        return Ok(false);
    }
    unfinished.persist(output).map_err(|error| Error::file("write", output)(error.error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_compiler_are_read_as_a_shell_reads_them() {
        let words = |text| compiler_options(Some(text)).expect("good quotation");
        assert_eq!(words("-O2  -DA=1"), ["-O2", "-DA=1"]);
        assert_eq!(words("-DNAME='\"a b\"' -I'my files'"), ["-DNAME=\"a b\"", "-Imy files"]);
        assert!(compiler_options(None).expect("nothing").is_empty());
        assert!(matches!(compiler_options(Some("-DA='")), Err(Error::Quotation(_))));
    }
}
