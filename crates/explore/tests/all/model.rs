//! The model follows the rules of the event crate, and its log agrees with brute force.

use proptest::prelude::*;
use racehunter_abi::Kind;
use racehunter_explore::model::{ModelExecutor, Op, Program, Shape, Value, order, schedules};
use racehunter_explore::{
    Bug, Cause, Execution, Executor, LastVariables, Observe, Outcome, Plan, Record, Switch, Tail, Wait, conflicts,
    decisions, reported_sites, shared_sites,
};
use racehunter_log::{CodeAddress, EventNumber, History, ThreadId};

/// A plan under which every access is a point.
fn everything() -> Plan {
    Plan { observe: Observe::Everything, ..Plan::default() }
}

fn run(program: Program, plan: &Plan) -> Execution {
    ModelExecutor::new(program).run_one(plan)
}

/// Index, thread, kind and object of every record.
fn log(execution: &Execution) -> Vec<(u64, u32, Kind, u64)> {
    execution.records.iter().map(|r| (r.index.0, r.thread.0, r.kind, r.object & 0xffff)).collect()
}

/// Each thread takes both locks, the second thread in the opposite order.
fn crossed_locks() -> Program {
    let take = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
    Program::fork_join(vec![take(0, 1), take(1, 0)], vec![])
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Preemptions and switches read from the log equal those that brute force counted for the same schedule, and the
    /// log shows the same bugs.
    #[test]
    fn the_log_agrees_with_brute_force(seed: u64, walk: u64, wide: bool, timing: bool, signals: bool) {
        let signals = signals && !timing;
        let shape = Shape { threads: if wide { 3 } else { 2 }, statements: 2, timing, signals };
        let program = Program::random(seed, shape);
        let points = program.access_sites().into_iter().collect();
        let Some(all) = schedules(&program, &points, 300) else { return Ok(()) };
        for tail in [Tail::MinSwitches, Tail::random(walk), Tail::random(!walk)] {
            let execution = run(program.clone(), &Plan { tail, ..everything() });
            let order = order(&execution);
            let path = all.iter().find(|path| path.order == order);
            prop_assert!(path.is_some(), "brute force does not know {:?}", order);
            let path = path.unwrap();
            prop_assert_eq!(&execution.outcome, &path.outcome);
            prop_assert_eq!(&execution.bugs(), &path.bugs);
            let last = decisions(&execution).last();
            let counts = last.map_or((0, 0, 0), |last| (last.preemptions, last.switches, last.unfair));
            prop_assert_eq!(counts, (path.preemptions.into(), path.switches.into(), path.unfair.into()));
            if tail == Tail::MinSwitches {
                prop_assert_eq!((path.preemptions, path.unfair), (0, 0));
            }
        }
    }

    /// Every alternative in the log can be chosen; targets rely on that.
    #[test]
    fn every_choice_of_the_log_is_possible(seed: u64, walk: u64, timing: bool) {
        let program = Program::random(seed, Shape { threads: 3, statements: 2, timing, signals: false });
        let mut executor = ModelExecutor::new(program);
        let execution = executor.run_one(&Plan { tail: Tail::random(walk), ..everything() });
        let mut made: Vec<Switch> = Vec::new();
        let mut decisions = decisions(&execution);
        while let Some(decision) = decisions.next() {
            let switch = |to| Switch { at: decision.at, to, from: decision.from, code: decision.code };
            for (other, _) in decisions.others() {
                let switches = made.iter().copied().chain([switch(other)]).collect();
                let plan = Plan { switches, tail_from: decision.at.next(), ..everything() };
                let chosen = executor.run_one(&plan);
                prop_assert!(!matches!(chosen.outcome, Outcome::Diverged(_)));
                prop_assert_eq!(order(&chosen)[decision.at.0 as usize - 1], other.0);
            }
            if decision.logged {
                made.push(switch(decision.to));
            }
        }
    }
}

#[test]
fn blocked_and_ending_threads_number_their_events_by_the_rules() {
    let program = Program::fork_join(vec![vec![Op::Lock(0)]], vec![]);
    let execution = run(program, &Plan::default());
    assert_eq!(
        log(&execution),
        [
            (1, 0, Kind::Create, 1),
            // `main` reaches the join, which would be event 2, and thread 1 performs event 2 instead.
            (2, 0, Kind::Blocked, 1),
            (2, 0, Kind::Switch, 1),
            (2, 1, Kind::Lock, 0),
            (3, 1, Kind::Exit, 0),
            (3, 0, Kind::Woken, 0),
            (4, 1, Kind::Switch, 0),
            (4, 0, Kind::Join, 1),
            (5, 0, Kind::Exit, 0),
        ]
    );
    assert_eq!(execution.records[2].detail, Cause::Blocked as u8);
    assert_eq!(execution.records[6].detail, Cause::Exit as u8);
    assert_eq!((execution.events, execution.threads), (5, 2));
    assert_eq!(execution.outcome, Outcome::Exited(0));
}

