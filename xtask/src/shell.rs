//! Running other programs.

use anyhow::{Context as _, Result, bail};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A command to run at the root of the project.
pub struct Shell {
    command: Command,
    name: String,
}

/// Returns the root of the project.
pub fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// Returns the build directory of cargo.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path))
}

/// Returns a program with arguments.
pub fn shell(program: impl AsRef<OsStr>, arguments: &[&str]) -> Shell {
    let name = format!("{} {}", program.as_ref().to_string_lossy(), arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    Shell { command, name }
}

/// Returns the cargo that runs this.
pub fn cargo(arguments: &[&str]) -> Shell {
    shell(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments)
}

impl Shell {
    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it; fails unless it succeeds.
    pub fn done(mut self) -> Result<()> {
        let status = self.command.status().with_context(|| format!("cannot run `{}`", self.name))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.name);
        }
        Ok(())
    }

    /// Runs it and returns the status.
    pub fn status(mut self) -> Result<Option<i32>> {
        Ok(self.command.status().with_context(|| format!("cannot run `{}`", self.name))?.code())
    }

    /// Runs it without output, and returns true if it succeeded.
    pub fn succeeds(mut self) -> bool {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// Runs it and returns its output; fails unless it succeeds.
    pub fn output(mut self) -> Result<String> {
        let output =
            self.command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run `{}`", self.name))?;
        if !output.status.success() {
            bail!("`{}` failed ({})", self.name, output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
