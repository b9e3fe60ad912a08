//! The claims of the watchpoint paper, on real programs: its listings and experiments are found, with two threads at
//! their accesses at the same time, and unknown synchronisation never leads to other reports.

use racehunter_abi::Kind;
use racehunter_abi::ThreadId;
use racehunter_e2e::pair::Pair;
use racehunter_e2e::{Hunted, Workshop};
use racehunter_explore::{Descriptor, Executor as _, Observe, Plan, Wait};
use std::path::Path;

/// The forms of the technique, without a detector where that is a choice.
const MODES: [&[&str]; 3] = [
    &["--analysis", "watchpoint", "--detector", "none"],
    &["--analysis", "watchpoint-bound", "--detector", "none", "--runs", "400"],
    &["--free-running", "--detector", "none", "--runs", "60"],
];

fn source(name: &str) -> &'static Path {
    Path::new(match name {
        "locks" => "tests/programs/watchpoints/locks.c",
        "listing 1" => "targets/data-race/lockset_blind.c",
        "listing 2" => "targets/data-race/happens_before_blind.c",
        "experiment 1" => "targets/data-race/port_extra_variable.c",
        "experiment 2" => "targets/data-race/port_receive_early.c",
        _ => "targets/data-race/port_send_early.c",
    })
}

/// Hunts in one of these modes; files that the program creates are private to it.
fn hunt(source: &Path, mode: &[&str], cflags: &str) -> Hunted {
    let workshop = Workshop::new();
    let flags = format!("--cflags={cflags}");
    workshop.hunt(source, &[mode, &[&flags]].concat())
}

