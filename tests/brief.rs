//! Walks ask for brief logs, which leave out most accesses. Nothing that a hunt learns from the log of a walk may depend on that: the schedule, the
//! end, what the runtime noticed, the places in the code, and the number of decisions at which there was a choice.

use racehunter_abi::{MAIN_PATH, path_of};
use racehunter_e2e::Workshop;
use racehunter_e2e::workshop::start;
use racehunter_explore::{
    Execution, Executor, GatedPlace, Going, Observe, Plan, ReadConstraint, Style, Tail, Tracked, decisions,
    reported_sites, shared_sites,
};
use racehunter_log::{Address, CodeAddress, Entry, Event, EventNumber, ThreadId, ThreadPath};
use std::collections::{BTreeMap, BTreeSet};

/// Threads that race, wait for each other in every way (a lock, a condition variable, a barrier, a loop, time), and copy memory.
const EVERYTHING: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together;
static int arrived, racy;
static atomic_int turn, sum;
static char text[3][64], all[64];

static void *work(void *argument) {
    int own = (int)(long)argument;
    for (int i = 0; i < 40; i++) {
        racy++;
        atomic_fetch_add(&sum, i);
        memmove(all, text[own], 32);
        if (i % 8 == own)
            sched_yield();
    }
    while (atomic_load(&turn) < own)
        ;
    atomic_fetch_add(&turn, 1);
    struct timespec nap = {0, 1000 * (own + 1)};
    nanosleep(&nap, NULL);
    pthread_mutex_lock(&lock);
    arrived++;
    pthread_cond_broadcast(&changed);
    while (arrived < 3)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&together);
    for (int i = 0; i < 40; i++)
        racy += all[i];
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_barrier_init(&together, NULL, 3);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return sum == 3 * 780 ? 0 : 1;
}
"#;

/// A lock of each of two threads, taken in opposite orders.
const DEADLOCK: &str = r#"
#include <pthread.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int shared;

static void *work(void *argument) {
    long own = (long)argument;
    for (int i = 0; i < 5; i++)
        shared++;
    pthread_mutex_lock(&locks[own]);
    pthread_mutex_lock(&locks[!own]);
    shared++;
    pthread_mutex_unlock(&locks[!own]);
    pthread_mutex_unlock(&locks[own]);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// Two threads that make hundreds of thousands of accesses at few places: to memory that both use, under a lock and without one, and
/// to local variables of `main`.
const LONG: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[64], racy;
static char bytes[64];

static void *work(void *argument) {
    long *sum = argument;
    for (int round = 0; round < 60; round++) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 600; i++) {
            table[i % 64] += bytes[(i + round) % 64];
            bytes[i % 64] = (char)(table[i % 32] + i);
            *sum += table[i % 48];
        }
        pthread_mutex_unlock(&lock);
        for (int i = 0; i < 100; i++)
            racy += i;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    long sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &sum);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// All that a hunt learns from a walk.
#[derive(Debug, PartialEq)]
struct Learned {
    end: String,
    output: Vec<u8>,
    schedule: Plan,
    places: BTreeSet<CodeAddress>,
    reports: Vec<(EventNumber, ThreadId, CodeAddress, Event)>,
    reported: Vec<u32>,
    choices: u64,
    /// Preemptions, switches and unfair choices.
    counted: Option<(u64, u64, u64)>,
}

fn learned(execution: &Execution) -> Learned {
    let mut log = decisions(execution);
    let (mut choices, mut counted) = (0, None);
    while let Some(decision) = log.next() {
        choices += u64::from(decision.going != Going::Over && log.has_others());
        counted = Some((decision.preemptions, decision.switches, decision.unfair));
    }
    let Execution { outcome, events, threads, partial, output, .. } = execution;
    let is_place = |entry: &Entry<'_>| entry.is_operation() && entry.code().is_known();
    let report = |entry: Entry<'_>| (entry.number(), entry.thread(), entry.code(), entry.event());
    Learned {
        end: format!("{outcome:?} after {events} events of {threads} threads, partial: {partial}"),
        output: output.clone(),
        schedule: execution.repeat(),
        places: execution.entries().filter(is_place).map(Entry::code).collect(),
        reports: execution.reports().map(report).collect(),
        reported: reported_sites(execution),
        choices: choices + log.passed_choices(),
        counted,
    }
}

