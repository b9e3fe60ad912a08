//! System packages that the project needs: installs them, or says in one line what to run.

use crate::shell::shell;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// A required program, and the Debian package that contains it.
#[derive(Clone, Copy)]
pub struct Need {
    program: &'static str,
    package: &'static str,
}

const fn need_of(program: &'static str, package: &'static str) -> Need {
    Need { program, package }
}

/// The runtimes of clang's sanitizers, with which programs under test may be compiled too.
const SANITIZERS: Need =
    need_of("/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.tsan-x86_64.a", "libclang-rt-22-dev");

/// To build: the C++ compiler for the plugin's shim.
pub const BUILD: &[Need] = &[need_of("g++", "g++"), need_of("ar", "binutils"), need_of("make", "make")];
/// To test: every LLVM with a plugin, and the build systems that the wrappers must work with.
pub const TEST: &[Need] = &[
    need_of("clang-22", "clang-22"),
    need_of("llvm-config-22", "llvm-22-dev"),
    need_of("clang-19", "clang-19"),
    need_of("llvm-config-19", "llvm-19-dev"),
    SANITIZERS,
    need_of("cmake", "cmake"),
    need_of("meson", "meson"),
    need_of("autoconf", "autoconf"),
    need_of("automake", "automake"),
    need_of("gdb", "gdb"),
    need_of("nats-server", "nats-server"),
    need_of("openssl", "openssl"),
    need_of("/usr/include/gtest/gtest.h", "libgtest-dev"),
];
/// To measure hunts on many machines: the engine.
pub const FLEET: &[Need] = &[need_of("nats-server", "nats-server")];
/// To hunt Rust crates: the LLVM of the toolchain.
pub const RUST: &[Need] = &[need_of("clang-22", "clang-22"), need_of("llvm-config-22", "llvm-22-dev")];
/// To check the HTML page of a report.
pub const BROWSER: &[Need] = &[need_of("chromium", "chromium"), need_of("npm", "npm")];
/// To check the recipes for clusters and queues.
pub const RECIPES: &[Need] = &[
    need_of("slurmctld", "slurmctld"),
    need_of("sbatch", "slurm-client"),
    need_of("/usr/lib/x86_64-linux-gnu/slurm-wlm/select_cons_tres.so", "slurm-wlm-basic-plugins"),
    need_of("/usr/share/doc/python3-venv", "python3-venv"),
];
/// To install the package in a root file system of its own.
pub const CLEAN_ROOT: &[Need] = &[need_of("mmdebstrap", "mmdebstrap")];
/// To measure: ThreadSanitizer's runtime, which is a peer.
pub const BENCH: &[Need] = &[SANITIZERS];

/// To build projects from their sources, including what these need.
pub const PROJECTS: &[Need] = &[
    need_of("dpkg-source", "dpkg-dev"),
    need_of("cmake", "cmake"),
    need_of("/usr/include/gmock/gmock.h", "libgmock-dev"),
    need_of("/usr/include/gtest/gtest.h", "libgtest-dev"),
    need_of("/usr/include/benchmark/benchmark.h", "libbenchmark-dev"),
    need_of("/usr/include/bzlib.h", "libbz2-dev"),
];

/// What the programs of `benches/servers.toml` need besides.
pub const SERVERS: &[Need] = &[need_of("/usr/include/event2/event.h", "libevent-dev")];

/// The LLVM versions for which there is a plugin, the preferred one first.
pub const LLVM_VERSIONS: [u32; 2] = [22, 19];

fn is_installed(program: &str) -> bool {
    if program.starts_with('/') {
        return Path::new(program).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Returns true if the compiler and the headers of an LLVM version are installed.
pub fn has_llvm(version: u32) -> bool {
    is_installed(&format!("clang-{version}")) && is_installed(&format!("llvm-config-{version}"))
}

/// Installs what is missing.
pub fn need(needs: &[Need]) -> Result<()> {
    let missing: Vec<&str> = needs.iter().filter(|need| !is_installed(need.program)).map(|need| need.package).collect();
    if missing.is_empty() { Ok(()) } else { install(&missing) }
}

/// Ensures that some supported LLVM is installed; returns the installed versions.
pub fn need_llvm() -> Result<Vec<u32>> {
    if !LLVM_VERSIONS.iter().any(|&version| has_llvm(version)) {
        let packages = |version: u32| vec![format!("clang-{version}"), format!("llvm-{version}-dev")];
        let wanted = LLVM_VERSIONS.iter().find_map(|&version| {
            let packages = packages(version);
            let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
            install(&packages).ok()
        });
        if wanted.is_none() {
            bail!("no supported LLVM: run `apt-get install clang-22 llvm-22-dev` (or clang-19 llvm-19-dev) as root");
        }
    }
    Ok(LLVM_VERSIONS.into_iter().filter(|&version| has_llvm(version)).collect())
}

fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if !is_root || !is_installed("apt-get") {
        bail!("missing: {names}; run `sudo apt-get install {names}`, then this again");
    }
    eprintln!("installing {names}");
    let apt = |words: &[&str]| shell("apt-get", words).env("DEBIAN_FRONTEND", "noninteractive");
    let words: Vec<&str> = ["install", "--yes", "--quiet", "--no-install-recommends"]
        .into_iter()
        .chain(packages.iter().copied())
        .collect();
    // The package lists of a new machine are empty or old. They are refreshed only if packages are not found, and that
    // first failure is not shown.
    if apt(&words).succeeds() {
        return Ok(());
    }
    apt(&["update", "--quiet"]).output()?;
    apt(&words).output().map(drop)
}
