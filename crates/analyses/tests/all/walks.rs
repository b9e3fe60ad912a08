//! Walks find bugs as often as they promise.

use crate::common::figures::figures;
use racehunter_abi::Kind;
use racehunter_analyses::Walks;
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Analysis, Execution, Outcome, Plan, Style, Tail, Tracked};
use racehunter_log::Address;

fn failed(execution: &Execution) -> bool {
    matches!(execution.outcome, Outcome::Asserted { .. } | Outcome::Deadlock)
}

/// Returns the number of failing walks of a style.
fn hits(program: &Program, style: Style, walks: u64) -> u64 {
    hits_at(program, style, &[], walks)
}

/// The same, with these variables.
fn hits_at(program: &Program, style: Style, track: &[Tracked], walks: u64) -> u64 {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    (0..walks)
        .filter(|&seed| {
            let tail = Tail::Walk { style, seed: seed.wrapping_mul(0x9E37_79B9) };
            failed(&executor.run_one(&Plan { tail, track: track.to_vec(), ..Plan::default() }))
        })
        .count() as u64
}

/// Returns how many walks of an analysis fail.
fn made(mut analysis: Walks, program: &Program, walks: u64) -> (Walks, u64) {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    let mut hits = 0;
    for _ in 0..walks {
        let target = waiting.pop().unwrap();
        let execution = executor.run_one(&analysis.plan(&target));
        hits += u64::from(failed(&execution));
        waiting.extend(analysis.new_targets(&target, &execution));
    }
    (analysis, hits)
}

/// The minimum number of hits to accept: the expectation less four standard deviations.
fn least(walks: u64, chance: f64) -> f64 {
    let expected = walks as f64 * chance;
    expected - 4.0 * (expected * (1.0 - chance)).sqrt()
}

/// A thread with `filler` operations before those that matter.
fn padded(filler: usize, ops: Vec<Op>) -> Vec<Op> {
    let mut body: Vec<Op> = (0..filler).map(|i| Op::AtomicRead(8 + i % 4, 3)).collect();
    let shift = body.len();
    body.extend(ops.into_iter().map(|op| match op {
        Op::JumpIf(register, value, to) => Op::JumpIf(register, value, to + shift),
        op => op,
    }));
    body
}

/// Depth 1: the reader must come first.
fn order(filler: usize) -> Program {
    let writer = padded(filler, vec![Op::AtomicWrite(0, Value::Const(1))]);
    let reader = padded(filler, vec![Op::AtomicRead(0, 0), Op::Assert(0, 1)]);
    Program::bare(vec![writer, reader])
}

/// Depth 2: the reader between two writes.
fn between(filler: usize) -> Program {
    let writer = padded(filler, vec![Op::AtomicWrite(0, Value::Const(1)), Op::AtomicWrite(0, Value::Const(0))]);
    let reader = padded(filler, vec![Op::AtomicRead(0, 0), Op::Assert(0, 0)]);
    Program::bare(vec![writer, reader])
}

/// Depth 2: a deadlock of two locks.
fn abba() -> Program {
    let thread = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
    Program::bare(vec![thread(0, 1), thread(1, 0)])
}

fn length(program: &Program) -> u64 {
    program.bodies.iter().flatten().filter(|op| !matches!(op, Op::Set(..) | Op::JumpIf(..) | Op::Assert(..))).count()
        as u64
}

#[test]
fn pct_hits_as_often_as_it_promises() {
    const WALKS: u64 = 4000;
    let cases: Vec<(&str, Program, u32)> = vec![
        ("order", order(0), 1),
        ("order, longer", order(10), 1),
        ("between", between(0), 2),
        ("between, longer", between(8), 2),
        ("abba", abba(), 2),
    ];
    for (name, program, depth) in cases {
        let length = length(&program);
        let chance = 1.0 / (program.bodies.len() as f64 * (length as f64).powi(depth as i32 - 1));
        let hits = hits(&program, Style::Pct { depth, length }, WALKS);
        assert!(hits as f64 >= least(WALKS, chance), "{name}: {hits} of {WALKS}, promised {chance}");
    }
}

#[test]
fn pct_without_priority_changes_misses_deeper_bugs() {
    // The thread with the higher priority runs to its end, so nothing comes between two writes.
    assert_eq!(hits(&between(3), Style::Pct { depth: 1, length: 20 }, 1000), 0);
    assert_eq!(hits(&abba(), Style::Pct { depth: 1, length: 20 }, 1000), 0);
}

