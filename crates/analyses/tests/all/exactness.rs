//! Context bounding against brute force: every schedule within the bound once, and none beyond it.

use crate::common::{Hunt, SIGNALS, SMALL, TIMED, WIDER, bugs_of, config, found, hunt, listing_1};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, Options, Strategy, Technique};
use racehunter_explore::model::{ModelExecutor, Path, Program, Shape, schedules};
use racehunter_explore::{Budget, Points};
use std::collections::{BTreeSet, HashSet};

const LIMIT: usize = 400;

fn budget(points: Points) -> Budget {
    Budget { points, ..Budget::default() }
}

fn options(bound: u32, bound_kind: BoundKind, strategy: Strategy) -> Options {
    Options { bound, bound_kind, strategy, seed: 7, reduction: None, ..Options::default() }
}

fn cost(path: &Path, kind: BoundKind) -> u32 {
    match kind {
        BoundKind::Preemptions => path.preemption_cost,
        BoundKind::Switches => path.switch_cost,
    }
}

/// Compares a campaign with all schedules of the program.
///
/// `exceeds`: executions may exceed the bound. `exact`: the executor always knows which threads can run.
fn check(
    hunt: &Hunt,
    all: &[Path],
    bound: u32,
    kind: BoundKind,
    (exceeds, exact): (bool, bool),
) -> Result<(), TestCaseError> {
    let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
    prop_assert_eq!(run.len(), hunt.orders.len(), "a schedule was run twice");
    let known: BTreeSet<&Vec<u32>> = all.iter().map(|path| &path.order).collect();
    prop_assert!(run.is_subset(&known), "a schedule that brute force does not know");
    let within: Vec<&Path> = all.iter().filter(|path| cost(path, kind) <= bound).collect();
    let expected: BTreeSet<&Vec<u32>> = within.iter().map(|path| &path.order).collect();
    prop_assert!(expected.is_subset(&run), "missed {:?}", expected.difference(&run).next());
    let bugs = found(&hunt.summary);
    prop_assert!(bugs.is_superset(&bugs_of(within.iter().copied())), "a bug within the bound was missed");
    if !exceeds {
        prop_assert_eq!(&run, &expected, "a schedule beyond the bound was run");
        prop_assert_eq!(bugs, bugs_of(within.iter().copied()));
    }
    let coverage = &hunt.summary.coverage;
    prop_assert!(coverage.complete);
    prop_assert_eq!(coverage.diverged, 0);
    let everything = within.len() == all.len();
    let claimed = coverage.guarantee.starts_with("all schedules over");
    prop_assert!(everything || !claimed, "{}", coverage.guarantee);
    prop_assert!(claimed || !everything || !exact, "{}", coverage.guarantee);
    Ok(())
}

fn all_points(program: &Program) -> HashSet<u32> {
    program.access_sites().into_iter().collect()
}

fn shapes() -> BoxedStrategy<Shape> {
    use proptest::strategy::Strategy;
    prop_oneof![Just(SMALL), Just(TIMED), Just(WIDER), Just(SIGNALS)].boxed()
}

