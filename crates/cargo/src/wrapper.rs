//! The rustc wrapper: cargo calls it for each crate, and it adds what instrumented code needs.
//!
//! Build scripts and procedural macros run during the build; cargo compiles them without `--target`, and the wrapper
//! leaves them unchanged. The same holds for queries that cargo and build scripts send to the compiler: unstable
//! features must stay unstable for them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The plugin. If it is set, this process stands in for rustc.
pub const PLUGIN: &str = "RACEHUNTER_RUSTC_PLUGIN";
/// The sysroot with the instrumented standard library.
pub const SYSROOT: &str = "RACEHUNTER_RUSTC_SYSROOT";
/// The runtime, for executables.
pub const RUNTIME: &str = "RACEHUNTER_RUSTC_RUNTIME";
/// What the runtime exports.
pub const DYNAMIC_LIST: &str = "RACEHUNTER_RUSTC_EXPORTS";

/// A symbol of programs with Rust's test harness: the runtime then makes the harness run without its own thread.
pub const HARNESS: &str = "__rh_libtest";

/// Compiles, if cargo has called this program as a compiler.
pub fn run_if_asked() -> Option<ExitCode> {
    let plugin = std::env::var_os(PLUGIN)?;
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let parts = Parts { plugin: plugin.into(), sysroot: of(SYSROOT), runtime: of(RUNTIME), exports: of(DYNAMIC_LIST) };
    let mut words = std::env::args_os().skip(1);
    let rustc = words.next()?;
    let words: Vec<OsString> = words.collect();
    let is_crate = std::env::var("CARGO_CRATE_NAME").is_ok_and(|name| is_instrumented(&words, &name));
    if let Some(why) = refusal(&words).filter(|_| is_crate) {
        eprintln!("error: {why}");
        return Some(ExitCode::from(1));
    }
    let mut command = Command::new(&rustc);
    match is_crate {
        false => command.args(words),
        true => {
            let added = parts.arguments(&words);
            command.args(words).args(added).env("RUSTC_BOOTSTRAP", "1").env("RACEHUNTER_RUST", "1")
        }
    };
    Some(match command.status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: cannot run {}: {error}", rustc.display());
            ExitCode::from(1)
        }
    })
}

/// Returns why a command cannot work, in one line.
fn refusal(words: &[OsString]) -> Option<&'static str> {
    let asks = |what: &str| words.iter().any(|word| word.to_string_lossy().contains(what));
    match () {
        () if asks("+crt-static") => {
            Some("target-feature=+crt-static: a statically linked C library cannot be controlled; build without it")
        }
        () if asks("prefer-dynamic") => {
            Some("prefer-dynamic: the shared standard library is not instrumented; build without it")
        }
        () => None,
    }
}

/// Returns true if this compiles a crate of the program rather than something that runs during the build.
fn is_instrumented(words: &[OsString], crate_name: &str) -> bool {
    value(words, "--target").is_some() && value(words, "--crate-name").is_some_and(|name| name == crate_name)
}

/// Returns the value of an option, in either form.
fn value<'w>(words: &'w [OsString], option: &str) -> Option<&'w OsStr> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == option {
            return words.next().map(OsString::as_os_str);
        }
        if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(option)?.strip_prefix('=')) {
            return Some(OsStr::new(value));
        }
    }
    None
}

/// The parts that are added to compilations.
struct Parts {
    plugin: PathBuf,
    sysroot: PathBuf,
    runtime: PathBuf,
    exports: PathBuf,
}

impl Parts {
    fn arguments(&self, words: &[OsString]) -> Vec<OsString> {
        let mut line = Vec::new();
        let mut add = |prefix: &str, path: &OsStr| {
            let mut word = OsString::from(prefix);
            word.push(path);
            line.push(word);
        };
        add("--sysroot=", self.sysroot.as_os_str());
        add("-Zllvm-plugins=", self.plugin.as_os_str());
        // If an option occurs twice, the last one applies.
        for option in ["debuginfo=2", "strip=none", "split-debuginfo=off", "force-frame-pointers=yes", "lto=off"] {
            add("-C", OsStr::new(option));
        }
        let is_executable = words.iter().any(|word| word == "--test")
            || value(words, "--crate-type")
                .is_none_or(|kind| kind.to_string_lossy().split(',').any(|kind| kind == "bin"));
        if is_executable {
            // Not through `-Wl,`, which would split a path at commas.
            for (prefix, path) in [("--dynamic-list=", &self.exports), ("--whole-archive", &PathBuf::new())] {
                add("-Clink-arg=", OsStr::new("-Xlinker"));
                let mut word = OsString::from(prefix);
                word.push(path);
                add("-Clink-arg=", &word);
            }
            add("-Clink-arg=", self.runtime.as_os_str());
            add("-Clink-arg=", OsStr::new("-Wl,--no-whole-archive"));
            add("-Clink-arg=", OsStr::new("-lpthread"));
            add("-Clink-arg=", OsStr::new("-ldl"));
            add("-Clink-arg=-Wl,--defsym=", OsStr::new("__rh_rust=1"));
        }
        // A test with its own harness is compiled like any program.
        if words.iter().any(|word| word == "--test") {
            add("-Clink-arg=-Wl,--defsym=", OsStr::new(&format!("{HARNESS}=1")));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn added(line: &str) -> String {
        let parts =
            Parts { plugin: "p.so".into(), sysroot: "sys".into(), runtime: "rt.a".into(), exports: "list".into() };
        let added = parts.arguments(&words(line));
        added.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn leaves_alone_what_runs_while_the_program_is_built() {
        assert!(is_instrumented(&words("--crate-name queue src/lib.rs --target x86_64-unknown-linux-gnu"), "queue"));
        assert!(is_instrumented(&words("--crate-name=queue src/lib.rs --target=x86_64-unknown-linux-gnu"), "queue"));
        assert!(!is_instrumented(&words("--crate-name build_script_build build.rs"), "build_script_build"));
        // A query of a build script about what the compiler supports.
        assert!(!is_instrumented(&words("--crate-name probe - --target x86_64-unknown-linux-gnu"), "queue"));
    }

    #[test]
    fn refuses_in_one_line_what_cannot_work() {
        let why = refusal(&words("--crate-name a -C target-feature=+crt-static")).unwrap();
        assert!(why.contains("statically") && !why.contains('\n'), "{why}");
        assert!(refusal(&words("--crate-name a -C prefer-dynamic")).is_some());
        assert!(refusal(&words("--crate-name a -C target-feature=+avx2,-crt-static")).is_none());
    }

    #[test]
    fn links_the_runtime_into_executables_only() {
        let link = "-Clink-arg=rt.a -Clink-arg=-Wl,--no-whole-archive";
        assert!(added("--test --crate-type lib").contains(link));
        assert!(added("--crate-type bin").contains(link));
        assert!(!added("--crate-type lib").contains("-Clink-arg"));
        assert!(!added("--crate-type=cdylib,rlib").contains("-Clink-arg"));
        assert!(added("--crate-type lib").starts_with("--sysroot=sys -Zllvm-plugins=p.so -Cdebuginfo=2"));
    }
}
