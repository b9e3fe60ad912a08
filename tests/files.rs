//! Files are state like memory, and each execution has its own.

use racehunter_e2e::{Hunted, Workshop};

/// Two threads that run `work` on a file that is there before, with "0" in it; `end` is what `main` does afterwards.
fn program(work: &str, end: &str) -> String {
    format!(
        "#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static void *work(void *p) {{ {work} return p; }}
int main(void) {{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    {end}
    return 0;
}}
"
    )
}

/// A workshop with such a program, which runs in a directory with a file `number`.
struct Case {
    workshop: Workshop,
    program: std::path::PathBuf,
}

impl Case {
    fn new(work: &str, end: &str) -> Self {
        let (workshop, program) = Workshop::with_program(&program(work, end));
        workshop.write("number", "0");
        Self { workshop, program }
    }

    fn hunt(&self, options: &[&str]) -> Hunted {
        let usual = ["--analysis", "context-bound", "--bound", "2", "--runs", "600"];
        let mut command = self.workshop.hunt_command(&self.program, &[&usual[..], options].concat());
        Hunted::new(racehunter_e2e::tool::run(command.current_dir(self.workshop.path("."))))
    }

    fn number(&self) -> String {
        std::fs::read_to_string(self.workshop.path("number")).expect("the file is there")
    }
}

/// Reads the number, then writes one more.
const ADD: &str = "char text[9] = \"\"; int fd = open(\"number\", O_RDWR); assert(pread(fd, text, 8, 0) > 0);
    int length = sprintf(text, \"%d\", atoi(text) + 1); assert(pwrite(fd, text, length, 0) > 0); close(fd);";
const CHECK: &str =
    "char text[9] = \"\"; int fd = open(\"number\", O_RDONLY); assert(read(fd, text, 8) > 0); assert(atoi(text) == 2);";

#[test]
fn an_update_of_a_file_is_lost_and_the_file_is_as_it_was() {
    let case = Case::new(ADD, CHECK);
    let hunted = case.hunt(&[]).expect(1);
    let [finding] = &hunted.findings[..] else { panic!("{:?}", hunted.overview()) };
    assert_eq!(finding.kind, "assertion");
    assert_eq!(case.number(), "0");
}

#[test]
fn under_a_lock_it_is_proved_with_both_kinds_of_threads() {
    let work = format!(
        "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); {ADD} pthread_mutex_unlock(&m);"
    );
    let case = Case::new(&work, CHECK);
    for backend in ["fibers", "threads"] {
        let hunted = case.hunt(&["--backend", backend]).expect(0);
        assert!(hunted.summary().complete, "{backend}: {:?}", hunted.summary());
        assert_eq!(case.number(), "0");
    }
}

/// Runs a command that may not leave its namespaces, as in many containers.
const REFUSE: &str = "
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (count < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
    execv(words[1], words + 1);
    return 1;
}
";

#[test]
fn what_other_executions_have_left_is_no_finding() {
    let case = Case::new("", "int fd = open(\"left\", O_CREAT | O_EXCL | O_WRONLY, 0600); assert(fd >= 0);");
    assert!(case.hunt(&[]).expect(0).summary().complete);
    case.workshop.write("refuse.c", REFUSE);
    case.workshop.shell("gcc refuse.c -o refuse");
    let hunt = case.workshop.hunt_command(&case.program, &["--analysis", "random", "--runs", "9"]);
    let mut refused = std::process::Command::new(case.workshop.path("refuse"));
    refused.arg(hunt.get_program()).args(hunt.get_args()).current_dir(case.workshop.path("."));
    let hunted = Hunted::new(racehunter_e2e::tool::run(&mut refused)).expect(3);
    assert!(
        hunted.findings.iter().all(|finding| !finding.confirmed) && !hunted.summary().complete,
        "{:?}",
        hunted.overview()
    );
}

#[test]
fn shared_files_are_changed_and_take_the_claim_away() {
    let case = Case::new("if (access(\"made\", F_OK)) close(open(\"made\", O_CREAT | O_WRONLY, 0600));", "");
    let hunted = case.hunt(&[]).expect(0);
    assert!(hunted.summary().complete && !case.workshop.path("made").exists(), "{:?}", hunted.summary());
    let hunted = case.hunt(&["--shared-files"]).expect(0);
    let told: Vec<_> = hunted.summary().uncontrolled.iter().map(|told| told.what.as_str()).collect();
    assert!(told.contains(&"kernel-state") && !hunted.summary().complete, "{:?}", hunted.summary());
    assert!(case.workshop.path("made").exists());
}

#[test]
fn what_is_open_already_shows_the_change_and_names_are_the_same_each_time() {
    // A descriptor that was opened before, a directory that is the working directory, and a temporary file.
    let start = "int early = open(\"number\", O_RDONLY), late = open(\"number\", O_WRONLY); char c, name[] = \"tXXXXXX\", twice[99];
        assert(pwrite(late, \"7\", 1, 0) == 1 && pread(early, &c, 1, 0) == 1 && c == '7');
        assert(mkstemp(name) >= 0 && access(name, F_OK) == 0 && getcwd(twice, sizeof twice));
        assert(mkdir(\"inner\", 0700) == 0 && chdir(\"inner\") == 0 && access(\"../number\", F_OK) == 0);";
    let case = Case::new("", start);
    let hunted = case.hunt(&[]).expect(0);
    assert!(hunted.summary().complete, "{:?}", hunted.summary());
    assert!(!case.workshop.path("inner").exists());
    assert_eq!(case.number(), "0");
}
