//! The race detector against the definition of a data race.
//!
//! Random scripts, which make `programs/script.c` do anything to a few bytes, run under random schedules with everything
//! logged. An [`oracle`] computes from the log which accesses race; the detector must have said the same. Then the same
//! schedule runs with nothing logged, where accesses take the detector's fast paths, and must give the same again.
//!
//! Unlike the other tests this one uses the crates behind the command. `RACEHUNTER_LONG=1` makes it run for minutes,
//! `RACEHUNTER_SEED` makes it begin elsewhere.

mod oracle;
mod script;

use oracle::{Access, Judgement, judge};
use racehunter_e2e::{Workshop, root, workshop::text};
use racehunter_explore::{Execution, Executor as _, Kind, Observe, Outcome, Plan, Record, Tail};
use racehunter_launch::{Limits, Processes, Program};
use script::{Random, Script, random_script};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

/// Schedules of a script.
const SCHEDULES: u64 = 3;

/// The program, ready to perform scripts.
struct Stage {
    _workshop: Workshop,
    script: PathBuf,
    processes: Processes,
}

/// What the scripts of a run did, to see that they are worth running.
#[derive(Default)]
struct Tally {
    executions: usize,
    with_race: usize,
    accesses: usize,
    races: usize,
}

impl Stage {
    fn new() -> Self {
        let workshop = Workshop::new();
        let (source, program) = (root().join("tests/programs/script.c"), workshop.path("program"));
        workshop.cc(["-O1", "-pthread", "-Wall", &text(&source), "-o", &text(&program)]).expect(0);
        let script = workshop.path("script");
        let program = Program { path: program, arguments: vec![script.clone().into()], input: None };
        let processes = Processes::start(program, Limits::default(), 1).expect("the program can be run");
        Self { _workshop: workshop, script, processes }
    }

    /// Performs a script under several schedules. An error tells how the detector was wrong.
    fn perform(&mut self, script: &Script, seed: u64, schedules: u64, tally: &mut Tally) -> Result<(), String> {
        fs::write(&self.script, script.file()).expect("the script can be written");
        let tail = |number| match number {
            0 => Tail::MinSwitches,
            _ => Tail::Random { seed: seed ^ number << 32 },
        };
        let everything = |number| Plan { observe: Observe::Everything, tail: tail(number), ..Plan::default() };
        let plans: Vec<Plan> = (0..schedules).map(everything).collect();
        let logged = self.processes.run(&plans).expect("the program runs");
        let replays: Vec<Plan> = logged.iter().map(|execution| Plan::replay(execution.switches())).collect();
        let replayed = self.processes.run(&replays).expect("the program runs");
        for (logged, replayed) in logged.iter().zip(&replayed) {
            if !matches!(logged.outcome, Outcome::Exited(0) | Outcome::Deadlock) {
                return Err(format!("it ended with {:?}", logged.outcome));
            }
            if (logged.events, &logged.outcome) != (replayed.events, &replayed.outcome) {
                let (was, is) = ((logged.events, &logged.outcome), (replayed.events, &replayed.outcome));
                return Err(format!("events and outcome were {was:?}, and are {is:?} when only points are logged"));
            }
            let judgement = judge(logged);
            tally.executions += 1;
            tally.with_race += usize::from(!judgement.races.is_empty());
            tally.accesses += judgement.accesses.len();
            tally.races += judgement.races.len();
            compare(&judgement, logged).map_err(|error| format!("everything logged: {error}"))?;
            compare(&judgement, replayed).map_err(|error| format!("only points logged: {error}"))?;
        }
        Ok(())
    }

    /// A small script that fails as this one does.
    fn shrink(&mut self, mut script: Script, seed: u64, mut error: String) -> (Script, String) {
        // A shorter script needs another schedule.
        const TRIES: u64 = 60;
        loop {
            let found = script.smaller().find_map(|smaller| {
                let failed = self.perform(&smaller, seed, TRIES, &mut Tally::default()).err()?;
                Some((smaller, failed))
            });
            match found {
                Some(smaller) => (script, error) = smaller,
                None => return (script, error),
            }
        }
    }
}

/// A race as the detector logs it.
struct Report {
    first: Record,
    second: Record,
}

fn reports(execution: &Execution) -> Vec<Report> {
    let pairs = execution.records.windows(2);
    pairs
        .filter(|pair| pair[0].kind == Kind::RaceFirst)
        .map(|pair| {
            assert_eq!(pair[1].kind, Kind::RaceSecond, "a pair of records");
            Report { first: pair[0], second: pair[1] }
        })
        .collect()
}

