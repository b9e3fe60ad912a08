//! Fibers and kernel threads: the same plan gives the same execution.
//!
//! One test per program below `targets/`, and a few of their own for what only one of the two has to be careful about.
//! Like `detector` this uses the crates behind the command.

use libtest_mimic::{Arguments, Trial};
use racehunter_e2e::annotations::targets;
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, root, tool};
use racehunter_explore::{
    Bug, Escape, Execution, Executor as _, Kind, Observe, Outcome, Plan, Record, Style, Switch, Tail, shared_sites,
};
use racehunter_launch::{Backend, Limits, Processes, Program};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Random schedules of every program.
const SCHEDULES: u64 = 12;

fn main() -> ExitCode {
    if let Err(what) = tool::find() {
        eprintln!("{what}");
        return ExitCode::FAILURE;
    }
    let mut trials: Vec<Trial> = targets()
        .into_iter()
        .map(|target| {
            let name = target.path.trim_start_matches("targets/").to_owned();
            Trial::test(name, move || {
                let mut pair = Pair::new(&root().join(&target.path), target.cflags.as_deref());
                let shown = pair.compare_schedules();
                assert!(target.bug.is_some() || shown.is_empty(), "nothing is wrong with it: {shown:?}");
                Ok(())
            })
        })
        .collect();
    let own: [(&str, fn()); 5] = [
        ("threads_are_known_to_the_kernel", threads_are_known_to_the_kernel),
        ("a_crash_in_a_thread_is_seen", a_crash_in_a_thread_is_seen),
        ("an_overflow_of_a_threads_stack_is_seen", an_overflow_of_a_threads_stack_is_seen),
        ("a_program_can_fork", a_program_can_fork),
        ("snapshots_go_on_as_from_the_start", snapshots_go_on_as_from_the_start),
    ];
    trials.extend(own.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// One program on both backends.
struct Pair {
    _workshop: Workshop,
    fibers: Processes,
    threads: Processes,
}

/// What must be the same. Addresses of memory need not be: kernel threads take some for themselves.
#[derive(Debug, PartialEq)]
struct Essence {
    outcome: Outcome,
    events: u64,
    threads: u32,
    switches: Vec<Switch>,
    bugs: Vec<Bug>,
    records: Vec<(u64, u64, u32, u32, Kind, u8, u8)>,
    output: String,
}

fn essence(execution: &Execution) -> Essence {
    let same = |record: &Record| {
        (record.index, record.code, record.thread, record.site, record.kind, record.size, record.detail)
    };
    let outcome = match &execution.outcome {
        Outcome::Crashed { signal, .. } => Outcome::Crashed { signal: *signal, fault: 0 },
        other => other.clone(),
    };
    Essence {
        outcome,
        events: execution.events,
        threads: execution.threads,
        switches: execution.switches(),
        bugs: execution.bugs(),
        records: execution.records.iter().map(same).collect(),
        output: String::from_utf8_lossy(&execution.output).into_owned(),
    }
}

impl Pair {
    fn new(source: &Path, options: Option<&str>) -> Self {
        let workshop = Workshop::new();
        let program = workshop.path("program");
        let compiler = if source.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
        let words = [compiler, "-g", "-O1", "-pthread", &text(source), "-o", &text(&program)];
        let options = options.unwrap_or_default().split_ascii_whitespace();
        workshop.run(Command::new(tool::path()).args(words).args(options)).expect(0);
        Self::of(workshop)
    }

    fn from_text(source: &str) -> Self {
        let (workshop, _) = Workshop::with_program(source);
        Self::of(workshop)
    }

    fn of(workshop: Workshop) -> Self {
        let program = Program { path: workshop.path("program"), arguments: Vec::new(), input: None };
        let start = |backend| {
            let mut processes =
                Processes::start(program.clone(), Limits::default(), 1).expect("the program can be run");
            processes.use_backend(backend);
            processes
        };
        let (fibers, threads) = (start(Backend::Fibers), start(Backend::Threads));
        Self { _workshop: workshop, fibers, threads }
    }

    /// Runs plans on both, compares, and returns what they gave.
    #[track_caller]
    fn run(&mut self, plans: &[Plan]) -> Vec<Execution> {
        let fibers = self.fibers.run(plans).expect("the program runs");
        let threads = self.threads.run(plans).expect("the program runs");
        assert_eq!((fibers.len(), threads.len()), (plans.len(), plans.len()));
        for ((plan, fibers), threads) in plans.iter().zip(&fibers).zip(&threads) {
            let (fibers, threads) = (essence(fibers), essence(threads));
            if fibers != threads {
                let first = fibers.records.iter().zip(&threads.records).find(|(a, b)| a != b);
                let short = |essence: &Essence| format!("{:?} after {}", essence.outcome, essence.events);
                let (fibers, threads) = (short(&fibers), short(&threads));
                panic!("fibers: {fibers}\nthreads: {threads}\nfirst difference: {first:#?}\n{plan:#?}");
            }
        }
        fibers
    }

    /// The default schedule, random ones, and each again. Returns the bugs that they showed.
    #[track_caller]
    fn compare_schedules(&mut self) -> Vec<Bug> {
        let monitored = self.run(&[Plan { observe: Observe::Everything, ..Plan::default() }]);
        let sites = shared_sites(&monitored[0]);
        self.fibers.add_points(&sites);
        self.threads.add_points(&sites);
        let random = |seed| Plan { tail: Tail::Walk { style: Style::Even, seed }, ..Plan::default() };
        let plans: Vec<Plan> = std::iter::once(Plan::default()).chain((1..=SCHEDULES).map(random)).collect();
        let executions = self.run(&plans);
        let repeats: Vec<Plan> = executions.iter().map(Execution::repeat).collect();
        let repeated = self.run(&repeats);
        for (execution, again) in executions.iter().zip(&repeated) {
            assert_eq!((&execution.outcome, execution.bugs()), (&again.outcome, again.bugs()));
        }
        executions.iter().flat_map(Execution::bugs).collect()
    }
}

fn threads_are_known_to_the_kernel() {
    let mut pair = Pair::from_text(
        r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static int known;
        static void *work(void *name) {
            char path[64], found[16] = "";
            pthread_setname_np(pthread_self(), name);
            pthread_mutex_lock(&lock);
            snprintf(path, sizeof path, "/proc/self/task/%d/comm", gettid());
            FILE *file = fopen(path, "r");
            if (file) {
                fgets(found, sizeof found, file);
                fclose(file);
            }
            found[strcspn(found, "\n")] = 0;
            known += strcmp(found, name) == 0;
            pthread_mutex_unlock(&lock);
            return 0;
        }
        int main(void) {
            pthread_t threads[3];
            char *names[] = {"one", "two", "three"};
            for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, names[i]);
            for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
            return known;
        }"#,
    );
    let plans = [0, 1, 2, 3].map(|seed| Plan { tail: Tail::Walk { style: Style::Even, seed }, ..Plan::default() });
    for execution in pair.threads.run(&plans).expect("the program runs") {
        assert_eq!(execution.outcome, Outcome::Exited(3));
    }
}

fn a_crash_in_a_thread_is_seen() {
    let mut pair = Pair::from_text(
        r#"
        #include <pthread.h>
        static int *pointer;
        static void *work(void *p) { *pointer = 1; return p; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            pthread_join(thread, 0);
        }"#,
    );
    let executions = pair.run(&[Plan::default()]);
    assert!(matches!(executions[0].outcome, Outcome::Crashed { signal: 11, .. }), "{:?}", executions[0].outcome);
}

fn an_overflow_of_a_threads_stack_is_seen() {
    let mut pair = Pair::from_text(
        r#"
        #include <pthread.h>
        static int deeper(volatile char *above) {
            volatile char here[4096];
            here[0] = above[0];
            return deeper(here) + here[0];
        }
        static void *work(void *p) { char start = 0; return (char *)p + deeper(&start); }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            pthread_join(thread, 0);
        }"#,
    );
    let executions = pair.run(&[Plan::default()]);
    assert!(matches!(executions[0].outcome, Outcome::Crashed { signal: 11, .. }), "{:?}", executions[0].outcome);
}

