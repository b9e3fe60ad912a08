//! Building the measured programs, in three ways each.
//!
//! Objects are cached in the target directory under a hash of everything that they are made from: SQLite takes a minute
//! to compile, and most changes between two measurements are in the runtime, which affects only linking.

use anyhow::{Context as _, Result, bail};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a program is built. All of them use the same compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Build {
    /// By the compiler alone.
    Plain,
    /// With ThreadSanitizer.
    Tsan,
    /// By RaceHunter's wrapper.
    Ours,
    /// The same, with shortcuts for executions that track few variables.
    Selective,
}

/// What a program is made from.
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// Further options of the compiler.
    pub flags: Vec<String>,
}

/// Returns a program of `programs/`, by its name without `.c`.
pub fn source(name: &'static str) -> Source {
    Source { name, files: vec![sources().join(format!("{name}.c"))], flags: Vec::new() }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Builds programs.
pub struct Programs {
    racehunter: PathBuf,
    compiler: PathBuf,
    compiler_version: String,
    directory: PathBuf,
    /// A hash of the plugins, whose change makes objects outdated.
    plugins: u64,
}

impl Programs {
    /// Finds the command under test, and the compiler that it uses.
    pub fn new() -> Result<Self> {
        let racehunter = std::env::var_os("RACEHUNTER").map(PathBuf::from);
        let Some(racehunter) = racehunter else {
            bail!("RACEHUNTER does not name the command: run `cargo xtask bench`")
        };
        let version = text_of(Command::new(&racehunter).args(["cc", "--version"]))?;
        let directory = version.lines().find_map(|line| line.strip_prefix("InstalledDir: "));
        let directory = directory.context("the compiler does not say where it is installed")?;
        let own = std::env::current_exe()?;
        let target = own.ancestors().nth(2).context("the benchmark is not in a target directory")?;
        let programs = Self {
            plugins: plugins(&racehunter)?,
            racehunter,
            compiler: Path::new(directory).join("clang"),
            compiler_version: version.lines().next().unwrap_or_default().to_owned(),
            directory: target.join("benches"),
        };
        fs::create_dir_all(&programs.directory)?;
        Ok(programs)
    }

    /// Returns the version that the compiler reports.
    pub fn compiler_version(&self) -> &str {
        &self.compiler_version
    }

    /// Builds a program.
    pub fn build(&self, source: &Source, build: Build) -> Result<PathBuf> {
        let objects: Vec<PathBuf> =
            source.files.iter().map(|file| self.object(file, &source.flags, build)).collect::<Result<_>>()?;
        let way = match build {
            Build::Plain => "plain",
            Build::Tsan => "tsan",
            Build::Ours => "ours",
            Build::Selective => "selective",
        };
        let program = self.directory.join(format!("{}-{way}", source.name));
        text_of(self.compile(build).args(objects).arg("-o").arg(&program).arg("-lm"))?;
        Ok(program)
    }

    fn compile(&self, build: Build) -> Command {
        let mut command = match build {
            Build::Plain | Build::Tsan => Command::new(&self.compiler),
            Build::Ours | Build::Selective => Command::new(&self.racehunter),
        };
        match build {
            Build::Plain => command.args(["-O2", "-pthread"]),
            Build::Tsan => command.args(["-O2", "-pthread", "-fsanitize=thread"]),
            Build::Ours => command.args(["cc", "-O2", "-pthread"]),
            Build::Selective => command.args(["cc", "-O2", "-pthread"]).env("RACEHUNTER_SHORTCUTS", "1"),
        };
        command
    }

    fn object(&self, file: &Path, flags: &[String], build: Build) -> Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        let content = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        (content, file, flags, build, &self.compiler_version).hash(&mut hasher);
        if matches!(build, Build::Ours | Build::Selective) {
            self.plugins.hash(&mut hasher);
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let object = self.directory.join(format!("{stem}-{:016x}.o", hasher.finish()));
        if !object.exists() {
            eprintln!("compiling: {stem} ({build:?})");
            let unfinished = object.with_extension("unfinished.o");
            text_of(self.compile(build).args(flags).arg("-c").arg(file).arg("-o").arg(&unfinished))?;
            fs::rename(&unfinished, &object)?;
        }
        Ok(object)
    }

    /// Returns SQLite and the program that uses it from several threads.
    pub fn sqlite(&self) -> Result<Source> {
        let amalgamation = amalgamation()?;
        let mut source = source("sqlite_threads");
        source.files.push(amalgamation.join("sqlite3.c"));
        source.flags = vec![
            "-DSQLITE_THREADSAFE=1".to_owned(),
            "-DSQLITE_OMIT_LOAD_EXTENSION".to_owned(),
            format!("-I{}", amalgamation.display()),
        ];
        Ok(source)
    }
}

/// Returns a hash of the compiler plugins that belong to a command.
fn plugins(racehunter: &Path) -> Result<u64> {
    let library = match std::env::var_os("RACEHUNTER_LIB") {
        Some(library) => PathBuf::from(library),
        None => racehunter.ancestors().nth(2).unwrap_or(racehunter).join("lib/racehunter"),
    };
    let mut paths: Vec<PathBuf> = fs::read_dir(&library)
        .with_context(|| format!("cannot read `{}`", library.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "so"));
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        fs::read(path)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Returns the directory of SQLite's amalgamation, which the package `libsqlite3-sys` contains. It is not a dependency
/// of this crate, because only its C files are needed.
fn amalgamation() -> Result<PathBuf> {
    const PACKAGE: &str = "libsqlite3-sys";
    const MANIFEST: &str = "[package]\nname = \"throw-away\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
                            [dependencies]\nlibsqlite3-sys = \"=0.35.0\"\n[workspace]\n";
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("Cargo.toml"), MANIFEST)?;
    fs::write(directory.path().join("lib.rs"), "")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["metadata", "--quiet", "--format-version", "1"];
    let metadata = text_of(Command::new(cargo).args(words).current_dir(directory.path()))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages.into_iter().find(|package| package["name"] == PACKAGE);
    let manifest = manifest.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.with_context(|| format!("cargo does not know where {PACKAGE} is"))?;
    Ok(Path::new(manifest).with_file_name("sqlite3"))
}

/// Runs a command and returns its standard output. Fails unless it succeeds.
fn text_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
