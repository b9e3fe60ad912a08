//! One program on both backends: the same plan gives the same execution on fibers and on kernel threads.
//!
//! Unlike the rest, this looks behind the command.

use racehunter_abi::Kind;
use racehunter_explore::{
    Bug, Execution, Executor as _, Observe, Outcome, Plan, Record, Style, Switch, Tail, shared_sites,
};
use racehunter_launch::{Backend, Limits, Processes, Program};
use std::path::PathBuf;

/// Number of random schedules of every program.
const SCHEDULES: u64 = 8;

/// One program on both backends.
pub struct Pair {
    /// As fibers of one kernel thread.
    pub fibers: Processes,
    /// As kernel threads.
    pub threads: Processes,
}

/// What must be the same. Memory addresses need not be: kernel threads take some for themselves.
#[derive(Debug, PartialEq)]
pub struct Essence {
    outcome: Outcome,
    events: u64,
    threads: u32,
    switches: Vec<Switch>,
    bugs: Vec<Bug>,
    records: Vec<(u64, u64, u32, u32, Kind, u8, u8)>,
    output: String,
}

/// Returns the part of an execution that must be the same.
#[must_use]
pub fn essence(execution: &Execution) -> Essence {
    let same = |record: &Record| {
        (record.index.0, record.code.0, record.thread.0, record.site, record.kind, record.size, record.detail)
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
    /// Starts a program that is already built.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        let program = Program { path, arguments: Vec::new(), input: None, client: None, libraries: None };
        let start = |backend| {
            let mut processes =
                Processes::start(program.clone(), Limits::default(), 1).expect("the program can be run");
            processes.use_backend(backend);
            processes
        };
        Self { fibers: start(Backend::Fibers), threads: start(Backend::Threads) }
    }

    /// Runs plans on both, compares them, and returns the executions.
    #[track_caller]
    pub fn run(&mut self, plans: &[Plan]) -> Vec<Execution> {
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

    /// Runs the default schedule, random ones, and each of them again. Returns the bugs that they showed.
    #[track_caller]
    pub fn compare_schedules(&mut self) -> Vec<Bug> {
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
