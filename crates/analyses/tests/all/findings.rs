//! Bugs found can be replayed and minimised.

use crate::common::{SIGNALS, SMALL, TIMED, WIDER, cases, config, hunt};
use proptest::prelude::*;
use racehunter_analyses::{Options, Technique, simplify};
use racehunter_explore::model::{ModelExecutor, Op, Program, Shape, Value, schedules};
use racehunter_explore::{Budget, Bug, Effort, Execution, Plan, Points, confirm, decisions, minimise};

fn executor(program: &Program, lazy: bool) -> ModelExecutor {
    if lazy { ModelExecutor::lazy(program.clone()) } else { ModelExecutor::new(program.clone()) }
}

fn found_by(technique: Technique, program: &Program, lazy: bool, seed: u64) -> crate::common::Hunt {
    let budget = Budget { runs: Some(100), points: Points::All, ..Budget::default() };
    hunt(executor(program, lazy), technique, &Options { seed, ..Options::default() }, budget)
}

fn any_shape(number: u8) -> Shape {
    [SMALL, TIMED, WIDER, SIGNALS][usize::from(number % 4)]
}

proptest! {
    #![proptest_config(config(175))]

    #[test]
    fn every_bug_replays_five_times_out_of_five(seed: u64, shape: u8, lazy: bool, random: bool) {
        let program = Program::random(seed, any_shape(shape));
        let technique = if random { Technique::Random } else { Technique::ContextBound };
        let hunt = found_by(technique, &program, lazy, seed);
        // With other points, because a schedule does not depend on what is logged.
        let mut executor = executor(&program, lazy);
        for found in &hunt.summary.found {
            prop_assert_eq!(confirm(&mut executor, &found.repeat, &found.bug, 5).unwrap(), 5);
            let stored = Plan::replay(found.switches.clone());
            prop_assert_eq!(confirm(&mut executor, &stored, &found.bug, 5).unwrap(), 5);
            prop_assert_eq!(&executor.run_one(&found.repeat).switches(), &found.switches);
        }
    }

    #[test]
    fn minimising_keeps_the_bug_and_never_adds_a_preemption(seed: u64, shape: u8, lazy: bool) {
        let program = Program::random(seed, any_shape(shape));
        let hunt = found_by(Technique::Random, &program, lazy, seed);
        let mut executor = executor(&program, lazy);
        executor.add_all_points();
        for found in &hunt.summary.found {
            let least = minimise(&mut executor, &found.repeat, &found.bug, Effort::of(500)).unwrap();
            prop_assert!(least.is_some());
            let least = least.unwrap();
            prop_assert!(least.runs <= 500);
            prop_assert!(least.preemptions <= found.preemptions);
            prop_assert!(least.execution.bugs().contains(&found.bug));
            prop_assert_eq!(confirm(&mut executor, &least.plan, &found.bug, 5).unwrap(), 5);
            let simplicity = |execution: &Execution| {
                let last = decisions(execution).last();
                let (preemptions, unfair, switches) =
                    last.map_or((0, 0, 0), |last| (last.preemptions, last.unfair, last.switches));
                (preemptions, unfair, switches, execution.events)
            };
            prop_assert_eq!(simplicity(&least.execution).0, least.preemptions);
            let original = executor.run_one(&found.repeat);
            prop_assert!(simplicity(&least.execution) <= simplicity(&original));
        }
    }
}

/// Brute force gives the minimum number of preemptions. Leaving out unnecessary switches of a random schedule nearly
/// always reaches it; searching the schedules with fewer preemptions always does.
#[test]
fn minimising_reaches_the_fewest_preemptions() {
    let (mut tried, mut reached) = (0_u64, 0);
    let programs = cases(150);
    // In 3473 the fewest preemptions need a time-out while a thread can run.
    for seed in (0..programs).chain([3473]) {
        let program = Program::random(seed, any_shape(seed as u8));
        let points = program.access_sites().into_iter().collect();
        let Some(all) = schedules(&program, &points, 1_000) else { continue };
        let hunt = found_by(Technique::Random, &program, false, seed);
        let mut executor = executor(&program, false);
        executor.add_all_points();
        for found in &hunt.summary.found {
            let showing = all.iter().filter(|path| path.bugs.contains(&found.bug));
            let fewest = showing.map(|path| u64::from(path.preemptions)).min().unwrap();
            let least = minimise(&mut executor, &found.repeat, &found.bug, Effort::of(500)).unwrap().unwrap();
            assert!(least.preemptions >= fewest);
            tried += 1;
            reached += u64::from(least.preemptions == fewest);
            let simplest = simplify(&mut executor, &found.repeat, &found.bug, Effort::of(5_000)).unwrap().unwrap();
            assert_eq!(simplest.preemptions, fewest, "seed {seed}, {:?}", found.bug);
            assert!(simplest.execution.bugs().contains(&found.bug));
            assert_eq!(confirm(&mut executor, &simplest.plan, &found.bug, 5).unwrap(), 5);
        }
    }
    println!("without search: {reached} of {tried}");
    assert!(tried * 15 > programs * 7, "{tried}");
    assert!(reached * 100 >= tried * 98, "{reached} of {tried}");
}

