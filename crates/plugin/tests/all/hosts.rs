//! The plugin works in the compilers that it was built for, and refuses all others before it does any harm.

use std::process::Command;

use crate::common::{VERSION, is_installed, plugin, sample, succeed};

const RUST: &str = "
    use std::sync::atomic::{AtomicU32, Ordering};
    pub static SHARED: AtomicU32 = AtomicU32::new(0);
    pub static mut PLAIN: u32 = 0;
    #[inline(never)]
    pub fn increment() {
        unsafe { PLAIN += 1 };
        SHARED.fetch_add(1, Ordering::SeqCst);
    }
";

/// Returns the clang of the other version.
fn other_clang() -> String {
    format!("clang-{}", if VERSION == 22 { 19 } else { 22 })
}

#[test]
fn clang_loads_the_plugin() {
    let code = crate::common::code(&sample("accesses.c"), &["-O1"]);
    assert!(code.0.contains("@__rh_module = internal constant"));
}

#[test]
fn another_clang_is_refused() {
    let clang = other_clang();
    if !is_installed(&clang) {
        eprintln!("skipped: {clang} is not installed");
        return;
    }
    let mut command = Command::new(&clang);
    command.arg(format!("-fpass-plugin={}", plugin().display())).args(["-c"]).arg(sample("accesses.c"));
    command.args(["-o", "/dev/null"]);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains(&format!("for LLVM {VERSION}")) && message.contains(&format!("use clang-{VERSION}")),
        "{message}"
    );
    assert!(!message.contains("undefined symbol") && !message.contains("PLEASE submit"), "{message}");
}

/// LLVM version of the installed rustc.
fn rustc_llvm() -> Option<String> {
    let output = Command::new("rustc").args(["+stable", "--version", "--verbose"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix("LLVM version: ")?.split('.').next()?.to_owned()))
}

#[test]
fn rustc_loads_the_plugin_of_its_llvm() {
    let llvm = rustc_llvm().expect("rustc is installed, it compiled this test");
    let directory = tempfile::tempdir().unwrap();
    let (source, code) = (directory.path().join("sample.rs"), directory.path().join("sample.ll"));
    std::fs::write(&source, RUST).unwrap();
    for level in ["0", "2"] {
        let mut rustc = Command::new("rustc");
        rustc.env("RUSTC_BOOTSTRAP", "1").env("RACEHUNTER_RUST", "1");
        rustc.args(["+stable", "--crate-type=lib", "--emit=llvm-ir", "-Ccodegen-units=1", "-A", "warnings"]);
        rustc.arg(format!("-Copt-level={level}")).arg(format!("-Zllvm-plugins={}", plugin().display()));
        rustc.arg("-o").arg(&code).arg(&source);
        if llvm != VERSION.to_string() {
            let output = rustc.output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && message.contains(&format!("for LLVM {VERSION}")), "{message}");
            return;
        }
        succeed(&mut rustc);
        let text = std::fs::read_to_string(&code).unwrap();
        for hook in ["__rh_read4(", "__rh_write4(", "__rh_atomic_rmw("] {
            assert!(text.contains(&format!("call preserve_mostcc void @{hook}")), "{hook} at {level}");
        }
    }
}

#[test]
fn rust_functions_are_instrumented_only_on_demand() {
    if rustc_llvm() != Some(VERSION.to_string()) {
        eprintln!("skipped: rustc has another LLVM");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (source, code) = (directory.path().join("sample.rs"), directory.path().join("sample.ll"));
    std::fs::write(&source, RUST).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.env("RUSTC_BOOTSTRAP", "1").env_remove("RACEHUNTER_RUST");
    rustc.args(["+stable", "--crate-type=lib", "--emit=llvm-ir", "-Ccodegen-units=1", "-A", "warnings", "-O"]);
    rustc.arg(format!("-Zllvm-plugins={}", plugin().display())).arg("-o").arg(&code).arg(&source);
    succeed(&mut rustc);
    let text = std::fs::read_to_string(&code).unwrap();
    assert!(!text.contains("@__rh_read4("), "plain accesses need the attribute");
}
