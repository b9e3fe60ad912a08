//! Campaigns: budgets, honest claims about what was not explored, and reproducible results.

use crate::common::{Recorder, SIGNALS, SMALL, TIMED, WIDER, config, found, hunt, listing_1};
use proptest::prelude::*;
use racehunter_analyses::{BoundKind, Options, Reduction, Strategy, Technique, UnknownWord};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value, schedules};
use racehunter_explore::{
    Budget, Bug, Campaign, Execution, Executor, ExecutorError, Flow, Found, Observe, OnBug, Outcome, Plan, Points,
    Progress, Stop, Style, Summary, Tail, Watcher,
};
use racehunter_log::EventNumber;

fn all_points() -> Budget {
    Budget { points: Points::All, ..Budget::default() }
}

fn run(executor: &mut dyn Executor, technique: Technique, options: &Options, budget: Budget) -> Summary {
    Campaign::new(technique.portfolio(options), budget, &mut |_| ()).run(executor, &mut || false)
}

/// An executor that injects a fault.
struct Faulty<F: FnMut(u64, &Plan, &mut Execution)> {
    inner: ModelExecutor,
    runs: u64,
    fails_after: u64,
    fault: F,
}

impl<F: FnMut(u64, &Plan, &mut Execution)> Faulty<F> {
    fn new(program: Program, fault: F) -> Self {
        Self { inner: ModelExecutor::new(program), runs: 0, fails_after: u64::MAX, fault }
    }
}

impl<F: FnMut(u64, &Plan, &mut Execution)> Executor for Faulty<F> {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        let mut executions = self.inner.run(plans)?;
        for (plan, execution) in plans.iter().zip(&mut executions) {
            self.runs += 1;
            (self.fault)(self.runs, plan, execution);
        }
        if self.runs > self.fails_after {
            return Err(ExecutorError("the server is gone".to_owned()));
        }
        Ok(executions)
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.inner.add_points(sites)
    }
}

/// An executor that passes each execution on before it runs the next.
struct OneByOne(ModelExecutor);

impl Executor for OneByOne {
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError> {
        self.0.run(plans)
    }

    fn run_each(
        &mut self,
        plans: &[Plan],
        each: &mut dyn FnMut(&Execution) -> Flow,
    ) -> Result<Vec<Execution>, ExecutorError> {
        for (number, plan) in plans.iter().enumerate() {
            match each(&self.0.run(std::slice::from_ref(plan))?[0]) {
                Flow::Next => {}
                // One plan was already running; the others are not started.
                Flow::Pause => return self.0.run(plans.get(number + 1..number + 2).unwrap_or_default()),
                Flow::Stop => break,
            }
        }
        Ok(Vec::new())
    }

    fn add_points(&mut self, sites: &[u32]) -> usize {
        self.0.add_points(sites)
    }
}

