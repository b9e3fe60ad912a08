//! Concurrency bugs in published versions of crates: `cargo xtask bench advisories [--runs N] [--time T] [NAME...]`.
//!
//! A test of this project uses each crate as its documentation allows. It is hunted with the buggy version, where the
//! bug must be found, and with the repaired version, where nothing may be reported. `benches/advisories.toml` lists the
//! advisories.

use super::{Answer, Choice, at, cargo, cargo_racehunter, home, plain, write_crate};
use crate::table::{Align, Table, thousands, time};
use racehunter_e2e::root;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advisories {
    advisory: Vec<Advisory>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advisory {
    /// Its number in the RustSec database, or where else it was published.
    id: String,
    #[serde(rename = "crate")]
    name: String,
    #[serde(default)]
    features: Vec<String>,
    /// The file with the test.
    test: String,
    /// The buggy version.
    buggy: String,
    /// The checksum of the buggy version, if it was withdrawn.
    #[serde(default)]
    checksum: Option<String>,
    /// The repaired version, if there is one.
    #[serde(default)]
    patched: Option<String>,
    /// Possible kinds of the finding.
    kinds: Vec<String>,
}

fn read() -> Result<Vec<Advisory>, String> {
    let file = root().join("benches/advisories.toml");
    let text = fs::read_to_string(&file).map_err(|error| at(&file, error))?;
    Ok(toml::from_str::<Advisories>(&text).map_err(|error| at(&file, error))?.advisory)
}

/// Prints a row for every bug, or for those of the named crates; returns true if all were found, and nothing in the
/// repaired versions.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let Choice { runs, limit, names } = Choice::read(words, "1000", "60s")?;
    let is_chosen = |advisory: &Advisory| {
        names.is_empty() || names.iter().any(|&name| [&*advisory.name, &*advisory.id, &*advisory.test].contains(&name))
    };
    let advisories: Vec<Advisory> = read()?.into_iter().filter(is_chosen).collect();
    if advisories.is_empty() {
        return Err(format!("no advisory is about {}", names.join(" or ")));
    }
    let table = Table::new([
        ("advisory", 17, Align::Left),
        ("crate", 17, Align::Left),
        ("with the bug", 0, Align::Left),
        ("found as", 14, Align::Left),
        ("in execution", 0, Align::Right),
        ("preemptions", 0, Align::Right),
        ("time", 6, Align::Right),
        ("patched", 7, Align::Left),
        ("is", 6, Align::Left),
        ("executions", 0, Align::Right),
        ("time", 6, Align::Right),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    for advisory in &advisories {
        let began = Instant::now();
        let buggy = hunt(advisory, &advisory.buggy, &["--runs", runs, "--time", limit, "--stop-on-first"])?;
        let until_found = began.elapsed();
        let found = buggy.findings.iter().map(|(_, finding)| finding).find(|it| advisory.kinds.contains(&it.kind));
        let began = Instant::now();
        let patched = match &advisory.patched {
            Some(version) => Some(hunt(advisory, version, &["--runs", runs, "--time", limit])?),
            None => None,
        };
        let until_explored = patched.as_ref().map(|_| began.elapsed());
        let test = patched.as_ref().and_then(|answer| answer.tests.first());
        let is_clean = test.is_none_or(|test| ["clean", "proved"].contains(&test.verdict.as_str()));
        good &= found.is_some() && is_clean;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let cells = [
            advisory.id.clone(),
            advisory.name.clone(),
            advisory.buggy.clone(),
            found.map_or_else(|| "MISSED".to_owned(), |finding| finding.kind.clone()),
            or_none(found.map(|finding| thousands(finding.execution))),
            or_none(found.map(|finding| finding.preemptions.to_string())),
            time(until_found),
            or_none(advisory.patched.clone()),
            or_none(test.map(|it| if is_clean { it.verdict.clone() } else { it.verdict.to_uppercase() })),
            or_none(test.map(|test| thousands(test.executions))),
            or_none(until_explored.map(time)),
        ];
        println!("{}", table.row(cells));
        for (_, finding) in patched.iter().flat_map(|answer| &answer.findings) {
            println!("    {}: {}", finding.kind, finding.message);
        }
        if let Some(test) = test.filter(|test| !is_clean && !test.detail.is_empty()) {
            println!("    {}", test.detail);
        }
    }
    Ok(good)
}

/// Hunts the test of an advisory with one version of the crate.
fn hunt(advisory: &Advisory, version: &str, options: &[&str]) -> Result<Answer, String> {
    let place = home("bench-advisories").join(format!("{}-{version}", advisory.test));
    let source = root().join("benches/advisories").join(format!("{}.rs", advisory.test));
    let source = fs::read_to_string(&source).map_err(|error| at(&source, error))?;
    write_crate(&place, &manifest(advisory, version), &source)?;
    provide_lock(advisory, version, &place)?;
    let mut command = cargo_racehunter();
    command.current_dir(&place).args(["test", "--message-format", "json", "--quiet", "--locked"]).args(options);
    // The crates of all advisories are compiled once.
    command.arg("--target-dir").arg(home("bench-advisories").join("build"));
    Answer::of(&mut command).map_err(|what| format!("{} {version}: {what}", advisory.name))
}

fn manifest(Advisory { name, features, test, .. }: &Advisory, version: &str) -> String {
    format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{name} = {{ version = \"={version}\", \
         features = {features:?} }}\n\n[workspace]\n",
        package(test)
    )
}

/// Returns the name of the test package. No package in the registry has it.
fn package(test: &str) -> String {
    format!("hunt-{}", test.replace('_', "-"))
}

/// Provides a lock file for a withdrawn version, which cargo does not resolve: that of the patched version, with the
/// version and the checksum of the other.
fn provide_lock(advisory: &Advisory, version: &str, place: &Path) -> Result<(), String> {
    let file = place.join("Cargo.lock");
    if file.is_file() {
        return Ok(());
    }
    let withdrawn = advisory.checksum.as_deref().filter(|_| version == advisory.buggy);
    let Some(checksum) = withdrawn else { return generate_lock(place) };
    let other = PathBuf::from(format!("{}-lock", place.display()));
    let patched = advisory.patched.as_deref().ok_or_else(|| format!("{} needs a version to resolve", advisory.id))?;
    write_crate(&other, &manifest(advisory, patched), "")?;
    generate_lock(&other)?;
    let lock = other.join("Cargo.lock");
    let text = fs::read_to_string(&lock).map_err(|error| at(&lock, error))?;
    let text = exchange(&text, &advisory.name, patched, (version, checksum));
    let text = text.ok_or_else(|| at(&lock, format!("{} {patched} is not in it", advisory.name)))?;
    fs::write(&file, text).map_err(|error| at(&file, error))
}

fn generate_lock(place: &Path) -> Result<(), String> {
    let output = plain(cargo()).args(["generate-lockfile", "--quiet"]).current_dir(place).output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(at(place, String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Returns a lock file with another version of a crate.
fn exchange(lock: &str, name: &str, from: &str, (version, checksum): (&str, &str)) -> Option<String> {
    let mut is_there = false;
    let blocks: Vec<String> = lock
        .split("\n\n")
        .map(|block| {
            let head = format!("[[package]]\nname = \"{name}\"\nversion = \"{from}\"\n");
            let Some(rest) = block.strip_prefix(&head) else { return block.to_owned() };
            is_there = true;
            let lines = rest.lines().map(|line| match line.starts_with("checksum = ") {
                true => format!("checksum = \"{checksum}\""),
                false => line.to_owned(),
            });
            let rest: Vec<String> = lines.collect();
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{}", rest.join("\n"))
        })
        .collect();
    is_there.then(|| blocks.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_advisories_is_read() {
        let advisories = read().expect("the list can be read");
        assert!(advisories.len() >= 6, "fewer bugs than promised");
        for Advisory { id, test, kinds, .. } in &advisories {
            let source = root().join("benches/advisories").join(format!("{test}.rs"));
            assert!(source.is_file() && !kinds.is_empty(), "{id}");
        }
    }

    #[test]
    fn a_withdrawn_version_takes_the_place_of_another() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.1\"\nsource = \"s\"\nchecksum = \"11\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.1\"\nsource = \"s\"\nchecksum = \"22\"\n";
        let other = exchange(lock, "a", "1.0.1", ("1.0.0", "33")).expect("it is there");
        assert!(other.contains("name = \"a\"\nversion = \"1.0.0\"\nsource = \"s\"\nchecksum = \"33\""), "{other}");
        assert!(other.contains("name = \"b\"\nversion = \"1.0.1\"\nsource = \"s\"\nchecksum = \"22\""), "{other}");
        assert_eq!(exchange(lock, "a", "2.0.0", ("1.0.0", "33")), None);
    }
}
