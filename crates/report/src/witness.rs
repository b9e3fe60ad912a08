//! Witnesses of the competition on software verification, in their format 2: YAML that another tool can check.
//!
//! The witness of a race is the path of its execution: a segment for each place that a thread passes, in execution
//! order, and a last one with both accesses. A waypoint has only a line, and means the first statement on it. The
//! witness of a proof has no invariants.

use crate::scan::{Verdict, Word};
use racehunter_finding::{Finding, Step};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where a witness comes from.
pub struct Origin<'a> {
    /// The files of the task, each with its SHA-256 in hexadecimal.
    pub files: &'a [(PathBuf, String)],
    /// When it was made.
    pub time: SystemTime,
    /// Random digits in hexadecimal, 30 at least.
    pub digits: &'a str,
}

/// Returns the witness of a verdict. An `unknown` verdict has no witness.
#[must_use]
pub fn witness(verdict: &Verdict, origin: &Origin<'_>) -> Option<String> {
    match (verdict.word, &verdict.finding) {
        (Word::Race, Some(finding)) => Some(violation(&metadata(origin, "2.2"), finding, origin.files)),
        (Word::RaceFree, _) => Some(correctness(&metadata(origin, "2.0"))),
        _ => None,
    }
}

/// Returns the metadata: what the witness is about, and where it comes from.
fn metadata(origin: &Origin<'_>, version: &str) -> String {
    let hashes: Vec<(String, &str)> =
        origin.files.iter().map(|(file, hash)| (file.display().to_string(), &**hash)).collect();
    let time = humantime::format_rfc3339_seconds(origin.time).to_string();
    let mut text = String::new();
    let _ = writeln!(text, "  metadata:");
    let _ = writeln!(text, "    format_version: {}", quoted(version));
    let _ = writeln!(text, "    uuid: {}", quoted(&uuid(origin.digits)));
    let _ = writeln!(text, "    creation_time: {}", quoted(&time));
    let _ = writeln!(text, "    producer:");
    let _ = writeln!(text, "      name: \"RaceHunter\"");
    let _ = writeln!(text, "      version: {}", quoted(env!("CARGO_PKG_VERSION")));
    let _ = writeln!(text, "    task:");
    let _ = writeln!(text, "      input_files:");
    for (file, _) in &hashes {
        let _ = writeln!(text, "      - {}", quoted(file));
    }
    let _ = writeln!(text, "      input_file_hashes:");
    for (file, hash) in &hashes {
        let _ = writeln!(text, "        {}: {}", quoted(file), quoted(hash));
    }
    let _ = writeln!(text, "      specification: \"G ! data-race\"");
    let _ = writeln!(text, "      data_model: \"LP64\"");
    let _ = writeln!(text, "      language: \"C\"");
    text
}

/// Returns a random UUID, made of random hexadecimal digits.
fn uuid(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}

/// Quotes a string for YAML, which is also valid JSON.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

fn correctness(metadata: &str) -> String {
    format!("- entry_type: \"invariant_set\"\n{metadata}  content: []\n")
}

fn violation(metadata: &str, finding: &Finding, files: &[(PathBuf, String)]) -> String {
    let mut text = format!("- entry_type: \"violation_sequence\"\n{metadata}  content:\n");
    // The sources that stand for inputs and libraries are not part of the task.
    let is_task = |file: &str| files.iter().any(|(known, _)| known.ends_with(file) || Path::new(file).ends_with(known));
    // The thread that reaches its access first waits there for the other.
    let first = finding.steps.iter().position(|step| step.culprit).unwrap_or(finding.steps.len());
    let waits = finding.steps.get(first).map(|step| step.thread);
    let is_before = |(at, step): &(usize, &Step)| !step.culprit && (*at < first || Some(step.thread) != waits);
    // Two accesses of one statement are one waypoint: a line counts again only after the thread was elsewhere.
    let mut latest: BTreeMap<u32, (&str, u32)> = BTreeMap::new();
    for (_, step) in finding.steps.iter().enumerate().filter(is_before) {
        if step.line == 0 || !is_task(&step.file) {
            continue;
        }
        let place = (step.file.as_str(), step.line);
        if latest.insert(step.thread, place) == Some(place) {
            continue;
        }
        text += "  - segment:\n";
        text += &waypoint("assumption", step.thread, place, None);
        text += "        constraint:\n          value: \"1\"\n          format: \"c_expression\"\n";
    }
    text += "  - segment:\n";
    for site in finding.sites.iter().take(2) {
        let thread = finding.threads.iter().position(|thread| thread.path == site.thread).unwrap_or(0);
        text += &waypoint("target", thread as u32, (&site.file, site.line), Some(&site.function));
    }
    text
}

fn waypoint(kind: &str, thread: u32, (file, line): (&str, u32), function: Option<&str>) -> String {
    let mut text = String::from("    - waypoint:\n");
    let _ = writeln!(text, "        type: {}\n        action: \"follow\"", quoted(kind));
    let _ = writeln!(text, "        thread_id: {thread}");
    let _ = writeln!(text, "        location:\n          file_name: {}\n          line: {line}", quoted(file));
    if let Some(function) = function {
        let _ = writeln!(text, "          function: {}", quoted(function));
    }
    text
}
