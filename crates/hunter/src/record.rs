//! Recording one execution as a trace.

use crate::session::add_libraries;
use crate::{Error, Event, Hunter, Observer, files};
use racehunter_explain::uncontrolled;
use racehunter_explore::{Allowed, Escaped, Execution, Observe, Outcome, Plan, Tail};
use racehunter_finding::Uncontrolled;
use racehunter_flow::Follower;
use racehunter_log::{CodeAddress, Escape, Event as Logged, Record, entries};
use racehunter_report::messages;
use racehunter_report::recording::{Ended, Recording as Line};
use racehunter_symbols::{Symbols, own_frame};
use racehunter_trace::recording::{Converter, LogReader, LogWriter, Names, Survey};
use racehunter_trace::{Ending, Origin, Subject, file};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::io::{BufReader, BufWriter, Seek as _, Write};
use std::path::Path;
use std::time::Duration;

/// How an execution is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    /// The seed for switching threads at random; without one, threads switch only where one cannot continue.
    pub seed: Option<u64>,
    /// Maximum number of events.
    pub events: u64,
    /// Exit statuses that are no failures.
    pub allowed: Allowed,
}

impl Recording {
    /// Returns how threads switch.
    pub(crate) fn tail(self) -> Tail {
        self.seed.map_or(Tail::MinSwitches, Tail::random)
    }

    /// Returns the plan of the execution that is recorded.
    fn plan(self) -> Plan {
        let tail = self.tail();
        // What the execution itself shows, `hunt` reports; a trace shows more.
        let detect_races = false;
        Plan {
            tail,
            observe: Observe::Code,
            allocations: true,
            detect_races,
            max_events: self.events,
            ..Plan::default()
        }
    }
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Events of the execution.
    pub events: u64,
    /// Events of the trace, where an access to several locations counts as several.
    pub trace_events: u64,
    /// Threads of the execution.
    pub threads: u32,
    /// How the execution ended, and what its trace lacks.
    pub ending: Ending,
    /// How long the program ran.
    pub ran: Duration,
    /// Size of its log, which is no longer there.
    pub log_bytes: u64,
}

impl Recorded {
    /// Returns what reports say about a recording in a file of this size.
    #[must_use]
    pub fn line(&self, path: &Path, bytes: u64) -> Line {
        let file = (path.to_string_lossy().into_owned(), bytes);
        let events = [self.events, self.trace_events];
        Line::new(file, events, self.threads, &self.ending, (self.ran, self.log_bytes))
    }
}

impl Hunter {
    /// Returns the origin that a trace of this program records.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin {
            program: self.subject.path.to_string_lossy().into_owned(),
            identity: self.identity().to_owned(),
            arguments: self.subject.arguments.clone(),
            input: self.subject.input.as_ref().map(|path| path.to_string_lossy().into_owned()),
        }
    }

    /// Records one execution to a file, which gets its name only when it is complete.
    ///
    /// # Errors
    /// If it cannot be executed, or the file cannot be written.
    pub fn record_to(
        &mut self,
        path: &Path,
        how: Recording,
        observer: &mut dyn Observer,
    ) -> Result<(Recorded, u64), Error> {
        let mut unfinished = files::unfinished(path, "")?;
        let out = BufWriter::with_capacity(BUFFER, unfinished.as_file_mut());
        let recorded = self.record(how, files::parent(path), observer, out)?;
        files::finish(unfinished, path)?;
        let bytes = std::fs::metadata(path).map_err(Error::file("write", path))?.len();
        Ok((recorded, bytes))
    }

    /// Runs the program once, keeps its log in an unnamed file in a directory, and writes its events. The memory that this
    /// takes depends on the memory that the program touches, not on the number of its events.
    ///
    /// # Errors
    /// If it cannot be executed, or the log or the trace cannot be written.
    pub fn record(
        &mut self,
        how: Recording,
        directory: &Path,
        observer: &mut dyn Observer,
        out: impl Write,
    ) -> Result<Recorded, Error> {
        self.introduce(observer);
        let (load_address, origin) = (self.processes.load_address(), self.origin());
        let file = tempfile::tempfile_in(directory).map_err(Error::file("create a file in", directory))?;
        let mut log = LogWriter::new(BufWriter::with_capacity(BUFFER, file));
        let mut survey = Survey::default();
        let mut written = Ok(());
        let began = self.clock.now();
        let (mut escapes, mut is_misused) = (BTreeSet::new(), false);
        let execution = self.processes.record(&how.plan(), &mut |records| {
            survey.add(records);
            escapes.extend(escapes_in(records));
            is_misused |= entries(records).any(|entry| matches!(entry.event(), Logged::Misuse { .. }));
            if written.is_ok() {
                written = log.add(records);
            }
        })?;
        written?;
        let Execution { events, threads, .. } = execution;
        observer.notice(Event::Recorded { events, threads });
        let ran = self.clock.since(began);
        let (log, log_bytes) = log.finish()?;
        let mut log =
            log.into_inner().map_err(|error| Error::file("write a file in", directory)(error.into_error()))?;
        log.rewind().map_err(Error::file("read a file in", directory))?;
        let names = SourceNames { symbols: &self.symbols, load_address, given: RefCell::default() };
        let code = racehunter_ir::read_numbered_program(&self.subject.path);
        observer.notice(Event::Following(code.as_ref().map(drop)));
        let mut code = code.ok().map(Follower::new);
        let mut writer = file::Writer::new(out, code.is_some(), code.is_some())?;
        writer.set_origin(&origin)?;
        let mut converter = Converter::new(survey.finish(), &names, writer)?;
        if let Some(code) = &mut code {
            converter = converter.knowing(code);
        }
        if self.subject.client.is_some() {
            converter = converter.with_client();
        }
        let mut log = LogReader::new(BufReader::with_capacity(BUFFER, log));
        let mut records = Vec::new();
        loop {
            log.next_piece(&mut records)?;
            if records.is_empty() {
                break;
            }
            converter.add(&records)?;
        }
        let mut writer = converter.finish();
        let trace_events = writer.events();
        let whole = !execution.partial && !matches!(execution.outcome, Outcome::Limit(_) | Outcome::Lost(_));
        let ended = ended(&execution.outcome);
        escapes.extend(escapes_in(&execution.report_records()));
        let ending = Ending {
            outcome: if is_misused { format!("{ended}, and misused an object") } else { ended.to_string() },
            is_failure: is_misused || ended.is_failure(|status| how.allowed.contains(status)),
            is_whole: whole,
            unseen: self.unseen(escapes),
        };
        writer.set_ending(&ending)?;
        writer.finish()?;
        Ok(Recorded { events, trace_events, threads, ending, ran, log_bytes })
    }

    /// Returns what an execution reached that its trace does not have, each once.
    fn unseen(&mut self, escapes: BTreeSet<(Escape, CodeAddress, u64)>) -> Vec<String> {
        add_libraries(&mut self.symbols, &self.processes);
        let escaped = |(what, code, object)| Escaped { what, code, object, executions: 1 };
        let escaped: Vec<Escaped> = escapes.into_iter().map(escaped).collect();
        let named = |gap: Uncontrolled| {
            let place = (gap.line > 0).then(|| format!("{}:{}", gap.file, gap.line));
            messages::uncontrolled(&gap.what, &gap.detail, place.as_deref())
        };
        uncontrolled(&self.symbols, &escaped).into_iter().map(named).collect()
    }
}

