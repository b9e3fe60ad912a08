//! Stand-ins for the C and C++ compilers that build scripts call.
//!
//! Code for the program is instrumented like the rest of it. Code for a build script or a procedural macro is not: it
//! runs during the build, without the runtime. Cargo keeps the two in separate directories, and `OUT_DIR` says which
//! one it is.

use crate::toolchain::TARGET;
use anyhow::{Context as _, Result};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A stand-in for a compiler.
struct Compiler {
    /// The name of this program as a stand-in, and that of the compiler.
    name: &'static str,
    /// The variable from which the `cc` crate takes the compiler.
    variable: &'static str,
    /// The command that instruments.
    wrapper: &'static str,
}

const COMPILERS: [Compiler; 2] = [
    Compiler { name: "cc", variable: "CC", wrapper: "racehunter-cc" },
    Compiler { name: "c++", variable: "CXX", wrapper: "racehunter-c++" },
];

/// Compiles, if this program was called by the name of a compiler.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let name = words.next()?;
    let compiler = COMPILERS.iter().find(|it| Path::new(&name).file_name() == Some(OsStr::new(it.name)))?;
    let program = match std::env::var_os("OUT_DIR").is_some_and(|out| is_for_program(Path::new(&out))) {
        true => crate::beside(compiler.wrapper).into_os_string(),
        false => OsString::from(compiler.name),
    };
    Some(match Command::new(&program).args(words).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: cannot run {}: {error}", program.display());
            ExitCode::from(1)
        }
    })
}

/// Returns true if a build script with this `OUT_DIR` works for the program: `TARGET/PROFILE/build/NAME/out` rather
/// than `PROFILE/build/NAME/out`.
fn is_for_program(out: &Path) -> bool {
    out.ancestors().nth(4).and_then(Path::file_name) == Some(OsStr::new(TARGET))
}

/// Makes build scripts compile C and C++ through this program, unless the user has chosen a compiler.
pub fn choose(command: &mut Command, directory: &Path) -> Result<()> {
    let own = std::env::current_exe().context("cannot find the path of this program")?;
    let directory = directory.join("compilers");
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for Compiler { name, variable, .. } in COMPILERS {
        if names(variable).iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
            continue;
        }
        let link = directory.join(name);
        // It may exist and point to an older version.
        let _ = fs::remove_file(&link);
        match symlink(&own, &link) {
            // Another process has created it in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            result => result.with_context(|| format!("cannot link {}", link.display()))?,
        }
        command.env(format!("{variable}_{}", TARGET.replace('-', "_")), link);
    }
    Ok(())
}

/// Returns the variables that name a compiler for this target.
fn names(variable: &str) -> [String; 5] {
    [
        variable.to_owned(),
        format!("HOST_{variable}"),
        format!("TARGET_{variable}"),
        format!("{variable}_{TARGET}"),
        format!("{variable}_{}", TARGET.replace('-', "_")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_is_for_the_program_from_what_is_for_its_build() {
        let is = |directory: &str| is_for_program(Path::new(directory));
        assert!(is(
            "/home/me/queue/target/racehunter/rust-1.95.0/x86_64-unknown-linux-gnu/debug/build/zstd-sys-1f/out"
        ));
        assert!(!is("/home/me/queue/target/racehunter/rust-1.95.0/debug/build/zstd-sys-1f/out"));
        assert!(!is("/home/me/x86_64-unknown-linux-gnu/target/racehunter/rust-1.95.0/debug/build/zstd-sys-1f/out"));
    }
}
