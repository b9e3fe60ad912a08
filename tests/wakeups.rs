//! Wake-ups of condition variables as choices of the schedule, and `--no-spurious`.

use racehunter_e2e::Workshop;

/// A single consumer that checks with `if`, or, with `SAFE`, with `while`.
const SINGLE_CONSUMER: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifdef SAFE
#define CHECK while
#else
#define CHECK if
#endif

static int items;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

static void *consume(void *unused) {
    pthread_mutex_lock(&lock);
    CHECK (items == 0)
        pthread_cond_wait(&not_empty, &lock);
    assert(items == 1);
    items--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, consume, NULL);
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
";

/// Two kinds of waiters on one condition variable. The consumer always waits first; the watcher goes back to sleep when it
/// gets the signal that was meant for the consumer. With `SAFE` all are woken.
const TWO_KINDS: &str = r"
#include <pthread.h>
#include <stddef.h>

#ifdef SAFE
#define WAKE pthread_cond_broadcast
#else
#define WAKE pthread_cond_signal
#endif

static pthread_t watcher;
static int items, stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *watch(void *unused) {
    pthread_mutex_lock(&lock);
    while (!stop)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *consume(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_create(&watcher, NULL, watch, NULL);
    while (items == 0)
        pthread_cond_wait(&changed, &lock);
    items--;
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t consumer;
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_mutex_lock(&lock);
    items++;
    WAKE(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(consumer, NULL);
    pthread_join(watcher, NULL);
    return 0;
}
";

const ASSUMED: &str = "no spurious wake-ups";

/// Checks that the bug needs a choice of wake-ups, is found and replayed with it, and is absent from the safe program.
#[track_caller]
fn needs_a_choice(source: &str, kind: &str) {
    let (workshop, program) = Workshop::with_program(source);
    let usual = workshop.hunt(&program, &["--no-spurious"]).expect(0);
    assert!(usual.findings.is_empty(), "{:#?}", usual.overview());
    assert!(usual.ended.stdout.contains(ASSUMED), "{}", usual.ended.stdout);
    let analyses: [&[&str]; 4] = [
        &["context-bound"],
        &["context-bound", "--reduction=caching"],
        &["context-bound", "--reduction=dynamic"],
        &["random"],
    ];
    for analysis in analyses {
        let options = [&["--runs", "2000", "--analysis"], analysis].concat();
        let hunted = workshop.hunt(&program, &options).expect(1);
        assert_eq!(hunted.findings.len(), 1, "{:#?}", hunted.overview());
        let finding = &hunted.findings[0];
        assert_eq!((finding.kind.as_str(), finding.confirmed), (kind, true), "{finding:#?}");
        assert_eq!(hunted.summary().diverged, 0, "{:?}", hunted.summary());
        let replayed = workshop.replay(&finding.id).expect(0);
        assert!(replayed.stdout.contains(&finding.id), "{}", replayed.stdout);
    }
    let (workshop, program) = Workshop::with_program(&format!("#define SAFE\n{source}"));
    let hunted = workshop.hunt(&program, &[]).expect(0);
    assert!(hunted.summary().complete, "{:?}", hunted.summary());
    assert!(!hunted.ended.stdout.contains(ASSUMED), "{}", hunted.ended.stdout);
}

#[test]
fn a_wait_can_end_without_a_signal() {
    needs_a_choice(SINGLE_CONSUMER, "assertion");
}

#[test]
fn a_signal_can_wake_any_waiter() {
    needs_a_choice(TWO_KINDS, "lost-wakeup");
}

/// No thread ever wakes this one up, or does anything that concerns its wait.
const FORGOTTEN: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert(ready);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    ready = 1;
    pthread_join(thread, NULL);
    return 0;
}
";

/// A search that branches only at conflicts must still try wake-ups.
#[test]
fn a_wakeup_needs_no_conflict() {
    let (workshop, program) = Workshop::with_program(FORGOTTEN);
    for reduction in ["--reduction=caching", "--reduction=dynamic"] {
        let options = ["--analysis", "context-bound", reduction];
        let hunted = workshop.hunt(&program, &options).expect(1);
        assert!(hunted.findings.iter().any(|finding| finding.kind == "assertion"), "{:#?}", hunted.overview());
        assert!(hunted.summary().complete, "{:?}", hunted.summary());
    }
}

/// Works for longer than a turn, and then waits in a loop for a variable that is not yet known to be shared.
const WAITS_LATE: &str = r"
#include <pthread.h>
#include <stddef.h>

static volatile int ready;
static volatile long sums[64];

static void *finish(void *unused) {
    ready = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, finish, NULL);
    for (long i = 0; i < 54000; i++)
        sums[i % 64] += i;
    while (!ready) {
    }
    pthread_join(thread, NULL);
    return 0;
}
";

/// At the end of its turn the thread is busy. It begins to wait soon afterwards, and gives way at the end of its next turn.
#[test]
fn a_busy_thread_that_starts_to_wait_gives_way() {
    let (workshop, program) = Workshop::with_program(WAITS_LATE);
    let options = ["--analysis", "context-bound", "--bound", "0"];
    let hunted = workshop.hunt(&program, &options).expect(1);
    assert!(hunted.findings.iter().all(|finding| finding.kind == "data-race"), "{:#?}", hunted.overview());
    let summary = hunted.summary();
    assert!((108_000..300_000).contains(&summary.events), "{summary:?}");
    assert!(summary.complete, "{summary:?}");
}
