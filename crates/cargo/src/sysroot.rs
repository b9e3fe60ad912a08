//! The instrumented standard library: made once for a toolchain and a plugin, and kept in a cache directory.
//!
//! Rust ships its libraries with the bitcode that they were compiled from. clang compiles it again, with the plugin,
//! and the new objects replace the old ones in copies of the archives. Everything else in the sysroot is a link to the
//! toolchain's own.

use crate::output::{Voice, count};
use crate::toolchain::{TARGET, Toolchain};
use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _};
use racehunter_compile::Toolkit;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Crates that stay unchanged: functions that stand in for instructions, and those for the compiler. All others are
/// needed: programs use copies of generic functions from wherever the compiler has put them.
const LEFT: [&str; 3] = ["compiler_builtins", "profiler_builtins", "proc_macro"];

/// Crates that every standard library has.
const LEAST: [&str; 3] = ["core", "alloc", "std"];

/// The section in which rustc keeps the bitcode.
const BITCODE: &str = ".llvmbc";

/// A sysroot with an instrumented standard library.
pub struct Sysroot {
    /// Where it is.
    pub path: PathBuf,
    /// A short name for what it was made from: other toolchains and plugins have other names.
    pub name: String,
}

/// `cargo racehunter setup`
pub fn set_up(matches: &ArgMatches) -> Result<u8> {
    let voice = Voice::of(matches);
    let toolchain = Toolchain::discover()?;
    let toolkit = toolchain.toolkit()?;
    let began = Instant::now();
    let directory = matches.get_one::<PathBuf>("sysroot-dir");
    let Sysroot { path, .. } = provide(&toolchain, &toolkit, directory.map(PathBuf::as_path), voice)?;
    voice.say(
        "Ready",
        &format!("rustc {} in {} [{:.1}s]", toolchain.release, path.display(), began.elapsed().as_secs_f64()),
    );
    Ok(0)
}

/// Returns the sysroot for a toolchain, and makes it if it does not exist yet.
pub fn provide(toolchain: &Toolchain, toolkit: &Toolkit, directory: Option<&Path>, voice: Voice) -> Result<Sysroot> {
    let directory = directory.map_or_else(cache, |directory| Ok(std::path::absolute(directory)?))?;
    let name = name(toolchain, &toolkit.plugin)?;
    let path = directory.join(&name);
    if path.is_dir() {
        return Ok(Sysroot { path, name });
    }
    voice.say("Instrumenting", &format!("the standard library of rustc {}, once", toolchain.release));
    let unfinished = Unfinished(directory.join(format!(".{}.{name}", std::process::id())));
    fs::create_dir_all(&unfinished.0).with_context(|| format!("cannot create {}", unfinished.0.display()))?;
    make(toolchain, toolkit, &unfinished.0)?;
    match fs::rename(&unfinished.0, &path) {
        // Another process has made it in the meantime.
        Err(_) if path.is_dir() => {}
        result => result.with_context(|| format!("cannot put {} in place", path.display()))?,
    }
    Ok(Sysroot { path, name })
}

/// A directory that is removed unless it is renamed.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It no longer exists if all went well.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the default directory of sysroots.
fn cache() -> Result<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = of("RACEHUNTER_SYSROOTS")
        .or_else(|| of("XDG_CACHE_HOME").map(|cache| cache.join("racehunter")))
        .or_else(|| of("HOME").map(|home| home.join(".cache/racehunter")));
    cache.context("neither HOME nor XDG_CACHE_HOME is set; say where to keep the standard library: --sysroot-dir DIR")
}

fn name(toolchain: &Toolchain, plugin: &Path) -> Result<String> {
    let commit = toolchain.commit.get(..9).unwrap_or(&toolchain.commit);
    Ok(format!("rust-{}-{commit}-{:08x}", toolchain.release, hash(plugin)?))
}

/// Returns a hash of a file's contents.
pub fn hash(file: &Path) -> Result<u32> {
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    Ok(hasher.finish() as u32)
}

/// Fills a directory.
fn make(toolchain: &Toolchain, toolkit: &Toolkit, to: &Path) -> Result<()> {
    let libraries = Path::new("lib/rustlib").join(TARGET).join("lib");
    if !toolchain.sysroot.join(&libraries).is_dir() {
        bail!("rustc {} has no standard library for {TARGET}", toolchain.release);
    }
    let mut from = toolchain.sysroot.clone();
    let mut into = to.to_owned();
    for step in libraries.iter() {
        link_all(&from, &into, |name| name == step)?;
        from.push(step);
        into.push(step);
        fs::create_dir(&into).with_context(|| format!("cannot create {}", into.display()))?;
    }
    link_all(&from, &into, |name| is_instrumented(name).is_some())?;
    let mut archives: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(&from)? {
        let entry = entry?;
        if is_instrumented(&entry.file_name()).is_some() {
            archives.push((entry.metadata()?.len(), entry.path()));
        }
    }
    let has = |name: &&str| {
        archives.iter().any(|(_, path)| path.file_name().and_then(is_instrumented).as_deref() == Some(*name))
    };
    if let Some(missing) = LEAST.iter().find(|name| !has(name)) {
        bail!("{} has no `{missing}`", from.display());
    }
    // The largest one takes longest, so it comes first.
    archives.sort_by(|a, b| b.cmp(a));
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((_, archive)) = archives.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = instrument(archive, &into, toolkit) {
                        next.store(archives.len(), Ordering::Relaxed);
                        failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
                    }
                }
            });
        }
    });
    failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}

