//! The cost of one execution, side by side with the peers.
//!
//! Every figure is measured in the same run as what it is compared with: the plain program, the peer, and RaceHunter in
//! turn, repeatedly; the table shows medians. Processor time is used wherever other load on the machine would change
//! real time. Nothing here is a test: a missed goal is a line in the table.
//!
//! Start at [`rows`]. The measured programs are in `programs/`, each with a comment that says what it does;
//! [`programs`] builds them.

mod bounding;
mod definition;
mod executions;
mod machine;
mod measure;
#[cfg(feature = "peers")]
mod peers;
mod plot;
mod prediction;
mod programs;
mod rows;
mod table;
mod traces;

use anyhow::{Result, bail};
use programs::Programs;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask bench micro [--quick] [ROWS...]
       cargo xtask bench predict [--quick] [--least EVENTS] [--most EVENTS] [--rapid CLASSPATH] [--plot FILE.svg]
       cargo xtask bench bounding [--quick] [time [PROGRAMS...]|executions|ranks]

  --quick   few repeats of small programs: shows that everything works, not how fast it is
  ROWS, PROGRAMS   only these";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("predict", options)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return prediction::show(options);
    }
    let (quick, words): (Vec<&str>, Vec<&str>) = words.iter().map(String::as_str).partition(|word| *word == "--quick");
    let effort = if quick.is_empty() { rows::Effort::FULL } else { rows::Effort::QUICK };
    match words[..] {
        ["bounding"] => return bounding::show(&Programs::new()?, effort, None, &[]),
        ["bounding", table @ ("executions" | "ranks")] => {
            return bounding::show(&Programs::new()?, effort, Some(table), &[]);
        }
        ["bounding", "time", ref names @ ..] => return bounding::show(&Programs::new()?, effort, Some("time"), names),
        _ => {}
    }
    let Some((&"micro", wanted)) = words.split_first() else { bail!("{USAGE}") };
    if let Some(unknown) = wanted.iter().find(|name| !rows::ALL.iter().any(|(known, _)| known == *name)) {
        let known: Vec<&str> = rows::ALL.iter().map(|(name, _)| *name).collect();
        bail!("`{unknown}` is not one of {}\n{USAGE}", known.join(", "));
    }
    let programs = Programs::new()?;
    let before = machine::load();
    let mut table = table::Table::new(effort.is_full());
    for (name, measure) in rows::ALL {
        if wanted.is_empty() || wanted.contains(name) {
            eprintln!("measuring: {name}");
            table.extend(measure(&programs, effort)?);
        }
    }
    println!("{}", machine::heading(&before));
    println!("compiler: {}; {}", programs.compiler_version(), effort.describe());
    print!("{table}");
    Ok(())
}
