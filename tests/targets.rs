//! Every program below `targets/` is hunted, and what is reported is compared with what the program says about itself.
//!
//! One test per program, named after it. Because the programs are built here, this file also checks determinism (the
//! same hunt gives the same lines again, with one worker and with two), both backends (the same plan gives the same
//! execution on fibers and on kernel threads), and that `racehunter scan` never calls a racy program race-free.

use libtest_mimic::{Arguments, Trial};
use racehunter_e2e::annotations::{Target, targets};
use racehunter_e2e::pair::Pair;
use racehunter_e2e::verdict::judge;
use racehunter_e2e::{Workshop, tool};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

/// Corrected programs that are small enough to go through all schedules with two preemptions.
const SMALL: [&str; 8] = [
    "targets/data-race/lost_update.fixed.c",
    "targets/data-race/listing1.fixed.cpp",
    "targets/data-race/plain_flag.fixed.c",
    "targets/deadlock/abba.fixed.c",
    "targets/assertion/check_then_act.fixed.c",
    "targets/crash/nulled_pointer.fixed.c",
    "targets/loop/listing1.fixed.cpp",
    "targets/loop/withdrawal.fixed.c",
];

fn main() -> ExitCode {
    if let Err(what) = tool::find() {
        eprintln!("{what}");
        return ExitCode::FAILURE;
    }
    let trials = targets().into_iter().map(|target| {
        let name = target.path.trim_start_matches("targets/").to_owned();
        Trial::test(name, move || {
            let workshop = Workshop::new();
            match &target.bug {
                Some(_) => hunt_bug(&workshop, &target),
                None => hunt_nothing(&workshop, &target),
            }
            scan(&workshop, &target);
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn hunt_bug(workshop: &Workshop, target: &Target) {
    let options = ["--runs", "600"];
    let hunted = workshop.hunt(Path::new(&target.path), &[&options[..], &target.options()].concat());
    let finding = judge(&hunted, target).unwrap_or_else(|what| panic!("{what}"));
    let finding = finding.unwrap_or_else(|| panic!("{} has a bug", target.path));
    workshop.replay(&finding.id).expect(0);

    check_repeatable(workshop, &["--runs", "40"]);
    let _ = Pair::new(workshop.built()).compare_schedules();
}

fn hunt_nothing(workshop: &Workshop, target: &Target) {
    let options = ["--analysis", "context-bound", "--bound", "1", "--runs", "400"];
    let hunted = workshop.hunt(Path::new(&target.path), &[&options[..], &target.options()].concat());
    judge(&hunted, target).unwrap_or_else(|what| panic!("{what}"));
    let summary = hunted.summary();
    assert!(summary.finished || summary.executions == 400, "ended early: {summary:?}");
    check_repeatable(workshop, &["--analysis", "context-bound", "--bound", "1", "--runs", "40"]);
    let shown = Pair::new(workshop.built()).compare_schedules();
    assert!(shown.is_empty(), "nothing is wrong with it: {shown:?}");
    if SMALL.contains(&target.path.as_str()) {
        explore_all(workshop);
    }
}

/// All schedules with at most two preemptions.
fn explore_all(workshop: &Workshop) {
    let options = ["--analysis", "context-bound", "--bound", "2", "--require-complete"];
    let hunted = workshop.hunt(&workshop.built(), &options).expect(0);
    assert!(hunted.summary().complete, "{:?}", hunted.summary());
    let bounds: Vec<(u32, bool)> = hunted.bounds.iter().map(|bound| (bound.bound, bound.complete)).collect();
    assert_eq!(bounds, [(0, true), (1, true), (2, true)]);
    let last = hunted.bounds.last().map(|bound| bound.executions);
    assert!(last <= Some(hunted.summary().executions), "bounds count the executions up to them");
}

/// The code alone never gives the verdict that there is no race where there is one.
fn scan(workshop: &Workshop, target: &Target) {
    if target.bug.as_ref().is_none_or(|bug| bug.marked("data-race").is_empty()) {
        return;
    }
    let program = workshop.built().display().to_string();
    let words = ["scan", "--message-format", "json", "--approx", "over", &program];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
    let last = ended.stdout.lines().last().unwrap_or_default();
    let said: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"));
    assert_eq!(said["verdict"], "unknown", "{} has a race: {said}", target.path);
}

/// The same hunt twice, with one worker and with two: everything but the time is the same.
fn check_repeatable(workshop: &Workshop, options: &[&str]) {
    let program = workshop.built();
    let hunt = |jobs| workshop.hunt(&program, &[options, &["--seed", "7", "--jobs", jobs]].concat()).repeatable;
    assert_eq!(hunt("1"), hunt("2"), "the number of workers makes a difference");
}
