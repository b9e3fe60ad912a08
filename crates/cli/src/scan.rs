//! `racehunter scan`

mod assumptions;
mod build;
mod inputs;
mod library;
mod output;
mod search;
mod sha256;
mod suspects;
mod witness;

use crate::arguments::{Approximation, Scan};
use crate::exit::Exit;
use crate::voice::count;
use anyhow::{Context as _, Result, bail};
use output::{Tier, Verdict, Word};
use racehunter_scan::{Gap, Models, Program, Report, analyse};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// Time for the whole scan when none is given.
const DEFAULT_TIME: Duration = Duration::from_secs(20);

/// Stack of the thread that analyses: expressions and graphs are followed to their depth.
const STACK: usize = 256 << 20;

/// Scans, reports, and says how it went.
pub fn run(arguments: &Scan) -> Result<Exit> {
    let began = Instant::now();
    let deadline = began + arguments.time.unwrap_or(DEFAULT_TIME);
    let mut is_read = true;
    let (report, verdict) = match read(arguments, began, deadline)? {
        Some(Read { built, program, report }) => {
            let verdict = judge(arguments, &built, &program, &report, deadline)?;
            (report, verdict)
        }
        None => {
            let what = "the program as a whole: the time was up before its code had been looked at".to_owned();
            let why = format!("not modelled: {what}; give it more time with --time");
            is_read = false;
            let gaps = vec![Gap { what, place: None }];
            (Report { gaps, ..Report::default() }, Verdict::new(Word::Unknown, None, why))
        }
    };
    if let Some(path) = &arguments.witness {
        witness::write(path, &arguments.files, &verdict)?;
    }
    output::print(arguments, &report, &verdict, began.elapsed())?;
    Ok(match verdict.word {
        Word::Race => Exit::Findings,
        Word::RaceFree => Exit::Clean,
        Word::Unknown if arguments.require_complete || !is_read => Exit::Incomplete,
        Word::Unknown => Exit::Clean,
    })
}

/// The code of a program, and what it says by itself.
struct Read {
    built: build::Built,
    program: Program,
    report: Report,
}

/// Compiles and analyses the program; nothing if the time is up first. An analysis cannot be stopped half-way, so it is left alone then, and
/// ends with the command.
fn read(arguments: &Scan, began: Instant, deadline: Instant) -> Result<Option<Read>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let arguments = arguments.clone();
    let look = move || {
        // If nobody waits any more, there is nobody to tell.
        let _ = sender.send(look(&arguments, began));
    };
    std::thread::Builder::new().stack_size(STACK).spawn(look).context("cannot start a thread")?;
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(read) => read.map(Some),
        Err(RecvTimeoutError::Timeout) => {
            racehunter_compile::stop_all();
            Ok(None)
        }
        Err(RecvTimeoutError::Disconnected) => bail!("the program could not be analysed"),
    }
}

/// An option by which the linker takes one symbol for another, or begins elsewhere: the code does not show it.
fn linker_option(flags: &str) -> Option<&str> {
    const MEANING: [&str; 9] = ["wrap", "defsym", "init", "fini", "entry", "e", "T", "script", "just-symbols"];
    let changes = |option: &str| {
        let name = option.split('=').next().unwrap_or_default();
        name.starts_with('-') && MEANING.contains(&name.trim_start_matches('-'))
    };
    let is_one = |word: &&str| {
        *word == "-Xlinker" || word.strip_prefix("-Wl,").is_some_and(|options| options.split(',').any(changes))
    };
    flags.split_ascii_whitespace().find(is_one)
}

fn look(arguments: &Scan, began: Instant) -> Result<Read> {
    let models = models(arguments)?;
    let built = build::build(arguments)?;
    let program = Program::link(built.modules.clone());
    let backend = racehunter_scan::pointer::backend::named(&arguments.backend)?;
    let voice = arguments.voice;
    voice.note("Reading", || {
        format!("{}, pointers by {}", count(built.modules.len() as u64, "module"), arguments.backend)
    });
    let mut report = analyse(&program, &models, &*backend);
    if built.is_described {
        let why = || "it calls library functions whose accesses executions do not see".to_owned();
        report.open.get_or_insert_with(why);
    }
    if let Some(option) = arguments.cflags.as_deref().and_then(linker_option) {
        let what = format!("`{option}`, which tells the linker what symbols mean");
        report.gaps.push(Gap { what, place: None });
    }
    voice.note("Read", || {
        let [pairs, gaps] = [report.pairs.len(), report.gaps.len()].map(|number| number as u64);
        let threads = count(report.threads as u64, "kind") + " of threads";
        let took = began.elapsed().as_secs_f64();
        format!("{threads}, {} that may race, {} in the model, {took:.1}s", count(pairs, "pair"), count(gaps, "gap"))
    });
    Ok(Read { built, program, report })
}

