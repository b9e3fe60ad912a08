//! Options of `hunt`, each with a program on which it makes a difference.

use racehunter_e2e::workshop::text;
use racehunter_e2e::{Hunted, Workshop, racehunter, run};
use std::path::Path;

/// Two data races, at two variables.
const TWO_RACES: &str = r"
#include <pthread.h>
#include <stddef.h>

int left, right;

static void *work(void *unused) {
    left++;
    right++;
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
";

#[test]
fn stop_on_first_ends_the_hunt_at_the_first_finding() {
    let (workshop, program) = Workshop::with_program(TWO_RACES);
    let all = workshop.hunt(&program, &["--runs", "100"]).expect(1);
    assert!(all.findings.len() >= 2, "{:#?}", all.overview());
    let first = workshop.hunt(&program, &["--runs", "100", "--stop-on-first"]).expect(1);
    assert!(first.summary().executions < all.summary().executions);
    assert!(!first.summary().complete, "{:?}", first.summary());
}

/// Every analysis finds a bug that needs a preemption, by the same executions with one worker and with two.
#[test]
fn every_analysis_finds_a_lost_update() {
    let (workshop, program) = Workshop::with_program(
        "#include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        static atomic_int total;
        static void *add(void *unused) {
            int seen = atomic_load(&total);
            atomic_store(&total, seen + 1);
            return unused;
        }
        int main(void) {
            pthread_t threads[2];
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
            for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
            assert(total == 2);
            return 0;
        }",
    );
    let help = run(&mut racehunter(["hunt", "--help-all"])).expect(0).stdout;
    let known = "auto context-bound variable-bound thread-bound dfs random pct pct-vb pos surw coverage sampling";
    for analysis in known.split(' ') {
        assert!(help.contains(analysis), "the help does not mention {analysis}:\n{help}");
        let hunt = |jobs| workshop.hunt(&program, &["--analysis", analysis, "--runs", "200", "--jobs", jobs]).expect(1);
        let (one, two) = (hunt("1"), hunt("2"));
        let kinds: Vec<&str> = one.findings.iter().map(|finding| finding.kind.as_str()).collect();
        assert_eq!(kinds, ["assertion"], "{analysis}");
        assert_eq!(one.repeatable, two.repeatable, "{analysis}");
    }
}

#[test]
fn a_hunt_ends_when_its_time_is_up() {
    let (workshop, program) = Workshop::with_program(TWO_RACES);
    let hunted = workshop.hunt(&program, &["--analysis", "random", "--time", "300ms", "--runs", "100000000"]).expect(1);
    assert!(hunted.summary().executions < 100_000_000);
}

#[test]
fn a_hunt_makes_the_requested_number_of_executions() {
    let (workshop, program) = Workshop::with_program(TWO_RACES);
    for runs in ["1", "77"] {
        let hunted = workshop.hunt(&program, &["--analysis", "random", "--runs", runs]).expect(1);
        assert_eq!(hunted.summary().executions.to_string(), runs);
    }
}

/// One stage with everything within the bound, as in the 2025 paper.
#[test]
fn a_bound_need_not_be_iterated() {
    let workshop = Workshop::new();
    let target = Path::new("targets/data-race/lost_update.fixed.c");
    let options = ["--analysis", "context-bound", "--bound", "2", "--bound-kind", "switches"];
    let iterated = workshop.hunt(target, &options).expect(0);
    let at_once = workshop.hunt(target, &[&options[..], &["--no-iterate"]].concat()).expect(0);
    let bounds = |hunted: &Hunted| hunted.bounds.iter().map(|bound| bound.bound).collect::<Vec<u32>>();
    assert_eq!((bounds(&iterated), bounds(&at_once)), (vec![0, 1, 2], vec![2]));
    assert_eq!(at_once.summary().guarantee, iterated.summary().guarantee);
    assert_eq!(at_once.summary().executions, iterated.summary().executions);
}

/// A loop whose first ten iterations differ from the others.
const LAZY: &str = r"
#include <assert.h>
#include <pthread.h>
#include <racehunter.h>
#include <stdatomic.h>
#include <stddef.h>

static int turns;
static atomic_int shared;

static void reset(void) {
    turns++;
    shared = 0;
}

static void *work(void *unused) {
    (void)unused;
    int seen = shared;
    if (turns <= 10)
        shared = seen + 1;
    else
        shared++;
    return NULL;
}

static void test(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(shared == 2);
}

int main(void) { return racehunter_loop(test, reset); }
";

#[test]
fn preparatory_iterations_are_not_explored() {
    let (workshop, program) = Workshop::with_program(LAZY);
    let hunt =
        |turns: &str| workshop.hunt(&program, &["--preparatory", turns, "--jobs", "1", "--analysis", "context-bound"]);
    let prepared = hunt("10").expect(0);
    assert!(prepared.summary().complete && prepared.findings.is_empty(), "{:?}", prepared.summary());
    let unprepared = hunt("0");
    assert!(unprepared.ended.status != Some(0), "{:?}", unprepared.summary());
}

#[test]
fn bounds_count_preemptions_or_switches_as_requested() {
    let target = Path::new("targets/data-race/lost_update.fixed.c");
    let workshop = Workshop::new();
    let executions = |kind, bound| {
        let options = ["--analysis", "context-bound", "--bound-kind", kind, "--bound", bound];
        let hunted = workshop.hunt(target, &options).expect(0);
        assert!(hunted.summary().complete, "{:?}", hunted.summary());
        assert_eq!(hunted.bounds.len(), bound.parse::<usize>().map_or(0, |bound| bound + 1));
        hunted.summary().executions
    };
    assert!(executions("preemptions", "0") < executions("preemptions", "1"));
    assert!(executions("preemptions", "1") < executions("preemptions", "2"));
    assert!(
        executions("switches", "2") < executions("preemptions", "2"),
        "a bound on switches must allow fewer schedules"
    );
}

#[test]
fn more_points_make_more_schedules() {
    let target = Path::new("targets/data-race/lost_update.fixed.c");
    let workshop = Workshop::new();
    let points = |which| {
        let options = ["--analysis", "context-bound", "--bound", "1", "--points", which];
        let hunted = workshop.hunt(target, &options).expect(0);
        assert!(hunted.summary().complete, "{:?}", hunted.summary());
        (hunted.summary().points, hunted.summary().executions)
    };
    let (sync, shared, all) = (points("sync"), points("shared"), points("all"));
    assert!(sync.0 < shared.0 && sync.1 < shared.1, "{sync:?} {shared:?}");
    assert!(shared.0 <= all.0 && shared.1 <= all.1, "{shared:?} {all:?}");
}

#[test]
fn different_seeds_give_different_searches() {
    let target = Path::new("targets/assertion/two_of_two.c");
    let workshop = Workshop::new();
    let first_seen = |seed| {
        let options = ["--analysis", "random", "--stop-on-first", "--seed", seed];
        workshop.hunt(target, &options).expect(1).findings[0].execution
    };
    assert_eq!(first_seen("1"), first_seen("1"));
    let first = first_seen("1");
    assert!(["2", "3", "4", "5"].into_iter().any(|seed| first_seen(seed) != first), "the seed makes no difference");
}

#[test]
fn the_program_reads_the_given_input() {
    let (workshop, program) = Workshop::with_program(
        r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char word[32];

static void *check(void *unused) {
    assert(strcmp(word, "expected") == 0);
    return unused;
}

int main(void) {
    if (scanf("%31s", word) != 1)
        strcpy(word, "nothing");
    pthread_t thread;
    pthread_create(&thread, NULL, check, NULL);
    pthread_join(thread, NULL);
    return 0;
}
"#,
    );
    let (right, wrong) = (workshop.write("right", "expected\n"), workshop.write("wrong", "unexpected\n"));
    let hunt = |input: &Path| workshop.hunt(&program, &["--runs", "5", "--input", &text(input)]);
    let _ = hunt(&right).expect(0);
    let failed = hunt(&wrong).expect(1);
    assert_eq!(failed.findings[0].kind, "assertion");
    workshop.replay(&failed.findings[0].id).expect(0);
    let _ = workshop.hunt(&program, &["--runs", "5"]).expect(1);
}

/// A suppression must work for everyone who has the source.
#[test]
fn a_finding_has_the_same_id_in_every_directory() {
    let ids = |folder: &str| {
        let workshop = Workshop::new();
        let source = workshop.write(&format!("{folder}/program.c"), TWO_RACES);
        let mut command = workshop.hunt_command(Path::new("program.c"), &["--runs", "50"]);
        let hunted = Hunted::new(run(command.current_dir(source.with_file_name("")))).expect(1);
        hunted.findings.into_iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    let here = ids("here");
    assert!(here.len() >= 2, "{here:?}");
    assert_eq!(here, ids("somewhere/else"));
}

#[test]
fn compiler_options_are_passed_on() {
    let workshop = Workshop::new();
    let source = workshop.write("program.c", &TWO_RACES.replace("right++;", "right += STEP;"));
    let _ = workshop.hunt(&source, &["--runs", "5"]).expect(2);
    let _ = workshop.hunt(&source, &["--runs", "5", "--cflags", "-DSTEP=2 -O2"]).expect(1);
}

#[test]
fn progress_is_on_standard_error_and_can_be_silenced() {
    let (workshop, program) = Workshop::with_program(TWO_RACES);
    let hunted = workshop.hunt(&program, &["--runs", "20"]).expect(1);
    assert_eq!(hunted.ended.stderr, "");
}

/// Two threads increment a variable, one step at a time; a lost update shows in the status, or in the output.
fn lossy(end: &str) -> String {
    format!(
        r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

atomic_int n;

static void *add(void *unused) {{
    int seen = atomic_load(&n);
    atomic_store(&n, seen + 1);
    return unused;
}}

int main(void) {{
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    puts("done");
    {end}
}}
"#
    )
}

#[test]
fn status_and_output_are_compared_when_asked() {
    let cases = [
        ("exit-status", "return n == 2 ? 0 : 3;", "ends with status 3", "without a preemption it ends with status 0"),
        (
            "output",
            r#"printf("n = %d\n", n); return 0;"#,
            "what the program writes",
            "it writes `n = 1` where it writes `n = 2`",
        ),
    ];
    for (kind, end, message, note) in cases {
        let (workshop, program) = Workshop::with_program(&lossy(end));
        let options = ["--analysis", "context-bound"];
        // A failure status is a finding unless it is allowed; here every status is.
        let _ = workshop.hunt(&program, &[&options[..], &["--allow-exit-status"]].concat()).expect(0);
        let hunted = workshop.hunt(&program, &[&options[..], &["--check-output"]].concat()).expect(1);
        let [finding] = &hunted.findings[..] else { panic!("{:?}", hunted.overview()) };
        assert_eq!((finding.kind.as_str(), finding.preemptions, finding.replayed), (kind, 1, [5, 5]));
        assert!(finding.message.contains(message), "{}", finding.message);
        let line = hunted.repeatable.iter().find(|line| line["reason"] == "finding").expect("there is one");
        assert!(line["notes"].to_string().contains(note), "{line}");
        assert!(hunted.summary().complete, "{:?}", hunted.summary());
        let _ = workshop.replay(&finding.id).expect(0);
        // The same status and output in all schedules is not a finding.
        let fixed = lossy(end).replace("int seen = atomic_load(&n);", "").replace("atomic_store(&n, seen + 1)", "n++");
        let (workshop, program) = Workshop::with_program(&fixed);
        let _ = workshop.hunt(&program, &[&options[..], &["--check-output"]].concat()).expect(0);
    }
}

#[test]
fn a_failure_status_is_a_finding_unless_it_is_allowed() {
    let (workshop, program) =
        Workshop::with_program(&lossy(r#"if (n != 2) puts("FAILED: n"); return n == 2 ? 0 : 3;"#));
    let hunt = |more: &[&str]| workshop.hunt(&program, &[&["--analysis", "context-bound"], more].concat());
    let hunted = hunt(&[]).expect(1);
    let [finding] = &hunted.findings[..] else { panic!("{:?}", hunted.overview()) };
    assert_eq!((finding.kind.as_str(), finding.preemptions, finding.replayed), ("exit-status", 1, [5, 5]));
    assert_eq!(finding.message, "the program ends with status 3, which depends on the schedule");
    for note in ["without a preemption it ends with status 0", "it wrote: FAILED: n"] {
        assert!(finding.notes.iter().any(|line| line == note), "{:?}", finding.notes);
    }
    let _ = workshop.replay(&finding.id).expect(0);
    let _ = hunt(&["--allow-exit-status=4"]).expect(1);
    for allowed in ["--allow-exit-status=3", "--allow-exit-status=4,3", "--allow-exit-status"] {
        let hunted = hunt(&[allowed]).expect(0);
        assert!(hunted.summary().complete, "{allowed}");
    }
    let _ = run(&mut workshop.hunt_command(&program, &["--allow-exit-status=256"])).expect(2).says("from 0 to 255");
    // A known failure can be suppressed.
    let id = &finding.id;
    let settings = workshop.write("racehunter.toml", &format!("[[suppress]]\nid = '{id}'\nreason = 'flaky'\n"));
    let mut command = workshop.hunt_command(&program, &["--analysis", "context-bound"]);
    let suppressed = Hunted::new(run(command.env("RACEHUNTER_CONFIG", settings))).expect(0);
    assert_eq!(suppressed.summary().findings, 0);
}

/// Printing is a scheduling point if outputs are compared, and such a finding replays.
#[test]
fn output_of_threads_is_compared_in_every_order() {
    let prints = |call: &str| {
        format!(
            r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *text) {{
    {call};
    return NULL;
}}
int main(void) {{
    pthread_t first;
    char *text = "main\n";
    pthread_create(&first, NULL, work, "thread\n");
    {call};
    pthread_join(first, NULL);
    return 0;
}}
"#
        )
    };
    for call in ["puts(text)", "printf(\"%s\", (char *)text)", "(void)!write(1, text, 4)"] {
        let (workshop, program) = Workshop::with_program(&prints(call));
        let hunted = workshop.hunt(&program, &["--runs", "100", "--check-output"]).expect(1);
        assert_eq!(hunted.findings[0].kind, "output", "{call}: {:#?}", hunted.overview());
        let _ = workshop.replay(&hunted.findings[0].id).expect(0);
    }
}
