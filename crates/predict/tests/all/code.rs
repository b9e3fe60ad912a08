//! From code to predictions: everything predicted from one execution of a random program, with the branches and
//! dependences found by following its code, is executed, and happens.
//!
//! `RACEHUNTER_ORACLE_PROGRAMS` sets the number of programs.

use crate::support::Random;
use crate::support::machine::{Machine, Next, program, shown};
use racehunter_abi::ThreadId;
use racehunter_abi::{Kind as EventKind, Record};
use racehunter_flow::Follower;
use racehunter_ir::Module;
use racehunter_predict::{Each, Index, Kind, Options, Policy, Prediction, predict};
use racehunter_trace::recording::{Converter, PlainNames, Survey};
use racehunter_trace::{EventId, Trace, file};
use std::collections::BTreeSet;

fn programs() -> u64 {
    std::env::var("RACEHUNTER_ORACLE_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(600)
}

/// Runs a program: usually the same thread continues.
fn run<'m>(module: &'m Module, threads: usize, random: &mut Random) -> Machine<'m> {
    let mut machine = Machine::new(module, threads);
    let mut current = 0;
    let patience = 1 + random.below(8);
    while (0..threads).any(|thread| machine.is_able(thread)) {
        if random.one_in(patience) || !machine.is_able(current) {
            current = random.below(threads);
        }
        if machine.is_able(current) {
            machine.perform(current);
        }
    }
    machine
}

/// Returns the trace, through a file.
fn recorded(module: &Module, log: &[Record]) -> Trace {
    let mut survey = Survey::default();
    survey.add(log);
    let mut follower = Follower::new(vec![module.clone()]);
    let writer = file::Writer::new(Vec::new(), true, true).unwrap();
    let mut converter = Converter::new(survey.finish(), &PlainNames, writer).unwrap().knowing(&mut follower);
    converter.add(log).unwrap();
    file::Reader::new(converter.finish().finish().unwrap()).unwrap().read().unwrap()
}

/// Executes a witness. Fails if the program behaves differently than in the trace.
fn carry_out(module: &Module, threads: usize, events: &[Record], prediction: &Prediction) -> Result<(), String> {
    let mut machine = Machine::new(module, threads);
    let expect = |machine: &Machine<'_>, id: EventId| {
        let Record { kind, object, code, thread, .. } = events[id as usize];
        let next = machine.next(thread.index());
        if next == (Next::Event { kind, object, code: code.0 }) {
            Ok(thread.index())
        } else {
            Err(format!("{id}: {next:x?}"))
        }
    };
    for id in prediction.witness.events() {
        let thread = expect(&machine, id)?;
        if !machine.is_able(thread) {
            return Err(format!("{id} cannot happen"));
        }
        machine.perform(thread);
    }
    for &id in &prediction.events {
        let thread = expect(&machine, id)?;
        if machine.is_able(thread) != (prediction.kind == Kind::Race) {
            return Err(format!("{id} is not as it should be"));
        }
    }
    Ok(())
}

/// Predicts with each policy from a recorded log, and executes every prediction. Returns the number of predictions of
/// each policy, which never decreases.
fn predicted(seed: u64, module: &Module, threads: usize, log: &[Record]) -> [usize; 3] {
    let events: Vec<Record> = log.iter().copied().filter(|record| record.kind.is_event()).collect();
    let trace = recorded(module, log);
    assert_eq!(trace.len(), events.len(), "program {seed}");
    let index = Index::new(&trace).unwrap_or_else(|error| panic!("program {seed}: {error}"));
    let mut narrower = BTreeSet::new();
    Policy::ALL.map(|policy| {
        let options = Options { policy, attempts: usize::MAX, each: Each::Pair, ..Options::default() };
        let mut predicted = BTreeSet::new();
        for prediction in predict(&index, &options, &|| false).predictions {
            if let Err(why) = carry_out(module, threads, &events, &prediction) {
                let mut text = Vec::new();
                racehunter_trace::text::write(&trace, &mut text).unwrap();
                let text = String::from_utf8_lossy(&text);
                panic!("program {seed}, {policy:?}: {why}\n{prediction:?}\n{text}\n{}", shown(module));
            }
            predicted.insert((prediction.kind, prediction.events));
        }
        assert!(predicted.is_superset(&narrower), "program {seed}: {policy:?} finds less");
        narrower = predicted;
        narrower.len()
    })
}

/// Returns a random program, its number of threads, and the log of one execution.
fn executed(seed: u64) -> (Module, usize, Vec<Record>) {
    let mut random = Random::new(seed);
    let threads = 2 + random.below(2);
    let statements = 2 + random.below(4);
    let module = program(&mut random, threads as u32, statements);
    let log = run(&module, threads, &mut random).log;
    (module, threads, log)
}

#[test]
fn predictions_from_followed_code_happen() {
    let mut total = [0; 3];
    for seed in 0..programs() {
        let (module, threads, log) = executed(seed);
        let found = predicted(seed, &module, threads, &log);
        (0..3).for_each(|policy| total[policy] += found[policy]);
    }
    println!("m2, seqcheck and nre on followed code: {total:?}");
    assert!(total[0] > 0 && total[1] > total[0] && total[2] > total[1], "{total:?}");
}

/// As if an exception left functions silently: a thread is reported to leave an impossible place, and is not followed
/// from then on.
#[test]
fn predictions_about_threads_that_are_lost_happen() {
    let (mut all, mut less) = ([0; 3], [0; 3]);
    for seed in 0..programs() / 3 {
        let (module, threads, mut log) = executed(seed);
        let found = predicted(seed, &module, threads, &log);
        let mut random = Random::new(seed);
        for _ in 0..3 {
            let thread = random.below(threads) as u32;
            let nowhere =
                Record { kind: EventKind::Left, thread: ThreadId(thread), site: u32::MAX, ..Record::default() };
            log.insert(random.below(log.len() + 1), nowhere);
        }
        let lost = predicted(seed, &module, threads, &log);
        for policy in 0..3 {
            all[policy] += found[policy];
            less[policy] += lost[policy];
        }
    }
    assert!(less[0] == all[0] && less[2] < all[2], "{all:?} when all is known, {less:?} when threads are lost");
}
