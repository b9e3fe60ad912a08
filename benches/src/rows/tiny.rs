//! The smallest executions: the fixed cost of one.

use super::Effort;
use crate::executions::{random_plans, run, start, whole_cpu};
use crate::measure::{median, medians, native, own_cpu, per_item};
use crate::programs::{Build, Programs, source};
use crate::table::{Goal, Row, Value};
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Number of plans in a request.
const BATCH: u64 = 128;

/// Returns the processor time of one execution, including server, process and controller.
fn execution(program: &Path, batches: [u64; 2], loops: bool) -> Result<f64> {
    let batch = per_item(batches, |batches| {
        whole_cpu(|| {
            let mut processes = start(program, &[], 1)?;
            for first in (0..batches).map(|batch| batch * BATCH) {
                run(&mut processes, &random_plans(first..first + BATCH))?;
            }
            ensure!(processes.loops() == loops, "the program does not run as a loop, or does although it should not");
            Ok(processes)
        })
    })?;
    Ok(batch / BATCH as f64)
}

/// Returns the shares of the controller and of the executions' processes, without the first batch. The share of a
/// looping process is not known while it runs.
fn parts(program: &Path, repeats: usize) -> Result<[f64; 2]> {
    let mut processes = start(program, &[], 1)?;
    run(&mut processes, &random_plans(0..BATCH))?;
    let (mut controller, mut children) = (Vec::new(), Vec::new());
    for _ in 0..4 * repeats {
        let before = own_cpu();
        run(&mut processes, &random_plans(0..BATCH))?;
        controller.push((own_cpu() - before) / BATCH as f64);
        children.push(processes.last_cpu().iter().map(Duration::as_secs_f64).sum::<f64>() / BATCH as f64);
    }
    Ok([median(&controller), median(&children)])
}

/// Measures many executions in one process, as in loom and Shuttle.
#[cfg(feature = "peers")]
pub fn in_process(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    use crate::{peers, table::thousands};
    let mut source = source("tiny");
    source.flags.push("-DTINY_LOOP".to_owned());
    let program = programs.build(&source, Build::Ours)?;
    // Each peer uses its best mode: its time for one execution.
    let peer = |explore: fn(usize) -> u64| -> Result<f64> {
        let before = own_cpu();
        let mut executions = 0;
        while executions < effort.size(50_000) {
            executions += explore(effort.size(50_000) as usize);
        }
        Ok((own_cpu() - before) / executions as f64)
    };
    let [loom, random, exhaustive, ours] = medians(
        effort.repeats,
        [
            &mut || peer(|_| peers::loom()),
            &mut || peer(peers::shuttle_random),
            &mut || peer(peers::shuttle_exhaustive),
            &mut || execution(&program, [2, 2 + effort.size(500)], true),
        ],
    )?;
    let [controller, _] = parts(&program, effort.repeats)?;
    let faster = loom.min(random).min(exhaustive);
    let note = format!(
        "executions per processor second, happens-before on, random walks; loom {} ({} schedules each time), Shuttle {} \
         random, {} exhaustive; one of ours takes {}, of which {} in the controller",
        Value::PerSecond(1.0 / loom),
        thousands(peers::loom()),
        Value::PerSecond(1.0 / random),
        Value::PerSecond(1.0 / exhaustive),
        Value::Seconds(ours),
        Value::Seconds(controller),
    );
    let ratio = faster / ours;
    Ok(vec![Row {
        peer: Some(Value::PerSecond(1.0 / faster)),
        ratio: Some(ratio),
        goal: Some((Goal::AtLeast(Value::Times(10.0)), ratio)),
        notes: vec![note],
        ..Row::new("tiny execution, in-process loop (peer: loom or Shuttle)", Value::PerSecond(1.0 / ours))
    }])
}

/// Measures executions in separate processes.
pub fn fork_server(programs: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let [plain, ours] = [programs.build(&source("tiny"), Build::Plain)?, programs.build(&source("tiny"), Build::Ours)?];
    let fork = programs.build(&source("fork"), Build::Plain)?;
    let children = |mode: &str, program: Option<&Path>| {
        per_item([100, 100 + effort.size(2000)], |count| {
            Ok(native(Command::new(&fork).args([mode, &count.to_string()]).args(program))?.cpu)
        })
    };
    let [bare, executed, execution] = medians(
        effort.repeats,
        [&mut || children("bare", None), &mut || children("exec", Some(&plain)), &mut || {
            execution(&ours, [2, 2 + effort.size(50)], false)
        }],
    )?;
    let [controller, child] = parts(&ours, effort.repeats)?;
    let note = format!(
        "processor time of everything: {} in the child, {} in the controller, the rest in the server; plain: a fork and \
         a wait, and no more; peer: fork and exec of the plain program",
        Value::Seconds(child),
        Value::Seconds(controller),
    );
    Ok(vec![Row {
        plain: Some(Value::Seconds(bare)),
        peer: Some(Value::Seconds(executed)),
        ratio: Some(execution / executed),
        goal: Some((Goal::AtMost(Value::Seconds(120e-6)), execution)),
        notes: vec![note],
        ..Row::new("tiny execution, fork server (peer: fork + exec)", Value::Seconds(execution))
    }])
}