/// What is known about functions of libraries, the user's knowledge included.
fn models(arguments: &Scan) -> Result<Models> {
    let mut models = Models::default();
    if arguments.svcomp
        && let Some(tasks) = Models::shipped("tasks")
    {
        models.extend(tasks)?;
    }
    for path in &arguments.models {
        let shipped = path.to_str().filter(|_| !path.exists()).and_then(Models::shipped);
        let text = match shipped {
            Some(text) => text.to_owned(),
            None => std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?,
        };
        models.extend(&text).with_context(|| format!("`{}` does not describe functions", path.display()))?;
    }
    Ok(models)
}

/// From the cheapest tier to the dearest; the first that knows ends it.
fn judge(
    arguments: &Scan,
    built: &build::Built,
    program: &Program,
    report: &Report,
    deadline: Instant,
) -> Result<Verdict> {
    if report.is_race_free() && arguments.approx != Approximation::Under {
        let why = match report.threads {
            1 => "the program creates no threads".to_owned(),
            threads => format!("no two accesses of {threads} kinds of threads can meet without a common lock or order"),
        };
        let tier = if report.by_paths { Tier::B } else { Tier::A };
        return Ok(Verdict::new(Word::RaceFree, Some(tier), why));
    }
    let open = match (report.gaps.first(), report.pairs.first()) {
        (Some(gap), _) => match &gap.place {
            Some(place) => format!("not modelled: {} ({place})", gap.what),
            None => format!("not modelled: {}", gap.what),
        },
        (None, Some(pair)) => {
            format!("{} and {} may race on `{}`", pair.sides[0].place, pair.sides[1].place, pair.what)
        }
        (None, None) => String::new(),
    };
    if arguments.approx == Approximation::Over || (program.find("main").is_none() && !built.is_program()) {
        return Ok(Verdict::new(Word::Unknown, None, open));
    }
    let found = match search::search(arguments, built, program, report, is_closed(report), deadline) {
        Ok(found) => found,
        Err(error) => {
            let why = format!("{open}; the program could not be executed: {error:#}");
            return Ok(Verdict::new(Word::Unknown, None, why));
        }
    };
    Ok(match found {
        search::Found::Race(finding) => {
            let why = format!("{}, shown by an execution that can be replayed", finding.message);
            Verdict { finding: Some(*finding), ..Verdict::new(Word::Race, Some(Tier::C), why) }
        }
        search::Found::Nothing { executions } => {
            Verdict::new(Word::Unknown, None, format!("{open}; {executions} executions showed no race"))
        }
        // Executions say nothing about other inputs, nor about accesses that they do not see.
        search::Found::Everything { executions, .. }
            if !is_closed(report) || arguments.approx == Approximation::Under =>
        {
            let why = report.open.as_ref().map_or_else(String::new, |why| format!(", which is no proof: {why}"));
            Verdict::new(Word::Unknown, None, format!("{open}; {executions} executions showed no race{why}"))
        }
        search::Found::Everything { executions, guarantee } => {
            let why = format!("{guarantee}: {executions} executions, none with a race");
            Verdict::new(Word::RaceFree, Some(Tier::D), why)
        }
    })
}

/// Whether all that the program does depends on the schedule alone, and all accesses that matter are its own instructions.
fn is_closed(report: &Report) -> bool {
    let own = |pair: &racehunter_scan::report::Pair| pair.sides.iter().all(|side| side.is_instruction);
    let is_all = report.pairs.len() == report.suspected;
    report.gaps.is_empty() && report.open.is_none() && is_all && report.pairs.iter().all(own)
}

#[cfg(test)]
mod tests {
    use super::linker_option;

    #[test]
    fn options_that_change_symbols_are_noticed() {
        for flags in
            ["-O0 -Wl,--wrap=pthread_mutex_lock", "-Wl,--wrap,f", "-Wl,-z,now,-init=f", "-Xlinker --defsym=a=b"]
        {
            assert!(linker_option(flags).is_some(), "{flags}");
        }
        for flags in ["", "-O0 -Iinclude", "-ftrivial-auto-var-init=zero", "-Wl,-z,now", "-Wl,--as-needed"] {
            assert_eq!(linker_option(flags), None);
        }
    }
}
