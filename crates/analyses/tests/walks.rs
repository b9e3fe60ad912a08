//! Walks find what they promise to find, as often as they promise it.

use racehunter_analyses::Walks;
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Analysis, Execution, Outcome, Plan, Style, Tail};

/// A walk after the analysis has learnt how long executions are.
fn hits(program: &Program, style: Style, walks: u64) -> u64 {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let failed = |execution: &Execution| matches!(execution.outcome, Outcome::Asserted { .. } | Outcome::Deadlock);
    (0..walks)
        .filter(|&seed| {
            let tail = Tail::Walk { style, seed: seed.wrapping_mul(0x9E37_79B9) };
            failed(&executor.run_one(&Plan { tail, ..Plan::default() }))
        })
        .count() as u64
}

/// The least number of hits that is not a scandal: the expectation less four standard deviations.
fn least(walks: u64, chance: f64) -> f64 {
    let expected = walks as f64 * chance;
    expected - 4.0 * (expected * (1.0 - chance)).sqrt()
}

/// Threads with `filler` operations each before the ones that matter.
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
fn pct_without_changes_misses_what_is_deeper() {
    // Whoever has the higher priority runs to its end, so nothing comes between two writes.
    assert_eq!(hits(&between(3), Style::Pct { depth: 1, length: 20 }, 1000), 0);
    assert_eq!(hits(&abba(), Style::Pct { depth: 1, length: 20 }, 1000), 0);
}

#[test]
fn order_sampling_is_even_where_a_random_walk_is_not() {
    // One thread has a long way to go before its last operation, which must come first to fail. A random walk that
    // tosses a coin at every step needs luck 10 times in a row; drawing one priority per operation does better.
    let program = Program::bare(vec![
        padded(10, vec![Op::AtomicWrite(0, Value::Const(1))]),
        vec![Op::AtomicRead(0, 0), Op::Assert(0, 0)],
    ]);
    const WALKS: u64 = 4000;
    let (sampling, random) = (hits(&program, Style::Pos, WALKS), hits(&program, Style::Even, WALKS));
    assert!(sampling > 4 * random.max(1), "{sampling} against {random}");
}

#[test]
fn the_chance_is_told() {
    let program = between(2);
    let mut executor = ModelExecutor::new(program);
    executor.add_all_points();
    let mut walks = Walks::pct(2, 1);
    let mut waiting = walks.initial_targets();
    for _ in 0..40 {
        let target = waiting.pop().unwrap();
        let execution = executor.run_one(&walks.plan(&target));
        waiting.extend(walks.new_targets(&target, &execution));
    }
    let said = walks.chance().unwrap();
    // 7 operations, of which those after the end of the other thread are no choices.
    assert!(said.starts_with("a bug of depth 2 had a chance of at least 0.9"), "{said}");
    assert!(said.contains("40 walks, 2 threads"), "{said}");
    assert_eq!(Walks::random(1).chance(), None);
}