#[test]
fn accesses_that_are_not_points_count_but_are_not_logged() {
    let program = Program::new(vec![vec![Op::Write(0, Value::Const(1)), Op::Read(0, 0), Op::Yield]]);
    let execution = run(program.clone(), &Plan::default());
    assert_eq!(log(&execution), [(3, 0, Kind::Yield, 0), (4, 0, Kind::Exit, 0)]);
    let mut executor = ModelExecutor::new(program.clone());
    assert_eq!(executor.add_points(&[program.site(0, 1)]), 1);
    assert_eq!(executor.add_points(&[program.site(0, 1)]), 0);
    assert_eq!(log(&executor.run_one(&Plan::default()))[0], (2, 0, Kind::Read, 0));
    assert_eq!(run(program, &everything()).records.len(), 4);
}

#[test]
fn a_deadlock_names_each_waiting_thread_and_its_place() {
    let program = crossed_locks();
    let switch = |at, from, to| Switch {
        at: EventNumber(at),
        to: ThreadId(to),
        from: ThreadId(from),
        code: CodeAddress::UNKNOWN,
    };
    // Thread 1 takes lock 0; thread 2 takes lock 1 before thread 1 can.
    let plan = Plan { switches: vec![switch(3, 0, 1), switch(4, 1, 2)], tail_from: EventNumber(5), ..Plan::default() };
    let execution = run(program.clone(), &plan);
    assert_eq!(execution.outcome, Outcome::Deadlock);
    let places = [(0, 2), (1, 1), (2, 1)].map(|(thread, at)| CodeAddress(program.code(thread, at))).to_vec();
    assert_eq!(execution.bugs(), [Bug::Deadlock(places)]);
    let states: Vec<_> = execution
        .records
        .iter()
        .filter(|r| r.kind == Kind::ThreadState)
        .map(|r| (r.thread.0, r.detail, r.extra))
        .collect();
    let (mutex, join) = (Wait::Mutex as u8, Wait::Join as u8);
    assert_eq!(states, [(2, mutex, 2), (0, join, 2), (1, mutex, 3)], "the thread that ran last comes first");
}

#[test]
fn a_plan_that_does_not_fit_diverges() {
    let program = crossed_locks();
    let good = run(program.clone(), &Plan::default());
    let switches = good.switches();
    assert_eq!(run(program.clone(), &good.repeat()), good_as_plan(&good));
    let diverges = |switches: Vec<Switch>, tail_from: u64| {
        run(program.clone(), &Plan { switches, tail_from: EventNumber(tail_from), ..Plan::default() }).outcome
    };
    let first = switches[0];
    assert_eq!((first.at.0, first.from.0, first.to.0), (3, 0, 1));
    // The wrong place, the wrong previous thread, a thread that does not exist, one that is blocked, one that is not
    // due.
    assert_eq!(diverges(vec![Switch { code: CodeAddress(1), ..first }], 4), Outcome::Diverged(EventNumber(3)));
    assert_eq!(diverges(vec![Switch { from: ThreadId(1), ..first }], 4), Outcome::Diverged(EventNumber(3)));
    assert_eq!(diverges(vec![Switch { to: ThreadId(9), ..first }], 4), Outcome::Diverged(EventNumber(3)));
    assert_eq!(diverges(vec![Switch { to: ThreadId(0), ..first }], 4), Outcome::Diverged(EventNumber(3)));
    assert_eq!(diverges(vec![], 4), Outcome::Diverged(EventNumber(3)), "a thread that blocks is a decision");
    assert_eq!(diverges(vec![first], 4), Outcome::Exited(0));
}

#[test]
fn repeating_an_execution_leaves_nothing_to_a_strategy() {
    let with = |second| Program::new(vec![vec![Op::Create(1), second], vec![Op::Yield]]);
    let repeat = run(with(Op::SemPost(0)), &Plan::default()).repeat();
    assert_eq!(run(with(Op::SemPost(0)), &repeat).outcome, Outcome::Exited(0));
    // Where the program continued before, it now waits.
    assert_eq!(run(with(Op::Join(0)), &repeat).outcome, Outcome::Diverged(EventNumber(2)));
}

