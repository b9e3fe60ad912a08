//! Thread bounding against algorithm 1 exactly as the paper states it: one execution for every order and every choice of
//! preemptions.

use crate::common::figures::figures;
use crate::common::{Recorder, SIGNALS, SMALL, TIMED, WIDER, config, found, hunt, hunt_with};
use proptest::prelude::*;
use racehunter_analyses::{Bounds, Options, Portions, Strategy, Technique, ThreadBound, nth_order, orders_needed};
use racehunter_explore::model::{ModelExecutor, Program, order};
use racehunter_explore::{
    Budget, Bug, Campaign, Execution, Going, LastVariables, MOST_CHANGED, Outcome, Part, Plan, Points, Portfolio,
    Progress, Style, Switch, Tail, Variable, decisions, part_priority, path_priority,
};
use racehunter_log::{EventNumber, History, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The state of an execution before priorities continue it.
#[derive(Clone, Default)]
struct Item {
    switches: Vec<Switch>,
    at: u64,
    preempted: Vec<u32>,
    variables: Vec<Variable>,
}

/// Every execution of one order within the bounds.
fn algorithm_1(
    executor: &mut ModelExecutor,
    seed: u64,
    (preemptions, variables): (usize, usize),
    see: &mut dyn FnMut(Execution),
) {
    let mut queue = vec![Item::default()];
    while let Some(item) = queue.pop() {
        let mut changed = [0; MOST_CHANGED];
        changed[..item.preempted.len()].copy_from_slice(&item.preempted);
        let style = Style::Order { changed, count: item.preempted.len() as u32 };
        let plan = Plan {
            switches: item.switches.clone(),
            tail_from: EventNumber(item.at),
            tail: Tail::Walk { style, seed },
            ..Plan::default()
        };
        let execution = executor.run_one(&plan);
        assert!(!matches!(execution.outcome, Outcome::Diverged(_)));
        let mut last = LastVariables::new(&execution);
        let mut decisions = decisions(&execution);
        while let Some(decision) = decisions.next() {
            if decision.at <= EventNumber(item.at) || decision.going != Going::Ready || decisions.ready().count() < 2 {
                continue;
            }
            let mut next = item.clone();
            next.switches = execution.switches().into_iter().filter(|switch| switch.at < decision.at).collect();
            next.at = decision.at.0;
            next.preempted.push(decision.from.0);
            let variable = last.before(decision.at, decision.from);
            next.variables.extend(variable.filter(|variable| !item.variables.contains(variable)));
            if next.preempted.len() <= preemptions && next.variables.len() <= variables {
                queue.push(next);
            }
        }
        see(execution);
    }
}

fn options(bound: u32, variables: u32, threads: u32) -> Options {
    Options { bound, variables, threads, confidence: 0.9, seed: 5, ..Options::default() }
}

fn budget() -> Budget {
    Budget { points: Points::All, ..Budget::default() }
}

/// The executions of algorithm 1 for all orders together.
#[derive(Clone, Default)]
struct Expected {
    orders: BTreeSet<Vec<u32>>,
    /// The same up to the order of independent events.
    classes: BTreeSet<u64>,
    bugs: BTreeSet<Bug>,
}

impl Expected {
    fn is_within(&self, other: &Self) -> bool {
        self.orders.is_subset(&other.orders)
            && self.classes.is_subset(&other.classes)
            && self.bugs.is_subset(&other.bugs)
    }
}

fn check(program: Program, lazy: bool, bound: u32, variables: u32) -> Result<(), TestCaseError> {
    let make = |program: &Program, lazy: bool| {
        let mut executor =
            if lazy { ModelExecutor::lazy(program.clone()) } else { ModelExecutor::new(program.clone()) };
        executor.add_all_points();
        executor
    };
    let options = options(bound, variables, 2);
    let analysis = || {
        let bounds = Bounds { variables, threads: 2, preemptions: bound, iterations: None };
        ThreadBound::new(bounds, options.confidence, Strategy::MinSwitches, options.seed)
    };
    let hunt = hunt_with(make(&program, lazy), Portfolio::of(analysis().without_pruning()), budget());
    prop_assert!(hunt.summary.coverage.complete, "{}", hunt.summary.coverage.guarantee);
    // The last body is the handler, which is not a thread.
    let threads = program.bodies.len() as u32 - u32::from(program.handler.is_some());
    let orders = orders_needed(threads + bound, 2 + bound, options.confidence);
    let claimed = &hunt.summary.coverage.guarantee;
    let some =
        format!("all schedules of {orders} priority orders (all orders of any 2 threads with a chance of 0.9) with");
    let all: u32 = (1..=threads + bound).product();
    let all = format!("all schedules of all {all} priority orders with");
    prop_assert!(claimed.starts_with(&some) || claimed.starts_with(&all), "{}", claimed);
    let mut all_threads_at_once = true;
    let mut expect = |lazy: bool| {
        let (mut executor, mut expected) = (make(&program, lazy), Expected::default());
        for number in 0..orders {
            let mut see = |execution: Execution| {
                all_threads_at_once &= number > 0 || execution.threads == threads;
                expected.classes.insert(History::new(&execution.records).before(EventNumber::NEVER));
                expected.orders.insert(order(&execution));
                expected.bugs.extend(execution.bugs());
            };
            let bounds = (bound as usize, variables as usize);
            algorithm_1(&mut executor, nth_order(options.seed, number), bounds, &mut see);
        }
        expected
    };
    // A switch is a preemption only if another thread can run. An executor that does not know better may take a blocked
    // thread for runnable and preempt another in its favour. How often depends on earlier attempts, and none of that is
    // promised.
    let least = expect(false);
    let most = if lazy { expect(true) } else { least.clone() };
    prop_assert!(least.is_within(&most));
    let run: BTreeSet<Vec<u32>> = hunt.orders.iter().cloned().collect();
    prop_assert!(run.is_superset(&least.orders), "missed {:?}", least.orders.difference(&run).next());
    prop_assert!(run.is_subset(&most.orders), "beyond {:?}", run.difference(&most.orders).next());
    // Threads that turn out to be blocked, and orders that have to be extended, cost executions.
    prop_assert!(lazy || !all_threads_at_once || run.len() == hunt.orders.len(), "a schedule was run twice");

    // In small portions: the same schedules, and the same claim.
    let portions = Portions { candidates: 3, draws: 5, priorities: 40 };
    let analysis_in_portions = analysis().without_pruning().in_portions(portions);
    let portioned = hunt_with(make(&program, lazy), Portfolio::of(analysis_in_portions), budget());
    prop_assert!(portioned.summary.coverage.complete, "{}", portioned.summary.coverage.guarantee);
    prop_assert_eq!(&portioned.summary.coverage.guarantee, claimed);
    let run_in_portions: BTreeSet<Vec<u32>> = portioned.orders.iter().cloned().collect();
    prop_assert!(lazy || run_in_portions == run, "missed {:?}", run.difference(&run_in_portions).next());
    prop_assert!(run_in_portions.is_superset(&least.orders) && run_in_portions.is_subset(&most.orders));

    // With pruning: only schedules from this set, the same bugs, and for each schedule one that differs only in the order
    // of independent events.
    let mut recorder = Recorder::new(make(&program, lazy));
    let mut progress = |_: Progress| {};
    let portfolio = Portfolio::of(analysis());
    let summary = Campaign::new(portfolio, budget(), &mut progress).run(&mut recorder, &mut || false);
    // What was pruned before the first handler ran is not claimed.
    prop_assert!(summary.coverage.complete || program.handler.is_some());
    if !summary.coverage.complete {
        return Ok(());
    }
    let executions = || recorder.runs.iter().map(|(_, execution)| execution);
    let kept = Expected {
        orders: executions().map(order).collect(),
        classes: executions().map(|execution| History::new(&execution.records).before(EventNumber::NEVER)).collect(),
        bugs: found(&summary),
    };
    let all = Expected { orders: kept.orders.clone(), ..least };
    prop_assert!(all.is_within(&kept) && kept.is_within(&most), "{:?} {:?}", all.bugs, kept.bugs);
    let bugs = found(&hunt.summary);
    prop_assert!(all.bugs.is_subset(&bugs) && bugs.is_subset(&most.bugs));
    prop_assert!(summary.counts.executions <= hunt.summary.counts.executions);
    Ok(())
}

proptest! {
    #![proptest_config(config(40))]

    /// The parts together run what the whole runs. All parts run the schedules without a preemption; exactly one part runs
    /// each of the others.
    #[test]
    fn parts_cover_the_whole(seed: u64, shape in 0_usize..3, of in 2_u32..=4, bound in 0_u32..=2, prunes: bool) {
        let program = Program::random(seed, [SMALL, WIDER, SIGNALS][shape]);
        let bounds = Bounds { variables: 2, threads: 2, preemptions: bound, iterations: None };
        let analysis = || {
            let analysis = ThreadBound::new(bounds, 0.9, Strategy::MinSwitches, 5);
            if prunes { analysis } else { analysis.without_pruning() }
        };
        let run = |part: Part| {
            let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
            let budget = Budget { part, runs: Some(3000), ..budget() };
            let summary = Campaign::new(Portfolio::of(analysis()), budget, &mut |_| ())
                .run(&mut recorder, &mut || false);
            let runs: Vec<Execution> = recorder.runs.into_iter().map(|(_, execution)| execution).collect();
            (summary, runs)
        };
        let (whole, runs) = run(Part::WHOLE);
        if !whole.coverage.complete {
            return Err(TestCaseError::reject("too many schedules"));
        }
        let class = |execution: &Execution| History::new(&execution.records).before(EventNumber::NEVER);
        let (mut orders, mut classes, mut bugs) = (BTreeMap::<Vec<u32>, u32>::new(), BTreeSet::new(), BTreeSet::new());
        let mut common = BTreeSet::new();
        for number in 1..=of {
            let (part, runs) = run(Part::new(number, of).unwrap());
            prop_assert!(part.coverage.complete);
            let claim = format!("part {number} of {of} of all schedules of");
            prop_assert!(part.coverage.guarantee.starts_with(&claim), "{}", part.coverage.guarantee);
            bugs.extend(found(&part));
            runs.iter().for_each(|execution| *orders.entry(order(execution)).or_default() += 1);
            classes.extend(runs.iter().map(class));
            common.insert(part.counts.common);
            // With fewer candidates, a different one may be the first to reach a state.
            prop_assert!(prunes || part.counts.executions <= whole.counts.executions);
        }
        prop_assert_eq!(bugs, found(&whole));
        prop_assert_eq!(classes, runs.iter().map(class).collect::<BTreeSet<u64>>());
        prop_assert_eq!(common.len(), 1, "the parts disagree about their common schedules");
        if !prunes {
            prop_assert_eq!(orders.keys().cloned().collect::<BTreeSet<_>>(), runs.iter().map(order).collect());
        }
    }

    #[test]
    fn every_schedule_of_every_order_once(
        seed: u64, shape in prop_oneof![Just(SMALL), Just(TIMED), Just(WIDER), Just(SIGNALS)], bound in 0_u32..=2, variables in 0_u32..=2,
    ) {
        check(Program::random(seed, shape), false, bound, variables)?;
    }

    #[test]
    fn blocked_threads_discovered_late_cost_no_schedule(seed: u64, bound in 0_u32..=2, variables in 0_u32..=2) {
        check(Program::random(seed, SMALL), true, bound, variables)?;
    }
}

/// All permutations of `count` items.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    let insert = |at: usize| {
        shorter.iter().map(move |order| {
            let mut order = order.clone();
            order.insert(at, count - 1);
            order
        })
    };
    (0..count).flat_map(insert).collect()
}

