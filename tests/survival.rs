//! Programs that misbehave. Whatever they do, the hunt ends on its own, reports plausible numbers, and leaves nothing
//! running.

use racehunter_e2e::processes::{eventually, expect_none, running};
use racehunter_e2e::{Hunted, Started, Summary, Workshop};
use rustix::process::Signal;
use std::path::Path;

/// A program whose second thread runs `body`.
fn program(body: &str) -> String {
    format!(
        r"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long shared;

static void *misbehave(void *unused) {{
{body}
    return unused;
}}

int main(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, misbehave, NULL);
    pthread_join(thread, NULL);
    return 0;
}}
"
    )
}

const RUNS: u64 = 20;
/// For programs that use up their time in every execution.
const FEW_RUNS: u64 = 4;

/// Hunts a program whose second thread runs `body`; nothing of it may be left running.
#[track_caller]
fn hunt(body: &str, runs: u64) -> Hunted {
    let (workshop, program) = Workshop::with_program(&program(body));
    let runs = runs.to_string();
    let options = ["--analysis", "random", "--runs", &runs, "--timeout", "1s", "--memory", "300"];
    let hunted = workshop.hunt(&program, &options);
    expect_none(&program);
    hunted
}

/// Expects a hunt without a finding, in which this many executions were stopped by a limit.
#[track_caller]
fn expect_clean(hunted: Hunted, runs: u64, limited: u64) -> Summary {
    let summary = hunted.expect(0).summary().clone();
    assert_eq!((summary.executions, summary.timed_out, summary.findings), (runs, limited, 0), "{summary:?}");
    summary
}

/// Expects a hunt in which no execution completed, so that finding nothing means nothing.
#[track_caller]
fn expect_nothing(hunted: Hunted, runs: u64, limited: u64, why: &str) -> Summary {
    let summary = hunted.expect(3).summary().clone();
    assert_eq!((summary.executions, summary.timed_out, summary.findings), (runs, limited, 0), "{summary:?}");
    assert_eq!((summary.completed, summary.complete), (0, false));
    let said = summary.unclear.join("; ");
    assert!(said.contains("no execution completed: ") && said.contains(why), "`{why}` is not in: {said}");
    summary
}

#[track_caller]
fn expect_missed(summary: &Summary, what: &str) {
    assert!(summary.missed.iter().any(|line| line.contains(what)), "`{what}` is not among {:?}", summary.missed);
    assert!(!summary.complete, "a hunt that missed something is not complete");
}

/// Expects a hunt whose only finding is a crash.
#[track_caller]
fn expect_crash(hunted: Hunted, message: &str) {
    let hunted = hunted.expect(1);
    let [finding] = hunted.findings.as_slice() else { panic!("not one finding: {:#?}", hunted.overview()) };
    assert_eq!((finding.kind.as_str(), finding.confirmed), ("crash", true));
    assert!(finding.message.contains(message), "`{message}` is not in: {}", finding.message);
    assert_eq!(hunted.summary().executions, RUNS);
}

