//! Where the compiler, the plugin and the runtime are.

use std::env;
use std::path::{Path, PathBuf};

use crate::{CompileError, Language};

/// LLVM versions for which there is a plugin, the preferred one first.
const VERSIONS: [u32; 2] = [22, 19];
/// The runtime, as a static library.
const RUNTIME: &str = "libracehunter_rt.a";
/// Symbols of the runtime that shared libraries use.
const DYNAMIC_LIST: &str = "racehunter.dynlist";

/// One installed compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// `clang`.
    pub c: PathBuf,
    /// `clang++`.
    pub cxx: PathBuf,
    /// Major version of its LLVM.
    pub version: u32,
}

/// Everything that a compilation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolkit {
    /// The compiler.
    pub compiler: Compiler,
    /// The plugin for this compiler.
    pub plugin: PathBuf,
    /// The runtime.
    pub runtime: PathBuf,
    /// The list of the runtime's symbols to export.
    pub dynamic_list: PathBuf,
    /// The directory with `racehunter.h`, if it exists.
    pub include: Option<PathBuf>,
}

impl Toolkit {
    /// Looks for everything: in the directory that `RACEHUNTER_LIB` names, otherwise in `../lib/racehunter` beside
    /// the running program; picks the newest clang that has a plugin there.
    ///
    /// # Errors
    ///
    /// When something is missing; the message says what to install.
    pub fn discover() -> Result<Self, CompileError> {
        let compilers: Vec<Compiler> = VERSIONS.iter().filter_map(|&version| find_compiler(version)).collect();
        Self::choose(&search_path(), &compilers)
    }

    /// Looks for everything that belongs to one LLVM version, for code that another compiler has produced.
    ///
    /// # Errors
    ///
    /// If there is no plugin for this version, or something else is missing.
    pub fn for_llvm(version: u32) -> Result<Self, CompileError> {
        Self::of_version(&search_path(), version, find_compiler(version))
    }

    fn of_version(search: &[PathBuf], version: u32, compiler: Option<Compiler>) -> Result<Self, CompileError> {
        let is_there = |version: u32| search.iter().any(|directory| directory.join(plugin_name(version)).exists());
        if !is_there(version) {
            let supported: Vec<String> =
                VERSIONS.iter().filter(|&&version| is_there(version)).map(u32::to_string).collect();
            return Err(CompileError::NoPlugin { version, supported: supported.join(" and ") });
        }
        Self::choose(search, &[compiler.ok_or(CompileError::NoCompilerOf { version })?])
    }

    /// Chooses among the compilers, given in order of preference, the first that has a plugin.
    fn choose(search: &[PathBuf], compilers: &[Compiler]) -> Result<Self, CompileError> {
        let find = |name: &str| search.iter().map(|directory| directory.join(name)).find(|path| path.exists());
        let missing = |name: &str| CompileError::Missing { name: name.to_owned(), searched: list(search) };
        let preferred = compilers.first().ok_or(CompileError::NoCompiler)?;
        let (compiler, plugin) = compilers
            .iter()
            .find_map(|compiler| Some((compiler, find(&plugin_name(compiler.version))?)))
            .ok_or_else(|| missing(&plugin_name(preferred.version)))?;
        Ok(Self {
            compiler: compiler.clone(),
            plugin,
            runtime: find(RUNTIME).ok_or_else(|| missing(RUNTIME))?,
            dynamic_list: find(DYNAMIC_LIST).ok_or_else(|| missing(DYNAMIC_LIST))?,
            include: find("include"),
        })
    }

    /// Returns the program that compiles a language.
    #[must_use]
    pub fn program(&self, language: Language) -> &Path {
        match language {
            Language::C => &self.compiler.c,
            Language::Cxx => &self.compiler.cxx,
        }
    }
}

/// Returns where plugins and runtime may be.
fn search_path() -> Vec<PathBuf> {
    let beside = env::current_exe().ok().and_then(|program| {
        let program = program.canonicalize().unwrap_or(program);
        Some(program.parent()?.parent()?.join("lib/racehunter"))
    });
    let named = env::var_os("RACEHUNTER_LIB").filter(|name| !name.is_empty()).map(PathBuf::from);
    named.into_iter().chain(beside).collect()
}

