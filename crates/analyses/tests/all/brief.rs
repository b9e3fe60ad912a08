//! Context bounding with brief logs, which long executions have: a target is explored for the alternatives that cost nothing, and again
//! for the others once their stage begins. Every schedule within the bound is run all the same, and nothing else is claimed.

use crate::common::{SIGNALS, SMALL, TIMED, WIDER, bugs_of, config, found, hunt_with};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, ContextBound, Strategy};
use racehunter_explore::model::{ModelExecutor, Path, Program, Shape, order, schedules};
use racehunter_explore::{Budget, Campaign, Execution, Executor, ExecutorError, Outcome, Plan, Points, Portfolio};
use racehunter_log::{EventNumber, Record, ThreadId};
use std::collections::{BTreeSet, HashSet};

const LIMIT: usize = 400;

/// Leaves out what the runtime leaves out of a brief log, except that all accesses count as one place: programs without loops would
/// leave out nothing.
struct Outlines {
    inner: ModelExecutor,
    runs: Vec<(Plan, Execution)>,
}

impl Executor for Outlines {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let mut executions = self.inner.run(plans)?;
        for (plan, execution) in plans.iter().zip(&mut executions) {
            if plan.brief {
                execution.records = outline(&execution.records);
            }
            self.runs.push((plan.clone(), execution.clone()));
        }
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.inner.add_points(sites)
    }
}

/// The accesses that were left out since the last record in the order of events.
#[derive(Default)]
struct LeftOut {
    count: u64,
    last: (EventNumber, ThreadId),
}

impl LeftOut {
    fn take(&mut self) -> Record {
        let (index, thread) = self.last;
        let object = std::mem::take(&mut self.count);
        Record { index, thread, object, kind: racehunter_abi::Kind::Passed, ..Record::default() }
    }
}

fn outline(records: &[Record]) -> Vec<Record> {
    let mut is_known = false;
    let (mut left_out, mut is_outline) = (LeftOut::default(), false);
    let (mut stood_for, mut changed) = (EventNumber::START, EventNumber::START);
    let mut brief = Vec::new();
    for &record in records {
        let (kind, at) = (record.kind, record.index);
        if kind.is_access() && std::mem::replace(&mut is_known, true) && changed != at {
            is_outline = true;
            if stood_for != at {
                stood_for = at;
                left_out = LeftOut { count: left_out.count + 1, last: (at, record.thread) };
            }
            continue;
        }
        let stands = kind.is_event() || kind == racehunter_abi::Kind::Switch;
        if stands {
            stood_for = at;
        } else if kind.is_in_order() {
            changed = at;
        }
        if left_out.count > 0 && kind.is_in_order() {
            left_out.count -= u64::from(stands && left_out.last.0 == at);
            if left_out.count > 0 {
                brief.push(left_out.take());
            }
        }
        brief.push(record);
    }
    if is_outline {
        brief.push(left_out.take());
    }
    brief
}

fn shapes() -> BoxedStrategy<Shape> {
    use proptest::strategy::Strategy;
    prop_oneof![Just(SMALL), Just(TIMED), Just(WIDER), Just(SIGNALS)].boxed()
}

fn cost(path: &Path, kind: BoundKind) -> u32 {
    match kind {
        BoundKind::Preemptions => path.preemption_cost,
        BoundKind::Switches => path.switch_cost,
    }
}

fn search(bound: u32, kind: BoundKind) -> ContextBound {
    ContextBound::iterative(bound, kind, Strategy::MinSwitches, 7)
}

proptest! {
    #![proptest_config(config(110))]

    #[test]
    fn nothing_within_the_bound_is_missed(seed: u64, shape in shapes(), bound in 0_u32..=3, switches: bool, tails: bool) {
        let program = Program::random(seed, shape);
        let points: HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(all) = schedules(&program, &points, LIMIT) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        // With the detector, logs begin at the first event; without it, at the end of what the plan forces.
        let budget = Budget { points: Points::All, spurious: !tails, ..Budget::default() };
        let whole = hunt_with(ModelExecutor::new(program.clone()), Portfolio::of(search(bound, kind)), budget);
        let mut executor = Outlines { inner: ModelExecutor::new(program), runs: Vec::new() };
        let portfolio = Portfolio::of(search(bound, kind).of_long_executions());
        let mut ignored = |_: racehunter_explore::Progress| {};
        let summary = Campaign::new(portfolio, budget, &mut ignored).run(&mut executor, &mut || false);
        let is_schedule = |(_, execution): &&(Plan, Execution)| !matches!(execution.outcome, Outcome::Diverged(_));
        let brief: BTreeSet<Vec<u32>> =
            executor.runs.iter().filter(is_schedule).map(|(_, execution)| order(execution)).collect();
        let run: BTreeSet<Vec<u32>> = whole.orders.iter().cloned().collect();
        prop_assert_eq!(&brief, &run);
        prop_assert_eq!(found(&summary), found(&whole.summary));
        let (coverage, claimed) = (&summary.coverage, &whole.summary.coverage);
        prop_assert_eq!((coverage.complete, coverage.diverged), (claimed.complete, claimed.diverged));
        // Up to the number of points: here the logs do not have all places.
        let words = |guarantee: &str| guarantee.split([',', '(']).next().and_then(|text| Some(text.split(" over ").next()?.to_owned()));
        prop_assert_eq!(words(&coverage.guarantee), words(&claimed.guarantee));
        if tails {
            let within = all.iter().filter(|path| cost(path, kind) <= bound);
            prop_assert!(found(&summary).is_superset(&bugs_of(within.clone())));
            prop_assert!(within.map(|path| &path.order).all(|order| brief.contains(order)));
        }
        // What a brief log was enough for is not run twice.
        let again = executor.runs.len() as u64 - whole.summary.counts.executions;
        let outlines = executor.runs.iter().filter(|(plan, _)| plan.brief).count() as u64;
        prop_assert!(again <= outlines, "{again} more executions, {outlines} brief logs");
    }
}

/// Loops make a difference: few places, many accesses.
#[test]
fn some_logs_are_brief_and_some_targets_are_explored_again() {
    use racehunter_explore::model::{Op, Value};
    let add = || (0..3).flat_map(|_| [Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1))]).collect();
    let program = Program::bare(vec![add(), add()]);
    let mut executor = Outlines { inner: ModelExecutor::new(program), runs: Vec::new() };
    let portfolio = Portfolio::of(search(2, BoundKind::Preemptions).of_long_executions());
    let mut ignored = |_: racehunter_explore::Progress| {};
    let budget = Budget { points: Points::All, ..Budget::default() };
    let summary = Campaign::new(portfolio, budget, &mut ignored).run(&mut executor, &mut || false);
    assert!(summary.coverage.complete, "{}", summary.coverage.guarantee);
    let runs = |brief: bool| executor.runs.iter().filter(|(plan, _)| plan.brief == brief).count();
    assert!(runs(true) > 0 && runs(false) > 1, "{} brief logs, {} whole ones", runs(true), runs(false));
}
