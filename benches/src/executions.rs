//! Programs under RaceHunter.

use crate::measure::tree_cpu;
use anyhow::{Result, bail};
use racehunter_explore::{Execution, Executor as _, Outcome, Plan, Tail};
use racehunter_launch::{Limits, Processes, Program};
use std::path::Path;
use std::time::Duration;

/// Starts a program in this many fork servers.
pub fn start(program: &Path, arguments: &[&str], jobs: usize) -> Result<Processes> {
    let arguments = arguments.iter().map(Into::into).collect();
    let program = Program { path: program.to_path_buf(), arguments, input: None, client: None, libraries: None };
    // Generous, so that other load on the machine does not end an execution.
    let limits = Limits { time: Duration::from_secs(300), ..Limits::default() };
    Ok(Processes::start(program, limits, jobs)?)
}

/// Returns the default schedule, with the happens-before detector on or off.
pub fn default_plan(detect_races: bool) -> Plan {
    Plan { detect_races, ..Plan::default() }
}

/// Returns random walks with these seeds.
pub fn random_plans(seeds: std::ops::Range<u64>) -> Vec<Plan> {
    seeds.map(|seed| Plan { tail: Tail::random(seed), ..Plan::default() }).collect()
}

/// Runs plans, all of which must succeed.
pub fn run(processes: &mut Processes, plans: &[Plan]) -> Result<Vec<Execution>> {
    let executions = processes.run(plans)?;
    for execution in &executions {
        if execution.outcome != Outcome::Exited(0) {
            bail!("an execution that should end well did not: {:?}", execution.outcome);
        }
    }
    Ok(executions)
}

/// Runs one execution of a program; returns it with its processor time.
pub fn once(processes: &mut Processes, plan: &Plan) -> Result<(Execution, f64)> {
    let Some(execution) = run(processes, std::slice::from_ref(plan))?.pop() else { bail!("nothing was run") };
    let cpu = processes.last_cpu().iter().map(Duration::as_secs_f64).sum();
    Ok((execution, cpu))
}

/// Returns the processor time of everything involved: this process, the fork server, the executions.
pub fn whole_cpu(work: impl FnOnce() -> Result<Processes>) -> Result<f64> {
    let before = tree_cpu();
    // The server's time is known only after waiting for it.
    drop(work()?);
    Ok(tree_cpu() - before)
}
