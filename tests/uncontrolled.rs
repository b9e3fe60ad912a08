//! Code that is not under control does not hang a hunt, is reported in the user's terms, and rules out a proof.
//! Spinning in instrumented code only looks like it: it is made fair and not reported.

use racehunter_e2e::results::Uncontrolled;
use racehunter_e2e::{Hunted, Workshop};

/// An uninstrumented library: it spins, waits in its own system calls, and creates threads.
const LIBRARY: &str = r#"
#include <pthread.h>

void spin_until(const volatile int *flag) {
    while (!*flag) {
    }
}

static long call(long number, long a, const void *b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

long receive(int fd, char *byte) { return call(0, fd, byte, 1); }
long send_byte(int fd, const char *byte) { return call(1, fd, byte, 1); }

void doze(long milliseconds) {
    long time[2] = {0, milliseconds * 1000000};
    call(35, (long)time, 0, 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counted;

static void *count(void *argument) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

void start_counting(pthread_t *thread) { pthread_create(thread, 0, count, 0); }

// A kernel thread that only the kernel knows.
static char stack[1 << 16];
void start_a_clone(void) {
    long result;
    register long fourth __asm__("r10") = 0;
    register long fifth __asm__("r8") = 0;
    __asm__ volatile("syscall; test %%rax, %%rax; jnz 1f; 2: mov $34, %%eax; syscall; jmp 2b; 1:"
                     : "=a"(result)
                     : "a"(56L), "D"(0x50f00L), "S"(stack + sizeof stack - 64), "d"(0L), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
}
"#;

/// The program's part, up to `main`.
const DECLARATIONS: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
void spin_until(const volatile int *flag);
long receive(int fd, char *byte);
long send_byte(int fd, const char *byte);
void doze(long milliseconds);
void start_counting(pthread_t *thread);
void start_a_clone(void);
";

/// Hunts a program that uses the library; nothing of it times out or diverges.
#[track_caller]
fn hunt(source: &str, options: &[&str]) -> (Workshop, Hunted) {
    let workshop = Workshop::new();
    workshop.write("library.c", LIBRARY);
    workshop.write("program.c", &format!("{DECLARATIONS}#line 1\n{source}"));
    workshop.shell(
        "gcc -g -O1 -shared -fPIC library.c -o liblibrary.so
         racehunter-cc -g -O1 -pthread program.c -L. -llibrary -Wl,-rpath,'$ORIGIN' -o program",
    );
    let hunted = workshop.hunt(&workshop.path("program"), options);
    let summary = hunted.summary();
    assert_eq!((summary.diverged, summary.timed_out), (0, 0), "{summary:?}");
    (workshop, hunted)
}

/// Returns what was reported, without the counts. Unseen calls of the library are reported separately.
fn reported(hunted: &Hunted) -> Vec<(&str, u32)> {
    let place = |what: &'_ Uncontrolled| what.line;
    let controlled = hunted.summary().uncontrolled.iter().filter(|what| what.what != "library");
    controlled.map(|what| (what.what.as_str(), place(what))).collect()
}

const BACKENDS: [&str; 2] = ["fibers", "threads"];

#[test]
fn spinning_in_a_library_lets_others_run() {
    let source = "static volatile int flag;
static void *await(void *p) {
    spin_until(&flag);
    return p;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, await, 0);
    sched_yield();
    flag = 1;
    pthread_join(thread, 0);
    return 0;
}";
    for backend in BACKENDS {
        let (_workshop, hunted) = hunt(source, &["--analysis", "random", "--runs", "2", "--backend", backend]);
        let hunted = hunted.expect(0);
        assert_eq!(reported(&hunted), [("busy", 3)], "{:?}", hunted.summary());
        assert!(!hunted.summary().complete);
    }
}

#[test]
fn blocking_in_a_library_lets_others_run() {
    let source = "static int ends[2];
static int letters;
static void *await(void *p) {
    char letter;
    receive(ends[0], &letter);
    letters++;
    return p;
}
int main(void) {
    pthread_t threads[2];
    if (pipe(ends)) return 1;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, await, 0);
    sched_yield();
    for (int i = 0; i < 2; i++) send_byte(ends[1], \"x\");
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}";
    // After a block, the threads are checked as usual, and the finding replays.
    let options = ["--analysis", "random", "--runs", "4", "--backend"];
    let (workshop, hunted) = hunt(source, &[&options[..], &["fibers"]].concat());
    let hunted = hunted.expect(1);
    assert_eq!(reported(&hunted), [("blocked", 5)], "{:?}", hunted.summary());
    let race = hunted.at("data-race", "program.c", 6).unwrap_or_else(|| panic!("{:#?}", hunted.overview()));
    assert!(race.confirmed, "{race:?}");
    workshop.replay(&race.id).expect(0);

    let (_workshop, hunted) =
        hunt(&source.replace("letters++", "(void)letters"), &[&options[..], &["threads"]].concat());
    assert_eq!(reported(&hunted.expect(0)), [("blocked", 5)]);
}

#[test]
fn blocking_while_no_other_thread_can_run_is_harmless() {
    let source = "static void *work(void *p) { return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    doze(300);
    return 0;
}";
    for backend in BACKENDS {
        let (_workshop, hunted) = hunt(source, &["--analysis", "random", "--runs", "2", "--backend", backend]);
        assert_eq!(reported(&hunted.expect(0)), []);
    }
}

#[test]
fn threads_of_a_library_are_reported() {
    let source = "static void *work(void *p) { return p; }
int main(void) {
    pthread_t threads[2];
    start_counting(&threads[0]);
    pthread_create(&threads[1], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}";
    for backend in BACKENDS {
        let (_workshop, hunted) = hunt(source, &["--analysis", "random", "--runs", "20", "--backend", backend]);
        let hunted = hunted.expect(0);
        let [only] = &hunted.summary().uncontrolled[..] else { panic!("{:?}", hunted.summary()) };
        // The call of `pthread_create` is in the library.
        assert!((only.what.as_str(), only.detail.as_str()) == ("uninstrumented", "count"), "{only:?}");
        assert!(only.file.ends_with("library.c") && only.executions == 20, "{only:?}");
        assert!(!hunted.summary().complete);
    }
}

#[test]
fn threads_that_only_the_kernel_knows_are_reported() {
    let source = "static void *work(void *p) { return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    start_a_clone();
    pthread_join(thread, 0);
    return 0;
}";
    for backend in BACKENDS {
        let (_workshop, hunted) = hunt(source, &["--analysis", "random", "--runs", "20", "--backend", backend]);
        assert_eq!(reported(&hunted.expect(0)), [("threads", 0)]);
    }
}

#[test]
fn a_fork_is_reported_in_every_format() {
    let source = "static void *work(void *p) { return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    if (fork() == 0) _exit(0);
    wait(0);
    pthread_join(thread, 0);
    return 0;
}";
    let (workshop, hunted) = hunt(source, &["--analysis", "context-bound", "--bound", "1"]);
    let hunted = hunted.expect(0);
    assert_eq!(reported(&hunted), [("fork", 5)]);
    assert!(!hunted.summary().complete, "{:?}", hunted.summary());
    for (format, text) in [
        ("human", "Outside  `fork` at "),
        ("short", "program.c:5: the child process is not under control\n"),
        ("github", "line=5,title=RaceHunter%3A not under control::`fork` at"),
    ] {
        let mut command = racehunter_e2e::racehunter(["hunt", "--quiet", "--runs", "5", "--message-format", format]);
        command.arg("--out").arg(workshop.out()).arg(workshop.path("program")).env("COLUMNS", "400");
        let ended = racehunter_e2e::run(&mut command);
        assert!(ended.stdout.contains(text), "{format}:\n{}", ended.stdout);
    }
}

#[test]
fn spinning_on_an_atomic_flag_is_fair() {
    let source = "static atomic_int ready;
static int answer;
static void *prepare(void *p) {
    answer = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return p;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, prepare, 0);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    }
    assert(answer == 42);
    pthread_join(thread, 0);
    return 0;
}";
    let (_workshop, hunted) = hunt(source, &["--runs", "20"]);
    assert_eq!(reported(&hunted.expect(0)), []);
}

