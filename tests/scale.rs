//! Large programs: a thousand threads, executions of many millions of events, a gigabyte before `main`.
//!
//! `RACEHUNTER_LONG=1` makes the long execution a hundred million events long.

use racehunter_e2e::{Hunted, Summary, Workshop};

/// Hunts a correct program; every execution must end on its own.
#[track_caller]
fn hunt(source: &str, options: &[&str]) -> Summary {
    let (workshop, program) = Workshop::with_program(source);
    let hunted = workshop.hunt(&program, &[&["--analysis", "random", "--jobs", "1"], options].concat());
    assert!(hunted.findings.is_empty(), "a correct program has findings: {:#?}", hunted.overview());
    let summary = hunted.expect(0).summary().clone();
    assert_eq!((summary.diverged, summary.timed_out), (0, 0), "{summary:?}");
    assert!(summary.uncontrolled.is_empty(), "{summary:?}");
    summary
}

#[test]
fn a_program_with_a_thousand_contending_threads_is_hunted() {
    let source = r"
#include <assert.h>
#include <pthread.h>
#define THREADS 1000
#define ROUNDS 3
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t everybody = PTHREAD_COND_INITIALIZER;
static int arrived, turns;

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    if (++arrived == THREADS)
        pthread_cond_broadcast(&everybody);
    while (arrived < THREADS)
        pthread_cond_wait(&everybody, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        turns++;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(void) {
    static pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert(pthread_create(&threads[i], 0, work, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    assert(turns == THREADS * ROUNDS);
    return 0;
}";
    for backend in ["fibers", "threads"] {
        let summary = hunt(source, &["--runs", "3", "--timeout", "60s", "--backend", backend]);
        assert_eq!(summary.threads, 1001, "{summary:?}");
    }
}

#[test]
fn a_long_execution_finishes() {
    let millions = if std::env::var_os("RACEHUNTER_LONG").is_some() { 100 } else { 20 };
    let source = format!("#define MILLIONS {millions}L\n")
        + r"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

// Two events per iteration, in thread-private memory.
static void *work(void *argument) {
    volatile int *own = calloc(1024, sizeof *own);
    for (long i = 0; i < MILLIONS * 1000000 / 4; i++)
        own[i & 1023]++;
    pthread_mutex_lock(&lock);
    total += own[5];
    pthread_mutex_unlock(&lock);
    free((void *)own);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}";
    let summary = hunt(&source, &["--runs", "10", "--timeout", "60s"]);
    assert!(summary.events >= millions * 1_000_000, "{summary:?}");
    // The shared accesses come after everything that a monitor run reaches.
    assert!(summary.points >= 6, "{summary:?}");
}

/// A program that writes the given number of MiB before `main`, every 4 KiB, and reads them at the given distance in
/// bytes.
fn large(mebibytes: usize, step: usize) -> String {
    format!("#define MEBIBYTES {mebibytes}L\n#define STEP {step}\n")
        + r"
#include <pthread.h>
#include <stdlib.h>
#define SIZE (MEBIBYTES << 20)
static char *data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((constructor)) static void prepare(void) {
    data = malloc(SIZE);
    for (long i = 0; i < SIZE; i += 4096)
        data[i] = 1;
}

static void *work(void *argument) {
    long own = 0;
    for (char *at = argument; at < (char *)argument + SIZE / 2; at += STEP)
        own += *(volatile long *)at;
    pthread_mutex_lock(&lock);
    total += own;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, data + i * SIZE / 2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return total == 0;
}"
}

#[test]
fn a_program_with_a_gigabyte_before_main_is_hunted() {
    let summary = hunt(&large(1024, 1 << 20), &["--runs", "50", "--memory", "1100"]);
    assert_eq!(summary.executions, 50, "{summary:?}");
}

#[test]
fn the_memory_limit_excludes_the_shadow() {
    // All of it is read, so the shadow takes four times as much.
    let source = large(128, 8);
    let summary = hunt(&source, &["--runs", "2", "--memory", "180", "--timeout", "60s"]);
    assert!(summary.events > 16_000_000, "{summary:?}");

    let (workshop, program) = Workshop::with_program(&source);
    let options = ["--analysis", "random", "--jobs", "1", "--runs", "2", "--memory", "100", "--timeout", "60s"];
    let hunted: Hunted = workshop.hunt(&program, &options);
    assert_eq!(hunted.summary().timed_out, 2, "{:?}", hunted.summary());
}

/// The bug shows only if one thread does all its work, which takes longer than a turn at first, before another takes
/// its first step.
#[test]
fn a_bug_that_needs_one_thread_to_finish_first_is_found() {
    let source = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static volatile int cells[1000];
static atomic_int done;

static void *work(void *argument) {
    for (int i = 0; i < 80000; i++)
        cells[i % 1000]++;
    done = 1;
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    int first = done;
    pthread_join(thread, 0);
    assert(first == 0);
}
"#;
    let (workshop, program) = Workshop::with_program(source);
    let options = ["--analysis", "pct", "--runs", "20", "--jobs", "1"];
    let hunted = workshop.hunt(&program, &options).expect(1);
    let finding = &hunted.findings[0];
    assert_eq!((finding.kind.as_str(), finding.confirmed, finding.replayed), ("assertion", true, [5, 5]));
}
