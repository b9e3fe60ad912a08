//! Coverage guidance reaches step by step what plain walks reach only with luck at every step.

use racehunter_analyses::{Coverage, Walks};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Analysis, Outcome};

/// Returns how many of `runs` executions fail.
fn failures<A: Analysis>(analysis: &mut A, program: &Program, runs: usize) -> usize {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    let mut failures = 0;
    for _ in 0..runs {
        let target = waiting.pop().unwrap();
        let execution = executor.run_one(&analysis.plan(&target));
        assert!(!matches!(execution.outcome, Outcome::Diverged(_)), "the kept prefix cannot be followed");
        failures += usize::from(matches!(execution.outcome, Outcome::Asserted { .. }));
        waiting.extend(analysis.new_targets(&target, &execution));
    }
    failures
}

/// A program in which one thread must read each of `count` variables right after another thread has set it, or give up.
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
fn coverage_guidance_reaches_deep_states_more_often_than_walks() {
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

/// One thread writes two variables that another reads, each with one access. There are two pairs; each can be seen alone,
/// or both in a row.
#[test]
fn chained_pairs_count_as_coverage() {
    let writes = (0..2).map(|variable| Op::AtomicWrite(variable, Value::Const(1))).collect();
    let reads = (0..2).map(|variable| Op::AtomicRead(variable, variable)).collect();
    let mut analysis = Coverage::new(1);
    failures(&mut analysis, &Program::bare(vec![writes, reads]), 200);
    assert_eq!(analysis.covered(), 3);
}
