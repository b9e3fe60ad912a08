//! `racehunter predict` and `racehunter trace` as scripts use them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn racehunter(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_racehunter")).args(arguments).output().unwrap()
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../predict/tests/fixtures");
    folder.join(name).to_str().unwrap().to_owned()
}

fn status(arguments: &[&str]) -> i32 {
    racehunter(arguments).status.code().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A file that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("racehunter-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns the pairs of sites that are predicted to race in figure 2 of the paper.
fn races(policy: &str, trace: &str) -> Vec<[String; 2]> {
    let output = racehunter(&["predict", "--policy", policy, "--message-format", "json", trace]);
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    let (summary, findings) = lines.split_last().unwrap();
    assert_eq!(summary["reason"], "summary");
    assert_eq!(summary["policy"], policy);
    assert_eq!(summary["findings"], findings.len());
    assert_eq!(summary["complete"], true);
    findings
        .iter()
        .map(|finding| {
            assert_eq!(finding["reason"], "finding");
            assert_eq!(finding["kind"], "data-race");
            assert_eq!((&finding["confirmed"], &finding["predicted"]), (&Value::Bool(false), &Value::Bool(true)));
            assert!(finding["tail"].is_array() && finding["frozen"].is_u64());
            [0, 1].map(|at| finding["sites"][at]["function"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn figure_2_of_the_paper_needs_nre() {
    let race = ["site 3".to_owned(), "site 22".to_owned()];
    let verdicts = ["m2", "seqcheck", "nre"].map(|policy| races(policy, &fixture("figure2.std")).contains(&race));
    assert_eq!(verdicts, [false, false, true]);
}

#[test]
fn files_and_text_say_the_same() {
    let file = Scratch::new("figure2.rht", b"");
    let text = fixture("figure2.std");
    assert_eq!(status(&["trace", "--export", "rht", "-o", file.path(), &text]), 0);
    assert_eq!(races("nre", file.path()), races("nre", &text));
    let exports = [file.path(), &text].map(|trace| racehunter(&["trace", "--export", "std", trace]).stdout);
    assert_eq!(exports[0], exports[1]);
    let events = lines(&racehunter(&["trace", "--export", "json", file.path()]));
    assert_eq!(events.len(), 20);
    assert_eq!(events[19]["values"], serde_json::json!([18]));
}

#[test]
fn summaries_count() {
    let summary = &lines(&racehunter(&["trace", "--message-format", "json", &fixture("account.std")]))[0];
    for (field, value) in [("events", 12), ("threads", 2), ("locks", 1), ("locations", 1), ("shared", 1)] {
        assert_eq!(summary[field], value, "{field}");
    }
    let text = String::from_utf8(racehunter(&["trace", &fixture("account.std")]).stdout).unwrap();
    assert!(text.starts_with("12 events of 2 threads at 12 sites\n"), "{text}");
}

#[test]
fn exit_codes_say_how_it_ended() {
    assert_eq!(status(&["predict", &fixture("gate.std")]), 0);
    assert_eq!(status(&["predict", &fixture("philosophers.std")]), 1);
    assert_eq!(status(&["predict", "--policy", "magic", &fixture("gate.std")]), 2);
    let unfinished = ["predict", "--time", "0s", "--require-complete", &fixture("account.std")];
    assert_eq!(status(&unfinished), 3);
    let alone = Scratch::new("alone.std", b"T0|w(x)|1\nT0|r(x)|2\n");
    assert_eq!(status(&["predict", alone.path()]), 4);
}

#[test]
fn broken_traces_are_explained() {
    let message = |name: &str, content: &[u8]| {
        let trace = Scratch::new(name, content);
        let output = racehunter(&["predict", trace.path()]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let impossible = message("impossible.std", b"T0|rel(x)|1\n");
    assert!(impossible.contains("is not the trace of an execution"), "{impossible}");
    assert!(impossible.contains("it releases a lock that its thread does not hold"), "{impossible}");
    let nonsense = message("nonsense.std", b"T0|w(x)|1\nhello\n");
    assert!(nonsense.contains("line 2: expected"), "{nonsense}");
    let truncated = message("truncated.rht", b"RHTRACE\0\x05\0\0\0\0\0\0\0");
    assert!(truncated.contains("the trace ends within block 0"), "{truncated}");
    let output = racehunter(&["trace", "there-is-no-such-file.rht"]);
    assert_eq!(output.status.code(), Some(2));
}
