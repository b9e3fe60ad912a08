//! Interrupted, resumed and divided hunts.

use racehunter_e2e::processes::{eventually, expect_none};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Hunted, Started, Workshop, racehunter, root, run};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Three threads with a race, a deadlock and a failing assertion between them, and many schedules.
const BUSY: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
atomic_int step, sum;
int plain;

static void *one(void *unused) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&sum, 1);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    plain++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    int seen = atomic_load(&step);
    atomic_store(&step, seen + 1);
    return unused;
}

static void *two(void *unused) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&sum, 1);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    plain++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    int seen = atomic_load(&step);
    atomic_store(&step, seen + 1);
    return unused;
}

static void *three(void *unused) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&sum, 1);
    plain++;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_create(&threads[2], NULL, three, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&step) == 2);
    return 0;
}
"#;

/// What must be equal however a hunt reached its end: findings and bounds in any order, and the summary.
fn essence(hunted: &Hunted) -> Vec<String> {
    // An assumption of resumed or divided hunts only.
    let plain = |line: &Value| line.to_string().replace(",\"the same files in each run\"", "");
    let mut lines: Vec<String> = hunted.repeatable.iter().map(plain).collect();
    lines.sort();
    lines
}

fn campaigns(out: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out.join("campaigns")) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rhc")).collect()
}

#[test]
fn a_killed_hunt_resumes() {
    let (workshop, program) = Workshop::with_program(BUSY);
    let options = ["--analysis", "context-bound", "--bound", "2", "--jobs", "1"];
    let whole = Workshop::new().hunt(&program, &options).expect(1);
    assert!(whole.findings.len() >= 3, "{:#?}", whole.overview());
    assert!(whole.summary().executions > 3_000, "{:?}", whole.summary());
    let resumed: Vec<&str> = options.iter().copied().chain(["--resume"]).collect();
    let mut kills = 0;
    let hunted = loop {
        let options = if kills == 0 { &options[..] } else { &resumed[..] };
        let hunt = Started::new(&mut workshop.hunt_command(&program, options));
        if kills < 4 {
            // The first hunt is killed as soon as there is something to resume, the others some time later.
            eventually("nothing is kept", || !campaigns(&workshop.out()).is_empty());
            thread::sleep(Duration::from_millis(700 * kills));
            hunt.signal(Signal::KILL);
            drop(hunt);
            expect_none(&program);
            kills += 1;
            continue;
        }
        break Hunted::new(hunt.finish());
    };
    let hunted = hunted.expect(1);
    assert_eq!(essence(&hunted), essence(&whole));
    // Only the campaign is left.
    let left = fs::read_dir(workshop.out().join("campaigns")).unwrap().count();
    assert_eq!((left, campaigns(&workshop.out()).len()), (1, 1));
    // A finished hunt stays finished.
    let again = workshop.hunt(&program, &resumed).expect(1);
    assert_eq!(essence(&again), essence(&whole));
    for finding in &whole.findings {
        let _ = workshop.replay(&finding.id).expect(0);
    }
}

#[test]
fn an_interrupted_hunt_resumes_with_a_larger_budget() {
    let (workshop, program) = Workshop::with_program(BUSY);
    let whole = Workshop::new().hunt(&program, &["--runs", "700"]).expect(1);
    for runs in ["100", "300", "500"] {
        let resume = if runs == "100" { None } else { Some("--resume") };
        let options: Vec<&str> = ["--runs", runs].into_iter().chain(resume).collect();
        let part = workshop.hunt(&program, &options).expect(1);
        assert_eq!(part.summary().executions.to_string(), runs);
    }
    // Without a target, it resumes the last hunt with its options.
    let mut command = racehunter(["hunt", "--resume", "--runs", "700", "--out"]);
    let last = Hunted::new(run(command.arg(workshop.out()))).expect(1);
    assert_eq!(last.summary().executions, 700);
    let findings = |hunted: &Hunted| {
        let mut ids: Vec<_> = hunted.findings.iter().map(|finding| (finding.id.clone(), finding.execution)).collect();
        ids.sort();
        ids
    };
    assert_eq!(findings(&last), findings(&whole));
}