#[test]
fn an_endless_loop_without_events_is_stopped() {
    let summary = expect_nothing(hunt(r#"for (;;) __asm__ volatile("");"#, FEW_RUNS), FEW_RUNS, FEW_RUNS, "stopped");
    expect_missed(&summary, "4 executions stopped by a limit");
}

#[test]
fn an_endless_loop_with_events_is_stopped() {
    let summary = expect_nothing(hunt("for (;;) shared++;", FEW_RUNS), FEW_RUNS, FEW_RUNS, "stopped");
    expect_missed(&summary, "4 executions stopped by a limit");
}

/// Other schedules end, but that says nothing about this one: the program may hang in it.
#[test]
fn a_program_that_hangs_in_some_schedules_is_not_called_clean() {
    let hangs = r"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready;
static volatile long rounds;
static void *sets(void *unused) {
    ready = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sets, NULL);
    while (ready) rounds++;
    pthread_join(thread, NULL);
    return 0;
}
";
    let (workshop, program) = Workshop::with_program(hangs);
    let options = ["--analysis", "context-bound", "--bound", "1", "--timeout", "1s"];
    let summary = workshop.hunt(&program, &options).expect(3).summary().clone();
    expect_none(&program);
    assert!(summary.completed > 0 && summary.timed_out > 0, "{summary:?}");
    assert!(summary.unclear.iter().any(|why| why.starts_with("some executions did not end: ")), "{summary:?}");
}

#[test]
fn a_thread_that_only_yields_is_stopped() {
    let summary = expect_nothing(hunt("for (;;) sched_yield();", FEW_RUNS), FEW_RUNS, FEW_RUNS, "stopped");
    expect_missed(&summary, "4 executions stopped by a limit");
}

#[test]
fn memory_without_end_is_refused() {
    let body = "for (;;) memset(malloc(1 << 20), 1, 1 << 20);";
    let summary = expect_nothing(hunt(body, FEW_RUNS), FEW_RUNS, FEW_RUNS, "stopped");
    expect_missed(&summary, "4 executions stopped by a limit");
}

#[test]
fn output_of_any_size_is_harmless() {
    // A write that fails, or is a byte short, is a crash.
    let body = r"
    static char much[1 << 20];
    for (int i = 0; i < 100; i++) {
        if (write(1, much, sizeof much) != sizeof much || write(2, much, sizeof much) != sizeof much)
            abort();
        // Printed memory is checked for races, which takes a while.
        if (i % 8 == 0 && fwrite(much, 1, sizeof much, stdout) != sizeof much)
            abort();
    }";
    let (workshop, program) = Workshop::with_program(&program(body));
    let options = ["--analysis", "random", "--runs", "6", "--timeout", "20s", "--memory", "300"];
    let _ = expect_clean(workshop.hunt(&program, &options), 6, 0);
    expect_none(&program);
}

#[test]
fn findings_do_not_depend_on_the_size_of_the_output() {
    let source = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

atomic_int n;

static void *add(void *unused) {
    int seen = atomic_load(&n);
    atomic_store(&n, seen + 1);
    return unused;
}

int main(int count, char **words) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < atoi(words[count - 1]); i++)
        if (printf("%099d\n", i) != 100)
            return 1;
    assert(n == 2);
    return 0;
}
"#;
    let (workshop, program) = Workshop::with_program(source);
    let found = |lines: &str| {
        let mut command = workshop.hunt_command(&program, &["--analysis", "context-bound", "--bound", "1"]);
        let hunted = Hunted::new(racehunter_e2e::run(command.args(["--", lines]))).expect(1);
        let findings =
            hunted.findings.iter().map(|finding| (finding.id.clone(), finding.replayed, finding.preemptions));
        (findings.collect::<Vec<_>>(), hunted.summary().executions)
    };
    let little = found("1");
    assert_eq!(little.0.len(), 1, "{little:?}");
    // 3 and 12 megabytes.
    for lines in ["30000", "120000"] {
        assert_eq!(found(lines), little, "{lines}");
    }
}

#[test]
fn children_are_waited_for() {
    let body = r"
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
        abort();";
    let hunted = hunt(body, RUNS);
    let missed = hunted.summary.as_ref().map_or(&[][..], |summary| &summary.missed);
    assert!(missed.iter().any(|line| line.contains("not wholly under control")), "{missed:?}");
    expect_clean(hunted, RUNS, 0);
}

#[test]
fn remaining_children_are_killed() {
    let body = r"
    if (fork() == 0)
        for (;;)
            pause();";
    expect_clean(hunt(body, RUNS), RUNS, 0);
}

#[test]
fn children_in_their_own_session_are_killed() {
    let body = r"
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }";
    expect_clean(hunt(body, RUNS), RUNS, 0);
}

#[test]
fn underscore_exit_ends_an_execution() {
    expect_clean(hunt("_exit(0);", RUNS), RUNS, 0);
}

#[test]
fn quick_exit_ends_an_execution() {
    expect_clean(hunt("quick_exit(0);", RUNS), RUNS, 0);
}

#[test]
fn exit_from_a_thread_ends_an_execution() {
    expect_clean(hunt("exit(0);", RUNS), RUNS, 0);
}

/// Expects a hunt whose only finding is a failure status, which does not depend on the schedule.
#[track_caller]
fn expect_status(hunted: Hunted, status: u32) {
    let hunted = hunted.expect(1);
    let [finding] = hunted.findings.as_slice() else { panic!("not one finding: {:#?}", hunted.overview()) };
    assert_eq!((finding.kind.as_str(), finding.confirmed), ("exit-status", true));
    assert_eq!(finding.message, format!("the program ends with status {status}"));
    let every = format!("every schedule ends with status {status}: {RUNS} of {RUNS} executions");
    assert!(finding.notes.contains(&every), "{:?}", finding.notes);
}

#[test]
fn a_failure_status_of_every_execution_is_a_finding() {
    for leave in ["_exit(3);", "quick_exit(3);", "exit(3);", "_Exit(3);"] {
        expect_status(hunt(leave, RUNS), 3);
    }
}

