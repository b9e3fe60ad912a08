//! Reduction: every outcome of a schedule within the bound is still reached.

use crate::common::{Hunt, SIGNALS, SMALL, TIMED, WIDER, bugs_of, cases, config, ends_of, found, hunt};
use proptest::prelude::*;
use racehunter_abi::Kind;
use racehunter_analyses::{BoundKind, Options, Reduction, Strategy, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Path, Program, Shape, Value, schedules};
use racehunter_explore::{Budget, Campaign, Execution, Executor, ExecutorError, Plan, Points, Record};
use std::collections::{BTreeSet, HashSet};

const LIMIT: usize = 600;

const KINDS: [Reduction; 2] = [Reduction::Caching, Reduction::Dynamic];

fn options(bound: u32, bound_kind: BoundKind, strategy: Strategy, reduction: Reduction) -> Options {
    Options { bound, bound_kind, strategy, seed: 7, reduction: Some(reduction), ..Options::default() }
}

fn everything() -> Budget {
    Budget { points: Points::All, ..Budget::default() }
}

fn cost(path: &Path, kind: BoundKind) -> u32 {
    match kind {
        BoundKind::Preemptions => path.preemption_cost,
        BoundKind::Switches => path.switch_cost,
    }
}

fn all_points(program: &Program) -> HashSet<u32> {
    program.access_sites().into_iter().collect()
}

/// Checks that every outcome within the bound was reached, by existing schedules, none of them run twice.
fn check(hunt: &Hunt, all: &[Path], bound: u32, kind: BoundKind, exceeds: bool) -> Result<(), TestCaseError> {
    let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
    prop_assert_eq!(run.len(), hunt.orders.len(), "a schedule was run twice");
    let known: BTreeSet<&Vec<u32>> = all.iter().map(|path| &path.order).collect();
    prop_assert!(run.is_subset(&known), "a schedule that brute force does not know");
    let within = || all.iter().filter(|path| cost(path, kind) <= bound);
    let ends = ends_of(within());
    prop_assert!(hunt.ends.is_superset(&ends), "missed {:?}", ends.difference(&hunt.ends).next());
    let bugs = bugs_of(within());
    prop_assert!(found(&hunt.summary).is_superset(&bugs), "missed {:?}", bugs.difference(&found(&hunt.summary)).next());
    if !exceeds {
        prop_assert_eq!(&hunt.ends, &ends);
        prop_assert_eq!(found(&hunt.summary), bugs);
        prop_assert!(run.len() <= within().count());
    }
    prop_assert!(hunt.summary.coverage.complete);
    // "All" is claimed if everything left out is redundant.
    if hunt.summary.coverage.guarantee.starts_with("all schedules over") {
        prop_assert!(hunt.ends.is_superset(&ends_of(all.iter())));
        prop_assert!(found(&hunt.summary).is_superset(&bugs_of(all.iter())));
    }
    Ok(())
}

/// A random program. In every other one a thread fails unless it reads an expected value, which ends the program while others are
/// in the middle of something.
fn program_of(seed: u64, shape: Shape) -> Program {
    let mut program = Program::random(seed, shape);
    if seed & 1 == 0 {
        let body = 1 + (seed >> 1) as usize % 2;
        program.bodies[body].extend([Op::Read((seed >> 2) as usize % 2, 3), Op::Assert(3, (seed >> 3) as i64 % 2)]);
    }
    program
}

fn kinds() -> impl proptest::strategy::Strategy<Value = Reduction> {
    prop_oneof![Just(Reduction::Caching), Just(Reduction::Dynamic)]
}