/// The figures as drawn: without a main thread, which would be one more thread to order.
fn bare(program: &Program) -> Program {
    Program::bare(program.bodies[1..].to_vec())
}

/// The bug of a figure needs what the paper says, by the paper's own definition: with the stated preemptions and
/// variables, a certain order of the items of `t` threads is enough, whatever the order of the others.
#[test]
fn the_figures_need_the_threads_that_the_paper_says() {
    for figure in figures() {
        let program = bare(&figure.program);
        let (preemptions, variables, threads) = figure.needs;
        let (count, changes) = (program.bodies.len(), preemptions as usize);
        let mut executor = ModelExecutor::new(program.clone());
        executor.add_all_points();
        let paths: Vec<u64> = {
            let execution = executor.run_one(&Plan::default());
            let mut last = LastVariables::new(&execution);
            let _ = last.before(EventNumber::NEVER, ThreadId::MAIN);
            (0..count as u32).map(|thread| last.path(ThreadId(thread)).0).collect()
        };
        // Every order of threads and items, the highest first, and whether it shows the bug.
        let mut fails: BTreeMap<Vec<usize>, bool> = BTreeMap::new();
        let wanted = permutations(count + changes).len();
        for seed in 0.. {
            let parts = (0..changes as u32).map(|part| part_priority(seed, part));
            let priorities = paths.iter().map(|&path| path_priority(seed, path)).chain(parts);
            let mut order: Vec<(u64, usize)> = priorities.zip(0..).collect();
            order.sort_unstable_by(|a, b| b.cmp(a));
            let order: Vec<usize> = order.into_iter().map(|(_, part)| part).collect();
            fails.entry(order).or_insert_with(|| {
                let mut failed = false;
                let mut see = |execution: Execution| failed |= matches!(execution.outcome, Outcome::Asserted { .. });
                algorithm_1(&mut executor, seed, (changes, variables as usize), &mut see);
                failed
            });
            if fails.len() == wanted {
                break;
            }
        }
        let is_enough = |chosen: &[usize]| {
            let parts: Vec<usize> = chosen.iter().copied().chain(count..count + changes).collect();
            let within =
                |order: &[usize]| order.iter().copied().filter(|part| parts.contains(part)).collect::<Vec<_>>();
            let mut shown: BTreeMap<Vec<usize>, bool> = BTreeMap::new();
            for (order, &failed) in &fails {
                *shown.entry(within(order)).or_insert(true) &= failed;
            }
            shown.values().any(|&always| always)
        };
        let subsets = |size: u32| (0..1_usize << count).filter(move |set| set.count_ones() == size);
        let members = |set: usize| (0..count).filter(move |thread| set >> thread & 1 == 1).collect::<Vec<_>>();
        let least = (1..=count as u32).find(|&size| subsets(size).any(|set| is_enough(&members(set))));
        assert_eq!(least, Some(threads), "figure {}", figure.number);
    }
}

