//! Variable bounding against brute force: every schedule within the bounds once, none beyond them, and in the order of
//! their ranks. With reduction, the same outcomes; when divided, each schedule in one part.

use crate::common::figures::figures;
use crate::common::{Recorder, SIGNALS, SMALL, TIMED, WIDER, bugs_of, config, ends_of, found, hunt};
use proptest::prelude::*;
use racehunter_abi::Kind;
use racehunter_analyses::{Options, Reduction, Strategy, Technique, rank_of};
use racehunter_explore::model::{ModelExecutor, Op, Path, Program, Shape, Value, order, schedules};
use racehunter_explore::{
    Budget, Bug, Campaign, Execution, Executor, ExecutorError, Objects, Observe, Outcome, Part, Plan, Points, Progress,
    Rank, Record, Variable,
};
use racehunter_log::{Address, CodeAddress};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const LIMIT: usize = 400;

/// The addresses of variables 0 and 1 of a program.
const ARRAY: std::ops::Range<u64> = 0x10_0000..0x10_0010;

fn all_points(program: &Program) -> HashSet<u32> {
    program.access_sites().into_iter().collect()
}

fn budget() -> Budget {
    Budget { points: Points::All, ..Budget::default() }
}

fn options(bound: u32, variables: u32, threads: u32) -> Options {
    Options { bound, variables, threads, reduction: None, ..Options::default() }
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
    use proptest::strategy::Strategy;
    prop_oneof![Just(SMALL), Just(TIMED), Just(WIDER), Just(SIGNALS)].boxed()
}

/// An executor that presents the variables of a program as heap blocks, allocated one per iteration of a loop.
struct OnHeap {
    inner: ModelExecutor,
    runs: Vec<Execution>,
}

impl Executor for OnHeap {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let mut executions = self.inner.run(plans)?;
        for (execution, plan) in executions.iter_mut().zip(plans) {
            assert!(plan.allocations, "heap blocks are named by their allocations");
            let block = |number: u64| Record {
                kind: Kind::Allocated,
                object: ARRAY.start + 8 * number,
                extra: 8,
                code: CodeAddress(7),
                ..Record::default()
            };
            execution.records.splice(0..0, (0..4).map(block));
        }
        self.runs.extend(executions.iter().cloned());
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.inner.add_points(sites)
    }
}

