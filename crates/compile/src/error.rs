//! Why the wrapper refuses a command.

use std::io;
use std::path::PathBuf;

/// Everything that can go wrong before clang runs. Each message is one line and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A statically linked program calls its own copy of the C library, which the runtime cannot replace.
    #[error("{flag}: a statically linked C library cannot be controlled; link dynamically (remove {flag})")]
    StaticLink {
        /// The flag that asked for it.
        flag: String,
    },
    /// Two sanitizers cannot watch the same memory.
    #[error("-fsanitize={name} cannot be combined with RaceHunter; build without it, or with clang itself")]
    Sanitizer {
        /// The sanitizer.
        name: String,
    },
    /// The callbacks would silently not be called.
    #[error("{flag} has no effect on code that RaceHunter instruments; build without it, or with clang itself")]
    Coverage {
        /// The flag that asked for it.
        flag: String,
    },
    /// Code for another processor.
    #[error("{flag}: RaceHunter works on 64-bit x86 programs only")]
    Target {
        /// The flag that asked for it.
        flag: String,
    },
    /// No compiler that matches a plugin.
    #[error("no clang-22 or clang-19 found: install one of them (on Debian: apt-get install clang-22)")]
    NoCompiler,
    /// No compiler of the required version.
    #[error("clang-{version} not found: install it (on Debian: apt-get install clang-{version})")]
    NoCompilerOf {
        /// Major version of its LLVM.
        version: u32,
    },
    /// No plugin for the required version.
    #[error("there is no plugin for LLVM {version}, only for LLVM {supported}")]
    NoPlugin {
        /// Major version of LLVM.
        version: u32,
        /// The versions for which there are plugins.
        supported: String,
    },
    /// There is a compiler, but not the plugin for it.
    #[error("{name} not found in {searched}: reinstall RaceHunter, or set RACEHUNTER_LIB to the directory that has it")]
    Missing {
        /// The missing file.
        name: String,
        /// Where the wrapper looked for it.
        searched: String,
    },
    /// A response file that cannot be read.
    #[error("cannot read the response file {path}: {source}")]
    Response {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Response files that name each other.
    #[error("the response file {path} is nested too deeply")]
    ResponseDepth {
        /// The file.
        path: PathBuf,
    },
    /// Clang did not start.
    #[error("cannot run {program}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
}