/// Runs walks with whole logs and with brief ones. Returns how many records they had.
#[track_caller]
fn assert_alike(source: &str) -> (usize, usize) {
    let (_workshop, program) = Workshop::with_program(source);
    let mut processes = start(&program, 1);
    // Some of what is shared is not a point at first: then the executions report it.
    for round in 0..2 {
        if round == 1 {
            let observed = Plan { observe: Observe::Everything, ..Plan::default() };
            let executions = processes.run(&[observed]).expect("it runs");
            processes.add_points(&shared_sites(&executions[0]));
        }
        for spurious in [false, true] {
            let styles = [Style::Even, Style::Pos, Style::Pct { depth: 3, length: 200 }];
            let walks = styles.iter().flat_map(|&style| (1..12).map(move |seed| Tail::Walk { style, seed }));
            let whole: Vec<Plan> = walks.map(|tail| Plan { tail, spurious, ..Plan::default() }).collect();
            let brief: Vec<Plan> = whole.iter().map(|plan| Plan { brief: true, ..plan.clone() }).collect();
            // Mixed, so that neighbours differ.
            let plans: Vec<Plan> = whole.into_iter().zip(brief).flat_map(|(whole, brief)| [whole, brief]).collect();
            let executions = processes.run(&plans).expect("they run");
            for (pair, plans) in executions.chunks(2).zip(plans.chunks(2)) {
                assert_eq!(learned(&pair[0]), learned(&pair[1]), "{:?}", plans[0].tail);
            }
            if round == 1 && spurious {
                let records = |first: usize| executions.iter().skip(first).step_by(2).map(|one| one.records.len());
                return (records(0).sum(), records(1).sum());
            }
        }
    }
    unreachable!("the last round returns")
}

#[test]
fn a_brief_log_tells_as_much_about_a_walk() {
    let (whole, brief) = assert_alike(EVERYTHING);
    assert!(brief * 5 < whole * 4, "{brief} records instead of {whole}");
}

#[test]
fn a_brief_log_ends_with_the_threads_of_a_deadlock() {
    assert_alike(DEADLOCK);
}

#[test]
fn points_of_a_long_execution_count_even_if_only_the_hooks_see_them() {
    let (_workshop, program) = Workshop::with_program(LONG);
    let mut processes = start(&program, 1);
    let observed = Plan { observe: Observe::Everything, ..Plan::default() };
    let executions = processes.run(&[observed]).expect("it runs");
    assert!(executions[0].events > 400_000, "{} events", executions[0].events);
    processes.add_points(&shared_sites(&executions[0]));
    let pct = |seed| Tail::Walk { style: Style::Pct { depth: 4, length: 300_000 }, seed };
    for tail in [Tail::MinSwitches, pct(1), pct(2), pct(3), pct(4), Tail::random(1)] {
        let whole = Plan { tail, ..Plan::default() };
        let brief = Plan { brief: true, ..whole.clone() };
        let executions = processes.run(&[whole, brief]).expect("they run");
        assert_eq!(learned(&executions[0]), learned(&executions[1]), "{tail:?}");
        if tail != Tail::random(1) {
            let records = |at: usize| executions[at].records.len();
            assert!(records(1) * 100 < records(0), "{} records instead of {}", records(1), records(0));
        }
        // What such an execution was is known well enough to repeat it.
        let again = processes.run(&[executions[1].repeat()]).expect("it runs").remove(0);
        assert_eq!((again.outcome, again.events), (executions[1].outcome.clone(), executions[1].events), "{tail:?}");
    }
}

