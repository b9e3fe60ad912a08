//! Interrupted and divided campaigns reach the same results as whole ones.

use crate::common::{Recorder, SIGNALS, SMALL, TIMED, WIDER, bugs_of, config, ends_of, found};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, Options, Reduction, Strategy, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value, order, schedules};
use racehunter_explore::{
    Analysis, Budget, Campaign, Execution, Part, Plan, Points, Portfolio, Progress, Stop, Summary, Unusable,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

fn executor(program: &Program, lazy: bool) -> ModelExecutor {
    if lazy { ModelExecutor::lazy(program.clone()) } else { ModelExecutor::new(program.clone()) }
}

/// Everything about a summary that must be equal.
fn outcome(summary: &Summary) -> impl PartialEq + std::fmt::Debug {
    let found: Vec<_> = summary
        .found
        .iter()
        .map(|found| {
            (found.bug.clone(), found.execution, found.switches.clone(), found.repeat.clone(), found.preemptions)
        })
        .collect();
    (
        found,
        summary.coverage.clone(),
        summary.counts,
        summary.claims.clone(),
        summary.sites.clone(),
        summary.places.clone(),
    )
}

fn whole(executor: &mut ModelExecutor, technique: Technique, options: &Options, budget: Budget) -> Summary {
    Campaign::new(technique.portfolio(options), budget, &mut |_| ()).run(executor, &mut || false)
}

/// A campaign that is repeatedly stopped after a number of batches, saved, dropped, and resumed with another
/// executor.
fn interrupted(
    executor: &dyn Fn() -> ModelExecutor,
    (technique, options): (Technique, &Options),
    budget: Budget,
    every: usize,
) -> (Summary, usize) {
    let mut state: Option<Vec<u8>> = None;
    let mut times = 0;
    loop {
        let mut executor = executor();
        let mut progress = |_: Progress| ();
        let mut campaign = Campaign::new(technique.portfolio(options), budget, &mut progress);
        if let Some(state) = &state {
            campaign.resume(&mut &state[..], &mut executor).unwrap();
        }
        for _ in 0..every {
            if let Some(stop) = campaign.advance(&mut executor, &mut || false) {
                return (campaign.summary(stop), times);
            }
        }
        let mut bytes = Vec::new();
        campaign.save(&mut bytes).unwrap();
        state = Some(bytes);
        times += 1;
    }
}

/// No reduction, or each kind.
fn reductions() -> impl proptest::strategy::Strategy<Value = Option<Reduction>> {
    prop_oneof![Just(None), Just(Some(Reduction::Caching)), Just(Some(Reduction::Dynamic))]
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn an_interruption_makes_no_difference(
        seed: u64,
        shape in 0_usize..4,
        technique in 0..Technique::NAMES.len(),
        every in 1_usize..6,
        (lazy, switches, random) in any::<(bool, bool, bool)>(),
        reduction in reductions(),
        points in 0_usize..3,
    ) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER, SIGNALS][shape]);
        let technique = Technique::NAMES[technique].1;
        let bound_kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let strategy = if random { Strategy::Random } else { Strategy::MinSwitches };
        let options = Options { bound_kind, strategy, seed, reduction, ..Options::default() };
        let points = [Points::Sync, Points::Shared, Points::All][points];
        let budget = Budget { runs: Some(400), points, batch: 8, ..Budget::default() };
        let whole = whole(&mut executor(&program, lazy), technique, &options, budget);
        let fresh = || executor(&program, lazy);
        let (again, _) = interrupted(&fresh, (technique, &options), budget, every);
        prop_assert_eq!(outcome(&whole), outcome(&again));
    }

    /// A campaign that is stopped within a batch, and resumed, claims what an uninterrupted one claims, with the same points. What
    /// the executions before the stop said about sharing counts like the executions themselves.
    #[test]
    fn an_interruption_within_a_batch_loses_nothing(
        seed: u64,
        mut random: u64,
        shape in 0_usize..4,
        bound in 0_u32..4,
        (lazy, variables) in any::<(bool, bool)>(),
    ) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER, SIGNALS][shape]);
        let technique = if variables { Technique::VariableBound } else { Technique::ContextBound };
        let options = Options { bound, reduction: None, ..Options::default() };
        let budget = Budget { runs: Some(2_000), points: Points::Shared, batch: 8, ..Budget::default() };
        let whole = whole(&mut executor(&program, lazy), technique, &options, budget);
        if !matches!(whole.stop, Stop::Exhausted) {
            return Err(TestCaseError::reject("too many schedules"));
        }
        let mut state: Option<Vec<u8>> = None;
        let again = loop {
            let mut executor = executor(&program, lazy);
            let mut progress = |_: Progress| ();
            let budget = Budget { runs: None, ..budget };
            let mut campaign = Campaign::new(technique.portfolio(&options), budget, &mut progress);
            if let Some(state) = &state {
                campaign.resume(&mut &state[..], &mut executor).unwrap();
            }
            let mut should_stop = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33).is_multiple_of(5)
            };
            let stop = campaign.run_with(&mut executor, &mut should_stop, &mut |_, _| ());
            if !matches!(stop, Stop::Asked) {
                break campaign.summary(stop);
            }
            let mut bytes = Vec::new();
            campaign.save(&mut bytes).unwrap();
            state = Some(bytes);
        };
        prop_assert_eq!(&again.claims, &whole.claims);
        prop_assert_eq!(&again.sites, &whole.sites);
        if again.counts.growths > 0 || whole.counts.growths == 0 {
            prop_assert_eq!(again.counts.stable_for, whole.counts.stable_for);
        }
    }

    /// The parts of a search together reach what the whole reaches. Without reduction, each schedule with a
    /// preemption is run by exactly one part.
    #[test]
    fn parts_cover_the_whole(
        seed: u64,
        shape in 0_usize..4,
        of in 2_u32..=5,
        (bound, dfs, switches) in any::<(u32, bool, bool)>(),
        reduction in reductions(),
    ) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER, SIGNALS][shape]);
        let points: HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(all) = schedules(&program, &points, 400) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let bound = if dfs { u32::MAX } else { bound % 4 };
        let technique = if dfs { Technique::Dfs } else { Technique::ContextBound };
        let options = Options { bound, bound_kind: kind, reduction, ..Options::default() };
        let (mut bugs, mut ends, mut own) = (BTreeSet::new(), BTreeSet::new(), 0);
        let mut times: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut common = BTreeSet::new();
        for number in 1..=of {
            let part = Part::new(number, of).unwrap();
            let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
            let budget = Budget { points: Points::All, part, ..Budget::default() };
            let summary =
                Campaign::new(technique.portfolio(&options), budget, &mut |_| ()).run(&mut recorder, &mut || false);
            prop_assert!(summary.coverage.complete);
            let claim = format!("part {number} of {of} of all schedules");
            prop_assert!(summary.coverage.guarantee.starts_with(&claim), "{}", summary.coverage.guarantee);
            bugs.extend(found(&summary));
            for (_, execution) in &recorder.runs {
                ends.insert((format!("{:?}", execution.outcome), execution.output.clone()));
                *times.entry(order(execution)).or_default() += 1;
            }
            own += summary.counts.executions - summary.counts.common;
            common.insert(summary.counts.common);
        }
        let within: Vec<_> = all
            .iter()
            .filter(|path| bound >= if switches { path.switch_cost } else { path.preemption_cost })
            .collect();
        prop_assert!(bugs.is_superset(&bugs_of(within.iter().copied())));
        prop_assert!(ends.is_superset(&ends_of(within.iter().copied())));
        if reduction.is_none() {
            prop_assert_eq!(common.len(), 1, "the parts disagree about their common schedules");
            for path in &within {
                let free = path.preemptions + path.unfair == 0;
                prop_assert_eq!(times.get(&path.order).copied(), Some(if free { of } else { 1 }), "{:?}", path);
            }
            if !switches {
                let whole = common.first().copied().unwrap_or(0) + own;
                prop_assert_eq!(whole, within.len() as u64);
            }
        }
    }

    /// Any bytes give either a state or an error.
    #[test]
    fn a_damaged_state_is_refused(seed: u64, at: usize, bits in 1_u8.., cut: bool, technique in 0..Technique::NAMES.len()) {
        let program = Program::random(seed, SMALL);
        let technique = Technique::NAMES[technique].1;
        let options = Options::default();
        let mut progress = |_: Progress| ();
        let mut campaign = Campaign::new(technique.portfolio(&options), Budget::default(), &mut progress);
        let mut executor = ModelExecutor::new(program);
        for _ in 0..3 {
            let _: Option<Stop> = campaign.advance(&mut executor, &mut || false);
        }
        let mut bytes = Vec::new();
        campaign.save(&mut bytes).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= bits;
        }
        let mut progress = |_: Progress| ();
        let mut campaign = Campaign::new(technique.portfolio(&options), Budget::default(), &mut progress);
        prop_assert!(campaign.resume(&mut &bytes[..], &mut executor).is_err());
        // With a valid checksum, too: the result may be a state or an error, but never a panic.
        let sum = crc32fast::hash(&bytes[..bytes.len().saturating_sub(4)]);
        if let Some(last) = bytes.last_chunk_mut() {
            *last = sum.to_le_bytes();
        }
        let mut progress = |_: Progress| ();
        let mut campaign = Campaign::new(technique.portfolio(&options), Budget::default(), &mut progress);
        let _ = campaign.resume(&mut &bytes[..], &mut executor);
    }
}

