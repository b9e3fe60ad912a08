//! What can be done with findings: list, suppress, replay elsewhere.

use racehunter_e2e::{Ended, Workshop, racehunter, run};
use std::fs;
use std::path::Path;

/// A heap block that two threads use, so that its name comes from the source.
const RACE: &str = "#include <pthread.h>
#include <stdlib.h>
struct counter { int first; int count; };
static void *work(void *argument) {
    struct counter *counter = argument;
    counter->count++;
    return NULL;
}
int main(void) {
    pthread_t thread;
    struct counter *counter = calloc(1, sizeof *counter);
    pthread_create(&thread, NULL, work, counter);
    counter->count++;
    pthread_join(thread, NULL);
    free(counter);
    return 0;
}
";

/// Returns a workshop with a finding, the id of the first one, and the result of the hunt.
fn hunted() -> (Workshop, String, Ended) {
    let (workshop, program) = Workshop::with_program(RACE);
    let ended = run(racehunter(["hunt", "--quiet", "--color", "never", "--runs", "40", "--out"])
        .arg(workshop.out())
        .arg(program));
    let ended = ended.expect(1);
    let id = ended.stdout.split("racehunter replay ").nth(1).expect("a command").split_whitespace().next();
    let id = id.expect("an id").to_owned();
    (workshop, id, ended)
}

fn there(workshop: &Workshop, words: &[&str]) -> Ended {
    workshop.run(racehunter(words.iter().copied()).current_dir(workshop.path("")))
}

/// The printed command finds the finding, wherever it is stored.
#[test]
fn the_printed_command_replays_the_finding() {
    let (workshop, id, ended) = hunted();
    let command = format!("racehunter replay {id} --out {}", workshop.out().display());
    assert!(ended.stdout.contains(&command), "{}", ended.stdout);
    let _ = workshop.shell(&command);
}

#[test]
fn findings_are_listed_and_suppressed() {
    let (workshop, id, _) = hunted();
    let listed = there(&workshop, &["list", "--out", "out"]).expect(0).stdout;
    let line = listed.lines().find(|line| line.contains(&id)).expect("a line");
    assert!(line.contains("error") && line.contains("data-race") && line.contains("program.c:"), "{listed}");
    assert_eq!(there(&workshop, &["list", "elsewhere"]).expect(0).stdout, "no findings in `elsewhere`\n");
    let json = there(&workshop, &["list", "out", "--message-format", "json"]).expect(0).stdout;
    assert!(json.lines().all(|line| line.starts_with("{\"reason\":\"finding\"")), "{json}");

    // Without a reason nothing is suppressed; with one, neither the list nor a hunt counts it.
    let _ = there(&workshop, &["suppress", &id, "--out", "out"]).expect(2);
    let _ = there(&workshop, &["suppress", &id, "--reason", " ", "--out", "out"]).expect(2).says("needs a reason");
    let _ = there(&workshop, &["suppress", "--all", "--reason", "a \"statistic\"", "--out", "out"]).expect(0);
    let listed = there(&workshop, &["list", "out"]).expect(0).stdout;
    assert!(listed.contains("suppressed") && listed.contains("a \"statistic\""), "{listed}");
    assert!(listed.ends_with(" 0 count\n"), "{listed}");
    let hunt = ["hunt", "--quiet", "--runs", "40", "--out", "again", "./program"];
    assert!(there(&workshop, &hunt).stdout.contains("suppressed[data-race]"));
    // Repeating it changes nothing, and the file describes the finding for people.
    let before = fs::read_to_string(workshop.path("racehunter-baseline.toml")).expect("a baseline");
    assert!(before.contains("# data-race: data race on `counter->count`"), "{before}");
    let again = there(&workshop, &["suppress", &id, "--reason", "again", "--out", "out"]).expect(0);
    assert!(again.stdout.contains("is suppressed already"), "{}", again.stdout);
    assert_eq!(fs::read_to_string(workshop.path("racehunter-baseline.toml")).expect("a baseline"), before);
    // An invalid baseline is not taken for an empty one.
    workshop.write("racehunter-baseline.toml", "bound = 3\n");
    let _ = there(&workshop, &["list", "out"]).expect(2).says("`bound` is not a suppression");
}

