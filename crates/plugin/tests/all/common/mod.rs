//! Runs compilers with the plugin.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// LLVM version that the plugin under test was built for.
pub const VERSION: u32 = if cfg!(feature = "llvm19") { 19 } else { 22 };

/// The levels of optimisation that everything is tried at.
pub const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// Returns the plugin beside the command that `RACEHUNTER` names, as in `cargo xtask test`. Otherwise builds it, once:
/// cargo builds no `cdylib` for integration tests.
pub fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        if let Some(command) = std::env::var_os("RACEHUNTER") {
            let home = Path::new(&command).ancestors().nth(2).unwrap();
            return home.join(format!("lib/racehunter/libracehunter_plugin_{VERSION}.so"));
        }
        let test = std::env::current_exe().unwrap();
        // The tests are in `deps`, in the directory of the profile, in the target directory.
        let target = test.ancestors().nth(3).unwrap().join(format!("plugin-{VERSION}"));
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--release", "--package", "racehunter-plugin", "--no-default-features"]);
        cargo.arg(format!("--features=llvm{VERSION}")).arg("--target-dir").arg(&target);
        succeed(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
        target.join("release/libracehunter_plugin.so")
    })
}

/// Returns a file next to the tests.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

/// Returns a program of LLVM, in the version of the plugin.
pub fn tool(name: &str) -> Command {
    Command::new(format!("{name}-{VERSION}"))
}

/// Returns the compiler for a source file.
pub fn compiler(source: &Path) -> Command {
    let is_cxx = source.extension().is_some_and(|extension| extension == "cc");
    let mut command = tool(if is_cxx { "clang++" } else { "clang" });
    // With everything enabled. The end-to-end tests cover builds without it.
    command.env("RACEHUNTER_SHORTCUTS", "1");
    command
}

/// Returns the compiler with the flags that the wrapper adds.
pub fn instrumenting(source: &Path) -> Command {
    let mut command = compiler(source);
    command.args(["-fsanitize=thread", "-g", "-fno-omit-frame-pointer", "-Xclang", "-disable-O0-optnone"]);
    command.arg(format!("-fpass-plugin={}", plugin().display()));
    command
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns true if a program is installed.
pub fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles a source to LLVM code, and lets LLVM verify it.
pub fn verified(source: &Path, flags: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let code = directory.path().join("code.bc");
    succeed(instrumenting(source).args(flags).args(["-c", "-emit-llvm"]).arg(source).arg("-o").arg(&code));
    succeed(tool("opt").args(["-passes=verify", "-disable-output"]).arg(&code));
}

/// Returns the LLVM code of a source.
pub fn code(source: &Path, flags: &[&str]) -> Code {
    let output = succeed(instrumenting(source).args(flags).args(["-S", "-emit-llvm", "-o", "-"]).arg(source));
    Code(String::from_utf8(output.stdout).unwrap())
}

/// LLVM code as text.
pub struct Code(pub String);

impl Code {
    /// Returns the lines of a function.
    pub fn function(&self, name: &str) -> Vec<&str> {
        let mut lines =
            self.0.lines().skip_while(|line| !(line.starts_with("define") && line.contains(&format!("@{name}("))));
        let head = lines.next().unwrap_or_else(|| panic!("no function {name}"));
        std::iter::once(head).chain(lines.take_while(|line| *line != "}")).collect()
    }

    /// Returns the hooks of a function in order, without those that only trace or report what is not seen.
    pub fn hooks(&self, function: &str) -> Vec<String> {
        let others = ["branch", "enter", "leave", "call", "reached", "reached_through", "scope_begin", "scope_end"];
        self.all_hooks(function).into_iter().filter(|hook| !others.contains(&hook.as_str())).collect()
    }

    /// Returns all hooks of a function, in the order of the text.
    pub fn all_hooks(&self, function: &str) -> Vec<String> {
        let calls = self.function(function).into_iter().filter_map(|line| line.split_once("void @__rh_"));
        calls.filter_map(|(_, rest)| Some(rest.split_once('(')?.0.to_owned())).collect()
    }
}