/// As [`LONG`], with memory from the allocator, and accesses that few walks constrain: rare ones, to a flag that each thread reads and
/// writes between its rounds.
const LONG_WITH_FLAG: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *table, flag, seen, racy;

static void *work(void *argument) {
    long own = (long)argument;
    for (int round = 0; round < 60; round++) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 600; i++) {
            table[i % 64] += racy;
            table[(i + round) % 48]++;
        }
        pthread_mutex_unlock(&lock);
        for (int i = 0; i < 400; i++)
            racy += i;
        if (flag != own)
            seen++;
        flag = (int)own;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    table = calloc(64, sizeof *table);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    free(table);
    return 0;
}
"#;

#[test]
fn long_walks_that_draw_at_every_point_are_the_same_with_brief_logs() {
    let (_workshop, program) = Workshop::with_program(LONG_WITH_FLAG);
    let mut processes = start(&program, 1);
    let observed = Plan { observe: Observe::Everything, ..Plan::default() };
    let executions = processes.run(&[observed]).expect("it runs");
    assert!(executions[0].events > 400_000, "{} events", executions[0].events);
    processes.add_points(&shared_sites(&executions[0]));
    let log = &processes.run(&[Plan { allocations: true, ..Plan::default() }]).expect("it runs")[0];
    let walk = |style, seed| Plan { tail: Tail::Walk { style, seed }, allocations: true, ..Plan::default() };
    let mut plans: Vec<Plan> = (0..3).flat_map(|seed| [walk(Style::Pos, seed), walk(Style::Guided, seed)]).collect();
    // Each variable once, and the rare ones among them, by their addresses.
    let mut numbers: BTreeMap<u64, (Vec<CodeAddress>, Vec<CodeAddress>)> = BTreeMap::new();
    for (entry, access) in log.entries().filter_map(|entry| Some((entry, entry.access()?))) {
        let (reads, writes) = numbers.entry(access.address.0).or_default();
        let places = if access.mode.writes() { writes } else { reads };
        places.push(entry.code());
    }
    let main = ThreadPath(MAIN_PATH);
    let workers = [1, 2, 3].map(|child| ThreadPath(path_of(MAIN_PATH, child)));
    for (&object, (reads, writes)) in numbers.iter().filter(|(_, (reads, _))| reads.len() < 1_000) {
        let seed = object >> 2;
        // Weights that last to the end, and some that do not.
        for weight in [60_000, 20] {
            let own = workers.iter().map(|&worker| (worker, weight));
            let weights = [(main, 3 * weight)].into_iter().chain(own).collect();
            let track = vec![Tracked::At(Address(object))];
            plans.push(Plan { track, weights, ..walk(Style::Uniform, seed) });
        }
        let at = |code: CodeAddress| GatedPlace { code: code.0, gate: code.0 };
        let Some((&read, &write)) = reads.first().zip(writes.last()) else { continue };
        for (worker, skip) in [(1, 0), (2, 3), (3, 30)] {
            let (reader, read, write) = (path_of(MAIN_PATH, worker), at(read), write.0);
            let constraint = ReadConstraint { reader, read, write, object, skip, ..ReadConstraint::default() };
            plans.push(Plan { constraints: vec![constraint], ..walk(Style::Guided, seed) });
        }
    }
    let table = log.entries().find_map(|entry| match entry.event() {
        Event::Allocated { is_stack: false, .. } => Some(entry.code()),
        _ => None,
    });
    for weight in [60_000, 20] {
        let track = vec![Tracked::AllocatedAt(table.expect("an allocation is logged"))];
        let weights = [(main, 3 * weight)].into_iter().chain(workers.map(|worker| (worker, weight))).collect();
        plans.push(Plan { track, weights, ..walk(Style::Uniform, 5) });
    }
    assert!(plans.len() >= 15, "{} plans", plans.len());
    let (mut of_whole, mut of_brief) = (0, 0);
    for plan in plans {
        let pair = processes.run(&[plan.clone(), Plan { brief: true, ..plan.clone() }]).expect("they run");
        assert_eq!(learned(&pair[0]), learned(&pair[1]), "{plan:?}");
        (of_whole, of_brief) = (of_whole + pair[0].records.len(), of_brief + pair[1].records.len());
    }
    assert!(of_brief * 4 < of_whole, "{of_brief} records instead of {of_whole}");
}

