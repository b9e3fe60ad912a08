//! Hunts on many machines: a real `nats-server` on the loopback interface, coordinators and workers as processes.

mod access;
mod distrust;
mod recipes;
mod survival;

use racehunter_e2e::nats::{Server, end};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Hunted, Started, Workshop, racehunter, root, run};
use std::fs;
use std::path::{Path, PathBuf};

/// Findings, executions, claim, whether it is complete, and the stages: bound, executions, and whether it is complete.
type Essence = (Vec<String>, u64, String, bool, Vec<(u32, u64, bool)>);

/// What must be the same on one machine and on many.
fn essence(hunted: &Hunted) -> Essence {
    let mut ids: Vec<String> = hunted.findings.iter().map(|finding| finding.id.clone()).collect();
    ids.sort();
    let summary = hunted.summary();
    let bounds = hunted.bounds.iter().map(|bound| (bound.bound, bound.executions, bound.complete)).collect();
    (ids, summary.executions, summary.guarantee.clone(), summary.complete, bounds)
}

fn target(name: &str) -> PathBuf {
    root().join("targets").join(name)
}

const EXHAUSTIVE: [&str; 4] = ["--analysis", "context-bound", "--bound", "2"];

/// Hunts a program on one machine and with workers.
fn compare(server: &Server, program: &Path, options: &[&str], part_runs: &str) -> Hunted {
    let one = Workshop::new().hunt(program, options);
    let url = server.url();
    let fleet = [options, &["--engine", &url, "--part-runs", part_runs, "--engine-lease", "2s"]].concat();
    let many = Workshop::new().hunt(program, &fleet);
    assert_eq!(essence(&many), essence(&one), "{}: {}", program.display(), many.ended.stderr);
    assert_eq!(many.ended.status, one.ended.status);
    many
}

#[test]
fn many_machines_come_to_what_one_comes_to() {
    let server = Server::new();
    let workers: Vec<Started> = ["a", "b"].iter().map(|name| server.worker(name, &[])).collect();
    for name in ["assertion/bank_transfer.fixed.cpp", "assertion/bank_transfer.cpp", "data-race/lost_update.c"] {
        compare(&server, &target(name), &EXHAUSTIVE, "16");
    }
    let lines = server.status();
    let of_type = |kind: &str| lines.iter().filter(|line| line["reason"] == kind).count();
    assert!(of_type("fleet-hunt") >= 1, "{lines:?}");
    assert_eq!(of_type("fleet-worker"), 2, "{lines:?}");
    let hunt = lines.iter().find(|line| line["reason"] == "fleet-hunt").unwrap();
    assert_eq!(hunt["status"]["state"], "finished");
    assert!(hunt["status"]["parts_done"].as_u64() > Some(1), "{hunt}");
    let ended = run(&mut racehunter(["status", "--engine", &server.url()])).expect(0);
    assert!(ended.stdout.contains(": finished") && ended.stdout.contains("2 workers"), "{}", ended.stdout);
    end(workers);
}

/// Executions that are counted from one seed are divided without loss.
#[test]
fn walks_use_up_their_budget_exactly() {
    let server = Server::new();
    let workers: Vec<Started> = ["a", "b"].iter().map(|name| server.worker(name, &[])).collect();
    let url = server.url();
    for analysis in ["auto", "pct", "random"] {
        let options = ["--analysis", analysis, "--runs", "300", "--engine", &url, "--part-runs", "40"];
        let hunted = Workshop::new().hunt(&target("data-race/lost_update.c"), &options).expect(1);
        assert!(hunted.summary().executions <= 300, "{analysis}");
        assert!(analysis == "auto" || hunted.summary().executions == 300, "{analysis}: {:?}", hunted.summary());
        assert!(hunted.findings.iter().all(|finding| finding.confirmed), "{analysis}");
    }
    end(workers);
}

/// Three threads, and some 1,400 schedules with two preemptions. Each execution sleeps in real time at its end, so that a hunt cannot
/// be over before something is killed.
const SLOW_SUMS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

atomic_int sum;

static void *add(void *unused) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&sum, 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    struct timespec length = {0, 10 * 1000 * 1000};
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_nanosleep), "D"(&length), "S"(NULL)
                     : "rcx", "r11", "memory");
    return 0;
}
"#;

#[test]
fn an_analysis_that_cannot_be_lent_is_refused() {
    let server = Server::new();
    let program = target("data-race/lost_update.c");
    let url = server.url();
    for options in [&["--analysis", "thread-bound"][..], &["--analysis", "dfs", "--reduction=dynamic"]] {
        let words = [options, &["--engine", &url]].concat();
        Workshop::new().hunt(&program, &words).expect(2).ended.says("cannot be done on other machines");
    }
}

mod slow {
    use super::*;

    #[test]
    fn twenty_targets_with_one_two_and_four_workers() {
        let programs = [
            "assertion/bank_transfer.cpp",
            "assertion/bank_transfer.fixed.cpp",
            "data-race/lost_update.c",
            "data-race/lost_update.fixed.c",
        ];
        for count in [1, 2, 4] {
            let server = Server::new();
            let workers: Vec<Started> = (0..count).map(|name| server.worker(&format!("w{name}"), &[])).collect();
            for name in programs.iter().map(|name| target(name)).chain(more_targets(16)) {
                compare(&server, &name, &EXHAUSTIVE, "20");
            }
            end(workers);
        }
    }

