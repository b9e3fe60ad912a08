//! Checks that `cargo xtask probes` notices errors. The probes themselves take too long to be part of the tests.

use racehunter_e2e::answers::{Answer, Outcome, judge};
use racehunter_e2e::probes::{Asked, Probe, Truth, annotated, probes};
use std::path::Path;

const FINDING: &str = r#"{"reason":"finding","id":"0123abcd","kind":"KIND","confirmed":true,"replayed":[5,5],"execution":1,"preemptions":1,"message":"data race on `n`","sites":[{"file":"p.c","line":4,"column":1,"function":"f","thread":"main/1","access":"write","size":4,"locks":[],"stack":[]}],"replay":"r"}"#;
const SUMMARY: &str = r#"{"reason":"summary","executions":9,"diverged":0,"timed_out":0,"complete":COMPLETE,"guarantee":"all schedules with <= 1 preemption over 4 points","findings":0,"assumes":["this input"],"uncontrolled":[]}"#;

fn probe(text: &str) -> Probe {
    let mut probes = annotated("hunt/p.c", Path::new("hunt/p.c"), text).expect("the probe follows the convention");
    assert_eq!(probes.len(), 1);
    probes.remove(0)
}

fn answer(status: i32, lines: &[&str]) -> Answer {
    Answer::read(Some(status), &lines.join("\n"), String::new())
}

fn summary(complete: bool) -> String {
    SUMMARY.replace("COMPLETE", &complete.to_string())
}

fn finding(kind: &str) -> String {
    FINDING.replace("KIND", kind)
}

#[track_caller]
fn expect_wrong(probe: &Probe, answer: &Answer, because: &str) {
    match judge(probe, answer) {
        Outcome::Wrong(what) => assert!(what.iter().any(|what| what.contains(because)), "{what:?}"),
        other => panic!("{other:?}, and not wrong because it {because}"),
    }
}

#[test]
fn every_probe_follows_the_convention() {
    let all = probes().expect("all probes can be read");
    let clean = all.iter().filter(|probe| probe.truth == Truth::Clean).count();
    assert!(all.len() >= 150, "there are only {}", all.len());
    assert!(clean * 3 >= all.len(), "only {clean} of {} are correct programs", all.len());
}

#[test]
fn claims_about_a_bug_are_wrong() {
    let bug = probe("//~ truth: race assertion\n//~ preemptions: 1\n");
    expect_wrong(&bug, &answer(0, &[&summary(true)]), "explored everything");
    expect_wrong(&bug, &answer(0, &[&summary(false)]), "<= 1 preemption");
    assert_eq!(judge(&bug, &answer(1, &[&finding("data-race"), &summary(true)])), Outcome::Found);
    expect_wrong(&bug, &answer(1, &[&finding("deadlock"), &summary(true)]), "false report");
    let deep = probe("//~ truth: race\n//~ preemptions: 2\n");
    assert_eq!(judge(&deep, &answer(0, &[&summary(false)])), Outcome::NoClaim);
    let assumed = probe("//~ truth: race\n//~ unless-assumes: input\n");
    assert_eq!(judge(&assumed, &answer(0, &[&summary(true)])), Outcome::Proved);
    let always = probe("//~ truth: exit-status\n//~ must-not: exit-0\n");
    expect_wrong(&always, &answer(0, &[&summary(false)]), "exit 0");
    assert_eq!(judge(&always, &answer(3, &[&summary(false)])), Outcome::NoClaim);
}

#[test]
fn reports_about_a_correct_program_are_wrong() {
    let clean = probe("//~ truth: clean\n");
    expect_wrong(&clean, &answer(1, &[&finding("data-race"), &summary(false)]), "false report");
    assert_eq!(judge(&clean, &answer(0, &[&summary(true)])), Outcome::Proved);
    assert_eq!(judge(&clean, &answer(0, &[&summary(false)])), Outcome::NoClaim);
    // A warning does not count.
    let warning = finding("data-race").replace("true", "false");
    assert_eq!(judge(&clean, &answer(0, &[&warning, &summary(false)])), Outcome::NoClaim);
}

#[test]
fn a_race_at_another_line_is_wrong() {
    let here = probe("//~ truth: race\n\n\nn++; //~ bug\n");
    assert_eq!(judge(&here, &answer(1, &[&finding("data-race"), &summary(false)])), Outcome::Found);
    let there = probe("//~ truth: race\nn++; //~ bug\n");
    expect_wrong(&there, &answer(1, &[&finding("data-race"), &summary(false)]), "at lines");
}

#[test]
fn a_wrong_exit_code_is_wrong() {
    let any = probe("//~ truth: any\n");
    expect_wrong(&any, &answer(2, &[]), "exit 2");
    expect_wrong(&any, &answer(101, &[]), "exit 101");
    expect_wrong(&any, &Answer::read(None, "", String::new()), "a signal");
    expect_wrong(&any, &Answer { hung: true, ..Answer::default() }, "does not end");
    expect_wrong(&any, &Answer { left: 1, ..answer(0, &[]) }, "behind");
    expect_wrong(&any, &answer(0, &["no JSON"]), "contract");
    let refused = probe("//~ truth: any\n//~ may: refuse\n");
    assert_eq!(judge(&refused, &answer(2, &[])), Outcome::NoClaim);
}

#[test]
fn scan_is_asked_about_races_only() {
    let text = "//~ command: hunt scan\n//~ revisions: bug fixed\n//~[bug] truth: assertion\n//~[fixed] truth: clean\n";
    let all = annotated("hunt/p.c", Path::new("hunt/p.c"), text).expect("the probe follows the convention");
    assert_eq!(all.len(), 4);
    let scanned: Vec<&Probe> = all.iter().filter(|probe| probe.asked == Asked::Scan).collect();
    assert!(scanned.iter().all(|probe| probe.truth == Truth::Clean), "{scanned:?}");
    let race = probe("//~ command: scan\n//~ truth: race\n");
    let verdict = |word: &str| format!(r#"{{"reason":"verdict","verdict":"{word}","tier":"A","why":"w"}}"#);
    expect_wrong(&race, &answer(0, &[&verdict("race-free")]), "race-free");
    assert_eq!(judge(&race, &answer(0, &[&verdict("unknown")])), Outcome::NoClaim);
}
