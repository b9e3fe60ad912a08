//! `racehunter scan`

use crate::arguments::{Output, Scan};
use crate::exit::Exit;
use crate::output::reporter;
use crate::watch::Watch;
use anyhow::{Context as _, Result};
use racehunter_hunter::scan::{self, DEFAULT_TIME, Scanned};
use racehunter_hunter::{Clock, jobs};
use racehunter_report::scan::{Results, Word};
use std::time::{Instant, SystemTime};

/// Scans, reports, and returns the exit code.
pub fn run(arguments: &Scan) -> Result<Exit> {
    let began = Instant::now();
    let task = scan::Scan {
        files: arguments.files.clone(),
        arguments: arguments.arguments.clone(),
        cflags: arguments.cflags.clone(),
        backend: arguments.backend.clone(),
        approximation: arguments.approx,
        models: arguments.models.clone(),
        is_task: arguments.svcomp,
        jobs: jobs(arguments.jobs),
        out: arguments.out.clone(),
        began,
        deadline: began + arguments.time.unwrap_or(DEFAULT_TIME),
        clock: Clock::new(Instant::now),
    };
    let Scanned { report, verdict, is_read } = scan::scan(&task, &mut Watch::new(arguments.voice))?;
    if let Some(path) = &arguments.witness {
        scan::write_witness(path, &arguments.files, &verdict, SystemTime::now())?;
    }
    let suspected = report.pairs.iter().map(scan::suspected).collect();
    let results = Results { report: &report, verdict: &verdict, suspected, is_task: arguments.svcomp };
    let output = Output { message_format: arguments.message_format, color: arguments.color };
    reporter(output).scan(&results, began.elapsed()).context("cannot write the results")?;
    Ok(match verdict.word {
        Word::Race => Exit::Findings,
        Word::Unknown if arguments.require_complete || !is_read => Exit::Incomplete,
        Word::RaceFree | Word::Unknown => Exit::Clean,
    })
}
