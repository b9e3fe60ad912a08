//! `racehunter scan`: verdicts about programs for each construct that it understands, each with a race and without.
//! `targets.rs` scans the programs below `targets/`, because it builds them.

use libtest_mimic::{Arguments, Trial};
use racehunter_e2e::{Workshop, schema, tool};
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(what) = tool::find() {
        eprintln!("{what}");
        return ExitCode::FAILURE;
    }
    let about_programs = programs().into_iter().map(|program| {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("program/{name}"), move || {
            check(&program);
            Ok(())
        })
    });
    let others = OTHERS.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), about_programs.chain(others).collect()).exit_code()
}

/// The tests that do not concern one program.
const OTHERS: [(&str, fn()); 14] = [
    ("contract", contract),
    ("several_sources", several_sources),
    ("at_the_same_time", at_the_same_time),
    ("mutants", mutants),
    ("formats", formats),
    ("witnesses", witnesses),
    ("linux", linux),
    ("models", models),
    ("guesses", guesses),
    ("calls_keep_locks", calls_keep_locks),
    ("tasks", tasks),
    ("no_object", no_object),
    ("wrong_files", wrong_files),
    ("figures", figures),
];

/// Racy programs with code that the analysis does not understand: it says so, and proves nothing.
const GAPS: [&str; 5] =
    ["called_once_again.c", "checking_mutex.c", "closed_pipe.c", "number_pointer.c", "overwritten_semaphore.c"];

/// Racy programs in which the analysis suspects the cause, and an execution shows another pair that follows from it: a thread
/// uses a local variable after its lifetime (`ended_local.c`), or a mutex that is initialised again lets two threads in
/// (`initialised_again.c`).
const CONSEQUENCES: [&str; 2] = ["ended_local.c", "initialised_again.c"];

/// Returns the programs. The first line of each states the expected verdict.
fn programs() -> Vec<PathBuf> {
    let directory = tool::root().join("tests/programs/scan");
    let entries = std::fs::read_dir(&directory).expect("the programs exist");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("can be read").path()).collect();
    all.sort();
    assert!(all.len() > 40);
    all
}

/// Returns the output of a scan, line by line; the verdict is the last one.
fn scan(workshop: &Workshop, files: &[&Path], options: &[&str]) -> Vec<Value> {
    let out = workshop.out().display().to_string();
    let mut words: Vec<String> = ["scan", "--message-format", "json", "--out", &out].map(str::to_owned).to_vec();
    words.extend(options.iter().map(|&option| option.to_owned()));
    words.extend(files.iter().map(|file| file.display().to_string()));
    let ended = workshop.run(&mut tool::racehunter(&words));
    let lines = ended.stdout.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let verdict = lines.last().unwrap_or_else(|| panic!("{ended:?}"));
    assert_eq!(verdict["reason"], "verdict", "{verdict}");
    let expected = i32::from(verdict["verdict"] == "race");
    ended.expect(expected);
    lines
}

/// Returns the verdict of a scan.
fn verdict(workshop: &Workshop, files: &[&Path], options: &[&str]) -> Value {
    scan(workshop, files, options).pop().expect("`scan` checks that there is one")
}

/// Returns the pairs of lines with this reason: `candidate` or `finding`.
fn pairs(lines: &[Value], reason: &str) -> HashSet<[u64; 2]> {
    let pair = |line: &Value| {
        let place = |index: usize| line["sites"][index]["line"].as_u64().expect("a race has two places");
        let mut pair = [place(0), place(1)];
        pair.sort_unstable();
        pair
    };
    // An access that races with `free` is reported as a use after it.
    let is_race = |line: &&Value| {
        let kind = line["kind"].as_str();
        line["reason"] == reason && (reason == "candidate" || matches!(kind, Some("data-race" | "use-after-free")))
    };
    lines.iter().filter(is_race).map(pair).collect()
}