proptest! {
    #![proptest_config(config(110))]

    /// The form of the 2025 paper: one stage that runs exactly what is within the bound.
    #[test]
    fn without_iteration(seed: u64, shape in shapes(), bound in 0_u32..=4, switches: bool, random: bool) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let options = Options { iterates: false, ..options(bound, kind, strategy) };
        let hunt = hunt(ModelExecutor::new(program), Technique::ContextBound, &options, budget(Points::All));
        check(&hunt, &all, bound, kind, (switches || random, true))?;
        prop_assert_eq!(hunt.stages.iter().map(|stage| stage.0).collect::<Vec<_>>(), [bound]);
    }

    #[test]
    fn preemption_bound(seed: u64, shape in shapes(), bound in 0_u32..=3) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = BoundKind::Preemptions;
        let options = options(bound, kind, Strategy::MinSwitches);
        let hunt = hunt(ModelExecutor::new(program), Technique::ContextBound, &options, budget(Points::All));
        check(&hunt, &all, bound, kind, (false, true))?;
        // Every finished stage has run exactly what is within its own bound.
        for &(stage, executions, complete) in &hunt.stages {
            prop_assert!(complete);
            let within = all.iter().filter(|path| path.preemption_cost <= stage).count();
            prop_assert_eq!(executions, within as u64, "stage {}", stage);
        }
    }

    #[test]
    fn switch_bound(seed: u64, shape in shapes(), bound in 0_u32..=6) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = BoundKind::Switches;
        let options = options(bound, kind, Strategy::MinSwitches);
        let hunt = hunt(ModelExecutor::new(program), Technique::ContextBound, &options, budget(Points::All));
        // Even with the fewest possible switches, some executions exceed the bound.
        check(&hunt, &all, bound, kind, (true, true))?;
    }

    #[test]
    fn random_strategy(seed: u64, shape in shapes(), bound in 0_u32..=3, switches: bool) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let options = options(bound, kind, Strategy::Random);
        let hunt = hunt(ModelExecutor::new(program), Technique::ContextBound, &options, budget(Points::All));
        check(&hunt, &all, bound, kind, (true, true))?;
    }

    #[test]
    fn without_bound(seed: u64, shape in shapes(), random: bool) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let options = options(0, BoundKind::Preemptions, strategy);
        let hunt = hunt(ModelExecutor::new(program), Technique::Dfs, &options, budget(Points::All));
        check(&hunt, &all, u32::MAX, BoundKind::Preemptions, (false, true))?;
    }

    /// The set of points is discovered during the search; the result is the same as if it had been known from the start.
    #[test]
    fn shared_and_synchronisation_points(seed: u64, shape in shapes(), bound in 0_u32..=2, shared: bool) {
        let program = Program::random(seed, shape);
        let points = if shared { Points::Shared } else { Points::Sync };
        let kind = BoundKind::Preemptions;
        let options = options(bound, kind, Strategy::MinSwitches);
        let budget = Budget { runs: Some(5_000), ..budget(points) };
        let hunt = hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, &options, budget);
        let Some(all) = schedules(&program, &hunt.points, LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let within: BTreeSet<&Vec<u32>> =
            all.iter().filter(|path| path.preemption_cost <= bound).map(|path| &path.order).collect();
        prop_assert_eq!(hunt.orders.len(), within.len());
        prop_assert_eq!(hunt.orders.iter().collect::<BTreeSet<_>>(), within);
        prop_assert!(hunt.summary.coverage.complete);
        if shared {
            // Leaving out unshared accesses misses nothing.
            if let Some(everything) = schedules(&program, &all_points(&program), LIMIT) {
                let reachable = bugs_of(everything.iter().filter(|path| path.preemption_cost <= bound));
                prop_assert_eq!(found(&hunt.summary), reachable);
            }
        }
    }

    /// The real runtime does not always know which threads are blocked. That costs executions, but misses no schedule.
    #[test]
    fn blocked_threads_discovered_late_cost_no_schedule(seed: u64, wide: bool, bound in 0_u32..=3) {
        let program = Program::random(seed, if wide { WIDER } else { SMALL });
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = BoundKind::Preemptions;
        let options = options(bound, kind, Strategy::MinSwitches);
        let hunt = hunt(ModelExecutor::lazy(program), Technique::ContextBound, &options, budget(Points::All));
        check(&hunt, &all, bound, kind, (false, false))?;
    }

    /// The same with yields and time-outs. Which choices count as unfair then depends on what is known, so bounds differ
    /// slightly, but without a bound the results are equal.
    #[test]
    fn blocked_threads_discovered_late_cost_no_schedule_without_bound(seed: u64) {
        let program = Program::random(seed, TIMED);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let options = options(0, BoundKind::Preemptions, Strategy::MinSwitches);
        let hunt = hunt(ModelExecutor::lazy(program), Technique::Dfs, &options, budget(Points::All));
        check(&hunt, &all, u32::MAX, BoundKind::Preemptions, (false, false))?;
    }
}

#[test]
fn listing_1_has_six_paths_that_form_the_tree_of_figure_1() {
    let options = options(0, BoundKind::Preemptions, Strategy::MinSwitches);
    let hunt = hunt(ModelExecutor::new(listing_1()), Technique::Dfs, &options, budget(Points::All));
    assert_eq!(hunt.orders[0], [0, 0, 1, 1], "the first iteration of the paper");
    let paths: BTreeSet<&[u32]> = hunt.orders.iter().map(Vec::as_slice).collect();
    let leaves: [&[u32]; 6] =
        [&[0, 0, 1, 1], &[0, 1, 0, 1], &[0, 1, 1, 0], &[1, 0, 0, 1], &[1, 0, 1, 0], &[1, 1, 0, 0]];
    assert_eq!(paths, leaves.into_iter().collect());
    assert_eq!(hunt.orders.len(), 6, "each once");
    // Vertices A to S: the prefixes of the paths.
    let vertices: BTreeSet<&[u32]> =
        paths.iter().flat_map(|path| (0..=path.len()).map(|depth| &path[..depth])).collect();
    let per_depth: Vec<usize> = (0..=4).map(|depth| vertices.iter().filter(|v| v.len() == depth).count()).collect();
    assert_eq!(per_depth, [1, 2, 4, 6, 6]);
    assert!(hunt.summary.coverage.complete);
    assert_eq!(hunt.summary.coverage.guarantee, "all schedules over 4 points");
}

#[test]
fn listing_1_by_bound() {
    let count = |bound, kind| {
        let options = options(bound, kind, Strategy::MinSwitches);
        hunt(ModelExecutor::new(listing_1()), Technique::ContextBound, &options, budget(Points::All)).stages
    };
    // Thread 0 counts as running at the start, so letting thread 1 begin is a preemption.
    assert_eq!(count(1, BoundKind::Preemptions), [(0, 1, true), (1, 3, true)]);
    // At most three preemptions are possible, so the bound of 5 is never needed.
    assert_eq!(count(5, BoundKind::Preemptions), [(0, 1, true), (1, 3, true), (2, 5, true), (3, 6, true)]);
}

/// Once a thread was found blocked, a yield has no thread to give way to. A plan without that attempt must still be
/// followed.
#[test]
fn a_plan_may_omit_a_yield_without_alternatives() {
    let program = Program::random(836_396_585_370_597_693, TIMED);
    let all = schedules(&program, &all_points(&program), LIMIT).unwrap();
    let options = options(0, BoundKind::Preemptions, Strategy::MinSwitches);
    let hunt = hunt(ModelExecutor::lazy(program), Technique::Dfs, &options, budget(Points::All));
    check(&hunt, &all, u32::MAX, BoundKind::Preemptions, (false, false)).unwrap();
}