/// A moved program is found by its build id, or where the user says; another one is refused.
#[test]
fn moved_programs_are_found_by_build_id() {
    let (workshop, id, _) = hunted();
    fs::create_dir_all(workshop.path("moved/deep")).expect("a directory");
    fs::rename(workshop.path("program"), workshop.path("moved/deep/other-name")).expect("moved");
    let _ = there(&workshop, &["replay", &id, "--out", "out"]).expect(0);
    let named = ["replay", &id, "--out", "out", "--program", "moved/deep/other-name"];
    let again = there(&workshop, &named).expect(0).stdout;
    let command = format!("racehunter replay {id} --out out --program moved/deep/other-name\n");
    assert!(again.contains(&command), "{again}");
    let _ = there(&workshop, &["replay", &id, "--out", "out", "--program", "/bin/true"])
        .expect(2)
        .says("is not the program in which");
    fs::remove_file(workshop.path("moved/deep/other-name")).expect("removed");
    let _ = there(&workshop, &["replay", &id, "--out", "out"]).expect(2).says("no longer exists").says("--program");
}

/// A bundle replays where nothing else of it is left: neither the program, nor the findings, nor the sources.
#[test]
fn bundles_replay_elsewhere() {
    let (workshop, id, _) = hunted();
    let _ = there(&workshop, &["bundle", &id, "--out", "out"]).expect(0);
    let name = format!("{id}.rhbundle");
    let elsewhere = Workshop::new();
    fs::copy(workshop.path(&name), elsewhere.path(&name)).expect("copied");
    fs::remove_dir_all(workshop.path("")).expect("removed");
    let ended = there(&elsewhere, &["replay", &name, "--color", "never"]).expect(0);
    // Names and sources come from the bundle.
    assert!(ended.stdout.contains("`counter->count`"), "{}", ended.stdout);
    assert!(ended.stdout.contains("counter->count++;"), "{}", ended.stdout);
    assert!(ended.stdout.contains("replayed 5/5"), "{}", ended.stdout);
    assert!(ended.stdout.contains(&format!("replay: racehunter replay {name}\n")), "{}", ended.stdout);
    // Any tar can read it.
    let listed = elsewhere.shell(&format!("tar tf {name}")).stdout;
    assert!(["bundle.json", "finding.json", "program"].iter().all(|file| listed.contains(file)), "{listed}");
    refuses_others(&elsewhere, &name);
}

/// Checks that a bundle for another machine, and a truncated one, are refused.
fn refuses_others(workshop: &Workshop, name: &str) {
    let bytes = fs::read(workshop.path(name)).expect("a bundle");
    fs::write(workshop.path("cut.rhbundle"), &bytes[..bytes.len() / 2]).expect("written");
    let _ = there(workshop, &["replay", "cut.rhbundle"]).expect(2).says("cannot be used as a bundle");
    let unpacked = "mkdir other && tar xf NAME -C other && sed -i 's/\"architecture\": \"[^\"]*\"/\"architecture\": \"vax\"/' \
        other/bundle.json && tar cf vax.rhbundle --format ustar -C other bundle.json finding.json program";
    let _ = workshop.shell(&unpacked.replace("NAME", name));
    let _ = there(workshop, &["replay", "vax.rhbundle"]).expect(2).says("its program is for vax");
}

/// Sources edited since are not shown as if they had been run.
#[test]
fn changed_sources_are_noticed() {
    let (workshop, id, ended) = hunted();
    assert!(!ended.stdout.contains("changed"), "{}", ended.stdout);
    workshop.write("program.c", &format!("// a new line\n{RACE}"));
    let said = |ended: Ended| assert!(ended.stdout.contains("program.c` has changed since"), "{}", ended.stdout);
    said(there(&workshop, &["replay", &id, "--out", "out", "--color", "never"]).expect(0));
    said(there(&workshop, &["report", "out", "--color", "never"]).expect(0));
    let hunt = ["hunt", "--quiet", "--color", "never", "--runs", "40", "--out", "again", "./program"];
    let again = there(&workshop, &hunt).expect(1);
    assert!(again.stdout.contains("was changed after the program was built"), "{}", again.stdout);
    assert!(Path::new(&workshop.path("again")).exists());
}

/// Several pairs of lines that race on one variable are one bug.
#[test]
fn races_with_one_cause_are_variants() {
    let (workshop, program) = Workshop::with_program(
        "#include <pthread.h>
        static int count;
        static void *work(void *unused) {
            count = 1;
            count = 2;
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            int seen = *(volatile int *)&count;
            *(volatile int *)&count = 7;
            pthread_join(thread, 0);
            return seen > 9;
        }",
    );
    let hunted = workshop.hunt(&program, &["--runs", "60"]).expect(1);
    let (first, rest) = hunted.findings.split_first().expect("findings");
    assert!(!rest.is_empty() && first.variant_of.is_none());
    assert!(rest.iter().all(|finding| finding.variant_of.as_ref() == Some(&first.id)), "{rest:?}");
    assert!(first.cause.as_ref().is_some_and(|cause| cause.contains("holds a lock")), "{:?}", first.cause);
    let report = there(&workshop, &["report", "out", "--color", "never"]).expect(0).stdout;
    assert_eq!(report.matches("  step  ").count(), 1, "{report}");
    assert_eq!(report.matches(&format!("the same cause as {}", first.id)).count(), rest.len(), "{report}");
}

