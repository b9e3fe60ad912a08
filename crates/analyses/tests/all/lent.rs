//! Campaigns whose targets other campaigns explore: they come to what one campaign comes to, whatever the order in which
//! parts come back, and however large they are.

use crate::common::{Recorder, SIGNALS, SMALL, TIMED, WIDER, bugs_of, config, ends_of, found};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, Options, Reduction, Technique};
use racehunter_explore::model::{ModelExecutor, Program, order, schedules};
use racehunter_explore::{Budget, Campaign, Points, Progress, Share, Stop, Summary};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A part on its way.
struct Lent {
    number: u64,
    state: Vec<u8>,
}

/// What came of a hunt on many machines.
struct Fleet {
    summary: Summary,
    /// How often each order of events was run, by the parts and by the campaign itself, since the last restart.
    orders: BTreeMap<Vec<u32>, u32>,
    ends: BTreeSet<(String, Vec<u8>)>,
    parts: u64,
    restarts: u64,
}

fn next(random: u64) -> u64 {
    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Runs a campaign alone for some batches, then lends all of it, in parts that come back in an order that `random` draws. If
/// parts are called back, they end after a random number of executions, also within a batch.
fn lend_all(
    program: &Program,
    (technique, options): (Technique, &Options),
    budget: Budget,
    (alone, runs, of): (usize, u64, usize),
    (mut random, called_back): (u64, bool),
) -> Fleet {
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(technique.portfolio(options), budget, &mut progress);
    assert!(campaign.lends());
    let mut own = Recorder::new(ModelExecutor::new(program.clone()));
    let (mut parts, mut restarts) = (0, 0);
    let mut recorded = Vec::new();
    let mut stop = None;
    for _ in 0..alone {
        stop = stop.or_else(|| campaign.advance(&mut own, &mut || false));
    }
    let mut lent: Vec<Lent> = Vec::new();
    while stop.is_none() {
        stop = campaign.settle(&mut || false);
        if stop.is_some() {
            break;
        }
        while lent.len() < of && campaign.waiting_to_claim() > 0 {
            let share = Share { number: parts, of: of - lent.len(), most: 3 };
            lent.push(Lent { number: parts, state: campaign.lend(share).unwrap() });
            parts += 1;
        }
        random = next(random);
        let Lent { number, state } = lent.swap_remove((random >> 33) as usize % lent.len());
        // Another machine, which knows nothing but the part.
        let mut executor = Recorder::new(ModelExecutor::new(program.clone()));
        let mut silent = |_: Progress| ();
        let mut part = Campaign::new(technique.portfolio(options), Budget { runs: Some(runs), ..budget }, &mut silent);
        part.borrow(&state).unwrap();
        part.use_points(&mut executor);
        let mut calls = random;
        let mut is_called = || {
            calls = next(calls);
            called_back && (calls >> 33).is_multiple_of(4)
        };
        while part.advance(&mut executor, &mut is_called).is_none() {}
        let mut result = Vec::new();
        part.save(&mut result).unwrap();
        let restarted = part.has_restarted();
        let mut silent = |_: Progress| ();
        let fresh = || technique.portfolio(options);
        let scratch = Campaign::new(fresh(), budget, &mut silent);
        let returned = campaign.take_back((number, runs), scratch, (&result, restarted), &mut own).unwrap();
        recorded.append(&mut executor.runs);
        if returned.restarted {
            restarts += 1;
            lent.clear();
            recorded.clear();
            own.runs.clear();
        }
        // The same result a second time is refused, and changes nothing.
        let mut silent = |_: Progress| ();
        let scratch = Campaign::new(fresh(), budget, &mut silent);
        assert!(campaign.take_back((number, runs), scratch, (&result, restarted), &mut own).is_err());
    }
    recorded.append(&mut own.runs);
    let mut orders: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut ends = BTreeSet::new();
    for (_, execution) in &recorded {
        *orders.entry(order(execution)).or_default() += 1;
        ends.insert((format!("{:?}", execution.outcome), execution.output.clone()));
    }
    let summary = campaign.summary(stop.unwrap_or(Stop::Asked));
    Fleet { summary, orders, ends, parts, restarts }
}

proptest! {
    #![proptest_config(config(120))]

    /// Without reduction each schedule within the bound is run once, by one part or by the campaign itself. With it, the
    /// ends and bugs are those of all schedules. The claim is that of one campaign.
    #[test]
    fn parts_that_are_lent_cover_the_whole_once(
        seed: u64,
        random: u64,
        shape in 0_usize..4,
        alone in 1_usize..4,
        runs in 3_u64..20,
        of in 1_usize..6,
        (bound, dfs, switches, caching, called_back) in any::<(u32, bool, bool, bool, bool)>(),
    ) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER, SIGNALS][shape]);
        let points: HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(all) = schedules(&program, &points, 400) else {
            return Err(TestCaseError::reject("too many schedules"));
        };
        let bound_kind = if switches { BoundKind::Switches } else { BoundKind::Preemptions };
        let bound = if dfs { u32::MAX } else { bound % 4 };
        let technique = if dfs { Technique::Dfs } else { Technique::ContextBound };
        let reduction = caching.then_some(Reduction::Caching);
        let options = Options { bound, bound_kind, reduction, ..Options::default() };
        let budget = Budget { points: Points::All, ..Budget::default() };
        let fleet = lend_all(&program, (technique, &options), budget, (alone, runs, of), (random, called_back));
        let mut executor = ModelExecutor::new(program.clone());
        let one = Campaign::new(technique.portfolio(&options), budget, &mut |_| ()).run(&mut executor, &mut || false);
        let counts = |path: &&racehunter_explore::model::Path| {
            bound >= if switches { path.switch_cost } else { path.preemption_cost }
        };
        let within: Vec<_> = all.iter().filter(counts).collect();
        prop_assert_eq!(fleet.summary.coverage.complete, one.coverage.complete);
        // A part does not know what others have explored, so with caching it may come up against the bound where one campaign
        // does not: then it claims the bound, and not all schedules.
        let bounds = |summary: &Summary| summary.claims.iter().map(|claim| claim.bound).collect::<Vec<_>>();
        let claims_everything = |summary: &Summary| summary.claims.iter().any(|claim| claim.everything);
        prop_assert!(!claims_everything(&fleet.summary) || claims_everything(&one));
        prop_assert!(bounds(&fleet.summary).starts_with(&bounds(&one)));
        prop_assert!(found(&fleet.summary).is_superset(&bugs_of(within.iter().copied())));
        prop_assert!(fleet.ends.is_superset(&ends_of(within.iter().copied())));
        if reduction.is_none() {
            prop_assert_eq!(fleet.summary.counts.executions, one.counts.executions);
            prop_assert_eq!(&fleet.summary.claims, &one.claims);
            prop_assert_eq!(found(&fleet.summary), found(&one));
            for path in &within {
                let times = fleet.orders.get(&path.order).copied().unwrap_or(0);
                // A part that is called back does not count the executions of its batch that it has not looked at.
                prop_assert!(times == 1 || called_back && times > 1, "{} times: {:?}", times, path);
            }
        }
    }

    /// Where points are found on the way, the search starts again with all of them, and then runs as many executions as one
    /// campaign does since its points last grew.
    #[test]
    fn points_that_parts_find_start_the_search_again(
        seed: u64,
        random: u64,
        shape in 0_usize..3,
        alone in 1_usize..3,
        runs in 3_u64..20,
        of in 1_usize..6,
        (variables, called_back, bound) in (any::<bool>(), any::<bool>(), 0_u32..3),
    ) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER][shape]);
        let technique = if variables { Technique::VariableBound } else { Technique::ContextBound };
        let options = Options { bound, reduction: None, ..Options::default() };
        let budget = Budget { points: Points::Shared, ..Budget::default() };
        let mut executor = ModelExecutor::new(program.clone());
        let capped = Budget { runs: Some(3_000), ..budget };
        let one = Campaign::new(technique.portfolio(&options), capped, &mut |_| ()).run(&mut executor, &mut || false);
        if !matches!(one.stop, Stop::Exhausted) {
            return Err(TestCaseError::reject("too many schedules"));
        }
        let fleet = lend_all(&program, (technique, &options), budget, (alone, runs, of), (random, called_back));
        prop_assert_eq!(&fleet.summary.claims, &one.claims);
        prop_assert_eq!(fleet.summary.coverage.complete, one.coverage.complete);
        prop_assert_eq!(found(&fleet.summary), found(&one));
        if fleet.summary.sites == one.sites {
            let grew = u64::from(fleet.restarts > 0 || one.counts.growths > 0);
            if grew == 0 {
                prop_assert_eq!(fleet.summary.counts.executions, one.counts.executions, "{} parts", fleet.parts);
            } else {
                prop_assert_eq!(fleet.summary.counts.stable_for, one.counts.stable_for, "{} parts", fleet.parts);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// Whatever a worker hands in: it is refused and changes nothing, or it is taken and the campaign continues. The checksum is
    /// right, as an attacker would have it.
    #[test]
    fn a_result_that_is_damaged_does_no_harm(
        seed: u64,
        technique in 0..Technique::NAMES.len(),
        edits in prop::collection::vec(any::<(usize, u8)>(), 1..4),
        cut in prop::option::of(any::<usize>()),
        restarted: bool,
    ) {
        let technique = Technique::NAMES[technique].1;
        let options = Options::default();
        let budget = Budget { runs: Some(200), max_events: 1_000, ..Budget::default() };
        let mut progress = |_: Progress| ();
        let mut campaign = Campaign::new(technique.portfolio(&options), budget, &mut progress);
        if !campaign.lends() {
            return Ok(());
        }
        let mut executor = ModelExecutor::new(Program::random(seed, SMALL));
        for _ in 0..3 {
            let _: Option<Stop> = campaign.advance(&mut executor, &mut || false);
        }
        let state = campaign.lend(Share { number: 7, of: 2, most: 100 }).unwrap();
        let mut silent = |_: Progress| ();
        let mut part = Campaign::new(technique.portfolio(&options), Budget { runs: Some(9), ..budget }, &mut silent);
        part.borrow(&state).unwrap();
        part.use_points(&mut executor);
        while part.advance(&mut executor, &mut || false).is_none() {}
        let mut bytes = Vec::new();
        part.save(&mut bytes).unwrap();
        let content = bytes.len() - 4;
        for (at, bits) in edits {
            bytes[at % content] ^= bits;
        }
        if let Some(length) = cut {
            bytes.truncate(length % content + 4);
        }
        let content = bytes.len() - 4;
        let sum = crc32fast::hash(&bytes[..content]);
        bytes[content..].copy_from_slice(&sum.to_le_bytes());
        let saved = |campaign: &Campaign<'_>| {
            let mut bytes = Vec::new();
            campaign.save(&mut bytes).unwrap();
            bytes
        };
        let before = saved(&campaign);
        let mut silent = |_: Progress| ();
        let scratch = Campaign::new(technique.portfolio(&options), budget, &mut silent);
        if campaign.take_back((7, 9), scratch, (&bytes, restarted), &mut executor).is_err() {
            prop_assert_eq!(saved(&campaign), before);
            prop_assert_eq!(campaign.lent(), 1);
            return Ok(());
        }
        prop_assert!(campaign.executions() <= 200 + 9);
        if campaign.settle(&mut || false).is_none() {
            let state = campaign.lend(Share { number: 8, of: 1, most: 100 }).unwrap();
            let mut silent = |_: Progress| ();
            let mut part = Campaign::new(technique.portfolio(&options), budget, &mut silent);
            part.borrow(&state).unwrap();
        }
        let _: Summary = campaign.summary(Stop::Asked);
    }
}