/// Returns what was not under control, according to some records.
fn escapes_in(records: &[Record]) -> impl Iterator<Item = (Escape, CodeAddress, u64)> {
    entries(records).filter_map(|entry| match entry.event() {
        Logged::Escape { what, object } => Some((what, entry.code(), object)),
        _ => None,
    })
}

/// Size of the buffers of files, in bytes.
const BUFFER: usize = 1 << 20;

fn ended(outcome: &Outcome) -> Ended {
    match outcome {
        Outcome::Exited(status) => Ended::Exited(*status),
        Outcome::Deadlock => Ended::Deadlock,
        Outcome::Crashed { signal, .. } => Ended::Killed(*signal),
        Outcome::Asserted { message, .. } => Ended::Asserted(message.clone()),
        Outcome::Diverged(at) => Ended::Diverged(at.0),
        Outcome::Limit(limit) => Ended::Limit(limit.clone()),
        Outcome::Lost(how) => Ended::Lost(how.clone()),
    }
}

/// Names from debug information.
struct SourceNames<'a> {
    symbols: &'a Symbols,
    load_address: u64,
    /// Names of memory in use, with their addresses: two pieces of one variable are two locations.
    given: RefCell<HashMap<String, u64>>,
}

/// Maximum number of locations that get names: each look-up takes time.
const NAMED: usize = 100_000;

impl Names for SourceNames<'_> {
    fn object(&self, subject: Subject, address: u64, size: u64) -> String {
        let plain = format!("{address:#x}");
        let mut given = self.given.borrow_mut();
        if address == 0 || given.len() >= NAMED {
            return plain;
        }
        let relative = address.wrapping_sub(self.load_address);
        let Some(symbol) = self.symbols.data_symbol_of(relative, size.max(1)) else { return plain };
        if subject != Subject::Memory {
            // The first field of a mutex is internal to the C library.
            return symbol.name.split(".__").next().unwrap_or(&symbol.name).trim_end_matches("._M_mutex").to_owned();
        }
        match given.insert(symbol.name.clone(), address) {
            Some(other) if other != address => format!("{}@{plain}", symbol.name),
            _ => symbol.name,
        }
    }

    fn site(&self, code: u64) -> String {
        let frames = self.symbols.frames(code);
        match own_frame(&frames).and_then(|own| frames.get(own)).filter(|frame| frame.line > 0) {
            Some(frame) => format!("{}:{}:{}@{code:#x}", frame.file, frame.line, frame.column),
            None => format!("{code:#x}"),
        }
    }
}
