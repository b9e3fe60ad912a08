//! What RaceHunter can do, as tables: run by `cargo xtask targets` and similar commands.
//!
//! They check the same things as the end-to-end tests, with the same code. The tests only pass or fail; a show also
//! prints the figures, and its exit status says whether all is well.
#![forbid(unsafe_code)]

mod chaos;
mod crates;
mod fleet;
mod garble;
mod hunt;
mod hypothesis;
mod long;
mod machine;
mod predict;
mod price;
mod probes;
mod projects;
mod real;
mod scan;
mod sctbench;
mod servers;
mod suite;
mod table;
mod tables;
mod targets;
mod thread_sanitizer;
mod watchpoints;

use racehunter_e2e::tool;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shown = tool::find().map_err(str::to_owned).and_then(|_| match words.as_slice() {
        ["targets", rest @ ..] => targets::show(rest),
        ["probes", rest @ ..] => probes::show(rest),
        ["chaos", "--garble", rest @ ..] => garble::show(rest),
        ["chaos", rest @ ..] => chaos::show(rest),
        ["hunt", rest @ ..] => hunt::show(rest),
        ["fleet", rest @ ..] => fleet::show(rest),
        ["tables", rest @ ..] => tables::show(rest),
        ["hypothesis", rest @ ..] => hypothesis::show(rest),
        ["watchpoint", names @ ..] => watchpoints::show(names),
        ["scan", rest @ ..] => scan::show(rest),
        ["sctbench", rest @ ..] => sctbench::show(rest),
        ["tsan", rest @ ..] => suite::show(rest),
        ["machine", rest @ ..] => machine::show(rest),
        ["projects", rest @ ..] => projects::show(rest),
        ["servers", rest @ ..] => servers::show(rest),
        ["real", names @ ..] => real::show(names),
        ["price", rest @ ..] => price::show(rest),
        ["advisories", rest @ ..] => crates::show_advisories(rest),
        ["peers", rest @ ..] => crates::show_peers(rest),
        ["suites", rest @ ..] => crates::show_suites(rest),
        ["predict", names @ ..] => predict::show(names),
        // The process that `chaos` starts.
        ["chaos-campaign", runs] => chaos::campaign(runs),
        ["garble-hunts", seeds] => garble::hunts(seeds),
        _ => Err("there is no such show; see `cargo xtask help`".to_owned()),
    });
    match shown {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(what) => {
            eprintln!("error: {what}");
            ExitCode::FAILURE
        }
    }
}
