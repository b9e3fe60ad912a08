//! Scanning: analyses the code of a program for races, and executes it where that is not enough.

mod assumptions;
mod build;
mod inputs;
mod library;
mod search;
mod suspects;

pub use suspects::suspected;

use crate::{Clock, Error, Event, Observer, digest};
use racehunter_report::scan::{self as words, Tier, Verdict, Word};
use racehunter_report::witness::{Origin, witness};
use racehunter_scan::{Gap, Models, Program, Report, analyse};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

/// Default time limit of a whole scan.
pub const DEFAULT_TIME: Duration = Duration::from_secs(20);

/// Stack of the analysing thread: the analysis recurses deeply through expressions and graphs.
const STACK: usize = 256 << 20;

/// By which approximation a scan comes to its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// By an under-approximation: executions, which show races.
    Under,
    /// By an over-approximation: the code, which can prove that there are no races.
    Over,
    /// By both.
    Both,
}

/// The parameters of a scan.
#[derive(Clone, Debug)]
pub struct Scan {
    /// C and C++ files of one program, or the program.
    pub files: Vec<PathBuf>,
    /// Arguments of the program, for executions. What is proved holds for all.
    pub arguments: Vec<String>,
    /// Options for the compiler.
    pub cflags: Option<String>,
    /// How to follow pointers.
    pub backend: String,
    /// Which verdicts are possible.
    pub approximation: Approximation,
    /// Descriptions of functions that are not part of the program.
    pub models: Vec<PathBuf>,
    /// True for a task of the competition on software verification.
    pub is_task: bool,
    /// Executions at the same time.
    pub jobs: usize,
    /// Directory for findings and compiled programs.
    pub out: PathBuf,
    /// When it began.
    pub began: Instant,
    /// When it has to end.
    pub deadline: Instant,
    /// The time.
    pub clock: Clock,
}

/// The results of a scan.
#[derive(Debug)]
pub struct Scanned {
    /// The analysis of the code.
    pub report: Report,
    /// The final verdict.
    pub verdict: Verdict,
    /// True if there was time to analyse the code.
    pub is_read: bool,
}

/// Scans a program.
///
/// # Errors
/// If it does not compile, or cannot be read.
pub fn scan(scan: &Scan, observer: &mut dyn Observer) -> Result<Scanned, Error> {
    let Some(Read { built, program, report }) = read(scan, observer)? else {
        let (what, why) = words::no_time();
        let report = Report { gaps: vec![Gap { what, place: None }], ..Report::default() };
        return Ok(Scanned { report, verdict: Verdict::new(Word::Unknown, None, why), is_read: false });
    };
    let verdict = judge(scan, &built, &program, &report, observer)?;
    Ok(Scanned { report, verdict, is_read: true })
}

/// Writes the witness of a verdict. An `unknown` verdict has no witness.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write_witness(path: &Path, files: &[PathBuf], verdict: &Verdict, time: SystemTime) -> Result<(), Error> {
    let mut hashes = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).map_err(Error::file("read", file))?;
        hashes.push((file.clone(), digest::sha256(&bytes)));
    }
    let digits = digest::sha256(format!("{time:?}{hashes:?}{}", std::process::id()).as_bytes());
    match witness(verdict, &Origin { files: &hashes, time, digits: &digits }) {
        Some(text) => std::fs::write(path, text).map_err(Error::file("write", path)),
        None => Ok(()),
    }
}

/// The code of a program, and the analysis of it.
struct Read {
    built: build::Built,
    program: Program,
    report: Report,
}

/// Messages of the analysing thread.
enum Message {
    /// The program was built; the number of its modules.
    Built(u64),
    /// It was analysed.
    Done(Box<Result<Read, Error>>),
}