fn plugin_name(version: u32) -> String {
    format!("libracehunter_plugin_{version}.so")
}

fn list(directories: &[PathBuf]) -> String {
    let names: Vec<_> = directories.iter().map(|directory| directory.display().to_string()).collect();
    names.join(" or ")
}

/// Returns the compiler of one version: on the search path, or where Debian keeps it.
fn find_compiler(version: u32) -> Option<Compiler> {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = PathBuf::from(format!("/usr/lib/llvm-{version}/bin"));
    let on_path = env::split_paths(&path)
        .map(|directory| (directory.join(format!("clang-{version}")), directory.join(format!("clang++-{version}"))));
    let installed = std::iter::once((debian.join("clang"), debian.join("clang++")));
    on_path.chain(installed).find(|(c, cxx)| c.is_file() && cxx.is_file()).map(|(c, cxx)| Compiler { c, cxx, version })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn compiler(version: u32) -> Compiler {
        Compiler { c: format!("clang-{version}").into(), cxx: format!("clang++-{version}").into(), version }
    }

    fn install(directory: &Path, names: &[&str]) {
        for name in names {
            fs::write(directory.join(name), "").unwrap();
        }
    }

    #[test]
    fn prefers_the_newest_compiler_that_has_a_plugin() {
        let directory = tempfile::tempdir().unwrap();
        let search = [directory.path().to_owned()];
        install(directory.path(), &[RUNTIME, DYNAMIC_LIST, "libracehunter_plugin_19.so"]);
        let both = [compiler(22), compiler(19)];
        assert_eq!(Toolkit::choose(&search, &both).unwrap().compiler.version, 19);
        install(directory.path(), &["libracehunter_plugin_22.so"]);
        let toolkit = Toolkit::choose(&search, &both).unwrap();
        assert_eq!(toolkit.compiler.version, 22);
        assert_eq!(toolkit.program(Language::Cxx), Path::new("clang++-22"));
        assert_eq!(toolkit.include, None);
    }

    #[test]
    fn says_what_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        let search = [directory.path().to_owned()];
        let message = Toolkit::choose(&search, &[]).unwrap_err().to_string();
        assert!(message.contains("apt-get install clang-22"), "{message}");
        let message = Toolkit::choose(&search, &[compiler(19)]).unwrap_err().to_string();
        assert!(message.contains("libracehunter_plugin_19.so") && message.contains("RACEHUNTER_LIB"), "{message}");
        install(directory.path(), &["libracehunter_plugin_19.so"]);
        let message = Toolkit::choose(&search, &[compiler(19)]).unwrap_err().to_string();
        assert!(message.contains(RUNTIME), "{message}");
        assert!(!message.contains('\n'));
    }

    #[test]
    fn takes_the_version_that_is_asked_for_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let search = [directory.path().to_owned()];
        install(directory.path(), &[RUNTIME, DYNAMIC_LIST, "libracehunter_plugin_19.so", "libracehunter_plugin_22.so"]);
        assert_eq!(Toolkit::of_version(&search, 19, Some(compiler(19))).unwrap().compiler.version, 19);
        let message = Toolkit::of_version(&search, 21, Some(compiler(21))).unwrap_err().to_string();
        assert!(message.contains("LLVM 21") && message.contains("22 and 19"), "{message}");
        let message = Toolkit::of_version(&search, 22, None).unwrap_err().to_string();
        assert!(message.contains("clang-22"), "{message}");
    }

    #[test]
    fn finds_files_in_any_of_the_directories() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        install(first.path(), &["libracehunter_plugin_22.so"]);
        install(second.path(), &[RUNTIME, DYNAMIC_LIST]);
        fs::create_dir(second.path().join("include")).unwrap();
        let search = [first.path().to_owned(), second.path().to_owned()];
        let toolkit = Toolkit::choose(&search, &[compiler(22)]).unwrap();
        assert_eq!(toolkit.include, Some(second.path().join("include")));
    }
}