#[test]
fn executions_that_continue_from_a_snapshot_each_have_their_brief_log() {
    let (_workshop, program) = Workshop::with_program(LONG);
    let mut processes = start(&program, 1);
    let observed = Plan { observe: Observe::Everything, ..Plan::default() };
    let executions = processes.run(&[observed]).expect("it runs");
    processes.add_points(&shared_sites(&executions[0]));
    let whole = processes.run(&[Plan::default()]).expect("it runs").remove(0);
    let at = EventNumber(whole.events / 2);
    let mut plan = whole.repeat();
    plan.switches.retain(|switch| switch.at < at);
    // Everything up to this event is the same in all of them, and worth a snapshot.
    let plan = Plan { tail_from: at, brief: true, ..plan };
    let alone = processes.run(std::slice::from_ref(&plan)).expect("it runs").remove(0);
    assert!(alone.is_outline(), "{:?}", alone.outcome);
    for execution in processes.run(&vec![plan; 3]).expect("they run") {
        assert_eq!(learned(&execution), learned(&alone));
    }
}

#[test]
fn walks_that_follow_variables_or_reads_are_the_same_with_brief_logs() {
    let (_workshop, program) = Workshop::with_program(EVERYTHING);
    let mut processes = start(&program, 1);
    let observed = Plan { observe: Observe::Everything, ..Plan::default() };
    let executions = processes.run(&[observed]).expect("it runs");
    processes.add_points(&shared_sites(&executions[0]));
    let log = &processes.run(&[Plan::default()]).expect("it runs")[0];
    let accesses: Vec<_> = log.entries().filter_map(|entry| Some((entry, entry.access()?))).collect();
    let mut plans = Vec::new();
    for (number, (entry, access)) in accesses.iter().enumerate().step_by(accesses.len() / 10) {
        let seed = number as u64;
        let track = vec![Tracked::At(access.address)];
        let walk = |style| Plan { tail: Tail::Walk { style, seed }, allocations: true, ..Plan::default() };
        plans.push(Plan { track, weights: vec![(ThreadPath(MAIN_PATH), 60)], ..walk(Style::Uniform) });
        let at = |code: CodeAddress| GatedPlace { code: code.0, gate: code.0 };
        let writer = accesses.iter().rev().find(|(_, other)| other.address == access.address && other.mode.writes());
        let write = writer.map_or(0, |(entry, _)| entry.code().0);
        for reader in [path_of(MAIN_PATH, 1), path_of(MAIN_PATH, 2)] {
            let read = at(entry.code());
            let constraints = vec![ReadConstraint { reader, read, write, ..ReadConstraint::default() }];
            plans.push(Plan { constraints, ..walk(Style::Guided) });
        }
    }
    let brief: Vec<Plan> = plans.iter().map(|plan| Plan { brief: true, ..plan.clone() }).collect();
    let (whole, brief) = (processes.run(&plans).expect("they run"), processes.run(&brief).expect("they run"));
    for ((whole, brief), plan) in whole.iter().zip(&brief).zip(&plans) {
        assert_eq!(learned(whole), learned(brief), "{plan:?}");
    }
    let records = |executions: &[Execution]| executions.iter().map(|one| one.records.len()).sum::<usize>();
    assert!(records(&brief) * 10 < records(&whole) * 9, "{} records instead of {}", records(&brief), records(&whole));
}