/// A block that is freed while another thread uses it at many places.
#[test]
fn one_bug_at_many_places_is_one_finding() {
    let (workshop, program) = Workshop::with_program(
        "#include <pthread.h>
        #include <stdlib.h>
        struct session { int id, hits, bytes, state; struct session *next; };
        static struct session *current;
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static struct session *get(struct session *then) {
            pthread_mutex_lock(&lock);
            struct session *now = current;
            current = then;
            pthread_mutex_unlock(&lock);
            return now;
        }
        static void *use(void *argument) {
            struct session *mine = get(argument);
            if (!mine)
                return 0;
            mine->id = 1;
            mine->hits++;
            mine->bytes += 2;
            mine->state = 3;
            if (mine->next)
                mine->hits--;
            return 0;
        }
        int main(void) {
            pthread_t thread;
            struct session *session = current = calloc(1, sizeof *current);
            pthread_create(&thread, 0, use, session);
            free(get(NULL));
            pthread_join(thread, 0);
            return 0;
        }",
    );
    let hunted = workshop.hunt(&program, &["--runs", "300"]).expect(1);
    let (variants, firsts): (Vec<_>, Vec<_>) = hunted.findings.iter().partition(|finding| finding.variant_of.is_some());
    assert!(firsts.len() == 1 && variants.len() >= 4, "{:?}", hunted.overview());
    let report = there(&workshop, &["report", "out", "--color", "never"]).expect(0).stdout;
    assert!(report.contains(&format!("1 finding with {} variants", variants.len())), "{report}");
}

/// However long an execution is, its report contains the relevant steps, with the right numbers.
#[test]
fn early_steps_that_matter_are_in_long_interleavings() {
    let (workshop, program) = Workshop::with_program(
        "#include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        static atomic_int limit, noise;
        static void *set(void *unused) {
            atomic_store(&limit, 5);
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, set, 0);
            pthread_join(thread, 0);
            pthread_create(&thread, 0, set, 0);
            for (int round = 0; round < 900; round++) {
                atomic_fetch_add(&noise, 1);
            }
            assert(limit == 0);
            return 0;
        }",
    );
    let hunted = workshop.hunt(&program, &["--runs", "5", "--stop-on-first"]).expect(1);
    let finding = &hunted.findings[0];
    assert_eq!(finding.kind, "assertion");
    let written = finding.steps.iter().find(|step| step.what.contains("write limit")).expect("the write is kept");
    assert!(written.matters && written.number < 10, "{written:?}");
    let last = finding.steps.last().expect("steps");
    assert!(last.number > 900 && finding.steps.len() <= 400, "{last:?}");
    let cause = finding.cause.as_ref().expect("a cause");
    assert!(cause.contains("`limit` is 5") && cause.contains(&format!("(step {})", written.number)), "{cause}");
    let report = there(&workshop, &["report", "out", "--color", "never"]).expect(0).stdout;
    assert!(report.lines().count() < 40 && report.contains("steps ..."), "{report}");
}

/// The title of a deadlock is its cycle; threads that wait only because of it are listed separately.
#[test]
fn deadlocks_are_titled_by_their_cycle() {
    let workshop = Workshop::new();
    let hunted = workshop.hunt(Path::new("targets/deadlock/timer_goes_on.c"), &["--stop-on-first"]).expect(1);
    assert_eq!(
        hunted.findings[0].message,
        "T2 holds `first`, waits for `second`; T3 holds `second`, waits for `first`"
    );
    let report = there(&workshop, &["report", "out", "--color", "never"]).expect(0).stdout;
    assert!(report.contains("= because of that: main thread waits for the end of thread T2"), "{report}");
}

/// A program with the interface of GoogleTest: a case with a race, a correct one, one without threads, and one that is
/// disabled.
const SUITE: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked, count;
static void *work(void *unused) {
    if (locked) pthread_mutex_lock(&lock);
    count++;
    if (locked) pthread_mutex_unlock(&lock);
    return unused;
}
static int run(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--gtest_list_tests")) {
        puts("Counter.\n  Races\n  Locks\n  Alone\n  DISABLED_Later");
        return 0;
    }
    const char *filter = argc > 1 ? argv[1] : "";
    if (!strcmp(filter, "--gtest_filter=Counter.Alone")) return 0;
    locked = !strcmp(filter, "--gtest_filter=Counter.Locks");
    return run();
}
"#;

