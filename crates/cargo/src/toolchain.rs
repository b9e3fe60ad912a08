//! The Rust toolchain, and whether there is a plugin for it.

use anyhow::{Context as _, Result, bail};
use racehunter_compile::{CompileError, Toolkit};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The only target on which programs can be controlled.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A Rust toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// `1.95.0`
    pub release: String,
    /// The commit that it was built from, or `unknown`.
    pub commit: String,
    /// Major version of its LLVM.
    pub llvm: u32,
    /// Where its own libraries are.
    pub sysroot: PathBuf,
}

impl Toolchain {
    /// Returns the toolchain that cargo would use in this directory.
    pub fn discover() -> Result<Self> {
        let about = ask(&["-vV"])?;
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"])?.trim());
        Self::parse(&about, sysroot)
    }

    fn parse(about: &str, sysroot: PathBuf) -> Result<Self> {
        let field = |name: &str| {
            let line = about.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::trim).map(str::to_owned)
        };
        let release = field("release").context("rustc does not say which version it is")?;
        let host = field("host").unwrap_or_default();
        if host != TARGET {
            bail!("this toolchain is for {host}; RaceHunter needs one for {TARGET}");
        }
        let llvm = field("LLVM version").unwrap_or_default();
        let Some(major) = llvm.split('.').next().and_then(|major| major.parse().ok()) else {
            bail!("rustc {release} does not say which LLVM it has; RaceHunter needs the one of rust-lang.org");
        };
        Ok(Self { release, commit: field("commit-hash").unwrap_or_else(|| "unknown".to_owned()), llvm: major, sysroot })
    }

    /// Returns the matching compiler, plugin and runtime.
    pub fn toolkit(&self) -> Result<Toolkit> {
        Toolkit::for_llvm(self.llvm).map_err(|error| self.refusal(error))
    }

    fn refusal(&self, error: CompileError) -> anyhow::Error {
        let Self { release, llvm, .. } = self;
        match error {
            CompileError::NoPlugin { supported, .. } => anyhow::anyhow!(
                "rustc {release} uses LLVM {llvm}, and there are plugins for LLVM {supported} only; \
                 choose a toolchain that fits (rustc 1.95 has LLVM 22): cargo +1.95.0 racehunter ..."
            ),
            CompileError::NoCompilerOf { .. } => anyhow::anyhow!(
                "rustc {release} uses LLVM {llvm}, and clang-{llvm} is not installed, which instruments the standard \
                 library (on Debian: apt-get install clang-{llvm})"
            ),
            other => other.into(),
        }
    }
}

/// Returns the compiler that cargo would call.
pub fn rustc() -> OsString {
    std::env::var_os("RUSTC").filter(|name| !name.is_empty()).unwrap_or_else(|| "rustc".into())
}

fn ask(words: &[&str]) -> Result<String> {
    let rustc = rustc();
    let output = Command::new(&rustc).args(words).output();
    let output = output.with_context(|| format!("cannot run {}", rustc.display()))?;
    if !output.status.success() {
        bail!("`{} {}` failed: {}", rustc.display(), words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: &str = "rustc 1.95.0 (598 2026-04-14)\nbinary: rustc\ncommit-hash: 59807616e\nhost: \
                         x86_64-unknown-linux-gnu\nrelease: 1.95.0\nLLVM version: 22.1.2\n";

    #[test]
    fn reads_what_rustc_says() {
        let toolchain = Toolchain::parse(ABOUT, "/sysroot".into()).unwrap();
        assert_eq!((toolchain.release.as_str(), toolchain.llvm), ("1.95.0", 22));
        assert_eq!(toolchain.commit, "59807616e");
    }

    #[test]
    fn says_which_compiler_is_not_there() {
        let toolchain = Toolchain::parse(ABOUT, "/sysroot".into()).unwrap();
        let why = toolchain.refusal(CompileError::NoCompilerOf { version: 22 }).to_string();
        assert!(why.contains("apt-get install clang-22") && !why.contains('\n'), "{why}");
        let why = toolchain.refusal(CompileError::NoPlugin { version: 22, supported: "19".to_owned() }).to_string();
        assert!(why.contains("plugins for LLVM 19 only") && !why.contains('\n'), "{why}");
    }

    #[test]
    fn refuses_other_hosts_and_backends_in_one_line() {
        let refusal = |about: &str| Toolchain::parse(about, "/".into()).unwrap_err().to_string();
        let musl = refusal(&ABOUT.replace("linux-gnu", "linux-musl"));
        assert!(musl.contains("x86_64-unknown-linux-musl") && !musl.contains('\n'), "{musl}");
        let other = refusal(&ABOUT.replace("LLVM version", "Cranelift version"));
        assert!(other.contains("LLVM"), "{other}");
    }
}