/// Compiles and analyses the program; returns nothing if the time is up first. An analysis cannot be stopped half-way,
/// so it then keeps running until the command ends.
fn read(scan: &Scan, observer: &mut dyn Observer) -> Result<Option<Read>, Error> {
    let (sender, receiver) = channel();
    let task = scan.clone();
    let look = move || {
        let read = look(&task, &sender);
        // If the time is up, the receiver is gone.
        let _ = sender.send(Message::Done(Box::new(read)));
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(look);
    thread.map_err(|error| Error::Scan(format!("cannot start a thread: {error}")))?;
    loop {
        match receiver.recv_timeout(scan.clock.until(scan.deadline)) {
            Ok(Message::Built(modules)) => observer.notice(Event::Reading { modules, backend: &scan.backend }),
            Ok(Message::Done(read)) => {
                let read = (*read)?;
                let elapsed = scan.clock.since(scan.began);
                observer.notice(Event::Analysed { report: &read.report, elapsed });
                return Ok(Some(read));
            }
            Err(RecvTimeoutError::Timeout) => {
                racehunter_compile::stop_all();
                return Ok(None);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Scan("the program could not be analysed".to_owned()));
            }
        }
    }
}

/// Returns a linker option that replaces symbols or changes the entry point: the code does not show its effect.
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

fn look(scan: &Scan, sender: &Sender<Message>) -> Result<Read, Error> {
    let models = models(scan)?;
    let built = build::build(scan)?;
    let program = Program::link(built.modules.clone());
    let backend =
        racehunter_scan::pointer::backend::named(&scan.backend).map_err(|error| Error::Scan(error.to_string()))?;
    let _ = sender.send(Message::Built(built.modules.len() as u64));
    let mut report = analyse(&program, &models, &*backend);
    if built.is_described {
        report.open.get_or_insert_with(words::described_by_code);
    }
    if let Some(option) = scan.cflags.as_deref().and_then(linker_option) {
        report.gaps.push(Gap { what: words::changes_symbols(option), place: None });
    }
    Ok(Read { built, program, report })
}

/// Returns the models of library functions, including the user's.
fn models(scan: &Scan) -> Result<Models, Error> {
    let mut models = Models::default();
    let unusable = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Models { path, source }
    };
    if scan.is_task
        && let Some(tasks) = Models::shipped("tasks")
    {
        models.extend(tasks).map_err(unusable(Path::new("tasks")))?;
    }
    for path in &scan.models {
        let shipped = path.to_str().filter(|_| !path.exists()).and_then(Models::shipped);
        let text = match shipped {
            Some(text) => text.to_owned(),
            None => std::fs::read_to_string(path).map_err(Error::file("read", path))?,
        };
        models.extend(&text).map_err(unusable(path))?;
    }
    Ok(models)
}

/// Runs the tiers from cheapest to most expensive; the first one with an answer ends the scan.
fn judge(
    scan: &Scan,
    built: &build::Built,
    program: &Program,
    report: &Report,
    observer: &mut dyn Observer,
) -> Result<Verdict, Error> {
    let unknown = |why: String| Ok(Verdict::new(Word::Unknown, None, why));
    if report.is_race_free() && scan.approximation != Approximation::Under {
        let tier = if report.by_paths { Tier::B } else { Tier::A };
        return Ok(Verdict::new(Word::RaceFree, Some(tier), words::proof(report.threads)));
    }
    let obstacle = words::obstacle(report);
    if scan.approximation == Approximation::Over || (program.find("main").is_none() && !built.is_program()) {
        return unknown(obstacle);
    }
    let found = match search::search(scan, built, program, report, is_closed(report), observer) {
        Ok(found) => found,
        Err(error) => return unknown(words::not_executed(&obstacle, &error.chain())),
    };
    match found {
        search::Found::Race(finding) => {
            let why = words::shown(&finding.message);
            Ok(Verdict { finding: Some(*finding), ..Verdict::new(Word::Race, Some(Tier::C), why) })
        }
        search::Found::Nothing { executions } => unknown(words::executed(&obstacle, executions, None)),
        // Executions say nothing about other inputs, nor about accesses that they do not see.
        search::Found::Everything { executions, .. }
            if !is_closed(report) || scan.approximation == Approximation::Under =>
        {
            unknown(words::executed(&obstacle, executions, report.open.as_deref()))
        }
        search::Found::Everything { executions, guarantee } => {
            let why = words::exhausted(&guarantee, executions);
            Ok(Verdict::new(Word::RaceFree, Some(Tier::D), why))
        }
    }
}

/// Returns true if the behaviour of the program depends on the schedule alone, and all relevant accesses are its own
/// instructions.
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
