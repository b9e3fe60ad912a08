//! `racehunter replay`

use crate::arguments::Replay;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::output::reporter;
use crate::watch::Watch;
use anyhow::{Context as _, Result};
use racehunter_hunter::{Clock, Debugging, Hunter, Setup, Stored, Subject, debug_replay, store};
use racehunter_launch::{Backend, Shared};
use racehunter_report::notes;
use std::time::Instant;

/// Runs the schedule of a finding again, as often as asked.
pub fn run(arguments: &Replay) -> Result<Exit> {
    let stored = store::load(&arguments.out, &arguments.id)?;
    let Stored { program, arguments: words, input, checks_output, .. } = stored.clone();
    let interrupts = Interrupts::catch()?;
    let default = if arguments.gdb { Backend::Threads } else { Backend::Fibers };
    let backend = arguments.backend.map_or(default, Backend::from);
    let setup = Setup {
        backend,
        shared: Shared { output: checks_output, ..arguments.world.into() },
        preparatory: arguments.preparatory,
        interrupted: interrupts.flag(),
        ..Setup::new(Clock::new(Instant::now))
    };
    let mut hunter = Hunter::open(Subject { path: program, arguments: words, input }, setup)?;
    let mut watch = Watch::new(arguments.voice);
    if arguments.gdb {
        let finding = hunter.replay_for_debugger(&stored, &mut watch)?;
        drop(hunter);
        let how = Debugging {
            out: &arguments.out,
            backend,
            shared: arguments.world.into(),
            preparatory: arguments.preparatory,
            arguments: &arguments.debugger,
        };
        return Ok(Exit::of(debug_replay(&stored, &finding, &how)?));
    }
    let replayed = hunter.replay(&stored, arguments.times, &mut watch)?;
    if let Some(signal) = interrupts.signal().filter(|_| replayed.interrupted) {
        eprintln!("{}", notes::interrupted_replays(replayed.shown, arguments.times));
        return Ok(Exit::Interrupted(signal));
    }
    let mut reporter = reporter(arguments.message_format, arguments.color.into());
    reporter.finding(&replayed.finding).and_then(|()| reporter.finish()).context("cannot write the results")?;
    Ok(if replayed.finding.confirmed { Exit::Clean } else { Exit::Findings })
}