fn shapes() -> BoxedStrategy<Shape> {
    use proptest::strategy::Strategy;
    let more = Shape { threads: 3, statements: 3, timing: true, signals: false };
    prop_oneof![Just(SMALL), Just(TIMED), Just(WIDER), Just(SIGNALS), Just(more)].boxed()
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn preemption_bound(
        seed: u64, reduction in kinds(), shape in shapes(), bound in 0_u32..=3, states_first: bool
    ) {
        let program = program_of(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = BoundKind::Preemptions;
        let options = options(bound, kind, Strategy::MinSwitches, reduction);
        let executor = ModelExecutor::new(program).states_first(states_first);
        let hunt = hunt(executor, Technique::ContextBound, &options, everything());
        check(&hunt, &all, bound, kind, false)?;
    }

    #[test]
    fn switch_bound(seed: u64, reduction in kinds(), shape in shapes(), bound in 0_u32..=6) {
        let program = program_of(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = BoundKind::Switches;
        let options = options(bound, kind, Strategy::MinSwitches, reduction);
        let hunt = hunt(ModelExecutor::new(program), Technique::ContextBound, &options, everything());
        check(&hunt, &all, bound, kind, true)?;
    }

    #[test]
    fn random_strategy(seed: u64, reduction in kinds(), shape in shapes(), bound in 0_u32..=3, switches: bool) {
        let program = program_of(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let options = options(bound, kind, Strategy::Random, reduction);
        let hunt = hunt(ModelExecutor::new(program), Technique::ContextBound, &options, everything());
        check(&hunt, &all, bound, kind, true)?;
    }

    #[test]
    fn without_bound(
        seed: u64, reduction in kinds(), shape in shapes(), random: bool, lazy: bool, states_first: bool
    ) {
        let program = program_of(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let options = options(0, BoundKind::Preemptions, strategy, reduction);
        // Late points and random time-outs make plans diverge, which other tests cover.
        let lazy = lazy && !shape.timing;
        let executor = if lazy { ModelExecutor::lazy(program) } else { ModelExecutor::new(program) };
        let hunt = hunt(executor.states_first(states_first), Technique::Dfs, &options, everything());
        check(&hunt, &all, u32::MAX, BoundKind::Preemptions, false)?;
    }

    /// With points discovered during the search; nothing else is observable at these points.
    #[test]
    fn shared_points(seed: u64, reduction in kinds(), shape in shapes(), bound in 0_u32..=3, switches: bool, random: bool) {
        let program = program_of(seed, shape);
        let kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let Some((hunt, all)) = shared(&program, &options(bound, kind, strategy, reduction)) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        check(&hunt, &all, bound, kind, switches || random)?;
    }

    #[test]
    fn blocked_threads_discovered_late_hide_no_outcome(seed: u64, reduction in kinds(), wide: bool, bound in 0_u32..=3) {
        let program = program_of(seed, if wide { WIDER } else { SMALL });
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = BoundKind::Preemptions;
        let options = options(bound, kind, Strategy::MinSwitches, reduction);
        let hunt = hunt(ModelExecutor::lazy(program), Technique::ContextBound, &options, everything());
        check(&hunt, &all, bound, kind, false)?;
    }
}

/// A reduced search over points discovered on the way, and all schedules over its final points.
fn shared(program: &Program, options: &Options) -> Option<(Hunt, Vec<Path>)> {
    let budget = Budget { runs: Some(20_000), ..Budget::default() };
    let hunt = hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, options, budget);
    let all = schedules(program, &hunt.points, LIMIT)?;
    Some((hunt, all))
}

fn misses_nothing(program: &Program, bound: u32) {
    let kind = BoundKind::Preemptions;
    for reduction in KINDS {
        let (hunt, all) = shared(program, &options(bound, kind, Strategy::MinSwitches, reduction)).unwrap();
        check(&hunt, &all, bound, kind, false).unwrap();
    }
}

/// The second thread finds a lock taken and so gives way to the first for free. If the first were preempted after its unlock,
/// returning to it would cost something.
#[test]
fn blocking_on_a_lock_wakes_the_sleeping_holder() {
    let first = vec![Op::Lock(0), Op::Lock(1), Op::Unlock(1), Op::Unlock(0)];
    let second = vec![Op::TryLock(0, 2), Op::Lock(1)];
    let main = vec![Op::Create(1), Op::Create(2), Op::Join(0)];
    misses_nothing(&Program::new(vec![main, first, second]), 1);
}

/// The second thread yields to the first, which it would not do if that were asleep.
#[test]
fn a_yield_wakes_sleeping_threads() {
    let first = vec![Op::Write(0, Value::Const(1)), Op::Sleep(1), Op::Read(0, 3), Op::Assert(3, 0)];
    let second = vec![Op::Write(0, Value::Const(2)), Op::Yield, Op::Write(1, Value::Const(3))];
    let main = vec![Op::Create(1), Op::Create(2), Op::Join(1)];
    misses_nothing(&Program::new(vec![main, first, second]), 2);
}

/// A thread that has only made unobservable steps differs from one that has not begun.
#[test]
fn unobservable_steps_belong_to_the_state() {
    let main = vec![Op::Create(1), Op::Create(2), Op::TimedWait(0, 0, 5, 2)];
    let fails = vec![Op::Read(1, 3), Op::Assert(3, 1)];
    misses_nothing(&Program::new(vec![main, vec![Op::Read(0, 0)], fails]), 2);
}

/// The same for a thread that made such steps and then waits for ever, whatever is chosen when a thread ends.
#[test]
fn the_program_may_end_before_an_unobservable_step() {
    let main = vec![Op::Create(1), Op::Create(2), Op::Create(3), Op::Join(0)];
    let fails = vec![Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1)), Op::Read(0, 3), Op::Assert(3, 0)];
    let waits = vec![Op::Read(1, 1), Op::SemWait(0)];
    misses_nothing(&Program::new(vec![main, fails, vec![Op::Write(0, Value::Const(1))], waits]), 0);
}

/// `main` has yielded. Returning to it is free only if another, independent thread ran first.
#[test]
fn running_others_first_makes_returning_after_a_yield_free() {
    let mut main = vec![Op::Create(1), Op::Create(2), Op::Yield, Op::Write(0, Value::Const(3))];
    main.extend([Op::Join(0), Op::Join(1), Op::Read(0, 0)]);
    let program = Program::new(vec![main, vec![Op::Write(0, Value::Const(1))], vec![Op::SemPost(0)]]);
    misses_nothing(&program, 0);
}

/// A thread whose operation ended the program must not sleep there: in another state the operation may not end it.
#[test]
fn a_thread_that_ended_the_program_does_not_sleep() {
    let fails = vec![Op::SemPost(0), Op::Read(0, 3), Op::Assert(3, 1)];
    let changes = vec![Op::Yield, Op::Lock(0), Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1)), Op::Unlock(0)];
    let program = Program::fork_join(vec![fails, changes], vec![]);
    let all = schedules(&program, &all_points(&program), LIMIT).unwrap();
    for reduction in KINDS {
        let options = options(0, BoundKind::Preemptions, Strategy::MinSwitches, reduction);
        let hunt = hunt(ModelExecutor::new(program.clone()), Technique::Dfs, &options, everything());
        check(&hunt, &all, u32::MAX, BoundKind::Preemptions, false).unwrap();
    }
}

