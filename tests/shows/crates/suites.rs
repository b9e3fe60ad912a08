//! The crates' own tests: `cargo xtask bench suites [--runs N] [--time T] [NAME...]`.
//!
//! Each suite is run by `cargo test`, and hunted by `cargo racehunter test`. Tests that pass there must pass here, and
//! nothing may be reported. `benches/suites.toml` lists the suites.

use super::{Answer, Choice, at, cargo, cargo_racehunter, home, plain, write_crate};
use crate::table::{Align, Table, thousands, time};
use racehunter_e2e::root;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suites {
    suite: Vec<Suite>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    #[serde(rename = "crate")]
    name: String,
    version: String,
    /// Options of `cargo test`.
    #[serde(default)]
    options: Vec<String>,
    /// Tests that are left out, and why.
    #[serde(default)]
    skip: BTreeMap<String, String>,
    /// Tests, by their full names, that assume that threads are fast enough. They rightly fail under some schedules.
    #[serde(default)]
    timed: Vec<String>,
    /// The dependencies of its tests depend on it: they must use this copy too.
    #[serde(default)]
    patch: bool,
    /// Crates that only its benchmarks need.
    #[serde(default)]
    drop: Vec<String>,
}

fn read() -> Result<Vec<Suite>, String> {
    let file = root().join("benches/suites.toml");
    let text = fs::read_to_string(&file).map_err(|error| at(&file, error))?;
    Ok(toml::from_str::<Suites>(&text).map_err(|error| at(&file, error))?.suite)
}

/// Prints a row for every suite, or for the named ones; returns true if all outcomes are right and nothing is reported.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let Choice { runs, limit, names } = Choice::read(words, "20", "10s")?;
    let suites = read()?.into_iter().filter(|suite| names.is_empty() || names.contains(&&*suite.name));
    let suites: Vec<Suite> = suites.collect();
    if suites.is_empty() {
        return Err(format!("no suite is called {}", names.join(" or ")));
    }
    let table = Table::new([
        ("crate", 17, Align::Left),
        ("version", 8, Align::Left),
        ("tests", 0, Align::Right),
        ("with threads", 0, Align::Right),
        ("same outcome", 0, Align::Right),
        ("reported", 0, Align::Right),
        ("by time", 0, Align::Right),
        ("unclear", 0, Align::Right),
        ("uncontrolled", 0, Align::Right),
        ("executions", 0, Align::Right),
        ("time", 8, Align::Right),
    ]);
    println!("{}", table.heading());
    let mut good = true;
    for suite in &suites {
        let began = Instant::now();
        let row = look_at(suite, &["--runs", runs, "--time", limit]);
        let row = match row {
            Ok(row) => row,
            Err(what) => {
                println!("{:<17}  {:<8}  {what}", suite.name, suite.version);
                good = false;
                continue;
            }
        };
        let cells = [
            suite.name.clone(),
            suite.version.clone(),
            row.tests.to_string(),
            row.threaded.to_string(),
            row.same.to_string(),
            row.reported.to_string(),
            row.timed.to_string(),
            row.unclear.to_string(),
            row.uncontrolled.to_string(),
            thousands(row.executions),
            time(began.elapsed()),
        ];
        println!("{}", table.row(cells));
        row.remarks.iter().for_each(|remark| println!("    {remark}"));
        suite.skip.iter().for_each(|(test, why)| println!("    left out: {test}: {why}"));
        good &= row.same + row.timed + row.unclear == row.tests && row.reported == 0;
    }
    Ok(good)
}

#[derive(Default)]
struct Row {
    tests: usize,
    /// Tests that create threads.
    threaded: usize,
    /// Tests with the same outcome as without control.
    same: usize,
    /// Tests with findings, except those of the next field.
    reported: usize,
    /// Tests that rightly fail because of an assumption about time.
    timed: usize,
    unclear: usize,
    /// Tests that reach something that is not under control, or not seen.
    uncontrolled: usize,
    executions: u64,
    remarks: Vec<String>,
}

fn look_at(suite: &Suite, limits: &[&str]) -> Result<Row, String> {
    let place = source(suite)?;
    let plain = outcomes(suite, &place)?;
    let mut command = cargo_racehunter();
    command.current_dir(&place).args(["test", "--message-format", "json", "--quiet"]).args(limits);
    command.args(chosen(suite)).arg("--").args(skips(suite));
    let answer = Answer::of(&mut command)?;
    Ok(judge(suite, &plain, &answer))
}