#[test]
fn only_the_same_hunt_resumes() {
    let (workshop, program) = Workshop::with_program(BUSY);
    let resume = |options: &[&str]| workshop.hunt(&program, &[options, &["--resume"]].concat());
    let nothing = resume(&["--runs", "10"]).expect(2);
    nothing.ended.says("there is no campaign of").says("without --resume");
    let _ = workshop.hunt(&program, &["--runs", "10", "--seed", "4"]);
    resume(&["--runs", "20", "--seed", "5"]).expect(2).ended.says("there is no campaign of");
    assert_eq!(resume(&["--runs", "20", "--seed", "4"]).summary().executions, 20);
    // A rebuilt program is a different program.
    let source =
        workshop.write("program.c", &BUSY.replace("i < 3; i++)\n        atomic", "i < 2; i++)\n        atomic"));
    workshop.cc(["-O1", "-pthread", "-Wall", &text(&source), "-o", &text(&program)]).expect(0);
    resume(&["--runs", "30", "--seed", "4"]).expect(2).ended.says("rebuilt since");
    // A damaged campaign is refused.
    let [kept] = &campaigns(&workshop.out())[..] else { panic!("one campaign") };
    let _ = workshop.hunt(&program, &["--runs", "10", "--seed", "4"]);
    let mut bytes = fs::read(kept).unwrap();
    let last = bytes.len() - 9;
    bytes[last] ^= 1;
    fs::write(kept, bytes).unwrap();
    resume(&["--runs", "30", "--seed", "4"]).expect(2).ended.says("damaged");
}

/// Two atomic steps per thread; their effect depends on the environment, the input and a library.
const DEPENDS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
int step(void);
atomic_int sum;
static void *add(void *unused) {
    sum += step();
    sum += getchar();
    return unused;
}
int main(void) {
    pthread_t thread;
    if (getenv("MORE"))
        sum += 1;
    pthread_create(&thread, NULL, add, NULL);
    sum += 1;
    pthread_join(thread, NULL);
    return 0;
}
"#;

/// A claim about one input must not combine executions with different inputs.
#[test]
fn a_hunt_does_not_resume_with_other_inputs() {
    let workshop = Workshop::new();
    let library = |step: &str| {
        let source = workshop.write("step.c", &format!("int step(void) {{ return {step}; }}"));
        workshop.cc(["-shared", "-fPIC", &text(&source), "-o", &text(&workshop.path("libstep.so"))]).expect(0);
    };
    library("1");
    let (source, program) = (workshop.write("program.c", DEPENDS), workshop.path("program"));
    let (search, find) = (format!("-L{}", text(&workshop.path("."))), "-Wl,-rpath,$ORIGIN");
    workshop.cc(["-pthread", &text(&source), &search, "-lstep", find, "-o", &text(&program)]).expect(0);
    let input = text(&workshop.write("input", "1"));
    let options = ["--analysis", "context-bound", "--input", &input];
    let resume = || workshop.hunt_command(&program, &[&options[..], &["--resume"]].concat());
    let first = workshop.hunt(&program, &options).expect(0);
    assert!(first.summary().complete);
    assert!(run(&mut resume()).expect(0).stdout.contains("the same files in each run"));
    run(resume().env("MORE", "1")).expect(2).says("the variable `MORE` of the environment differs");
    run(resume().env("SHLVL", "99")).expect(0);
    workshop.write("input", "2");
    run(&mut resume()).expect(2).says("the contents of the input differ");
    workshop.write("input", "1");
    library("2");
    run(&mut resume()).expect(2).says("libstep.so` has changed");
    // The same holds for the parts of a hunt.
    let part = |part: &str, out: &str| {
        let mut command = racehunter(["hunt", "--quiet", "--partition", part, "--out"]);
        command.arg(workshop.path(out)).args(options).arg(&program);
        command
    };
    run(&mut part("1/2", "a")).expect(0);
    run(part("2/2", "b").env("MORE", "1")).expect(0);
    run(&mut part("2/2", "c")).expect(0);
    workshop.merge(&["a", "b"], &[]).expect(2).ended.says("the variable `MORE` of the environment differs");
    let merged = workshop.merge(&["a", "c"], &[]).expect(0);
    assert!(merged.ended.stdout.contains("the same files in each run"));
}