/// Every schedule with the prefix of the first one exceeds the bound; the next operations of the other threads show what to try.
#[test]
fn next_operations_beyond_the_bound_extend_the_backtrack_sets() {
    let fails = vec![Op::Yield, Op::Write(0, Value::Const(3)), Op::Read(0, 3), Op::Assert(3, 1)];
    let main = vec![Op::Create(1), Op::Create(2), Op::Join(0), Op::Join(1), Op::Read(0, 0)];
    let program = Program::new(vec![main, fails, vec![Op::Yield]]);
    let all = schedules(&program, &all_points(&program), LIMIT).unwrap();
    for seed in 0..50 {
        let options = Options { seed, ..options(2, BoundKind::Switches, Strategy::Random, Reduction::Dynamic) };
        let hunt = hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, &options, everything());
        check(&hunt, &all, 2, BoundKind::Switches, true).unwrap();
    }
}

/// The same if the log has no event between a switch to such a thread and one away from it.
#[test]
fn later_unobservable_steps_do_not_belong_to_the_state() {
    let main = vec![Op::Create(1), Op::Create(2), Op::Join(1)];
    let fails = vec![Op::Yield, Op::Lock(0), Op::Lock(1), Op::Unlock(1), Op::Unlock(0), Op::Assert(3, 1)];
    let sleeps = vec![Op::Write(0, Value::Const(1)), Op::Sleep(1)];
    let program = Program::new(vec![main, fails, sleeps]);
    let kind = BoundKind::Preemptions;
    for reduction in KINDS {
        let (hunt, all) = shared(&program, &options(1, kind, Strategy::Random, reduction)).unwrap();
        check(&hunt, &all, 1, kind, true).unwrap();
    }
}

