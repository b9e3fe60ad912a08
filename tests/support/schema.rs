//! Checks JSON lines against the schema in the documentation.

use crate::tool::root;
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns the schema itself.
#[must_use]
pub fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("docs/json-lines.schema.json")).expect("the schema");
    serde_json::from_str(&text).expect("JSON")
}

/// Returns what is wrong with each of these lines; empty if nothing is. Uses a program that cargo builds on first use:
/// see its manifest.
#[must_use]
pub fn problems(lines: &[Value]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--profile",
            "quick",
            "--package",
            "racehunter-schema",
            "--",
            "docs/json-lines.schema.json",
        ])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("cargo can be run");
    let mut input = child.stdin.take().expect("a pipe was asked for");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // The answers to a few hundred lines fit into a pipe, so it never blocks on writing.
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "it could not be checked");
    let answers: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), lines.len(), "an answer for each line");
    answers
}

/// Fails unless all of these lines are as in the schema.
#[track_caller]
pub fn check(lines: &[Value]) {
    for (line, problem) in lines.iter().zip(problems(lines)) {
        assert!(problem.is_empty(), "{problem}\n{line}");
    }
}
