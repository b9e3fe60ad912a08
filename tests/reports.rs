//! Reports as people read them, one per kind of finding, 80 columns wide and without colour.
//!
//! After an intended change: `INSTA_UPDATE=always cargo xtask test report_of`, then read the difference.

use insta::assert_snapshot;
use racehunter_e2e::{Ended, Workshop, racehunter, run};

/// Returns the output of a hunt of a program below `targets/`, up to its first finding.
#[track_caller]
fn report(path: &str, options: &[&str]) -> String {
    let workshop = Workshop::new();
    let mut command = racehunter(["hunt", "--quiet", "--color", "never", "--stop-on-first", "--out"]);
    let ended = run(command.arg(workshop.out()).args(options).arg(path)).expect(1);
    assert_eq!(ended.stderr, "", "the results are on standard output");
    without_time(&ended.stdout).replace(workshop.out().to_str().expect("a plain name"), "OUT")
}

/// Only the duration of a hunt varies.
fn without_time(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("Summary [") {
        Some((before, after)) => match after.split_once(']') {
            Some((_, rest)) => format!("{before}Summary [TIME]{rest}"),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The same without the summary, which contains paths of this system or depends on the clock.
#[track_caller]
fn finding(path: &str, options: &[&str]) -> String {
    before_summary(&report(path, options))
}

/// The first finding of a hunt with the findings of a workshop.
fn first_finding(workshop: &Workshop, ended: &Ended) -> String {
    before_summary(&ended.stdout.replace(workshop.out().to_str().expect("a plain name"), "OUT"))
}

/// The numbers of descriptors depend on what the environment of the test has opened.
fn without_descriptors(report: &str) -> String {
    let mut parts = report.split("socket fd ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "socket fd N" + part.trim_start_matches(|letter: char| letter.is_ascii_digit())
    })
}

fn before_summary(report: &str) -> String {
    report.split("\n   Summary").next().expect("a finding").trim_end().to_owned()
}

/// A pool of workers in C: `pool_wait` returns too early.
#[test]
fn report_of_a_pool() {
    assert_snapshot!(finding("tests/programs/worker_pool.c", &[]));
}

/// A C++ template, and heap memory used after its lifetime.
#[test]
fn report_of_a_cache() {
    assert_snapshot!(finding("tests/programs/lru_cache.cpp", &[]));
}

#[test]
fn report_of_a_cycle_of_four_locks() {
    assert_snapshot!(finding("tests/programs/four_locks.c", &[]));
}

/// Twelve threads, and more than a thousand steps.
#[test]
fn report_of_many_threads() {
    assert_snapshot!(finding("tests/programs/many_threads.c", &[]));
}

/// A GoogleTest suite, of which one test fails in some schedules.
#[test]
fn report_of_a_failing_test() {
    let workshop = Workshop::new();
    let words = ["c++", "-g", "-O1", "-pthread", "tests/programs/stock_test.cpp", "-lgtest", "-lgtest_main", "-o"];
    let _ = run(racehunter(words).arg(workshop.path("stock_test"))).expect(0);
    let mut command = racehunter(["hunt", "--quiet", "--color", "never", "--stop-on-first", "--out"]);
    command.arg(workshop.out()).arg(workshop.path("stock_test")).args(["--", "--gtest_filter=*More*"]);
    assert_snapshot!(first_finding(&workshop, &run(&mut command).expect(1)));
}

/// A server whose client gets a wrong answer in some schedules.
#[test]
fn report_of_a_server() {
    let workshop = Workshop::new();
    let words = ["cc", "-g", "-O1", "-pthread", "-DATOMIC", "docs/example/counting_server.c", "-o"];
    let _ = run(racehunter(words).arg(workshop.path("server"))).expect(0);
    let mut command = racehunter(["hunt", "--quiet", "--color", "never", "--stop-on-first", "--out"]);
    command.arg(workshop.out()).arg(workshop.path("server")).args(["--with", "bash docs/example/client.sh"]);
    let report = first_finding(&workshop, &run(&mut command).expect(1));
    assert_snapshot!(without_descriptors(&report));
}

#[test]
fn report_of_a_data_race() {
    assert_snapshot!(report("targets/data-race/wrong_lock.c", &[]));
}

#[test]
fn report_of_a_data_race_in_a_header() {
    assert_snapshot!(report("targets/data-race/vector_size.cpp", &[]));
}

#[test]
fn report_of_a_deadlock() {
    assert_snapshot!(report("targets/deadlock/abba.c", &[]));
}

#[test]
fn report_of_an_assertion() {
    assert_snapshot!(report("targets/assertion/check_then_act.c", &[]));
}

#[test]
fn report_of_a_crash() {
    assert_snapshot!(report("targets/crash/nulled_pointer.c", &[]));
}

#[test]
fn report_of_a_lost_wakeup() {
    assert_snapshot!(report("targets/deadlock/lost_wakeup.c", &[]));
}

#[test]
fn report_of_a_use_after_free() {
    assert_snapshot!(report("targets/use-after-free/deleted_listener.cpp", &[]));
}

#[test]
fn report_of_a_misuse() {
    assert_snapshot!(report("targets/misuse/unlock_by_other.c", &[]));
}

#[test]
fn report_of_a_loop_in_one_process() {
    assert_snapshot!(report("targets/loop/withdrawal.c", &[]));
}

#[test]
fn report_of_nothing_found() {
    let workshop = Workshop::new();
    let options = ["hunt", "--quiet", "--color", "never", "--analysis", "context-bound", "--bound", "2", "--out"];
    let path = "targets/data-race/lost_update.fixed.c";
    let ended = run(racehunter(options).arg(workshop.out()).arg(path)).expect(0);
    assert_snapshot!(without_time(&ended.stdout));
}

/// The detector works in cells of four bytes, but reports show the real sizes.
#[test]
fn reports_show_the_sizes_of_the_accesses() {
    let (workshop, program) = Workshop::with_program(
        "#include <pthread.h>
        #include <string.h>
        static volatile long total;
        static char text[64];
        static void *work(void *unused) {
            total = 3;
            memset(text, 1, 48);
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            total = 4;
            *(volatile short *)(text + 10) = 5;
            pthread_join(thread, 0);
            return text[0];
        }",
    );
    let hunted = workshop.hunt(&program, &["--runs", "50"]).expect(1);
    let sizes = |line: u32| -> Vec<u64> {
        let mut sites = hunted.findings.iter().flat_map(|finding| &finding.sites).filter(|site| site.line == line);
        sites.by_ref().map(|site| site.size).collect()
    };
    assert_eq!([6, 7, 13, 14].map(sizes), [8, 48, 8, 2].map(|size| vec![size]));
}

/// Values are printed by their types, through pointers and in arrays, also in optimised code.
/// A mutex that checks its owner refuses to be unlocked by another thread, and stays locked.
#[test]
fn a_refused_unlock_is_no_unlock() {
    let workshop = Workshop::new();
    let source = workshop.write(
        "refused.c",
        "#include <pthread.h>
pthread_mutex_t taken, other;
void *worker(void *arg) {
    pthread_mutex_lock(&taken);
    pthread_mutex_unlock(&other);
    return 0;
}
int main(void) {
    pthread_mutexattr_t checked;
    pthread_mutexattr_init(&checked);
    pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&taken, &checked);
    pthread_mutex_init(&other, &checked);
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    pthread_mutex_lock(&taken);
    return 0;
}
",
    );
    let mut command = racehunter(["hunt", "--quiet", "--color", "never", "--out"]);
    let ended = run(command.arg(workshop.out()).arg(source)).expect(1);
    assert!(ended.stdout.contains("fail to unlock other"), "{}", ended.stdout);
    assert!(ended.stdout.contains("`taken` is still held"), "{}", ended.stdout);
}

#[test]
fn values_are_printed_by_their_types() {
    let source = r#"#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
enum state { IDLE, BUSY };
struct node { struct node *next; double weight; enum state state; unsigned char tag; bool ready; char letter; };
struct queue { int count; unsigned big; struct node *head; struct node table[4]; };
static struct node *pool;
static void *worker(void *argument) {
    struct queue *mine = argument;
    mine->count -= 1;
    mine->big = 4000000000u;
    mine->table[3].next = &pool[1];
    pool[2].weight = 2.5;
    pool[2].tag = 200;
    pool[2].state = BUSY;
    pool[2].ready = true;
    pool[2].letter = 'x';
    return 0;
}
int main(void) {
    pthread_t thread;
    struct queue *q = calloc(1, sizeof *q);
    pool = calloc(4, sizeof *pool);
    pthread_create(&thread, 0, worker, q);
    volatile double sum = q->count + q->big + (q->table[3].next != 0) + pool[2].weight + pool[2].tag + pool[2].state
                          + pool[2].ready + pool[2].letter;
    pthread_join(thread, 0);
    return sum < 0;
}
"#;
    for optimised in ["-O0", "-O2"] {
        let workshop = Workshop::new();
        let file = workshop.write("values.c", source);
        let hunted = workshop.hunt(&file, &["--runs", "10", "--cflags", optimised]).expect(1);
        let written = |line: u64| -> Vec<[&str; 2]> {
            let sites = hunted.repeatable.iter().filter_map(|value| value["sites"].as_array()).flatten();
            let there = sites.filter(|site| site["line"] == line && site["access"] == "write");
            there.map(|site| ["before", "after"].map(|when| site["value"][when].as_str().unwrap_or("?"))).collect()
        };
        let expected = [
            ["0", "-1"],
            ["0", "4000000000"],
            ["null", "#1"],
            ["0", "2.5"],
            ["0", "200"],
            ["IDLE", "BUSY"],
            ["false", "true"],
            ["0", "'x'"],
        ];
        for (line, expected) in (10..).zip(expected) {
            assert_eq!(written(line), [expected], "line {line} at {optimised}");
        }
        let elements = hunted.repeatable.iter().filter(|value| value["object"]["element"] == 2).count();
        assert_eq!(elements, 5, "the number of values in `pool[2]`");
    }
}

/// Whole structures, texts, wide numbers and bit fields, of which the hook knows only an address and a size.
#[test]
fn compound_values_are_printed_with_all_their_parts() {
    let source = r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct flags { unsigned ready : 1; int mode : 3; unsigned count : 12; };
struct point { double x, y; };
struct shape { char name[16]; struct point at; struct flags flags; int sizes[3]; };
static struct shape *s;
struct flags state;
__int128 wide;
volatile double seen;
static void *worker(void *unused) {
    memcpy(s->name, "a \"name\"\n", 10);
    s->at = (struct point){1.5, -2};
    s->flags.count = 77;
    memcpy(s->sizes, (int[]){3, 4, 5}, 12);
    state.mode = -2;
    wide = ((__int128)1 << 70) + 3;
    return unused;
}
int main(void) {
    pthread_t thread;
    s = calloc(1, sizeof *s);
    pthread_create(&thread, 0, worker, 0);
    puts(s->name);
    printf("%s\n", s->name);
    struct shape copy = *s;
    seen = copy.at.x + s->flags.count + s->sizes[1] + state.mode + (double)wide;
    pthread_join(thread, 0);
    return 0;
}
"#;
    let workshop = Workshop::new();
    let file = workshop.write("parts.c", source);
    let hunted = workshop.hunt(&file, &["--runs", "100", "--cflags", "-O0"]).expect(1);
    let steps: Vec<&serde_json::Value> =
        hunted.repeatable.iter().filter_map(|value| value["steps"].as_array()).flatten().collect();
    let did = |line: u32, what: &str, before: &str, after: &str| {
        let is_it = |step: &&&serde_json::Value| step["line"] == line && step["what"] == what;
        let value =
            &steps.iter().find(is_it).unwrap_or_else(|| panic!("no {what} in line {line}: {steps:#?}"))["value"];
        let (old, new) = (value["before"].as_str().unwrap_or("?"), value["after"].as_str().unwrap_or("?"));
        assert_eq!((old, new), (before, after), "{what} in line {line}");
    };
    did(13, "write s->name", "\"\"", r#""a \"name\"\n""#);
    did(14, "write s->at", "{x = 0, y = 0}", "{x = 1.5, y = -2}");
    did(15, "write s->flags.count", "0", "77");
    did(16, "write s->sizes", "{0, 0, 0}", "{3, 4, 5}");
    did(17, "write state", "{ready = 0, mode = 0, count = 0}", "{ready = 0, mode = -2, count = 0}");
    did(18, "write wide", "0", "1180591620717411303427");
    // No expression of this line is known to be what is read; where the block was allocated it got a name.
    did(26, "read s->name", r#""a \"name\"\n""#, "?");
}

/// Reports name the objects that the C++ library locks, waits on and reads as the user's code does.
#[test]
fn class_members_are_named_as_in_the_source() {
    let source = "#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
struct Pool {
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<int> tasks_;
    void work() {
        std::unique_lock<std::mutex> guard(mutex_);
        while (tasks_.empty()) ready_.wait(guard);
    }
};
int main() {
    Pool pool;
    std::thread worker([&] { pool.work(); });
    { std::lock_guard<std::mutex> guard(pool.mutex_); pool.tasks_.clear(); }
    worker.join();
}
";
    let workshop = Workshop::new();
    let file = workshop.write("pool.cpp", source);
    let hunted = workshop.hunt(&file, &["--stop-on-first"]).expect(1);
    let finding = &hunted.repeatable[0];
    let waits: Vec<_> =
        finding["sites"].as_array().expect("sites").iter().map(|site| &site["waits_for"]["object"]).collect();
    assert!(waits.iter().any(|object| *object == "ready_"), "{waits:?}");
    assert_eq!(finding["threads"][1]["entry"], "main::{lambda}");
    let steps: Vec<&str> =
        finding["steps"].as_array().expect("steps").iter().filter_map(|step| step["what"].as_str()).collect();
    for step in ["lock pool.mutex_", "wait on ready_"] {
        assert!(steps.contains(&step), "no `{step}` in {steps:?}");
    }
    assert!(
        !steps.iter().any(|step| step.contains("_M_") || step.contains("__") || step.contains("pthread")),
        "{steps:?}"
    );
}

#[test]
fn a_replay_shows_the_same_report() {
    let workshop = Workshop::new();
    let path = "targets/assertion/check_then_act.c";
    let hunted = workshop.hunt(std::path::Path::new(path), &["--stop-on-first"]).expect(1);
    let id = &hunted.findings[0].id;
    let replay = run(racehunter(["replay", id, "--color", "never", "--out"]).arg(workshop.out())).expect(0);
    let hunt = report(path, &[]);
    let (finding, _) = hunt.split_once("\n\n   Summary").expect("a summary");
    let shown = replay.stdout.replace(workshop.out().to_str().expect("a plain name"), "OUT");
    assert_eq!(shown.trim_end(), finding.trim_end());
}

/// Returns the first finding of a hunt of a program below `tests/programs`, as JSON.
#[track_caller]
fn first(name: &str, options: &[&str]) -> serde_json::Value {
    let workshop = Workshop::new();
    let path = std::path::Path::new("tests/programs").join(name);
    let hunted = workshop.hunt(&path, &[&["--stop-on-first"], options].concat()).expect(1);
    hunted.repeatable.into_iter().find(|line| line["reason"] == "finding").expect("a finding")
}

/// One preemption is enough for a cycle of any length, and threads wait where the program locks, not inside the library.
#[test]
fn a_cycle_in_cpp_has_one_preemption_and_the_lines_of_the_program() {
    let finding = first("transfers.cpp", &[]);
    assert_eq!(finding["kind"], "deadlock");
    assert_eq!(finding["preemptions"], 1);
    let steps = finding["steps"].as_array().expect("steps");
    let waits: Vec<_> = steps
        .iter()
        .filter(|step| step["what"].as_str().is_some_and(|what| what.starts_with("waits for mutex")))
        .collect();
    assert_eq!(waits.len(), 4, "{steps:?}");
    assert!(waits.iter().all(|step| step["line"] == 20), "{waits:?}");
}

/// A thread that waits only for the end of another one is not the place of a lost wake-up.
#[test]
fn a_lost_wakeup_is_where_the_thread_waits() {
    let finding = first("signals.c", &[]);
    assert_eq!(finding["kind"], "lost-wakeup");
    let sites: Vec<&str> =
        finding["sites"].as_array().expect("sites").iter().filter_map(|site| site["access"].as_str()).collect();
    assert!(sites.len() > 2 && sites[..sites.len() - 1].iter().all(|access| *access == "wait"), "{sites:?}");
    assert_eq!(sites.last(), Some(&"join"));
}

/// Two threads wait on one condition variable, and a signal wakes only one of them. A worker that waits for jobs, which was
/// also signalled before, has nothing to do with it.
#[test]
fn a_signal_that_wakes_the_wrong_thread_is_a_cause() {
    let workshop = Workshop::new();
    let path = std::path::Path::new("tests/programs/idle.cpp");
    let hunted = workshop.hunt(path, &["--analysis", "context-bound", "--bound", "0"]).expect(1);
    let findings: Vec<_> = hunted.repeatable.iter().filter(|line| line["reason"] == "finding").collect();
    // Which of the two threads is left depends on the schedule.
    assert_eq!(findings.iter().filter(|finding| finding["variant_of"].is_null()).count(), 1, "{findings:?}");
    for finding in findings {
        assert_eq!(finding["kind"], "lost-wakeup");
        assert_eq!(
            (&finding["sites"][0]["line"], &finding["sites"][0]["waits_for"]["object"]),
            (&32.into(), &"idle_".into())
        );
        let cause = finding["cause"].as_str().expect("a cause");
        assert!(
            cause.starts_with("T1 signals `idle_` (step ") && cause.contains("which has waited on it since step "),
            "{cause}"
        );
    }
}

/// A deadlock without a lost wake-up: the one signal was in time, but for one thread of two.
#[test]
fn a_signal_for_one_thread_of_two_is_a_cause() {
    let workshop = Workshop::new();
    let path = std::path::Path::new("targets/deadlock/missing_notify.c");
    let hunted = workshop.hunt(path, &["--stop-on-first", "--analysis", "context-bound"]).expect(1);
    let finding = hunted.repeatable.iter().find(|line| line["reason"] == "finding").expect("a finding");
    let cause = finding["cause"].as_str().expect("a cause");
    assert!(cause.starts_with("main signals `not_empty` (step ") && cause.contains(", not T"), "{cause}");
}

/// The assertion compares a sum with a number, both of which are right by themselves: the cause is in the table.
#[test]
fn a_cause_may_be_elsewhere_than_where_the_assertion_looks() {
    let finding = first("visits.cpp", &[]);
    let cause = finding["cause"].as_str().expect("a cause");
    assert!(cause.contains(" writes `hits[page]` (step ") && cause.contains("'s read of it"), "{cause}");
    let steps = finding["steps"].as_array().expect("steps");
    let names: Vec<&str> = steps.iter().filter_map(|step| step["what"].as_str()).collect();
    assert!(!names.iter().any(|what| what.contains('%') || what.ends_with(" round")), "{names:?}");
}

/// The value that fails comes from a variable that the thread reads only once.
#[test]
fn what_changed_while_a_thread_was_preempted_is_a_cause() {
    let finding = first("ring.c", &[]);
    let cause = finding["cause"].as_str().expect("a cause");
    assert!(
        cause.starts_with("while main is preempted after step ") && cause.contains(", T1 writes `slots["),
        "{cause}"
    );
    assert!(cause.contains("which main then reads (step "), "{cause}");
    assert_eq!(finding["preemptions"], 1);
}

/// In optimised code of a library, one instruction accesses the memory of several objects.
#[test]
fn the_earlier_access_of_a_race_touches_its_memory() {
    let workshop = Workshop::new();
    let path = std::path::Path::new("tests/programs/names.cpp");
    let hunted = workshop.hunt(path, &["--analysis", "random", "--runs", "200"]).expect(1);
    let races: Vec<_> = hunted.repeatable.iter().filter(|finding| finding["kind"] == "data-race").collect();
    assert!(!races.is_empty());
    for finding in races {
        for site in finding["sites"].as_array().expect("sites") {
            assert!([12, 20].contains(&site["line"].as_u64().expect("a line")), "{site}");
        }
        // `std::to_string(i)` writes a text, not its argument.
        let steps = finding["steps"].as_array().expect("steps");
        assert!(steps.iter().all(|step| step["what"] != "write i"), "{steps:?}");
    }
}