/// The same execution, with the causes that a replay has.
fn good_as_plan(execution: &Execution) -> Execution {
    let mut execution = execution.clone();
    for record in execution.records.iter_mut().filter(|record| record.kind == Kind::Switch) {
        record.detail = Cause::Plan as u8;
    }
    execution
}

#[test]
fn only_synchronisation_orders_accesses() {
    let plain = vec![Op::Write(0, Value::Const(1))];
    let locked = vec![Op::Lock(0), Op::Write(0, Value::Const(1)), Op::Unlock(0)];
    let racy = Program::fork_join(vec![plain.clone(), plain.clone()], vec![Op::Read(0, 0)]);
    let bugs = run(racy.clone(), &Plan::default()).bugs();
    assert_eq!(bugs, [Bug::Race(CodeAddress(racy.code(1, 0)), CodeAddress(racy.code(2, 0)))]);
    let clean = Program::fork_join(vec![locked.clone(), locked.clone()], vec![Op::Read(0, 0)]);
    assert_eq!(run(clean, &Plan::default()).bugs(), []);
    let half = Program::fork_join(vec![locked, plain], vec![]);
    assert_eq!(run(half, &Plan::default()).bugs().len(), 1);
    let undetected = Plan { detect_races: false, ..Plan::default() };
    assert_eq!(run(racy, &undetected).bugs(), []);
    // An atomic flag orders what comes before and after it; a plain one is itself a race.
    let publish = |flag| vec![Op::Write(0, Value::Const(1)), flag, Op::SemPost(0)];
    let consume = |flag| vec![Op::SemWait(1), flag, Op::Read(0, 0)];
    let flags = |set, get| Program::fork_join(vec![publish(set), consume(get), vec![Op::SemPost(1)]], vec![]);
    let switch = |at, from, to| Switch {
        at: EventNumber(at),
        to: ThreadId(to),
        from: ThreadId(from),
        code: CodeAddress::UNKNOWN,
    };
    // Thread 3 runs before thread 2, so the semaphore does not order 1 and 2.
    let plan = Plan { switches: vec![switch(4, 0, 3), switch(6, 3, 1)], tail_from: EventNumber(7), ..Plan::default() };
    let atomic = flags(Op::AtomicWrite(1, Value::Const(1)), Op::AtomicRead(1, 1));
    let execution = run(atomic, &plan);
    assert_eq!((execution.outcome.clone(), execution.bugs()), (Outcome::Exited(0), vec![]));
    let plain = flags(Op::Write(1, Value::Const(1)), Op::Read(1, 1));
    assert_eq!(run(plain, &plan).bugs().len(), 2);
}

#[test]
fn waits_end_by_a_signal_or_a_time_out() {
    let waiter = vec![Op::Lock(0), Op::TimedWait(0, 0, 5, 1), Op::Unlock(0)];
    let signaller = vec![Op::Lock(0), Op::Signal(0), Op::Unlock(0)];
    let program = Program::fork_join(vec![waiter, signaller], vec![]);
    let kinds = |execution: &Execution, thread: u32| -> Vec<(Kind, u8)> {
        execution
            .records
            .iter()
            .filter(|r| r.thread == ThreadId(thread) && r.kind.is_event())
            .map(|r| (r.kind, r.detail))
            .collect()
    };
    let signalled = run(program.clone(), &Plan::default());
    let woken = [(Kind::Lock, 1), (Kind::Wait, 0), (Kind::Lock, 1), (Kind::Unlock, 0), (Kind::Exit, 0)];
    assert_eq!(kinds(&signalled, 1), woken);
    // Let time pass instead of running the other thread.
    let switches: Vec<Switch> = signalled.switches().into_iter().take(1).collect();
    let waits = signalled.records.iter().find(|r| r.kind == Kind::Suspended).map(|r| r.index).unwrap();
    let late = Switch { at: waits, from: ThreadId(1), to: ThreadId(1), code: CodeAddress::UNKNOWN };
    let plan = Plan { switches: [switches, vec![late]].concat(), tail_from: waits + 1, ..Plan::default() };
    let timed_out = run(program, &plan);
    let expected =
        [(Kind::Lock, 1), (Kind::Wait, 0), (Kind::WaitEnd, 1), (Kind::Lock, 1), (Kind::Unlock, 0), (Kind::Exit, 0)];
    assert_eq!(kinds(&timed_out, 1), expected);
    assert_eq!(timed_out.outcome, Outcome::Exited(0));
}