    /// Targets in the order of their names, without those above.
    fn more_targets(count: usize) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = ["assertion", "data-race", "deadlock"]
            .iter()
            .flat_map(|kind| fs::read_dir(target(kind)).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
            .collect();
        names.sort();
        names.into_iter().step_by(5).take(count).collect()
    }
}

/// A program whose threads do more when a variable of the environment says so.
const DEPENDS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int sum;

static void *add(void *unused) {
    for (int i = 0; i < (getenv("MORE_STEPS") ? 7 : 6); i++)
        atomic_fetch_add(&sum, 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// Only schedules with a preemption look at the environment, so the first execution is the same in any.
const DEPENDS_LATE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int sum;

static void *add(void *unused) {
    for (int i = 0; i < 6; i++)
        atomic_fetch_add(&sum, 1);
    if (atomic_load(&sum) == 7)
        assert(getenv("LENIENT"));
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn a_worker_refuses_another_environment_that_the_first_execution_does_not_show() {
    let server = Server::new();
    let (workshop, program) = Workshop::with_program(DEPENDS_LATE);
    let url = server.url();
    let options = [&EXHAUSTIVE[..], &["--engine", &url, "--part-runs", "16"]].concat();
    let hunt = Started::new(&mut workshop.hunt_command(&program, &options));
    let words = ["worker", "--engine", &url, "--name"];
    let lenient = Started::new(racehunter(words).arg("lenient").env("LENIENT", "1"));
    lenient.wait_until_it_says("the variable `LENIENT` of the environment");
    let strict = Started::new(racehunter(words).arg("strict"));
    let hunted = Hunted::new(hunt.finish()).expect(1);
    assert!(hunted.findings.iter().any(|finding| finding.kind == "assertion"), "{:?}", hunted.overview());
    end(vec![lenient, strict]);
}

#[test]
fn a_worker_refuses_what_behaves_differently_and_what_it_is_not_to_run() {
    let server = Server::new();
    let (workshop, program) = Workshop::with_program(DEPENDS);
    let url = server.url();
    let options = [&EXHAUSTIVE[..], &["--engine", &url, "--part-runs", "16"]].concat();
    let hunt = Started::new(&mut workshop.hunt_command(&program, &options));
    let words = ["worker", "--engine", &url, "--name"];
    let other = Started::new(racehunter(words).arg("other").env("MORE_STEPS", "1"));
    other.wait_until_it_says("the program behaves differently here");
    let picky = Started::new(racehunter(words).args(["picky", "--only-hash", "0123456789abcdef"]));
    picky.wait_until_it_says("not one of those that --only-hash names");
    let good = Started::new(racehunter(words).arg("good"));
    good.wait_until_it_says("joins hunt");
    let hunted = Hunted::new(hunt.finish()).expect(0);
    let one = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0);
    assert_eq!(essence(&hunted), essence(&one));
    end(vec![other, picky, good]);
}

/// The search must not depend on where the instrumented library of a program is.
#[test]
fn instrumented_libraries_travel_with_the_program() {
    let server = Server::new();
    let workshop = Workshop::new();
    let library = "#include <stdatomic.h>\natomic_int sum;\nvoid add_one(void) { atomic_fetch_add(&sum, 1); }\n";
    let main =
        DEPENDS.replace("atomic_int sum;", "void add_one(void);").replace("atomic_fetch_add(&sum, 1)", "add_one()");
    let (library, main) = (workshop.write("sum.c", library), workshop.write("main.c", &main));
    let (built, program) = (workshop.path("private/libsum.so"), workshop.path("program"));
    fs::create_dir_all(workshop.path("private")).unwrap();
    workshop.cc(["-O1", "-shared", "-fPIC", "-Wl,-soname,libsum.so", &text(&library), "-o", &text(&built)]).expect(0);
    workshop.cc(["-O1", "-pthread", &text(&main), &text(&built), "-o", &text(&program)]).expect(0);
    // Only commands with this variable find the library. The workers have none.
    let private = |mut command: std::process::Command| {
        command.env("LD_LIBRARY_PATH", workshop.path("private"));
        Hunted::new(run(&mut command)).expect(0)
    };
    fs::rename(&built, workshop.path("private/elsewhere")).unwrap();
    let _ = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(2);
    fs::rename(workshop.path("private/elsewhere"), &built).unwrap();
    let one = private(Workshop::new().hunt_command(&program, &EXHAUSTIVE));
    let worker = server.worker("far", &[]);
    let url = server.url();
    let options = [&EXHAUSTIVE[..], &["--engine", &url, "--part-runs", "16"]].concat();
    let many = private(workshop.hunt_command(&program, &options));
    assert_eq!(essence(&many), essence(&one));
    let hunts = server.hunts();
    assert!(hunts[0]["status"]["parts_done"].as_u64() > Some(0), "{hunts:?}");
    end(vec![worker]);
}
