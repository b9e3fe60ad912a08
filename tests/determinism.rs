//! A real library under control: SQLite with three threads does the same in every run.
//!
//! Its source comes from the crates.io package `libsqlite3-sys`, fetched through a temporary manifest. `targets.rs` tests that
//! repeated hunts of small programs give the same results. Executions from a snapshot must equal those from the start.

use racehunter_abi::EventNumber;
use racehunter_e2e::workshop::start;
use racehunter_e2e::{Hunted, Workshop, root};
use racehunter_explore::{Execution, Executor as _, Observe, Outcome, Plan, Record, Style, Tail, shared_sites};
use racehunter_launch::{Limits, Processes, Program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program's result with three threads and 100 rows each, in every schedule.
const CHECKSUM: &str = "203934";

/// The benchmark's program, with its result asserted instead of printed.
const DRIVER: &str = r#"
#include <assert.h>
#include <stdio.h>
#define printf(format, checksum) assert((checksum) == CHECKSUM)
#include "sqlite_threads.c"
"#;

/// The directory with `sqlite3.c` and `sqlite3.h`.
fn fetch_sqlite(workshop: &Workshop) -> PathBuf {
    let manifest = workshop.write(
        "fetch/Cargo.toml",
        "[package]\nname = \"fetch\"\nedition = \"2024\"\n[lib]\npath = \"empty.rs\"\n[workspace]\n\
         [dependencies]\nlibsqlite3-sys = { version = \"=0.35.0\", default-features = false }\n",
    );
    workshop.write("fetch/empty.rs", "");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--quiet", "--format-version", "1", "--manifest-path"]).arg(manifest);
    let metadata = workshop.run(&mut metadata).expect(0).stdout;
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == "libsqlite3-sys").expect("the package");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a directory").join("sqlite3")
}

#[test]
fn sqlite_does_the_same_in_every_run() {
    let workshop = Workshop::new();
    let sqlite = fetch_sqlite(&workshop);
    workshop.write("driver.c", DRIVER);
    let (sqlite, programs) = (sqlite.display(), root().join("benches/programs"));
    // Without optimisation, which takes long for nine megabytes of source.
    workshop.shell(&format!(
        "racehunter-cc -O0 -pthread -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DCHECKSUM={CHECKSUM} \
         -I'{sqlite}' -I'{}' driver.c '{sqlite}/sqlite3.c' -lm -o program",
        programs.display()
    ));
    let program = workshop.path("program");
    let hunt = |options: &[&str]| -> Hunted {
        let mut command = workshop.hunt_command(&program, options);
        command.args(["--", "3", "100"]);
        Hunted::new(racehunter_e2e::run(&mut command))
    };
    // Three executions of one schedule, each in its own hunt.
    let runs: Vec<Hunted> = (0..3).map(|_| hunt(&["--analysis", "random", "--runs", "1"])).collect();
    for run in &runs {
        assert!(run.findings.is_empty(), "SQLite has findings: {:#?}", run.overview());
        let summary = run.clone().expect(0).summary().clone();
        assert_eq!((summary.executions, summary.threads), (1, 4), "{summary:?}");
        assert_eq!((summary.diverged, summary.timed_out), (0, 0), "{summary:?}");
        assert!(summary.events >= 100_000, "{summary:?}");
        let uncontrolled = summary.missed.iter().any(|line| line.contains("control"));
        assert!(!uncontrolled, "{:?}", summary.missed);
    }
    assert!(runs.iter().all(|run| run.repeatable == runs[0].repeatable), "{runs:#?}");

    // Different schedules, with one worker and with two.
    let many = |jobs| hunt(&["--analysis", "random", "--runs", "4", "--jobs", jobs]);
    let (one, two) = (many("1").expect(0), many("2").expect(0));
    assert_eq!(one.repeatable, two.repeatable);
}

/// A prefix that is long enough for a snapshot, then a lock that two threads want.
const LONG: &str = r#"
#include <pthread.h>

static volatile int sink[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    for (int i = 0; i < 40000; i++)
        sink[i & 63]++;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return 3;
}
"#;