fn check(program: &Path) {
    let text = std::fs::read_to_string(program).expect("can be read");
    let expected = text.lines().next().and_then(|line| line.strip_prefix("// verdict: ")).expect("the first line says");
    let mut words = expected.split(' ');
    let (word, tier) = (words.next().unwrap_or_default(), words.next());
    let workshop = Workshop::new();
    let lines = scan(&workshop, &[program], &["--time", "20s"]);
    let said = lines.last().expect("`scan` checks that there is one");
    assert_eq!(said["verdict"], word, "{said}");
    if let Some(tier) = tier {
        assert_eq!(said["tier"], tier, "{said}");
    }
    match word {
        "race-free" => attack(&workshop, program),
        "race" => {
            check_suspicions(&program.file_name().unwrap_or_default().to_string_lossy(), &lines);
            // The verdict from the code alone is never the opposite.
            let alone = verdict(&workshop, &[program], &["--approx", "over"]);
            assert_eq!(alone["verdict"], "unknown", "{alone}");
        }
        _ => {}
    }
}

/// Checks that the analysis of the code suspected what an execution shows, unless it says that it does not understand all of
/// the code.
fn check_suspicions(name: &str, lines: &[Value]) {
    let said = lines.last().expect("a verdict");
    assert_eq!(said["gaps"].as_u64() > Some(0), GAPS.contains(&name), "{said}");
    if GAPS.contains(&name) {
        return;
    }
    let (suspected, shown) = (pairs(lines, "candidate"), pairs(lines, "finding"));
    assert!(!shown.is_empty() && !suspected.is_empty(), "shown {shown:?}, suspected {suspected:?}");
    let all = shown.is_subset(&suspected);
    assert_eq!(all, !CONSEQUENCES.contains(&name), "lines {shown:?} race, and {suspected:?} were suspected");
}

/// Checks that no schedule tried shows a race.
fn attack(workshop: &Workshop, program: &Path) {
    let hunted = workshop.hunt(program, &["--runs", "40", "--jobs", "1"]);
    let races: Vec<_> = hunted.findings.iter().filter(|finding| finding.kind == "data-race").collect();
    assert!(races.is_empty(), "{races:?}");
}

/// Without a lock, or without a join, the proof fails, and executions show why.
fn mutants() {
    let mut taken = 0;
    for name in ["mutex", "join", "rwlock"] {
        let path = tool::root().join(format!("tests/programs/scan/{name}.fixed.c"));
        let text = std::fs::read_to_string(path).expect("can be read");
        for mutant in racehunter_e2e::mutants::mutants(&text) {
            let workshop = Workshop::new();
            let source = workshop.write("mutant.c", &mutant.text);
            let said = verdict(&workshop, &[&source], &["--approx", "over"]);
            if said["verdict"] == "race-free" {
                attack(&workshop, &source);
                continue;
            }
            let said = verdict(&workshop, &[&source], &["--time", "20s"]);
            assert_eq!(said["verdict"], "race", "{name} without {}: {said}", mutant.what);
            taken += 1;
        }
    }
    assert!(taken >= 3, "{taken} mutants have a race");
}

const RACE: &str = "#include <pthread.h>\nint x;\nvoid *f(void *a) { x++; return 0; }\nint main(void) { pthread_t t; \
    pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); return 0; }\n";

/// The output that scripts depend on.
fn contract() {
    let (workshop, source) = Workshop::with_program(RACE);
    let out = workshop.out().display().to_string();
    let path = source.display().to_string();
    let words = ["scan", "--svcomp", "--out", &out, &path];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(1);
    assert_eq!(ended.stdout.lines().last(), Some("FALSE(no-data-race)"));
    let words = ["scan", "--svcomp", "--approx", "over", "--out", &out, &path];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
    assert_eq!(ended.stdout.lines().last(), Some("UNKNOWN"));
    let words = ["scan", "--require-complete", "--approx", "over", "--out", &out, &path];
    workshop.run(&mut tool::racehunter(words)).expect(3);
    // The limit ends before the compilation, so nothing was examined.
    let late = workshop.write("late.c", RACE).display().to_string();
    let words = ["scan", "--time", "1ms", "--out", &out, &late];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(3);
    assert!(ended.stdout.contains("--time"), "{}", ended.stdout);
    let free = workshop.write("free.c", &RACE.replace("x++; pthread_join", "pthread_join"));
    let free = free.display().to_string();
    let words = ["scan", "--svcomp", "--out", &out, &free];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
    assert_eq!(ended.stdout.lines().last(), Some("TRUE"));
    // The race is stored, and replays.
    let words = ["scan", "--message-format", "json", "--out", &out, &path];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(1);
    let finding =
        ended.stdout.lines().find(|line| line.contains("\"finding\"")).expect("the race is reported").to_owned();
    let finding: Value = serde_json::from_str(&finding).expect("JSON");
    workshop.replay(finding["id"].as_str().expect("it has an id")).expect(0);
}