#[test]
fn partial_order_sampling_beats_a_random_walk_on_long_threads() {
    // One thread has many operations before its last one, which must come first to fail. A random walk needs luck 10 times
    // in a row; one random priority per operation does better.
    let program = Program::bare(vec![
        padded(10, vec![Op::AtomicWrite(0, Value::Const(1))]),
        vec![Op::AtomicRead(0, 0), Op::Assert(0, 0)],
    ]);
    const WALKS: u64 = 4000;
    let (sampling, random) = (hits(&program, Style::Pos, WALKS), hits(&program, Style::Even, WALKS));
    assert!(sampling > 4 * random.max(1), "{sampling} against {random}");
}

/// Returns how many reads of the variable precede its write, for each of `walks` walks.
fn reads_before_the_write(mut analysis: Walks, program: &Program, walks: usize) -> Vec<usize> {
    let Tracked::At(object) = variable(0) else { unreachable!("the model has no heap") };
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    let mut counts = Vec::new();
    for _ in 0..walks {
        let target = waiting.pop().unwrap();
        let execution = executor.run_one(&analysis.plan(&target));
        let mut accesses = execution.records.iter().filter(|record| record.variable() == Some(object.0));
        counts.push(accesses.position(|record| record.kind == Kind::AtomicWrite).unwrap());
        waiting.extend(analysis.new_targets(&target, &execution));
    }
    counts
}

#[test]
fn a_uniform_walk_is_even_over_the_orders_of_a_variable() {
    const WALKS: usize = 4000;
    // The write may come before, between and after four reads, after many other operations. In the second program the reader
    // is a thread created by the writer.
    let writer = padded(30, vec![Op::AtomicWrite(0, Value::Const(1))]);
    let reads = |count| vec![Op::AtomicRead(0, 0); count];
    let one = Program::fork_join(vec![writer.clone(), reads(4)], vec![]);
    let parent = vec![Op::AtomicRead(0, 0), Op::Create(3), Op::AtomicRead(0, 0), Op::Join(0)];
    let mut nested = Program::fork_join(vec![writer, parent], vec![]);
    nested.bodies.push(reads(2));
    for (name, program) in [("flat", one), ("nested", nested)] {
        let counts = reads_before_the_write(Walks::uniform(1), &program, WALKS);
        let expected = (WALKS as f64 / 5.0, 5.0 * (WALKS as f64 / 5.0 * 0.8).sqrt());
        for position in 0..=4 {
            let count = counts.iter().filter(|&&reads| reads == position).count() as f64;
            assert!((count - expected.0).abs() < expected.1, "{name}: {position} {count}, not {expected:?}");
        }
    }
}

#[test]
fn the_summary_states_the_hit_probability() {
    let (walks, _) = made(Walks::pct(2, 1), &between(2), 40);
    let said = walks.chance().unwrap();
    // 7 operations; those after the end of the other thread are not choices.
    assert!(said.starts_with("a bug of depth 2 had a chance of at least 0.9"), "{said}");
    // The first walks did not yet know how long executions are.
    let counted: u64 = said.split(['(', ' ']).find_map(|word| word.parse().ok().filter(|&n: &u64| n > 2)).unwrap();
    assert!((20..40).contains(&counted) && said.contains(&format!("({counted} walks, 2 threads, ")), "{said}");
    assert_eq!(Walks::random(1).chance(), None);
    // Nothing is promised where time-outs can end early, which walks choose at random.
    let mut program = between(2);
    program.bodies[0].insert(0, Op::Sleep(1));
    for analysis in [Walks::pct(2, 1), Walks::pct_variables(2, 1, 1)] {
        assert_eq!(made(analysis, &program, 40).0.chance(), None);
    }
}

/// The variable with this number, as in the log.
fn variable(number: usize) -> Tracked {
    let program = Program::bare(vec![vec![Op::AtomicRead(number, 0)]]);
    let execution = ModelExecutor::new(program).run_one(&Plan::default());
    let record = execution.records.iter().find(|record| record.kind == Kind::AtomicRead).expect("the access");
    Tracked::At(Address(record.object))
}

#[test]
fn pct_at_the_right_variable_depends_only_on_its_accesses() {
    const WALKS: u64 = 4000;
    let program = between(30);
    // Three accesses of the variable, among 63 operations, and the start of a thread.
    let promised = 1.0 / (2.0 * 4.0);
    let hits = hits_at(&program, Style::PctVariables { depth: 2, length: 4 }, &[variable(0)], WALKS);
    assert!(hits as f64 >= least(WALKS, promised), "{hits} of {WALKS}");
    // Without a change, or with one at an unrelated variable, nothing comes between the writes.
    assert_eq!(hits_at(&program, Style::PctVariables { depth: 1, length: 3 }, &[variable(0)], WALKS), 0);
    assert_eq!(hits_at(&program, Style::PctVariables { depth: 2, length: 15 }, &[variable(8)], WALKS), 0);
    assert_eq!(hits_at(&program, Style::PctVariables { depth: 2, length: 3 }, &[], WALKS), 0);
}