#[test]
fn exit_from_a_handler_of_abort_ends_an_execution() {
    let body = "signal(SIGABRT, _exit); abort();";
    expect_status(hunt(body, RUNS), 6);
}

#[test]
fn a_handler_of_abort_does_not_make_it_a_success() {
    let (workshop, program) = Workshop::with_program(
        r"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void leave(int signal) { _exit(signal != SIGABRT); }
static void *work(void *unused) { return unused; }

int main(void) {
    signal(SIGABRT, leave);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    abort();
}
",
    );
    let hunted = workshop.hunt(&program, &["--runs", "10"]).expect(1);
    assert!(hunted.findings.iter().all(|finding| finding.kind == "crash"), "{:?}", hunted.overview());
}

#[test]
fn an_abort_is_a_crash() {
    expect_crash(hunt("abort();", RUNS), "SIGABRT");
}

#[test]
fn a_stack_overflow_is_a_crash() {
    let (workshop, program) = Workshop::with_program(
        r"
#include <pthread.h>
#include <stddef.h>

static int depth(volatile char *above) {
    volatile char here[4096];
    here[0] = above[0];
    return depth(here) + here[0];
}

static void *descend(void *unused) {
    volatile char first = 0;
    depth(&first);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, descend, NULL);
    pthread_join(thread, NULL);
    return 0;
}
",
    );
    let options = ["--analysis", "random", "--runs", "20", "--timeout", "5s"];
    expect_crash(workshop.hunt(&program, &options), "SIGSEGV");
    expect_none(&program);
}

#[test]
fn a_killed_execution_is_counted() {
    let why = "all 20 were lost (killed by signal 9)";
    let summary = expect_nothing(hunt("kill(getpid(), SIGKILL);", RUNS), RUNS, 0, why);
    expect_missed(&summary, "20 executions killed from outside");
}

#[test]
fn a_stopped_execution_is_killed() {
    let hunted = hunt("kill(getpid(), SIGSTOP);", FEW_RUNS);
    let summary = expect_nothing(hunted, FEW_RUNS, FEW_RUNS, "stopped after 1s");
    expect_missed(&summary, "4 executions stopped by a limit");
}

#[test]
fn closing_all_files_is_harmless() {
    expect_clean(hunt("for (int file = 0; file < 4096; file++) close(file);", RUNS), RUNS, 0);
}

#[test]
fn a_program_that_ends_past_the_runtime_is_not_believed() {
    let body = r#"__asm__ volatile("syscall" ::"a"(231), "D"(1) : "rcx", "r11", "memory");"#;
    let hunted = hunt(body, RUNS);
    expect_nothing(hunted, RUNS, 0, "ended with status 1 without passing through exit");
}

#[test]
fn a_program_that_stops_its_parent_does_not_stop_the_hunt() {
    expect_clean(hunt("kill(getppid(), SIGSTOP);", RUNS), RUNS, 0);
}

#[test]
fn a_program_that_kills_its_parent_is_given_up() {
    // The server does not live to see the end of any execution.
    let hunted = hunt("kill(getppid(), SIGKILL); for (volatile int i = 0;; i++) ;", 100);
    hunted.ended.expect(2).says("kills its own fork server");
}

/// Overwrites all writable memory that is mapped from a file whose name contains this text.
fn garbage(text: &str) -> String {
    format!(
        r#"
    static char maps[1 << 16];
    size_t length = 0;
    ssize_t more;
    int file = open("/proc/self/maps", O_RDONLY);
    while ((more = read(file, maps + length, sizeof maps - 1 - length)) > 0)
        length += (size_t)more;
    for (char *line = strtok(maps, "\n"); line != NULL; line = strtok(NULL, "\n")) {{
        char *start, *end, right;
        if (sscanf(line, "%p-%p %*c%c", (void **)&start, (void **)&end, &right) != 3 || right != 'w')
            continue;
        if (strstr(line, "{text}") != NULL)
            for (char *byte = start; byte < end && byte < start + (1 << 24); byte += 8)
                *(volatile long *)byte = 0x5555555555555555;
    }}"#
    )
}

/// Checks that the hunt survives, whatever the program does.
#[track_caller]
fn expect_survival(hunted: &Hunted) {
    assert!(matches!(hunted.ended.status, Some(0 | 1 | 3)), "{:?}", hunted.ended);
    assert!(!hunted.ended.stderr.contains("panicked"), "{}", hunted.ended.stderr);
    assert_eq!(hunted.summary().executions, RUNS);
}