/// Concurrent scans of one file in one directory do not remove each other's program while it is being made.
fn at_the_same_time() {
    let workshop = Workshop::new();
    let source = workshop.write("program.c", RACE);
    std::thread::scope(|scope| {
        let scans: Vec<_> =
            (0..8).map(|_| scope.spawn(|| verdict(&workshop, &[&source], &["--time", "20s"]))).collect();
        for scan in scans {
            let said = scan.join().expect("it ends");
            assert_eq!(said["verdict"], "race", "{said}");
        }
    });
}

/// The threads are in one file and the variable in another.
fn several_sources() {
    let (workshop, _) = Workshop::with_program(RACE);
    let one =
        workshop.write("one.c", &RACE.replace("int x;", "extern int x; void add(void);").replace("{ x++;", "{ add();"));
    let two = workshop.write("two.c", "int x;\nvoid add(void) { x++; }\n");
    let said = verdict(&workshop, &[&one, &two], &[]);
    assert_eq!(said["verdict"], "race", "{said}");
    // A file without any code is part of the program too.
    let variables = workshop.write("variables.c", "int x;\n");
    let add = workshop.write("add.c", "extern int x;\nvoid add(void) { x++; }\n");
    let said = verdict(&workshop, &[&one, &add, &variables], &["--approx", "over"]);
    assert_eq!((said["gaps"].as_u64(), said["candidates"].as_u64() > Some(0)), (Some(0), true), "{said}");
    let alone = verdict(&workshop, &[&one], &["--approx", "over"]);
    assert!(alone["why"].as_str().is_some_and(|why| why.contains("add")), "{alone}");
    // The constructors of all files run before there are threads, unless one of them creates some.
    let before =
        "#include <pthread.h>\nextern int x;\n__attribute__((constructor)) static void begin(void) { x = 1; }\n";
    let first = workshop.write("first.c", before);
    let second = workshop.write("second.c", &before.replace("x = 1", "x++"));
    let main = workshop.write("main.c", &RACE.replace("x++; pthread_join", "pthread_join"));
    let said = verdict(&workshop, &[&first, &second, &main], &["--approx", "over"]);
    assert_eq!(said["verdict"], "race-free", "{said}");
    let early = "void *f(void *); pthread_t t; pthread_create(&t, 0, f, 0)";
    let first = workshop.write("first.c", &before.replace("x = 1", early));
    let said = verdict(&workshop, &[&first, &second, &main], &["--approx", "over"]);
    assert_eq!((said["verdict"].as_str(), said["gaps"].as_u64()), (Some("unknown"), Some(0)), "{said}");
}

/// Functions that the user describes.
fn models() {
    let source =
        RACE.replace("int x;", "int x; void my_lock(int); void my_unlock(int *);").replace("x++;", "my_lock(0); x++;");
    let workshop = Workshop::new();
    // It is compiled, but cannot be linked.
    let source = workshop.write("outside.c", &source);
    let said = verdict(&workshop, &[&source], &["--approx", "over"]);
    assert!(said["why"].as_str().is_some_and(|why| why.contains("my_lock")), "{said}");
    let text = workshop.write("text.toml", "[access]\nmy_lock = {}\n").display().to_string();
    let said = verdict(&workshop, &[&source], &["--approx", "over", "--models", &text]);
    assert_eq!((said["gaps"].as_u64(), said["candidates"].as_u64() > Some(0)), (Some(0), true), "{said}");
    let text = workshop.write("wrong.toml", "[lock]\nmy_lock = { look = 0 }\n").display().to_string();
    let path = source.display().to_string();
    let ended = workshop.run(&mut tool::racehunter(["scan", "--models", &text, &path])).expect(2);
    assert!(ended.stderr.contains("look"), "{ended:?}");
}