/// On programs with thousands of schedules, and with the usual number of executions for minimising, the result is nearly
/// always minimal: an exhaustive search with fewer preemptions finds nothing.
#[test]
fn simplifying_larger_programs_reaches_the_fewest_preemptions() {
    const LARGER: Shape = Shape { threads: 4, statements: 4, timing: false, signals: false };
    let (mut tried, mut reached, mut surplus) = (0, 0, 0);
    for seed in 0..70 {
        let program = Program::random(seed, LARGER);
        let hunt = found_by(Technique::Random, &program, false, seed);
        let mut executor = executor(&program, false);
        executor.add_all_points();
        // Most data races need no preemption.
        for found in hunt.summary.found.iter().filter(|found| !matches!(found.bug, Bug::Race(..))) {
            let least = simplify(&mut executor, &found.repeat, &found.bug, Effort::of(300)).unwrap().unwrap();
            let Some(fewest) = fewest(&program, &found.bug, least.preemptions) else { continue };
            tried += 1;
            reached += u32::from(fewest == least.preemptions);
            surplus += least.preemptions - fewest;
        }
    }
    println!("{reached} of {tried}, and {surplus} preemptions too many");
    assert!(tried > 80, "{tried}");
    assert!(reached * 100 >= tried * 97, "{reached} of {tried}");
}

/// Returns the minimum number of preemptions below `known` that show a bug; `None` if there are too many schedules to
/// tell.
fn fewest(program: &Program, bug: &Bug, known: u64) -> Option<u64> {
    for bound in 0..known {
        let options = Options { bound: bound as u32, ..Options::default() };
        let budget = Budget { runs: Some(3_000), points: Points::All, ..Budget::default() };
        let hunt = hunt(executor(program, false), Technique::ContextBound, &options, budget);
        if hunt.summary.found.iter().any(|found| found.bug == *bug) {
            return Some(bound);
        }
        if hunt.summary.counts.executions >= 3_000 {
            return None;
        }
    }
    Some(known)
}

/// Four threads increment a variable ten times each, and a random walk switches all the time.
#[test]
fn a_long_schedule_shrinks_to_one_preemption() {
    let add = [Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1))];
    let body: Vec<Op> = add.iter().cloned().cycle().take(20).collect();
    let program = Program::fork_join(vec![body; 4], vec![Op::Read(0, 0), Op::Assert(0, 40)]);
    let hunt = found_by(Technique::Random, &program, false, 1);
    let found = hunt.summary.found.iter().find(|found| matches!(found.bug, Bug::Assertion(..))).unwrap();
    assert!(found.preemptions > 30, "{}", found.preemptions);
    let mut executor = executor(&program, false);
    executor.add_all_points();
    let least = minimise(&mut executor, &found.repeat, &found.bug, Effort::of(100)).unwrap().unwrap();
    assert_eq!(least.preemptions, 1);
    // `main` gives way once, each thread ends once, and one of them is preempted.
    assert_eq!(least.switches.len(), 6);
}

/// Five threads each hold a lock and wait for the next one. A random walk preempts most of them while they hold it; one
/// preemption is enough.
#[test]
fn a_cycle_of_locks_shrinks_to_one_preemption() {
    let philosopher = |at: usize| vec![Op::Lock(at), Op::Lock((at + 1) % 5), Op::Unlock((at + 1) % 5), Op::Unlock(at)];
    let program = Program::fork_join((0..5).map(philosopher).collect(), Vec::new());
    let mut tried = 0;
    for seed in 0..20 {
        let hunt = found_by(Technique::Random, &program, false, seed);
        let mut executor = executor(&program, false);
        executor.add_all_points();
        for found in hunt.summary.found.iter().filter(|found| matches!(found.bug, Bug::Deadlock(_))) {
            let least = simplify(&mut executor, &found.repeat, &found.bug, Effort::of(300)).unwrap().unwrap();
            assert_eq!(least.preemptions, 1, "seed {seed}, from {}", found.preemptions);
            tried += 1;
        }
    }
    assert!(tried > 5, "{tried}");
}
