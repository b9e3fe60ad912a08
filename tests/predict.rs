//! `record`, and `predict` with a program at hand: predictions are tried, and only those that show a bug are findings.

use racehunter_e2e::workshop::text;
use racehunter_e2e::{Ended, Workshop, racehunter, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A data race that the lock hides in the default order: one thread writes before its critical section, the other after
/// its own.
const HIDDEN: &str = r"
#include <pthread.h>
#include <stddef.h>

static int ready, left, right;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    ready = 1;
    pthread_mutex_lock(&lock);
    left = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    right = 1;
    pthread_mutex_unlock(&lock);
    ready = 2;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return ready + left + right == 0;
}
";

/// The same with both writes under the lock.
fn repaired() -> String {
    let inside = HIDDEN.replace(
        "    ready = 1;\n    pthread_mutex_lock(&lock);\n",
        "    pthread_mutex_lock(&lock);\n    ready = 1;\n",
    );
    let inside = inside.replace(
        "    pthread_mutex_unlock(&lock);\n    ready = 2;\n",
        "    ready = 2;\n    pthread_mutex_unlock(&lock);\n",
    );
    assert_ne!(inside, HIDDEN);
    inside
}

/// Two locks in opposite orders, one thread after the other.
const CROSSED: &str = include_str!("programs/crossed_locks.c");

/// A correct use of every synchronisation primitive.
const PRIMITIVES: &str = r"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static atomic_int counter;
static int state, guarded, before, after;

static void *work(void *unused) {
    before = 1;
    pthread_barrier_wait(&barrier);
    after += before;
    usleep(1000);
    pthread_mutex_lock(&mutex);
    state = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    if (pthread_mutex_trylock(&mutex) == 0)
        pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    guarded = 1;
    pthread_rwlock_unlock(&rwlock);
    atomic_fetch_add(&counter, 1);
    sem_post(&semaphore);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    while (state == 0)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_rdlock(&rwlock);
    int seen = guarded;
    pthread_rwlock_unlock(&rwlock);
    sem_wait(&semaphore);
    seen += after + atomic_load(&counter);
    pthread_join(thread, NULL);
    return seen < 2;
}
";

/// Compiles a source in a workshop, with debug information.
pub(crate) fn program(workshop: &Workshop, name: &str, source: &str) -> PathBuf {
    let source = workshop.write(&format!("{name}.c"), source);
    let program = workshop.path(name);
    workshop.cc(["-g", "-O1", "-pthread", &text(&source), "-o", &text(&program)]).expect(0);
    program
}

/// Runs `racehunter record`, to a file beside the program.
pub(crate) fn record(program: &Path, options: &[&str]) -> PathBuf {
    let trace = program.with_extension("rht");
    run(racehunter(["record", "-o"]).arg(&trace).args(options).arg(program)).expect(0);
    trace
}

pub(crate) struct Predicted {
    pub(crate) findings: Vec<Value>,
    pub(crate) summary: Value,
}

impl Predicted {
    fn new(ended: &Ended) -> Self {
        let mut findings: Vec<Value> =
            ended.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        let summary = findings.pop().expect("a summary");
        assert_eq!(summary["reason"], "summary");
        Self { findings, summary }
    }
}

pub(crate) fn predict(workshop: &Workshop, words: &[&str], status: i32) -> Predicted {
    let command = ["predict", "--message-format", "json", "--out"];
    Predicted::new(&run(racehunter(command).arg(workshop.out()).args(words)).expect(status))
}

