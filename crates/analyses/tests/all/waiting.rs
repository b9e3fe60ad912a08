//! Loops that wait for another thread, and threads that had to give way: both change the search order, and leave
//! nothing out.

use crate::common::{Hunt, SMALL, WIDER, config, hunt};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, Options, Reduction, Strategy, Technique};
use racehunter_explore::model::{End, ModelExecutor, Op, Program, Value, reachable, schedules};
use racehunter_explore::{Budget, Points};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const STATES: usize = 20_000;

fn search(program: &Program, bound: u32, strategy: Strategy, reduction: Option<Reduction>) -> Hunt {
    search_with(program, bound, strategy, reduction, false)
}

fn search_with(
    program: &Program,
    bound: u32,
    strategy: Strategy,
    reduction: Option<Reduction>,
    spurious: bool,
) -> Hunt {
    let options = Options { bound, bound_kind: BoundKind::Preemptions, strategy, reduction, ..Options::default() };
    let budget = Budget { points: Points::All, runs: Some(20_000), spurious, ..Budget::default() };
    hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, &options, budget)
}

fn all_points(program: &Program) -> HashSet<u32> {
    program.access_sites().into_iter().collect()
}

/// Checks that the search reached exactly the outcomes of the schedules within the bound.
fn compare(hunt: &Hunt, ends: &BTreeMap<End, u32>, bound: u32) -> Result<(), TestCaseError> {
    let within: BTreeSet<&End> = ends.iter().filter(|&(_, &cost)| cost <= bound).map(|(end, _)| end).collect();
    let found: BTreeSet<&End> = hunt.ends.iter().collect();
    prop_assert!(within.is_subset(&found), "missed {:?}", within.difference(&found).next());
    for end in &found {
        prop_assert!(ends.contains_key(*end), "invented {end:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn waiting_loops_hide_no_outcome(seed: u64, wide: bool, bound in 0_u32..=3, reduction in 0_usize..3) {
        let program = Program::random_with_loops(seed, if wide { WIDER } else { SMALL });
        let Some(ends) = reachable(&program, &all_points(&program), false, STATES) else {
            return Err(TestCaseError::reject("too many states"));
        };
        let reduction = [None, Some(Reduction::Caching), Some(Reduction::Dynamic)][reduction];
        let hunt = search(&program, bound, Strategy::MinSwitches, reduction);
        if hunt.summary.counts.limited > 0 {
            // In some schedule, no thread ends the wait. Such a schedule has no end, so nothing is claimed.
            prop_assert!(!hunt.summary.coverage.complete);
            return Err(TestCaseError::reject("waits for ever"));
        }
        prop_assert!(hunt.summary.coverage.complete || hunt.summary.counts.executions >= 20_000);
        if hunt.summary.coverage.complete {
            compare(&hunt, &ends, bound)?;
        }
    }

    /// A wait on a condition variable may end without a signal, and a signal may wake any waiter.
    #[test]
    fn wakeups_are_choices(seed: u64, wide: bool, bound in 0_u32..=2, reduction in 0_usize..3) {
        let program = Program::random_with_waits(seed, if wide { WIDER } else { SMALL });
        let Some(ends) = reachable(&program, &all_points(&program), true, STATES) else {
            return Err(TestCaseError::reject("too many states"));
        };
        let reduction = [None, Some(Reduction::Caching), Some(Reduction::Dynamic)][reduction];
        let hunt = search_with(&program, bound, Strategy::MinSwitches, reduction, true);
        prop_assert!(hunt.summary.coverage.complete || hunt.summary.counts.executions >= 20_000);
        if hunt.summary.coverage.complete {
            compare(&hunt, &ends, bound)?;
        }
    }

    /// However short the turns of the strategy, schedules with longer turns are run too.
    #[test]
    fn short_turns_hide_no_schedule(seed: u64, wide: bool, bound in 0_u32..=2, turn in 1_u64..=6) {
        let program = Program::random(seed, if wide { WIDER } else { SMALL });
        let Some(all) = schedules(&program, &all_points(&program), 400) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let hunt = search(&program, bound, Strategy::Fair(turn), None);
        let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
        if !hunt.summary.coverage.complete {
            return Err(TestCaseError::reject("too many executions"));
        }
        let within: BTreeSet<&Vec<u32>> =
            all.iter().filter(|path| path.preemption_cost <= bound).map(|path| &path.order).collect();
        prop_assert!(within.is_subset(&run), "missed {:?}", within.difference(&run).next());
        prop_assert_eq!(run.len(), hunt.orders.len(), "a schedule was run twice");
    }
}

/// The second thread needs the whole first one before it, which takes longer than a turn.
#[test]
fn a_bug_that_needs_a_longer_turn_is_found() {
    let long = (0..20).map(|_| Op::AtomicAdd(1, 1, 1)).chain([Op::AtomicWrite(0, Value::Const(1))]).collect();
    let program = Program::fork_join(vec![long, vec![Op::AtomicRead(0, 0), Op::Assert(0, 0)]], vec![]);
    let hunt = search(&program, 0, Strategy::Fair(5), None);
    assert_eq!(hunt.summary.found.len(), 1);
    assert!(hunt.summary.coverage.complete);
}

/// A thread that waits in a loop is left after two rounds, and costs no more than one that waits for a lock.
#[test]
fn a_waiting_loop_takes_few_executions() {
    let wait = vec![Op::AtomicRead(0, 0), Op::JumpIf(0, 0, 0), Op::AtomicAdd(1, 1, 1)];
    let set = vec![Op::AtomicAdd(1, 1, 1), Op::AtomicWrite(0, Value::Const(1))];
    let program = Program::fork_join(vec![wait, set], vec![]);
    let hunt = search(&program, 2, Strategy::MinSwitches, None);
    assert!(hunt.summary.coverage.complete);
    assert!(hunt.summary.counts.executions < 100, "{}", hunt.summary.counts.executions);
}
