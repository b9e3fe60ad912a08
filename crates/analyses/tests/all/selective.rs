//! Walks that observe few variables make the same schedules as walks that observe everything.

use crate::common::config;
use crate::common::figures::figures;
use proptest::prelude::*;
use racehunter_abi::Kind;
use racehunter_analyses::Walks;
use racehunter_explore::model::{ModelExecutor, Op, Program, Shape};
use racehunter_explore::{Analysis, Execution, Observe, Outcome, Plan, Style, Tail, Tracked};
use racehunter_log::Address;

/// Returns the variables of an execution, each with the sites of its plain accesses.
fn variables(execution: &Execution) -> Vec<(Tracked, Vec<u32>)> {
    let mut found: Vec<(Tracked, Vec<u32>)> = Vec::new();
    for record in execution.records.iter().filter(|record| record.kind.is_access()) {
        let variable = Tracked::At(Address(record.object));
        let index = found.iter().position(|(known, _)| *known == variable).unwrap_or_else(|| {
            found.push((variable, Vec::new()));
            found.len() - 1
        });
        if !record.kind.is_atomic() {
            found[index].1.push(record.site);
        }
    }
    found
}

proptest! {
    #![proptest_config(config(500))]

    /// Priorities are strict, so only the points of a selective plan can change which thread continues.
    #[test]
    fn a_selective_walk_makes_the_schedule_of_a_full_walk(
        seed: u64, walk: u64, depth in 1_u32..=4, which: u64, fair in 1_u64..40,
    ) {
        let program = Program::random(seed, Shape { threads: 4, statements: 6, timing: false, signals: false });
        let mut executor = ModelExecutor::new(program.clone());
        let whole = Plan { observe: Observe::Everything, ..Plan::default() };
        let known = variables(&executor.run_one(&whole));
        prop_assume!(!known.is_empty());
        let (variable, _) = &known[which as usize % known.len()];
        let tail = Tail::Walk { style: Style::PctVariables { depth, length: 8 }, seed: walk };
        // A turn can end at any event, whether or not it is a point.
        let whole = Plan { tail, track: vec![*variable], fair_limit: Some(fair), ..whole };
        let select = Some(program.access_sites().into_iter().collect());
        let selective = Plan { observe: Observe::Points, select, ..whole.clone() };
        let (seen, selected) = (executor.run_one(&whole), executor.run_one(&selective));
        prop_assert_eq!(selected.switches(), seen.switches());
        prop_assert_eq!((&selected.outcome, selected.events), (&seen.outcome, seen.events));

        // The plan logs only its variable and synchronisation; the schedule means the same to a plan that detects
        // races.
        let other = |kind: Kind| kind.is_access() && !kind.is_atomic();
        prop_assert!(selected.records.iter().all(|r| !other(r.kind) || Tracked::At(Address(r.object)) == *variable));
        let repeated = executor.run_one(&Plan { fair_limit: Some(fair), ..Plan::replay(selected.switches()) });
        prop_assert_eq!((&selected.outcome, selected.events), (&repeated.outcome, repeated.events));
    }
}

/// Returns how many walks of an analysis fail, and how many of them observe everything.
fn made(mut analysis: Walks, program: &Program, walks: u64) -> (Walks, u64, u64) {
    let mut executor = ModelExecutor::new(program.clone());
    executor.add_all_points();
    let mut waiting = analysis.initial_targets();
    let (mut hits, mut whole) = (0, 0);
    for _ in 0..walks {
        let target = waiting.pop().unwrap();
        let plan = analysis.plan(&target);
        whole += u64::from(plan.select.is_none());
        let execution = executor.run_one(&plan);
        assert!(plan.select.is_none() || execution.races().is_empty());
        hits += u64::from(matches!(execution.outcome, Outcome::Asserted { .. }));
        waiting.extend(analysis.new_targets(&target, &execution));
    }
    (analysis, hits, whole)
}

/// Makes accesses plain, so that they are points only where the plan says so.
fn plain(mut program: Program) -> Program {
    for op in program.bodies.iter_mut().flatten() {
        match *op {
            Op::AtomicRead(variable, register) => *op = Op::Read(variable, register),
            Op::AtomicWrite(variable, value) => *op = Op::Write(variable, value),
            _ => {}
        }
    }
    program
}

#[test]
fn selective_walks_hit_as_often_as_they_promise() {
    for figure in figures().into_iter().filter(|figure| figure.number <= 4) {
        let (preemptions, variables, _) = figure.needs;
        let walks = || Walks::pct_variables(preemptions + 1, variables.max(1), 7).selective(true);
        let program = plain(figure.program);
        let (known, ..) = made(walks(), &program, 500);
        let count = (100.0 / known.chance_of_one().unwrap()).ceil() as u64;
        let (walks, hits, whole) = made(walks(), &program, count);
        let promised = walks.chance_of_one().unwrap();
        let expected = count as f64 * promised;
        let least = expected - 4.0 * (expected * (1.0 - promised)).sqrt();
        assert!(hits as f64 >= least, "figure {}: {hits} of {count}, promised {promised}", figure.number);
        assert!((count / 32..=count / 32 + 2).contains(&whole), "figure {}: {whole} of {count}", figure.number);
        assert!(walks.chance().unwrap().contains(&format!("at places that {whole} whole walk")));
    }
}

#[test]
fn only_walks_about_variables_are_selective() {
    let program = plain(figures().swap_remove(1).program);
    for walks in [Walks::random(1), Walks::pct(2, 1), Walks::pos(1), Walks::uniform(1)] {
        assert_eq!(made(walks.selective(true), &program, 64).2, 64);
    }
    assert_eq!(made(Walks::pct_variables(2, 1, 1), &program, 64).2, 64);
    assert!((2..=3).contains(&made(Walks::pct_variables(2, 1, 1).selective(true), &program, 64).2));
}

/// Sites that may access a variable according to a static analysis are observed like those seen to access it.
#[test]
fn sites_that_may_alias_a_variable_are_observed_too() {
    use racehunter_analyses::Aliases;
    use racehunter_explore::model::Value;
    use std::collections::{BTreeMap, BTreeSet};
    let program = Program::bare(vec![vec![Op::Write(0, Value::Const(1)), Op::Read(0, 0)]; 2]);
    let plan = |aliases: Option<Aliases>| {
        let mut walks = Walks::pct_variables(2, 1, 1).selective(true).with_aliases(aliases);
        let mut executor = ModelExecutor::new(program.clone());
        let mut waiting = walks.initial_targets();
        let target = waiting.pop().expect("there are always more walks");
        let first = walks.plan(&target);
        assert!(first.select.is_none(), "the first walk observes everything");
        waiting.extend(walks.new_targets(&target, &executor.run_one(&Plan { observe: Observe::Everything, ..first })));
        waiting.iter().rev().find_map(|target| walks.plan(target).select)
    };
    let seen: BTreeSet<u32> = plan(None).expect("the walk is selective").into_iter().collect();
    assert!(seen.len() > 1, "{seen:?}");
    let elsewhere = 1 + seen.last().copied().unwrap_or_default();
    let all: BTreeSet<u32> = seen.iter().copied().chain([elsewhere]).collect();
    let places: BTreeMap<u32, BTreeSet<u32>> = seen.iter().map(|&site| (site, all.clone())).collect();
    let chosen = plan(Some(Aliases { places, objects: BTreeMap::new() })).expect("the walk is selective");
    assert_eq!(chosen.into_iter().collect::<BTreeSet<u32>>(), all);
}
