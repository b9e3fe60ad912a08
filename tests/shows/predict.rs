//! `cargo xtask bench predict --real [NAME...]`: recordings of real programs, and what is predicted from them.
//!
//! For each program: one execution with few switches; its number of events and their size; races and time by policy;
//! the share of the time that went into following the code; and what `racehunter predict` shows on the program, and on
//! the one with a planted bug.

use crate::table::{Align, Table, thousands};
use racehunter_e2e::real::{Build, Real, named};
use racehunter_e2e::{Workshop, racehunter, run};
use racehunter_explore::{Observe, Outcome, Plan, Tail};
use racehunter_flow::Follower;
use racehunter_launch::{Limits, Processes, Program};
use racehunter_log::Record;
use racehunter_predict::{Index, Options, Policy, predict};
use racehunter_trace::recording::{Converter, LogReader, LogWriter, PlainNames, Survey};
use racehunter_trace::{Trace, file};
use std::time::{Duration, Instant};

/// Prints the table of the named programs, or of all.
pub fn show(names: &[&str]) -> Result<bool, String> {
    let programs = named(names)?;
    let table = Table::new([
        ("program", 8, Align::Left),
        ("threads", 0, Align::Right),
        ("events", 11, Align::Right),
        ("bytes/event", 0, Align::Right),
        ("recorded", 8, Align::Right),
        ("m2", 10, Align::Right),
        ("seqcheck", 10, Align::Right),
        ("nre", 10, Align::Right),
        ("following", 0, Align::Right),
        ("shown", 24, Align::Left),
        ("with a planted bug", 24, Align::Left),
    ]);
    println!("{}", table.heading());
    for real in programs {
        let recorded = record(real)?;
        let mut predicted = Vec::new();
        let mut total = recorded.plain + recorded.following;
        for policy in Policy::ALL {
            let began = Instant::now();
            let index = Index::new(&recorded.trace).map_err(|error| error.to_string())?;
            let options = Options { policy, ..Options::default() };
            let report = predict(&index, &options, &|| began.elapsed() > LONGEST);
            let missed = report.unfinished.len();
            let missed = if missed > 0 { format!("+{missed}?") } else { String::new() };
            predicted.push(format!("{}{missed} {:.1}s", report.predictions.len(), began.elapsed().as_secs_f64()));
            if policy == Policy::Nre {
                total += began.elapsed();
            }
        }
        let [m2, seqcheck, nre] = [&predicted[0], &predicted[1], &predicted[2]].map(Clone::clone);
        println!(
            "{}",
            table.row([
                real.name.to_owned(),
                recorded.trace.threads().len().to_string(),
                thousands(recorded.trace.len() as u64),
                format!("{:.2}", recorded.bytes as f64 / recorded.trace.len().max(1) as f64),
                format!("{:.1}s", (recorded.plain + recorded.following).as_secs_f64()),
                m2,
                seqcheck,
                nre,
                format!("{:.0} %", 100.0 * recorded.following.as_secs_f64() / total.as_secs_f64()),
                tried(real, Build::Ours)?,
                tried(real, Build::Planted)?,
            ])
        );
    }
    Ok(true)
}

/// How often a trace is written, with and without following the code.
const REPEATS: usize = 3;

/// Time for the predictions under one policy.
const LONGEST: Duration = Duration::from_secs(120);

/// A recording of one execution.
pub struct Recorded {
    pub trace: Trace,
    /// Size of the trace in a file.
    pub bytes: usize,
    /// Time of running the program and writing the trace, without the next field.
    pub plain: Duration,
    /// Time of following the code.
    pub following: Duration,
}

/// Returns the arguments of a program: sqlite3 gets a third thread.
fn arguments(real: &Real) -> Vec<&str> {
    if real.name == "sqlite3" { vec!["3", "12"] } else { real.arguments.to_vec() }
}

fn record(real: &Real) -> Result<Recorded, String> {
    let arguments = arguments(real).into_iter().map(Into::into).collect();
    let program = Program { path: real.build(Build::Ours), arguments, input: None, client: None, libraries: None };
    recorded(program, Tail::MinSwitches).map_err(|error| format!("{}: {error}", real.name))
}