#[test]
fn a_race_hidden_by_the_recorded_order_is_predicted_and_shown() {
    let workshop = Workshop::new();
    let program = program(&workshop, "hidden", HIDDEN);
    let trace = record(&program, &[]);
    // The execution itself does not show it, nor does a hunt of one execution.
    let hunted = workshop.hunt(&program, &["--analysis", "context-bound", "--bound", "0", "--runs", "1"]).expect(0);
    assert!(hunted.findings.is_empty());

    let only = predict(&workshop, &[&text(&trace)], 1);
    assert_eq!((&only.findings[0]["confirmed"], &only.findings[0]["predicted"]), (&false.into(), &true.into()));
    assert_eq!(only.findings[0]["sites"][0]["line"], 9);

    let tried = predict(&workshop, &["--confirm", &text(&program), &text(&trace)], 1);
    let [finding] = &tried.findings[..] else { panic!("{:#?}", tried.findings) };
    assert_eq!((&finding["kind"], &finding["confirmed"]), (&"data-race".into(), &true.into()));
    assert_eq!(finding["replayed"], serde_json::json!([5, 5]));
    let mut lines: Vec<u64> = [0, 1].map(|at| finding["sites"][at]["line"].as_u64().expect("a line")).into();
    lines.sort_unstable();
    assert_eq!(lines, [9, 20]);
    assert_eq!((&tried.summary["predictions"], &tried.summary["unconfirmed"]), (&1.into(), &0.into()));
    let replayed = workshop.replay(finding["id"].as_str().expect("an id")).expect(0);
    assert!(replayed.stdout.contains("data-race"));

    // In one step, and with the usual report.
    let at_once = run(racehunter(["predict", "--out"]).arg(workshop.out()).arg(&program)).expect(1);
    assert!(at_once.stdout.contains("error[data-race]: data race on `ready`"), "{}", at_once.stdout);
    assert!(at_once.stdout.contains("replayed 5/5"), "{}", at_once.stdout);
}

#[test]
fn nothing_is_predicted_for_the_repaired_program() {
    let workshop = Workshop::new();
    let program = program(&workshop, "repaired", &repaired());
    for options in [&[][..], &["--seed", "1"], &["--seed", "2"]] {
        let trace = record(&program, options);
        let predicted = predict(&workshop, &["--confirm", &text(&program), &text(&trace)], 0);
        assert_eq!((predicted.findings.len(), &predicted.summary["complete"]), (0, &true.into()));
    }
}

#[test]
fn a_deadlock_is_predicted_and_shown() {
    let workshop = Workshop::new();
    let program = program(&workshop, "crossed", CROSSED);
    let tried = predict(&workshop, &[&text(&program)], 1);
    assert_eq!(tried.findings.len(), 1);
    assert_eq!((&tried.findings[0]["kind"], &tried.findings[0]["confirmed"]), (&"deadlock".into(), &true.into()));
}

#[test]
fn a_recording_contains_every_synchronisation_primitive() {
    let workshop = Workshop::new();
    let program = program(&workshop, "primitives", PRIMITIVES);
    let trace = record(&program, &[]);
    let exported = run(racehunter(["trace", "--export", "std"]).arg(&trace)).expect(0).stdout;
    for word in [
        "fork(main/1)",
        "join(main/1)",
        "acq(mutex)",
        "rel(mutex)",
        "wait(changed)",
        "signal(changed)",
        "wake(changed)",
        "tryfail(mutex)|tacq(mutex)",
        "acq(rwlock)",
        "rel(rwlock)",
        "racq(rwlock)",
        "rrel(rwlock)",
        "arrive(barrier)",
        "depart(barrier)",
        "post(semaphore)",
        "down(semaphore)",
        "au(counter)",
        "ar(counter)",
        "w(guarded)",
        "r(guarded)",
    ] {
        assert!(word.split('|').any(|word| exported.contains(word)), "no {word} in\n{exported}");
    }
    for options in [&[][..], &["--seed", "1"], &["--seed", "2"], &["--seed", "3"]] {
        let trace = record(&program, options);
        let predicted = predict(&workshop, &["--confirm", &text(&program), &text(&trace)], 0);
        assert_eq!(predicted.findings.len(), 0, "{:#?}", predicted.findings);
    }
}

