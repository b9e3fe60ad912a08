//! The race detector against the definition of a data race, and of a use after free.
//!
//! Random scripts make `programs/script.c` do anything to a few bytes, under random schedules with everything logged. An
//! [`oracle`] computes from the log which accesses race; the detector must agree. Then the same schedule runs with
//! nothing logged, where accesses take the detector's fast paths, and must give the same result.
//!
//! Unlike the other tests, this one uses the crates behind the command. `RACEHUNTER_LONG=1` makes it run for minutes,
//! `RACEHUNTER_SEED` changes where it starts.

mod oracle;
mod script;

use oracle::{Access, Judgement, judge};
use racehunter_abi::{EventNumber, Kind, UNMODELLED_FUNCTION, UNMODELLED_SEQUENCE};
use racehunter_e2e::{Workshop, root, workshop::text};
use racehunter_explore::{Execution, Executor as _, Observe, Outcome, Plan, Record, Style, Tail};
use racehunter_launch::{Limits, Processes, Program};
use script::{Random, Script, random_script};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

/// Number of schedules per script.
const SCHEDULES: u64 = 3;

/// The program, ready to perform scripts.
struct Stage {
    _workshop: Workshop,
    script: PathBuf,
    processes: Processes,
}

/// Statistics of the scripts of a run, to check that they are worth running.
#[derive(Default)]
struct Tally {
    executions: usize,
    with_race: usize,
    accesses: usize,
    races: usize,
    /// Accesses to freed blocks, and blocks that were freed twice.
    late: usize,
    freed_twice: usize,
}

impl Stage {
    fn new() -> Self {
        let workshop = Workshop::new();
        let (source, program) = (root().join("tests/programs/script.c"), workshop.path("program"));
        workshop.cc(["-O1", "-pthread", "-Wall", &text(&source), "-o", &text(&program)]).expect(0);
        let script = workshop.path("script");
        let program = Program {
            path: program,
            arguments: vec![script.clone().into()],
            input: None,
            client: None,
            libraries: None,
        };
        let processes = Processes::start(program, Limits::default(), 1).expect("the program can be run");
        let mut stage = Self { _workshop: workshop, script, processes };
        // The number of threads kept ready affects the addresses of blocks; from here on it is constant.
        let all: Script = "+1 +2 +3 +4 +5\n\n\n\n\n\n".parse().expect("a script");
        stage.perform(&all, 0, 1, &mut Tally::default()).expect("no access, no race");
        stage
    }

    /// Performs a script under several schedules. An error says how the detector was wrong.
    fn perform(&mut self, script: &Script, seed: u64, schedules: u64, tally: &mut Tally) -> Result<(), String> {
        fs::write(&self.script, script.file()).expect("the script can be written");
        let tail = |number| match number {
            0 => Tail::MinSwitches,
            _ => Tail::Walk { style: Style::Even, seed: seed ^ number << 32 },
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
            let is_free = |access: usize| judgement.accesses[access].kind == Kind::Free;
            let late = || judgement.races.iter().filter(|racing| is_free(racing.firsts[0].1));
            tally.late += late().count();
            tally.freed_twice += late().filter(|racing| is_free(racing.second)).count();
            compare(&judgement, logged).map_err(|error| format!("everything logged: {error}"))?;
            compare(&judgement, replayed).map_err(|error| format!("only points logged: {error}"))?;
        }
        Ok(())
    }

