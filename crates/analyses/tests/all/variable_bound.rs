//! Variable bounding against brute force: every schedule within the bounds once, nothing twice, nothing beyond them, and
//! in the order of their rank.

use crate::common::figures::figures;
use crate::common::{SIGNALS, SMALL, TIMED, WIDER, bugs_of, config, found, hunt};
use proptest::prelude::*;
use racehunter_analyses::{Options, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Path, Program, Shape, Value, schedules};
use racehunter_explore::{Budget, Bug, Objects, Points, Variable};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const LIMIT: usize = 400;

/// Where variables 0 and 1 of a program are.
const ARRAY: std::ops::Range<u64> = 0x10_0000..0x10_0010;

fn all_points(program: &Program) -> HashSet<u32> {
    program.access_sites().into_iter().collect()
}

fn budget() -> Budget {
    Budget { points: Points::All, ..Budget::default() }
}

fn options(bound: u32, variables: u32, threads: u32) -> Options {
    Options { bound, variables, threads, ..Options::default() }
}

fn rank(path: &Path) -> (u32, u32, u32) {
    (path.variables(), path.threads(), path.preemption_cost)
}

fn within(path: &Path, (bound, variables, threads): (u32, u32, u32)) -> bool {
    path.preemption_cost <= bound && path.variables() <= variables && path.threads() <= threads
}

fn check(executor: ModelExecutor, all: &[Path], bounds: (u32, u32, u32), exact: bool) -> Result<(), TestCaseError> {
    let options = options(bounds.0, bounds.1, bounds.2);
    let hunt = hunt(executor, Technique::VariableBound, &options, budget());
    let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
    prop_assert_eq!(run.len(), hunt.orders.len(), "a schedule was run twice");
    let ranks: BTreeMap<&Vec<u32>, (u32, u32, u32)> = all.iter().map(|path| (&path.order, rank(path))).collect();
    let expected: Vec<&Path> = all.iter().filter(|path| within(path, bounds)).collect();
    let orders: BTreeSet<&Vec<u32>> = expected.iter().map(|path| &path.order).collect();
    prop_assert!(orders.is_subset(&run), "missed {:?}", orders.difference(&run).next());
    prop_assert_eq!(&run, &orders, "a schedule beyond the bounds was run");
    let in_turn: Vec<_> = hunt.orders.iter().map(|order| ranks[order]).collect();
    prop_assert!(in_turn.is_sorted(), "out of order: {:?}", in_turn);
    prop_assert_eq!(found(&hunt.summary), bugs_of(expected.iter().copied()));
    let coverage = &hunt.summary.coverage;
    prop_assert!(coverage.complete);
    prop_assert_eq!(coverage.diverged, 0);
    let claims_all = coverage.guarantee.starts_with("all schedules over");
    prop_assert!(expected.len() == all.len() || !claims_all, "{}", coverage.guarantee);
    prop_assert!(claims_all || expected.len() != all.len() || !exact, "{}", coverage.guarantee);
    Ok(())
}

fn shapes() -> BoxedStrategy<Shape> {
    prop_oneof![Just(SMALL), Just(TIMED), Just(WIDER), Just(SIGNALS)].boxed()
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn every_schedule_within_the_bounds_once(
        seed: u64, shape in shapes(), bound in 0_u32..=3, variables in 0_u32..=2, threads in 2_u32..=4,
    ) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        check(ModelExecutor::new(program), &all, (bound, variables, threads), true)?;
    }

    /// The first two variables of a program are elements of an array.
    #[test]
    fn parts_of_an_object_are_one_variable(seed: u64, bound in 0_u32..=3, variables in 0_u32..=1) {
        let program = Program::random(seed, SMALL);
        let Some(mut all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        for preempted in all.iter_mut().flat_map(|path| &mut path.preempted) {
            preempted.variable = preempted.variable.map(|variable| match variable {
                Variable::Fixed(address) if ARRAY.contains(&address) => Variable::Fixed(ARRAY.start),
                other => other,
            });
        }
        let options = Options { objects: Some(Objects::new([ARRAY])), ..options(bound, variables, 3) };
        let hunt = hunt(ModelExecutor::new(program), Technique::VariableBound, &options, budget());
        let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
        let expected = all.iter().filter(|path| within(path, (bound, variables, 3)));
        let expected: BTreeSet<&Vec<u32>> = expected.map(|path| &path.order).collect();
        prop_assert_eq!(run, expected);
    }

    /// The real runtime does not always know who is blocked; that costs executions, but no schedule.
    #[test]
    fn threads_that_turn_out_to_be_blocked(seed: u64, wide: bool, bound in 0_u32..=3, variables in 0_u32..=2) {
        let program = Program::random(seed, if wide { WIDER } else { SMALL });
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        check(ModelExecutor::lazy(program), &all, (bound, variables, 3), false)?;
    }

    /// Whatever a hunt that is cut short claims is true.
    #[test]
    fn a_claim_on_the_way_is_true(seed: u64, shape in shapes(), runs in 1_u64..60) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let options = options(2, 2, 3);
        let hunt = hunt(ModelExecutor::new(program), Technique::VariableBound, &options, Budget { runs: Some(runs), ..budget() });
        let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
        let claim = hunt.summary.coverage.guarantee;
        let Some(claim) = claim.strip_prefix("all schedules") else { return Ok(()) };
        let number = |noun: &str| -> u32 {
            let before = claim.split(noun).next().unwrap_or_default();
            before.rsplit("<= ").next().and_then(|word| word.trim().parse().ok()).expect(noun)
        };
        let claimed = |path: &Path| {
            if claim.starts_with(" over") {
                true
            } else if claim.starts_with(" without preemptions") {
                path.preemption_cost == 0
            } else {
                within(path, (number(" preemption"), number(" variable"), number(" thread")))
            }
        };
        let missed = all.iter().find(|path| claimed(path) && !run.contains(&path.order));
        prop_assert!(missed.is_none(), "{claim}: {missed:?}");
    }
}