/// Links everything in a directory except the selected names.
fn link_all(from: &Path, to: &Path, except: impl Fn(&OsStr) -> bool) -> Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        if !except(&entry.file_name()) {
            let link = to.join(entry.file_name());
            symlink(entry.path(), &link).with_context(|| format!("cannot link {}", link.display()))?;
        }
    }
    Ok(())
}

/// Returns the crate of an archive, `std` for `libstd-d1237ef7159db0a2.rlib`, if it is to be instrumented.
fn is_instrumented(file: &OsStr) -> Option<String> {
    let (name, _) = file.to_str()?.strip_prefix("lib")?.strip_suffix(".rlib")?.rsplit_once('-')?;
    (!LEFT.contains(&name)).then(|| name.to_owned())
}

/// Writes a copy of an archive, with its code instrumented.
fn instrument(archive: &Path, to: &Path, toolkit: &Toolkit) -> Result<()> {
    let copy = to.join(archive.file_name().unwrap_or_default());
    let scratch = copy.with_extension("scratch");
    fs::create_dir(&scratch)?;
    let data = fs::read(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    fs::write(&copy, &data).with_context(|| format!("cannot write {}", copy.display()))?;
    let damaged = || format!("{} is damaged", archive.display());
    let members = ArchiveFile::parse(&*data).with_context(damaged)?;
    let mut objects = 0;
    for member in members.members() {
        let member = member.with_context(damaged)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let content = member.data(&*data).with_context(damaged)?;
        let Ok(file) = object::File::parse(content) else { continue };
        let Some(section) = file.section_by_name(BITCODE) else { continue };
        let bitcode = scratch.join(format!("{objects}.bc"));
        objects += 1;
        fs::write(&bitcode, section.data().with_context(damaged)?)?;
        // The member gets the name of the file.
        let object = scratch.join(&name);
        let mut clang = Command::new(&toolkit.compiler.c);
        // It was already optimised when it was first compiled.
        clang.args(["-w", "-x", "ir", "-c", "-O0", "-fPIC", "-ffunction-sections", "-fdata-sections"]);
        clang.args(["-fno-omit-frame-pointer", &format!("--target={TARGET}")]);
        clang.arg(format!("-fpass-plugin={}", toolkit.plugin.display())).arg(&bitcode).arg("-o").arg(&object);
        done(clang.env("RACEHUNTER_RUST", "1").env("RACEHUNTER_QUIET", "1"))?;
        done(Command::new("ar").arg("r").arg(&copy).arg(&object))?;
    }
    let is_needed = archive.file_name().and_then(is_instrumented).is_some_and(|name| LEAST.contains(&name.as_str()));
    if objects == 0 && is_needed {
        bail!("{} has no bitcode: the toolchain was not built as rust-lang.org does it", archive.display());
    }
    fs::remove_dir_all(&scratch)?;
    Ok(())
}

/// Runs a command that must succeed.
fn done(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_owned();
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && name == "ar" => {
            bail!(
                "`ar` is not installed, which puts the standard library together (on Debian: apt-get install binutils)"
            )
        }
        result => result.with_context(|| format!("cannot run {}", name.display()))?,
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let lines = said.lines().count() as u64;
        bail!("{} failed with {}: {}", name.display(), count(lines, "line"), said.trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_crates_by_the_names_of_their_archives() {
        let name = |file: &str| is_instrumented(OsStr::new(file));
        assert_eq!(name("libstd-d1237ef7159db0a2.rlib").as_deref(), Some("std"));
        assert_eq!(name("libstd_detect-e305c7135f50bfab.rlib").as_deref(), Some("std_detect"));
        assert_eq!(name("libstd-d1237ef7159db0a2.so"), None);
        assert_eq!(name("libcompiler_builtins-27cfc16bdf3bb694.rlib"), None);
    }

    #[test]
    fn leaves_nothing_behind_when_it_fails() {
        let directory = tempfile::tempdir().unwrap();
        let plugin = directory.path().join("plugin.so");
        fs::write(&plugin, "a plugin").unwrap();
        let toolchain = Toolchain {
            release: "1.0.0".to_owned(),
            commit: "0123456789abcdef".to_owned(),
            llvm: 22,
            sysroot: directory.path().join("nothing"),
        };
        let compiler = racehunter_compile::Compiler { c: "clang".into(), cxx: "clang++".into(), version: 22 };
        let toolkit = Toolkit { compiler, plugin, runtime: "rt.a".into(), dynamic_list: "list".into(), include: None };
        let cache = directory.path().join("cache");
        let result = provide(&toolchain, &toolkit, Some(&cache), Voice::Quiet);
        assert!(result.is_err());
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 0);
    }
}
