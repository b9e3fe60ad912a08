//! The cost of switching to another thread.

use super::Effort;
use crate::executions::{default_plan, once, start};
use crate::measure::{medians, native, on_one_processor, per_item};
use crate::programs::{Build, Programs, source};
use crate::table::{Goal, Row, Value};
use anyhow::{Result, ensure};
use std::process::Command;

/// Measures one switch, against a hand-off between two kernel threads.
pub fn rows(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let [plain, ours] =
        [programs.build(&source("switch"), Build::Plain)?, programs.build(&source("switch"), Build::Ours)?];
    let hand_off = || {
        per_item([1000, 1000 + effort.size(200_000)], |count| {
            // Between processors it costs more, depending on their other load.
            Ok(native(on_one_processor(Command::new(&plain).args(["futex", &count.to_string()])))?.cpu)
        })
    };
    let switches = [1000, 1000 + effort.size(1_000_000)];
    let mut few = start(&ours, &["yield", &switches[0].to_string()], 1)?;
    let mut many = start(&ours, &["yield", &switches[1].to_string()], 1)?;
    let mut switch = |detect| {
        per_item(switches, |count| {
            let processes = if count == switches[0] { &mut few } else { &mut many };
            let (execution, cpu) = once(processes, &default_plan(detect))?;
            let made = execution.switches().len() as u64;
            ensure!(made >= count, "{count} yields were only {made} switches");
            Ok(cpu)
        })
    };
    switch(true)?;
    let [hand_off, switch] = medians(effort.repeats, [&mut || hand_off(), &mut || switch(true)])?;
    Ok(vec![Row {
        peer: Some(Value::Seconds(hand_off)),
        ratio: Some(switch / hand_off),
        goal: Some((Goal::AtMost(Value::Seconds(25e-9)), switch)),
        notes: vec![
            "processor time of a sched_yield that switches, with its two log records; peer: two threads on one processor \
             hand a token over"
                .to_owned(),
        ],
        ..Row::new("one switch (peer: futex)", Value::Seconds(switch))
    }])
}