/// A thread that sleeps while it is alone is chosen again, which a plan has to say.
#[test]
fn who_sleeps_alone_goes_on() {
    use racehunter_explore::model::Op;
    let main =
        vec![Op::Sleep(1), Op::Create(1), Op::AtomicAdd(0, 1, 0), Op::Sleep(1), Op::AtomicAdd(0, 1, 0), Op::Join(0)];
    let program = Program::new(vec![main, vec![Op::AtomicAdd(0, 1, 0), Op::AtomicAdd(0, 1, 0)]]);
    let all = schedules(&program, &all_points(&program), 10_000).expect("small");
    for lazy in [false, true] {
        for bounds in [(0, 0, 2), (1, 1, 2), (3, 1, 2)] {
            let make = if lazy { ModelExecutor::lazy } else { ModelExecutor::new };
            check(make(program.clone()), &all, bounds, !lazy).unwrap();
        }
    }
}

/// What a schedule of this program has to have to show the bug, by this search's way of counting threads.
fn counted((preemptions, variables, threads): (u32, u32, u32), number: u32) -> (u32, u32, u32) {
    match (preemptions, number) {
        // Who comes next when a thread ends is open anyway; so is the third thread of figure 9.
        (0, _) => (0, 0, 0),
        (_, 9) => (preemptions, variables, 2),
        _ => (preemptions, variables, threads),
    }
}

#[test]
fn the_figures_need_what_the_paper_says() {
    for figure in figures() {
        let points = all_points(&figure.program);
        let all = schedules(&figure.program, &points, 100_000).expect("small");
        let fails = |bugs: &BTreeSet<Bug>| bugs.iter().any(|bug| matches!(bug, Bug::Assertion(..)));
        let needs = counted(figure.needs, figure.number);
        // With more preemptions than it needs, figure 10 gets along with two threads.
        let least = |of: fn(&Path) -> u32| {
            let failing = all.iter().filter(|path| fails(&path.bugs.iter().cloned().collect()));
            failing.filter(|path| path.preemptions <= needs.0).map(of).min().expect("it can fail")
        };
        let number = figure.number;
        assert_eq!(least(|path| path.preemptions), needs.0, "figure {number}");
        assert_eq!(least(Path::variables), needs.1, "figure {number}");
        assert_eq!(least(Path::threads), needs.2, "figure {number}");
        let finds = |(bound, variables, threads)| {
            let options = options(bound, variables, threads);
            let hunt = hunt(ModelExecutor::new(figure.program.clone()), Technique::VariableBound, &options, budget());
            assert!(hunt.summary.coverage.complete);
            fails(&found(&hunt.summary))
        };
        let (c, v, t) = (needs.0, needs.1, needs.2.max(2));
        assert!(finds((c, v, t)), "figure {number}");
        assert!(c == 0 || !finds((c - 1, 9, 9)), "figure {number}");
        assert!(v == 0 || !finds((c, v - 1, 9)), "figure {number}");
        assert!(t == 2 || !finds((c, 9, t - 1)), "figure {number}");
    }
}

/// Between two readings of an array somebody is preempted who writes both of its elements: at each of them once.
#[test]
fn a_bug_of_two_elements_is_one_of_the_array() {
    let writes = vec![Op::AtomicWrite(0, Value::Const(1)), Op::AtomicWrite(1, Value::Const(1)), Op::AtomicAdd(2, 1, 1)];
    let mut reads = vec![Op::AtomicRead(0, 0), Op::AtomicRead(1, 1), Op::AtomicRead(2, 2)];
    // Fails when the first element is new, the second one old, and the end is not reached once both are new.
    reads.extend([Op::JumpIf(0, 0, 8), Op::JumpIf(1, 1, 8), Op::AtomicRead(1, 1), Op::JumpIf(1, 0, 8), Op::Crash(6)]);
    let program = Program::bare(vec![writes, reads]);
    let finds = |technique: Technique, objects: Option<Objects>, variables: u32| {
        let options = Options { objects, confidence: 0.999, ..options(3, variables, 2) };
        let hunt = hunt(ModelExecutor::new(program.clone()), technique, &options, budget());
        assert!(hunt.summary.coverage.complete);
        let claims = hunt.summary.coverage.guarantee.contains("an array, a structure and a block");
        assert_eq!(claims, options.objects.is_some(), "{}", hunt.summary.coverage.guarantee);
        found(&hunt.summary).iter().any(|bug| matches!(bug, Bug::Crash(..)))
    };
    let all = ARRAY.start..ARRAY.end + 8;
    for technique in [Technique::VariableBound, Technique::ThreadBound] {
        assert!(!finds(technique, None, 1), "{technique:?}");
        assert!(finds(technique, None, 3), "{technique:?}");
        assert!(finds(technique, Some(Objects::new([all.clone()])), 1), "{technique:?}");
        assert!(!finds(technique, Some(Objects::new([all.clone()])), 0), "{technique:?}");
    }
}
