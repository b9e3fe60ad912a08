//! A search in which every access is a point needs only the accesses after the prefix of a schedule. Leaving out the
//! others must change nothing: the same schedules, in the same order, with the same logs after their prefixes.

use racehunter_abi::EventNumber;
use racehunter_analyses::{BoundKind, ContextBound, Strategy};
use racehunter_e2e::Workshop;
use racehunter_e2e::workshop::start;
use racehunter_explore::{
    Budget, Campaign, Execution, Executor, ExecutorError, Outcome, Plan, Points, Portfolio, Progress, Record, Switch,
};
use racehunter_launch::Processes;
use std::path::{Path, PathBuf};

/// Three threads with long private loops that yield in the middle and meet at a lock, a condition variable, an atomic
/// and a plain variable.
const MEETINGS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived, last;
static atomic_int passed;
static long cells[3][32];

static void *work(void *argument) {
    long own = (long)argument;
    for (int round = 0; round < 20; round++)
        for (int i = 1; i < 32; i++) {
            cells[own][i] += cells[own][i - 1] + i;
            last = (int)own;
        }
    pthread_mutex_lock(&lock);
    arrived++;
    pthread_cond_broadcast(&changed);
    while (arrived < 3)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    memmove(&cells[own][1], &cells[own][0], 64);
    atomic_fetch_add(&passed, 1);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return passed == 3 && last >= 0 ? 0 : 1;
}
"#;

/// The same, with a loop that waits for a plain variable to change.
const WAITING: &str = r#"
#include <pthread.h>
static volatile int ready;
static long cells[2][64];

static void *work(void *argument) {
    long own = (long)argument;
    for (int round = 0; round < 40; round++)
        for (int i = 1; i < 64; i++)
            cells[own][i] += cells[own][i - 1];
    if (own == 1)
        ready = 1;
    else
        while (!ready)
            ;
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

/// The result of one execution: its schedule, its outcome, and its log from the requested event on.
type Seen = (Vec<Switch>, Outcome, u64, Vec<Record>);

struct Watched {
    processes: Processes,
    logs_everything: bool,
    seen: Vec<Seen>,
    /// Number of unlogged prefixes of more than a thousand events, and number of records read.
    left_out: usize,
    read: usize,
}

impl Executor for Watched {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let asked: Vec<EventNumber> = plans.iter().map(|plan| plan.log_from).collect();
        let mut plans = plans.to_vec();
        if self.logs_everything {
            plans.iter_mut().for_each(|plan| plan.log_from = EventNumber::START);
        }
        let executions = self.processes.run(&plans)?;
        for (execution, from) in executions.iter().zip(asked) {
            let tail = execution.records.iter().filter(|record| record.index >= from).copied().collect();
            self.seen.push((execution.switches(), execution.outcome.clone(), execution.events, tail));
            self.left_out += usize::from(from > EventNumber(1000));
            self.read += execution.records.len();
        }
        Ok(executions)
    }

    fn libraries(&self) -> Vec<(u64, PathBuf)> {
        self.processes.libraries()
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.processes.add_points(sites)
    }
}

fn explore(program: &Path, strategy: Strategy, detect_races: bool, logs_everything: bool) -> Watched {
    let mut processes = start(program, 1);
    processes.make_all_points();
    let mut watched = Watched { processes, logs_everything, seen: Vec::new(), left_out: 0, read: 0 };
    let analysis = ContextBound::iterative(12, BoundKind::Switches, strategy, 1).starting_at(12);
    let budget = Budget { runs: Some(120), points: Points::All, detect_races, ..Budget::default() };
    let mut silent = |_: Progress| {};
    let _ = Campaign::new(Portfolio::of(analysis), budget, &mut silent).run(&mut watched, &mut || false);
    watched
}

#[track_caller]
fn assert_alike(source: &str, strategy: Strategy, detect_races: bool) -> (Watched, Watched) {
    let (_workshop, program) = Workshop::with_program(source);
    let short = explore(&program, strategy, detect_races, false);
    let whole = explore(&program, strategy, detect_races, true);
    assert_eq!((short.seen.len(), short.left_out), (whole.seen.len(), whole.left_out));
    for (number, (short, whole)) in short.seen.iter().zip(&whole.seen).enumerate() {
        assert_eq!((&short.0, &short.1, short.2), (&whole.0, &whole.1, whole.2), "execution {number}");
        for (one, other) in short.3.iter().zip(&whole.3) {
            assert_eq!(one, other, "execution {number}");
        }
        assert_eq!(short.3.len(), whole.3.len(), "execution {number}");
    }
    (short, whole)
}

#[test]
fn unlogged_prefixes_change_no_schedule() {
    for (strategy, detect_races) in
        [(Strategy::MinSwitches, false), (Strategy::Fair(700), false), (Strategy::Fair(700), true)]
    {
        let (short, whole) = assert_alike(MEETINGS, strategy, detect_races);
        assert!(short.left_out > 100, "{} of {} have a long prefix", short.left_out, short.seen.len());
        assert!(short.read * 4 < whole.read, "{} records instead of {}", short.read, whole.read);
    }
}

#[test]
fn programs_with_waiting_loops_log_everything() {
    let (short, whole) = assert_alike(WAITING, Strategy::Fair(900), false);
    assert!(
        short.left_out < 40,
        "the first executions show a waiting loop, but {} plans ask for a shorter log",
        short.left_out
    );
    assert!(short.read > whole.read / 2);
}

/// Long enough for snapshots; the threads wait for a pipe.
const PIPE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static long cells[2][64];

static void *work(void *argument) {
    long own = (long)argument;
    for (int round = 0; round < 200; round++)
        for (int i = 1; i < 64; i++)
            cells[own][i] += cells[own][i - 1];
    char byte = 0;
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    return NULL;
}

int main(void) {
    assert(pipe(ends) == 0 && write(ends[1], "xx", 2) == 2);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// Executions that continue from one prefix must not share kernel objects.
#[test]
fn copies_of_a_process_share_no_pipe() {
    let (_workshop, program) = Workshop::with_program(PIPE);
    let watched = explore(&program, Strategy::Fair(10_000), false, false);
    assert!(watched.left_out > 100, "{} have a long prefix", watched.left_out);
    for (number, seen) in watched.seen.iter().enumerate() {
        assert_eq!(seen.1, Outcome::Exited(0), "execution {number}");
    }
}