#[test]
fn pct_with_variables_hits_as_often_as_it_promises() {
    let mut cases: Vec<(String, Program, u32, u32)> = vec![
        ("between".to_owned(), between(6), 2, 1),
        ("abba".to_owned(), abba(), 2, 1),
        ("order".to_owned(), order(5), 1, 1),
    ];
    for figure in figures() {
        let (preemptions, variables, _) = figure.needs;
        // In figure 10 the third thread has to be delayed as well.
        let depth = preemptions + 1 + u32::from(figure.number == 10);
        cases.push((format!("figure {}", figure.number), figure.program, depth, variables.max(1)));
    }
    for (name, program, depth, variables) in cases {
        let (walks, _) = made(Walks::pct_variables(depth, variables, 7), &program, 500);
        // Enough for 100 promised hits.
        let count = (100.0 / walks.chance_of_one().unwrap()).ceil() as u64;
        let (walks, hits) = made(Walks::pct_variables(depth, variables, 7), &program, count);
        let (said, promised) = (walks.chance().unwrap(), walks.chance_of_one().unwrap());
        let least = least(count, promised);
        assert!(least > 50.0 && hits as f64 >= least, "{name}: {hits} of {count}, promised {promised}: {said}");
        let (_, hits) = made(Walks::pct_variables(depth - 1, variables, 7), &program, 1000);
        assert!(depth == 1 || hits == 0, "{name}: {hits} of 1000 with too small a depth");
    }
}

/// The gain of section 3.1: on average over the variables of a bug, the hit probability is better than that of plain PCT and
/// than the minimum; and the walks achieve it.
#[test]
fn the_average_hit_probability_over_variables_is_achieved() {
    const WALKS: u64 = 40;
    const SEEDS: u64 = 300;
    // Variable 0 has three accesses and variable 1 thirty-three; the bug is at one of them.
    let program = |buggy: usize| {
        let writes =
            |variable| vec![Op::AtomicWrite(variable, Value::Const(1)), Op::AtomicWrite(variable, Value::Const(0))];
        let writer = [vec![Op::AtomicWrite(1, Value::Const(0)); 15], writes(1), writes(0)].concat();
        let reads = [vec![Op::AtomicRead(1, 3); 15], vec![Op::AtomicRead(1, 1), Op::AtomicRead(0, 0)]].concat();
        let reader = [reads, vec![Op::Assert(buggy, 0)]].concat();
        Program::bare(vec![writer, reader])
    };
    let (mut found, mut said) = (0, 0.0);
    for (buggy, seed) in (0..2).flat_map(|buggy| (0..SEEDS).map(move |seed| (buggy, seed))) {
        let (walks, hits) = made(Walks::pct_variables(2, 1, seed), &program(buggy), WALKS);
        found += u64::from(hits > 0);
        said += walks.chance_on_average().unwrap() / (2 * SEEDS) as f64;
    }
    assert!(found as f64 >= least(2 * SEEDS, said), "{found} of {}, promised {said}", 2 * SEEDS);
    let (walks, _) = made(Walks::pct_variables(2, 1, 1), &program(0), WALKS);
    let (plain, _) = made(Walks::pct(2, 1), &program(0), WALKS);
    let all = |each: f64| 1.0 - (1.0 - each).powf(WALKS as f64);
    let mean = walks.chance_on_average().unwrap();
    assert!(mean > all(walks.chance_of_one().unwrap()) && mean > all(plain.chance_of_one().unwrap()));
    let told = walks.chance().unwrap();
    assert!(told.ends_with(&format!(", {mean:.2} on average over the variables")), "{told}");
    assert_eq!(plain.chance_on_average(), None);
}

/// Figure 6 of the paper: the rarer the accesses of the bug's variable, the more drawing variables first helps.
#[test]
fn rare_variables_are_found_more_often_than_by_their_share_of_the_accesses() {
    const WALKS: u64 = 3000;
    let ratio = |filler: usize| {
        let program = between(filler);
        let (_, plain) = made(Walks::pct(2, 3), &program, WALKS);
        let (_, bounded) = made(Walks::pct_variables(2, 1, 3), &program, WALKS);
        (plain.max(1), bounded)
    };
    let ((few_plain, few_bounded), (many_plain, many_bounded)) = (ratio(4), ratio(60));
    assert!(many_bounded > 3 * many_plain, "{many_bounded} against {many_plain}");
    assert!(many_bounded * few_plain > few_bounded * many_plain, "the more the rarer");
}
