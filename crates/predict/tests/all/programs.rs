//! From programs to predictions: some other execution shows everything that is predicted from one execution of a random
//! program, and the execution that follows the witness is among them.
//!
//! `RACEHUNTER_ORACLE_PROGRAMS` sets the number of programs.

use racehunter_abi::CodeAddress;
use racehunter_explore::model::{ModelExecutor, Op, Program, Shape, Value, schedules};
use racehunter_explore::{Bug, Execution, Observe, Plan, Tail};
use racehunter_predict::{Each, Effort, Index, Kind, Options, Policy, Prediction, predict};
use racehunter_trace::recording::{Converter, Knowledge, Needs, PlainNames, Recording, Step, Survey, code_of};
use racehunter_trace::{EventId, Trace, file};
use std::collections::{HashMap, HashSet};

fn programs() -> u64 {
    std::env::var("RACEHUNTER_ORACLE_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(120)
}

/// Returns the code addresses of some events, by which sites are named.
fn codes(trace: &Trace, events: &[EventId]) -> Vec<u64> {
    let code = |&event: &EventId| code_of(&trace.sites()[trace.site(event) as usize]).unwrap();
    let mut codes: Vec<u64> = events.iter().map(code).collect();
    codes.sort_unstable();
    codes
}

fn is_shown(trace: &Trace, prediction: &Prediction, bugs: &HashSet<Bug>) -> bool {
    let codes = codes(trace, &prediction.events);
    match prediction.kind {
        Kind::Race => bugs.contains(&Bug::Race(CodeAddress(codes[0]), CodeAddress(codes[1]))),
        Kind::Deadlock => bugs.iter().any(|bug| match bug {
            Bug::Deadlock(places) => codes.iter().all(|code| places.contains(&CodeAddress(*code))),
            _ => false,
        }),
        Kind::Atomicity => false,
    }
}

/// Executes the witness of a prediction, and then what it leads to.
fn replay(executor: &mut ModelExecutor, recording: &Recording, prediction: &Prediction) -> Execution {
    // Threads that are about to acquire each other's locks get there by themselves.
    let then = if prediction.kind == Kind::Race { &prediction.events[..] } else { &[] };
    let schedule = recording.schedule(prediction.witness.events(), then);
    executor.run_one(&Plan { observe: Observe::Everything, ..Plan::replay(schedule.switches) })
}

/// What the code of a model program says about its accesses. Its jumps lead only forward, so a later operation may find
/// anything that was written into a register.
struct Code {
    /// By site number, from 0.
    sites: Vec<Option<Access>>,
}

struct Access {
    reads: bool,
    writes: bool,
    decisive: bool,
    value: Vec<u32>,
}

impl Code {
    fn of(program: &Program) -> Self {
        let mut sites = Vec::new();
        for (number, body) in program.bodies.iter().enumerate() {
            let site = |position: usize| program.site(number, position) - 1;
            for (position, op) in body.iter().enumerate() {
                sites.resize_with(site(position) as usize + 1, || None);
                let (read, written) = match *op {
                    Op::Read(_, register) | Op::AtomicRead(_, register) => (Some(register), None),
                    Op::AtomicAdd(_, _, register) => (Some(register), Some(Value::Const(0))),
                    Op::Write(_, value) | Op::AtomicWrite(_, value) => (None, Some(value)),
                    _ => continue,
                };
                let decides = |op: &Op| match *op {
                    Op::JumpIf(register, ..) | Op::Assert(register, _) => read == Some(register),
                    Op::Set(..) => true,
                    _ => false,
                };
                let into = |op: &Op| match *op {
                    Op::Read(_, into) | Op::AtomicRead(_, into) | Op::AtomicAdd(_, _, into) => Some(into),
                    _ => None,
                };
                let used = match written {
                    Some(Value::Reg(register) | Value::RegPlus(register, _)) => Some(register),
                    _ => None,
                };
                let earlier = (0..position).filter(|&at| used.is_some() && into(&body[at]) == used);
                sites[site(position) as usize] = Some(Access {
                    reads: read.is_some(),
                    writes: written.is_some(),
                    decisive: body[position + 1..].iter().any(decides),
                    value: earlier.map(site).collect(),
                });
            }
        }
        Self { sites }
    }
}

/// What the threads of an execution have read.
struct Threads<'c> {
    code: &'c Code,
    /// The latest execution of each read, by thread and site.
    latest: HashMap<(u32, u32), (u32, u32)>,
    decided: HashMap<u32, Vec<(u32, u32)>>,
}

impl Threads<'_> {
    fn access(&self, step: Step) -> Option<&Access> {
        let access = self.code.sites.get(step.site? as usize)?.as_ref()?;
        ((access.reads, access.writes) == (step.reads, step.writes)).then_some(access)
    }
}