#[test]
fn parts_make_disjoint_subsets_of_the_walks() {
    let program = Program::random(5, WIDER);
    let plans = |part: Part, runs: u64| {
        let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
        let budget = Budget { points: Points::All, runs: Some(runs), part, ..Budget::default() };
        Campaign::new(Technique::Pos.portfolio(&Options::default()), budget, &mut |_| ())
            .run(&mut recorder, &mut || false);
        recorder.runs.into_iter().map(|(plan, _)| format!("{:?}", plan.tail)).collect::<BTreeSet<String>>()
    };
    let parts: Vec<BTreeSet<String>> = (1..=3).map(|number| plans(Part::new(number, 3).unwrap(), 30)).collect();
    assert!(parts.iter().all(|walks| walks.len() == 30));
    assert_eq!(parts.iter().flatten().collect::<BTreeSet<_>>().len(), 90, "a walk was made twice");
}

#[test]
fn parts_together_provoke_all_pairs() {
    let add = |variable| vec![Op::Read(variable, 0), Op::Write(variable, Value::RegPlus(0, 1))];
    let body: Vec<Op> = (0..4).flat_map(add).collect();
    let program = Program::fork_join(vec![body.clone(), body], vec![]);
    let hunt = |part: Part| {
        let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
        let budget = Budget { part, ..Budget::default() };
        let summary = Campaign::new(Technique::Watchpoint.portfolio(&Options::default()), budget, &mut |_| ())
            .run(&mut recorder, &mut || false);
        let pairs: BTreeSet<_> = recorder.runs.into_iter().filter_map(|(plan, _)| plan.provoke).collect();
        (summary, pairs)
    };
    let (whole, pairs) = hunt(Part::WHOLE);
    assert!(pairs.len() > 8, "{}", pairs.len());
    let parts: Vec<_> = (1..=3).map(|number| hunt(Part::new(number, 3).unwrap())).collect();
    assert_eq!(parts.iter().flat_map(|(_, pairs)| pairs.clone()).collect::<BTreeSet<_>>(), pairs);
    // Several parts can provoke a pair discovered on the way.
    assert!(parts.iter().all(|(_, own)| own.len() < pairs.len()));
    assert_eq!(parts.iter().flat_map(|(summary, _)| found(summary)).collect::<BTreeSet<_>>(), found(&whole));
    assert!(parts[1].0.coverage.guarantee.contains("as part 2 of 3"), "{}", parts[1].0.coverage.guarantee);
}