/// Two threads increment a variable without a lock; an assertion checks that no increment is lost.
fn lost_update() -> Program {
    let add = vec![Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1))];
    Program::fork_join(vec![add.clone(), add], vec![Op::Read(0, 0), Op::Assert(0, 2)])
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn a_repeated_campaign_gives_the_same_result(seed: u64, shape in 0_usize..4, technique in 0_usize..4, lazy: bool) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER, SIGNALS][shape]);
        let technique = Technique::NAMES[technique].1;
        let once = || {
            let executor = if lazy { ModelExecutor::lazy(program.clone()) } else { ModelExecutor::new(program.clone()) };
            let budget = Budget { runs: Some(200), ..Budget::default() };
            let hunt = hunt(executor, technique, &Options { seed, ..Options::default() }, budget);
            let bugs: Vec<_> =
                hunt.summary.found.iter().map(|f| (f.bug.clone(), f.execution, f.switches.clone())).collect();
            (hunt.orders, hunt.stages, hunt.summary.counts, hunt.summary.coverage, bugs)
        };
        prop_assert_eq!(once(), once());
    }

    /// Taking in executions one by one gives the same result as taking in whole batches.
    #[test]
    fn taking_in_executions_one_by_one_or_in_batches_gives_the_same_result(seed: u64, shape in 0_usize..4, technique in 0_usize..4, first: bool) {
        let program = Program::random(seed, [SMALL, TIMED, WIDER, SIGNALS][shape]);
        let technique = Technique::NAMES[technique].1;
        let with = |executor: &mut dyn Executor| {
            let budget = Budget { runs: Some(200), stop_on_first: first, ..Budget::default() };
            let summary = run(executor, technique, &Options { seed, ..Options::default() }, budget);
            let bugs: Vec<_> = summary.found.iter().map(|f| (f.bug.clone(), f.execution, f.switches.clone())).collect();
            (summary.counts, summary.coverage, bugs)
        };
        let whole = with(&mut ModelExecutor::new(program.clone()));
        prop_assert_eq!(with(&mut OneByOne(ModelExecutor::new(program))), whole);
    }

    /// The explored set does not depend on how many targets are taken at once. With reduction, only what the executions show is
    /// the same: which of several equivalent schedules is run depends on which comes first.
    #[test]
    fn the_batch_size_does_not_change_the_explored_set(seed: u64, batch in 1_usize..50) {
        let program = Program::random(seed, SMALL);
        let with = |batch: usize, reduction: Option<Reduction>| {
            let options = Options { bound: 1, reduction, ..Options::default() };
            let budget = Budget { batch, runs: Some(20_000), ..all_points() };
            let hunt = hunt(ModelExecutor::new(program.clone()), Technique::ContextBound, &options, budget);
            let mut orders = hunt.orders;
            orders.sort();
            ((orders, hunt.stages), (hunt.ends, found(&hunt.summary)))
        };
        prop_assert_eq!(with(1, None), with(batch, None));
        for kind in [Reduction::Caching, Reduction::Dynamic] {
            prop_assert_eq!(with(1, Some(kind)).1, with(batch, Some(kind)).1);
        }
    }
}

#[test]
fn a_lost_update_needs_one_preemption() {
    let mut executor = ModelExecutor::new(lost_update());
    let summary = run(&mut executor, Technique::ContextBound, &Options::default(), Budget::default());
    let assertion = summary.found.iter().find(|found| matches!(found.bug, Bug::Assertion(..))).unwrap();
    assert_eq!(assertion.preemptions, 1);
    let race = summary.found.iter().find(|found| matches!(found.bug, Bug::Race(..))).unwrap();
    assert_eq!((race.execution, race.preemptions), (1, 0), "happens-before detects it without a preemption");
    assert!(summary.coverage.complete);
    assert_eq!(summary.coverage.threads, 3);
    assert_eq!(summary.coverage.assumes.len(), 5, "{:?}", summary.coverage.assumes);
    assert!(summary.coverage.left_out > 0 && summary.coverage.assumes[4].to_string().contains("different objects"));
    assert_eq!(summary.coverage.missed, Vec::<String>::new());
}

#[test]
fn runs_are_counted_and_limited() {
    let mut executor = ModelExecutor::new(lost_update());
    let budget = Budget { runs: Some(7), ..all_points() };
    let summary = run(&mut executor, Technique::ContextBound, &Options::default(), budget);
    assert!(matches!(summary.stop, Stop::Runs));
    assert_eq!((summary.counts.executions, executor.runs), (7, 7));
    assert!(!summary.coverage.complete);
    assert_eq!(summary.coverage.guarantee, "all schedules with <= 0 preemptions over 12 points");
    assert!(summary.coverage.missed.iter().any(|line| line.contains("still waiting")), "{:?}", summary.coverage.missed);
}

#[test]
fn nothing_is_claimed_before_the_first_bound_is_finished() {
    let mut executor = ModelExecutor::new(lost_update());
    let budget = Budget { runs: Some(1), ..all_points() };
    let summary = run(&mut executor, Technique::ContextBound, &Options::default(), budget);
    assert!(!summary.coverage.complete);
    assert!(!summary.coverage.guarantee.contains("all"), "{}", summary.coverage.guarantee);
}

