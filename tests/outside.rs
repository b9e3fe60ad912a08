//! Programs that depend on other processes: children, other programs, whatever opens the other end of a FIFO. They run
//! to their end and behave as without RaceHunter, leave nothing running, and the summary does not claim more than it
//! can.

use racehunter_e2e::processes::expect_none;
use racehunter_e2e::{Summary, Workshop};
use std::process::Command;

/// A program whose second thread runs `body`, while the first one works under a lock.
fn program(functions: &str, body: &str) -> String {
    format!(
        r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int work;

static void check(int condition) {{
    if (!condition)
        abort();
}}

{functions}
static void *act(void *unused) {{
{body}
    return unused;
}}

int main(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, act, NULL);
    for (int i = 0; i < 3; i++) {{
        pthread_mutex_lock(&lock);
        work++;
        pthread_mutex_unlock(&lock);
    }}
    pthread_join(thread, NULL);
    return 0;
}}
"#
    )
}

/// Runs the program by itself, then hunts it: nothing is found, nothing diverges, nothing is lost or left running.
#[track_caller]
fn hunt(functions: &str, body: &str) -> Summary {
    let (workshop, program) = Workshop::with_program(&program(functions, body));
    workshop.run(&mut Command::new(&program)).expect(0);
    let options = ["--analysis", "context-bound", "--bound", "1", "--runs", "60", "--timeout", "5s"];
    let hunted = workshop.hunt(&program, &options);
    expect_none(&program);
    assert!(hunted.findings.is_empty(), "{:#?}", hunted.overview());
    let summary = hunted.expect(0).summary().clone();
    assert_eq!((summary.diverged, summary.timed_out), (0, 0), "{summary:?}");
    assert!(!summary.missed.iter().any(|line| line.contains("killed from outside")), "{summary:?}");
    summary
}

/// The same for programs that are not wholly under control.
#[track_caller]
fn hunt_partly(body: &str) {
    let summary = hunt("", body);
    assert!(summary.missed.iter().any(|line| line.contains("not wholly under control")), "{summary:?}");
    assert!(!summary.complete, "{summary:?}");
}

#[test]
fn a_child_communicates_through_pipes() {
    hunt_partly(
        r"
    int there[2], back[2], number = 21, status;
    check(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0) {
        check(read(there[0], &number, sizeof number) == sizeof number);
        number *= 2;
        check(write(back[1], &number, sizeof number) == sizeof number);
        _exit(5);
    }
    close(back[1]);
    check(write(there[1], &number, sizeof number) == sizeof number);
    check(read(back[0], &number, sizeof number) == sizeof number && number == 42);
    check(read(back[0], &number, 1) == 0);
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    check(wait(NULL) == -1);",
    );
}

#[test]
fn a_child_of_vfork_runs_another_program() {
    hunt_partly(
        r#"
    int status;
    pid_t child = vfork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "exit 4", NULL);
        _exit(127);
    }
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);"#,
    );
}

#[test]
fn output_of_a_command_is_read() {
    hunt_partly(
        r#"
    char line[32];
    FILE *command = popen("echo one; echo two; exit 3", "r");
    check(command != NULL);
    check(fgets(line, sizeof line, command) && strcmp(line, "one\n") == 0);
    check(fgets(line, sizeof line, command) && strcmp(line, "two\n") == 0);
    check(fgets(line, sizeof line, command) == NULL);
    check(WEXITSTATUS(pclose(command)) == 3);"#,
    );
}

#[test]
fn input_of_a_command_is_written() {
    hunt_partly(
        r#"
    FILE *command = popen("read word; test \"$word\" = apple", "w");
    check(command != NULL && fprintf(command, "%s\n", "apple") == 6);
    check(pclose(command) == 0);"#,
    );
}

#[test]
fn commands_are_waited_for() {
    hunt_partly(
        r#"
    check(WEXITSTATUS(system("exit 3")) == 3);
    check(system(NULL) != 0);"#,
    );
}

#[test]
fn spawned_programs_are_waited_for() {
    hunt_partly(
        r#"
    pid_t child;
    siginfo_t info;
    char *words[] = {"sh", "-c", "exit 9", NULL};
    check(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0);
    check(waitid(P_PID, child, &info, WEXITED) == 0 && info.si_pid == child && info.si_status == 9);"#,
    );
}

#[test]
fn exec_ends_the_program() {
    hunt_partly(r#"execl("/bin/sh", "sh", "-c", "exit 0", NULL);"#);
}

#[test]
fn a_failed_exec_continues_the_program() {
    hunt_partly(
        r#"
    char *words[] = {"nothing", NULL};
    check(execv("/nonexistent/nothing", words) == -1);
    check(execl("/nonexistent/nothing", "1", "2", "3", "4", "5", "6", "7", "8", NULL) == -1);"#,
    );
}

#[test]
fn a_daemon_is_killed_at_the_end() {
    hunt_partly(
        r"
    check(daemon(0, 0) == 0);
    sleep(1000);",
    );
}

/// The program opens both ends. Another process might open one too, but that does not matter as long as none does.
#[test]
fn a_program_may_open_both_ends_of_a_fifo() {
    let writer = r#"
static void *write_to(void *path) {
    int end = open(path, O_WRONLY);
    check(end >= 0 && write(end, "z", 1) == 1);
    close(end);
    return NULL;
}
"#;
    let body = r#"
    char directory[] = "/tmp/fifo-XXXXXX", path[64], letter;
    pthread_t writer;
    check(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/fifo", directory);
    check(mkfifo(path, 0600) == 0);
    pthread_create(&writer, NULL, write_to, path);
    int end = open(path, O_RDONLY);
    check(end >= 0 && read(end, &letter, 1) == 1 && letter == 'z');
    check(read(end, &letter, 1) == 0);
    pthread_join(writer, NULL);
    unlink(path);
    rmdir(directory);"#;
    hunt(writer, body);
}