#[test]
fn spinning_on_two_flags_is_fair() {
    let source = "static atomic_int arrived[2];
static int letters[2];
static void meet(int own, int round) {
    atomic_store(&arrived[own], round);
    while (atomic_load(&arrived[0]) < round || atomic_load(&arrived[1]) < round) {
    }
}
static void *exchange(void *p) {
    int own = p != 0;
    for (int round = 1; round <= 2; round++) {
        letters[own] = 10 * round + own;
        meet(own, 2 * round - 1);
        assert(letters[!own] == 10 * round + !own);
        meet(own, 2 * round);
    }
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, exchange, &thread);
    exchange(0);
    pthread_join(thread, 0);
    return 0;
}";
    let (_workshop, hunted) = hunt(source, &["--runs", "20"]);
    assert_eq!(reported(&hunted.expect(0)), []);
}

#[test]
fn spinning_on_a_plain_flag_is_fair_and_a_race() {
    let source = "static volatile int ready;
static void *prepare(void *p) {
    ready = 1;
    return p;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, prepare, 0);
    while (!ready) {
    }
    pthread_join(thread, 0);
    return 0;
}";
    let (_workshop, hunted) = hunt(source, &["--runs", "20"]);
    let hunted = hunted.expect(1);
    assert!(hunted.at("data-race", "program.c", 9).is_some(), "{:#?}", hunted.overview());
    assert_eq!(reported(&hunted), []);
}

