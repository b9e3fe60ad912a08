//! `cargo xtask test`: what CI runs for each change, in less than ten minutes on two cores.
//!
//! One profile and one selection of packages serve all stages, so that nothing is compiled twice. `cargo xtask test
//! --all` does the same with the released command, uses many more random programs, and runs the slow tests.

use crate::architecture;
use crate::build::{Kit, PACKAGES, Profile};
use crate::packages::{self, TEST};
use crate::shell::{Shell, cargo, root, shell};
use anyhow::{Context as _, Result, bail};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::time::{Duration, Instant};

/// The factor by which `--all` increases the number of random programs, traces and schedules.
const TIMES: &str = "8";
/// Part of the names of tests that only `--all` runs.
const SLOW: &str = "slow::";
/// The shows that are part of `--all`, and their arguments.
const SHOWS: [(&str, &[&str]); 5] = [
    ("probes", &["probes"]),
    ("chaos", &["chaos", "--runs", "3000"]),
    ("chaos, garbled", &["chaos", "--garble", "300"]),
    ("real programs", &["real", "--runs", "50"]),
    ("targets on both backends", &["targets", "--backend", "both"]),
];

/// Runs the end-to-end tests that the arguments name, or otherwise all checks, the quick ones first.
pub fn run(arguments: &[&str]) -> Result<()> {
    packages::need(TEST)?;
    match arguments {
        [] => Run::new(Profile::Quick).everything(),
        ["--all"] => Run::new(Profile::Release).everything(),
        names => Run::new(Profile::Quick).named(names),
    }
}

/// One run of the tests.
struct Run {
    profile: Profile,
    stages: Stages,
}

impl Run {
    fn new(profile: Profile) -> Self {
        Self { profile, stages: Stages::default() }
    }

    fn is_whole(&self) -> bool {
        self.profile == Profile::Release
    }

    /// Returns a cargo command with the profile.
    fn cargo(&self, command: &str, words: &[&str]) -> Shell {
        let go_on: &[&str] = if command == "test" { &["--no-fail-fast"] } else { &[] };
        let shell = cargo(&[&[command, "--quiet", "--profile", self.profile.name()], go_on, words].concat());
        if self.is_whole() { shell.env("RACEHUNTER_ORACLE_CASES", TIMES) } else { shell }
    }

    fn everything(&self) -> Result<()> {
        self.stages.begin("formatting");
        cargo(&["fmt", "--all", "--check"]).done()?;
        self.stages.begin("architecture");
        architecture::run()?;
        self.stages.begin("lints");
        self.cargo("clippy", &[&PACKAGES[..], &["--all-targets", "--", "-D", "warnings"]].concat()).done()?;
        let runtime = ["clippy", "--quiet", "--profile", "runtime", "--package", "racehunter-runtime"];
        cargo(&[&runtime[..], &["--", "-D", "warnings"]].concat()).done()?;
        if self.is_whole() {
            self.cargo("clippy", &["--package", "racehunter-schema", "--", "-D", "warnings"]).done()?;
        }
        self.stages.begin("build");
        let kit = Kit::build_with(self.profile)?;
        self.stages.begin("symbols of the runtime");
        check_runtime_symbols(&kit)?;
        self.stages.begin("build of the tests");
        // Everything with tests: `--lib` would also compile libraries without any. There are no doc tests, and looking for
        // them takes time.
        let tests = [&PACKAGES[..], &["--tests"]].concat();
        self.cargo("test", &[&tests[..], &["--no-run"]].concat()).done()?;
        self.stages.begin("unit tests");
        let without = ["--exclude", "racehunter-e2e"];
        self.cargo("test", &[&tests[..], &without].concat()).env("RACEHUNTER", kit.program()).done()?;
        self.stages.begin("end-to-end tests");
        let skip: &[&str] = if self.is_whole() { &[] } else { &["--skip", SLOW] };
        self.end_to_end(&kit, skip)?;
        if self.is_whole() {
            self.at_length(&kit)?;
        }
        self.stages.end();
        Ok(())
    }

    fn named(&self, names: &[&str]) -> Result<()> {
        self.stages.begin("build");
        let kit = Kit::build_with(self.profile)?;
        self.stages.begin("end-to-end tests");
        // Some of the test programs accept only one filter.
        names.iter().try_for_each(|&name| self.end_to_end(&kit, &[name]))?;
        self.stages.end();
        Ok(())
    }

    fn end_to_end(&self, kit: &Kit, words: &[&str]) -> Result<()> {
        // Many tests wait for a time limit or for a process: one more thread than cores keeps the cores busy.
        let threads = (std::thread::available_parallelism().map_or(2, NonZero::get) + 1).to_string();
        let programs = ["--test", "targets", "--test", "scan", "--test", "commands"];
        let tests = [&PACKAGES[..], &programs, &["--", "--test-threads", &threads]].concat();
        self.cargo("test", &[&tests[..], words].concat()).env("RACEHUNTER", kit.program()).done()
    }

    /// Runs what takes too long for each change.
    fn at_length(&self, kit: &Kit) -> Result<()> {
        self.stages.begin("documentation");
        self.cargo("doc", &["--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")
            .done()?;
        self.stages.begin("predictions and proofs against enumeration");
        crate::oracle(&["--traces", "200000", "--programs", "5000", "--hunts", "1"])?;
        for (name, words) in SHOWS {
            self.stages.begin(name);
            let run = ["run", "--quiet", "--release", "--package", "racehunter-e2e", "--"];
            cargo(&[&run[..], words].concat()).env("RACEHUNTER", kit.program()).done()?;
        }
        Ok(())
    }
}

/// The stages so far, and when each began.
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

/// Checks that the runtime uses only functions that are safe inside any program at any time.
fn check_runtime_symbols(kit: &Kit) -> Result<()> {
    let list = root().join("crates/runtime/allowed-symbols.txt");
    let allowed = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let allowed: BTreeSet<&str> = allowed.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
    let archive = kit.lib().join("libracehunter_rt.a");
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
