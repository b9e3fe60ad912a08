//! `cargo xtask test`: everything that CI runs.
//!
//! All is done in the release profile: the command is built in it anyway, and nothing is compiled twice.

use crate::architecture;
use crate::build::Kit;
use crate::packages::{self, TEST};
use crate::shell::{cargo, root, shell, target};
use anyhow::{Context as _, Result, bail};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// Runs all checks, the quick ones first. With arguments: only the end-to-end tests that they name.
pub fn run(filter: &[&str]) -> Result<()> {
    packages::need(TEST)?;
    let stages = Stages::default();
    if filter.is_empty() {
        stages.begin("formatting");
        cargo(&["fmt", "--all", "--check"]).done()?;
        stages.begin("architecture");
        architecture::run()?;
    }
    stages.begin("build");
    let kit = Kit::build()?;
    if filter.is_empty() {
        stages.begin("symbols of the runtime");
        check_runtime_symbols()?;
        stages.begin("lints");
        let all = ["clippy", "--quiet", "--release", "--workspace", "--exclude", "racehunter-runtime", "--all-targets"];
        cargo(&[&all[..], &["--", "-D", "warnings"]].concat()).done()?;
        let runtime = ["clippy", "--quiet", "--profile", "runtime", "--package", "racehunter-runtime"];
        cargo(&[&runtime[..], &["--", "-D", "warnings"]].concat()).done()?;
        stages.begin("documentation");
        cargo(&["doc", "--quiet", "--release", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")
            .done()?;
        stages.begin("unit tests");
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
    stages.begin("end-to-end tests");
    let all = ["test", "--quiet", "--release", "--package", "racehunter-e2e", "--"];
    let test = |filter: &[&str]| cargo(&[&all[..], filter].concat()).env("RACEHUNTER", kit.program()).done();
    // Not all of the test programs take several filters.
    match filter {
        [] => test(&[])?,
        names => names.iter().try_for_each(|&name| test(&[name]))?,
    }
    stages.end();
    Ok(())
}

/// What is done, one stage after the other, and how long each took.
#[derive(Default)]
struct Stages(RefCell<Vec<(&'static str, Instant)>>);

impl Stages {
    fn begin(&self, name: &'static str) {
        println!("== {name}");
        self.0.borrow_mut().push((name, Instant::now()));
    }

    fn end(&self) {
        let stages = self.0.borrow();
        let ends = stages.iter().skip(1).map(|&(_, begin)| begin).chain([Instant::now()]);
        let times: Vec<Duration> = stages.iter().zip(ends).map(|(&(_, begin), end)| end - begin).collect();
        println!("== all passed");
        for (&(name, _), time) in stages.iter().zip(&times) {
            println!("{:>6.0} s  {name}", time.as_secs_f64());
        }
        println!("{:>6.0} s  in all", times.iter().sum::<Duration>().as_secs_f64());
    }
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