/// Hunts all parts, each into its own directory. Returns their names.
fn parts(workshop: &Workshop, target: &Path, of: u32, options: &[&str]) -> Vec<(String, Hunted)> {
    let part = |number: u32| {
        let name = format!("part-{number}");
        let mut command = racehunter(["hunt", "--message-format", "json", "--quiet", "--out"]);
        command.arg(workshop.path(&name)).args(["--partition", &format!("{number}/{of}")]).args(options).arg(target);
        (name, Hunted::new(run(&mut command)))
    };
    (1..=of).map(part).collect()
}

#[test]
fn four_parts_together_equal_the_whole() {
    for reduction in [&["--reduction"][..], &[]] {
        let (workshop, program) = Workshop::with_program(BUSY);
        let options = [&["--analysis", "context-bound", "--bound", "1"], reduction].concat();
        let whole = Workshop::new().hunt(&program, &options).expect(1);
        let parts = parts(&workshop, &program, 4, &options);
        for (number, (_, part)) in (1..).zip(&parts) {
            let summary = part.summary();
            assert!(summary.complete, "{summary:?}");
            assert!(summary.guarantee.starts_with(&format!("part {number} of 4 of all schedules")), "{summary:?}");
            assert!(summary.executions < whole.summary().executions, "{summary:?}");
        }
        let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        let merged = workshop.merge(&names, &["--require-complete"]).expect(1);
        let ids = |hunted: &Hunted| {
            let mut ids: Vec<String> = hunted.findings.iter().map(|finding| finding.id.clone()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&merged), ids(&whole));
        assert!(merged.summary().complete, "{:?}", merged.summary());
        assert_eq!(merged.summary().guarantee, whole.summary().guarantee);
        assert_eq!(merged.summary().points, whole.summary().points);
        if reduction.is_empty() {
            assert_eq!(merged.summary().executions, whole.summary().executions);
        }
        for finding in &merged.findings {
            let _ = workshop.replay(&finding.id).expect(0);
        }
        // Without one of them nothing is claimed, but the findings of the others remain.
        let three = workshop.merge(&names[1..], &[]).expect(1);
        assert!(!three.summary().complete);
        assert!(three.summary().guarantee.starts_with("some schedules"), "{:?}", three.summary());
        assert!(three.summary().missed.contains(&"part 1 of 4 is not here".to_owned()), "{:?}", three.summary());
    }
}

#[test]
fn parts_of_a_clean_program_prove_the_whole() {
    let target = Path::new("targets/data-race/lost_update.fixed.c");
    let workshop = Workshop::new();
    let options = ["--analysis", "context-bound"];
    let whole = workshop.hunt(target, &options).expect(0);
    let parts = parts(&workshop, target, 3, &options);
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    let merged = workshop.merge(&names, &["--require-complete"]).expect(0);
    assert_eq!(merged.summary().guarantee, whole.summary().guarantee);
    let _ = workshop.merge(&names[..2], &["--require-complete"]).expect(3);
}

