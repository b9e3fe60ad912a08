//! Hunts every program below `targets/`, and compares the reports with what the program says about itself.
//!
//! Each program has several tests, named after the program and what they check:
//!
//! - `hunt`: the bug is found at the marked lines and replayed; a correct program is silent.
//! - `repeat`: the same hunt reports the same, with one worker and with two.
//! - `backends`: the same plan gives the same execution on fibers and on kernel threads, and shows only the marked bugs.
//! - `scan`: the analysis of the code never calls a racy program race-free.
//! - `all-schedules`: small correct programs are silent in every schedule with two preemptions.
//!
//! The tests of a program share the build of its hunt. Those with `slow::` in their names run with `--all` only.

use libtest_mimic::{Arguments, Trial};
use racehunter_e2e::annotations::{Target, targets};
use racehunter_e2e::pair::Pair;
use racehunter_e2e::verdict::judge;
use racehunter_e2e::{Hunted, Workshop, tool};
use racehunter_explore::Bug;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

/// Corrected programs that are small enough to explore all schedules with two preemptions.
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

/// Number of executions in which nothing may be reported about a correct program.
const SILENT: &str = "200";

fn main() -> ExitCode {
    if let Err(what) = tool::find() {
        eprintln!("{what}");
        return ExitCode::FAILURE;
    }
    let all: Vec<Arc<Subject>> = targets().into_iter().map(|target| Arc::new(Subject::new(target))).collect();
    // All hunts come first: the other tests of a program wait for its hunt.
    let trials = TESTS.iter().flat_map(|&(name, concerns, test)| {
        all.iter().filter(move |subject| concerns(&subject.target)).map(move |subject| {
            let subject = Arc::clone(subject);
            let prefix = if is_slow(name, &subject.target) { "slow::" } else { "" };
            Trial::test(format!("{prefix}{}/{name}", subject.name()), move || {
                test(&subject);
                Ok(())
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// A test: its name, the programs that it concerns, and what it does.
type Test = (&'static str, fn(&Target) -> bool, fn(&Subject));

const TESTS: [Test; 5] = [
    ("hunt", |_| true, check_hunt),
    ("repeat", |_| true, check_repeatable),
    ("backends", |_| true, check_backends),
    ("scan", has_race, check_scan),
    ("all-schedules", |target| SMALL.contains(&target.path.as_str()), check_all_schedules),
];

/// Returns whether only `cargo xtask test --all` runs a test: whether hunts repeat and backends agree depends little on
/// the program, so a third of the programs is enough for each change.
fn is_slow(name: &str, target: &Target) -> bool {
    // Paths are stable, so the selection is too.
    let sum: u32 = target.path.bytes().map(u32::from).sum();
    matches!(name, "repeat" | "backends") && !sum.is_multiple_of(3)
}

/// A program, and the result of its hunt.
struct Subject {
    target: Target,
    hunted: OnceLock<(Workshop, Hunted)>,
}

impl Subject {
    fn new(target: Target) -> Self {
        Self { target, hunted: OnceLock::new() }
    }

    fn name(&self) -> &str {
        self.target.path.trim_start_matches("targets/")
    }

    /// Returns the options of every hunt of this program.
    fn options(&self) -> &'static [&'static str] {
        if self.target.bug.is_some() { &[] } else { &["--analysis", "context-bound", "--bound", "1"] }
    }

    /// Returns the hunt, made once, and its workshop.
    fn hunted(&self) -> &(Workshop, Hunted) {
        self.hunted.get_or_init(|| {
            let workshop = Workshop::new();
            let runs = if self.target.bug.is_some() { "600" } else { SILENT };
            let options = [self.options(), &["--runs", runs], &self.target.options()].concat();
            let hunted = workshop.hunt(Path::new(&self.target.path), &options);
            (workshop, hunted)
        })
    }

    /// Returns the built program.
    fn built(&self) -> PathBuf {
        self.hunted().0.built()
    }
}

fn has_race(target: &Target) -> bool {
    target.bug.as_ref().is_some_and(|bug| !bug.marked("data-race").is_empty())
}

/// Checks that the bug is found at the marked lines and replayed, and that nothing is reported about a correct program.
fn check_hunt(subject: &Subject) {
    let (workshop, hunted) = subject.hunted();
    let finding = judge(hunted, &subject.target).unwrap_or_else(|what| panic!("{what}"));
    match (finding, &subject.target.bug) {
        (Some(finding), Some(_)) => {
            workshop.replay(&finding.id).expect(0);
        }
        (None, None) => {
            let summary = hunted.summary();
            assert!(summary.finished || summary.executions.to_string() == SILENT, "ended early: {summary:?}");
        }
        (finding, bug) => panic!("{bug:?} was expected, {finding:?} was found"),
    }
}

/// Checks that executions on both backends are the same, and show no other kind of bug than the program has.
fn check_backends(subject: &Subject) {
    let shown = Pair::new(subject.built()).compare_schedules();
    let Some(bug) = &subject.target.bug else {
        assert!(shown.is_empty(), "a correct program shows bugs: {shown:?}");
        return;
    };
    for shown in &shown {
        let kinds = kinds(shown);
        let is_marked = kinds.is_empty() || kinds.iter().any(|kind| !bug.marked(kind).is_empty());
        assert!(is_marked, "{shown:x?} is not one of the marked bugs: {bug:?}");
    }
    // The default schedule is one of those that were compared. In it a signal wakes the thread that has waited longest.
    let must_show = bug.preemptions == 0 && bug.kind != "lost-wakeup";
    assert!(!must_show || !shown.is_empty(), "{bug:?} shows without any preemption, and did not");
}

/// Returns the kinds as which a bug may be reported; none for the consequence of another bug.
fn kinds(bug: &Bug) -> &'static [&'static str] {
    match bug {
        Bug::Race(..) => &["data-race", "use-after-free", "misuse"],
        Bug::DoubleFree(..) => &["double-free"],
        Bug::Misuse(..) => &["misuse"],
        Bug::Deadlock(_) => &["deadlock", "lost-wakeup"],
        Bug::Assertion(..) => &["assertion"],
        Bug::Crash(..) => &["crash", "use-after-free"],
        Bug::Panic(..) | Bug::ExitStatus(_) | Bug::Output(_) => &[],
    }
}

/// Checks all schedules with at most two preemptions.
fn check_all_schedules(subject: &Subject) {
    let options = ["--analysis", "context-bound", "--bound", "2", "--require-complete"];
    let hunted = Workshop::new().hunt(&subject.built(), &options).expect(0);
    assert!(hunted.summary().complete, "{:?}", hunted.summary());
    let bounds: Vec<(u32, bool)> = hunted.bounds.iter().map(|bound| (bound.bound, bound.complete)).collect();
    assert_eq!(bounds, [(0, true), (1, true), (2, true)]);
    let last = hunted.bounds.last().map(|bound| bound.executions);
    assert!(last <= Some(hunted.summary().executions), "a stage counts more executions than the summary");
}

/// Checks that the code alone never yields the verdict "race-free" for a racy program.
fn check_scan(subject: &Subject) {
    let workshop = Workshop::new();
    let program = subject.built().display().to_string();
    let words = ["scan", "--message-format", "json", "--approx", "over", &program];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
    let last = ended.stdout.lines().last().unwrap_or_default();
    let said: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"));
    assert_eq!(said["verdict"], "unknown", "{} has a race: {said}", subject.target.path);
}

/// Checks that the same hunt with one worker and with two gives the same result, except for the time.
fn check_repeatable(subject: &Subject) {
    let (workshop, program) = (Workshop::new(), subject.built());
    let hunt = |jobs| {
        let options = [subject.options(), &["--runs", "40", "--seed", "7", "--jobs", jobs]].concat();
        workshop.hunt(&program, &options).repeatable
    };
    assert_eq!(hunt("1"), hunt("2"), "the result depends on the number of workers");
}