#[test]
fn stopping_at_a_bug_loses_no_target() {
    let program = Program::random(11, WIDER);
    let options = Options { reduction: None, ..Options::default() };
    let budget = Budget { points: Points::All, ..Budget::default() };
    let whole = whole(&mut ModelExecutor::new(program.clone()), Technique::ContextBound, &options, budget);
    assert!(!whole.found.is_empty());
    let mut executor = ModelExecutor::new(program);
    let mut progress = |_: Progress| ();
    let first = Budget { stop_on_first: true, ..budget };
    let mut campaign = Campaign::new(Technique::ContextBound.portfolio(&options), first, &mut progress);
    while campaign.advance(&mut executor, &mut || false).is_none() {}
    let mut state = Vec::new();
    campaign.save(&mut state).unwrap();
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(Technique::ContextBound.portfolio(&options), budget, &mut progress);
    campaign.resume(&mut &state[..], &mut executor).unwrap();
    let summary = campaign.run(&mut executor, &mut || false);
    assert_eq!(summary.counts.executions, whole.counts.executions);
    assert_eq!(summary.coverage, whole.coverage);
    assert_eq!(found(&summary), found(&whole));
}

/// An analysis that cannot be saved starts again, and claims only what it has repeated.
#[test]
fn an_analysis_that_cannot_be_saved_starts_again() {
    struct Three(u32);
    impl Analysis for Three {
        type Target = u32;
        fn initial_targets(&mut self) -> Vec<u32> {
            vec![0, 1, 2]
        }
        fn plan(&self, _: &u32) -> Plan {
            Plan::default()
        }
        fn new_targets(&mut self, _: &u32, _: &Execution) -> Vec<u32> {
            self.0 += 1;
            Vec::new()
        }
        fn guarantee(&self) -> Option<String> {
            Some(format!("{} executions", self.0))
        }
    }
    let program = Program::random(3, SMALL);
    let mut executor = ModelExecutor::new(program);
    let budget = Budget { points: Points::All, batch: 1, ..Budget::default() };
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(Portfolio::of(Three(0)), budget, &mut progress);
    assert!(campaign.advance(&mut executor, &mut || false).is_none());
    let mut state = Vec::new();
    campaign.save(&mut state).unwrap();
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(Portfolio::of(Three(0)), budget, &mut progress);
    campaign.resume(&mut &state[..], &mut executor).unwrap();
    let summary = campaign.run(&mut executor, &mut || false);
    assert_eq!(summary.counts.executions, 1 + 3, "the counts continue");
    assert!(summary.coverage.guarantee.starts_with("3 executions"), "{}", summary.coverage.guarantee);

    // The state of a campaign with other analyses is refused.
    let mut progress = |_: Progress| ();
    let walks = Technique::Auto.portfolio(&Options::default());
    let mut other = Campaign::new(walks, budget, &mut progress);
    assert!(matches!(other.resume(&mut &state[..], &mut executor), Err(Unusable::Other | Unusable::Damaged)));
}

