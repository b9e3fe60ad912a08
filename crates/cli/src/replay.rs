//! `racehunter replay`

use crate::arguments::Replay;
use crate::ending::Interrupts;
use crate::exit::{Exit, advise};
use crate::hunt::{add_libraries, add_modules, reporter, words};
use crate::voice::count;
use crate::{blocks, gdb, store, target};
use anyhow::{Context as _, Result, anyhow};
use racehunter_explain::{Explainer, PATIENCE, plan_of};
use racehunter_explore::{Executor as _, Observe, Plan, shared_sites};
use racehunter_finding::{Finding, Kind};
use racehunter_launch::{Backend, Limits, Processes, Program, Shared, StopSign};

/// Runs the schedule of a finding again, as often as asked.
pub fn run(arguments: &Replay) -> Result<Exit> {
    let stored = store::load(&arguments.out, &arguments.id)?;
    let mut symbols = target::symbols(&stored.program)?;
    if symbols.binary().identity != stored.identity {
        return Err(advise(
            format!("`{}` is not the program in which `{}` was found", stored.program.display(), stored.finding.id),
            "it was built again since; hunt it again",
        ));
    }
    let program =
        Program { path: stored.program.clone(), arguments: words(&stored.arguments), input: stored.input.clone() };
    let interrupts = Interrupts::catch()?;
    let mut processes = Processes::start(program, Limits::default(), 1)?;
    processes.stop_when(StopSign::new(interrupts.flag()));
    let backend =
        arguments.backend.map_or_else(|| if arguments.gdb { Backend::Threads } else { Backend::Fibers }, Backend::from);
    processes.use_backend(backend);
    processes.share(Shared { output: stored.checks_output, ..arguments.world.into() });
    processes.prepare(arguments.preparatory);
    add_modules(&mut symbols, &processes, &stored.program);
    let plan = plan_of(&stored.finding.schedule);
    let voice = arguments.voice;
    voice.note("Program", || stored.program.display().to_string());
    voice.note("Schedule", || {
        let last = plan.switches.last().map_or(0, |last| last.at);
        format!("{}, the last one at event {last}", count(plan.switches.len() as u64, "decision"))
    });
    // What threads share is shown in the report, as it was by the hunt.
    let monitor = Plan { observe: Observe::Everything, ..plan.clone() };
    for execution in processes.run(&[monitor])? {
        processes.add_points(&shared_sites(&execution));
    }
    add_libraries(&mut symbols, &processes);
    let explainer =
        Explainer { symbols: &symbols, load_address: processes.load_address(), patience: PATIENCE, infers: true };
    let again = |processes: &mut Processes| -> Result<Option<Finding>> {
        if stored.finding.kind == Kind::Atomicity {
            let execution = blocks::run(processes, &stored.finding)?;
            let shown = execution.is_some_and(|execution| blocks::shows(&execution, &stored.finding));
            return Ok(shown.then(|| stored.finding.clone()));
        }
        Ok(explainer.again(processes, &plan, &stored.finding)?)
    };
    if arguments.gdb {
        // What it is about is known by the numbers of events, which a replay tells.
        let again = again(&mut processes)?;
        let finding = again.ok_or_else(|| anyhow!("the schedule of `{}` does not show it", stored.finding.id))?;
        drop(processes);
        return gdb::run(&stored, &finding, backend, arguments);
    }
    let mut shown = 0;
    let mut last = None;
    let pace = voice.progress("Replaying");
    for number in 1..=arguments.times {
        pace.at(|| format!("{number} of {}", arguments.times));
        let again = again(&mut processes)?;
        if let Some(signal) = interrupts.signal() {
            let times = arguments.times;
            eprintln!("interrupted after {} of {times} replays; {shown} showed the finding", number - 1);
            return Ok(Exit::Interrupted(signal));
        }
        voice.note("Replayed", || {
            let how = if again.is_some() { "it showed" } else { "it did not show" };
            format!("{number} of {}: {how}", arguments.times)
        });
        if let Some(finding) = again {
            shown += 1;
            last = Some(finding);
        }
    }
    let mut finding = last.unwrap_or(stored.finding);
    finding.replayed = [shown, arguments.times];
    finding.confirmed = shown == arguments.times;
    // Who asks for it wants to see it.
    finding.suppressed = None;
    let mut reporter = reporter(arguments.message_format, arguments.color.into());
    reporter.finding(&finding).and_then(|()| reporter.finish()).context("cannot write the results")?;
    Ok(if finding.confirmed { Exit::Clean } else { Exit::Findings })
}