#[test]
fn a_campaign_stops_on_request_and_at_the_first_bug() {
    let harmless = Program::fork_join(vec![vec![Op::AtomicAdd(0, 1, 0); 3]; 2], vec![]);
    let mut executor = ModelExecutor::new(harmless);
    let mut asked = 0;
    let summary = Campaign::new(Technique::Random.portfolio(&Options::default()), all_points(), &mut |_| ()).run(
        &mut executor,
        &mut || {
            asked += 1;
            asked > 3
        },
    );
    assert!(matches!(summary.stop, Stop::Asked));
    // Three batches, which are small at first. Only the first execution of the last batch counts: the campaign asks before each
    // further one, because learning from an execution takes time too.
    assert_eq!(summary.counts.executions, 1 + 1 + 1);

    let mut executor = ModelExecutor::new(lost_update());
    let budget = Budget { stop_on_first: true, ..all_points() };
    let summary = run(&mut executor, Technique::ContextBound, &Options::default(), budget);
    assert!(matches!(summary.stop, Stop::FirstBug));
    assert_eq!(summary.found.len(), summary.found.iter().filter(|found| found.execution == 1).count());
    assert!(!summary.coverage.complete);
}

#[test]
fn a_diverged_plan_is_retried_and_reported() {
    // The fifth execution diverges once; the retry succeeds.
    let mut flaky = Faulty::new(lost_update(), |number, _, execution| {
        if number == 5 {
            execution.outcome = Outcome::Diverged(EventNumber(3));
        }
    });
    let exact = run(&mut ModelExecutor::new(lost_update()), Technique::ContextBound, &Options::default(), all_points());
    let summary = run(&mut flaky, Technique::ContextBound, &Options::default(), all_points());
    assert_eq!((summary.counts.diverged, summary.counts.given_up), (1, 0));
    assert_eq!(summary.counts.executions, exact.counts.executions + 1);
    assert_eq!(found(&summary), found(&exact));
    assert!(!summary.coverage.complete, "a program that diverges is not under control");
    assert!(exact.coverage.complete);

    // Every plan with exactly one switch, at event 3, always diverges.
    let mut broken = Faulty::new(lost_update(), |_, plan: &Plan, execution: &mut Execution| {
        if plan.switches.len() == 1 && plan.switches[0].at == EventNumber(3) {
            execution.outcome = Outcome::Diverged(EventNumber(3));
        }
    });
    let summary = run(&mut broken, Technique::ContextBound, &Options::default(), all_points());
    assert!(summary.counts.given_up > 0);
    assert_eq!(summary.counts.diverged, 3 * summary.counts.given_up);
    assert!(!summary.coverage.complete);
    assert!(summary.coverage.missed.iter().any(|line| line.contains("given up")), "{:?}", summary.coverage.missed);
}

#[test]
fn incomplete_executions_are_reported() {
    type Fault = fn(&mut Execution);
    let faults: [(Fault, &str); 3] = [
        (|execution| execution.outcome = Outcome::Limit("time".to_owned()), "stopped by a limit"),
        (|execution| execution.outcome = Outcome::Lost("killed".to_owned()), "killed from outside"),
        (|execution| execution.partial = true, "not wholly under control"),
    ];
    for (fault, words) in faults {
        let mut executor = Faulty::new(lost_update(), |number, _, execution| {
            if number == 3 {
                fault(execution);
            }
        });
        let summary = run(&mut executor, Technique::ContextBound, &Options::default(), all_points());
        assert!(!summary.coverage.complete, "{words}");
        assert!(summary.coverage.missed.iter().any(|line| line.contains(words)), "{:?}", summary.coverage.missed);
        assert!(matches!(summary.stop, Stop::Exhausted));
    }
}

#[test]
fn findings_survive_a_broken_executor() {
    let mut executor = Faulty::new(lost_update(), |_, _, _| ());
    executor.fails_after = 20;
    let summary = run(&mut executor, Technique::Random, &Options::default(), Budget { batch: 4, ..all_points() });
    assert!(matches!(&summary.stop, Stop::Failed(ExecutorError(why)) if why == "the server is gone"));
    assert_eq!(summary.counts.executions, 20);
    assert!(!summary.found.is_empty());
    assert!(summary.coverage.missed.iter().any(|line| line.contains("the server is gone")));
}

