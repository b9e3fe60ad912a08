//! A hunt claims only what it has seen. It names everything a program reaches that could hide something, with its
//! place, and then proves nothing; harmless functions have no effect.

use racehunter_e2e::{Hunted, Workshop};

/// All includes of the programs here, on the first line.
const HEADERS: &str = "#define _GNU_SOURCE\n#include <arpa/inet.h>\n#include <ctype.h>\n#include <errno.h>\n#include <fcntl.h>\n\
    #include <locale.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <sys/mman.h>\n#include <sys/random.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n#include <time.h>\n\
    #include <unistd.h>\n";

/// A program whose two threads run `work`, which is its first line; `main` runs `start` before.
fn program(globals: &str, work: &str, start: &str) -> String {
    format!(
        "{HEADERS}{globals}
#line 1 \"program.c\"
static void *work(void *p) {{ {work} return p; }}
int main(void) {{ {start}
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}}
"
    )
}

const OPTIONS: [&str; 6] = ["--analysis", "context-bound", "--bound", "1", "--runs", "400"];

#[track_caller]
fn hunt(globals: &str, work: &str, start: &str) -> Hunted {
    let (workshop, program) = Workshop::with_program(&program(globals, work, start));
    workshop.hunt(&program, &OPTIONS)
}

/// Returns what was not seen: its kind, its name, and the line.
fn reported(hunted: &Hunted) -> Vec<(String, String, u32)> {
    let all = hunted.summary().uncontrolled.iter();
    all.map(|what| (what.what.clone(), what.detail.clone(), what.line)).collect()
}

/// Checks that unseen behaviour of the threads is reported once, and nothing is proved.
#[track_caller]
fn loses_its_claim(globals: &str, work: &str, what: &str, detail: &str) {
    let hunted = hunt(globals, work, "");
    let summary = hunted.summary();
    let expected = (what.to_owned(), detail.to_owned(), 1);
    assert!(reported(&hunted).contains(&expected), "{work}: {:?}", reported(&hunted));
    assert!(!summary.complete && summary.finished, "{work}: {summary:?}");
    assert!(summary.guarantee.starts_with("all schedules with <= 1 preemption"), "{work}: {summary:?}");
}

/// Checks that the claim is kept: everything the threads do is seen, or hides nothing.
#[track_caller]
fn keeps_its_claim(globals: &str, work: &str, start: &str) {
    let hunted = hunt(globals, work, start).expect(0);
    assert!(reported(&hunted).is_empty() && hunted.summary().complete, "{work} {start}: {:?}", hunted.summary());
}

#[test]
fn unmodelled_state_inside_the_c_library_is_reported() {
    loses_its_claim("", "uselocale((locale_t)0);", "hidden-state", "`uselocale`");
    loses_its_claim("", "setlocale(LC_ALL, \"C\");", "hidden-state", "`setlocale`");
}

/// Checks that the threads race through the C library, at the line of the call.
#[track_caller]
fn races(globals: &str, work: &str, on: &str) {
    let hunted = hunt(globals, work, "").expect(1);
    let race = hunted.at("data-race", "program.c", 1);
    assert!(race.is_some_and(|race| race.message.contains(on)), "{work}: {:?}", hunted.overview());
    assert!(reported(&hunted).is_empty(), "{work}: {:?}", reported(&hunted));
}

#[test]
fn state_inside_the_c_library_is_an_object() {
    races("", "char text[] = \"a b\"; strtok(text, \" \");", "strtok (C library)");
    races("", "setenv(\"A\", \"b\", 1);", "environment (C library)");
    races("", "time_t t = 0; if (!localtime(&t)) abort();", "tm (C library)");
    // It has its own lock.
    keeps_its_claim("", "if (rand() < 0) abort();", "");
    // Two reads do not conflict.
    keeps_its_claim("", "if (!getenv(\"PATH\")) abort();", "");
}

#[test]
fn memory_that_the_c_library_accesses_is_seen() {
    races("int x[2];", "sscanf(\"7\", \"%d\", &x[p != 0]);", "x");
    races("struct stat s;", "stat(\"/\", &s);", "s");
    races("char d[99];", "if (!getcwd(d, sizeof d)) abort();", "d");
    races("char s[9]; char *volatile f = \"%s%n\"; int n;", "printf(f, s, &n);", "n");
    races("char s[9];", "s[1] = 0; printf(\"%.3s\\n\", s);", "s");
    races("char s[9];", "s[0] = 0; if (strstr(s, \"xyz\")) abort();", "s");
    keeps_its_claim(
        "char s[9] = \"x\"; char *volatile f = \"%s %.1s\";",
        "printf(f, s, s); if (strstr(s, \"xyz\")) abort();",
        "",
    );
}

