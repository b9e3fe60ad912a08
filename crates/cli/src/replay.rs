//! `racehunter replay`

use crate::arguments::Replay;
use crate::exit::Exit;
use crate::hunt::surroundings;
use crate::output::{replay_options, reporter};
use crate::watch::Watch;
use anyhow::{Context as _, Result};
use racehunter_hunter::{
    Clock, Debugging, Hunter, Interrupts, Setup, Stored, Subject, bundle, debug_replay, locate, shell, sources, store,
};
use racehunter_launch::{Backend, Shared};
use racehunter_report::{messages, notes};
use std::path::Path;
use std::time::Instant;

/// Runs the schedule of a finding again, as often as asked.
pub fn run(arguments: &Replay) -> Result<Exit> {
    let bundled = match bundle::is_bundle(Path::new(&arguments.id)) {
        true => Some(bundle::unpack(Path::new(&arguments.id))?),
        false => None,
    };
    let named = arguments.program.as_deref();
    let stored = match &bundled {
        Some(bundled) => {
            let program = locate::find(&bundled.stored, named, &arguments.out)?;
            Stored { program, ..bundled.stored.clone() }
        }
        None => locate::find_any_build(store::load(&arguments.out, &arguments.id)?, named, &arguments.out)?,
    };
    let Stored { program, arguments: words, input, client, checks_output, .. } = stored.clone();
    let interrupts = Interrupts::catch()?;
    let default = if arguments.gdb { Backend::Threads } else { Backend::Fibers };
    let backend = arguments.backend.unwrap_or(default);
    let setup = Setup {
        backend,
        shared: Shared { output: checks_output, ..arguments.world.into() },
        preparatory: arguments.preparatory,
        interrupted: interrupts.flag(),
        ..Setup::new(Clock::new(Instant::now))
    };
    let mut hunter = Hunter::open(Subject { path: program, arguments: words, input, client, libraries: None }, setup)?;
    let mut watch = Watch::new(arguments.voice);
    if arguments.gdb {
        let finding = hunter.replay_for_debugger(&stored, &mut watch)?;
        let preparatory = hunter.preparatory();
        drop(hunter);
        let how = Debugging {
            out: &arguments.out,
            backend,
            shared: arguments.world.into(),
            preparatory,
            arguments: &arguments.debugger,
        };
        return Ok(Exit::of(debug_replay(&stored, &finding, &how)?));
    }
    let mut replayed = hunter.replay(&stored, arguments.times, &mut watch)?;
    replayed.finding.notes.extend(sources::changed(&stored));
    if !replayed.finding.confirmed {
        let difference = hunter.differs_from(&stored, &surroundings());
        replayed.finding.notes.extend(difference.map(|what| messages::other_world(&what)));
    }
    if let Some(signal) = interrupts.signal().filter(|_| replayed.interrupted) {
        eprintln!("{}", notes::interrupted_replays(replayed.shown, arguments.times));
        return Ok(Exit::Interrupted(signal));
    }
    let copies = bundled.as_ref().map_or_else(Vec::new, |bundled| bundled.sources.clone());
    let mut options = if bundled.is_some() { String::new() } else { replay_options(&arguments.out) };
    if let Some(program) = &arguments.program {
        options += &format!(" --program {}", shell::quote(&program.to_string_lossy()));
    }
    let mut reporter = reporter(arguments.output)
        .replay_file(bundled.is_some().then(|| shell::quote(&arguments.id)))
        .replay_options(options)
        .source_copies(copies);
    reporter.finding(&replayed.finding).and_then(|()| reporter.finish()).context("cannot write the results")?;
    Ok(if replayed.finding.confirmed { Exit::Clean } else { Exit::Findings })
}