#[test]
fn garbage_over_what_is_shared_with_the_controller_harms_only_the_program() {
    let hunted = hunt(&garbage("memfd:racehunter"), RUNS);
    expect_survival(&hunted);
    expect_nothing(hunted, RUNS, 0, "it has overwritten what it shares with RaceHunter");
}

#[test]
fn garbage_over_the_data_of_the_program_harms_only_the_program() {
    expect_survival(&hunt(&garbage("/program"), RUNS));
}

#[test]
fn garbage_over_the_data_of_the_libraries_harms_only_the_program() {
    expect_survival(&hunt(&garbage(".so"), RUNS));
}

#[test]
fn garbage_over_the_heap_harms_only_the_program() {
    expect_survival(&hunt(&(garbage("[heap]") + "free(malloc(100)); free(malloc(100000));"), RUNS));
}

#[test]
fn a_constructor_that_exits_is_reported() {
    let (workshop, program) = Workshop::with_program(
        r#"
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void refuse(void) {
    fprintf(stderr, "no licence\n");
    exit(3);
}

int main(void) { return 0; }
"#,
    );
    let hunted = workshop.hunt(&program, &[]);
    hunted.ended.expect(4).says("ended with status 3 before it created a thread").says("no licence");
}

/// A program with a race, and more schedules than a test can wait for.
const LONG: &str = r"
#include <pthread.h>
#include <stddef.h>

int shared;

static void *work(void *unused) {
    for (int i = 0; i < 40; i++)
        shared++;
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
";

/// Starts a hunt that never ends, and returns when it has found something.
#[track_caller]
fn start(workshop: &Workshop, program: &Path) -> Started {
    let options = ["--analysis", "random", "--runs", "1000000000"];
    let hunt = Started::new(&mut workshop.hunt_command(program, &options));
    hunt.wait_for(r#""reason":"finding""#);
    hunt
}

/// Starts a hunt of a program that hangs, and returns when it does.
#[track_caller]
fn start_hanging(workshop: &Workshop, program: &Path) -> Started {
    let options = ["--jobs", "1", "--timeout", "1h"];
    let hunt = Started::new(&mut workshop.hunt_command(program, &options));
    // The server and the execution.
    eventually("the program never runs", || running(program).len() >= 2);
    hunt
}

#[test]
fn an_interrupt_ends_the_hunt_with_what_was_found() {
    let (workshop, program) = Workshop::with_program(LONG);
    let hunt = start(&workshop, &program);
    assert!(!running(&program).is_empty(), "the program is running");
    hunt.signal(Signal::INT);
    let hunted = Hunted::new(hunt.finish()).expect(1);
    expect_missed(hunted.summary(), "interrupted before the end");
    assert_eq!(hunted.summary().findings, hunted.findings.len() as u64);
    expect_none(&program);
    workshop.replay(&hunted.findings[0].id).expect(0);
}

#[test]
fn an_interrupt_ends_an_execution_that_hangs() {
    let (workshop, program) = Workshop::with_program(&program(r#"for (;;) __asm__ volatile("");"#));
    let hunt = start_hanging(&workshop, &program);
    hunt.signal(Signal::INT);
    let hunted = Hunted::new(hunt.finish()).expect(130);
    expect_missed(hunted.summary(), "interrupted before the end");
    expect_none(&program);
}

#[test]
fn sigterm_has_its_own_exit_code() {
    let (workshop, program) = Workshop::with_program(&program(r#"for (;;) __asm__ volatile("");"#));
    let hunt = start_hanging(&workshop, &program);
    hunt.signal(Signal::TERM);
    let hunted = Hunted::new(hunt.finish()).expect(143);
    expect_missed(hunted.summary(), "interrupted before the end");
    expect_none(&program);
}

#[test]
fn nothing_survives_the_death_of_the_controller() {
    let (workshop, program) = Workshop::with_program(LONG);
    let hunt = start(&workshop, &program);
    hunt.signal(Signal::KILL);
    assert_eq!(hunt.finish().status, None, "a signal must have killed it");
    expect_none(&program);
}

#[test]
fn not_even_an_execution_that_hangs_survives_the_death_of_the_controller() {
    let (workshop, program) = Workshop::with_program(&program(r#"for (;;) __asm__ volatile("");"#));
    let hunt = start_hanging(&workshop, &program);
    hunt.signal(Signal::KILL);
    assert_eq!(hunt.finish().status, None, "a signal must have killed it");
    expect_none(&program);
}