/// Thread 2 accesses the variable only after it has seen the flag, which thread 1 sets late.
#[test]
fn points_discovered_late_restart_the_search() {
    let setter = vec![Op::AtomicWrite(1, Value::Const(1)), Op::Write(0, Value::Const(1))];
    let looker = vec![Op::AtomicRead(1, 0), Op::JumpIf(0, 1, 3), Op::JumpIf(0, 0, 4), Op::Write(0, Value::Const(2))];
    // `main` starts the reader of the flag first, so the schedule without preemptions sees no sharing.
    let program = Program::fork_join(vec![looker, setter], vec![]);
    let mut recorder = Recorder::new(ModelExecutor::new(program.clone()));
    let mut added = Vec::new();
    let options = Options { bound: 1, ..Options::default() };
    let summary = Campaign::new(Technique::ContextBound.portfolio(&options), Budget::default(), &mut |progress| {
        if let Progress::Points { added: more } = progress {
            added.push(more);
        }
    })
    .run(&mut recorder, &mut || false);
    assert_eq!(added, [2]);
    assert_eq!((summary.counts.monitors, summary.counts.growths), (2, 1));
    let first = &recorder.runs[0].0;
    assert_eq!((first.observe, &first.switches), (Observe::Everything, &Vec::new()), "the first run");
    let monitors = recorder.runs.iter().filter(|(plan, _)| plan.observe == Observe::Everything).count();
    assert_eq!(summary.counts.executions as usize, recorder.runs.len() - monitors);
    let all = schedules(&program, recorder.inner.points(), 10_000).unwrap();
    let within = all.iter().filter(|path| path.preemption_cost <= 1).count() as u64;
    assert_eq!(summary.counts.stable_for, within);
    assert!(summary.counts.executions > within);
    assert!(summary.coverage.complete);
    assert!(matches!(summary.found[..], [ref found] if matches!(found.bug, Bug::Race(..))));
}

/// One thread spins until the other has set the flag.
fn spin() -> Program {
    let wait = vec![Op::AtomicRead(0, 0), Op::JumpIf(0, 0, 0)];
    Program::fork_join(vec![wait, vec![Op::AtomicWrite(0, Value::Const(1))]], vec![])
}

#[test]
fn a_fair_strategy_escapes_a_spinning_loop() {
    let mut executor = ModelExecutor::new(spin());
    let options = Options { bound: 1, strategy: Strategy::Fair(10), ..Options::default() };
    let summary = run(&mut executor, Technique::ContextBound, &options, Budget::default());
    assert!(matches!(summary.stop, Stop::Exhausted));
    assert_eq!(summary.counts.limited, 0);
    assert!(summary.coverage.complete);
    assert!(summary.coverage.guarantee.starts_with("all schedules with <= 1 preemption"), "{:?}", summary.coverage);
}

/// A loop that waits by sleeping or yielding has infinitely many schedules, but finitely many within each bound.
#[test]
fn polling_is_explored_within_a_bound() {
    for pause in [Op::Yield, Op::Sleep(1)] {
        let wait = vec![Op::AtomicRead(0, 0), Op::JumpIf(0, 1, 4), pause, Op::JumpIf(3, 0, 0)];
        let program = Program::fork_join(vec![wait, vec![Op::AtomicWrite(0, Value::Const(1))]], vec![]);
        for bound_kind in [BoundKind::Preemptions, BoundKind::Switches] {
            let options = Options { bound: 2, bound_kind, ..Options::default() };
            let budget = Budget { runs: Some(20_000), ..Budget::default() };
            let summary = run(&mut ModelExecutor::lazy(program.clone()), Technique::ContextBound, &options, budget);
            assert!(matches!(summary.stop, Stop::Exhausted), "{bound_kind:?} {:?}", summary.counts);
            assert!(summary.coverage.complete);
        }
    }
}