#[test]
fn parts_of_different_campaigns_are_not_merged() {
    let (workshop, program) = Workshop::with_program(BUSY);
    for (seed, name) in [("1", "a"), ("2", "b")] {
        let mut command = racehunter(["hunt", "--runs", "5", "--quiet", "--seed", seed, "--out"]);
        let _ = run(command.arg(workshop.path(name)).arg(&program)).expect(1);
    }
    workshop.merge(&["a", "b"], &[]).expect(2).ended.says("is not a part of the same campaign: `--seed 1` there");
    workshop.merge(&["nowhere"], &[]).expect(2).ended.says("there are no campaigns in");
    for word in ["0/3", "4/3", "x"] {
        let hunted = workshop.hunt(&program, &["--partition", word]);
        hunted.expect(2).ended.says("K from 1 to N");
    }
}

#[test]
fn reduction_loses_no_finding() {
    compare_reductions(80);
}

/// `cargo xtask test --all` runs these.
mod slow {
    #[test]
    fn reduction_loses_no_finding_of_many_programs() {
        super::compare_reductions(15);
    }
}

/// Reduction loses no finding, on programs of all kinds: every `step`th target.
fn compare_reductions(step: usize) {
    let (mut reduced, mut all) = ([0; 2], 0);
    for target in racehunter_e2e::annotations::targets().into_iter().step_by(step) {
        let bound = target.bug.as_ref().map_or(1, |bug| bug.preemptions.min(2)).to_string();
        let mut options = target.options();
        // Programs that do not end would take all of the time, and cannot be explored completely anyway.
        options.extend(["--analysis", "context-bound", "--bound", &bound, "--runs", "400", "--time", "10s"]);
        let workshop = Workshop::new();
        let more = workshop.hunt(&root().join(&target.path), &options);
        let Some(more_summary) = more.summary.as_ref().filter(|summary| summary.complete) else { continue };
        let ids = |hunted: &Hunted| {
            let mut ids: Vec<String> = hunted.findings.iter().map(|finding| finding.id.clone()).collect();
            ids.sort();
            ids
        };
        for (kind, reduced) in ["--reduction", "--reduction=dynamic"].into_iter().zip(&mut reduced) {
            let less = workshop.hunt(&root().join(&target.path), &[&options[..], &[kind]].concat());
            let Some(less_summary) = &less.summary else { panic!("{}", target.path) };
            assert_eq!(ids(&less), ids(&more), "{} {kind}", target.path);
            assert!(less_summary.complete, "{} {kind}: {less_summary:?}", target.path);
            // A search that restarts without reduction has wasted a few executions, and spurious wake-ups are tried
            // more often if a reduction has to know what they conflict with.
            let started_again = less_summary.left_out == 0;
            let has_wakeups = less_summary.guarantee.contains("wake-ups");
            assert!(
                started_again || has_wakeups || less_summary.executions <= more_summary.executions,
                "{} {kind}",
                target.path
            );
            *reduced += less_summary.executions;
        }
        all += more_summary.executions;
    }
    println!("{reduced:?} of {all}");
    assert!(reduced.iter().all(|&reduced| reduced < all), "{reduced:?} of {all}");
}

