//! Watchpoints find the races that can meet, and nothing else.

use crate::common::{SMALL, TIMED, WIDER, config, found, hunt};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, FreeRunning, Options, Strategy, Technique, Watchpoint, WatchpointBound};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value, schedules};
use racehunter_explore::{Analysis, Budget, Bug, Execution, Outcome, Plan, Points, all_conflicts, confirm, conflicts};
use std::collections::BTreeSet;

fn races(bugs: impl IntoIterator<Item = Bug>) -> BTreeSet<Bug> {
    bugs.into_iter().filter(|bug| matches!(bug, Bug::Race(..))).collect()
}

/// What a campaign of watchpoints finds, with and without the happens-before detector.
fn provoked(program: &Program) -> BTreeSet<Bug> {
    let budget = Budget { runs: Some(2000), points: Points::All, ..Budget::default() };
    races(found(&hunt(ModelExecutor::new(program.clone()), Technique::Watchpoint, &Options::default(), budget).summary))
}

/// The races that meet when every pair of the first execution is provoked, without happens-before.
fn met(program: &Program) -> BTreeSet<Bug> {
    meets(program, Watchpoint::new(), |_, _| {})
}

/// The races that an analysis makes meet, without happens-before, in up to 2000 executions.
fn meets<A: Analysis>(program: &Program, mut analysis: A, mut look: impl FnMut(&Plan, &Execution)) -> BTreeSet<Bug> {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    let mut bugs = BTreeSet::new();
    for _ in 0..2000 {
        let Some(target) = waiting.pop() else {
            let Some(next) = analysis.next_stage() else { break };
            waiting = next;
            continue;
        };
        let plan = Plan { detect_races: false, ..analysis.plan(&target) };
        let execution = executor.run_one(&plan);
        waiting.extend(analysis.new_targets(&target, &execution));
        bugs.extend(races(execution.bugs()));
        look(&plan, &execution);
    }
    bugs
}

/// Listing 1 of the paper as printed. In the sequential execution both accesses hold the same lock, and happens-before orders
/// them. Holding one thread makes the other take another branch, where it holds no lock.
fn listing_1_as_it_stands() -> Program {
    let first = vec![
        Op::Lock(0),
        Op::Write(0, Value::Const(1)),
        Op::Unlock(0),
        Op::Lock(1),
        Op::Write(1, Value::Const(1)),
        Op::Unlock(1),
    ];
    let second = vec![
        Op::Lock(1),
        Op::Read(1, 0),
        Op::Unlock(1),
        Op::JumpIf(0, 0, 8),
        Op::Lock(0),
        Op::Write(0, Value::Const(2)),
        Op::Unlock(0),
        Op::JumpIf(0, 1, 9),
        Op::Write(0, Value::Const(3)),
    ];
    Program::bare(vec![first, second])
}

/// A variant of listing 1: the lock protects a flag, but not the data that the flag guards.
fn listing_1() -> Program {
    let first = vec![Op::Write(0, Value::Const(1)), Op::Lock(0), Op::Write(1, Value::Const(1)), Op::Unlock(0)];
    let second = vec![Op::Lock(0), Op::Read(1, 0), Op::Unlock(0), Op::Write(0, Value::Const(2))];
    Program::bare(vec![first, second])
}

/// Listing 2: an atomic orders the accesses in the sequential execution only.
fn listing_2() -> Program {
    let first = vec![Op::Write(0, Value::Const(1)), Op::AtomicWrite(1, Value::Const(1))];
    let second = vec![Op::AtomicRead(1, 0), Op::JumpIf(0, 2, 3), Op::Write(0, Value::Const(2))];
    Program::bare(vec![first, second])
}

#[test]
fn races_hidden_in_the_sequential_execution_are_provoked() {
    for program in [listing_1_as_it_stands(), listing_1(), listing_2()] {
        let mut executor = ModelExecutor::new(program.clone());
        executor.add_all_points();
        let sequential = executor.run_one(&Plan::default());
        assert_eq!(races(sequential.bugs()), BTreeSet::new(), "happens-before alone misses it");
        assert_eq!(met(&program).len(), 1);
        assert_eq!(provoked(&program), met(&program));
    }
}

#[test]
fn accesses_ordered_by_creation_or_joining_are_not_targets() {
    let program = Program::fork_join(vec![vec![Op::Write(0, Value::Const(1))]], vec![Op::Read(0, 0)]);
    let mut executor = ModelExecutor::new(program);
    executor.add_all_points();
    assert!(conflicts(&executor.run_one(&Plan::default())).is_empty());
}

#[test]
fn pairs_distinguish_loop_rounds_by_count_and_threads_by_path() {
    let body = |value| vec![Op::AtomicRead(1, 1), Op::Write(0, Value::Const(value)), Op::JumpIf(2, 9, 0)];
    let program = Program::bare(vec![body(1), body(2), vec![Op::Read(0, 0), Op::Read(0, 0)]]);
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let pairs = conflicts(&executor.run_one(&Plan::default()));
    // The two writers with each other, and each with both reads; each pair once.
    assert_eq!(pairs.len(), 5, "{pairs:#?}");
    assert!(pairs.iter().flatten().all(|descriptor| descriptor.nth == 1 && descriptor.path.is_none()));
}

