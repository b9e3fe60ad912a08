//! The models of primitives return what the C library returns.
//!
//! The programs assert every result themselves. Here they run without RaceHunter, which shows that their assertions are
//! correct; `targets` checks the same under control.

use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, root, tool};
use std::process::Command;

/// Programs whose assertions check return values.
const PROGRAMS: [&str; 7] = [
    "targets/clean/condition_errors.c",
    "targets/clean/mutex_errors.c",
    "targets/clean/robust_mutex.c",
    "targets/clean/rwlock_errors.c",
    "targets/clean/semaphore_errors.c",
    "targets/clean/named_semaphore.c",
    "targets/clean/flockfile.c",
];

#[test]
fn the_c_library_returns_what_the_programs_assert() {
    let workshop = Workshop::new();
    for program in PROGRAMS.iter().chain(&["tests/programs/processes.c"]) {
        let (source, built) = (text(&root().join(program)), workshop.path("plain"));
        tool::run(Command::new("cc").args(["-pthread", "-o"]).arg(&built).arg(source)).expect(0);
        tool::run(&mut Command::new(&built)).expect(0);
    }
}

#[test]
fn programs_without_a_controller_get_the_same_results() {
    let workshop = Workshop::new();
    for program in PROGRAMS {
        let (source, built) = (text(&root().join(program)), workshop.path("controlled"));
        workshop.cc(["-pthread", &source, "-o", &text(&built)]).expect(0);
        tool::run(&mut Command::new(&built)).expect(0);
    }
}

#[test]
fn processes_share_mutexes_conditions_and_semaphores() {
    let workshop = Workshop::new();
    let hunted = workshop.hunt(&root().join("tests/programs/processes.c"), &["--runs", "100"]);
    assert!(hunted.findings.is_empty(), "a correct program has findings: {:#?}", hunted.overview());
    let summary = hunted.summary();
    assert_eq!(summary.executions, 100);
    assert_eq!(summary.timed_out, 0, "some executions did not end");
    assert!(!summary.complete, "other processes are not under control");
}
