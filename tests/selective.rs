//! Executions that track few variables: what they skip is still counted, so their schedules are the same as those of every other
//! execution.

use racehunter_abi::Kind;
use racehunter_abi::{Address, CodeAddress};
use racehunter_e2e::Workshop;
use racehunter_e2e::workshop::start;
use racehunter_explore::{
    Execution, Executor as _, Observe, Outcome, Plan, Record, Style, Tail, Tracked, Variable, Variables,
};
use racehunter_launch::Processes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Loops and calls with accesses of every kind, between which threads meet at a lock, at an atomic and at plain variables.
const BUSY: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct Table { long cells[16]; char text[24]; short small; };
static struct Table tables[3];
static int turn, last;
static atomic_int passed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) long mix(struct Table *table, long seed) {
    long sum = 0;
    for (int i = 1; i < 16; i++) {
        table->cells[i] = table->cells[i - 1] * 31 + seed;
        if (table->cells[i] & 1)
            sum += table->cells[i / 2];
        else
            table->small++;
    }
    memset(table->text, (int)sum, sizeof table->text);
    memcpy(table->cells, table->text, 8);
    return sum + (long)strlen("abc") + table->text[3];
}

static void *work(void *argument) {
    long number = (long)argument, sum = number;
    long *own = calloc(8, sizeof *own);
    for (int round = 0; round < 3; round++) {
        sum += mix(&tables[number], sum);
        own[round] += sum;
        pthread_mutex_lock(&lock);
        turn = turn + 1;
        pthread_mutex_unlock(&lock);
        last = (int)number;
        atomic_fetch_add(&passed, 1);
        own[7] += own[round] + last;
    }
    free(own);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return turn == 9 && passed == 9 ? 0 : 1;
}
"#;

fn run(processes: &mut Processes, plan: &Plan) -> Execution {
    let mut executions = processes.run(std::slice::from_ref(plan)).expect("the program runs");
    executions.pop().expect("one plan, one execution")
}

/// Returns every variable that is accessed after the first thread was created, with the sites of its plain accesses.
fn variables(execution: &Execution) -> BTreeMap<u64, Vec<u32>> {
    let mut found: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    let threaded = execution.records.iter().skip_while(|record| record.kind != Kind::Create);
    for record in threaded.filter(|record| record.kind.is_access()) {
        let sites = found.entry(record.object).or_default();
        if !record.kind.is_atomic() && !sites.contains(&record.site) {
            sites.push(record.site);
        }
    }
    found
}

/// A list whose blocks one call allocates and frees, under a lock; threads are created while others wait for it.
const LIST: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Node { int number; struct Node *next; };
static struct Node *first;
static int made, freed;
static atomic_int rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t places;

static __attribute__((noinline)) void add(int number) {
    struct Node *node = malloc(sizeof *node);
    node->number = number;
    node->next = first;
    first = node;
    made++;
}

static __attribute__((noinline)) void take(void) {
    struct Node *node = first;
    first = node->next;
    free(node);
    freed++;
}