/// One thread takes the lock and the other does not; another variable has no lock at all.
const SUSPICIOUS: &str = "#include <pthread.h>
int locked, plain;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void add(int *where) { *where += 1; }
void *f(void *a) {
    add(&plain);
    pthread_mutex_lock(&m);
    locked = 1;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    add(&plain);
    locked = 2;
    pthread_join(t, 0);
    return 0;
}
";

/// Suspected pairs: the most likely first, with the path to each, and in all formats.
fn formats() {
    let workshop = Workshop::new();
    let source = workshop.write("suspicious.c", SUSPICIOUS).display().to_string();
    let scan = |format: &str| {
        let words = ["scan", "--approx", "over", "--message-format", format, "suspicious.c"];
        workshop.run(&mut tool::racehunter(words)).expect(0).stdout
    };
    let lines: Vec<Value> = scan("json").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    schema::check(&lines);
    let mut wrong = lines[0].clone();
    wrong["sites"][1]["line"] = Value::Null;
    assert!(schema::problems(&[wrong]).iter().all(|problem| !problem.is_empty()));
    let candidates: Vec<&Value> = lines.iter().filter(|line| line["reason"] == "candidate").collect();
    assert_eq!(candidates[0]["variable"], "locked", "{candidates:?}");
    assert!(candidates.iter().any(|candidate| candidate["variable"] == "plain"), "{candidates:?}");
    let parallel = format!("`f` is created by `main` at {source}:14, which has not surely waited for its end");
    assert_eq!(candidates[0]["parallel"], parallel.as_str());
    let calls = |candidate: &Value| candidate["sites"][0]["calls"].as_array().map(Vec::len);
    assert!(candidates.iter().any(|candidate| calls(candidate) == Some(2)), "{candidates:?}");
    assert!(scan("human").contains(&parallel));
    let short = scan("short");
    assert!(short.starts_with(&format!("{source}:16:12: warning: suspected data race on `locked`")), "{short}");
    let log: Value = serde_json::from_str(&scan("sarif")).expect("one JSON document");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let id = |result: &Value| result["partialFingerprints"]["racehunter/v1"].to_string();
    let ids: HashSet<String> = results.iter().map(id).collect();
    assert!(ids.len() == results.len() && results.len() >= 2, "{results:?}");
    let uri = |place: &Value| place["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert_eq!(uri(&results[0]["locations"][0]), "suspicious.c");
    assert_eq!(uri(&results[0]["relatedLocations"][0]), "suspicious.c");
    assert_eq!(
        (results[0]["level"].as_str(), &results[0]["properties"]["notes"][0]),
        (Some("warning"), &parallel.as_str().into())
    );
    assert_eq!(log["runs"][0]["properties"]["verdict"], "unknown");
}

/// Witnesses have the format of the competition, and describe the execution.
fn witnesses() {
    let workshop = Workshop::new();
    workshop.write("race.c", SUSPICIOUS);
    workshop.write("free.c", &SUSPICIOUS.replace("    add(&plain);\n    locked = 2;\n", ""));
    let scan = |file: &str, status: i32| {
        let witness = workshop.path(&format!("{file}.yml"));
        let name = witness.display().to_string();
        let words = ["scan", "--svcomp", "--witness", &name, file];
        workshop.run(&mut tool::racehunter(words)).expect(status);
        std::fs::read_to_string(witness).expect("a witness is written")
    };
    let text = scan("race.c", 1);
    let digest = workshop.shell("sha256sum race.c").stdout;
    let digest = digest.split(' ').next().unwrap_or_default();
    for part in [
        "- entry_type: \"violation_sequence\"\n",
        "    format_version: \"2.2\"\n",
        "      specification: \"G ! data-race\"\n",
        &format!("        \"race.c\": \"{digest}\"\n"),
    ] {
        assert!(text.contains(part), "no {part}\n{text}");
    }
    let segments: Vec<&str> = text.split("  - segment:\n").skip(1).collect();
    let (last, way) = segments.split_last().expect("there are segments");
    assert!(!way.is_empty() && way.iter().all(|segment| segment.matches("- waypoint:").count() == 1), "{text}");
    assert!(way.iter().all(|segment| segment.contains("type: \"assumption\"") && segment.contains("value: \"1\"")));
    assert!(way.iter().all(|segment| segment.contains("file_name: \"race.c\"")), "{text}");
    assert_eq!(last.matches("type: \"target\"").count(), 2, "{text}");
    assert!(last.contains("thread_id: 0") && last.contains("thread_id: 1"), "{text}");
    let text = scan("free.c", 0);
    assert!(text.contains("entry_type: \"invariant_set\"") && text.ends_with("content: []\n"), "{text}");
    // An unknown result has no witness, and the output for people omits it.
    let words = ["scan", "--svcomp", "--approx", "over", "--witness", "none.yml", "race.c"];
    workshop.run(&mut tool::racehunter(words)).expect(0);
    assert!(!workshop.path("none.yml").exists());
    workshop.run(&mut tool::racehunter(["scan", "--witness", "none.yml", "race.c"])).expect(2);
}

/// Kernel threads and locks, by the description that comes with the program.
fn linux() {
    const DRIVER: &str = "struct lock { int taken; }; struct task_struct;
        void spin_lock(struct lock *); void spin_unlock(struct lock *); int mutex_lock_interruptible(struct lock *);
        void mutex_unlock(struct lock *); int kthread_stop(struct task_struct *);
        struct task_struct *kthread_run(int (*)(void *), void *, const char *, ...);
        static struct lock lock, mutex; static int count, total;
        static int work(void *data) { spin_lock(&lock); count++; spin_unlock(&lock);
            if (mutex_lock_interruptible(&mutex)) return 1;
            total++; mutex_unlock(&mutex); return 0; }
        int main(void) { struct task_struct *task = kthread_run(work, 0, \"work\");
            spin_lock(&lock); count--; spin_unlock(&lock);
            if (!mutex_lock_interruptible(&mutex)) { total--; mutex_unlock(&mutex); }
            kthread_stop(task); return total; }";
    let workshop = Workshop::new();
    let options = ["--approx", "over", "--models", "linux"];
    let right = workshop.write("driver.c", DRIVER);
    assert_eq!(verdict(&workshop, &[&right], &options)["verdict"], "race-free");
    assert_eq!(verdict(&workshop, &[&right], &["--approx", "over"])["verdict"], "unknown");
    for (name, from, to) in [
        ("unlocked.c", "spin_lock(&lock); count--;", "count--;"),
        ("running.c", "kthread_stop(task);", ""),
        ("interrupted.c", "if (mutex_lock_interruptible(&mutex)) return 1;", "mutex_lock_interruptible(&mutex);"),
    ] {
        let text = DRIVER.replace(from, to);
        assert_ne!(text, DRIVER);
        let said = verdict(&workshop, &[&workshop.write(name, &text)], &options);
        let is_suspected = said["candidates"].as_u64() > Some(0) && said["gaps"].as_u64() == Some(0);
        assert!(said["verdict"] == "unknown" && is_suspected, "{name}: {said}");
    }
    let words = ["scan", "--models", "hurd", "driver.c"];
    workshop.run(&mut tool::racehunter(words)).expect(2).says("hurd");
}

/// A pair that nothing rules out must be a race; one whose accesses may share a lock may be one.
fn guesses() {
    let choice = "#include <pthread.h>\nint x; pthread_mutex_t a, b, *p;\nvoid *f(void *u) { pthread_mutex_lock(p); x++; \
        pthread_mutex_unlock(p); return 0; }\nint main(int n, char **v) { pthread_t s, t; p = n > 1 ? &a : &b; \
        pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";
    for (text, certainty, locks) in [(RACE, "must", 0), (choice, "may", 2)] {
        let workshop = Workshop::new();
        workshop.write("program.c", text);
        let words = ["scan", "--approx", "over", "--message-format", "json", "program.c"];
        let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
        let line = ended.stdout.lines().find(|line| line.contains("\"candidate\"")).expect("something is suspected");
        let first: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(first["certainty"], certainty, "{first}");
        assert_eq!(first["sites"][0]["may_hold"].as_array().map(Vec::len), Some(locks), "{first}");
    }
}

/// A function that is analysed once for all its callers does not lose their locks, unless it releases them.
fn calls_keep_locks() {
    for (body, expected) in [("", "race-free"), ("if (n > 5) pthread_mutex_unlock(&m);", "unknown")] {
        let workshop = Workshop::new();
        let text = format!(
            "#include <pthread.h>\nint x; pthread_mutex_t m;\nstatic int twice(int n) {{ {body} return 2 * n; }}\n\
             void *f(void *u) {{ pthread_mutex_lock(&m); x += twice(x); x++; pthread_mutex_unlock(&m); twice(1); return 0; }}\n\
             int main(void) {{ pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); \
             pthread_join(s, 0); pthread_join(t, 0); return 0; }}\n"
        );
        let source = workshop.write("program.c", &text);
        let said = verdict(&workshop, &[&source], &["--approx", "over", "--backend", "alias"]);
        assert_eq!(said["verdict"], expected, "{said}");
    }
}

/// Verification tasks: a lock that is an assumption, threads without end, and objects that are smaller than on this machine.
fn tasks() {
    const ASSUMED: &str = "#include <pthread.h>\n#include <stdlib.h>\nint m, n, x, y;
        void assume(int holds) { if (!holds) abort(); }
        void __VERIFIER_atomic_take(int *lock) { assume(*lock == 0); *lock = 1; }
        void __VERIFIER_atomic_give(int *lock) { assume(*lock == 1); *lock = 0; }
        void *f(void *u) { while (1) { __VERIFIER_atomic_take(&m); x++; __VERIFIER_atomic_give(&m);
            __VERIFIER_atomic_take(&m); y++; __VERIFIER_atomic_give(&m); } return 0; }
        int main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }\n";
    const SPOILT: &str = "#include <pthread.h>\n#include <stdlib.h>\nint spoilt, x;
        void assume(int holds) { if (!holds) abort(); }
        void __VERIFIER_atomic_spoil(void) { spoilt = 1; assume(0); }
        void __VERIFIER_atomic_look(int *seen) { *seen = spoilt; }
        void *f(void *u) { int seen; __VERIFIER_atomic_look(&seen); if (seen) x++; return 0; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0);
            __VERIFIER_atomic_spoil(); return 0; }\n";
    const SMALL: &str = "struct lock { long words[3]; }; typedef unsigned long pthread_t;
        int pthread_mutex_init(struct lock *, const void *); int pthread_mutex_lock(struct lock *);
        int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
        int pthread_mutex_unlock(struct lock *);
        int x; struct { struct lock lock; int *where; } all = { {{0}}, &x };
        void *f(void *u) { pthread_mutex_lock(&all.lock); *all.where += 1; pthread_mutex_unlock(&all.lock); return 0; }
        int main(void) { pthread_t t; pthread_mutex_init(&all.lock, 0); pthread_create(&t, 0, f, 0);
            pthread_mutex_lock(&all.lock); *all.where += 1; pthread_mutex_unlock(&all.lock); pthread_join(t, 0); return 0; }\n";
    let workshop = Workshop::new();
    let other_lock = "__VERIFIER_atomic_take(&m); y++; __VERIFIER_atomic_give(&m);";
    let unlocked = "pthread_mutex_lock(&all.lock); *all.where += 1; pthread_mutex_unlock(&all.lock); pthread_join";
    for (text, from, to) in [
        (ASSUMED, other_lock, other_lock.replace("&m", "&n").replace("y++", "x++")),
        (SMALL, unlocked, "*all.where += 1; pthread_join".to_owned()),
    ] {
        let free = workshop.write("free.c", text);
        let said = verdict(&workshop, &[&free], &["--svcomp", "--approx", "over"]);
        assert_eq!(said["verdict"], "race-free", "{said}");
        assert!(text.contains(from));
        let racy = workshop.write("racy.c", &text.replace(from, &to));
        let said = verdict(&workshop, &[&racy], &["--svcomp", "--time", "20s"]);
        assert_eq!(said["verdict"], "race", "{said}");
    }
    // No thread sees what was written in a section that does not end.
    let spoilt = workshop.write("spoilt.c", SPOILT);
    let said = verdict(&workshop, &[&spoilt], &["--svcomp", "--time", "1500ms"]);
    assert_eq!(said["verdict"], "unknown", "{said}");
    let shown = workshop.write("shown.c", &SPOILT.replace("assume(0);", ""));
    let said = verdict(&workshop, &[&shown], &["--svcomp", "--time", "20s"]);
    assert_eq!(said["verdict"], "race", "{said}");
}