/// However many orders there are, and however long an execution is, the campaign soon checks whether to stop.
#[test]
fn a_search_with_many_orders_stops_soon() {
    use racehunter_explore::model::{Op, Value};
    let own = |variable: usize| vec![Op::Write(variable % 3, Value::Const(1)); 10];
    let program = Program::bare((0..11).map(own).collect());
    let bounds = Bounds { variables: 2, threads: 9, preemptions: 2, iterations: None };
    // About 10^9 orders.
    let analysis = ThreadBound::new(bounds, 0.99, Strategy::MinSwitches, 1);
    let (mut asked, mut progress) = (0, |_: Progress| {});
    let mut should_stop = || {
        asked += 1;
        asked > 3
    };
    let campaign = Campaign::new(Portfolio::of(analysis), budget(), &mut progress);
    let summary = campaign.run(&mut ModelExecutor::new(program), &mut should_stop);
    assert!(!summary.coverage.complete && summary.claims.is_empty());
    assert!(summary.counts.executions < 10);
}

/// Independent threads: all their orders are equivalent.
#[test]
fn pruning_saves_executions() {
    use racehunter_explore::model::{Op, Value};
    let own = |variable| vec![Op::Write(variable, Value::Const(1)); 3];
    let program = Program::bare(vec![own(0), own(1), own(2)]);
    let bounds = Bounds { variables: 2, threads: 2, preemptions: 2, iterations: None };
    let analysis = || ThreadBound::new(bounds, 0.9, Strategy::MinSwitches, 1);
    let count = |analysis: ThreadBound| {
        let hunt = hunt_with(ModelExecutor::new(program.clone()), Portfolio::of(analysis), budget());
        (hunt.summary.counts.executions, hunt.summary.coverage.guarantee)
    };
    let ((all, plain), (few, pruned)) = (count(analysis().without_pruning()), count(analysis()));
    assert!(few * 2 < all, "{few} of {all}");
    assert!(pruned.contains("up to the order of independent events") && !plain.contains("independent"), "{pruned}");
}