/// One use of a value for each rule about which reads decide something.
const USES: &str = r"
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

int counted, tested, table[8], chosen, divisor, passed, copied, nested, quotient;

__attribute__((noinline)) static void store(int value) {
    copied = value;
}

__attribute__((noinline)) static int sum(int depth) {
    int now = nested;
    return depth ? now + sum(depth - 1) : now;
}

static void *work(void *unused) {
    counted++;
    if (tested)
        sched_yield();
    table[chosen] = 1;
    quotient = 100 / divisor;
    store(passed);
    quotient += sum(1);
    return unused;
}

int main(void) {
    pthread_t thread;
    divisor = 3;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
";

#[test]
fn the_code_shows_which_reads_matter() {
    let workshop = Workshop::new();
    let program = program(&workshop, "uses", USES);
    let trace = record(&program, &[]);
    let exported = run(racehunter(["trace", "--export", "json"]).arg(&trace)).expect(0).stdout;
    let events: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let reads = |name: &str| -> Vec<u64> {
        let is_read =
            |event: &&Value| event["operation"] == "r" && event["object"] == name && event["thread"] == "main/1";
        events.iter().filter(is_read).map(|event| event["event"].as_u64().expect("a number")).collect()
    };
    // Returns the later events that depend on a read, by the name of the list.
    let named = |list: &str, read: u64| -> Vec<u64> {
        let names = |event: &&Value| event[list].as_array().is_some_and(|reads| reads.contains(&read.into()));
        events.iter().filter(names).map(|event| event["event"].as_u64().expect("a number")).collect()
    };
    let object = |event: u64| events[event as usize]["object"].as_str().expect("an object").to_owned();
    let only = |name: &str| match reads(name)[..] {
        [only] => only,
        ref others => panic!("{name}: {others:?}"),
    };
    // A value that is only copied, and one that is copied through a call.
    for (name, written) in [("counted", "counted"), ("passed", "copied")] {
        let read = only(name);
        assert_eq!(named("decisions", read), [0; 0], "{name}");
        let values = named("values", read);
        assert_eq!(values.iter().map(|&event| object(event)).collect::<Vec<_>>(), [written], "{name}");
    }
    // The index of an element decides which one is written.
    let decided = named("decisions", only("chosen"));
    assert_eq!(decided.iter().map(|&event| object(event)).collect::<Vec<_>>(), ["table[0]"]);
    // Conditions and divisors affect everything that follows.
    for read in [only("tested"), only("divisor")] {
        assert_eq!(named("decisions", read), [read + 1]);
        assert_eq!(named("values", read), [0; 0], "event {read}");
    }
    // The reads of both activations of a function flow into its result.
    assert_eq!(reads("nested").len(), 2);
    for read in reads("nested") {
        assert_eq!(named("decisions", read), [0; 0], "event {read}");
        assert_eq!(named("values", read).into_iter().map(object).collect::<Vec<_>>(), ["quotient"]);
    }
}

/// The race of [`HIDDEN`], with a counter in the critical sections: nothing depends on the order of counting.
#[test]
fn reads_that_decide_nothing_do_not_hide_a_race() {
    let counting = HIDDEN.replace("    left = 1;\n", "    left++;\n").replace("    right = 1;\n", "    left++;\n");
    let decides = "    int seen = ++left;\n    pthread_mutex_unlock(&lock);\n    if (seen == 2)\n        ready = 2;\n";
    let deciding = counting.replace("    left++;\n    pthread_mutex_unlock(&lock);\n    ready = 2;\n", decides);
    // A choice that no read decides.
    let choosing = counting.replace("    ready = 2;\n", "    if (unused == NULL)\n        ready = 2;\n");
    assert!(deciding != counting && choosing != counting);
    let workshop = Workshop::new();
    let counting = program(&workshop, "counting", &counting);
    let choosing = program(&workshop, "choosing", &choosing);
    let deciding = program(&workshop, "deciding", &deciding);
    for (policy, shown) in [("m2", [0, 0]), ("seqcheck", [1, 0]), ("nre", [1, 1])] {
        for (program, shown) in [&counting, &choosing].into_iter().zip(shown) {
            let predicted = predict(&workshop, &["--policy", policy, &text(program)], shown);
            assert_eq!(predicted.findings.len(), shown as usize, "{policy}");
            assert!(predicted.findings.iter().all(|finding| finding["confirmed"] == true), "{policy}");
        }
    }
    // It is also followed in one of several files.
    let other = workshop.write("other.c", "int other[2];\nint use(int at) { return other[at]++; }\n");
    let linked = workshop.path("linked");
    let choosing = choosing.with_extension("c");
    workshop.cc(["-g", "-O1", "-pthread", &text(&other), &text(&choosing), "-o", &text(&linked)]).expect(0);
    let predicted = predict(&workshop, &["--policy", "nre", &text(&linked)], 1);
    assert_eq!(predicted.findings.len(), 1);
    // If the count decides, the order is needed, and nothing false is predicted.
    let predicted = predict(&workshop, &["--policy", "nre", &text(&deciding)], 0);
    assert_eq!(predicted.summary["predictions"], 0);
}

#[test]
fn a_custom_allocator_is_recorded_too() {
    // The C library calls it while it creates a thread.
    const ALLOCATOR: &str = include_str!("../targets/clean/own_allocator.c");
    let workshop = Workshop::new();
    let good = program(&workshop, "allocator", ALLOCATOR);
    for options in [&[][..], &["--seed", "1"], &["--seed", "2"]] {
        let trace = record(&good, options);
        let predicted = predict(&workshop, &["--confirm", &text(&good), &text(&trace)], 0);
        assert_eq!((predicted.findings.len(), &predicted.summary["predictions"]), (0, &0.into()));
    }
    let without = ALLOCATOR.replace("    pthread_mutex_lock(&arena_lock);\n", "");
    let without = without.replace("    pthread_mutex_unlock(&arena_lock);\n", "");
    let bad = program(&workshop, "unlocked", &without);
    let trace = record(&bad, &[]);
    let shown = predict(&workshop, &["--confirm", &text(&bad), &text(&trace)], 1);
    let (confirmed, others): (Vec<_>, Vec<_>) = shown.findings.iter().partition(|finding| finding["confirmed"] == true);
    assert!(!confirmed.is_empty(), "{:#?}", shown.findings);
    // A prediction is confirmed only by what it predicts, not by another race on the way.
    let said = |finding: &Value| finding["unconfirmed"].as_str().unwrap_or_default().to_owned();
    assert!(
        others.iter().all(|finding| said(finding).contains("its schedule was followed, and showed ")),
        "{others:#?}"
    );
    assert!(!others.is_empty());
}

#[test]
fn a_recording_describes_itself() {
    let workshop = Workshop::new();
    let program = program(&workshop, "hidden", HIDDEN);
    let trace = workshop.path("some.rht");
    let command = ["record", "--message-format", "json", "-o"];
    let ended = run(racehunter(command).arg(&trace).arg(&program)).expect(0);
    let line: Value = serde_json::from_str(&ended.stdout).expect("a line of JSON");
    assert_eq!((&line["reason"], &line["threads"], &line["whole"]), (&"recording".into(), &3.into(), &true.into()));
    assert_eq!(line["outcome"], "ended with status 0");
    let again = workshop.path("again.rht");
    run(racehunter(["record", "-o"]).arg(&again).arg(&program)).expect(0);
    let [first, second] = [&trace, &again].map(|path| std::fs::read(path).expect("it was written"));
    assert_eq!(first, second, "two recordings of the same execution differ");
}

/// The actions of a program before it was killed are recorded like any other trace.
#[test]
fn a_killed_program_leaves_its_trace() {
    let workshop = Workshop::new();
    let killed = HIDDEN.replace("    return ready + left", "    raise(SIGKILL);\n    return ready + left");
    let killed = killed.replace("#include <stddef.h>", "#include <signal.h>\n#include <stddef.h>");
    assert_ne!(killed, HIDDEN);
    let killed = program(&workshop, "killed", &killed);
    let [trace, all] = ["killed.rht", "all.rht"].map(|name| workshop.path(name));
    let command = ["record", "--message-format", "json", "-o"];
    let ended =
        run(racehunter(command).arg(&trace).arg(&killed)).expect(3).says("not all that happened is in the trace");
    let line: Value = serde_json::from_str(&ended.stdout).expect("a line of JSON");
    assert_eq!((&line["threads"], &line["whole"]), (&3.into(), &false.into()));
    // Everything except what the dying program did not reach.
    let whole = run(racehunter(command).arg(&all).arg(program(&workshop, "hidden", HIDDEN))).expect(0);
    let whole: Value = serde_json::from_str(&whole.stdout).expect("a line of JSON");
    let events = |line: &Value| line["events"].as_u64().expect("a number");
    assert!(events(&line) > 10 && events(&line) < events(&whole), "{line} {whole}");
    assert_eq!(predict(&workshop, &[&text(&trace)], 1).summary["predictions"], 1);
}

/// A log that is longer than the ring that it goes through.
const LONG: &str = r"
#include <pthread.h>
#include <stddef.h>

static volatile int numbers[64];
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    for (int round = 0; round < 200000; round++)
        numbers[round % 64] = round;
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int number = 0; number < 2; number++) {
        pthread_create(&threads[number], NULL, work, NULL);
        pthread_join(threads[number], NULL);
    }
    return shared != 2;
}
";

