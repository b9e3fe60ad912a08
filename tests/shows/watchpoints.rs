//! `cargo xtask bench watchpoint`: table 1 of the paper on watchpoints, for its experiments and listings.

use crate::table::{Align, Table, thousands};
use racehunter_e2e::{Figures, Workshop, run, tool};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The programs to verify, with their names.
const PROGRAMS: [(&str, &str); 5] = [
    ("experiment 1", "targets/data-race/port_extra_variable.c"),
    ("experiment 2", "targets/data-race/port_receive_early.c"),
    ("experiment 3", "targets/data-race/port_send_early.c"),
    ("listing 1", "targets/data-race/lockset_blind.c"),
    ("listing 2", "targets/data-race/happens_before_blind.c"),
];

/// The modes of verification.
const MODES: [(&str, &[&str]); 3] = [
    ("watchpoint", &["--analysis", "watchpoint", "--detector", "none"]),
    ("bound", &["--analysis", "watchpoint-bound", "--detector", "none", "--runs", "2000"]),
    ("free", &["--free-running", "--detector", "none", "--runs", "200"]),
];

/// Number of runs of the program alone; the mean counts.
const PLAIN: u32 = 10;

/// Prints the table. Returns false if a race was not found.
pub fn show(names: &[&str]) -> Result<bool, String> {
    let right = |heading| (heading, 9, Align::Right);
    let table = Table::new([
        ("program", 12, Align::Left),
        ("mode", 10, Align::Left),
        ("races", 0, Align::Right),
        right("threads"),
        right("accesses"),
        right("calls"),
        right("pairs"),
        right("targets"),
        right("trace, estimate"),
        right("measured"),
        right("memory"),
        right("plain"),
        right("verified"),
        right("executions"),
    ]);
    println!("{}", table.heading());
    let mut all_found = true;
    for (name, program) in PROGRAMS.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let source = tool::root().join(program);
        let plain = plain(&source)?;
        for (mode, options) in MODES {
            let hunted = Workshop::new().hunt(&source, options);
            let races = hunted.findings.iter().filter(|finding| finding.confirmed && finding.met).count();
            all_found &= races > 0;
            let summary = hunted.summary();
            let figures = summary.figures.clone().ok_or("the hunt has no figures")?;
            let Figures { threads, accesses, calls, conflicting_pairs, targets, .. } = figures;
            println!(
                "{}",
                table.row([
                    name.to_owned(),
                    mode.to_owned(),
                    races.to_string(),
                    threads.to_string(),
                    thousands(accesses),
                    thousands(calls),
                    thousands(conflicting_pairs),
                    thousands(targets),
                    kilobytes(figures.trace_bits / 8),
                    kilobytes(figures.trace_bytes),
                    format!("{} MB", figures.memory_kib / 1024),
                    milliseconds(plain),
                    milliseconds(Duration::from_micros(figures.verified_us)),
                    thousands(summary.executions),
                ])
            );
        }
    }
    Ok(all_found)
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1} KB", bytes as f64 / 1024.0)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Returns the mean duration of the program, compiled by an ordinary compiler.
fn plain(source: &Path) -> Result<Duration, String> {
    let workshop = Workshop::new();
    let program = workshop.path("plain");
    let ended = run(Command::new("cc").args(["-O1", "-pthread"]).arg(source).arg("-o").arg(&program));
    if ended.status != Some(0) {
        return Err(ended.stderr);
    }
    let began = Instant::now();
    for _ in 0..PLAIN {
        run(&mut Command::new(&program));
    }
    Ok(began.elapsed() / PLAIN)
}