/// Two threads whose accesses are ordered by an annotation, unless the second thread annotates before the first: then
/// they race. The events alone do not show the order of the annotations.
const ANNOTATED: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
void __tsan_acquire(void *);
void __tsan_release(void *);
#define SET(x, v) atomic_store_explicit(&x, v, memory_order_relaxed)
#define GET(x) atomic_load_explicit(&x, memory_order_relaxed)
atomic_int told, begun, open;
int value;
char order;
static void *one(void *unused) {
    value = 1;
    SET(told, 1);
    __tsan_release(&order);
    SET(open, 1);
    SET(open, 0);
    return unused;
}
static void *two(void *unused) {
    SET(begun, 1);
    __tsan_acquire(&order);
    if (GET(told) && GET(open))
        value = 2;
    return unused;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, @FIRST@, NULL);
    pthread_create(&second, NULL, @SECOND@, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
"#;

#[test]
fn annotations_disable_reduction() {
    for [first, second] in [["one", "two"], ["two", "one"]] {
        let source = ANNOTATED.replace("@FIRST@", first).replace("@SECOND@", second);
        let (workshop, program) = Workshop::with_program(&source);
        for analysis in ["context-bound", "dfs"] {
            let all = workshop.hunt(&program, &["--analysis", analysis]).expect(1);
            let reduced = workshop.hunt(&program, &["--analysis", analysis, "--reduction"]).expect(1);
            let kinds =
                |hunted: &Hunted| hunted.findings.iter().map(|finding| finding.kind.clone()).collect::<Vec<_>>();
            assert_eq!((kinds(&reduced), kinds(&all)), (vec!["data-race".to_owned()], vec!["data-race".to_owned()]));
            assert_eq!(reduced.summary().left_out, 0);
            assert_eq!(reduced.summary().guarantee, all.summary().guarantee);
        }
    }
}

#[test]
fn analyses_that_cannot_be_divided_are_refused() {
    let (workshop, program) = Workshop::with_program(BUSY);
    let analysis = "watchpoint-bound";
    let hunted = workshop.hunt(&program, &["--analysis", analysis, "--partition", "1/2"]);
    hunted.expect(2).ended.says(&format!("the work of `--analysis {analysis}` cannot be divided"));
    let whole = workshop.hunt(&program, &["--analysis", analysis, "--partition", "1/1", "--runs", "20"]);
    let _ = whole.expect(1);
}

/// Ranked searches: finished parts make the whole, and an unfinished part reduces the claim to its last rank.
#[test]
fn parts_of_ranked_searches_together_equal_the_whole() {
    for (analysis, reduction) in
        [("variable-bound", &[][..]), ("variable-bound", &["--reduction"][..]), ("thread-bound", &[])]
    {
        let (workshop, program) = Workshop::with_program(BUSY);
        let options = [&["--analysis", analysis, "--bound", "1"], reduction].concat();
        let whole = Workshop::new().hunt(&program, &options).expect(1);
        let parts = parts(&workshop, &program, 3, &options);
        for (number, (_, part)) in (1..).zip(&parts) {
            let summary = part.summary();
            assert!(summary.complete, "{summary:?}");
            assert!(summary.guarantee.starts_with(&format!("part {number} of 3 of all schedules")), "{summary:?}");
            assert!(summary.executions < whole.summary().executions, "{summary:?}");
        }
        let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        let merged = workshop.merge(&names, &["--require-complete"]).expect(1);
        let kinds = |hunted: &Hunted| hunted.findings.iter().map(|finding| finding.id.clone()).collect::<BTreeSet<_>>();
        assert_eq!(kinds(&merged), kinds(&whole), "{analysis}");
        assert!(merged.summary().complete, "{:?}", merged.summary());
        assert_eq!(merged.summary().guarantee, whole.summary().guarantee);
        if analysis == "variable-bound" && reduction.is_empty() {
            assert_eq!(merged.summary().executions, whole.summary().executions);
        }
        let two = workshop.merge(&names[1..], &[]).expect(1);
        assert!(!two.summary().complete && two.summary().guarantee.starts_with("some schedules"));
    }
}

/// Happens-before pruning finds the same with fewer executions, and states its assumption.
#[test]
fn variable_bounding_can_be_reduced() {
    let (workshop, program) = Workshop::with_program(BUSY);
    let options = ["--analysis", "variable-bound"];
    let all = workshop.hunt(&program, &options).expect(1);
    let reduced = workshop.hunt(&program, &[&options[..], &["--reduction"]].concat()).expect(1);
    assert!(reduced.summary().complete && reduced.summary().left_out > 0, "{:?}", reduced.summary());
    assert!(reduced.summary().executions < all.summary().executions, "{:?}", reduced.summary());
    assert_eq!(reduced.summary().guarantee, all.summary().guarantee);
    let ids = |hunted: &Hunted| hunted.findings.iter().map(|finding| finding.id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(ids(&reduced), ids(&all));
}
