//! `cargo xtask test`: everything that CI runs.
//!
//! All is done in the release profile: the command is built in it anyway, and nothing is compiled twice.

use crate::build::Kit;
use crate::packages::{self, TEST};
use crate::shell::{cargo, root, shell, target};
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeSet;
use std::fs;

/// Runs all checks, the quick ones first. With arguments: only the end-to-end tests that they name.
pub fn run(filter: &[&str]) -> Result<()> {
    packages::need(TEST)?;
    if filter.is_empty() {
        step("formatting");
        cargo(&["fmt", "--all", "--check"]).done()?;
    }
    step("build");
    let kit = Kit::build()?;
    if filter.is_empty() {
        step("symbols of the runtime");
        check_runtime_symbols()?;
        step("lints");
        let all = ["clippy", "--quiet", "--release", "--workspace", "--exclude", "racehunter-runtime", "--all-targets"];
        cargo(&[&all[..], &["--", "-D", "warnings"]].concat()).done()?;
        let runtime = ["clippy", "--quiet", "--profile", "runtime", "--package", "racehunter-runtime"];
        cargo(&[&runtime[..], &["--", "-D", "warnings"]].concat()).done()?;
        step("documentation");
        cargo(&["doc", "--quiet", "--release", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")
            .done()?;
        step("unit tests");
        cargo(&[
            "test",
            "--quiet",
            "--release",
            // There are no doc tests, and looking for them takes a while.
            "--lib",
            "--bins",
            "--tests",
            "--workspace",
            "--exclude",
            "racehunter-runtime",
            "--exclude",
            "racehunter-e2e",
            "--exclude",
            "racehunter-schema",
        ])
        .env("RACEHUNTER", kit.program())
        .done()?;
    }
    step("end-to-end tests");
    let mut arguments = vec!["test", "--quiet", "--release", "--package", "racehunter-e2e", "--"];
    arguments.extend(filter);
    cargo(&arguments).env("RACEHUNTER", kit.program()).done()
}

fn step(name: &str) {
    println!("== {name}");
}

/// The runtime may use only what is known to be safe inside any program at any time.
fn check_runtime_symbols() -> Result<()> {
    let list = root().join("crates/runtime/allowed-symbols.txt");
    let allowed = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let allowed: BTreeSet<&str> = allowed.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
    let archive = target().join("racehunter/lib/racehunter/libracehunter_rt.a");
    let undefined = shell("nm", &["--undefined-only", "--format=just-symbols", &archive.to_string_lossy()]).output()?;
    let surplus: BTreeSet<&str> = undefined
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.ends_with(':') && !allowed.contains(name))
        .collect();
    if !surplus.is_empty() {
        bail!("the runtime uses symbols that are not in {}: {surplus:?}", list.display());
    }
    Ok(())
}
