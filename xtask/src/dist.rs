//! `cargo xtask dist`: a tarball and a Debian package, with their checksums, for installing without building.
//!
//! Both are tried before they are declared done: unpacked in a separate directory, with nothing of this project on the
//! path, they find a bug in a program.

use crate::build::{Kit, version};
use crate::clean_root;
use crate::shell::{root, shell, target};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The documents beside the programs.
const DOCUMENTS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "docs/guide.md", "docs/build-systems.md"];

/// Makes the files in `target/dist`. With `in_clean_root`, also installs the package where nothing of this machine is.
pub fn run(kit: &Kit, in_clean_root: bool) -> Result<()> {
    let dist = target().join("dist");
    let version = version()?;
    let name = format!("racehunter-{version}-{}-linux", std::env::consts::ARCH);
    let directory = dist.join(&name);
    let _ = fs::remove_dir_all(&dist);
    fill(kit, &directory)?;

    let mut files = vec![format!("{name}.tar.gz")];
    pack(&dist, &name)?;
    try_out(&dist, &["tar", "xzf", &files[0], "-C"], &name)?;
    match shell("dpkg-deb", &["--version"]).succeeds() {
        true => {
            let package = format!("racehunter_{version}_{}.deb", debian_architecture());
            debian(kit, &dist, &package, &version)?;
            try_out(&dist, &["dpkg-deb", "-x", &package], "usr")?;
            if in_clean_root {
                clean_root::try_package(kit, &dist, &package)?;
            }
            files.push(package);
        }
        false if in_clean_root => bail!("dpkg-deb is not installed: no Debian package to try"),
        false => println!("dpkg-deb is not installed: no Debian package"),
    }
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    let sums = output(Command::new("sha256sum").args(&words).current_dir(&dist))?;
    fs::write(dist.join("SHA256SUMS"), &sums)?;
    print!("{sums}");
    println!("in {}", dist.display());
    Ok(())
}

const fn debian_architecture() -> &'static str {
    if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" }
}

/// Copies the programs and libraries, the manual, completions and documents into a directory.
fn fill(kit: &Kit, directory: &Path) -> Result<()> {
    let program = kit.copy_to(directory)?;
    let share = directory.join("share");
    let manual = share.join("man/man1");
    shell(&program, &["man", &manual.to_string_lossy()]).done()?;
    for (name, place) in [
        ("bash", "bash-completion/completions/racehunter"),
        ("zsh", "zsh/site-functions/_racehunter"),
        ("fish", "fish/vendor_completions.d/racehunter.fish"),
    ] {
        let place = share.join(place);
        fs::create_dir_all(place.parent().unwrap_or(&share))?;
        fs::write(&place, shell(&program, &["completions", name]).output()?)?;
    }
    let documents = share.join("doc/racehunter");
    fs::create_dir_all(&documents)?;
    for document in DOCUMENTS {
        let name = Path::new(document).file_name().unwrap_or_default();
        fs::copy(root().join(document), documents.join(name)).with_context(|| format!("cannot copy {document}"))?;
    }
    Ok(())
}

/// Packs a directory reproducibly: the same files make the same archive.
fn pack(dist: &Path, name: &str) -> Result<()> {
    let archive = dist.join(format!("{name}.tar.gz"));
    let words = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-czf"];
    let (archive, dist) = (archive.to_string_lossy(), dist.to_string_lossy());
    shell("tar", &[&words[..], &[&archive, "-C", &dist, name]].concat()).done()
}

/// Makes a package for Debian and related systems.
fn debian(kit: &Kit, dist: &Path, package: &str, version: &str) -> Result<()> {
    let directory = dist.join("debian");
    fill(kit, &directory.join("usr"))?;
    // It is linked to the C library of this machine, and needs that version or a newer one.
    let libc = output(Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
    let libc = libc.split_whitespace().nth(1).unwrap_or("2.36").to_owned();
    let control = directory.join("DEBIAN");
    fs::create_dir_all(&control)?;
    let text = format!(
        "Package: racehunter\nVersion: {version}\nArchitecture: {}\nMaintainer: the authors of RaceHunter\nSection: devel\n\
         Priority: optional\nDepends: libc6 (>= {libc}), libc6-dev, clang-22 | clang-19\nRecommends: g++, gdb\n\
         Description: finds concurrency bugs in C and C++ programs\n RaceHunter runs a program under its own control, one \
         schedule after the other,\n and reports each bug with a schedule that replays it.\n",
        debian_architecture()
    );
    fs::write(control.join("control"), text)?;
    let (directory, package) = (directory.to_string_lossy().into_owned(), dist.join(package));
    shell("dpkg-deb", &["--root-owner-group", "--build", &directory, &package.to_string_lossy()]).done()?;
    fs::remove_dir_all(directory)?;
    Ok(())
}

/// Unpacks an archive in a separate directory and hunts with its contents. `below` is where the directories of the
/// programs are.
fn try_out(dist: &Path, unpack: &[&str], below: &str) -> Result<()> {
    let place = dist.join("tried here");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place)?;
    let (program, words) = unpack.split_first().context("a command")?;
    output(Command::new(program).args(words).arg(&place).current_dir(dist))?;
    let installed = place.join(below);
    let work = place.join("work");
    fs::create_dir_all(&work)?;
    let source = "targets/data-race/lost_update.c";
    fs::copy(root().join(source), work.join("bug.c"))?;
    let ended = clean_command(&installed.join("bin/racehunter"), &work)
        .args(["hunt", "--quiet", "--stop-on-first", "--message-format", "short", "bug.c"])
        .output()
        .context("cannot run what was unpacked")?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.code() != Some(1) || !said.contains("bug.c:") {
        bail!("unpacked, it does not find the bug: {}\n{said}{}", ended.status, String::from_utf8_lossy(&ended.stderr));
    }
    // A build system calls the compilers by their names.
    let compiler = installed.join("bin/racehunter-cc");
    output(clean_command(&compiler, &work).args(["-g", "-pthread", "bug.c", "-o", "bug"]))?;
    if !installed.join("lib/cmake/RaceHunter/RaceHunterConfig.cmake").exists() {
        bail!("unpacked, it has no module for CMake");
    }
    fs::remove_dir_all(place)?;
    println!("tried {}", unpack.get(2).unwrap_or(&unpack[0]));
    Ok(())
}

/// Returns a command that knows nothing about this project.
fn clean_command(program: &PathBuf, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", directory);
    command
}

/// Returns the output of a command; fails unless it succeeds.
fn output(command: &mut Command) -> Result<String> {
    let ended = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !ended.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&ended.stderr));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