/// Returns the tests of a suite, without examples.
fn chosen(suite: &Suite) -> Vec<&str> {
    match suite.options.iter().any(|option| option == "--test") {
        true => suite.options.iter().map(String::as_str).collect(),
        false => suite.options.iter().map(String::as_str).chain(["--tests"]).collect(),
    }
}

fn skips(suite: &Suite) -> impl Iterator<Item = &str> {
    suite.skip.keys().flat_map(|name| ["--skip", name])
}

fn judge(suite: &Suite, plain: &BTreeSet<String>, answer: &Answer) -> Row {
    let mut row = Row { tests: answer.tests.len(), ..Row::default() };
    for test in &answer.tests {
        row.executions += test.executions;
        let passes = match test.verdict.as_str() {
            "clean" | "proved" | "skipped" => Some(true),
            "found" | "failed" => Some(false),
            _ => None,
        };
        row.threaded += usize::from(!["skipped", "failed"].contains(&test.verdict.as_str()));
        row.unclear += usize::from(passes.is_none());
        row.uncontrolled += usize::from(
            answer.summaries.iter().any(|(name, summary)| *name == test.test && !summary.uncontrolled.is_empty()),
        );
        // The harness does not say to which program a test belongs.
        let name = test.test.split_once(' ').map_or(test.test.as_str(), |(_, name)| name);
        let is_same = passes == Some(plain.contains(name));
        row.same += usize::from(is_same);
        let mut findings = answer.findings.iter().filter(|(name, _)| *name == test.test);
        if test.verdict == "found"
            && suite.timed.iter().any(|it| it == name)
            && findings.all(|(_, it)| it.kind == "assertion")
        {
            row.timed += 1;
            continue;
        }
        row.reported += usize::from(test.verdict == "found");
        if !is_same {
            let detail = test.detail.lines().next().unwrap_or_default();
            row.remarks.push(format!("{} {}: {detail}", test.verdict, test.test));
        }
        for (_, finding) in answer.findings.iter().filter(|(name, _)| *name == test.test).take(2) {
            row.remarks.push(format!("    {}: {} ({})", finding.kind, finding.message, finding.replay));
        }
    }
    row
}

/// Returns the names of the tests that pass under `cargo test`.
fn outcomes(suite: &Suite, place: &Path) -> Result<BTreeSet<String>, String> {
    let mut command = plain(cargo());
    command.current_dir(place).args(["test", "--quiet", "--no-fail-fast"]).args(chosen(suite));
    command.args(["--", "--format", "pretty"]).args(skips(suite));
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let passed: BTreeSet<String> = text.lines().filter_map(passed).map(str::to_owned).collect();
    if passed.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().find(|line| line.starts_with("error")).unwrap_or("no test passes");
        return Err(format!("cargo test: {why}"));
    }
    Ok(passed)
}

/// Returns the name of a test, if this line says that it passes.
fn passed(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... ok")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

/// Returns a copy of a crate in which the tests can be run.
fn source(suite: &Suite) -> Result<PathBuf, String> {
    let Suite { name, version, .. } = suite;
    let place = home("bench-suites").join(format!("{name}-{version}"));
    if place.join("Cargo.lock.made").is_file() {
        return Ok(place);
    }
    let fetched = fetch(name, version)?;
    copy(&fetched, &place)?;
    let manifest = place.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| at(&manifest, error))?;
    fs::write(&manifest, adapted(suite, &text)?).map_err(|error| at(&manifest, error))?;
    fs::write(place.join("Cargo.lock.made"), "").map_err(|error| at(&place, error))?;
    Ok(place)
}

/// Returns the manifest of a crate as a separate workspace, without benchmarks.
fn adapted(suite: &Suite, manifest: &str) -> Result<String, String> {
    let mut manifest: toml::Table = manifest.parse().map_err(|error| format!("{}: {error}", suite.name))?;
    manifest.remove("bench");
    if let Some(toml::Value::Table(package)) = manifest.get_mut("package") {
        package.insert("autobenches".to_owned(), false.into());
    }
    take_out(&mut manifest, &suite.drop);
    if let Some(toml::Value::Table(targets)) = manifest.get_mut("target") {
        targets.iter_mut().filter_map(|(_, it)| it.as_table_mut()).for_each(|target| take_out(target, &suite.drop));
    }
    manifest.insert("workspace".to_owned(), toml::Table::new().into());
    if suite.patch {
        let patch = format!("[crates-io]\n{} = {{ path = \".\" }}\n", suite.name);
        manifest.insert("patch".to_owned(), toml::Value::Table(patch.parse().unwrap_or_default()));
    }
    Ok(manifest.to_string())
}