#[test]
fn long_recordings_are_streamed() {
    let workshop = Workshop::new();
    let program = program(&workshop, "long", LONG);
    let recorded = || std::fs::read(record(&program, &[])).expect("it is written");
    assert!(recorded() == recorded(), "two recordings differ");
    let trace = program.with_extension("rht");
    let summary = run(racehunter(["trace", "--message-format", "json"]).arg(&trace)).expect(0).stdout;
    let summary: Value = serde_json::from_str(&summary).expect("one line");
    let events = summary["events"].as_u64().expect("a number");
    // Nothing is lost where the ring begins again, and nothing is there twice.
    assert!((400_000..400_200).contains(&events), "{events}");
}

#[test]
fn mistakes_are_explained() {
    let workshop = Workshop::new();
    let program_path = program(&workshop, "hidden", HIDDEN);
    let trace = record(&program_path, &[]);
    let other = program(&workshop, "other", &repaired());
    let confirm =
        |program: &Path, trace: &Path| run(racehunter(["predict", "--confirm"]).arg(program).arg(trace)).expect(2);
    confirm(&other, &trace).says("is not the program that").says("= help: it was rebuilt since; record it again");
    let plain = workshop.write("plain.std", "T0|w(x)|1\nT1|w(x)|2\n");
    confirm(&program_path, &plain).says("does not say what it was recorded from");
    let single = program(&workshop, "single", "int main(void) { return 0; }\n");
    let ended = run(racehunter(["record", "-o"]).arg(workshop.path("single.rht")).arg(&single)).expect(4);
    assert!(ended.stdout.contains("there is only one thread"), "{}", ended.stdout);
    let nowhere = workshop.path("no/such/directory.rht");
    run(racehunter(["record", "-o"]).arg(nowhere).arg(&program_path)).expect(2).says("cannot write");
}

