//! How much slower a program is under RaceHunter, and under ThreadSanitizer.

use super::Effort;
use crate::executions::{default_plan, once, start};
use crate::measure::{medians, native};
use crate::programs::{Build, Programs, Source, source};
use crate::table::{Goal, Row, Value, thousands};
use anyhow::{Result, ensure};
use std::process::Command;

/// Measures a loop over mostly private memory. There is no goal for random keys: there, every tool waits for the same
/// memory.
pub fn hot(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let (source, iterations) = (source("hot"), effort.size(3_000_000).to_string());
    let arguments = |order| ["4", iterations.as_str(), order];
    let mut rows = measure(programs, effort, "hot loop, 4 threads", &source, &arguments("ordered"), Some(0.4))?;
    rows.extend(measure(programs, effort, "hot loop, 4 threads, random keys", &source, &arguments("random"), None)?);
    Ok(rows)
}

/// Measures a real library.
pub fn sqlite(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let rows = effort.size(25_000).max(1000).to_string();
    measure(programs, effort, "sqlite3, 3 threads", &programs.sqlite()?, &["3", &rows], Some(0.35))
}

fn measure(
    programs: &Programs,
    effort: Effort,
    name: &str,
    source: &Source,
    arguments: &[&str],
    goal: Option<f64>,
) -> Result<Vec<Row>> {
    let [plain, tsan] = [programs.build(source, Build::Plain)?, programs.build(source, Build::Tsan)?];
    let mut processes = start(&programs.build(source, Build::Ours)?, arguments, 1)?;
    let expected = native(Command::new(&plain).args(arguments))?.output;
    // The first execution shows how many threads to keep ready for the others.
    let (first, _) = once(&mut processes, &default_plan(true))?;
    ensure!(first.output == expected.as_bytes(), "{name}: under RaceHunter the program writes something else");

    let run = |program| -> Result<f64> {
        let run = native(Command::new(program).args(arguments))?;
        ensure!(run.output == expected, "{name}: {program:?} writes something else");
        Ok(run.cpu)
    };
    let processes = std::cell::RefCell::new(processes);
    let events = std::cell::RefCell::new(vec![first.events]);
    let execute = |detect| -> Result<f64> {
        let (execution, cpu) = once(&mut processes.borrow_mut(), &default_plan(detect))?;
        events.borrow_mut().push(execution.events);
        Ok(cpu)
    };
    let [plain, tsan, detecting, silent] = medians(
        effort.repeats,
        [&mut || run(&plain), &mut || run(&tsan), &mut || execute(true), &mut || execute(false)],
    )?;

    let events = events.into_inner();
    let same = events.iter().filter(|&&count| count == events[0]).count();
    let note = format!(
        "{} events in one execution, the same number in {same} of {} executions; slowdown {} with happens-before, {} \
         without, ThreadSanitizer {}",
        thousands(events[0]),
        events.len(),
        Value::Times(detecting / plain),
        Value::Times(silent / plain),
        Value::Times(tsan / plain),
    );
    let row = |what: &str, ours: f64| Row {
        plain: Some(Value::Seconds(plain)),
        peer: Some(Value::Seconds(tsan)),
        ratio: Some(ours / tsan),
        ..Row::new(format!("{name}{what}"), Value::Seconds(ours))
    };
    Ok(vec![
        Row {
            goal: goal.map(|goal| (Goal::AtMost(Value::Times(goal)), detecting / tsan)),
            notes: vec![note],
            ..row(", happens-before (peer: ThreadSanitizer)", detecting)
        },
        row(", detection off", silent),
    ])
}