static void *work(void *argument) {
    long own = (long)argument, sum = 0;
    for (int round = 0; round < 4; round++) {
        sem_wait(&places);
        pthread_mutex_lock(&lock);
        add((int)own);
        for (struct Node *node = first; node != NULL; node = node->next)
            sum += node->number;
        if (round % 2)
            take();
        pthread_mutex_unlock(&lock);
        sem_post(&places);
        pthread_rwlock_rdlock(&both);
        sum += rounds++;
        pthread_rwlock_unlock(&both);
        pthread_spin_lock(&spin);
        made += 0 * (int)sum;
        pthread_spin_unlock(&spin);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t threads[4];
    sem_init(&places, 0, 2);
    pthread_spin_init(&spin, 0);
    for (long i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
        pthread_mutex_lock(&lock);
        add(9);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return freed == 8 && rounds == 16 ? 0 : 1;
}
"#;

/// Compiles a program with shortcuts.
fn build(workshop: &Workshop, name: &str, text: &str) -> PathBuf {
    let (source, program) = (workshop.write(&format!("{name}.c"), text), workshop.path(name));
    let mut compiler = Command::new(racehunter_e2e::tool::path());
    compiler.args(["cc", "-O1", "-pthread", "-o"]).args([&program, &source]).env("RACEHUNTER_SHORTCUTS", "1");
    workshop.run(&mut compiler).expect(0);
    program
}

/// Returns the call that allocates most blocks, with the sites of plain accesses to these blocks, and how often they are
/// accessed after the first thread was created.
fn blocks(execution: &Execution) -> (u64, Vec<u32>, u64) {
    let mut found: BTreeMap<u64, (BTreeSet<u32>, u64)> = BTreeMap::new();
    let mut variables = Variables::default();
    let mut alone = true;
    for (record, entry) in execution.records.iter().zip(execution.entries()) {
        let variable = variables.note(execution, entry);
        alone &= record.kind != Kind::Create;
        if let Some(Variable::Heap { code, .. }) = variable {
            let (sites, accesses) = found.entry(code.0).or_default();
            sites.insert(record.site);
            *accesses += u64::from(!alone);
        }
    }
    let most = found.into_iter().max_by_key(|&(_, (_, accesses))| accesses);
    let (code, (sites, accesses)) = most.expect("blocks are accessed");
    (code, sites.into_iter().collect(), accesses)
}

#[test]
fn skipped_accesses_still_change_priorities_at_the_right_event() {
    let workshop = Workshop::new();
    let mut processes = start(&build(&workshop, "list", LIST), 1);
    let whole = Plan { observe: Observe::Everything, allocations: true, ..Plan::default() };
    let first = run(&mut processes, &whole);
    assert_eq!(first.outcome, Outcome::Exited(0));
    let (code, sites, accesses) = blocks(&first);
    assert!(accesses > 100, "{accesses} accesses test nothing");
    let mut switched = 0;
    for seed in 1..=60 {
        // In some of them priorities change among the first accesses, and the rest is counted.
        let tail = Tail::Walk { style: Style::PctVariables { depth: 5, length: accesses >> (seed % 4) }, seed };
        let track = vec![Tracked::AllocatedAt(CodeAddress(code))];
        let whole = Plan { tail, track, fair_limit: Some(100 + seed * 11), ..whole.clone() };
        let selective = Plan { observe: Observe::Points, select: Some(sites.clone()), ..whole.clone() };
        let (seen, selected) = (run(&mut processes, &whole), run(&mut processes, &selective));
        let place = |execution: &Execution| (execution.switches(), execution.events, execution.outcome.clone());
        assert_eq!(place(&selected), place(&seen), "seed {seed}");
        let begun = u64::from(seen.threads - 1);
        let counted = selected.records.iter().find(|record| record.kind == Kind::Counted).map(|record| record.object);
        assert_eq!(counted, Some(blocks(&seen).2 + begun), "seed {seed}");
        let is_lock = |record: &Record| matches!(record.kind, Kind::Lock | Kind::Unlock | Kind::AtomicUpdate);
        assert!(!selected.records.iter().any(is_lock), "seed {seed} logs skipped accesses");
        let repeated = run(&mut processes, &Plan { fair_limit: whole.fair_limit, ..selected.repeat() });
        assert_eq!((repeated.events, repeated.outcome), (selected.events, selected.outcome), "seed {seed}");
        switched += seen.switches().len();
    }
    assert!(switched > 300, "{switched} switches test nothing");
}

#[test]
fn a_selective_walk_makes_the_schedule_of_a_walk_that_sees_everything() {
    let workshop = Workshop::new();
    let mut processes = start(&build(&workshop, "busy", BUSY), 1);
    let whole = Plan { observe: Observe::Everything, ..Plan::default() };
    let first = run(&mut processes, &whole);
    assert_eq!(first.outcome, Outcome::Exited(0));
    let known = variables(&first);
    let mut switched = 0;
    for (seed, (&variable, sites)) in (1..).zip(known.iter().cycle().take(60)) {
        let tail = Tail::Walk { style: Style::PctVariables { depth: 4, length: 24 }, seed };
        // Turns end in the middle of what is skipped.
        let whole = Plan {
            tail,
            track: vec![Tracked::At(Address(variable))],
            fair_limit: Some(40 + seed * 7),
            ..whole.clone()
        };
        let selective = Plan { observe: Observe::Points, select: Some(sites.clone()), ..whole.clone() };
        let (seen, selected) = (run(&mut processes, &whole), run(&mut processes, &selective));
        let place = |execution: &Execution| (execution.switches(), execution.events, execution.outcome.clone());
        assert_eq!(place(&selected), place(&seen), "seed {seed}");
        assert!(selected.records.len() < seen.records.len() / 2, "seed {seed} logs skipped accesses");
        let repeated = run(&mut processes, &Plan { fair_limit: whole.fair_limit, ..selected.repeat() });
        assert_eq!((repeated.events, repeated.outcome), (selected.events, selected.outcome), "seed {seed}");
        switched += seen.switches().len();
    }
    assert!(switched > 300, "{switched} switches test nothing");
}

/// The static analysis and executions number sites in the same way, and if two sites were seen to access the same memory, the
/// analysis says that they may.
#[test]
fn sites_seen_to_alias_may_alias_in_the_static_analysis() {
    let workshop = Workshop::new();
    let program = build(&workshop, "busy", BUSY);
    let whole = run(&mut start(&program, 1), &Plan { observe: Observe::Everything, ..Plan::default() });
    let modules = racehunter_ir::read_numbered_program(&program).expect("the program has its code");
    let aliases =
        racehunter_scan::aliases(&racehunter_scan::Program::link(modules), &racehunter_scan::Models::default());
    let places = aliases.expect("the program is small").places;
    let (mut pairs, mut apart) = (0, 0);
    for (variable, sites) in variables(&whole).into_iter().filter(|(_, sites)| sites.len() > 1) {
        // Records number sites from 1.
        let known: Vec<u32> = sites.iter().map(|site| site - 1).filter(|site| places.contains_key(site)).collect();
        for site in &known {
            pairs += known.len() - 1;
            apart += places.len() - places[site].len();
            let missing: Vec<&u32> = known.iter().filter(|other| !places[site].contains(other)).collect();
            assert!(missing.is_empty(), "{site} and {missing:?} access {variable:#x}");
        }
    }
    assert!(pairs > 50 && apart > 0, "{pairs} pairs, {apart} apart");
}

/// The claim of the walks names the sites that they observe.
#[test]
fn the_claim_of_walks_names_the_static_analysis() {
    let workshop = Workshop::new();
    let options = ["--analysis", "pct-vb", "--selective", "--runs", "40"];
    let hunted = workshop.hunt(Path::new("targets/assertion/flicker.fixed.c"), &options).expect(0);
    assert!(hunted.ended.stdout.contains("at places that a static analysis or"), "{}", hunted.ended.stdout);
}

#[test]
fn findings_of_selective_walks_are_confirmed() {
    let workshop = Workshop::new();
    let options = ["--analysis", "pct-vb", "--selective", "--depth", "3", "--runs", "400"];
    for (name, bugs) in [("flicker", 1), ("flicker.fixed", 0)] {
        let path = format!("targets/assertion/{name}.c");
        let hunted = workshop.hunt(Path::new(&path), &options);
        let summary = hunted.summary();
        assert_eq!((hunted.findings.len(), summary.diverged), (bugs, 0), "{name}: {summary:?}");
        assert!(hunted.findings.iter().all(|finding| finding.confirmed), "{name}");
    }
}

/// Executions without preemptions left skip all accesses. The search stays the same, and so does what it finds.
#[test]
fn selective_searches_match_full_searches() {
    let names = [
        "assertion/flicker.c",
        "assertion/work_stealing.c",
        "assertion/allocation_vector.c",
        "assertion/condition_if.c",
        "assertion/bank_transfer.cpp",
        "assertion/spin_peterson.c",
        "assertion/timed_wait.fixed.c",
        "deadlock/abba.c",
    ];
    let mut compared = 0;
    let of = |name| {
        ["variable-bound", "thread-bound"]
            .into_iter()
            .flat_map(move |analysis| [(name, analysis, "sync"), (name, analysis, "shared")])
    };
    for (name, analysis, points) in names.into_iter().flat_map(of) {
        let path = format!("targets/{name}");
        let hunt = |options: &[&str]| {
            let common = ["--analysis", analysis, "--points", points, "--runs", "1500"];
            let hunted = Workshop::new().hunt(Path::new(&path), &[&common, options].concat());
            let failures = hunted.findings.iter().filter(|finding| finding.kind != "data-race" && finding.confirmed);
            let failures: BTreeSet<String> = failures.map(|finding| finding.id.clone()).collect();
            (hunted.summary().clone(), failures)
        };
        let ((all, failures), (selective, same)) = (hunt(&[]), hunt(&["--selective"]));
        assert_eq!(selective.diverged, 0, "{name}, {analysis}: {selective:?}");
        assert_eq!(all.complete, selective.complete, "{name}, {analysis}: {selective:?}");
        let skips = "newly shared accesses are looked for in those with <= 1 preemption)";
        assert!(!selective.complete || selective.guarantee.contains(skips), "{selective:?}");
        // An access that turns out to be shared in one of the last executions is a point only for executions that track it.
        // Apart from that the searches are the same.
        if points == "sync" {
            assert_eq!((all.executions, failures), (selective.executions, same), "{name}, {analysis}: {selective:?}");
            compared += usize::from(all.complete);
        }
    }
    assert!(compared > 8, "{compared} searches that came to their end");
}

/// Two threads with some hundred thousand accesses each, most of them to private memory.
const LONG: &str = r"
#include <pthread.h>

static long own[2][64], shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    long *cells = own[(long)argument];
    for (int i = 0; i < 40000; i++) {
        cells[(i * 5 + 3) % 64] += cells[i % 64];
        if (i % 4000 == 0) {
            pthread_mutex_lock(&lock);
            shared += i;
            pthread_mutex_unlock(&lock);
        }
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
";

/// If executions are so long that others continue from a copy of the process, those that skip accesses do not.
#[test]
fn long_selective_executions_are_complete() {
    let (workshop, program) = Workshop::with_program(LONG);
    let hunt = |options: &[&str]| {
        let common = ["--analysis", "variable-bound", "--bound", "1", "--jobs", "1"];
        let hunted = workshop.hunt(&program, &[&common, options].concat()).expect(0);
        let summary = hunted.summary().clone();
        assert!(summary.complete && summary.unclear.is_empty(), "{summary:?}");
        assert_eq!(summary.completed, summary.executions);
        summary.executions
    };
    assert_eq!(hunt(&[]), hunt(&["--selective"]));
}
