//! In-process loops: what one iteration leaves to the next, and tests that fail in the preparatory iterations.

use racehunter_e2e::{Hunted, Workshop};

/// A loop with a second thread; `test` runs beside it, after `declarations`.
fn program(declarations: &str, reset: &str, test: &str) -> String {
    format!(
        r"
#include <assert.h>
#include <pthread.h>
#include <racehunter.h>
#include <stdatomic.h>
#include <stdlib.h>

{declarations}

static void reset(void) {{ {reset} }}

static void test(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    {test}
}}

int main(void) {{ return racehunter_loop(test, reset); }}
"
    )
}

#[track_caller]
fn hunt(source: &str, preparatory: &str) -> Hunted {
    let (workshop, program) = Workshop::with_program(source);
    workshop.hunt(&program, &["--runs", "30", "--preparatory", preparatory])
}

const LEFT: &str = "static __thread int left = 5;
static atomic_int n;
static void *work(void *unused) { n++; return unused; }";

/// The thread that runs the loop is the same in all iterations, and so are its thread-local variables. A test that changes one of
/// them fails from its second iteration on, whatever the schedule: that is no finding.
#[test]
fn what_an_iteration_leaves_behind_is_not_a_finding() {
    for preparatory in ["1", "3"] {
        let test = "pthread_join(thread, NULL); assert(left == 5); left = 6;";
        let hunted = hunt(&program(LEFT, "n = 0;", test), preparatory).expect(3);
        let [finding] = &hunted.findings[..] else { panic!("{:?}", hunted.findings) };
        assert_eq!((finding.kind.as_str(), finding.confirmed), ("assertion", false));
        assert!(finding.notes.iter().any(|note| note.contains("is not reset")), "{:?}", finding.notes);
    }
    let test = "pthread_join(thread, NULL); if (left != 5) exit(1); left = 6;";
    let hunted = hunt(&program(LEFT, "n = 0;", test), "1").expect(3);
    assert!(hunted.findings.iter().all(|finding| !finding.confirmed), "{:?}", hunted.findings);
    let test = "pthread_join(thread, NULL); assert(left == 5); left = 6;";
    let _ = hunt(&program(LEFT, "n = 0; left = 5;", test), "1").expect(0);
}

/// The first iteration of a process starts from what the program says.
#[test]
fn a_test_that_always_fails_is_a_finding() {
    for (test, kind) in [
        ("pthread_join(thread, NULL); assert(n == 2);", "assertion"),
        ("pthread_join(thread, NULL); abort();", "crash"),
        ("pthread_join(thread, NULL); exit(3);", "exit-status"),
        ("pthread_join(thread, NULL); pthread_mutex_lock(&lock); pthread_mutex_lock(&lock);", "deadlock"),
    ] {
        let declarations = format!("{LEFT} static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;");
        let hunted = hunt(&program(&declarations, "n = 0;", test), "3").expect(1);
        let [finding] = &hunted.findings[..] else { panic!("{:?}", hunted.findings) };
        assert_eq!((finding.kind.as_str(), finding.confirmed, finding.preemptions), (kind, true, 0));
        assert_eq!(hunted.summary().missed.iter().filter(|line| line.contains("killed from outside")).count(), 0);
    }
}

/// A schedule that only some iterations follow shows the bug in all of them.
#[test]
fn a_test_that_fails_in_some_schedules_is_a_finding() {
    let work = "static atomic_int n; static int first;
        static void *work(void *unused) { first = n++ == 0; return unused; }";
    let hunted = hunt(&program(work, "n = 0;", "n++; pthread_join(thread, NULL); assert(!first);"), "3").expect(1);
    assert!(hunted.findings.iter().any(|finding| finding.kind == "assertion" && finding.confirmed));
}

/// New threads have new variables, also if they use the memory of others that have ended.
#[test]
fn thread_local_variables_of_libraries_have_their_initial_values_in_new_threads() {
    let workshop = Workshop::new();
    workshop.write(
        "library.c",
        "static __thread int next = 5; static __thread char zero[5000];
        int take(void) { return next++ + zero[4000]++; }",
    );
    let work = "int take(void); static void *work(void *unused) { assert(take() == 5); return unused; }";
    workshop.write("program.c", &program(work, "", "pthread_join(thread, NULL);"));
    workshop.shell(
        "racehunter-cc -g -O1 -shared -fPIC library.c -o liblibrary.so
         racehunter-cc -g -O1 -pthread program.c -L. -llibrary -Wl,-rpath,'$ORIGIN' -o program",
    );
    for backend in ["fibers", "threads"] {
        let options = ["--runs", "30", "--backend", backend];
        let hunted = workshop.hunt(&workshop.path("program"), &options).expect(0);
        assert!(hunted.findings.is_empty(), "{:?}", hunted.findings);
    }
}

/// 9 million releases, 90,000 in each iteration.
#[test]
fn releases_are_counted_for_each_iteration() {
    let work = "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static int n;
        static void *work(void *unused) {
            pthread_mutex_lock(&lock); n++; pthread_mutex_unlock(&lock);
            return unused;
        }";
    let test = "pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
        pthread_join(thread, NULL);
        for (int i = 0; i < 90000; i++) { pthread_mutex_lock(&own); pthread_mutex_unlock(&own); }";
    let (workshop, program) = Workshop::with_program(&program(work, "n = 0;", test));
    let options = ["--runs", "100", "--jobs", "1", "--analysis", "random"];
    let hunted = workshop.hunt(&program, &options).expect(0);
    assert_eq!(hunted.summary().executions, 100);
    assert!(hunted.summary().uncontrolled.is_empty(), "{:?}", hunted.summary().uncontrolled);
}

#[test]
fn a_race_in_the_first_iteration_is_found() {
    let declarations =
        "static int *made; static void *work(void *unused) { static int one; if (!made) made = &one; return unused; }";
    let body = "work(NULL); pthread_join(thread, NULL);";
    let (workshop, program) = Workshop::with_program(&program(declarations, "", body));
    let hunted = workshop.hunt(&program, &["--analysis", "context-bound"]).expect(1);
    let kinds: Vec<&str> = hunted.findings.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["data-race"], "{:?}", hunted.overview());
    let _ = workshop.replay(&hunted.findings[0].id).expect(0);
}

#[test]
fn output_that_depends_on_the_schedule_is_confirmed() {
    let declarations =
        "#include <stdio.h>\nstatic atomic_int set; static void *work(void *unused) { set = 1; return unused; }";
    let body = "int seen = set; pthread_join(thread, NULL); printf(\"%d\\n\", seen); fflush(stdout);";
    let (workshop, program) = Workshop::with_program(&program(declarations, "set = 0;", body));
    let hunted = workshop.hunt(&program, &["--check-output", "--analysis", "context-bound"]).expect(1);
    let kinds: Vec<(&str, bool)> =
        hunted.findings.iter().map(|finding| (finding.kind.as_str(), finding.confirmed)).collect();
    assert_eq!(kinds, [("output", true)], "{:?}", hunted.overview());
}
