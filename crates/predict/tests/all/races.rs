//! Races against brute force.
//!
//! `RACEHUNTER_ORACLE_TRACES` sets the number of random traces of each test.

use crate::support::oracle::{Oracle, Rules};
use crate::support::peers::Peers;
use crate::support::{Random, Shape, conflicts, shown, trace};
use racehunter_predict::{
    Answer, Checker, Demands, Each, Effort, Index, Options, Policy, Question, Witness, predict, validate,
};
use racehunter_trace::file;
use std::collections::BTreeSet;

fn traces() -> u64 {
    std::env::var("RACEHUNTER_ORACLE_TRACES").ok().and_then(|number| number.parse().ok()).unwrap_or(200)
}

/// Returns the number of races, and how many of them are predicted. A false prediction is a failure.
fn compare(shape: Shape, seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut real, mut found) = (0, 0);
    for seed in seeds {
        let trace = trace(&mut Random::new(seed), shape);
        let index = Index::new(&trace).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", shown(&trace)));
        let oracle = Oracle::new(&trace);
        let mut narrower = BTreeSet::new();
        for policy in Policy::ALL {
            let races = oracle.races(&Rules::new(&trace, policy));
            let checker = Checker::new(&index, policy);
            let mut predicted = BTreeSet::new();
            for (first, second) in conflicts(&trace) {
                let question = Question::together(vec![first, second]);
                // A window may hide a race, but it never makes an answer wrong.
                for window in [0, 4] {
                    let effort = Effort { windows: vec![window], ..Effort::default() };
                    let wrong = match checker.answer(&question, &effort) {
                        Answer::Yes(..) => !races.contains(&(first, second)),
                        Answer::No => races.contains(&(first, second)),
                        Answer::Unknown(_) => false,
                    };
                    assert!(!wrong, "seed {seed}, {policy:?}, window {window}: ({first}, {second})\n{}", shown(&trace));
                }
                if let Some((witness, _)) = checker.check(&question, &Effort::exhaustive()) {
                    validate(&index, checker.demands(), &question, &witness).unwrap();
                    assert!(
                        races.contains(&(first, second)),
                        "seed {seed}, {policy:?}: ({first}, {second}) is no race\n{witness:?}\n{}",
                        shown(&trace)
                    );
                    predicted.insert((first, second));
                } else if races.contains(&(first, second)) && std::env::var_os("RACEHUNTER_ORACLE_SHOW").is_some() {
                    println!("seed {seed}, {policy:?}: missed ({first}, {second})\n{}", shown(&trace));
                }
            }
            assert!(
                predicted.is_superset(&narrower),
                "seed {seed}: {policy:?} finds less than the policy before it\n{}",
                shown(&trace)
            );
            real += races.len();
            found += predicted.len();
            narrower = predicted;
        }
    }
    (real, found)
}

fn shapes(threads: usize, events: usize) -> impl Iterator<Item = Shape> {
    (0..8).map(move |bits| {
        let [plain, dependences, locking] = [1, 2, 4].map(|bit| bits & bit != 0);
        Shape { threads, events, plain, dependences, locking }
    })
}

#[test]
fn two_threads_exactly() {
    for shape in shapes(2, 13) {
        let (real, found) = compare(shape, 0..traces());
        println!("{shape:?}: {found} of {real}");
        assert_eq!(real, found, "{shape:?}");
        assert!(real > 0);
    }
}

#[test]
fn three_threads_nearly_all() {
    for shape in shapes(3, 12) {
        let (real, found) = compare(shape, 0..traces());
        println!("{shape:?}: {found} of {real}");
        assert!(found as f64 >= real as f64 * 0.999, "{shape:?}: {found} of {real}");
    }
}

#[test]
fn four_threads_nearly_all() {
    for shape in shapes(4, 12) {
        let (real, found) = compare(shape, 0..traces());
        println!("{shape:?}: {found} of {real}");
        assert!(found as f64 >= real as f64 * 0.999, "{shape:?}: {found} of {real}");
    }
}

