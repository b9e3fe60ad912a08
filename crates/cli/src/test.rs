//! `racehunter test`: hunts each case of a test suite on its own.

use crate::arguments::Test as Arguments;
use crate::exit::Exit;
use anyhow::{Context as _, Result, bail};
use racehunter_hunter::suites::{self, Outcome, Suite};
use racehunter_hunter::{Clock, files, jobs};
use racehunter_report::{junit, tests};
use std::io::Write as _;
use std::time::Instant;

/// Hunts every case, and prints how each of them ended.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let began = Instant::now();
    let mut cases = Vec::new();
    for program in &arguments.programs {
        cases.extend(suites::of_program(program, arguments.framework, &arguments.arguments)?);
    }
    if let Some(directory) = &arguments.ctest {
        cases.extend(suites::of_ctest(directory)?);
    }
    if let Some(part) = &arguments.filter {
        cases.retain(|case| case.name.contains(part.as_str()));
    }
    if cases.is_empty() {
        bail!("no test has a name with `{}` in it", arguments.filter.as_deref().unwrap_or_default());
    }
    files::check_out(&arguments.out)?;
    files::directory(&arguments.out)?;
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let suite = Suite {
        cases,
        command: std::env::current_exe().context("cannot find this program")?,
        options: hunt_options(arguments),
        out: arguments.out.canonicalize().with_context(|| format!("cannot use `{}`", arguments.out.display()))?,
        jobs: jobs(arguments.jobs),
        clock: Clock::new(Instant::now),
    };
    let done = suite.hunt(&|test| {
        print!("{}", tests::line(test, width));
        let _ = std::io::stdout().flush();
    });
    if let Some(path) = &arguments.junit {
        let mut file = files::create_named(path)?;
        file.write_all(junit::file(&done).as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    print!("{}", tests::summary(&done, began.elapsed()));
    Ok(match Outcome::of(&done) {
        Outcome::Findings => Exit::Findings,
        Outcome::Unclear => Exit::Incomplete,
        Outcome::Passed => Exit::Clean,
        Outcome::Nothing => Exit::Nothing,
    })
}

/// Returns the options of each hunt.
fn hunt_options(arguments: &Arguments) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(time) = arguments.time {
        words.push(format!("--time={}", humantime::format_duration(time).to_string().replace(' ', "")));
    }
    words.extend(arguments.runs.map(|runs| format!("--runs={runs}")));
    words.extend(arguments.seed.map(|seed| format!("--seed={seed}")));
    words.extend(arguments.analysis.iter().map(|analysis| format!("--analysis={analysis}")));
    words.extend(arguments.stop_on_first.then(|| "--stop-on-first".to_owned()));
    words.extend(arguments.require_complete.then(|| "--require-complete".to_owned()));
    words
}
