//! Building with cargo.

use crate::arguments;
use crate::compilers;
use crate::output::Voice;
use crate::sysroot::{self, Sysroot};
use crate::toolchain::{TARGET, Toolchain};
use crate::wrapper;
use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use racehunter_compile::Toolkit;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The directory of the findings, below the root of the workspace.
pub const OUT: &str = ".racehunter";

/// An executable that cargo has built.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name of its package.
    pub package: String,
    /// Name of the target: that of the library, program or test.
    pub name: String,
    /// Kind of the target: `lib`, `bin`, `test`, `example`.
    pub kind: String,
    /// It was built as a test.
    pub is_test: bool,
    /// Where it is.
    pub path: PathBuf,
    /// The directory of its package.
    pub directory: PathBuf,
}

impl Program {
    /// Returns `queue` for the tests in a library, `queue::stress` for others.
    pub fn title(&self) -> String {
        match self.kind.as_str() {
            "test" | "example" | "bench" => format!("{}::{}", self.package, self.name),
            "bin" => format!("{}::bin/{}", self.package, self.name),
            _ => self.package.clone(),
        }
    }
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<TargetOf>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct TargetOf {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

fn metadata(manifest: Option<&str>) -> Result<Metadata> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(manifest) = manifest {
        command.args(["--manifest-path", manifest]);
    }
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata says something that is not understood")
}

/// Returns the root of the workspace of a manifest, or of this directory.
pub fn workspace_root(manifest: Option<&str>) -> Result<PathBuf> {
    Ok(metadata(manifest)?.workspace_root)
}

/// The results of a build, and where findings go.
pub struct Built {
    /// All executables.
    pub programs: Vec<Program>,
    /// Directory of the findings.
    pub out: PathBuf,
    /// The directory that the names of source files are relative to.
    pub root: PathBuf,
}

/// Builds the tests of a crate, or its programs.
pub fn build(matches: &ArgMatches, tests: bool, voice: Voice) -> Result<Built> {
    let (command, metadata) = prepare(matches, tests, voice)?;
    let mut programs: Vec<Program> = compile(command)?.into_iter().filter_map(program).collect();
    programs.sort_by_key(|program| (program.package.clone(), program.kind != "lib", program.name.clone()));
    let named = matches.get_one::<PathBuf>("out").map(std::path::absolute).transpose()?;
    let out = named.unwrap_or_else(|| metadata.workspace_root.join(OUT));
    Ok(Built { programs, out, root: metadata.workspace_root })
}

/// `cargo racehunter build`: prints the paths of the executables and of the libraries for other languages.
pub fn run(matches: &ArgMatches) -> Result<u8> {
    let (command, _) = prepare(matches, false, Voice::of(matches))?;
    for file in compile(command)?.into_iter().flat_map(results) {
        println!("{}", file.display());
    }
    Ok(0)
}

/// Returns the executables and the libraries for other languages among the results of cargo.
fn results(message: Message) -> Vec<PathBuf> {
    let kinds = message.target.map(|target| target.kind).unwrap_or_default();
    if message.reason != "compiler-artifact"
        || kinds.iter().any(|kind| ["proc-macro", "custom-build"].contains(&&**kind))
    {
        return Vec::new();
    }
    let is_library = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "a" || extension == "so");
    message.filenames.into_iter().filter(is_library).chain(message.executable).collect()
}

/// Returns the command that builds, ready to run.
fn prepare(matches: &ArgMatches, tests: bool, voice: Voice) -> Result<(Command, Metadata)> {
    if let Some(target) = matches.get_one::<String>("target").filter(|target| *target != TARGET) {
        bail!(
            "--target {target}: what is hunted runs on this machine, under control of the C library; only {TARGET} can"
        );
    }
    let toolchain = Toolchain::discover()?;
    let toolkit = toolchain.toolkit()?;
    let metadata = metadata(matches.get_one::<String>("manifest-path").map(String::as_str))?;
    let directory = matches.get_one::<PathBuf>("sysroot-dir");
    let sysroot = sysroot::provide(&toolchain, &toolkit, directory.map(PathBuf::as_path), voice)?;
    let mut command = cargo();
    match tests {
        true => command.args(["test", "--no-run"]),
        false => command.arg("build"),
    };
    command.args(["--message-format", "json-render-diagnostics", "--target", TARGET]);
    command.args(arguments::for_cargo(matches));
    if voice == Voice::Quiet {
        command.arg("--quiet");
    }
    let usual = metadata.target_directory.join("racehunter");
    let target_dir = matches.get_one::<PathBuf>("target-dir").cloned().unwrap_or(usual);
    environment(&mut command, &toolkit, &sysroot, &target_dir)?;
    Ok((command, metadata))
}

