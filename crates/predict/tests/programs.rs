//! From programs to predictions: what is predicted from one execution of a random program, some other execution shows,
//! and the one that follows the witness is among them.
//!
//! `RACEHUNTER_ORACLE_PROGRAMS` sets how many programs are taken.

use racehunter_explore::model::{ModelExecutor, Program, Shape, schedules};
use racehunter_explore::{Bug, Execution, Observe, Plan, Tail};
use racehunter_predict::{Effort, Index, Kind, Options, Policy, Prediction, predict};
use racehunter_trace::recording::{Recording, code_of};
use racehunter_trace::{EventId, Trace};
use std::collections::HashSet;

fn programs() -> u64 {
    std::env::var("RACEHUNTER_ORACLE_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(120)
}

/// The places in the code of some events: that is what sites are named by.
fn codes(trace: &Trace, events: &[EventId]) -> Vec<u64> {
    let code = |&event: &EventId| code_of(&trace.sites()[trace.site(event) as usize]).unwrap();
    let mut codes: Vec<u64> = events.iter().map(code).collect();
    codes.sort_unstable();
    codes
}

fn is_shown(trace: &Trace, prediction: &Prediction, bugs: &HashSet<Bug>) -> bool {
    let codes = codes(trace, &prediction.events);
    match prediction.kind {
        Kind::Race => bugs.contains(&Bug::Race(codes[0], codes[1])),
        Kind::Deadlock => bugs.iter().any(|bug| match bug {
            Bug::Deadlock(places) => codes.iter().all(|code| places.contains(code)),
            _ => false,
        }),
        Kind::Atomicity => false,
    }
}

/// Carries out the witness of a prediction, and then what it leads to.
fn replay(executor: &mut ModelExecutor, recording: &Recording, prediction: &Prediction) -> Execution {
    // Those who are about to acquire locks of each other come to it by themselves.
    let then = if prediction.kind == Kind::Race { &prediction.events[..] } else { &[] };
    let schedule = recording.schedule(prediction.witness.events(), then);
    executor.run_one(&Plan { observe: Observe::Everything, ..Plan::replay(schedule.switches) })
}

#[test]
fn predictions_from_one_execution_are_shown_by_another() {
    let (mut races, mut deadlocks, mut new) = (0, 0, 0);
    for seed in 0..programs() {
        let shape = Shape { threads: 2 + (seed % 2) as usize, statements: 2, timing: seed % 3 == 0 };
        let program = Program::random(seed, shape);
        let points: HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(paths) = schedules(&program, &points, 5_000) else { continue };
        let bugs: HashSet<Bug> = paths.into_iter().flat_map(|path| path.bugs).collect();
        let mut executor = ModelExecutor::new(program);
        executor.add_all_points();
        for tail in [Tail::MinSwitches, Tail::random(seed), Tail::random(seed + 1)] {
            let plan = Plan { tail, observe: Observe::Everything, ..Plan::default() };
            let execution = executor.run_one(&plan);
            let recording = Recording::of(&execution.records).unwrap();
            let trace = &recording.trace;
            let index = Index::new(trace).unwrap_or_else(|error| panic!("program {seed}: {error}"));
            let options = Options {
                policy: Policy::M2,
                effort: Effort::exhaustive(),
                attempts: usize::MAX,
                every_pair: true,
                ..Options::default()
            };
            let seen: HashSet<Bug> = execution.bugs().into_iter().collect();
            for prediction in predict(&index, &options, &|| false).predictions {
                assert!(
                    is_shown(trace, &prediction, &bugs),
                    "program {seed}, {tail:?}: {prediction:?}\n{bugs:?}\n{:#?}",
                    executor.program()
                );
                let shown = replay(&mut executor, &recording, &prediction);
                assert!(
                    is_shown(trace, &prediction, &shown.bugs().into_iter().collect()),
                    "program {seed}, {tail:?}: {prediction:?}\n{shown:#?}"
                );
                races += usize::from(prediction.kind == Kind::Race);
                deadlocks += usize::from(prediction.kind == Kind::Deadlock);
                new += usize::from(!is_shown(trace, &prediction, &seen));
            }
        }
    }
    println!("{races} races and {deadlocks} deadlocks, {new} of them not seen by the execution itself");
    assert!(races > 0 && deadlocks > 0 && new > 0, "{races} {deadlocks} {new}");
}