/// Checks that `dynamic` over all points misses nothing.
fn reaches_all(program: &Program, technique: Technique, bound: u32, strategy: Strategy) {
    let all = schedules(program, &all_points(program), LIMIT).unwrap();
    let options = options(bound, BoundKind::Preemptions, strategy, Reduction::Dynamic);
    for states_first in [false, true] {
        let executor = ModelExecutor::new(program.clone()).states_first(states_first);
        let hunt = hunt(executor, technique, &options, everything());
        check(&hunt, &all, bound, BoundKind::Preemptions, strategy == Strategy::Random).unwrap();
    }
}

/// With a bound of one switch only one of the two threads runs: which one matters, whether or not they conflict.
#[test]
fn a_turn_uses_up_the_turn_of_another_thread() {
    let main = vec![Op::Create(1), Op::Create(2), Op::SemWait(0)];
    let fails = vec![Op::Lock(1), Op::Unlock(1), Op::Read(1, 3), Op::Assert(3, 1)];
    let program = Program::new(vec![main, fails, vec![Op::AtomicWrite(1, Value::Const(1))]]);
    let all = schedules(&program, &all_points(&program), LIMIT).unwrap();
    for seed in 0..20 {
        let options = Options { seed, ..options(1, BoundKind::Switches, Strategy::Random, Reduction::Dynamic) };
        let hunt = hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, &options, everything());
        check(&hunt, &all, 1, BoundKind::Switches, true).unwrap();
    }
}

/// The backtrack set contains `main` while the third thread holds the second lock, but `main` sleeps there: it would take the
/// first lock. The second thread must take that lock before it.
#[test]
fn a_sleeping_thread_of_a_backtrack_set_is_replaced_by_all_threads() {
    let mut main = vec![Op::Create(1), Op::Create(2), Op::Lock(0), Op::Lock(1), Op::Unlock(1), Op::Unlock(0)];
    main.extend([Op::Join(0), Op::Join(1), Op::Read(0, 0)]);
    let waits = vec![Op::Lock(0), Op::AtomicRead(1, 3), Op::JumpIf(3, 1, 4), Op::Wait(0, 0), Op::Unlock(0)];
    let mut fails = vec![Op::TryLock(1, 2), Op::JumpIf(2, 0, 4), Op::Write(1, Value::Const(2)), Op::Unlock(1)];
    fails.extend([Op::Read(1, 3), Op::Assert(3, 1)]);
    let program = Program::new(vec![main, waits, fails]);
    reaches_all(&program, Technique::ContextBound, 2, Strategy::MinSwitches);
}

/// The same without a bound: the second thread must read the sum that `main` wrote.
#[test]
fn a_sleeping_thread_of_a_backtrack_set_is_replaced_without_a_bound() {
    let mut main = vec![Op::Create(1), Op::Create(2), Op::AtomicAdd(1, 1, 1), Op::Join(0), Op::Join(1)];
    main.extend([Op::Read(0, 0), Op::Assert(0, 1)]);
    let fails = vec![Op::Read(1, 1), Op::Read(0, 3), Op::Assert(3, 1)];
    let adds = vec![Op::Write(1, Value::Const(1)), Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1))];
    let program = Program::new(vec![main, fails, adds]);
    reaches_all(&program, Technique::Dfs, u32::MAX, Strategy::Random);
}

/// The third thread continues by a time-out after the second has written, and before the second wakes it.
#[test]
fn a_time_out_before_the_wake_up_is_tried() {
    let main = vec![Op::Create(1), Op::Create(2), Op::Join(0), Op::Join(1), Op::Read(0, 0)];
    let wakes = vec![Op::AtomicWrite(1, Value::Const(1)), Op::Signal(0), Op::Read(0, 3), Op::Assert(3, 1)];
    let mut waits = vec![Op::Lock(0), Op::TimedWait(0, 0, 5, 2), Op::Unlock(0), Op::Lock(1), Op::AtomicRead(1, 3)];
    waits.extend([Op::JumpIf(3, 1, 7), Op::Wait(0, 1), Op::Unlock(1)]);
    let program = Program::new(vec![main, wakes, waits]);
    reaches_all(&program, Technique::ContextBound, 1, Strategy::Random);
}

