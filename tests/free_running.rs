//! `--free-running`: real threads run in parallel, and what they show is replayed under control.

use racehunter_e2e::Workshop;

/// Two threads that write one variable, in an order that a lock seems to impose, and 400 accesses each that a lock
/// really orders.
const ORDERED: &str = r"
#include <pthread.h>

static int total, last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    if (argument)
        last = 1;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    if (!argument)
        last = 2;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(1 - i));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 202 || last == 0;
}
";

/// The code under the condition runs in real time only: under control no time passes while no thread waits for it. The
/// threads meet at the barrier before they race, however busy the machine is.
const REAL_TIME: &str = r"
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static int shared;
static pthread_barrier_t both;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void add(void) {
    shared++;
}

static void *work(void *argument) {
    unsigned long mixed = (unsigned long)argument + 1;
    double began = now();
    for (int i = 0; i < 3000000; i++)
        mixed ^= mixed << 13, mixed ^= mixed >> 7, mixed ^= mixed << 17;
    if (now() - began >= 0.001 || mixed == 0) {
        pthread_barrier_wait(&both);
        add();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
";

/// One side of the race is written in assembly: the compiler instruments only the other.
const STRANGER: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int shared, own;
static atomic_int done;

static void *change(void *unused) {
    for (int i = 1; !done; i++) {
        __asm__ volatile("movl %1, 0(%0)" : : "r"(&shared), "r"(i) : "memory");
        usleep(100);
    }
    return unused;
}

static void *look(void *unused) {
    for (int i = 0; i < 200; i++) {
        own += shared;
        __asm__ volatile("" ::: "memory");
    }
    done = 1;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, change, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// Each thread reaches the write in two ways, in the first of them as often as the clock says. The second one has no
/// lock.
const TWO_WAYS: &str = r"
#include <pthread.h>
#include <time.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void put(int value) {
    shared = value;
}

static void quiet(int value) {
    pthread_mutex_lock(&lock);
    put(value);
    pthread_mutex_unlock(&lock);
}

static void loud(int value) {
    put(value);
}

static void *work(void *unused) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    for (long i = 20 + time.tv_nsec / 7 % 503; i > 0; i--)
        quiet(1);
    pthread_barrier_wait(&both);
    loud(2);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return shared != 2;
}
";

/// The same with few accesses.
const FEW: &str = r"
#include <pthread.h>
#include <stddef.h>

static int total, last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(void) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
}

static void *first(void *unused) {
    last = 1;
    add();
    return unused;
}

static void *second(void *unused) {
    add();
    last = 2;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return last == 0;
}
";

#[test]
fn a_race_of_free_threads_is_replayed_under_control() {
    let (workshop, program) = Workshop::with_program(ORDERED);
    // Only the free-running executions look for races.
    let hunted = workshop.hunt(&program, &["--free-running", "--detector", "none", "--runs", "400"]).expect(1);
    let [finding] = &hunted.findings[..] else { panic!("one race: {:?}", hunted.overview()) };
    let lines: Vec<u32> = finding.sites.iter().map(|site| site.line).collect();
    assert_eq!((finding.kind.as_str(), finding.confirmed, finding.replayed), ("data-race", true, [5, 5]));
    assert!(lines == [14, 19] || lines == [19, 14], "{lines:?}");
    assert!(!hunted.summary().complete, "{:?}", hunted.summary());
    assert_eq!(workshop.replay(&finding.id).status, Some(0));
}

#[test]
fn a_race_that_does_not_replay_is_reported_as_seen() {
    let (workshop, program) = Workshop::with_program(REAL_TIME);
    let controlled = workshop.hunt(&program, &["--analysis", "watchpoint"]).expect(0);
    assert!(controlled.findings.is_empty(), "{:?}", controlled.overview());
    // It does not count as a finding, but makes the hunt inconclusive.
    let free = workshop.hunt(&program, &["--free-running"]).expect(3);
    assert_eq!((free.summary().findings, free.summary().unconfirmed), (0, free.findings.len() as u64));
    assert!(!free.findings.is_empty(), "{:?}", free.summary());
    assert!(
        free.findings.iter().all(|finding| !finding.confirmed && finding.kind == "data-race"),
        "{:?}",
        free.overview()
    );
    for site in free.findings.iter().flat_map(|finding| &finding.sites) {
        let functions: Vec<&str> = site.stack.iter().map(|frame| frame.function.as_str()).collect();
        assert_eq!(functions, ["add", "work"]);
    }
}

/// An access is identified by the calls that lead to it, however often other callers made it.
#[test]
fn free_threads_have_call_stacks() {
    for flags in ["-O0", "-O1 -fno-inline"] {
        let workshop = Workshop::new();
        let source = workshop.write("ways.c", TWO_WAYS);
        let options = ["--free-running", "--detector", "none", "--runs", "400", &format!("--cflags={flags}")];
        let hunted = workshop.hunt(&source, &options).expect(1);
        let [finding] = &hunted.findings[..] else { panic!("one race: {:?}", hunted.overview()) };
        assert!(finding.confirmed, "{finding:?}");
    }
}

#[test]
fn analyses_that_need_control_refuse_to_run_freely() {
    let (workshop, program) = Workshop::with_program(REAL_TIME);
    let hunted = workshop.hunt(&program, &["--free-running", "--analysis", "pct"]).expect(2);
    assert!(hunted.ended.stderr.contains("needs control over the threads"), "{}", hunted.ended.stderr);
}

#[test]
fn sampling_finds_races_under_control_and_without() {
    let (workshop, program) = Workshop::with_program(ORDERED);
    let hunted = workshop.hunt(&program, &["--analysis", "sampling", "--runs", "200"]).expect(1);
    assert!(hunted.findings.iter().any(|finding| finding.kind == "data-race" && finding.confirmed));
    let (workshop, program) = Workshop::with_program(REAL_TIME);
    let hunted = workshop.hunt(&program, &["--analysis", "sampling", "--runs", "30", "--free-running"]).expect(3);
    assert!(hunted.findings.iter().any(|finding| finding.kind == "data-race" && !finding.confirmed));
}

#[test]
fn a_value_changed_by_unseen_code_is_reported_as_seen() {
    let (workshop, program) = Workshop::with_program(STRANGER);
    let options = ["--analysis", "sampling", "--free-running", "--runs", "12", "--detector", "none"];
    let hunted = workshop.hunt(&program, &options).expect(3);
    let [finding] = &hunted.findings[..] else { panic!("one race: {:?}", hunted.overview()) };
    assert_eq!((finding.kind.as_str(), finding.confirmed), ("data-race", false));
    let lines: Vec<u32> = finding.sites.iter().map(|site| site.line).collect();
    assert_eq!(lines, [19], "`own` changes too, but no other thread changes it");
    assert!(hunted.ended.stdout.contains("not instrumented"), "{}", hunted.ended.stdout);
}

#[test]
fn watchpoints_within_a_bound_come_to_an_end() {
    let (workshop, program) = Workshop::with_program(FEW);
    let hunted = workshop.hunt(&program, &["--analysis", "watchpoint-bound", "--bound", "1"]).expect(1);
    let summary = hunted.summary();
    // All pairs were provoked, which proves nothing.
    assert!(summary.finished && !summary.complete && summary.diverged == 0, "{summary:?}");
    assert!(summary.guarantee.contains("each met or provoked in all schedules with <= 1 preemption"), "{summary:?}");
    assert_eq!(hunted.overview().len(), 1, "{:?}", hunted.overview());
}
