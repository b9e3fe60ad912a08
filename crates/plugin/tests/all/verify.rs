//! The plugin emits valid LLVM code, for all available sources.

use crate::common::{LEVELS, is_installed, sample, verified};
use std::path::PathBuf;
use std::process::Command;

#[test]
fn c_code_is_valid() {
    for level in LEVELS {
        verified(&sample("accesses.c"), &[level]);
        verified(&sample("accesses.c"), &[level, "-fPIC", "-g0"]);
    }
}

#[test]
fn cxx_code_is_valid() {
    for level in LEVELS {
        verified(&sample("objects.cc"), &[level, "-std=c++20"]);
        verified(&sample("run.cc"), &[level]);
    }
}

#[test]
fn vector_code_is_valid() {
    for level in LEVELS {
        verified(&sample("vectors.c"), &[level, "-mavx2"]);
        verified(&sample("vectors512.c"), &[level, "-mavx512f", "-mavx512vl"]);
    }
}

#[test]
fn code_for_link_time_optimisation_is_valid() {
    for flavour in ["-flto", "-flto=thin"] {
        verified(&sample("accesses.c"), &["-O2", flavour]);
        verified(&sample("objects.cc"), &["-O2", flavour]);
    }
}

/// Returns SQLite in one file, from the package of its Rust binding, which cargo fetches.
fn sqlite() -> PathBuf {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("Cargo.toml");
    std::fs::create_dir(directory.path().join("src")).unwrap();
    std::fs::write(directory.path().join("src/lib.rs"), "").unwrap();
    std::fs::write(
        &manifest,
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [dependencies]\nlibsqlite3-sys = \"=0.30.1\"\n[workspace]\n",
    )
    .unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--format-version=1", "--manifest-path"]).arg(&manifest);
    let output = crate::common::succeed(&mut cargo);
    let metadata = String::from_utf8(output.stdout).unwrap();
    let path = metadata
        .split('"')
        .find(|word| word.contains("libsqlite3-sys-") && word.ends_with("/Cargo.toml"))
        .expect("the package is part of the metadata");
    PathBuf::from(path).parent().unwrap().join("sqlite3/sqlite3.c")
}

#[test]
fn sqlite_is_valid_without_optimisation() {
    verified(&sqlite(), &["-O0"]);
}

#[test]
fn sqlite_is_valid_with_optimisation() {
    verified(&sqlite(), &["-O2"]);
}

#[test]
fn the_tools_are_installed() {
    for program in ["clang", "clang++", "opt", "llvm-dis"] {
        assert!(is_installed(&format!("{program}-{}", crate::common::VERSION)), "{program}-{}", crate::common::VERSION);
    }
}