#[test]
fn executions_from_a_snapshot_match_those_from_the_start() {
    let workshop = Workshop::new();
    workshop.write("long.c", LONG);
    workshop.shell("racehunter-cc -O1 -pthread long.c -o program");
    let mut processes = start(&workshop.path("program"), 1);
    // The first execution teaches the executor something that changes where the heap is.
    processes.run(&[Plan::default()]).expect("it runs");
    let alone = processes.run(&[Plan::default()]).expect("it runs").remove(0);
    assert_eq!(alone.outcome, Outcome::Exited(3));
    assert!(alone.events > 80_000, "{} events", alone.events);
    // The same prefix, up to an event in the middle, makes the executor take a snapshot there.
    let plan = Plan { tail_from: EventNumber(60_000), ..Plan::default() };
    for execution in processes.run(&[plan.clone(), plan.clone(), plan]).expect("they run") {
        assert_eq!(execution, alone);
    }
}

/// A start-up long enough to be kept: it computes, allocates and frees, reads its input and prints.
const START: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;
static int shared, *block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        shared++, (*block)++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    char word[4];
    for (int i = 0; i < 5000; i++)
        sink += i & 1;
    shared = sink;
    for (int i = 0; i < 20; i++)
        free(malloc(100 + i));
    block = malloc(sizeof *block);
    *block = shared;
    if (read(0, word, 3) != 3 || write(1, word, 3) != 3)
        return 1;
    if (argc > 1)
        dup(1);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (read(0, word, 3) != 3 || write(1, word, 3) != 3)
        return 1;
    free(block);
    return shared - 2500;
}
"#;

/// A process that has reached its first thread is copied for many executions, but not for those that record call stacks. Both
/// must give the same result for the same plan, except for the stacks.
#[test]
fn executions_from_a_kept_start_match_those_from_the_beginning() {
    let workshop = Workshop::new();
    workshop.write("start.c", START);
    workshop.write("input", "onetwo");
    workshop.shell("racehunter-cc -O1 -g -pthread start.c -o program");
    let walk = |style, seed| Tail::Walk { style, seed };
    let styles = [Style::Even, Style::Pos, Style::Pct { depth: 3, length: 40 }];
    let mut tails = vec![Tail::MinSwitches];
    tails.extend((1..8).flat_map(|seed| styles.map(|style| walk(style, seed))));
    for argument in [&[][..], &["with a file open"]] {
        let arguments = argument.iter().map(Into::into).collect();
        let program = Program {
            path: workshop.path("program"),
            arguments,
            input: Some(workshop.path("input")),
            client: None,
            libraries: None,
        };
        let mut processes = Processes::start(program, Limits::default(), 1).expect("it starts");
        // Shared accesses become points.
        let everything = Plan { observe: Observe::Everything, ..Plan::default() };
        let shared = shared_sites(&processes.run(&[everything]).expect("it runs")[0]);
        processes.add_points(&shared);
        processes.run(&[Plan::default()]).expect("it runs");
        let both = |processes: &mut Processes, plans: &[Plan]| {
            let with_stacks: Vec<_> = plans.iter().map(|plan| Plan { stacks: true, ..plan.clone() }).collect();
            let (kept, whole) =
                (processes.run(plans).expect("they run"), processes.run(&with_stacks).expect("they run"));
            for (kept, whole) in kept.iter().zip(&whole) {
                assert_eq!((&kept.outcome, kept.events), (&whole.outcome, whole.events));
                assert_eq!(kept.outcome, Outcome::Exited(6));
                assert!(kept.events > 10_000, "the start would not be kept");
                assert_eq!((&*kept.output, &*whole.output), (&b"onetwo"[..], &b"onetwo"[..]));
                assert_eq!(bare(kept), bare(whole));
            }
            kept
        };
        let mut orders = BTreeSet::new();
        for allocations in [false, true] {
            let plan = |tail: &Tail| Plan { tail: *tail, allocations, ..Plan::default() };
            let walks = both(&mut processes, &tails.iter().map(plan).collect::<Vec<_>>());
            orders.extend(walks.iter().map(|walk| walk.records.iter().map(|record| record.thread).collect::<Vec<_>>()));
            // Plain accesses before the last switch are only counted.
            let repeated = walks.iter().map(|walk| {
                let log_from = walk.switches().last().map_or(0, |switch| switch.at.0);
                Plan { log_from: EventNumber(log_from), allocations, ..walk.repeat() }
            });
            both(&mut processes, &repeated.collect::<Vec<_>>());
        }
        assert!(orders.len() > 5, "{} schedules", orders.len());
    }
}

/// Returns the log without the call stacks.
fn bare(execution: &Execution) -> Vec<Record> {
    execution.records.iter().map(|record| Record { stack: 0, ..*record }).collect()
}
