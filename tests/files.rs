//! Files are state like memory, and each execution has its own view of them.

use racehunter_e2e::{Hunted, Workshop};

/// Two threads that run `work` on an existing file with "0" in it; `main` runs `end` afterwards.
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
        std::fs::read_to_string(self.workshop.path("number")).expect("the file exists")
    }
}

/// Reads the number, then writes one more.
const ADD: &str = "char text[9] = \"\"; int fd = open(\"number\", O_RDWR); assert(pread(fd, text, 8, 0) > 0);
    int length = sprintf(text, \"%d\", atoi(text) + 1); assert(pwrite(fd, text, length, 0) > 0); close(fd);";
const CHECK: &str =
    "char text[9] = \"\"; int fd = open(\"number\", O_RDONLY); assert(read(fd, text, 8) > 0); assert(atoi(text) == 2);";

#[test]
fn a_lost_update_of_a_file_is_found_and_the_file_is_unchanged() {
    let case = Case::new(ADD, CHECK);
    let hunted = case.hunt(&[]).expect(1);
    let [finding] = &hunted.findings[..] else { panic!("{:?}", hunted.overview()) };
    assert_eq!(finding.kind, "assertion");
    assert_eq!(case.number(), "0");
}

#[test]
fn an_update_under_a_lock_is_proved_on_both_backends() {
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

#[test]
fn files_left_by_other_executions_are_not_a_finding() {
    let case = Case::new("", "int fd = open(\"left\", O_CREAT | O_EXCL | O_WRONLY, 0600); assert(fd >= 0);");
    assert!(case.hunt(&[]).expect(0).summary().complete);
    // The hunt may not leave its namespaces, as in many containers.
    let hunt = case.workshop.hunt_command(&case.program, &["--analysis", "random", "--runs", "9"]);
    let hunted = Hunted::new(case.workshop.run(&mut case.workshop.refusing("SYS_unshare", &hunt))).expect(3);
    assert!(
        hunted.findings.iter().all(|finding| !finding.confirmed) && !hunted.summary().complete,
        "{:?}",
        hunted.overview()
    );
}

#[test]
fn shared_files_are_changed_and_rule_out_a_claim() {
    let case = Case::new("if (access(\"made\", F_OK)) close(open(\"made\", O_CREAT | O_WRONLY, 0600));", "");
    let hunted = case.hunt(&[]).expect(0);
    assert!(hunted.summary().complete && !case.workshop.path("made").exists(), "{:?}", hunted.summary());
    let hunted = case.hunt(&["--shared-files"]).expect(0);
    let kinds: Vec<_> = hunted.summary().uncontrolled.iter().map(|item| item.what.as_str()).collect();
    assert!(kinds.contains(&"kernel-state") && !hunted.summary().complete, "{:?}", hunted.summary());
    assert!(case.workshop.path("made").exists());
}

#[test]
fn open_files_show_changes_and_temporary_names_repeat() {
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

#[test]
fn existing_files_can_be_moved_and_keep_their_identity() {
    // Between directories, a directory, a copy by the kernel, and the inode number of a file before and after its first
    // change.
    let end = "struct stat before, after; int old = open(\"number\", O_RDONLY), new = open(\"new\", O_CREAT | O_RDWR, 0600);
        assert(fstat(old, &before) == 0 && copy_file_range(old, 0, new, 0, 1, 0) == 1);
        int late = open(\"number\", O_WRONLY | O_APPEND); assert(write(late, \"1\", 1) == 1 && stat(\"number\", &after) == 0);
        assert(before.st_ino == after.st_ino && before.st_dev == after.st_dev);
        assert(rename(\"one/file\", \"two/file\") == 0 && rename(\"one\", \"three\") == 0 && access(\"three\", F_OK) == 0);";
    let case = Case::new("", end);
    case.workshop.write("one/file", "a");
    case.workshop.write("two/other", "b");
    let hunted = case.hunt(&[]).expect(0);
    assert!(hunted.findings.is_empty(), "{:?}", hunted.overview());
    assert!(case.workshop.path("one/file").exists() && !case.workshop.path("two/file").exists());
    assert_eq!(case.number(), "0");
}

#[test]
fn nothing_is_claimed_about_a_file_with_two_names() {
    let end = "int one = open(\"number\", O_WRONLY), other = open(\"second\", O_RDONLY); char c;
        assert(write(one, \"7\", 1) == 1 && read(other, &c, 1) == 1);";
    let case = Case::new("", end);
    std::fs::hard_link(case.workshop.path("number"), case.workshop.path("second")).expect("a second name");
    let hunted = case.hunt(&[]);
    let details: Vec<_> = hunted.summary().uncontrolled.iter().map(|item| item.detail.as_str()).collect();
    assert!(details.contains(&"links") && !hunted.summary().complete, "{:?}", hunted.summary());
    assert_eq!(case.number(), "0");
}

#[test]
fn files_created_by_system_calls_are_removed_too() {
    let end = "assert(syscall(SYS_openat, AT_FDCWD, \"made\", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0);";
    let case = Case::new("", &end.replace("SYS_openat", "257"));
    let hunted = case.hunt(&[]);
    assert!(hunted.findings.is_empty() && !case.workshop.path("made").exists(), "{:?}", hunted.overview());
}

/// A server at a fixed port, and its client.
const SERVER: &str = "
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = 0x1187, .sin_addr = {0x0100007f}};
static void *client(void *p) {
    int s = socket(AF_INET, SOCK_STREAM, 0); char c = 1;
    if (connect(s, (void *)&place, sizeof place)) return (void *)1;
    write(s, &c, 1); read(s, &c, 1); close(s); return p;
}
int main(void) {
    int door = socket(AF_INET, SOCK_STREAM, 0); char c; pthread_t thread; void *failed;
    if (bind(door, (void *)&place, sizeof place)) { perror(\"bind\"); return 1; }
    listen(door, 4);
    pthread_create(&thread, 0, client, 0);
    int s = accept(door, 0, 0); read(s, &c, 1); write(s, &c, 1); close(s);
    pthread_join(thread, &failed);
    return failed != 0;
}
";

#[test]
fn each_execution_has_its_own_ports() {
    // Another program has the port, and the server closes its connections first, which keeps a port busy for a minute.
    let taken = std::net::TcpListener::bind("127.0.0.1:34577").expect("the port is free");
    let (workshop, program) = Workshop::with_program(SERVER);
    let options = ["--analysis", "random", "--runs", "30", "--jobs", "2"];
    let hunted = workshop.hunt(&program, &options).expect(0);
    assert!(hunted.findings.is_empty(), "{:?}", hunted.overview());
    // It cannot bind the port of the machine, and so does not reach its first thread.
    let _ = workshop.hunt(&program, &[&options[..], &["--shared-network"]].concat()).expect(4);
    drop(taken);
    // Without namespaces, it is not a finding.
    let hunt = workshop.hunt_command(&program, &options);
    let hunted = Hunted::new(workshop.run(&mut workshop.refusing("SYS_unshare", &hunt)));
    assert!(hunted.findings.iter().all(|finding| !finding.confirmed), "{:?}", hunted.overview());
    assert!(!hunted.summary().complete, "{:?}", hunted.summary());
}