#[test]
fn limits_end_executions_and_turns() {
    // The loop counts its rounds, so no state repeats: only the limit makes it give way.
    let forever = vec![Op::Set(1, Value::RegPlus(1, 1)), Op::AtomicRead(0, 0), Op::JumpIf(0, 0, 0)];
    let program = Program::fork_join(vec![forever, vec![Op::AtomicWrite(0, Value::Const(1))]], vec![]);
    let unfair = Plan { fair_limit: None, max_events: 1_000, ..Plan::default() };
    assert_eq!(run(program.clone(), &unfair).outcome, Outcome::Limit("events".to_owned()));
    let fair = Plan { fair_limit: Some(20), ..unfair };
    let execution = run(program, &fair);
    assert_eq!(execution.outcome, Outcome::Exited(0));
    let turn = execution.records.iter().find(|r| r.kind == Kind::Switch && r.detail == Cause::Fair as u8).unwrap();
    // Its turn began with event 3 and took 20 events.
    assert_eq!((turn.index.0, turn.thread.0, turn.object), (23, 1, 2));
}

#[test]
fn failures_end_the_execution() {
    let program = Program::fork_join(vec![vec![Op::Read(0, 0), Op::Assert(0, 1)]], vec![]);
    let execution = run(program, &Plan::default());
    assert!(matches!(&execution.outcome, Outcome::Asserted { message, .. } if message == "r0 == 1"));
    let program = Program::fork_join(vec![vec![Op::Yield, Op::Crash(11)]], vec![]);
    let execution = run(program.clone(), &Plan::default());
    assert_eq!(execution.bugs(), [Bug::Crash(11, CodeAddress(program.code(1, 1)))]);
}

#[test]
fn sharing_is_reported_and_found_by_watching_everything() {
    let write = vec![Op::Write(0, Value::Const(1)), Op::Write(1, Value::Const(1))];
    let read = vec![Op::Read(0, 0), Op::Read(2, 0)];
    let program = Program::fork_join(vec![write, read], vec![]);
    let shared = vec![program.site(1, 0), program.site(2, 0)];
    let mut executor = ModelExecutor::new(program);
    assert_eq!(reported_sites(&executor.run_one(&Plan::default())), shared);
    assert_eq!(shared_sites(&executor.run_one(&everything())), shared);
    executor.add_points(&shared[..1]);
    assert_eq!(reported_sites(&executor.run_one(&Plan::default())), shared[1..], "also when only one side is a point");
    executor.add_points(&shared);
    assert_eq!(reported_sites(&executor.run_one(&Plan::default())), []);
}

proptest! {
    #![proptest_config(config())]

    /// A program under test can overwrite its log: any log must be readable to its end.
    #[test]
    fn any_log_can_be_read(words in prop::collection::vec(any::<[u8; 11]>(), 0..40), events in 0_u64..60) {
        let wide = |byte: u8| if byte == 255 { u64::MAX } else { byte.into() };
        let kind = |word: &[u8; 11]| Kind::from_byte(word[8]).unwrap_or(Kind::Create);
        let record = |word: &[u8; 11]| Record {
            index: EventNumber(wide(word[0]) % 64),
            code: CodeAddress(word[1].into()),
            object: wide(word[2]) << (word[3] % 64),
            // Long accesses take long, and another test covers them.
            extra: if kind(word).is_access() { word[4].into() } else { wide(word[4]) },
            thread: ThreadId(if word[5] == 255 { u32::MAX } else { (word[5] % 9).into() }),
            stack: word[6].into(),
            site: word[7].into(),
            kind: kind(word),
            size: word[9],
            detail: word[10],
            reserved: 0,
        };
        let mut records: Vec<Record> = words.iter().map(record).filter(Record::is_plausible).collect();
        records.sort_by_key(|record| record.index);
        let stacks = words.iter().flatten().map(|&byte| byte.into()).collect();
        for outcome in [Outcome::Deadlock, Outcome::Exited(0)] {
            let stacks: Vec<u64> = Clone::clone(&stacks);
            let (records, output) = (records.clone(), Vec::new());
            let log = Execution { records, stacks, outcome, events, threads: 9, partial: false, output };
            let mut all = decisions(&log);
            while all.next().is_some() {
                prop_assert!(all.others().count() + all.ready().count() < 20_000);
            }
            let _ = (log.bugs(), log.repeat(), shared_sites(&log), reported_sites(&log), conflicts(&log));
            LastVariables::new(&log).before(EventNumber::NEVER, ThreadId(1));
            History::new(&log.records).before(EventNumber::NEVER);
        }
    }
}