fn take_out(table: &mut toml::Table, names: &[String]) {
    if let Some(toml::Value::Table(dependencies)) = table.get_mut("dev-dependencies") {
        names.iter().for_each(|name| drop(dependencies.remove(name)));
    }
}

/// Makes cargo fetch a crate, and returns its directory.
fn fetch(name: &str, version: &str) -> Result<PathBuf, String> {
    let place = home("bench-suites").join("fetch").join(name);
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{name} = \"={version}\"\n\n[workspace]\n"
    );
    write_crate(&place, &manifest, "")?;
    let output = plain(cargo()).args(["metadata", "--format-version", "1"]).current_dir(&place).output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("cannot fetch {name} {version}: {}", String::from_utf8_lossy(&output.stderr).trim()))?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let path = packages.iter().find(|it| it["name"] == name && it["version"] == version);
    let path = path.and_then(|it| it["manifest_path"].as_str()).and_then(|path| Path::new(path).parent());
    path.map(Path::to_owned).ok_or_else(|| format!("cargo does not say where {name} {version} is"))
}

/// Files that a copy of a crate omits.
const LEFT: [&str; 3] = ["Cargo.lock", "rust-toolchain", "rust-toolchain.toml"];

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| at(to, error))?;
    for entry in fs::read_dir(from).map_err(|error| at(from, error))? {
        let entry = entry.map_err(|error| at(from, error))?;
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &place)?,
            // The crate was tested with other versions of its dependencies than are available, and perhaps with another
            // toolchain.
            false if LEFT.iter().any(|name| entry.file_name() == *name) => {}
            false => drop(fs::copy(&path, &place).map_err(|error| at(&path, error))?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_suites_is_read() {
        let suites = read().expect("the list can be read");
        for name in ["parking_lot", "crossbeam-channel", "rayon", "tokio", "flume", "dashmap", "arc-swap", "once_cell"]
        {
            assert!(suites.iter().any(|suite| suite.name == name), "{name} was promised");
        }
    }

    #[test]
    fn a_crate_becomes_a_workspace_without_benchmarks() {
        let suite = "crate = \"a\"\nversion = \"1.0.0\"\npatch = true\ndrop = [\"criterion\"]\n";
        let suite: Suite = toml::from_str(suite).expect("a suite");
        let manifest = "[package]\nname = \"a\"\n[dev-dependencies]\ncriterion = \"0.5\"\nrand = \"0.8\"\n[[bench]]\nname = \"b\"\n";
        let adapted: toml::Table = adapted(&suite, manifest).expect("a manifest").parse().expect("a manifest");
        assert_eq!(adapted["dev-dependencies"].as_table().map(|it| it.contains_key("criterion")), Some(false));
        assert!(adapted["dev-dependencies"]["rand"].is_str() && !adapted.contains_key("bench"));
        assert!(adapted["workspace"].is_table());
        assert_eq!(adapted["patch"]["crates-io"]["a"]["path"].as_str(), Some("."));
    }

    #[test]
    fn outcomes_are_compared() {
        let suite: Suite = toml::from_str("crate = \"a\"\nversion = \"1.0.0\"\ntimed = [\"late\"]\n").expect("a suite");
        let tested = |test: &str, verdict: &str| {
            serde_json::from_value(serde_json::json!({
                "test": format!("a {test}"), "verdict": verdict, "executions": 1, "elapsed_ms": 1
            }))
            .expect("a test")
        };
        let verdicts =
            [("good", "clean"), ("late", "found"), ("bad", "found"), ("long", "unclear"), ("fails", "failed")];
        let tests = verdicts.map(|(test, verdict)| tested(test, verdict)).into();
        let answer = Answer { tests, findings: Vec::new(), summaries: Vec::new() };
        let plain = ["good", "late", "bad", "long"].map(str::to_owned).into();
        let row = judge(&suite, &plain, &answer);
        assert_eq!((row.same, row.timed, row.reported, row.unclear), (2, 1, 1, 1));
    }

    #[test]
    fn lines_of_a_harness_are_read() {
        assert_eq!(passed("test a::b ... ok"), Some("a::b"));
        assert_eq!(passed("test a::b - should panic ... ok"), Some("a::b"));
        assert_eq!(passed("test a::b ... FAILED"), None);
        assert_eq!(passed("test result: ok. 3 passed"), None);
    }
}