/// Without the cheap stage, the other stages find everything, and freezing a prefix never makes them wrong.
#[test]
fn thorough_stages_alone() {
    let (mut real, mut whole, mut frozen) = (0, 0, 0);
    for shape in shapes(3, 13) {
        for seed in 0..traces() {
            let trace = trace(&mut Random::new(seed), shape);
            let index = Index::new(&trace).unwrap();
            let oracle = Oracle::new(&trace);
            for policy in Policy::ALL {
                let races = oracle.races(&Rules::new(&trace, policy));
                real += races.len();
                let checker = Checker::new(&index, policy);
                for (first, second) in conflicts(&trace) {
                    let question = Question::together(vec![first, second]);
                    let found = |windows: Vec<u32>| {
                        let effort = Effort { cheap: false, windows, ..Effort::exhaustive() };
                        checker.check(&question, &effort).is_some()
                    };
                    let is_race = races.contains(&(first, second));
                    whole += usize::from(found(vec![u32::MAX]));
                    for window in [0, 2, 5, 8] {
                        let found = found(vec![window]);
                        assert!(is_race || !found, "seed {seed}, {policy:?}: ({first}, {second})\n{}", shown(&trace));
                        frozen += usize::from(found);
                    }
                }
            }
        }
    }
    println!("{whole} of {real}; {frozen} with frozen parts");
    assert!(whole as f64 >= real as f64 * 0.999 && frozen > 0, "{whole} of {real}");
}

/// Everything that two published analyses report is predicted, without any window.
#[test]
fn of_many_threads_includes_the_races_of_peers() {
    let (mut preserving, mut reversal, mut more) = (0, 0, 0);
    for threads in 2..6 {
        for seed in 0..traces() {
            let shape = Shape { threads, events: 60, plain: true, dependences: false, locking: seed % 2 == 0 };
            let trace = trace(&mut Random::new(seed), shape);
            let index = Index::new(&trace).unwrap();
            let checker = Checker::new(&index, Policy::M2);
            let peers = Peers::new(&trace);
            let effort = Effort { windows: Vec::new(), ..Effort::default() };
            for (first, second) in conflicts(&trace) {
                let of_peers = [
                    peers.sync_preserving(first as usize, second as usize),
                    peers.sync_reversal(first as usize, second as usize),
                ];
                let found = checker.check(&Question::together(vec![first, second]), &effort).is_some();
                assert!(
                    found || of_peers == [false, false],
                    "seed {seed}, {threads} threads: ({first}, {second}) {of_peers:?}\n{}",
                    shown(&trace)
                );
                preserving += usize::from(of_peers[0]);
                reversal += usize::from(of_peers[1]);
                more += usize::from(found && of_peers == [false, false]);
            }
        }
    }
    println!("sync-preserving {preserving}, sync-reversal {reversal}, {more} more");
    assert!(preserving > 0 && reversal > preserving, "{preserving} {reversal}");
}

/// What segments of a trace predict, the whole trace allows: the start of the trace and a segment's witness are together
/// a witness that the validator of the whole trace accepts.
#[test]
fn segments_of_threads_are_never_wrong() {
    let (mut found, mut whole) = (0, 0);
    for shape in (2..5).flat_map(|threads| shapes(threads, 24)) {
        for seed in 0..traces().div_ceil(4) {
            let trace = trace(&mut Random::new(seed), shape);
            let index = Index::new(&trace).unwrap();
            let mut bytes = Vec::new();
            file::write_in_blocks(&trace, &mut bytes, 1 + seed as usize % 4).unwrap();
            let reader = file::Reader::new(bytes).unwrap();
            for policy in Policy::ALL {
                let demands = Demands::new(policy, &index);
                let options = Options { policy, each: Each::Pair, ..Options::default() };
                whole += predict(&index, &options, &|| false).predictions.len();
                let mut segments = reader.segments(9, 4).unwrap();
                while let Some(segment) = segments.next_segment().unwrap() {
                    let part = Index::new(segment.trace).unwrap();
                    for prediction in predict(&part, &options, &|| false).predictions {
                        let number = |event: &u32| segment.number(*event).unwrap() as u32;
                        let Question { next, done, before } = &prediction.question;
                        let question = Question {
                            next: next.iter().map(number).collect(),
                            done: done.iter().map(number).collect(),
                            before: before.iter().map(|(one, other)| (number(one), number(other))).collect(),
                        };
                        let tail = prediction.witness.tail.iter().map(|event| number(&event)).collect();
                        let witness = Witness { frozen: number(&prediction.witness.frozen), tail };
                        let valid = validate(&index, &demands, &question, &witness);
                        assert_eq!(valid, Ok(()), "seed {seed}, {policy:?}: {question:?}\n{}", shown(&trace));
                        found += 1;
                    }
                }
            }
        }
    }
    println!("{found} in segments, {whole} in whole traces");
    assert!(found > 0 && whole > 0);
}