/// The first thread waits; the second enables it and takes that back; `main` ends the program without joining the first. The
/// first still waits at the end, but could have continued.
#[test]
fn a_thread_waiting_at_the_end_could_have_continued_earlier() {
    let main = |joined| vec![Op::Create(1), Op::Create(2), Op::Join(joined)];
    let waits = vec![Op::SemWait(0), Op::Read(0, 3), Op::Assert(3, 1)];
    let takes_back = vec![Op::SemPost(0), Op::SemWait(0)];
    let program = Program::new(vec![main(1), waits, takes_back]);
    for bound in 0..3 {
        reaches_all(&program, Technique::ContextBound, bound, Strategy::MinSwitches);
    }
    reaches_all(&program, Technique::Dfs, u32::MAX, Strategy::MinSwitches);
    // The same, and at the end the first thread could continue: had it done so earlier, the second would wait.
    let gives = vec![Op::SemPost(0), Op::SemWait(0), Op::SemPost(0)];
    let program = Program::fork_join(vec![vec![Op::SemWait(0)], gives], vec![]);
    reaches_all(&program, Technique::Dfs, u32::MAX, Strategy::MinSwitches);
    // The same with a mutex that `main` holds, releases, and takes again.
    let main = vec![Op::Lock(0), Op::Create(1), Op::Unlock(0), Op::Lock(0)];
    let waits = vec![Op::Lock(0), Op::Read(0, 3), Op::Assert(3, 1)];
    let program = Program::new(vec![main, waits]);
    for bound in 0..3 {
        reaches_all(&program, Technique::ContextBound, bound, Strategy::MinSwitches);
    }
    reaches_all(&program, Technique::Dfs, u32::MAX, Strategy::MinSwitches);
}

/// The options of a search with this bound.
fn bounded(bound: u32, strategy: Strategy, reduction: Option<Reduction>) -> Options {
    Options { reduction, ..options(bound, BoundKind::Preemptions, strategy, Reduction::Caching) }
}

/// No reduction, and each kind.
const ALL: [Option<Reduction>; 3] = [None, Some(Reduction::Caching), Some(Reduction::Dynamic)];

/// Returns the number of executions of a search over these threads.
fn executions(technique: Technique, bodies: Vec<Vec<Op>>) -> [u64; 3] {
    ALL.map(|reduction| {
        let options = bounded(2, Strategy::MinSwitches, reduction);
        let executor = ModelExecutor::new(Program::fork_join(bodies.clone(), vec![]));
        hunt(executor, technique, &options, everything()).summary.counts.executions
    })
}

/// Independent threads.
#[test]
fn independent_threads_are_not_interleaved() {
    let thread = |variable: usize| vec![Op::AtomicAdd(variable, 1, 0); 3];
    let [all, caching, dynamic] = executions(Technique::ContextBound, vec![thread(0), thread(1), thread(2)]);
    println!("{caching} and {dynamic} of {all}");
    assert!(caching * 6 < all, "{caching} of {all}");
    assert!(dynamic * 100 < all, "{dynamic} of {all}");
}

#[test]
fn conflicting_threads_are_interleaved() {
    let thread = vec![Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1))];
    let [all, caching, dynamic] = executions(Technique::ContextBound, vec![thread.clone(), thread]);
    println!("{caching} and {dynamic} of {all}");
    assert!(caching < all && dynamic < all, "{caching} and {dynamic} of {all}");
}

/// Random programs have few independent operations; even so most schedules need not be run.
#[test]
fn reduction_saves_most_schedules_of_random_programs() {
    for (technique, part) in [(Technique::ContextBound, 2), (Technique::Dfs, 4)] {
        let mut sums = [0; 3];
        for seed in 0..cases(80) {
            let program = Program::random(seed, WIDER);
            if schedules(&program, &all_points(&program), LIMIT).is_none() {
                continue;
            }
            for (sum, reduction) in sums.iter_mut().zip(ALL) {
                let options = bounded(2, Strategy::MinSwitches, reduction);
                let hunt = hunt(ModelExecutor::new(program.clone()), technique, &options, everything());
                *sum += hunt.summary.counts.executions;
            }
        }
        let [all, caching, dynamic] = sums;
        println!("{technique:?}: {caching} and {dynamic} of {all}");
        assert!(caching * part < all, "{technique:?}: {caching} of {all}");
        assert!(dynamic * part * 2 < all, "{technique:?}: {dynamic} of {all}");
    }
}