/// Blocks of two accesses, each in its own critical section, and another thread's access to the same variable: named by
/// reads and writes, first, between, second.
const BLOCKS: &str = r"
#include <pthread.h>
#include <stddef.h>
#include <racehunter.h>

#define LOCKED(what) do { pthread_mutex_lock(&lock); what; pthread_mutex_unlock(&lock); } while (0)
#define BLOCK(first, second) do { racehunter_begin_block(); LOCKED(first); LOCKED(second); racehunter_end_block(); } while (0)

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int rwr, wwr, wrw, rww, rrr, rrw, wrr, www, seen, copy;

static void *blocks(void *unused) {
    BLOCK(seen += rwr, seen += rwr);
    BLOCK(wwr = 1, seen += wwr);
    BLOCK(wrw = 1, wrw = 2);
    BLOCK(seen += rww, rww = 1);
    BLOCK(seen += rrr, seen += rrr);
    BLOCK(seen += rrw, rrw = 1);
    BLOCK(wrr = 1, seen += wrr);
    BLOCK(www = 1, www = 2);
    return unused;
}

static void *others(void *unused) {
    LOCKED(rwr = 3);
    LOCKED(wwr = 3);
    LOCKED(copy += wrw);
    LOCKED(rww = 3);
    LOCKED(copy += rrr);
    LOCKED(copy += rrw);
    LOCKED(copy += wrr);
    LOCKED(www = 3);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, blocks, NULL);
    pthread_create(&threads[1], NULL, others, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
";

#[test]
fn violations_of_marked_atomic_blocks_are_found() {
    let workshop = Workshop::new();
    let broken = program(&workshop, "blocks", BLOCKS);
    let tried = predict(&workshop, &[&text(&broken)], 1);
    let mut names: Vec<&str> = Vec::new();
    for finding in &tried.findings {
        assert_eq!((&finding["kind"], &finding["confirmed"]), (&"atomicity".into(), &true.into()), "{finding:#}");
        names.extend(finding["message"].as_str().and_then(|message| message.split('`').nth(1)));
    }
    names.sort_unstable();
    assert_eq!(names, ["rwr", "rww", "wrw", "wwr"]);
    let replayed = workshop.replay(tried.findings[0]["id"].as_str().expect("an id")).expect(0);
    assert!(replayed.stdout.contains("atomicity"), "{}", replayed.stdout);
    // Without marks the intention is unknown, and under one lock nothing comes between.
    let unmarked = BLOCKS.replace("racehunter_begin_block();", "").replace("racehunter_end_block();", "");
    let held = BLOCKS.replace("LOCKED(first); LOCKED(second);", "LOCKED(first; second);");
    assert!(unmarked != BLOCKS && held != BLOCKS);
    for (name, source) in [("unmarked", unmarked), ("held", held)] {
        let predicted = predict(&workshop, &[&text(&program(&workshop, name, &source))], 0);
        assert_eq!(predicted.summary["predictions"], 0, "{name}");
    }
}

/// A thread is joined by one that holds a lock it needs; `WAIT` selects how it is joined.
const JOINED: &str = r"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int done;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    struct timespec soon;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    sched_yield();
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    pthread_mutex_lock(&lock);
    int error = WAIT;
    pthread_mutex_unlock(&lock);
    return error;
}
";

#[test]
fn waiting_for_a_thread_can_be_part_of_a_deadlock() {
    let workshop = Workshop::new();
    let waiting = program(&workshop, "joined", &JOINED.replace("WAIT", "pthread_join(thread, NULL)"));
    let tried = predict(&workshop, &[&text(&waiting)], 1);
    assert_eq!(tried.findings.len(), 1);
    assert_eq!((&tried.findings[0]["kind"], &tried.findings[0]["confirmed"]), (&"deadlock".into(), &true.into()));
    // A timed join is not part of a deadlock.
    let timed = program(&workshop, "timed", &JOINED.replace("WAIT", "pthread_timedjoin_np(thread, NULL, &soon)"));
    let predicted = predict(&workshop, &[&text(&timed)], 0);
    assert_eq!(predicted.summary["predictions"], 0);
}