#[test]
fn auto_ends_when_every_schedule_was_run_or_the_budget_is_used_up() {
    let options = Options { bound: 5, ..Options::default() };
    let summary = run(&mut ModelExecutor::new(listing_1()), Technique::Auto, &options, all_points());
    assert!(matches!(summary.stop, Stop::Exhausted));
    assert!(summary.coverage.complete);
    assert!(summary.coverage.guarantee.starts_with("all schedules over"), "{}", summary.coverage.guarantee);

    let options = Options { bound: 1, ..Options::default() };
    let budget = Budget { runs: Some(2_000), ..all_points() };
    let summary = run(&mut ModelExecutor::new(lost_update()), Technique::Auto, &options, budget);
    assert!(matches!(summary.stop, Stop::Runs));
    assert_eq!(summary.counts.executions, 2_000);
    assert!(summary.coverage.complete, "the requested bound is 1");
    assert!(summary.coverage.guarantee.starts_with("all schedules with <= 1 preemption over"));
}

#[test]
fn auto_shares_its_executions() {
    let program = Program::fork_join(vec![vec![Op::AtomicAdd(0, 1, 0); 6]; 3], vec![]);
    let mut recorder = Recorder::new(ModelExecutor::new(program));
    let budget = Budget { runs: Some(3_000), ..all_points() };
    run(&mut recorder, Technique::Auto, &Options { bound: 3, ..Options::default() }, budget);
    let share = |style: fn(&Style) -> bool| {
        recorder.runs.iter().filter(|(plan, _)| matches!(&plan.tail, Tail::Walk { style: s, .. } if style(s))).count()
    };
    // A quarter each, except at the beginning, when untried constraints come first; a fifth each from 1,000 on, when coverage
    // takes part.
    let (guided, pct) = (share(|style| *style == Style::Guided), share(|style| matches!(style, Style::Pct { .. })));
    let uniform = share(|style| *style == Style::Uniform);
    let covering = share(|style| *style == Style::Pos);
    assert!((600..=750).contains(&guided), "{guided}");
    assert!((580..=680).contains(&pct) && (580..=680).contains(&uniform), "{pct}, {uniform}");
    assert!((370..=430).contains(&covering), "{covering}");
}

#[test]
fn findings_not_examined_in_time_are_counted_and_found_again() {
    // One execution shows several races; the time is up after the first was reported.
    let body = vec![Op::Write(0, Value::Const(1)), Op::Write(1, Value::Const(1)), Op::Write(2, Value::Const(1))];
    let program = Program::fork_join(vec![body.clone(), body], vec![]);
    let portfolio = || Technique::ContextBound.portfolio(&Options::default());
    let told = std::cell::Cell::new(0);
    let mut on_bug = OnBug(|_: &Found, _: &mut dyn Executor| told.set(told.get() + 1));
    let mut executor = ModelExecutor::new(program.clone());
    let mut campaign = Campaign::new(portfolio(), all_points(), &mut on_bug);
    let stop = loop {
        if let Some(stop) = campaign.advance(&mut executor, &mut || told.get() > 0) {
            break stop;
        }
    };
    let summary = campaign.summary(stop);
    assert!(matches!(summary.stop, Stop::Asked));
    assert_eq!((told.get(), summary.found.len()), (1, 1));
    assert!(summary.coverage.missed.iter().any(|line| line.contains("2 findings seen and not looked into")));
    let stop = loop {
        if let Some(stop) = campaign.advance(&mut executor, &mut || false) {
            break stop;
        }
    };
    assert_eq!(campaign.summary(stop).found.len(), 3);
    assert_eq!(told.get(), 3);
}