    /// Returns a small script that fails in the same way.
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

/// Returns the kind of an earlier access as the detector remembers it.
fn remembered(kind: Kind) -> Kind {
    match kind {
        Kind::ReadRange => Kind::Read,
        Kind::WriteRange => Kind::Write,
        Kind::AtomicUpdate => Kind::AtomicWrite,
        kind => kind,
    }
}

/// Compares the reports of the detector with the truth.
fn compare(judgement: &Judgement, execution: &Execution) -> Result<(), String> {
    let accesses = &judgement.accesses;
    let reports = reports(execution);
    for report in &reports {
        is_a_race(judgement, report)?;
    }
    let is_noted = execution
        .records
        .iter()
        .any(|record| record.kind == Kind::Escape && record.object == UNMODELLED_FUNCTION + UNMODELLED_SEQUENCE);
    if is_noted != judgement.ends_parts {
        return Err(format!("a sequence ends in part: {}, but noted: {is_noted}", judgement.ends_parts));
    }
    if is_noted {
        return Ok(());
    }
    let first = judgement.races.first().map(|racing| accesses[racing.second]);
    let reported = reports.first().map(|report| report.second.index.0);
    if first.map(|access| access.index) != reported {
        let with = judgement.races.first().map(|racing| accesses[racing.firsts[0].1]);
        return Err(format!("the first race is {first:?} with {with:?}, but event {reported:?} was reported"));
    }
    // A pair of places is reported once, and an access to a byte that already had a race need not be.
    let mut bytes: HashSet<u64> = HashSet::new();
    for racing in &judgement.races {
        let second = &accesses[racing.second];
        let is_free = |access: &Access| access.kind == Kind::Free;
        // Freed memory stays freed, whatever happens to it.
        let is_new = |&&(byte, first): &&(u64, usize)| !bytes.contains(&byte) || is_free(&accesses[first]);
        let new: Vec<(u64, usize)> = racing.firsts.iter().filter(is_new).copied().collect();
        bytes.extend(racing.firsts.iter().map(|(byte, _)| byte));
        let reported = reports.iter().any(|report| report.second.index == EventNumber(second.index));
        // The log does not have the place of an allocation or a `free`, but there is only one for each path to it.
        let is_there = |access: &Access, record: &Record| match access.code {
            0 => record.detail == remembered(access.kind) as u8,
            _ => judgement.is_at(access, record.code.0),
        };
        let repeated = || {
            new.iter().map(|&(_, first)| &accesses[first]).any(|first| {
                let same = |a: &Record, b: &Record| is_there(first, a) && is_there(second, b);
                let earlier = reports.iter().filter(|report| report.second.index < EventNumber(second.index));
                let mut same_places = earlier.filter(|Report { first: a, second: b }| same(a, b) || same(b, a));
                same_places.next().is_some()
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
        access.thread == record.thread.0
            && access.touches(byte)
            && kind as u8 == record.detail
            && (access.code == 0 || judgement.is_at(access, record.code.0))
    };
    let wrong = |what: &str| Err(format!("{what}: {first:?}\n  {second:?}"));
    let is_second =
        |access: &Access| access.index == second.index.0 && access.kind as u8 == second.detail && access.touches(byte);
    let Some(at) = judgement.accesses.iter().position(is_second) else {
        return wrong("the second access of a report does not exist");
    };
    let access = &judgement.accesses[at];
    if !fits(access, second, access.kind) {
        return wrong("the second access of a report is not as reported");
    }
    let Some(racing) = judgement.races.iter().find(|racing| racing.second == at) else {
        return wrong("a race was reported, but the second access races with nothing");
    };
    let is_first = |&(at, index): &(u64, usize)| {
        let access = &judgement.accesses[index];
        at == byte && fits(access, first, remembered(access.kind))
    };
    if racing.firsts.iter().any(is_first) {
        return Ok(());
    }
    let firsts: HashSet<usize> = racing.firsts.iter().map(|&(_, first)| first).collect();
    let firsts: Vec<&Access> = firsts.iter().map(|&first| &judgement.accesses[first]).collect();
    wrong(&format!("the second access races with {firsts:?}, but not with the first"))
}

/// Small scripts on which the detector once was wrong, or could easily be: a line per thread.
const SPECIAL: &[&str] = &[
    // An acquire happens after what it acquires, also as an access.
    "+1 r1@0.3/1 u4@0.0:release -1
     u4@0.0:acq_rel",
    // A thread that leaves a barrier is not ordered after later rounds.
    "+2 +1 B0 c7@0.3
     B0 B0
     B0 w4@0.0/1 B0",
    // The end of an earlier block does not count, not even beyond the size that the program requests.
    "m0? +1 F0 Z0 m0? r4@0.8/0 -1
     F0",
    // Neither does what was released through an atomic in it.
    "m0 +1 +2 -1 -2
     w1@0.0/0 a1@1.1:release F0 Z0
     r1@0.15/0 m0 l1@1.1:acquire r1@0.0/0",
    "m0 +1 +2 -1 -2
     w1@0.0/0 a2@1.2:release F0 Z0
     r1@0.15/0 m0 l2@1.2:acquire r1@0.0/0",
    // Any use of a freed block is too late, in any form, and even by the thread that freed it.
    "m0 w4@1.0/0 F0 r1@3.2/0 w8@3.0/0 l4@3.4:acquire c9@3.1 D0",
    "m0 m1 +1 -1 r4@3.0/0 F1 w2@4.2/1 Z0 m0 r4@1.0/0
     L2 F0 U2",
    "m0 +1 +2 -1 -2
     L2 F0 D0 U2
     L2 D0 u4@3.0:relaxed F0 U2",
];

#[test]
fn the_detector_reports_exactly_the_races_of_special_scripts() {
    const TRIES: u64 = 100;
    let mut stage = Stage::new();
    for text in SPECIAL {
        let script: Script = text.parse().expect("a script");
        if let Err(error) = stage.perform(&script, 0, TRIES, &mut Tally::default()) {
            panic!("{error}\n{script}");
        }
    }
}

#[test]
fn the_detector_reports_exactly_the_races_of_random_scripts() {
    let times = std::env::var("RACEHUNTER_ORACLE_CASES").map_or(1, |text| text.parse().expect("a number"));
    let scripts = if std::env::var_os("RACEHUNTER_LONG").is_some() { 40_000 } else { 300 * times };
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
    let Tally { executions, with_race, accesses, races, late, freed_twice } = tally;
    println!("{executions} executions, {with_race} with a race; {accesses} accesses, {races} that race");
    println!("{late} accesses to freed blocks, {freed_twice} of which free them again");
    assert!(late > executions / 20 && freed_twice > executions / 60, "{late} accesses too late, {freed_twice} frees");
    // Neither kind of execution may be so rare that nothing is tested.
    assert!(with_race > executions / 4 && with_race < executions * 3 / 4, "{with_race} of {executions} have a race");
}