impl Knowledge for Threads<'_> {
    fn enter(&mut self, _: u32, _: u32, _: bool) {}
    fn leave(&mut self, _: u32, _: u32) {}
    fn branch(&mut self, _: u32, _: u32, _: u64) {}
    fn call(&mut self, _: u32, _: u32) {}
    fn interrupts(&mut self) {}

    fn before(&mut self, thread: u32, step: Step, needs: &mut Needs) {
        let value = self.access(step).into_iter().flat_map(|access| &access.value);
        let values = value.filter_map(|&site| self.latest.get(&(thread, site)).copied()).collect();
        *needs = Needs { decisions: self.decided.remove(&thread).unwrap_or_default(), values, chose: false };
    }

    fn after(&mut self, thread: u32, step: Step, first: u32, count: u32) {
        match (step.site, self.access(step).is_some_and(|access| !access.decisive)) {
            (Some(site), true) => {
                self.latest.insert((thread, site), (first, count));
            }
            _ if step.reads => self.decided.entry(thread).or_default().push((first, count)),
            _ => {}
        }
    }
}

/// Returns a recording with dependences, through a file.
fn recorded(execution: &Execution, code: &Code) -> Recording {
    let mut survey = Survey::default();
    survey.add(&execution.records);
    let writer = file::Writer::new(Vec::new(), false, true).unwrap();
    let mut threads = Threads { code, latest: HashMap::new(), decided: HashMap::new() };
    let mut converter = Converter::new(survey.finish(), &PlainNames, writer).unwrap().knowing(&mut threads);
    converter.add(&execution.records).unwrap();
    let bytes = converter.finish().finish().unwrap();
    Recording::whole(file::Reader::new(bytes).unwrap().read().unwrap())
}

/// Number of programs whose executions are all enumerated. This takes long, and only adds that the executor of the
/// model is right: predictions are executed for all programs.
const ENUMERATED: u64 = 1_000;

/// Returns the bugs of all executions of a program, if there are not too many.
fn all_bugs(program: &Program) -> Option<HashSet<Bug>> {
    let points: HashSet<u32> = program.access_sites().into_iter().collect();
    let paths = schedules(program, &points, 5_000)?;
    Some(paths.into_iter().flat_map(|path| path.bugs).collect())
}

#[test]
fn predictions_from_one_execution_are_shown_by_another() {
    let (mut races, mut deadlocks, mut new) = ([0; 2], [0; 2], [0; 2]);
    for seed in 0..programs() {
        let shape = Shape { threads: 2 + (seed % 2) as usize, statements: 2, timing: seed % 3 == 0, signals: false };
        let program = Program::random(seed, shape);
        let bugs = if seed < ENUMERATED { all_bugs(&program) } else { None };
        let code = Code::of(&program);
        let mut executor = ModelExecutor::new(program);
        executor.add_all_points();
        for tail in [Tail::MinSwitches, Tail::random(seed), Tail::random(seed + 1)] {
            let plan = Plan { tail, observe: Observe::Everything, ..Plan::default() };
            let execution = executor.run_one(&plan);
            let seen: HashSet<Bug> = execution.bugs().into_iter().collect();
            let mut narrower = HashSet::new();
            for (at, policy) in [Policy::M2, Policy::Nre].into_iter().enumerate() {
                let recording = recorded(&execution, &code);
                let trace = &recording.trace;
                let index = Index::new(trace).unwrap_or_else(|error| panic!("program {seed}: {error}"));
                let options = Options {
                    policy,
                    effort: Effort::exhaustive(),
                    attempts: usize::MAX,
                    each: Each::Pair,
                    ..Options::default()
                };
                let mut predicted = HashSet::new();
                for prediction in predict(&index, &options, &|| false).predictions {
                    assert!(
                        bugs.as_ref().is_none_or(|bugs| is_shown(trace, &prediction, bugs)),
                        "program {seed}, {tail:?}, {policy:?}: {prediction:?}\n{bugs:?}\n{:#?}",
                        executor.program()
                    );
                    let shown = replay(&mut executor, &recording, &prediction);
                    assert!(
                        is_shown(trace, &prediction, &shown.bugs().into_iter().collect()),
                        "program {seed}, {tail:?}, {policy:?}: {prediction:?}\n{shown:#?}"
                    );
                    races[at] += usize::from(prediction.kind == Kind::Race);
                    deadlocks[at] += usize::from(prediction.kind == Kind::Deadlock);
                    new[at] += usize::from(!is_shown(trace, &prediction, &seen));
                    predicted.insert((prediction.kind, prediction.events));
                }
                assert!(predicted.is_superset(&narrower), "program {seed}: {policy:?} finds less");
                narrower = predicted;
            }
        }
    }
    println!("m2 and nre: races {races:?}, deadlocks {deadlocks:?}, not seen by the execution itself {new:?}");
    assert!(races[0] > 0 && deadlocks[0] > 0 && new[0] > 0, "{races:?} {deadlocks:?} {new:?}");
    assert!(races[1] > races[0], "necessary reads alone allow no more: {races:?}");
}