/// The schedule that showed a bug may not come again.
#[test]
fn findings_not_examined_in_time_are_not_lost() {
    let body = vec![Op::Write(0, Value::Const(1)), Op::Write(1, Value::Const(1)), Op::Write(2, Value::Const(1))];
    let program = Program::fork_join(vec![body.clone(), body], vec![]);
    let portfolio = || Technique::ContextBound.portfolio(&Options::default());
    let budget = Budget { runs: Some(1), ..all_points() };
    let told = std::cell::Cell::new(0);
    let mut on_bug = OnBug(|_: &Found, _: &mut dyn Executor| told.set(told.get() + 1));
    let mut state = Vec::new();
    {
        let mut executor = ModelExecutor::new(program.clone());
        let mut campaign = Campaign::new(portfolio(), budget, &mut on_bug);
        while campaign.advance(&mut executor, &mut || told.get() > 0).is_none() {}
        campaign.save(&mut state).unwrap();
    }
    assert_eq!(told.get(), 1);
    let mut executor = ModelExecutor::new(program);
    let mut campaign = Campaign::new(portfolio(), budget, &mut on_bug);
    campaign.resume(&mut &state[..], &mut executor).unwrap();
    let summary = campaign.run(&mut executor, &mut || false);
    assert_eq!((summary.counts.executions, summary.found.len(), summary.unreported), (1, 3, 0));
    assert_eq!(told.get(), 3);
}

/// Has time for a number of executions.
struct Busy(usize);

impl Watcher for Busy {
    fn progress(&mut self, _: Progress) {}

    fn bug(&mut self, _: &Found, _: &mut dyn Executor) {}

    fn has_time_for(&mut self, _: usize) -> bool {
        let has_time = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        has_time
    }
}

/// An execution that there is no time to learn from is not counted, and its target waits. If it failed, that is reported.
#[test]
fn failures_that_there_was_no_time_for_are_told() {
    let until_stopped = |program: Program, executions: usize| {
        let mut busy = Busy(executions);
        let campaign = Campaign::new(Technique::Dfs.portfolio(&Options::default()), all_points(), &mut busy);
        campaign.run(&mut ModelExecutor::new(program), &mut || false)
    };
    let fails = Program::fork_join(vec![vec![Op::Write(0, Value::Const(1))]], vec![Op::Read(0, 0), Op::Assert(0, 2)]);
    let summary = until_stopped(fails.clone(), 0);
    assert!(matches!(summary.stop, Stop::Asked) && !summary.coverage.complete);
    assert_eq!((summary.counts.executions, summary.found.len(), summary.unreported), (0, 0, 1));
    let passes = Program::fork_join(vec![vec![Op::Write(0, Value::Const(1))]], vec![Op::Read(0, 0), Op::Assert(0, 1)]);
    assert_eq!(until_stopped(passes, 0).unreported, 0);
    let summary = until_stopped(fails, 1);
    assert_eq!((summary.counts.executions, summary.found.len(), summary.unreported), (1, 1, 0), "it is known by then");
}

#[test]
fn random_walks_differ_and_claim_nothing() {
    let mut recorder = Recorder::new(ModelExecutor::new(lost_update()));
    let budget = Budget { runs: Some(300), ..all_points() };
    let summary = run(&mut recorder, Technique::Random, &Options::default(), budget);
    assert!(matches!(summary.stop, Stop::Runs));
    assert!(!summary.coverage.complete);
    let all = schedules(&lost_update(), &lost_update().access_sites().into_iter().collect(), 10_000).unwrap();
    let orders: std::collections::BTreeSet<_> =
        recorder.runs.iter().map(|(_, execution)| racehunter_explore::model::order(execution)).collect();
    assert!(orders.len() > 60, "{} of {}", orders.len(), all.len());
    assert!(summary.found.iter().any(|found| matches!(found.bug, Bug::Assertion(..))));
}

#[test]
fn option_values_are_parsed_and_errors_list_the_valid_ones() {
    for (name, technique) in Technique::NAMES {
        assert_eq!(name.parse(), Ok(technique));
    }
    assert_eq!("fair=20".parse(), Ok(Strategy::Fair(20)));
    assert_eq!("min-switches".parse(), Ok(Strategy::MinSwitches));
    assert_eq!("random".parse(), Ok(Strategy::Random));
    assert_eq!("switches".parse(), Ok(BoundKind::Switches));
    let error: UnknownWord = "fair=0".parse::<Strategy>().unwrap_err();
    assert_eq!(error.to_string(), "`fair=0` is not one of random, min-switches, fair=N (N > 0)");
    assert!("fair=".parse::<Strategy>().is_err());
    assert!("luck".parse::<Technique>().is_err());
    assert!("luck".parse::<BoundKind>().is_err());
}