/// Makes cargo compile through this program.
fn environment(command: &mut Command, toolkit: &Toolkit, sysroot: &Sysroot, target_dir: &Path) -> Result<()> {
    let own = std::env::current_exe().context("cannot find the path of this program")?;
    // Cargo does not notice that another plugin or runtime leads to another program.
    let name = format!("{}-{:08x}", sysroot.name, sysroot::hash(&toolkit.runtime)?);
    let target_dir = target_dir.join(name);
    compilers::choose(command, &target_dir)?;
    command.env("CARGO_TARGET_DIR", target_dir).env("RUSTC_WRAPPER", own);
    command.env(wrapper::PLUGIN, &toolkit.plugin).env(wrapper::SYSROOT, &sysroot.path);
    command.env(wrapper::RUNTIME, &toolkit.runtime).env(wrapper::DYNAMIC_LIST, &toolkit.dynamic_list);
    // Link-time optimisation would need instrumented bitcode.
    for profile in ["DEV", "TEST", "RELEASE", "BENCH"] {
        command.env(format!("CARGO_PROFILE_{profile}_LTO"), "off");
    }
    Ok(())
}

/// Runs cargo, and collects its messages.
fn compile(mut command: Command) -> Result<Vec<Message>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let stdout = child.stdout.take().context("cargo has no output")?;
    let mut messages = Vec::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("cannot read what cargo says")?;
        // Build scripts may print anything.
        messages.extend(serde_json::from_str::<Message>(&line).ok());
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        bail!("the crate does not compile");
    }
    Ok(messages)
}

fn program(message: Message) -> Option<Program> {
    let (target, profile) = (message.target?, message.profile?);
    if message.reason != "compiler-artifact" {
        return None;
    }
    let path = message.executable?;
    let directory = message.manifest_path.parent()?.to_path_buf();
    let kind = target.kind.into_iter().next().unwrap_or_default();
    let kind = if kind.ends_with("lib") { "lib".to_owned() } else { kind };
    Some(Program {
        package: package(&message.package_id),
        name: target.name,
        kind,
        is_test: profile.test,
        path,
        directory,
    })
}

/// Returns the name of a package: `queue` of `path+file:///home/me/queue#0.1.0` and of
/// `registry+https://...#queue@0.1.0`.
fn package(id: &str) -> String {
    let (place, rest) = id.rsplit_once('#').unwrap_or(("", id));
    match rest.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => place.rsplit('/').next().unwrap_or(rest).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_packages() {
        assert_eq!(package("path+file:///home/me/queue#0.1.0"), "queue");
        assert_eq!(package("path+file:///home/me/dir#queue@0.1.0"), "queue");
        assert_eq!(package("registry+https://example.org/index#queue@0.1.0"), "queue");
    }

    #[test]
    fn takes_executables_from_what_cargo_says() {
        let line = r#"{"reason":"compiler-artifact","package_id":"path+file:///q#0.1.0","manifest_path":"/q/Cargo.toml",
            "target":{"kind":["lib"],"crate_types":["lib"],"name":"q","src_path":"/q/src/lib.rs"},
            "profile":{"opt_level":"0","test":true},"filenames":[],"executable":"/q/target/debug/deps/q-1","fresh":true}"#;
        let program = program(serde_json::from_str(line).unwrap()).unwrap();
        assert_eq!((program.title().as_str(), program.is_test), ("q", true));
        assert_eq!(program.directory, Path::new("/q"));
        let library = r#"{"reason":"compiler-artifact","package_id":"path+file:///q#0.1.0","manifest_path":"/q/Cargo.toml",
            "target":{"kind":["staticlib","rlib"],"crate_types":["staticlib","rlib"],"name":"q","src_path":"/q/src/lib.rs"},
            "profile":{"opt_level":"0","test":false},"filenames":["/q/libq.a","/q/libq.rlib"],"executable":null,"fresh":true}"#;
        assert_eq!(results(serde_json::from_str(library).unwrap()), [Path::new("/q/libq.a")]);
        let other = r#"{"reason":"build-script-executed","package_id":"p","linked_libs":[],"out_dir":"/o"}"#;
        assert!(super::program(serde_json::from_str(other).unwrap()).is_none());
    }
}