/// The estimate of the remaining work has the right order of magnitude long before the end.
#[test]
fn estimates_have_the_right_order_of_magnitude() {
    let body = |variable: usize| {
        (0..4).flat_map(|_| [Op::Read(variable, 0), Op::Write(1 - variable, Value::RegPlus(0, 1))]).collect::<Vec<Op>>()
    };
    let program = Program::fork_join(vec![body(0), body(1)], vec![]);
    let options = Options { bound: 3, reduction: None, ..Options::default() };
    let mut estimates: Vec<(u64, u64)> = Vec::new();
    let mut stages: Vec<u64> = Vec::new();
    let mut progress = |progress: Progress| match progress {
        Progress::Execution { number, remaining: Some(remaining), .. } => estimates.push((number, remaining)),
        Progress::Stage { executions, .. } => stages.push(executions),
        _ => {}
    };
    let budget = Budget { points: Points::All, ..Budget::default() };
    let summary = Campaign::new(Technique::ContextBound.portfolio(&options), budget, &mut progress)
        .run(&mut ModelExecutor::new(program), &mut || false);
    assert!(summary.coverage.complete);
    let (begin, end) = (stages[2], stages[3]);
    let half = begin + (end - begin) / 2;
    let (_, guess) = estimates.iter().find(|(number, _)| *number == half).unwrap();
    let real = end - half;
    assert!((real / 2..=real * 2).contains(guess), "{guess} for {real}");
    assert_eq!(estimates.last(), Some(&(end, 0)));
}