#[test]
fn a_part_that_returns_more_than_it_was_given_is_refused() {
    let program = Program::random(5, WIDER);
    let technique = Technique::ContextBound;
    let options = Options { reduction: None, ..Options::default() };
    let budget = Budget { points: Points::All, ..Budget::default() };
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(technique.portfolio(&options), budget, &mut progress);
    let mut executor = ModelExecutor::new(program);
    while campaign.waiting_to_claim() < 4 {
        assert!(campaign.advance(&mut executor, &mut || false).is_none());
    }
    let before = campaign.executions();
    let state = campaign.lend(Share { number: 7, of: 2, most: 100 }).unwrap();
    let fresh = || technique.portfolio(&options);
    let mut silent = |_: Progress| ();
    let mut part = Campaign::new(fresh(), Budget { runs: Some(5), ..budget }, &mut silent);
    part.borrow(&state).unwrap();
    while part.advance(&mut executor, &mut || false).is_none() {}
    let mut result = Vec::new();
    part.save(&mut result).unwrap();
    let mut take = |number, most, bytes: &[u8]| {
        let mut silent = |_: Progress| ();
        let scratch = Campaign::new(fresh(), budget, &mut silent);
        campaign.take_back((number, most), scratch, (bytes, false), &mut executor)
    };
    assert!(take(7, 2, &result).is_err(), "more executions than granted");
    assert!(take(8, 5, &result).is_err(), "a part that was not lent");
    assert!(take(7, 5, &result[..result.len() - 1]).is_err(), "damaged");
    assert_eq!(take(7, 5, &result).map(|returned| returned.executions).ok(), Some(5));
    assert_eq!(campaign.executions(), before + 5);
}
