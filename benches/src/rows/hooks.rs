//! The cost of each kind of operation.

use super::Effort;
use crate::executions::{default_plan, once, start};
use crate::measure::{medians, native, per_item};
use crate::programs::{Build, Programs, source};
use crate::table::{Row, Value};
use anyhow::Result;
use std::process::Command;

/// Argument of `programs/hooks.c`, what it measures, and the number of repetitions natively and under RaceHunter, where
/// a point leaves a record in the log.
const OPERATIONS: [(&str, &str, [u64; 2]); 6] = [
    ("read", "a read", [50_000_000, 50_000_000]),
    ("write", "a write", [50_000_000, 50_000_000]),
    ("call", "a call with a write in it", [50_000_000, 50_000_000]),
    ("load", "an atomic load", [5_000_000, 1_000_000]),
    ("add", "an atomic addition", [5_000_000, 1_000_000]),
    ("lock", "a mutex, locked and unlocked", [5_000_000, 1_000_000]),
];

/// Measures one row per operation, with the detector on; the time is that of one iteration of the loop around it.
pub fn rows(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let source = source("hooks");
    let [plain, tsan, ours] = [Build::Plain, Build::Tsan, Build::Ours].map(|build| programs.build(&source, build));
    let (plain, tsan, ours) = (plain?, tsan?, ours?);
    let measure = |&(operation, name, counts): &(&'static str, &'static str, [u64; 2])| -> Result<Row> {
        let [natively, counts] = counts.map(|count| [1000, 1000 + effort.size(count)]);
        let native = |program| {
            per_item(natively, |count| Ok(native(Command::new(program).args([operation, &count.to_string()]))?.cpu))
        };
        let [mut few, mut many] = [
            start(&ours, &[operation, &counts[0].to_string()], 1)?,
            start(&ours, &[operation, &counts[1].to_string()], 1)?,
        ];
        let mut hooked = |detect| {
            per_item(counts, |count| {
                let processes = if count == counts[0] { &mut few } else { &mut many };
                Ok(once(processes, &default_plan(detect))?.1)
            })
        };
        hooked(true)?;
        let [plain, tsan, detecting] =
            medians(effort.repeats, [&mut || native(&plain), &mut || native(&tsan), &mut || hooked(true)])?;
        Ok(Row {
            plain: Some(Value::Seconds(plain)),
            peer: Some(Value::Seconds(tsan)),
            ratio: Some(detecting / tsan),
            ..Row::new(format!("{name} (peer: ThreadSanitizer)"), Value::Seconds(detecting))
        })
    };
    OPERATIONS.iter().map(measure).collect()
}
