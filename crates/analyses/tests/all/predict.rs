//! Predictions from logs are schedules of the program, and show what they predict.

use crate::common::{SMALL, TIMED, WIDER, config, found, hunt};
use proptest::prelude::*;
use racehunter_analyses::{Options, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value, schedules};
use racehunter_explore::{Budget, Bug, Plan, Points, confirm};
use std::collections::{BTreeSet, HashSet};

/// A race that the critical sections hide in the sequential execution.
fn hidden() -> Program {
    let first = vec![Op::Write(0, Value::Const(1)), Op::Lock(0), Op::Write(1, Value::Const(1)), Op::Unlock(0)];
    let second = vec![Op::Lock(0), Op::Write(2, Value::Const(1)), Op::Unlock(0), Op::Write(0, Value::Const(2))];
    Program::bare(vec![first, second])
}

/// The same with both writes inside the critical sections.
fn repaired() -> Program {
    let first = vec![Op::Lock(0), Op::Write(0, Value::Const(1)), Op::Write(1, Value::Const(1)), Op::Unlock(0)];
    let second = vec![Op::Lock(0), Op::Write(2, Value::Const(1)), Op::Write(0, Value::Const(2)), Op::Unlock(0)];
    Program::bare(vec![first, second])
}

fn crossed() -> Program {
    let order = |first, second| vec![Op::Lock(first), Op::Lock(second), Op::Unlock(second), Op::Unlock(first)];
    Program::bare(vec![order(0, 1), order(1, 0)])
}

fn predicted(program: &Program, runs: u64) -> (BTreeSet<Bug>, u64) {
    let budget = Budget { runs: Some(runs), points: Points::All, ..Budget::default() };
    let executor = ModelExecutor::new(program.clone());
    let summary = hunt(executor, Technique::Predict, &Options::default(), budget).summary;
    (found(&summary), summary.counts.diverged)
}

#[test]
fn one_execution_predicts_the_race_it_hides() {
    for program in [hidden(), crossed()] {
        let mut executor = ModelExecutor::new(program.clone());
        executor.add_all_points();
        assert_eq!(executor.run_one(&Plan::default()).bugs(), [], "the sequential execution shows nothing");
        assert_eq!(predicted(&program, 1).0, BTreeSet::new());
        // The second execution carries out the prediction.
        assert_eq!(predicted(&program, 2).0.len(), 1, "{program:?}");
    }
    assert_eq!(predicted(&repaired(), 50).0, BTreeSet::new());
}

#[test]
fn unlogged_accesses_move_with_the_next_point() {
    // Only what both threads access is a point.
    let local = |cell| Op::Write(cell, Value::Const(7));
    let around = |cell, ops: Vec<Op>| ops.into_iter().flat_map(|op| [local(cell), op, local(cell)]).collect::<Vec<_>>();
    let first = vec![Op::Write(0, Value::Const(1)), Op::Lock(0), Op::Write(1, Value::Const(1)), Op::Unlock(0)];
    let second = vec![Op::Lock(0), Op::Write(2, Value::Const(1)), Op::Unlock(0), Op::Write(0, Value::Const(2))];
    let program = Program::bare(vec![around(3, first), around(4, second)]);
    let budget = Budget { runs: Some(3), points: Points::Shared, ..Budget::default() };
    let summary = hunt(ModelExecutor::new(program), Technique::Predict, &Options::default(), budget).summary;
    assert_eq!((found(&summary).len(), summary.counts.impossible), (1, 0));
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn predictions_are_schedules_of_the_program(seed: u64, shape: u8) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER][usize::from(shape % 3)]);
        let sites: HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(paths) = schedules(&program, &sites, 4_000) else { return Ok(()) };
        let possible: BTreeSet<Bug> = crate::common::bugs_of(paths.iter());
        let budget = Budget { runs: Some(60), points: Points::All, ..Budget::default() };
        let executor = || ModelExecutor::new(program.clone());
        let hunt = hunt(executor(), Technique::Predict, &Options::default(), budget);
        // The log of the model hides nothing, so no prediction is wrong; but time-outs occur at any time.
        if shape % 3 != 1 {
            prop_assert_eq!(hunt.summary.counts.impossible, 0);
        }
        let bugs: BTreeSet<Bug> = found(&hunt.summary);
        prop_assert!(bugs.is_subset(&possible), "{bugs:?} beyond {possible:?}\n{program:?}");
        for found in &hunt.summary.found {
            prop_assert_eq!(confirm(&mut executor(), &found.repeat, &found.bug, 2).unwrap(), 2, "{:?}", found);
        }
    }
}
