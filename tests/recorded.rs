//! `record` and `predict` on executions that fail, that reach what a trace does not have, and that copy what they have read.

use crate::predict::{predict, program, record};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, racehunter, run};

/// Two threads whose critical sections a System V semaphore separates, of which there is no model.
const SYSTEM_V: &str = r"
#include <pthread.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int semaphore, guarded;

static void change(short by) {
    struct sembuf operation = {0, by, 0};
    semop(semaphore, &operation, 1);
}

static void *work(void *unused) {
    change(-1);
    guarded++;
    change(1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    change(1);
    for (int number = 0; number < 2; number++)
        pthread_create(&threads[number], NULL, work, NULL);
    for (int number = 0; number < 2; number++)
        pthread_join(threads[number], NULL);
    semctl(semaphore, 0, IPC_RMID);
    return guarded != 2;
}
";

#[test]
fn predictions_that_may_be_false_are_not_findings() {
    let workshop = Workshop::new();
    let program = program(&workshop, "system_v", SYSTEM_V);
    let trace = record(&program, &[]);
    let only = predict(&workshop, &[&text(&trace)], 3);
    assert!(!only.findings.is_empty());
    assert_eq!(only.summary["complete"], false);
    let unseen = only.summary["unseen"].to_string();
    assert!(unseen.contains("`semop`"), "{unseen}");
    let unclear = only.summary["unclear"].to_string();
    assert!(unclear.contains("predictions may be false") && unclear.contains("`semop`"), "{unclear}");
}

/// Each thread has a descriptor of its own, and both get the same number.
const DESCRIPTORS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *work(void *unused) {
    int file = open("/dev/null", O_RDWR);
    close(file);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int number = 0; number < 2; number++)
        pthread_create(&threads[number], NULL, work, NULL);
    for (int number = 0; number < 2; number++)
        pthread_join(threads[number], NULL);
    return 0;
}
"#;

#[test]
fn numbers_of_descriptors_are_no_memory() {
    let workshop = Workshop::new();
    let trace = record(&program(&workshop, "descriptors", DESCRIPTORS), &[]);
    assert_eq!(predict(&workshop, &[&text(&trace)], 0).findings.len(), 0);
}

/// What the recorded execution itself shows must not be passed over: here by its exit status, a deadlock, a use of freed memory
/// or a misuse of a mutex.
#[test]
fn a_recorded_failure_is_a_finding() {
    let body = |statement: &str| {
        let includes = "#include <pthread.h>\n#include <stdlib.h>\n";
        let globals =
            "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int *block;\nstatic int status;\n";
        let thread = format!("static void *work(void *unused) {{ {statement} return unused; }}\n");
        let main = "int main(void) { pthread_t thread; block = malloc(4); free(block); pthread_create(&thread, NULL, work, \
                    NULL); pthread_join(thread, NULL); return status; }\n";
        [includes, globals, &thread, main].concat()
    };
    let cases = [
        ("status", "status = 3;", "exit-status", 3),
        ("deadlock", "pthread_mutex_lock(&lock); pthread_mutex_lock(&lock);", "deadlock", 3),
        ("misuse", "pthread_mutex_unlock(&lock);", "misuse", 3),
        // A trace does not say which memory was freed when it is used.
        ("freed", "*(volatile int *)block = 1;", "use-after-free", 0),
        ("harmless", "status = 0;", "", 0),
    ];
    for (name, statement, kind, status) in cases {
        let workshop = Workshop::new();
        let program = program(&workshop, name, &body(statement));
        let tried = predict(&workshop, &[&text(&program)], i32::from(!kind.is_empty()));
        let found: Vec<&str> = tried.findings.iter().filter_map(|finding| finding["kind"].as_str()).collect();
        assert_eq!(found, if kind.is_empty() { vec![] } else { vec![kind] }, "{name}");

        let trace = program.with_extension("rht");
        run(racehunter(["record", "-o"]).arg(&trace).arg(&program)).expect(status);
        let only = predict(&workshop, &[&text(&trace)], status);
        assert_eq!((only.findings.len(), only.summary["failed"].is_string()), (0, status == 3), "{name}");
    }
    let workshop = Workshop::new();
    let program = program(&workshop, "status", &body("status = 3;"));
    predict(&workshop, &["--allow-exit-status=3", &text(&program)], 0);
}

/// A read that decides through memory of its thread which is not in the log: copies of structures, arguments and results by
/// value, a comparison of bytes, a block that moves.
#[test]
fn copies_keep_what_they_depend_on() {
    let start = "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\nstruct four { int a, b, c, d; };\nstatic struct four \
                 shared;\nstatic char text[8];\nstatic int hidden;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
                 static struct four locked(void) { pthread_mutex_lock(&lock); struct four all = shared; \
                 pthread_mutex_unlock(&lock); return all; }\nstatic int third(struct four all) { return all.c; }\nstruct six { long \
                 a, b, c, d, e, f; };\n__attribute__((noinline)) static struct six made(int c) { struct six all = {1, 2, c, 4, 5, 6}; \
                 return all; }\n__attribute__((noinline)) static int third_of_six(struct six all) { return all.c; }\n\
                 __attribute__((noinline)) static void put(char *to, int value) { to[0] = value; to[1] = 0; }\n";
    let write = "static void *first(void *unused) { hidden = 1; pthread_mutex_lock(&lock); shared.c = 1; strcpy(text, \"go\"); \
                 pthread_mutex_unlock(&lock); return unused; }\n";
    let end = "int main(void) { pthread_t threads[2]; pthread_create(&threads[0], NULL, first, NULL); \
               pthread_create(&threads[1], NULL, second, NULL); pthread_join(threads[0], NULL); pthread_join(threads[1], NULL); \
               return 0; }\n";
    let guards = [
        ("assigned", "struct four all = locked(); struct four again = all; int seen = again.c;"),
        ("moved", "struct four all = locked(); struct four *at = &all; memmove(&at->a, &at->c, 4); int seen = all.a;"),
        ("passed", "struct four all = locked(); int seen = third(all);"),
        (
            "compared",
            "char own[3]; pthread_mutex_lock(&lock); memcpy(own, text, 3); pthread_mutex_unlock(&lock); int seen = \
             !memcmp(own, \"go\", 3);",
        ),
        ("returned and passed", "int seen = third_of_six(made(locked().c));"),
        ("read by the C library", "char own[2]; put(own, locked().c); int seen = strlen(own) > 0;"),
        ("resized", "int *block = malloc(4); *block = locked().c; block = realloc(block, 64); int seen = *block;"),
    ];
    for (name, guard) in guards {
        let second = format!("static void *second(void *unused) {{ {guard} if (seen) hidden++; return unused; }}\n");
        for level in ["-O0", "-O1", "-O2"] {
            let workshop = Workshop::new();
            let source = workshop.write("guarded.c", &[start, write, &second, end].concat());
            let program = workshop.path("guarded");
            workshop.cc(["-g", level, "-pthread", &text(&source), "-o", &text(&program)]).expect(0);
            let trace = record(&program, &[]);
            assert_eq!(predict(&workshop, &[&text(&trace)], 0).findings.len(), 0, "{name} {level}");
        }
    }
}
