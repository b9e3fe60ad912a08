//! Signals that end the process, or that come from outside; `targets/` covers everything else about signals.

use racehunter_e2e::{Workshop, run};
use std::process::Command;

/// Returns the only crash of a program, which shows in every schedule.
#[track_caller]
fn crash(source: &str) -> (String, u32) {
    let (workshop, program) = Workshop::with_program(source);
    let hunted = workshop.hunt(&program, &["--runs", "100"]).expect(1);
    assert_eq!(hunted.findings.len(), 1, "{:#?}", hunted.overview());
    let finding = &hunted.findings[0];
    assert_eq!((finding.kind.as_str(), finding.confirmed), ("crash", true), "{finding:#?}");
    (finding.message.clone(), finding.sites[0].line)
}

#[test]
fn a_signal_without_a_handler_is_a_crash_where_it_was_sent() {
    let source = r"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *end(void *unused) {
    kill(getpid(), SIGTERM);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, end, 0);
    pthread_join(thread, 0);
    return 0;
}
";
    assert_eq!(crash(source), ("killed by SIGTERM".to_owned(), 6));
}

/// Handles SIGABRT, and aborts nevertheless.
const HANDLED_ABORT: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static void on_abort(int signal) { puts(signal == SIGABRT ? "handled" : "?"); }
static void *end(void *unused) {
    abort();
    return unused;
}
int main(void) {
    pthread_t thread;
    setvbuf(stdout, 0, _IONBF, 0);
    signal(SIGABRT, on_abort);
    pthread_create(&thread, 0, end, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn abort_ends_the_program_after_its_own_handler() {
    assert_eq!(crash(HANDLED_ABORT), ("killed by SIGABRT (abort)".to_owned(), 8));
    let (_workshop, program) = Workshop::with_program(HANDLED_ABORT);
    let ended = run(&mut Command::new(program));
    assert_eq!((ended.status, ended.stdout.as_str()), (None, "handled\n"));
}

#[test]
fn a_fault_can_be_repaired_by_its_handler() {
    let source = r"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
static char *page;
static int faults;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void repair(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    pthread_mutex_lock(&lock);
    assert((char *)info->si_addr == page + 8);
    faults++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
}
static void *work(void *unused) {
    double product = 1.5;
    for (int i = 0; i < 3; i++) {
        mprotect(page, 4096, PROT_READ);
        product *= 2.5;
        page[8] = (char)product;
    }
    assert(product == 1.5 * 2.5 * 2.5 * 2.5);
    return unused;
}
int main(void) {
    struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    assert(faults == 3);
    return 0;
}
";
    let (workshop, program) = Workshop::with_program(source);
    let hunted = workshop.hunt(&program, &["--runs", "100"]).expect(0);
    assert!(hunted.findings.is_empty(), "{:#?}", hunted.overview());
}

/// Overflows its stack, twice, and survives on an alternate stack; without that, it is a crash.
const OVERFLOW: &str = r"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf out;
static char spare[65536];
static void on_fault(int signal) { siglongjmp(out, signal); }
static int deep(volatile int depth) {
    volatile char block[1000];
    block[0] = (char)depth;
    return depth < 0 ? 0 : deep(depth + 1) + block[0];
}
static void *work(void *unused) {
#ifdef SAFE
    stack_t stack = {.ss_sp = spare, .ss_size = sizeof spare};
    sigaltstack(&stack, 0);
#endif
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    for (volatile int i = 0; i < 2; i++)
        if (sigsetjmp(out, 1) == 0)
            deep(spare[0]);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn an_overflow_of_the_stack_is_handled_on_another_stack_or_not_at_all() {
    let (workshop, program) = Workshop::with_program(&format!("#define SAFE\n{OVERFLOW}"));
    let hunted = workshop.hunt(&program, &["--runs", "20"]).expect(0);
    assert!(hunted.findings.is_empty(), "{:#?}", hunted.overview());
    let (workshop, program) = Workshop::with_program(OVERFLOW);
    let hunted = workshop.hunt(&program, &["--runs", "20"]).expect(1);
    assert!(hunted.findings.iter().all(|finding| finding.kind == "crash"), "{:#?}", hunted.overview());
}

#[test]
fn the_end_of_a_child_wakes_a_wait_for_its_signal() {
    let source = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t came;
static void on_child(int signal) { came = signal; }
int main(void) {
    struct sigaction action = {.sa_handler = on_child};
    sigset_t set, before;
    int status = 0;
    sigaction(SIGCHLD, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &before);
    if (fork() == 0)
        _exit(3);
    while (!came)
        sigsuspend(&before);
    wait(&status);
    printf("%d %d\n", came == SIGCHLD, WEXITSTATUS(status));
    return 0;
}
"#;
    let (_workshop, program) = Workshop::with_program(source);
    let ended = run(&mut Command::new(program)).expect(0);
    assert_eq!(ended.stdout, "1 3\n");
}

#[test]
fn asynchronous_cancellation_reaches_a_thread_that_only_computes() {
    let source = r"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int started;
static int cleaned;
volatile long work_done;
static void clean(void *unused) {
    (void)unused;
    cleaned = 1;
}
static void *compute(void *unused) {
    pthread_cleanup_push(clean, 0);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    started = 1;
    for (;;)
        work_done++;
    pthread_cleanup_pop(0);
    return unused;
}
int main(void) {
    pthread_t thread;
    void *result = 0;
    pthread_create(&thread, 0, compute, 0);
    while (!started)
        sched_yield();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED && cleaned);
    return 0;
}
";
    let (workshop, program) = Workshop::with_program(source);
    let hunted = workshop.hunt(&program, &["--runs", "60"]).expect(0);
    assert!(hunted.findings.is_empty(), "{:#?}", hunted.overview());
}