/// Records one execution of a program, with or without its code.
pub fn recorded(program: Program, tail: Tail) -> Result<Recorded, String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let modules = racehunter_ir::read_numbered_program(&program.path).map_err(|error| failed(&error))?;
    let has_client = program.client.is_some();
    let limits = Limits { time: Duration::from_secs(300), ..Limits::default() };
    let mut processes = Processes::start(program, limits, 1).map_err(|error| failed(&error))?;
    let began = Instant::now();
    let plan = Plan {
        tail,
        observe: Observe::Code,
        allocations: true,
        detect_races: false,
        max_events: 50_000_000,
        ..Plan::default()
    };
    let (mut log, mut stored) = (LogWriter::new(Vec::new()), Ok(()));
    let mut first = Survey::default();
    let take = &mut |records: &[Record]| {
        first.add(records);
        if stored.is_ok() {
            stored = log.add(records);
        }
    };
    let execution = processes.record(&plan, take).map_err(|error| failed(&error))?;
    if let Outcome::Limit(_) | Outcome::Lost(_) = &execution.outcome {
        return Err(format!("the execution did not come to its end: {:?}", execution.outcome));
    }
    let ran = began.elapsed();
    let (log, _) = stored.and_then(|()| log.finish()).map_err(|error| failed(&error))?;
    type Done = Result<(), racehunter_trace::Error>;
    let each = |visit: &mut dyn FnMut(&[Record]) -> Done| -> Done {
        let (mut reader, mut records) = (LogReader::new(log.as_slice()), Vec::new());
        loop {
            reader.next_piece(&mut records)?;
            if records.is_empty() {
                return Ok(());
            }
            visit(&records)?;
        }
    };
    let survey = || {
        let mut survey = Survey::default();
        each(&mut |records| {
            survey.add(records);
            Ok(())
        })?;
        Ok::<_, racehunter_trace::Error>(survey.finish())
    };
    let convert = |layout, follower: Option<&mut Follower>| {
        let began = Instant::now();
        let writer = file::Writer::new(Vec::new(), follower.is_some(), follower.is_some())?;
        let mut converter = Converter::new(layout, &PlainNames, writer)?;
        if let Some(follower) = follower {
            converter = converter.knowing(follower);
        }
        if has_client {
            converter = converter.with_client();
        }
        each(&mut |records| converter.add(records))?;
        Ok::<_, racehunter_trace::Error>((converter.finish().finish()?, began.elapsed()))
    };
    // Measure short work several times: other load only makes it longer, never shorter.
    let (mut plain, mut all) = (Duration::MAX, Duration::MAX);
    let mut bytes = Vec::new();
    for _ in 0..REPEATS {
        let without = survey().and_then(|layout| convert(layout, None)).map_err(|error| failed(&error))?;
        plain = plain.min(without.1);
        let mut follower = Follower::new(modules.clone());
        let with = survey().and_then(|layout| convert(layout, Some(&mut follower)));
        let (written, took) = with.map_err(|error| failed(&error))?;
        (bytes, all) = (written, all.min(took));
    }
    let size = bytes.len();
    let trace = file::Reader::new(bytes).and_then(|reader| reader.read()).map_err(|error| failed(&error))?;
    Ok(Recorded { trace, bytes: size, plain: ran + plain, following: all.saturating_sub(plain) })
}

/// Returns the command's result for the program.
fn tried(real: &Real, build: Build) -> Result<String, String> {
    let workshop = Workshop::new();
    let out = workshop.path("predictions");
    let mut command = racehunter(["predict", "--message-format", "json", "--time", "120s", "--out"]);
    let ended = run(command.arg(&out).arg(real.build(build)).arg("--").args(arguments(real)));
    let summary = ended.stdout.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let summary = summary.filter(|line| line["reason"] == "summary").ok_or(ended.stderr)?;
    Ok(format!("{} findings, {} not shown", summary["findings"], summary["unconfirmed"].as_u64().unwrap_or(0)))
}