#[test]
fn the_figures_are_found_within_what_the_paper_says() {
    for figure in figures() {
        let (preemptions, variables, threads) = figure.needs;
        let finds = |bound, variables| {
            let options = Options { confidence: 0.999, ..options(bound, variables, threads) };
            let hunt = hunt(ModelExecutor::new(bare(&figure.program)), Technique::ThreadBound, &options, budget());
            assert!(hunt.summary.coverage.complete);
            found(&hunt.summary).iter().any(|bug| matches!(bug, Bug::Assertion(..)))
        };
        assert!(finds(preemptions, variables), "figure {}", figure.number);
        assert!(preemptions == 0 || !finds(preemptions - 1, 9), "figure {}", figure.number);
        assert!(variables == 0 || !finds(preemptions, variables - 1), "figure {}", figure.number);
    }
}

/// Returns in how many trials `orders` random orders contain every order of any `few` among `all`.
fn covered(all: usize, few: usize, orders: u64, trials: u64) -> u64 {
    let arrangements: usize = (0..few).map(|i| all - i).product();
    let covers = |trial: u64| {
        let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
        for number in 0..orders {
            let seed = nth_order(trial << 32, number);
            let mut order: Vec<(u64, usize)> = (0..all).map(|part| (path_priority(seed, part as u64), part)).collect();
            order.sort_unstable();
            let order: Vec<usize> = order.into_iter().map(|(_, part)| part).collect();
            for set in (0..1_u32 << all).filter(|set| set.count_ones() as usize == few) {
                seen.insert(order.iter().copied().filter(|part| set >> part & 1 == 1).collect());
            }
        }
        seen.len() == arrangements
    };
    (1..=trials).filter(|&trial| covers(trial)).count() as u64
}

#[test]
fn the_computed_number_of_orders_suffices_as_often_as_promised() {
    const TRIALS: u64 = 300;
    for (all, few, confidence) in [(4, 2, 0.9), (6, 3, 0.9), (7, 2, 0.5), (5, 4, 0.5)] {
        let orders = orders_needed(all, few, confidence);
        let hits = covered(all as usize, few as usize, orders, TRIALS);
        let expected = TRIALS as f64 * confidence;
        let least = expected - 4.0 * (expected * (1.0 - confidence)).sqrt();
        assert!(hits as f64 >= least, "{few} of {all}: {hits} of {TRIALS} with {orders} orders");
        // A third of them is not enough.
        let few_hits = covered(all as usize, few as usize, orders / 3, TRIALS);
        assert!(few_hits < hits / 2, "{few} of {all}: {few_hits} of {TRIALS} with {} orders", orders / 3);
    }
    // Far fewer than all orders; the number grows with the logarithm of the threads.
    assert!(orders_needed(600, 3, 0.99) < 200);
    assert_eq!(orders_needed(5, 1, 0.99), 1);
}
