//! Walks with read constraints soon make reads see every write they can see.

use crate::common::{Recorder, SMALL, WIDER};
use proptest::prelude::*;
use racehunter_analyses::{ContextBound, ReadsFrom, Strategy, Walks};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Analysis, Budget, Campaign, Execution, Outcome, Plan, Points, Portfolio};
use racehunter_log::EventNumber;
use std::collections::{BTreeSet, HashMap};

/// Which write each read saw: thread and place of both; `None` for the initial value.
type Sights = BTreeSet<((u32, u64), Option<(u32, u64)>)>;

fn sights(executions: &[Execution]) -> Sights {
    let mut sights = Sights::new();
    for execution in executions {
        let mut writers: HashMap<u64, (u32, u64)> = HashMap::new();
        for record in execution.records.iter().filter(|record| record.kind.is_access()) {
            let place = (record.thread.0, record.code.0);
            // Updates and reads.
            if !record.kind.is_write() || record.kind == racehunter_abi::Kind::AtomicUpdate {
                sights.insert((place, writers.get(&record.object).copied()));
            }
            if record.kind.is_write() {
                writers.insert(record.object, place);
            }
        }
    }
    sights
}

fn explore(program: &Program, portfolio: Portfolio, runs: Option<u64>) -> Vec<Execution> {
    let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
    let budget = Budget { runs, points: Points::All, ..Budget::default() };
    let _ = Campaign::new(portfolio, budget, &mut |_| ()).run(&mut recorder, &mut || false);
    // Some searches do not log the accesses of their prefixes, so each schedule is run again with a full
    // log.
    let mut whole = ModelExecutor::new(program.clone());
    whole.add_all_points();
    recorder.runs.into_iter().map(|(plan, _)| whole.run_one(&Plan { log_from: EventNumber::START, ..plan })).collect()
}

/// Returns the number of the first execution that fails.
fn first_failure<A: Analysis>(mut analysis: A, program: &Program, runs: usize) -> Option<usize> {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    (1..=runs).find(|_| {
        let target = waiting.pop().unwrap();
        let execution = executor.run_one(&analysis.plan(&target));
        waiting.extend(analysis.new_targets(&target, &execution));
        matches!(execution.outcome, Outcome::Asserted { .. })
    })
}

/// Writers set one variable and then another; a reader must not see the first without the second.
fn reordered(writers: usize) -> Program {
    let set = vec![Op::Write(0, Value::Const(1)), Op::Write(1, Value::Const(1))];
    let look = vec![Op::Read(0, 0), Op::JumpIf(0, 0, 4), Op::Read(1, 1), Op::Assert(1, 1)];
    let mut bodies = vec![set; writers];
    bodies.push(look);
    Program::fork_join(bodies, vec![])
}

/// The same, with a separate lock for each variable.
fn in_two_stages(writers: usize) -> Program {
    let locked = |variable: usize, op: Op| [Op::Lock(variable), op, Op::Unlock(variable)];
    let write = |variable| locked(variable, Op::Write(variable, Value::Const(1)));
    let set: Vec<Op> = write(0).into_iter().chain(write(1)).collect();
    let mut look: Vec<Op> = locked(0, Op::Read(0, 0)).into();
    look.push(Op::JumpIf(0, 0, 8));
    look.extend(locked(1, Op::Read(1, 1)));
    look.push(Op::Assert(1, 1));
    let mut bodies = vec![set; writers];
    bodies.push(look);
    Program::fork_join(bodies, vec![])
}

#[test]
fn few_executions_suffice_for_any_number_of_threads() {
    let programs = [reordered(2), reordered(30), in_two_stages(2), in_two_stages(4)];
    for (number, program) in programs.into_iter().enumerate() {
        for seed in 0..20 {
            let first = first_failure(ReadsFrom::new(seed), &program, 60);
            assert!(first.is_some_and(|first| first <= 12), "{first:?} with seed {seed}, program {number}");
        }
    }
    let by_luck = (0..20).filter(|&seed| first_failure(Walks::pos(seed), &reordered(30), 60).is_some()).count();
    assert!(by_luck < 10, "{by_luck} walks of 20 find it by luck");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_read_sees_every_write_it_can_see(seed: u64, wider: bool) {
        let program = Program::random(seed, if wider { WIDER } else { SMALL });
        let search = ContextBound::unbounded(Strategy::MinSwitches, 1);
        let all = explore(&program, Portfolio::of(search), Some(4_000));
        // The search does not see everything in larger programs.
        prop_assume!(all.len() < 4_000);
        let all = sights(&all);
        let seen = sights(&explore(&program, Portfolio::of(ReadsFrom::new(1)), Some(300)));
        prop_assert!(seen.is_subset(&all), "{:?}", seen.difference(&all));
        prop_assert!(all.is_subset(&seen), "{:?}", all.difference(&seen));
    }
}