/// Returns the lines of the races that count. The accesses of each have met.
fn races(hunted: &Hunted) -> Vec<u32> {
    let races = hunted.findings.iter().filter(|finding| finding.confirmed && finding.kind == "data-race");
    let races: Vec<_> = races.collect();
    for race in &races {
        assert!(race.met && race.replayed == [5, 5], "{race:?}");
        assert!(race.notes.iter().any(|note| note.contains("at the same time")), "{race:?}");
        assert_eq!(race.sites.len(), 2, "{race:?}");
        assert_ne!(race.sites[0].thread, race.sites[1].thread, "{race:?}");
    }
    let mut lines: Vec<u32> = races.iter().flat_map(|race| race.sites.iter().map(|site| site.line)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Checks that a hunt in this mode finds a race. Free-running threads meet only when the machine lets them, so they get
/// more than one hunt.
fn found(source: &Path, mode: &[&str], flags: &str) {
    let tries = if mode.contains(&"--free-running") { 5 } else { 1 };
    let is_found = (0..tries).any(|_| {
        let hunted = hunt(source, mode, flags);
        !races(&hunted).is_empty() && !hunted.expect(1).findings.is_empty()
    });
    assert!(is_found, "{} {flags} {mode:?}", source.display());
}

#[test]
fn the_listings_are_found_in_every_mode() {
    for name in ["listing 1", "listing 2"] {
        for flags in ["-O0", "-O2"] {
            for mode in MODES {
                found(source(name), mode, flags);
            }
        }
    }
}

#[test]
fn the_experiments_are_found_in_every_mode() {
    for name in ["experiment 1", "experiment 2", "experiment 3"] {
        for mode in MODES {
            found(source(name), mode, "-O1");
        }
        let twin = source(name).with_extension("fixed.c");
        let hunted = hunt(&twin, &["--analysis", "watchpoint"], "-O1").expect(0);
        assert!(hunted.findings.is_empty(), "{name}: {:?}", hunted.overview());
    }
}

/// Hunts a program with a lock of this kind by default, right and wrong.
fn unknown_lock(kind: &str) {
    for mode in [&["--analysis", "watchpoint"][..], &["--free-running", "--runs", "60"]] {
        let right = hunt(source("locks"), mode, &format!("-O1 -D{kind}")).expect(0);
        assert!(right.findings.is_empty(), "{kind} {mode:?}: {:?}", right.overview());
        let wrong = hunt(source("locks"), mode, &format!("-O1 -D{kind} -DRACY")).expect(1);
        assert_eq!(races(&wrong), [200], "{kind} {mode:?}: {:?}", wrong.overview());
        assert_eq!(wrong.summary().unconfirmed, 0, "{kind} {mode:?}: {:?}", wrong.overview());
    }
}

#[test]
fn a_lock_in_assembler_is_respected() {
    unknown_lock("ASSEMBLER");
}

#[test]
fn a_futex_by_its_instruction_is_respected() {
    unknown_lock("FUTEX");
}

#[test]
fn a_lock_file_is_respected() {
    unknown_lock("FILE_LOCK");
}

#[test]
fn a_system_v_semaphore_is_respected() {
    unknown_lock("SEMAPHORE");
}

/// `semtimedop` natively returns 0 here, and never `EINTR`.
#[test]
fn a_timed_wait_is_not_interrupted() {
    unknown_lock("SEMAPHORE -DTIMED");
}

#[test]
fn message_queues_are_respected() {
    unknown_lock("MESSAGES");
    unknown_lock("POSIX_MESSAGES");
}

#[test]
fn a_pipe_is_respected() {
    unknown_lock("PIPE");
}

/// A semaphore that is never posted: the wait ends at its deadline, not because of a signal.
const TIMES_OUT: &str = r"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/sem.h>
#include <time.h>

static int semaphore, shared;

static void *waits(void *unused) {
    struct sembuf operation = {0, -1, 0};
    struct timespec limit = {0, 400000000};
    if (semtimedop(semaphore, &operation, 1, &limit) != -1 || errno != EAGAIN)
        abort();
    shared++;
    return unused;
}

int main(void) {
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    semctl(semaphore, 0, SETVAL, 0);
    pthread_t thread;
    pthread_create(&thread, 0, waits, 0);
    for (int i = 0; i < 1000; i++)
        shared += i & 1;
    pthread_join(thread, 0);
    semctl(semaphore, 0, IPC_RMID);
    return 0;
}
";

#[test]
fn a_timed_wait_ends_at_its_deadline() {
    let (workshop, program) = Workshop::with_program(TIMES_OUT);
    let hunted = workshop.hunt(&program, &["--analysis", "random", "--detector", "none", "--runs", "3"]).expect(0);
    let summary = hunted.summary();
    assert_eq!((summary.completed, summary.timed_out), (summary.executions, 0), "{summary:?}");
}

/// Only one iteration of the loop is unprotected.
const ONE_ROUND: &str = r"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int a;
static void *run(void *unused) {
    for (volatile int i = 0; i < 6; i++) {
        int round = i;
        if (round != 4)
            pthread_mutex_lock(&lock);
        a++;
        if (round != 4)
            pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, run, 0);
    pthread_create(&second, 0, run, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
";

#[test]
fn every_access_of_a_loop_is_a_target() {
    let (workshop, program) = Workshop::with_program(ONE_ROUND);
    for mode in [MODES[0], &["--free-running", "--detector", "none", "--runs", "200"]] {
        let hunted = workshop.hunt(&program, mode).expect(1);
        assert_eq!(races(&hunted), [10], "{:?}", hunted.overview());
    }
}

/// The same access at the end of a chain of calls that is longer than any fixed number of callers. How often it is made
/// under the lock depends on the clock, so only the whole stack identifies the unprotected one.
const DEEP: &str = r#"
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
int shared;
#define CALLS(name, next) \
    __attribute__((noinline)) static void name(int value) { \
        next(value); \
        __asm__ volatile(""); \
    }
__attribute__((noinline)) static void put(int value) {
    shared = value;
}
CALLS(call1, put) CALLS(call2, call1) CALLS(call3, call2) CALLS(call4, call3) CALLS(call5, call4) CALLS(call6, call5)
__attribute__((noinline)) static void quiet(int value) {
    pthread_mutex_lock(&lock);
    call6(value);
    pthread_mutex_unlock(&lock);
}
CALLS(loud, call6)
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
    pthread_barrier_init(&both, 0, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn call_stacks_are_compared_to_the_necessary_depth() {
    let workshop = Workshop::new();
    let program = workshop.write("deep.c", DEEP);
    let options = ["--free-running", "--detector", "none", "--runs", "40", "--cflags=-O0"];
    let hunted = workshop.hunt(&program, &options).expect(1);
    assert_eq!(races(&hunted), [13], "{:?}", hunted.overview());
}

/// Numbered threads: both run the same code, so the pair names them.
const NUMBERED: &str = r#"
#include <pthread.h>
#include "racehunter.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int shared;
static void *run(void *number) {
    racehunter_number_thread((unsigned long)number * 1000);
    for (volatile int i = 0; i < 3; i++) {
        int last = i == 2;
        if (!last)
            pthread_mutex_lock(&lock);
        shared++;
        if (!last)
            pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, run, (void *)1);
    pthread_create(&second, 0, run, (void *)2);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"#;

#[test]
fn threads_are_identified_by_numbers_from_the_program() {
    let (workshop, program) = Workshop::with_program(NUMBERED);
    for mode in [MODES[0], &["--free-running", "--detector", "none", "--runs", "100"]] {
        let hunted = workshop.hunt(&program, mode).expect(1);
        assert_eq!(races(&hunted), [12], "{:?}", hunted.overview());
    }
}

/// A spin lock whose loop counts its iterations: no two of them are alike, so only the number of events shows that the
/// others just wait.
const SPINS: &str = r"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int taken;
int n;
static void *run(void *unused) {
    unsigned long rounds = 0;
    while (atomic_exchange(&taken, 1))
        rounds += 3;
    n++;
    atomic_store(&taken, 0);
    return rounds > 1 ? unused : 0;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, run, 0);
    pthread_create(&second, 0, run, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return n != 2;
}
";

#[test]
fn a_held_thread_continues_when_others_only_spin() {
    let (workshop, program) = Workshop::with_program(SPINS);
    let hunted = workshop.hunt(&program, &["--analysis", "watchpoint"]).expect(0);
    let summary = hunted.summary();
    assert!(hunted.findings.is_empty(), "{:?}", hunted.overview());
    assert_eq!((summary.completed, summary.timed_out), (summary.executions, 0), "{summary:?}");
    assert!(summary.guarantee.contains("each provoked"), "{summary:?}");
}

/// An access that is described without a thread: each thread counts its own. The places are not known to be shared, so
/// none of them is a point.
#[test]
fn each_thread_counts_its_own_accesses() {
    let (_workshop, program) = Workshop::with_program(
        r"
        #include <pthread.h>
        int shared;
        static void *run(void *unused) {
            shared++;
            return unused;
        }
        int main(void) {
            pthread_t first, second;
            pthread_create(&first, 0, run, 0);
            pthread_create(&second, 0, run, 0);
            pthread_join(first, 0);
            pthread_join(second, 0);
            return 0;
        }",
    );
    let mut pair = Pair::new(program);
    let plain = Plan { detect_races: false, ..Plan::default() };
    for processes in [&mut pair.fibers, &mut pair.threads] {
        let mut run = |plan: Plan| processes.run(&[plan]).expect("the program runs").remove(0);
        let monitored = run(Plan { observe: Observe::Everything, ..plain.clone() });
        let is_write = |record: &&racehunter_explore::Record| record.kind == Kind::Write && record.thread > ThreadId(0);
        let code = monitored.records.iter().find(is_write).expect("it writes").code;
        let mut provoked = |nth| {
            let access = || Descriptor { code, path: None, callers: Vec::new(), nth };
            run(Plan { provoke: Some(Box::new([access(), access()])), ..plain.clone() })
        };
        let (first, second) = (provoked(1), provoked(2));
        let is_held =
            |record: &racehunter_explore::Record| record.kind == Kind::Blocked && record.detail == Wait::Partner as u8;
        assert!(first.records.iter().any(is_held) && first.races().len() == 1, "{first:?}");
        assert!(!second.records.iter().any(is_held) && second.races().is_empty(), "no thread has a second one");
        // If nothing is inferred, a race that the detector would infer is not reported.
        let mut inferred = |infer_races| run(Plan { infer_races, ..Plan::default() }).races().len();
        assert!(inferred(true) > 0 && inferred(false) == 0);
    }
}

#[test]
fn the_statistics_of_the_paper_are_reported() {
    let hunted = hunt(source("listing 1"), &["--analysis", "watchpoint"], "-O0").expect(1);
    let figures = hunted.summary().figures.clone().expect("what was monitored");
    let (n, m, k, b) = (figures.threads, figures.accesses, figures.calls, 64);
    assert_eq!(n, 3, "{figures:?}");
    assert!(m >= 4 && k >= 3 && figures.conflicting_pairs >= 2 && figures.targets >= 2, "{figures:?}");
    assert_eq!(figures.trace_bits, n * (n + 1) * b / 2 + m * (3 * b + 2) + k * (2 * b + 4));
    let times = [figures.trace_bytes, figures.memory_kib, figures.plain_us, figures.verified_us];
    assert!(times.iter().all(|&number| number > 0), "{figures:?}");
    let other = hunt(source("listing 1"), &["--analysis", "context-bound"], "-O0").expect(1);
    assert_eq!(other.summary().figures, None);
}