fn a_program_can_fork() {
    let mut pair = Pair::from_text(
        r#"
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *add(void *sum) { *(int *)sum += 7; return 0; }
        static void *work(void *p) {
            // The child makes a thread of its own.
            if (fork() == 0) {
                pthread_t thread;
                int sum = 0;
                pthread_create(&thread, 0, add, &sum);
                pthread_join(thread, 0);
                _exit(sum);
            }
            return p;
        }
        int main(void) {
            pthread_t threads[2];
            int sum = 0, status;
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
            for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
            for (int i = 0; i < 2; i++) wait(&status), sum += WEXITSTATUS(status);
            return sum;
        }"#,
    );
    let plans = [0, 1, 2, 3].map(|seed| Plan { tail: Tail::Walk { style: Style::Even, seed }, ..Plan::default() });
    for execution in pair.run(&plans) {
        assert_eq!(execution.outcome, Outcome::Exited(14));
        assert!(execution.partial && execution.escapes().iter().any(|escape| escape.0 == Escape::Fork));
    }
}

fn snapshots_go_on_as_from_the_start() {
    let mut pair = Pair::from_text(
        r#"
        #include <pthread.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static volatile long total, steps[3];
        static void *work(void *p) {
            long own = (long)p;
            for (int i = 0; i < 20000; i++) steps[own]++;
            for (int i = 0; i < 5; i++) {
                pthread_mutex_lock(&lock);
                total = total * 3 + own;
                pthread_mutex_unlock(&lock);
            }
            return 0;
        }
        int main(void) {
            pthread_t threads[3];
            for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
            for (long i = 0; i < 3; i++) pthread_join(threads[i], 0);
            return total % 251;
        }"#,
    );
    let alone = pair.run(&[Plan::default()]);
    let last = alone[0].switches().pop().expect("there are three threads").at;
    // Schedules that differ only in the second half, so that they share a beginning that is worth a snapshot.
    let whole = Plan::replay(alone[0].switches());
    let half: Vec<Switch> = whole.switches.iter().copied().filter(|switch| switch.at < last / 2).collect();
    let from = half.last().map_or(0, |switch| switch.at).max(40_000);
    let tail =
        |seed| Plan { tail_from: from, tail: Tail::Walk { style: Style::Even, seed }, ..Plan::replay(half.clone()) };
    // And what comes behind them must leave their logs alone.
    let plans: Vec<Plan> =
        (1..=8).map(tail).chain(std::iter::once(Plan::default())).chain((9..=12).map(tail)).collect();
    let together = pair.run(&plans);
    let alone: Vec<Execution> = plans.iter().flat_map(|plan| pair.run(std::slice::from_ref(plan))).collect();
    for (together, alone) in together.iter().zip(&alone) {
        assert_eq!(essence(together), essence(alone));
    }
    let distinct: std::collections::HashSet<String> = together.iter().map(|e| format!("{:?}", e.outcome)).collect();
    assert!(distinct.len() > 1, "the schedules make no difference: {distinct:?}");
}