/// Assembler that needs a constant, which only the optimiser provides: the code can still be analysed.
fn no_object() {
    let text = RACE.replace("int x;", "int x; static void note(int n) { __asm__ volatile(\"# %c0\" :: \"i\"(n)); }");
    let text = text.replace("{ x++;", "{ note(3); x++;");
    let workshop = Workshop::new();
    let racy = workshop.write("racy.c", &text);
    let said = verdict(&workshop, &[&racy], &["--time", "5s"]);
    assert_eq!((said["verdict"].as_str(), said["candidates"].as_u64() > Some(0)), (Some("unknown"), true), "{said}");
    assert!(said["why"].as_str().is_some_and(|why| why.contains("no machine code")), "{said}");
    let free = workshop.write("free.c", &text.replace("x++; pthread_join", "pthread_join"));
    assert_eq!(verdict(&workshop, &[&free], &["--time", "5s"])["verdict"], "race-free");
}

/// Messages about files that are not programs.
fn wrong_files() {
    let workshop = Workshop::new();
    workshop.write("text.txt", "hello\n");
    workshop.write("broken.c", "int main( {\n");
    workshop.write("good.c", RACE);
    workshop.write("library.c", "int f(void) { return 1; }\n");
    let directory = workshop.out().display().to_string();
    std::fs::create_dir_all(workshop.out()).expect("can be made");
    for (files, says) in [
        (&["absent.c"][..], "`absent.c` does not exist"),
        (&[&directory], "is a directory"),
        (&["text.txt"], "text.txt is not an object file"),
        (&["good.c", "broken.c"], "`broken.c` does not compile"),
        (&["/bin/true"], "was not compiled by RaceHunter"),
    ] {
        let words = ["scan"].iter().chain(files).copied();
        let ended = workshop.run(&mut tool::racehunter(words)).expect(2);
        assert!(ended.stderr.contains(says), "{ended:?}");
    }
    // Without a `main` nothing is linked, and nothing is proved.
    let ended = workshop.run(&mut tool::racehunter(["scan", "library.c"])).expect(0);
    assert!(ended.stdout.contains("there is no function `main`") && !ended.stderr.contains("undefined"), "{ended:?}");
}

/// The programs of the paper's figures: the verdict of each backend, whether it suspects anything, and the verdict of
/// executions.
fn figures() {
    let workshop = Workshop::new();
    for (figure, suspected_by, proved_by, shown) in [
        ("3", &["value", "alias"][..], None, "race"),
        ("4a", &["value", "alias", "syntactic"], None, "race"),
        ("4b", &["alias", "syntactic"], Some("value"), "unknown"),
        ("5", &["value", "alias", "syntactic"], None, "race"),
    ] {
        let program = tool::root().join(format!("tests/programs/scan/figure_{figure}.c"));
        for backend in ["value", "alias", "syntactic"] {
            let said = verdict(&workshop, &[&program], &["--approx", "over", "--backend", backend]);
            let expected = if proved_by == Some(backend) { "race-free" } else { "unknown" };
            assert_eq!(said["verdict"], expected, "figure {figure}, {backend}: {said}");
            let suspects = said["candidates"].as_u64() > Some(0);
            assert_eq!(suspects, suspected_by.contains(&backend), "figure {figure}, {backend}: {said}");
        }
        let said = verdict(&workshop, &[&program], &["--approx", "under", "--time", "10s"]);
        assert_eq!(said["verdict"], shown, "figure {figure}: {said}");
    }
}
