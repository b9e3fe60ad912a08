//! Fibers and kernel threads: behaviour that only one of the two backends has to handle.
//!
//! `targets.rs` checks that both agree on every program below `targets/`, because it builds those. Like `detector`,
//! this file uses the crates behind the command.

use racehunter_abi::EventNumber;
use racehunter_e2e::Workshop;
use racehunter_e2e::pair::{Pair, essence};
use racehunter_explore::{Escape, Execution, Executor as _, Outcome, Plan, Style, Switch, Tail};

/// Returns the program of a C source on both backends, and its directory.
fn pair(source: &str) -> (Workshop, Pair) {
    let (workshop, program) = Workshop::with_program(source);
    (workshop, Pair::new(program))
}

#[test]
fn kernel_threads_have_their_own_ids_and_names() {
    let (_workshop, mut pair) = pair(
        r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static int known;
        static void *work(void *name) {
            char path[64], found[16] = "";
            pthread_setname_np(pthread_self(), name);
            pthread_mutex_lock(&lock);
            snprintf(path, sizeof path, "/proc/self/task/%d/comm", gettid());
            FILE *file = fopen(path, "r");
            if (file) {
                fgets(found, sizeof found, file);
                fclose(file);
            }
            found[strcspn(found, "\n")] = 0;
            known += strcmp(found, name) == 0;
            pthread_mutex_unlock(&lock);
            return 0;
        }
        int main(void) {
            pthread_t threads[3];
            char *names[] = {"one", "two", "three"};
            for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, names[i]);
            for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
            return known;
        }"#,
    );
    let plans = [0, 1, 2, 3].map(|seed| Plan { tail: Tail::Walk { style: Style::Even, seed }, ..Plan::default() });
    for execution in pair.threads.run(&plans).expect("the program runs") {
        assert_eq!(execution.outcome, Outcome::Exited(3));
    }
}

#[test]
fn a_crash_in_a_thread_is_seen() {
    let (_workshop, mut pair) = pair(
        r#"
        #include <pthread.h>
        static int *pointer;
        static void *work(void *p) { *pointer = 1; return p; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            pthread_join(thread, 0);
        }"#,
    );
    let executions = pair.run(&[Plan::default()]);
    assert!(matches!(executions[0].outcome, Outcome::Crashed { signal: 11, .. }), "{:?}", executions[0].outcome);
}

#[test]
fn an_overflow_of_a_threads_stack_is_seen() {
    let (_workshop, mut pair) = pair(
        r#"
        #include <pthread.h>
        static int deeper(volatile char *above) {
            volatile char here[4096];
            here[0] = above[0];
            return deeper(here) + here[0];
        }
        static void *work(void *p) { char start = 0; return (char *)p + deeper(&start); }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            pthread_join(thread, 0);
        }"#,
    );
    let executions = pair.run(&[Plan::default()]);
    assert!(matches!(executions[0].outcome, Outcome::Crashed { signal: 11, .. }), "{:?}", executions[0].outcome);
}

#[test]
fn a_program_can_fork() {
    let (_workshop, mut pair) = pair(
        r#"
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *add(void *sum) { *(int *)sum += 7; return 0; }
        static void *work(void *p) {
            // The child creates its own thread.
            if (fork() == 0) {
                pthread_t thread;
                int sum = 0;
                pthread_create(&thread, 0, add, &sum);
                pthread_join(thread, 0);
                _exit(sum);
            }
            return p;
        }
        int main(void) {
            pthread_t threads[2];
            int sum = 0, status;
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
            for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
            for (int i = 0; i < 2; i++) wait(&status), sum += WEXITSTATUS(status);
            return sum;
        }"#,
    );
    let plans = [0, 1, 2, 3].map(|seed| Plan { tail: Tail::Walk { style: Style::Even, seed }, ..Plan::default() });
    for execution in pair.run(&plans) {
        assert_eq!(execution.outcome, Outcome::Exited(14));
        assert!(execution.partial && execution.escapes().iter().any(|escape| escape.0 == Escape::Fork));
    }
}

#[test]
fn executions_from_a_snapshot_equal_those_from_the_start() {
    let (_workshop, mut pair) = pair(
        r#"
        #include <pthread.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static volatile long total, steps[3];
        static void *work(void *p) {
            long own = (long)p;
            for (int i = 0; i < 20000; i++) steps[own]++;
            for (int i = 0; i < 5; i++) {
                pthread_mutex_lock(&lock);
                total = total * 3 + own;
                pthread_mutex_unlock(&lock);
            }
            return 0;
        }
        int main(void) {
            pthread_t threads[3];
            for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
            for (long i = 0; i < 3; i++) pthread_join(threads[i], 0);
            return total % 251;
        }"#,
    );
    let alone = pair.run(&[Plan::default()]);
    let last = alone[0].switches().pop().expect("there are three threads").at;
    // Schedules that differ only in the second half, so that they share a prefix long enough for a snapshot.
    let whole = Plan::replay(alone[0].switches());
    let half: Vec<Switch> = whole.switches.iter().copied().filter(|switch| switch.at.0 < last.0 / 2).collect();
    let from = half.last().map_or(0, |switch| switch.at.0).max(40_000);
    let tail = |seed| Plan {
        tail_from: EventNumber(from),
        tail: Tail::Walk { style: Style::Even, seed },
        ..Plan::replay(half.clone())
    };
    // Executions after them must not overwrite their logs.
    let plans: Vec<Plan> =
        (1..=8).map(tail).chain(std::iter::once(Plan::default())).chain((9..=12).map(tail)).collect();
    let together = pair.run(&plans);
    let alone: Vec<Execution> = plans.iter().flat_map(|plan| pair.run(std::slice::from_ref(plan))).collect();
    for (together, alone) in together.iter().zip(&alone) {
        assert_eq!(essence(together), essence(alone));
    }
    let distinct: std::collections::HashSet<String> = together.iter().map(|e| format!("{:?}", e.outcome)).collect();
    assert!(distinct.len() > 1, "the schedules make no difference: {distinct:?}");
}