#[test]
fn each_case_of_a_suite_is_hunted_separately() {
    let (workshop, _) = Workshop::with_program(SUITE);
    let test = ["test", "./program", "--runs", "60", "--junit", "results.xml", "--out", "out"];
    let ended = there(&workshop, &test).expect(1);
    let line = |name: &str| {
        ended.stdout.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{}", ended.stdout))
    };
    assert!(line("Counter.Races").contains("FAIL") && line("Counter.Races").contains("finding"), "{}", ended.stdout);
    assert!(line("Counter.Locks").contains("PASS"), "{}", ended.stdout);
    assert!(line("Counter.Alone").contains("SKIP") && line("Counter.Alone").contains("no thread"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("DISABLED"), "{}", ended.stdout);
    assert!(ended.stdout.contains("3 tests: 1 passed, 1 failed, 1 skipped"), "{}", ended.stdout);
    let junit = fs::read_to_string(workshop.path("results.xml")).expect("a file");
    assert!(junit.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{junit}");
    // Findings can be replayed, with the arguments of their case.
    let id = ended.stdout.split('[').filter_map(|part| part.split(']').next()).find(|id| id.len() == 8).expect("an id");
    let _ = there(&workshop, &["replay", id, "--out", "out"]).expect(0);
    // One case, and cases that do not exist.
    let _ = there(&workshop, &["test", "./program", "--filter", "Locks", "--runs", "60", "--out", "out"]).expect(0);
    let _ = there(&workshop, &["test", "./program", "--filter", "Alone", "--out", "out"]).expect(4);
    let _ = there(&workshop, &["test", "./program", "--filter", "none", "--out", "out"]).expect(2).says("no test has");
    let _ = there(&workshop, &["test", "/bin/true", "--out", "out"]).expect(4);
}

/// The tests known to CTest are hunted, and uninstrumented ones are skipped.
#[test]
fn tests_of_ctest_are_hunted() {
    let (workshop, program) = Workshop::with_program(SUITE);
    let program = program.display();
    let tests = format!(
        "add_test(races \"{program}\" \"anything\")\nadd_test(locks \"{program}\" \"--gtest_filter=Counter.Locks\")\n\
         add_test(script \"/bin/sh\" \"-c\" \"true\")\n"
    );
    workshop.write("build/CTestTestfile.cmake", &tests);
    let ended = there(&workshop, &["test", "--ctest", "build", "--runs", "60", "--out", "out"]).expect(1);
    let line = |name: &str| {
        ended.stdout.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{}", ended.stdout))
    };
    assert!(line("races").contains("FAIL") && line("locks").contains("PASS"), "{}", ended.stdout);
    // Files are named as seen from here, not from the directory of the test.
    assert!(ended.stdout.contains(&format!("\n{:20}program.c:", "")), "{}", ended.stdout);
    assert!(ended.stdout.contains(&format!("\n{:22}cause: ", "")), "{}", ended.stdout);
    assert!(line("script").contains("SKIP") && line("script").contains("not instrumented"), "{}", ended.stdout);
}

/// A hunt as a test report: failed, passed.
#[test]
fn a_hunt_is_reported_as_junit() {
    let (workshop, _) = Workshop::with_program(SUITE);
    let hunt = ["hunt", "--quiet", "--runs", "60", "--message-format", "junit", "--out", "out", "./program", "--"];
    let failed = there(&workshop, &[&hunt[..], &["races"]].concat()).expect(1).stdout;
    assert!(
        failed.starts_with("<?xml") && failed.contains("<failure message=\"") && failed.contains("data-race"),
        "{failed}"
    );
    let passed = there(&workshop, &[&hunt[..], &["--gtest_filter=Counter.Locks"]].concat()).expect(0).stdout;
    assert!(passed.contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""), "{passed}");
}

/// A rebuilt program shows the same bug: the finding of the earlier build stays, with its own schedule.
#[test]
fn builds_keep_their_own_findings() {
    let (workshop, id, _) = hunted();
    fs::rename(workshop.path("program"), workshop.path("first")).expect("moved");
    let _ = workshop.cc(["-O0", "-pthread", "program.c", "-o", "program"]).expect(0);
    let hunt = ["hunt", "--quiet", "--runs", "40", "--out", "out", "./program"];
    assert!(there(&workshop, &hunt).expect(1).stdout.contains(&id));
    for program in ["first", "program"] {
        let _ = there(&workshop, &["replay", &id, "--out", "out", "--program", program]).expect(0);
    }
    // One line for one bug.
    let listed = there(&workshop, &["list", "out"]).expect(0).stdout;
    assert_eq!(listed.matches(&id).count(), 1, "{listed}");
}