/// What the detector remembers of the kind of an earlier access.
fn remembered(kind: Kind) -> Kind {
    match kind {
        Kind::ReadRange => Kind::Read,
        Kind::WriteRange => Kind::Write,
        Kind::AtomicUpdate => Kind::AtomicWrite,
        kind => kind,
    }
}

/// Compares what the detector said with what is the case.
fn compare(judgement: &Judgement, execution: &Execution) -> Result<(), String> {
    let accesses = &judgement.accesses;
    let reports = reports(execution);
    for report in &reports {
        is_a_race(judgement, report)?;
    }
    let first = judgement.races.first().map(|racing| accesses[racing.second]);
    let reported = reports.first().map(|report| report.second.index);
    if first.map(|access| access.index) != reported {
        let with = judgement.races.first().map(|racing| accesses[racing.firsts[0].1]);
        return Err(format!("the first race is {first:?} with {with:?}, but event {reported:?} was reported"));
    }
    // A pair of places is reported once, and an access to a byte that had a race before need not be.
    let pair = |a: u64, b: u64| (a.min(b), a.max(b));
    let mut bytes: HashSet<u64> = HashSet::new();
    for racing in &judgement.races {
        let second = &accesses[racing.second];
        let new: Vec<(u64, usize)> = racing.firsts.iter().filter(|(byte, _)| !bytes.contains(byte)).copied().collect();
        bytes.extend(racing.firsts.iter().map(|(byte, _)| byte));
        let reported = reports.iter().any(|report| report.second.index == second.index);
        let is_free = |access: &Access| access.kind == Kind::Free;
        let repeated = || {
            new.iter().map(|&(_, first)| &accesses[first]).any(|first| {
                let places = pair(first.code, second.code);
                is_free(first)
                    || is_free(second)
                    || reports.iter().any(|report| {
                        report.second.index < second.index && pair(report.first.code, report.second.code) == places
                    })
            })
        };
        if !new.is_empty() && !reported && !repeated() {
            let first = accesses[new[0].1];
            return Err(format!("the race of {second:?} with {first:?} at {:#x} was not reported", new[0].0));
        }
    }
    Ok(())
}

/// Fails unless the reported accesses exist and race.
fn is_a_race(judgement: &Judgement, Report { first, second }: &Report) -> Result<(), String> {
    let byte = second.object;
    let fits = |access: &Access, record: &Record, kind: Kind| {
        access.thread == record.thread
            && access.touches(byte)
            && kind as u8 == record.detail
            && (access.kind == Kind::Free || access.code == record.code)
    };
    let wrong = |what: &str| Err(format!("{what}: {first:?}\n  {second:?}"));
    let is_second =
        |access: &Access| access.index == second.index && access.kind as u8 == second.detail && access.touches(byte);
    let Some(at) = judgement.accesses.iter().position(is_second) else {
        return wrong("the second access of a report does not exist");
    };
    let access = &judgement.accesses[at];
    if !fits(access, second, access.kind) {
        return wrong("the second access of a report is not as it is told");
    }
    let Some(racing) = judgement.races.iter().find(|racing| racing.second == at) else {
        return wrong("a race was reported, but the second access races with nothing");
    };
    let is_first = |&(at, index): &(u64, usize)| {
        let access = &judgement.accesses[index];
        at == byte && fits(access, first, remembered(access.kind))
    };
    if racing.firsts.iter().any(is_first) { Ok(()) } else { wrong("the second access does not race with the first") }
}

#[test]
fn the_detector_reports_what_races() {
    let scripts = if std::env::var_os("RACEHUNTER_LONG").is_some() { 40_000 } else { 1_500 };
    let begin = std::env::var("RACEHUNTER_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut stage = Stage::new();
    let mut tally = Tally::default();
    for seed in begin..begin + scripts {
        let script = random_script(&mut Random(seed));
        if let Err(error) = stage.perform(&script, seed, SCHEDULES, &mut tally) {
            let (script, error) = stage.shrink(script, seed, error);
            panic!("seed {seed}: {error}\n{script}");
        }
    }
    let Tally { executions, with_race, accesses, races } = tally;
    println!("{executions} executions, {with_race} with a race; {accesses} accesses, {races} that race");
    // Neither kind of execution may be so rare that nothing is tested.
    assert!(with_race > executions / 4 && with_race < executions * 3 / 4, "{with_race} of {executions} have a race");
}