/// The same write in every round of a loop, which holds the lock in all rounds but the third.
#[test]
fn every_round_is_a_target() {
    let rounds = |count| {
        vec![
            Op::AtomicAdd(count, 1, 0),
            Op::JumpIf(0, 2, 3),
            Op::Lock(0),
            Op::Write(0, Value::Const(1)),
            Op::JumpIf(0, 2, 6),
            Op::Unlock(0),
            Op::JumpIf(0, 3, 8),
            Op::JumpIf(1, 0, 0),
        ]
    };
    let program = Program::bare(vec![rounds(1), rounds(2)]);
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let conflicts = all_conflicts(&executor.run_one(&Plan::default())).targets;
    let (firsts, others): (Vec<_>, Vec<_>) = conflicts.iter().partition(|conflict| conflict.is_first);
    assert_eq!((firsts.len(), firsts[0].guarded, others[0].guarded), (1, true, false), "{conflicts:?}");
    assert_eq!(met(&program).len(), 1);
}

/// An execution with more targets than are taken at once is monitored again for the rest.
#[test]
fn targets_come_in_portions() {
    // A write in each of eight rounds of a loop.
    let rounds = |count| {
        let write = Op::Write(0, Value::Const(1));
        vec![Op::AtomicAdd(count, 1, 0), write, Op::JumpIf(0, 8, 4), Op::JumpIf(1, 0, 0)]
    };
    let program = Program::bare(vec![rounds(1), rounds(2)]);
    let provoked = |analysis: Watchpoint| {
        let (mut pairs, mut monitored) = (BTreeSet::new(), 0);
        let mut look = |plan: &Plan, _: &Execution| match &plan.provoke {
            Some(pair) => _ = pairs.insert(pair.clone()),
            None => monitored += 1,
        };
        let bugs = meets(&program, analysis, &mut look);
        (pairs, bugs, monitored)
    };
    let (pairs, bugs, monitored) = provoked(Watchpoint::new());
    assert_eq!(monitored, 1);
    let (few_pairs, few_bugs, monitored) = provoked(Watchpoint::in_portions_of(2));
    assert!(monitored > 2, "{monitored}");
    assert_eq!((few_pairs, few_bugs), (pairs, bugs));
}

/// The last thread reaches its access after the second one has made its own, or while the first briefly shows a flag: the pair
/// is seen in the ordinary execution, but meets only after a preemption.
fn guarded() -> Program {
    let shows = vec![Op::AtomicWrite(2, Value::Const(1)), Op::AtomicWrite(2, Value::Const(0))];
    let writes = vec![Op::Write(0, Value::Const(1)), Op::AtomicWrite(1, Value::Const(1))];
    let looks = vec![
        Op::AtomicRead(1, 0),
        Op::JumpIf(0, 1, 4),
        Op::AtomicRead(2, 1),
        Op::JumpIf(1, 0, 5),
        Op::Write(0, Value::Const(2)),
    ];
    Program::bare(vec![shows, writes, looks])
}

#[test]
fn a_pair_that_needs_a_preemption_meets() {
    let bounded = |bound| {
        let analysis = WatchpointBound::new(bound, BoundKind::Preemptions, Strategy::MinSwitches, 1);
        let follows = |_: &Plan, execution: &Execution| {
            assert!(!matches!(execution.outcome, Outcome::Diverged(_)), "{execution:?}");
        };
        meets(&guarded(), analysis, follows).len()
    };
    assert_eq!(met(&guarded()).len(), 0, "no thread reaches the second access while the first is held");
    assert_eq!((bounded(0), bounded(1)), (0, 1));
}

#[test]
fn free_executions_are_provoked_again_under_control() {
    let (mut monitored, mut free, mut controlled) = (0, 0, 0);
    let found = meets(&listing_1(), FreeRunning::new(), |plan, _| match (plan.free, &plan.provoke) {
        (true, None) => monitored += 1,
        (true, Some(_)) => free += 1,
        (false, _) => controlled += 1,
    });
    assert_eq!(found, met(&listing_1()));
    assert_eq!(
        (monitored, free, controlled),
        (3, 2, 3),
        "accesses of the flag under the lock do not meet; the pair that does has three forms"
    );
}

#[test]
fn sampling_finds_what_watchpoints_find() {
    for program in [listing_1(), listing_2()] {
        let budget = Budget { runs: Some(300), points: Points::All, detect_races: false, ..Budget::default() };
        let hunted = hunt(ModelExecutor::new(program.clone()), Technique::Sampling, &Options::default(), budget);
        assert_eq!(races(found(&hunted.summary)), met(&program));
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn accesses_that_meet_race_in_some_schedule(seed: u64, shape: u8) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER][usize::from(shape % 3)]);
        let sites: std::collections::HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(paths) = schedules(&program, &sites, 4_000) else { return Ok(()) };
        let possible = races(crate::common::bugs_of(paths.iter()));
        let met = met(&program);
        // Each of them shows again when its switches are repeated without holding any thread.
        let budget = Budget { runs: Some(2000), points: Points::All, ..Budget::default() };
        let executor = || ModelExecutor::new(program.clone());
        let hunt = hunt(executor(), Technique::Watchpoint, &Options::default(), budget);
        for found in &hunt.summary.found {
            prop_assert_eq!(confirm(&mut executor(), &found.repeat, &found.bug, 2).unwrap(), 2, "{:?}", found);
        }
        prop_assert!(met.is_subset(&possible), "{met:?} beyond {possible:?}\n{program:?}");
        let bounded = WatchpointBound::new(1, BoundKind::Preemptions, Strategy::MinSwitches, 1);
        let bounded = meets(&program, bounded, |_, _| {});
        prop_assert!(bounded.is_subset(&possible), "{bounded:?} beyond {possible:?}\n{program:?}");
        prop_assert!(met.is_subset(&bounded), "{bounded:?} misses some of {met:?}\n{program:?}");
        let sampled = meets(&program, racehunter_analyses::Sampling::new(seed), |_, _| {});
        prop_assert!(sampled.is_subset(&possible), "{sampled:?} beyond {possible:?}\n{program:?}");
    }
}
