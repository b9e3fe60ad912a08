//! `cargo xtask demo` and `cargo xtask demo-rust`: a hunt from start to end.

use crate::build::Kit;
use crate::shell::{root, shell, target};
use anyhow::{Context as _, Result, bail};
use std::path::Path;

/// A bank that loses money between two locks: no data race, so no sanitizer sees it.
const PROGRAM: &str = "targets/assertion/bank_transfer.cpp";

/// Hunts a bug, shows the report, replays it, and shows that the corrected program is clean.
pub fn run(kit: &Kit) -> Result<()> {
    let out = target().join("demo");
    let _ = std::fs::remove_dir_all(&out);
    let out_text = out.to_string_lossy().into_owned();
    let racehunter = |words: &[&str]| {
        println!("\n$ racehunter {}", words.join(" "));
        let mut all = words.to_vec();
        all.extend(["--out", &out_text]);
        shell(kit.program(), &all).status()
    };
    if racehunter(&["hunt", PROGRAM, "--stop-on-first"])? != Some(1) {
        bail!("the hunt missed the bug in {PROGRAM}");
    }
    let id = first_finding(&out)?;
    if racehunter(&["replay", &id, "--message-format", "short"])? != Some(0) {
        bail!("the finding did not replay");
    }
    let fixed = PROGRAM.replace(".cpp", ".fixed.cpp");
    if racehunter(&["hunt", &fixed, "--analysis", "context-bound", "--bound", "2"])? != Some(0) {
        bail!("the corrected program has findings");
    }
    Ok(())
}

/// Returns the id of a stored finding.
fn first_finding(out: &Path) -> Result<String> {
    let findings = std::fs::read_dir(out.join("findings"))?;
    let mut names =
        findings.filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
    names.next().context("the finding was not stored")
}

/// A queue without locks that publishes a slot before it is filled.
const CRATE: &str = "targets/rust/ring/Cargo.toml";

/// The same for a Rust crate and its own tests.
pub fn run_rust(kit: &Kit) -> Result<()> {
    let out = target().join("demo-rust");
    let _ = std::fs::remove_dir_all(out.join("findings"));
    let (out_text, build) = (out.to_string_lossy().into_owned(), out.join("build").to_string_lossy().into_owned());
    let sysroots = out.join("sysroots");
    let command = |words: &[&str], hidden: &[&str]| {
        println!("\n$ cargo racehunter {}", words.join(" "));
        let all = [&["racehunter"], words, hidden].concat();
        shell(kit.cargo(), &all).env("RACEHUNTER_SYSROOTS", &sysroots).status()
    };
    let test = ["test", "--manifest-path", CRATE];
    let places = ["--out", &out_text, "--target-dir", &build];
    if command(&test, &[&places[..], &["--runs", "300"]].concat())? != Some(1) {
        bail!("the hunt missed the bug in {CRATE}");
    }
    let id = first_finding(&out)?;
    if command(&["replay", &id, "--message-format", "short"], &places[..2])? != Some(0) {
        bail!("the finding did not replay");
    }
    let fixed = [&test[..], &["--features", "fixed", "--analysis", "context-bound", "--bound", "2"]].concat();
    if command(&fixed, &places)? != Some(0) {
        bail!("the corrected crate has findings");
    }
    Ok(())
}

/// Hunts correct uses of popular crates, which are fetched.
pub fn run_crates(kit: &Kit, options: &[&str]) -> Result<()> {
    let out = target().join("bench-crates");
    // As in the repository: without its own lock file.
    let place = out.join("crate");
    std::fs::create_dir_all(place.join("src"))?;
    for file in ["Cargo.toml", "src/lib.rs"] {
        std::fs::copy(root().join("benches/crates").join(file), place.join(file))?;
    }
    let manifest = place.join("Cargo.toml").to_string_lossy().into_owned();
    let words = ["racehunter", "test", "--manifest-path", &manifest];
    let command = shell(kit.cargo(), &[&words[..], options].concat()).env("RACEHUNTER_SYSROOTS", out.join("sysroots"));
    match command.status()? {
        Some(0) => Ok(()),
        _ => bail!("a correct use was reported, or a test was not hunted"),
    }
}
