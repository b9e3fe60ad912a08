//! Compiles the C++ shim against the headers of the chosen LLVM.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    let version = if cfg!(feature = "llvm19") { "19" } else { "22" };
    let Some(include) = include_dir(version) else {
        eprintln!("no llvm-config of LLVM {version} found: install llvm-{version}-dev, or set LLVM_CONFIG to its path");
        std::process::exit(1);
    };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .flag("-w")
        .include(include)
        .file("shim/shim.cc")
        .file("shim/loops.cc")
        .compile("racehunter_shim");
    // The host is checked at run time, before any of its functions is called: its symbols must not be needed earlier.
    println!("cargo:rustc-link-arg-cdylib=-Wl,-z,lazy");
}

/// Asks `llvm-config` (from the environment, the search path, or where Debian keeps it) for the headers.
fn include_dir(version: &str) -> Option<PathBuf> {
    let candidates = [
        std::env::var("LLVM_CONFIG").unwrap_or_default(),
        format!("llvm-config-{version}"),
        format!("/usr/lib/llvm-{version}/bin/llvm-config"),
        "llvm-config".to_owned(),
    ];
    candidates.iter().filter(|program| !program.is_empty()).find_map(|program| {
        let ask = |what: &str| {
            let output = Command::new(program).arg(what).output().ok().filter(|output| output.status.success())?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let right = ask("--version")?.split('.').next() == Some(version);
        right.then(|| ask("--includedir").map(PathBuf::from)).flatten()
    })
}