/// Anything without a model is named where it is used.
#[test]
fn functions_without_a_model_are_reported() {
    let source = r#"
#define _GNU_SOURCE
#include <aio.h>
#include <poll.h>
#include <sys/syscall.h>
#include <ucontext.h>
static ucontext_t own, other;
static char stack[1 << 16];
static void *work(void *p) { return p; }
static void visit(void) {}
int main(void) {
    struct aiocb request = {0};
    aio_read(&request);
    syscall(SYS_poll, 0, 0, 0);
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &own;
    makecontext(&other, visit, 0);
    swapcontext(&own, &other);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}"#;
    for backend in BACKENDS {
        let (_workshop, hunted) = hunt(source, &["--runs", "5", "--backend", backend]);
        assert!(hunted.findings.is_empty(), "{:?}", hunted.findings);
        let found: Vec<(&str, &str, u32)> = hunted
            .summary()
            .uncontrolled
            .iter()
            .map(|what| (what.what.as_str(), what.detail.as_str(), what.line))
            .filter(|(what, ..)| *what == "unmodelled")
            .collect();
        let [read, poll, swap] = [("`aio_read`", 13), ("system call 7", 14), ("`swapcontext`", 20)]
            .map(|(detail, line)| ("unmodelled", detail, line));
        assert_eq!(found, [read, poll, swap], "{backend}");
        assert!(!hunted.summary().complete);
    }
}

/// A direct system call has the model of the function.
#[test]
fn system_calls_with_a_model_are_under_control() {
    let source = r"
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
static int ends[2], value;
static void *give(void *p) {
    value = 7;
    syscall(SYS_write, ends[1], &(char){1}, 1);
    return p;
}
int main(void) {
    char byte;
    assert(pipe(ends) == 0);
    pthread_t thread;
    pthread_create(&thread, 0, give, 0);
    // Waits for the other thread, and is ordered after it.
    assert(syscall(SYS_read, ends[0], &byte, 1) == 1);
    assert(value == 7);
    struct timespec before, after, length = {3600, 0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &before);
    syscall(SYS_nanosleep, &length, 0);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &after);
    assert(after.tv_sec - before.tv_sec >= 3600);
    syscall(SYS_sched_yield);
    void *memory = (void *)syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(memory != MAP_FAILED && syscall(SYS_munmap, memory, 4096) == 0);
    pthread_join(thread, 0);
    syscall(SYS_exit_group, 0);
}";
    for backend in BACKENDS {
        let (_workshop, hunted) = hunt(source, &["--runs", "100", "--backend", backend]);
        assert!(hunted.findings.is_empty(), "{backend}: {:?}", hunted.findings);
        assert_eq!(reported(&hunted), [], "{backend}");
    }
}