/// When a spinning thread has to give way, the state depends on how long it was running: nothing is left out.
#[test]
fn a_thread_that_must_give_way_ends_the_reduction() {
    let add = || vec![Op::AtomicAdd(0, 1, 1), Op::AtomicAdd(1, 1, 1), Op::AtomicAdd(0, 1, 1), Op::AtomicAdd(1, 1, 1)];
    let program = Program::fork_join(vec![add(), add()], vec![]);
    let [all, caching, dynamic] = ALL.map(|reduction| {
        let options = bounded(2, Strategy::Fair(3), reduction);
        hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, &options, everything())
    });
    assert!(all.summary.coverage.complete);
    for reduced in [caching, dynamic] {
        assert_eq!(reduced.summary.coverage.guarantee, all.summary.coverage.guarantee);
        assert_eq!(reduced.ends, all.ends);
        assert!(reduced.summary.counts.executions >= all.summary.counts.executions, "it started again");
    }
}

/// An executor whose program contains annotations for the detector.
struct Annotated(ModelExecutor);

impl Executor for Annotated {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let mut executions = self.0.run(plans)?;
        for execution in &mut executions {
            execution.records.push(Record { kind: Kind::Annotated, ..Record::default() });
        }
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.0.add_points(sites)
    }
}

/// Annotations mean dependences that events do not show, so nothing is left out.
#[test]
fn annotations_end_the_reduction() {
    let thread = |variable: usize| vec![Op::AtomicAdd(variable, 1, 0); 3];
    let program = Program::fork_join(vec![thread(0), thread(1)], vec![]);
    let run = |technique: Technique, reduction: Option<Reduction>| {
        let options = bounded(1, Strategy::MinSwitches, reduction);
        let portfolio = technique.portfolio(&options);
        let mut executor = Annotated(ModelExecutor::new(program.clone()));
        Campaign::new(portfolio, everything(), &mut |_| ()).run(&mut executor, &mut || false)
    };
    for technique in [Technique::ContextBound, Technique::Dfs] {
        let [all, caching, dynamic] = ALL.map(|reduction| run(technique, reduction));
        for reduced in [caching, dynamic] {
            assert!(reduced.coverage.complete && all.coverage.complete);
            assert_eq!(reduced.coverage.guarantee, all.coverage.guarantee);
            // What ran before the first annotation was seen is run again.
            assert!(reduced.counts.executions > all.counts.executions, "{technique:?}");
            assert_eq!(reduced.coverage.left_out, 0);
        }
    }
    let options = bounded(1, Strategy::MinSwitches, Some(Reduction::Caching));
    let mut pruning = ModelExecutor::new(program.clone());
    let portfolio = Technique::ThreadBound.portfolio(&options);
    let pruned = Campaign::new(portfolio, everything(), &mut |_| ()).run(&mut pruning, &mut || false);
    assert!(pruned.coverage.guarantee.contains("up to the order of independent events"));
    let all = run(Technique::ThreadBound, Some(Reduction::Caching));
    assert!(all.coverage.guarantee.starts_with("all schedules of"), "{}", all.coverage.guarantee);
    assert!(!all.coverage.guarantee.contains("up to the order"), "{}", all.coverage.guarantee);
    assert!(all.counts.executions > pruned.counts.executions);
}

/// A sleeping thread is woken by what conflicts with its next operation. If a signal comes first, the log shows what the handler
/// does instead.
#[test]
fn a_thread_that_a_signal_interrupts_does_not_sleep() {
    let program = Program::random(7_795_825_965_171_869_946, SIGNALS);
    let all = schedules(&program, &all_points(&program), LIMIT).unwrap();
    for reduction in KINDS {
        let options = options(u32::MAX, BoundKind::Preemptions, Strategy::MinSwitches, reduction);
        let hunt = hunt(ModelExecutor::new(program.clone()), Technique::Dfs, &options, everything());
        check(&hunt, &all, u32::MAX, BoundKind::Preemptions, false).unwrap();
    }
}
