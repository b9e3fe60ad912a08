//! Search that is guided by coverage gets step by step to where walks need luck all at once.

use racehunter_analyses::{Coverage, Walks};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Analysis, Outcome};

/// How many of so many executions fail.
fn failures<A: Analysis>(analysis: &mut A, program: &Program, runs: usize) -> usize {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    let mut failures = 0;
    for _ in 0..runs {
        let target = waiting.pop().unwrap();
        let execution = executor.run_one(&analysis.plan(&target));
        assert!(!matches!(execution.outcome, Outcome::Diverged(_)), "beginnings can be followed");
        failures += usize::from(matches!(execution.outcome, Outcome::Asserted { .. }));
        waiting.extend(analysis.new_targets(&target, &execution));
    }
    failures
}

/// One thread must look at each of so many variables in the moment in which another thread has set it, or give up.
fn stages(count: usize) -> Program {
    let mut looks: Vec<Op> = Vec::new();
    let end = 2 * count + 1;
    for variable in 0..count {
        looks.extend([Op::AtomicRead(variable, 0), Op::JumpIf(0, 0, end)]);
    }
    looks.push(Op::Assert(0, 0));
    let toggle = |variable| [Op::AtomicWrite(variable, Value::Const(1)), Op::AtomicWrite(variable, Value::Const(0))];
    let sets = (0..count).flat_map(toggle).collect();
    Program::bare(vec![looks, sets])
}

#[test]
fn what_is_reached_step_by_step_is_reached_more_often() {
    const RUNS: usize = 4000;
    let program = stages(7);
    let guided = failures(&mut Coverage::new(1), &program, RUNS);
    let walks = failures(&mut Walks::pos(1), &program, RUNS);
    assert!(guided > 3 * walks.max(1), "{guided} against {walks}");
}

#[test]
fn the_same_seed_gives_the_same_search_and_parts_differ() {
    let program = stages(3);
    let search = |mut analysis: Coverage| (failures(&mut analysis, &program, 300), analysis.covered());
    assert_eq!(search(Coverage::new(3)), search(Coverage::new(3)));
    assert_ne!(search(Coverage::new(3)), search(Coverage::new(4)));
}

/// One thread writes two variables that another reads, each with one access. There are two pairs, of which each can be seen
/// without the other, and both in a row.
#[test]
fn pairs_in_a_row_count_by_themselves() {
    let writes = (0..2).map(|variable| Op::AtomicWrite(variable, Value::Const(1))).collect();
    let reads = (0..2).map(|variable| Op::AtomicRead(variable, variable)).collect();
    let mut analysis = Coverage::new(1);
    failures(&mut analysis, &Program::bare(vec![writes, reads]), 200);
    assert_eq!(analysis.covered(), 3);
}