/// Returns the last iteration, from 1, whose block a schedule of such a program preempts at.
fn iterations(path: &Path) -> u32 {
    let iteration = |variable: Variable| match variable {
        Variable::Fixed(address) if (ARRAY.start..ARRAY.start + 32).contains(&address.0) => {
            (address.0 - ARRAY.start) as u32 / 8 + 1
        }
        _ => 0,
    };
    path.preempted.iter().filter_map(|preempted| preempted.variable).map(iteration).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(config(100))]

    /// Section 2.4: within variables and threads, schedules are ordered by loop iterations.
    #[test]
    fn iterations_of_a_loop_are_a_rank(
        seed: u64, shape in shapes(), variables in 1_u32..=2, limit in 0_u32..=2, runs in 1_u64..80,
    ) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let iterations_limit = (limit > 0).then_some(limit);
        let options = Options { iterations: iterations_limit, ..options(2, variables, 3) };
        let hunt = |runs: Option<u64>| {
            let mut executor = OnHeap { inner: ModelExecutor::new(program.clone()), runs: Vec::new() };
            let mut ranks: Vec<Option<Rank>> = Vec::new();
            let mut note = |progress: Progress| {
                if let Progress::Stage { rank, .. } = progress {
                    ranks.push(rank);
                }
            };
            let budget = Budget { runs, ..budget() };
            let summary = Campaign::new(Technique::VariableBound.portfolio(&options), budget, &mut note)
                .run(&mut executor, &mut || false);
            let orders: Vec<Vec<u32>> = executor.runs.iter().map(order).collect();
            let ranked: Vec<Rank> = executor.runs.iter().map(rank_of).collect();
            (summary, orders, ranks, ranked)
        };
        let rank = |path: &Path| (path.variables(), path.threads(), iterations(path), path.preemption_cost);
        let is_within = |path: &&Path| {
            within(path, (2, variables, 3)) && iterations_limit.is_none_or(|limit| iterations(path) <= limit)
        };
        let (summary, orders, ranks, ranked) = hunt(None);
        let known: BTreeMap<&Vec<u32>, _> = all.iter().map(|path| (&path.order, rank(path))).collect();
        let run: BTreeSet<&Vec<u32>> = orders.iter().collect();
        prop_assert_eq!(run.len(), orders.len(), "a schedule was run twice");
        prop_assert_eq!(&run, &all.iter().filter(is_within).map(|path| &path.order).collect::<BTreeSet<_>>());
        let in_turn: Vec<_> = orders.iter().map(|order| known[order]).collect();
        prop_assert!(in_turn.is_sorted(), "out of order: {:?}", in_turn);
        for (order, rank) in orders.iter().zip(&ranked) {
            let (variables, threads, iterations, _) = known[order];
            prop_assert_eq!(*rank, Rank { variables, threads, iterations });
        }
        prop_assert!(ranks.iter().flatten().map(|rank| (rank.variables, rank.threads, rank.iterations)).is_sorted());
        let is_cut = all.iter().any(|path| within(path, (2, variables, 3)) && !is_within(&path));
        let says = summary.coverage.guarantee.contains("iteration");
        prop_assert_eq!(is_cut, says, "{}", summary.coverage.guarantee);
        // A hunt that is cut short claims only what it has run.
        let (summary, orders, ..) = hunt(Some(runs));
        let claim = summary.coverage.guarantee;
        let Some(claim) = claim.strip_prefix("all schedules") else { return Ok(()) };
        let number = |before: &str, after: &str| -> Option<u32> {
            let (_, rest) = claim.split_once(before)?;
            rest.split_once(after)?.0.rsplit(' ').next()?.parse().ok()
        };
        let first = if claim.contains("not at blocks") { Some(0) } else { number("those of the first", " iteration") };
        let claimed = |path: &&Path| {
            let is_cheap = if claim.starts_with(" with ") {
                let (c, v) = (number(" with <=", " preemption").unwrap(), number(" at <=", " variable").unwrap());
                within(path, (c, v, number(" among <=", " thread").unwrap()))
            } else {
                claim.starts_with(" over") || path.preemption_cost == 0
            };
            is_cheap && first.is_none_or(|first| iterations(path) <= first)
        };
        let run: BTreeSet<&Vec<u32>> = orders.iter().collect();
        let missed = all.iter().filter(claimed).find(|path| !run.contains(&path.order));
        prop_assert!(missed.is_none(), "{claim}: {missed:?}");
    }

    /// Happens-before pruning: fewer schedules reach every outcome within the bounds.
    #[test]
    fn pruning_misses_nothing(
        seed: u64, shape in shapes(), bound in 0_u32..=3, variables in 0_u32..=2, threads in 2_u32..=4,
        (random, lazy) in any::<(bool, bool)>(), dynamic: bool,
    ) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        // This analysis has one kind of reduction, whichever is requested.
        let reduction = Some(if dynamic { Reduction::Dynamic } else { Reduction::Caching });
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let options = Options { reduction, strategy, seed, ..options(bound, variables, threads) };
        let executor = if lazy { ModelExecutor::lazy(program) } else { ModelExecutor::new(program) };
        let hunt = hunt(executor, Technique::VariableBound, &options, budget());
        let expected: Vec<&Path> = all.iter().filter(|path| within(path, (bound, variables, threads))).collect();
        let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
        prop_assert_eq!(run.len(), hunt.orders.len(), "a schedule was run twice");
        let (ends, bugs) = (ends_of(expected.iter().copied()), bugs_of(expected.iter().copied()));
        prop_assert!(hunt.ends.is_superset(&ends), "missed {:?}", ends.difference(&hunt.ends).next());
        prop_assert!(found(&hunt.summary).is_superset(&bugs));
        prop_assert!(hunt.summary.coverage.complete);
        if !random {
            prop_assert_eq!(&hunt.ends, &ends);
            prop_assert!(hunt.orders.len() <= expected.len());
            prop_assert!(hunt.summary.coverage.left_out > 0 || hunt.orders.len() == expected.len());
        }
    }

    /// Executions without preemptions left skip all accesses: the search is the same, and so are its bugs except data
    /// races.
    #[test]
    fn selective_executions_leave_nothing_out(
        seed: u64, shape in shapes(), bound in 1_u32..=3, variables in 0_u32..=2, (random, lazy) in any::<(bool, bool)>(),
        of in 1_u32..=2,
    ) {
        let program = Program::random(seed, shape);
        if schedules(&program, &all_points(&program), LIMIT).is_none() {
            return Err(TestCaseError::reject("too many schedules"));
        }
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let run = |selective: bool| {
            let options = Options { selective, strategy, seed, ..options(bound, variables, 3) };
            let mut executor = if lazy { ModelExecutor::lazy(program.clone()) } else { ModelExecutor::new(program.clone()) };
            // All accesses are points, yet not every plan observes all of them.
            executor.add_all_points();
            let mut recorder = Recorder::new(executor);
            let budget = Budget { part: Part::new(of, of).unwrap(), points: Points::Shared, ..budget() };
            let summary =
                Campaign::new(Technique::VariableBound.portfolio(&options), budget, &mut |_| ()).run(&mut recorder, &mut || false);
            recorder.runs.retain(|(plan, _)| plan.observe == Observe::Points);
            // An execution whose chosen thread turned out to be blocked is not a schedule.
            let is_one = |execution: &Execution| !matches!(execution.outcome, Outcome::Diverged(_));
            let skips = |(plan, execution): &&(Plan, Execution)| plan.select.is_some() && is_one(execution);
            let skipped = recorder.runs.iter().filter(skips).count();
            let ends: Vec<_> =
                recorder.runs.iter().map(|(_, execution)| (execution.events, execution.switches(), execution.outcome.clone())).collect();
            let bugs: BTreeSet<Bug> = found(&summary).into_iter().filter(|bug| !matches!(bug, Bug::Race(..))).collect();
            (summary, skipped, ends.into_iter().map(|end| format!("{end:?}")).collect::<BTreeSet<_>>(), bugs)
        };
        let ((whole, none, ends, bugs), (selective, skipped, same_ends, same_bugs)) = (run(false), run(true));
        prop_assert_eq!(none, 0);
        prop_assert_eq!(whole.counts.executions, selective.counts.executions);
        prop_assert_eq!(ends, same_ends);
        prop_assert_eq!(bugs, same_bugs);
        prop_assert_eq!(whole.coverage.complete, selective.coverage.complete);
        let says = selective.coverage.guarantee.contains("newly shared accesses are looked for in those with");
        prop_assert_eq!(says, skipped > 0 && selective.coverage.complete, "{}", selective.coverage.guarantee);
    }

    /// The strategy determines only the order of the search.
    #[test]
    fn a_strategy_leaves_nothing_out(
        seed: u64, shape in shapes(), fair in 0_u64..4, bound in 0_u32..=2, variables in 0_u32..=2,
    ) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let strategy = if fair == 0 { Strategy::Random } else { Strategy::Fair(fair) };
        let options = Options { strategy, seed, ..options(bound, variables, 3) };
        let hunt = hunt(ModelExecutor::new(program), Technique::VariableBound, &options, budget());
        let run: BTreeSet<&Vec<u32>> = hunt.orders.iter().collect();
        prop_assert_eq!(run.len(), hunt.orders.len(), "a schedule was run twice");
        let expected = all.iter().filter(|path| within(path, (bound, variables, 3)));
        let missed = expected.clone().find(|path| !run.contains(&path.order));
        prop_assert!(missed.is_none(), "missed {:?}", missed);
        prop_assert!(found(&hunt.summary).is_superset(&bugs_of(expected)));
        prop_assert!(hunt.summary.coverage.complete, "{}", hunt.summary.coverage.guarantee);
    }

    /// Each schedule with a preemption is run by one part, and the parts together claim what the whole does.
    #[test]
    fn parts_cover_the_whole(
        seed: u64, shape in shapes(), of in 2_u32..=4, bound in 0_u32..=3, variables in 0_u32..=2, reduces: bool,
    ) {
        let program = Program::random(seed, shape);
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let reduction = reduces.then_some(Reduction::Caching);
        let options = Options { reduction, ..options(bound, variables, 3) };
        let (mut times, mut ends, mut bugs) = (BTreeMap::<Vec<u32>, u32>::new(), BTreeSet::new(), BTreeSet::new());
        for number in 1..=of {
            let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
            let budget = Budget { part: Part::new(number, of).unwrap(), ..budget() };
            let summary = Campaign::new(Technique::VariableBound.portfolio(&options), budget, &mut |_| ())
                .run(&mut recorder, &mut || false);
            prop_assert!(summary.coverage.complete);
            let claim = format!("part {number} of {of} of all schedules");
            prop_assert!(summary.coverage.guarantee.starts_with(&claim), "{}", summary.coverage.guarantee);
            bugs.extend(found(&summary));
            for (_, execution) in &recorder.runs {
                ends.insert((format!("{:?}", execution.outcome), execution.output.clone()));
                *times.entry(order(execution)).or_default() += 1;
            }
        }
        let expected: Vec<&Path> = all.iter().filter(|path| within(path, (bound, variables, 3))).collect();
        prop_assert!(ends.is_superset(&ends_of(expected.iter().copied())));
        prop_assert!(bugs.is_superset(&bugs_of(expected.iter().copied())));
        for path in expected.iter().filter(|_| !reduces) {
            let free = path.preemptions + path.unfair == 0;
            prop_assert_eq!(times.get(&path.order).copied(), Some(if free { of } else { 1 }), "{:?}", path);
        }
    }

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
                Variable::Fixed(address) if ARRAY.contains(&address.0) => Variable::Fixed(Address(ARRAY.start)),
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

    /// The real runtime does not always know which threads are blocked. That costs executions, but misses no schedule.
    #[test]
    fn blocked_threads_discovered_late_cost_no_schedule(seed: u64, wide: bool, bound in 0_u32..=3, variables in 0_u32..=2) {
        let program = Program::random(seed, if wide { WIDER } else { SMALL });
        let Some(all) = schedules(&program, &all_points(&program), LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        check(ModelExecutor::lazy(program), &all, (bound, variables, 3), false)?;
    }

    /// Every claim of a hunt that is cut short is true.
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

/// Two independent threads: one schedule for each set of preempted variables and threads is enough.
#[test]
fn pruning_saves_executions_of_independent_threads() {
    let adds = |variable| vec![Op::AtomicAdd(variable, 1, 0); 3];
    let program = Program::fork_join(vec![adds(0), adds(1), adds(2)], Vec::new());
    let executions = |reduction| {
        let options = Options { reduction, ..options(2, 2, 4) };
        let hunt = hunt(ModelExecutor::new(program.clone()), Technique::VariableBound, &options, budget());
        assert!(hunt.summary.coverage.complete);
        hunt.orders.len()
    };
    let (all, pruned) = (executions(None), executions(Some(Reduction::Caching)));
    assert!(pruned * 2 < all, "{pruned} of {all}");
}

/// A thread that sleeps while it is alone is chosen again, and the plan must say so.
#[test]
fn a_thread_that_sleeps_alone_continues() {
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

/// Converts what a bug needs to this search's way of counting threads.
fn counted((preemptions, variables, threads): (u32, u32, u32), number: u32) -> (u32, u32, u32) {
    match (preemptions, number) {
        // Which thread comes next when one ends is open anyway; so is the third thread of figure 9.
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
        // With more preemptions than necessary, figure 10 needs only two threads.
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

/// Between two reads of an array, a thread that writes both elements is preempted, once at each.
#[test]
fn a_bug_of_two_elements_is_one_of_the_array() {
    let writes = vec![Op::AtomicWrite(0, Value::Const(1)), Op::AtomicWrite(1, Value::Const(1)), Op::AtomicAdd(2, 1, 1)];
    let mut reads = vec![Op::AtomicRead(0, 0), Op::AtomicRead(1, 1), Op::AtomicRead(2, 2)];
    // Fails if the first element is new, the second old, and the second is new when read again.
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