#[test]
fn memory_that_the_c_library_accesses_unseen_is_reported() {
    loses_its_claim("char s[9]; wchar_t w[9];", "wcstombs(s, w, 9);", "unseen-memory", "`wcstombs`");
}

#[test]
fn thread_private_memory_keeps_the_claim() {
    keeps_its_claim("", "int x; sscanf(\"7\", \"%d\", &x); if (x != 7) abort();", "");
    keeps_its_claim("", "struct stat s; stat(\"/\", &s);", "");
    keeps_its_claim("", "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);", "");
    keeps_its_claim("", "char s[20]; snprintf(s, sizeof s, \"%.3s %d\", \"abcd\", 5); puts(s);", "");
}

#[test]
fn modelled_calls_keep_the_claim() {
    keeps_its_claim(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; char text[30]; int n;",
        "char *mine = strdup(\"abc\"); memset(mine, 'x', 2); pthread_mutex_lock(&m); strcpy(text, mine);
         n += (int)strlen(text) + atoi(text) + abs(-n) + isdigit(text[0]); strncat(text, \"yz\", 1);
         snprintf(text, sizeof text, \"%d %s\", n, mine); printf(\"%s %d %p\\n\", text, n, (void *)text); errno = 0;
         pthread_mutex_unlock(&m); free(mine); usleep(1); __asm__ volatile(\"\" ::: \"memory\"); __asm__ volatile(\"pause\");
         unsigned swapped = 1; __asm__(\"bswap %0\" : \"+r\"(swapped)); if (swapped != 0x1000000) abort();",
        "",
    );
}

#[test]
fn results_written_by_the_library_are_seen() {
    for (globals, work) in [
        ("char s[20];", "sprintf(s, \"%d\", 12345); if (s[3] == 'x') abort();"),
        ("time_t t;", "time(&t);"),
        ("struct timespec t;", "clock_gettime(CLOCK_REALTIME, &t);"),
        ("char s[9];", "stpcpy(s, \"hello\");"),
        ("char s[9];", "strncat(s, \"x\", 1);"),
        ("char s[9] = \"1\"; ", "s[0] = '0'; if (atoi(s) < 0) abort();"),
    ] {
        let hunted = hunt(globals, work, "");
        assert!(hunted.findings.iter().any(|finding| finding.kind == "data-race"), "{work}: {:?}", hunted.overview());
    }
}

#[test]
fn the_handle_of_a_thread_is_written() {
    let source = "#include <pthread.h>\npthread_t handle; pthread_t seen;\n\
        static void *work(void *p) { seen = handle; return p; }\n\
        int main(void) { pthread_create(&handle, 0, work, 0); pthread_join(handle, 0); return 0; }\n";
    let (workshop, program) = Workshop::with_program(source);
    let hunted = workshop.hunt(&program, &OPTIONS).expect(1);
    assert!(hunted.at("data-race", "program.c", 3).is_some(), "{:?}", hunted.overview());
}

#[test]
fn assembler_is_reported_with_its_place() {
    let fill =
        "void *d = &n; long c = 4; __asm__ volatile(\"rep stosb\" : \"+D\"(d), \"+c\"(c) : \"a\"(0) : \"memory\");";
    loses_its_claim("int n;", fill, "assembler", "`rep stosb`");
    let far = "__asm__(\"movl 4(%1), %0\" : \"=r\"(x) : \"r\"(n));";
    loses_its_claim("int n[2];", &format!("int x; {far} if (x) abort();"), "assembler", "`movl 4($1), $0`");
    keeps_its_claim("int n;", "__asm__ volatile(\"lock; incl %0\" : \"+m\"(n));", "");
    keeps_its_claim("int n;", "int x; __asm__(\"movl (%1), %0\" : \"=r\"(x) : \"r\"(&n)); if (x) abort();", "");
    races("int n;", "__asm__ volatile(\"incl %0\" : \"+m\"(n));", "n");
    let time = "unsigned a, d; __asm__ volatile(\"rdtsc\" : \"=a\"(a), \"=d\"(d));";
    loses_its_claim("", time, "random", "`rdtsc`");
    loses_its_claim("", "if (__builtin_ia32_rdtsc() == 0) abort();", "random", "`llvm.x86.rdtsc`");
}

#[test]
fn random_values_are_reported_wherever_they_are_read() {
    for (start, detail) in [
        ("char b[4]; if (getrandom(b, 4, 0) < 0) return 1;", "`getrandom`"),
        ("FILE *f = fopen(\"/dev/urandom\", \"r\"); if (!f) return 1; fclose(f);", "`fopen`"),
        ("int fd = open(\"/dev/urandom\", O_RDONLY); if (fd < 0) return 1; close(fd);", "`open`"),
        ("if (getpid() == 1) return 1;", "`getpid`"),
    ] {
        let hunted = hunt("", "", start).expect(0);
        assert_eq!(reported(&hunted), [("random".to_owned(), detail.to_owned(), 2)], "{start}");
        assert!(!hunted.summary().complete, "{start}");
    }
    keeps_its_claim("", "", "if (kill(getpid(), 0)) return 1;");
    let hunted = hunt("", "", "char b[4]; if (syscall(SYS_getrandom, b, 4, 0) < 0) return 1;").expect(0);
    assert_eq!(reported(&hunted), [("system-call".to_owned(), "system call 318".to_owned(), 2)]);
}

#[test]
fn single_threaded_startup_keeps_the_claim() {
    let start = "srand(1); char text[9] = \"a b\"; strtok(text, \" \"); getenv(\"HOME\"); char line[200];
        FILE *f = fopen(\"/etc/passwd\", \"r\"); if (!f || !fgets(line, sizeof line, f)) return 1; fclose(f);
        int x; if (sscanf(\"3\", \"%d\", &x) != 1) return 1; __asm__ volatile(\"cpuid\" : : \"a\"(0) : \"ebx\", \"ecx\", \"edx\");";
    // The processor may vary; nothing else does.
    let hunted = hunt("", "", start).expect(0);
    assert_eq!(
        reported(&hunted).iter().map(|item| item.0.as_str()).collect::<Vec<_>>(),
        ["random"],
        "{:?}",
        reported(&hunted)
    );
    keeps_its_claim("", "", start.split("__asm__").next().unwrap_or_default());
}

#[test]
fn files_only_read_or_only_written_keep_the_claim() {
    let quiet = [
        // Written only, by all of them.
        (
            "FILE *f;",
            "fprintf(f, \"x\\n\"); fflush(f);",
            "f = fopen(\"/dev/shm/rh-claims-a\", \"w\"); if (!f) return 1;",
        ),
        // Read only, each by its own descriptor.
        ("", "char c; int fd = open(\"/etc/passwd\", O_RDONLY); if (read(fd, &c, 1) < 0) abort(); close(fd);", ""),
        // One is read, another one written.
        (
            "FILE *f;",
            "fputs(\"x\", f);",
            "char l[9]; FILE *g = fopen(\"/etc/passwd\", \"r\"); if (!fgets(l, 9, g)) return 1; fclose(g);
             f = fopen(\"/dev/shm/rh-claims-b\", \"w\"); if (!f) return 1;",
        ),
        ("", "if (write(1, \"x\\n\", 2) != 2) abort(); fprintf(stderr, \"y\\n\");", ""),
    ];
    for (globals, work, start) in quiet {
        keeps_its_claim(globals, work, start);
    }
}

#[test]
fn memory_at_two_addresses_is_reported() {
    let twice = "int fd = memfd_create(\"m\", 0); if (ftruncate(fd, 4096)) return 1;
        a = mmap(0, 4096, 3, MAP_SHARED, fd, 0); b = mmap(0, 4096, 3, MAP_SHARED, fd, 0);";
    let hunted = hunt("char *a, *b;", "", twice);
    assert!(reported(&hunted).iter().any(|item| item.0 == "alias"), "{:?}", reported(&hunted));
    keeps_its_claim("char *a;", "", "a = mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);");
}

/// Uninstrumented code: a function that counts, called through another.
const LIBRARY: &str =
    "static int counter;\nint count(void) { return ++counter; }\nint (*pointer(void))(void) { return count; }\n";

#[test]
fn code_of_another_compiler_is_reported_by_name() {
    let globals = "int count(void); int (*pointer(void))(void); int (*called)(void);";
    for (build, by, detail) in [
        ("gcc -g -c library.c && racehunter-cc -g -O1 -pthread program.c library.o -o program", "count();", "`count`"),
        (
            "gcc -g -shared -fPIC library.c -o liblibrary.so
             racehunter-cc -g -O1 -pthread program.c -L. -llibrary -Wl,-rpath,'$ORIGIN' -o program",
            "count();",
            "`count` in liblibrary.so",
        ),
        (
            "gcc -g -shared -fPIC library.c -o liblibrary.so
             racehunter-cc -g -O1 -pthread program.c -L. -llibrary -Wl,-rpath,'$ORIGIN' -o program",
            "called();",
            "`count` in liblibrary.so",
        ),
        (
            "racehunter-cc -g -O1 -fno-sanitize=thread -c library.c
             racehunter-cc -g -O1 -pthread program.c library.o -o program",
            "count();",
            "`count`",
        ),
    ] {
        let workshop = Workshop::new();
        workshop.write("library.c", LIBRARY);
        workshop.write("program.c", &program(globals, by, "called = pointer();"));
        workshop.shell(build);
        let hunted = workshop.hunt(&workshop.path("program"), &OPTIONS).expect(0);
        let details: Vec<String> = reported(&hunted).into_iter().map(|item| item.1).collect();
        assert_eq!(details, [detail], "{build} {by}");
        assert!(!hunted.summary().complete, "{build}");
    }
    // The same, instrumented.
    for build in [
        "racehunter-cc -g -O1 -pthread program.c library.c -o program",
        "racehunter-cc -g -O1 -shared -fPIC library.c -o liblibrary.so
         racehunter-cc -g -O1 -pthread program.c -L. -llibrary -Wl,-rpath,'$ORIGIN' -o program",
    ] {
        let workshop = Workshop::new();
        workshop.write("library.c", LIBRARY);
        workshop.write("program.c", &program(globals, "count(); called();", "called = pointer();"));
        workshop.shell(build);
        let hunted = workshop.hunt(&workshop.path("program"), &OPTIONS).expect(1);
        assert!(reported(&hunted).is_empty(), "{build}: {:?}", reported(&hunted));
    }
}

#[test]
fn functions_without_instrumentation_are_reported() {
    let off = "__attribute__((no_sanitize(\"thread\"))) static int peek(int *p) { return *p; }";
    let hunted = hunt(&format!("int n;\n#line 7\n{off}"), "if (peek(&n)) abort();", "");
    assert_eq!(reported(&hunted), [("no-instrumentation".to_owned(), "`peek`".to_owned(), 7)]);
    assert!(!hunted.summary().complete);
}

#[test]
fn a_lost_claim_is_explained_in_words() {
    let source = program("", "uselocale((locale_t)0);", "");
    let (workshop, program) = Workshop::with_program(&source);
    let mut command = racehunter_e2e::racehunter(["hunt", "--quiet", "--require-complete"]);
    command.args(OPTIONS).arg("--out").arg(workshop.out()).arg(&program).env("COLUMNS", "400");
    let ended = racehunter_e2e::run(&mut command).expect(3);
    assert!(!ended.stdout.contains("Proved"), "{}", ended.stdout);
    let line = ended.stdout.lines().find(|line| line.contains("Explored")).unwrap_or_default();
    assert!(line.contains("all schedules with <= 1 preemption over "), "{line}");
    assert!(line.contains("; not seen: `uselocale` (hidden state) at "), "{line}");
    assert!(line.ends_with("program.c:1"), "{line}");
    assert!(!ended.stdout.contains("Outside"), "{}", ended.stdout);
}

#[test]
fn merged_parts_keep_what_was_not_seen() {
    let source = program("", "uselocale((locale_t)0);", "");
    let (workshop, program) = Workshop::with_program(&source);
    let names = ["one", "two"];
    for (number, name) in (1..).zip(names) {
        let out = workshop.path(name);
        let part = format!("{number}/2");
        let mut command = racehunter_e2e::racehunter(["hunt", "--quiet", "--partition", &part, "--out"]);
        racehunter_e2e::run(command.arg(out).args(&OPTIONS[..4]).arg(&program)).expect(0);
    }
    let merged = workshop.merge(&names, &["--require-complete"]).expect(3);
    assert!(reported(&merged).iter().any(|item| item.1 == "`uselocale`"), "{:?}", merged.summary());
    assert!(merged.summary().finished && !merged.summary().complete, "{:?}", merged.summary());
}

#[test]
fn a_claim_names_its_assumptions() {
    let assumes = |work: &str| hunt("", work, "").expect(0).summary().assumes.clone();
    let has = |all: &[String], what: &str| all.iter().any(|line| line == what);
    let (freed, time) = ("freed memory is not handed out again at once", "time passes only as the schedule says");
    let both = assumes("char *volatile m = malloc(3); free(m); struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);");
    assert!(has(&both, freed) && has(&both, time), "{both:?}");
    let neither = assumes("");
    assert!(!has(&neither, freed) && !has(&neither, time), "{neither:?}");
}

#[track_caller]
fn hunt_cxx(source: &str) -> Hunted {
    let workshop = Workshop::new();
    workshop.write("program.cpp", source);
    workshop.shell("racehunter-c++ -g -O1 -pthread program.cpp -o program");
    workshop.hunt(&workshop.path("program"), &OPTIONS)
}

#[test]
fn strings_of_cxx_are_seen() {
    let racy = "#include <string>\n#include <thread>\nstd::string s;\nint main() {\n  std::thread a([] { s += \"hello\"; });\n\
        \x20 s += \"world\";\n  a.join();\n}\n";
    let hunted = hunt_cxx(racy).expect(1);
    assert!(hunted.at("data-race", "program.cpp", 6).is_some(), "{:?}", hunted.overview());
    let fine = "#include <condition_variable>\n#include <mutex>\n#include <stdexcept>\n#include <string>\n#include <thread>\n\
        #include <vector>\nstd::mutex m; std::condition_variable c; std::vector<std::string> v;\n\
        void add(const char *what) { std::lock_guard<std::mutex> lock(m); v.push_back(std::string(what) + \" and more than \
        fits\"); c.notify_all(); }\n\
        int main() { std::thread a(add, \"one\"); { std::unique_lock<std::mutex> lock(m); c.wait(lock, [] { return \
        !v.empty(); }); }\n try { throw std::runtime_error(\"o\"); } catch (const std::exception &e) { a.join(); return \
        e.what()[0] != 'o'; } }\n";
    let hunted = hunt_cxx(fine).expect(0);
    assert!(reported(&hunted).is_empty() && hunted.summary().complete, "{:?}", hunted.summary());
}

#[test]
fn hidden_accesses_of_the_cxx_library_are_reported() {
    let source = "#include <charconv>\n#include <mutex>\n#include <thread>\nstd::mutex m; double value;\n\
        void read() { std::lock_guard<std::mutex> lock(m); const char text[] = \"1.5\"; std::from_chars(text, text + 3, value); }\n\
        int main() { std::thread a(read), b(read); a.join(); b.join(); }\n";
    let hunted = hunt_cxx(source).expect(0);
    let is_it = |item: &(String, String, u32)| item.0 == "library" && item.1.contains("std::from_chars");
    assert!(reported(&hunted).iter().any(is_it) && !hunted.summary().complete, "{:?}", reported(&hunted));
}

#[test]
fn what_the_cxx_library_does_to_nodes_is_seen() {
    let source = "#include <map>\n#include <mutex>\n#include <thread>\nstd::mutex m; std::map<int, int> map;\n\
        void add(int n) { std::lock_guard<std::mutex> lock(m); map[n] = n; }\n\
        int main() { std::thread a(add, 1), b(add, 2); a.join(); b.join(); }\n";
    let hunted = hunt_cxx(source).expect(0);
    assert!(hunted.summary().complete, "{:?}", hunted.overview());
}

#[test]
fn threads_may_share_the_standard_streams() {
    let source = "#include <iostream>\n#include <thread>\nvoid say(int n) { std::cout << \"number \" << n << std::endl; }\n\
        int main() { std::thread a(say, 1), b(say, 2); a.join(); b.join(); }\n";
    let hunted = hunt_cxx(source).expect(0);
    assert!(hunted.findings.is_empty(), "{:?}", hunted.overview());
}
