//! `racehunter record`

use crate::arguments::{EXIT_CODES, MessageFormat, Threads, World};
use crate::exit::Exit;
use crate::files;
use crate::hunt::{add_modules, words};
use crate::target;
use crate::voice::{Voice, count};
use anyhow::{Context as _, Result};
use clap::Args;
use racehunter_explore::{Execution, Observe, Outcome, Plan, Tail};
use racehunter_flow::Follower;
use racehunter_launch::{Limits, Processes, Program};
use racehunter_symbols::{Symbols, own_frame};
use racehunter_trace::recording::{Converter, Names, Survey};
use racehunter_trace::{Origin, Subject, file};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `record`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true)]
pub struct Arguments {
    /// Where to write the trace [default: the name of the program, with the extension rht]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MessageFormat::Human)]
    message_format: MessageFormat,
    #[command(flatten)]
    voice: Voice,
    #[command(flatten)]
    how: How,
    /// The program, or a C or C++ file
    target: PathBuf,
    /// Arguments of the program
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// How a program is run to be recorded.
#[derive(Args, Debug)]
pub struct How {
    /// Switch threads at random, by this seed [default: only where a thread cannot go on]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Events, at most
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    pub events: u64,
    /// File for the program's standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Time that an execution may take
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// Memory that an execution may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// What the threads of the program are while it runs
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Threads::Fibers)]
    pub backend: Threads,
    #[command(flatten)]
    pub world: World,
    /// Options for the compiler, when a source file is given
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
    /// Where findings, and programs that were compiled, are kept
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
}

/// A program that can be run under control.
pub struct Recorded {
    pub path: PathBuf,
    pub symbols: Symbols,
    pub processes: Processes,
    pub origin: Origin,
}

impl How {
    /// Starts a program. With `log_in` it can be recorded at length: its log then goes into this directory.
    pub fn start(
        &self,
        target: &Path,
        arguments: &[String],
        input: Option<PathBuf>,
        jobs: usize,
        log_in: Option<PathBuf>,
    ) -> Result<Recorded> {
        let path = target::prepare(target, self.cflags.as_deref(), &self.out, false)?;
        let mut symbols = target::symbols(&path)?;
        let program = Program { path: path.clone(), arguments: words(arguments), input: input.clone() };
        let limits = Limits { time: self.timeout, memory_kib: self.memory << 10, ..Limits::default() };
        let mut processes = Processes::start_with_log_in(log_in, program, limits, jobs)?;
        processes.use_backend(self.backend.into());
        processes.share(self.world.into());
        add_modules(&mut symbols, &processes, &path);
        let origin = Origin {
            program: path.to_string_lossy().into_owned(),
            identity: symbols.binary().identity.clone(),
            arguments: arguments.to_vec(),
            input: input.map(|path| path.to_string_lossy().into_owned()),
        };
        Ok(Recorded { path, symbols, processes, origin })
    }

    /// The plan of the execution that is recorded.
    fn plan(&self) -> Plan {
        let tail = self.seed.map_or(Tail::MinSwitches, Tail::random);
        Plan { tail, observe: Observe::Code, allocations: true, max_events: self.events, ..Plan::default() }
    }
}

impl Recorded {
    /// Runs the program once, and writes what it does as it is read. Says how the execution ended, and how many events it
    /// has in the trace: there, an access to several locations is several.
    pub fn record(&mut self, how: &How, voice: Voice, out: impl Write) -> Result<(Execution, u64)> {
        voice.note("Program", || self.path.display().to_string());
        let load_address = self.processes.load_address();
        let (execution, mut log) = self.processes.record(&how.plan())?;
        voice.note("Executed", || {
            let Execution { events, threads, .. } = execution;
            format!("{} of {}", count(events, "event"), count(threads.into(), "thread"))
        });
        let mut survey = Survey::default();
        for records in log.pieces() {
            survey.add(&records);
        }
        let names = SourceNames { symbols: &self.symbols, load_address, given: RefCell::default() };
        let code = racehunter_ir::read_numbered_program(&self.path);
        voice.note("Following", || match &code {
            Ok(_) => "the code of the program, for what decides what".to_owned(),
            Err(reason) => format!("nothing: {reason}"),
        });
        let mut code = code.ok().map(Follower::new);
        let mut writer = file::Writer::new(out, code.is_some(), code.is_some())?;
        writer.set_origin(&self.origin)?;
        let mut converter = Converter::new(survey.finish(), &names, writer)?;
        if let Some(code) = &mut code {
            converter = converter.knowing(code);
        }
        for records in log.drain() {
            converter.add(&records)?;
        }
        let writer = converter.finish();
        let events = writer.events();
        writer.finish()?;
        Ok((execution, events))
    }
}

/// Records a program.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let how = &arguments.how;
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(arguments.target.file_name().unwrap_or_default()).with_extension("rht"));
    let cannot = || format!("cannot write `{}`", path.display());
    let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let log_in = Some(beside.to_owned());
    let mut subject = how.start(&arguments.target, &arguments.arguments, how.input.clone(), 1, log_in)?;
    // Under its name only when it is whole.
    let unfinished = path.with_extension(format!("rht.{}", std::process::id()));
    let out = BufWriter::with_capacity(1 << 20, files::create(&unfinished).with_context(cannot)?);
    let result = subject.record(how, arguments.voice, out);
    if result.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    let (execution, trace_events) = result?;
    std::fs::rename(&unfinished, &path).with_context(cannot)?;
    let bytes = std::fs::metadata(&path).with_context(cannot)?.len();
    let line = Line {
        reason: "recording",
        file: path.to_string_lossy().into_owned(),
        events: execution.events,
        trace_events,
        threads: execution.threads,
        bytes,
        outcome: outcome(&execution.outcome),
        whole: !execution.partial && !matches!(execution.outcome, Outcome::Limit(_) | Outcome::Lost(_)),
    };
    let text = if arguments.message_format == MessageFormat::Json {
        serde_json::to_string(&line)? + "\n"
    } else {
        line.text()
    };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write the results")?;
    if !line.whole {
        eprintln!("warning: not all that happened is in the trace: the execution {}", line.outcome);
    }
    Ok(if execution.threads > 1 { Exit::Clean } else { Exit::Nothing })
}

/// How the recorded execution ended, in words.
fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exited(status) => format!("ended with status {status}"),
        Outcome::Deadlock => "ended in a deadlock".to_owned(),
        Outcome::Crashed { signal, .. } => format!("was killed by signal {signal}"),
        Outcome::Asserted { message, .. } => format!("failed the assertion `{message}`"),
        Outcome::Diverged(at) => format!("left its schedule at event {at}"),
        Outcome::Limit(limit) => format!("was stopped by its limit of {limit}"),
        Outcome::Lost(how) => format!("was lost: {how}"),
    }
}

/// What was recorded.
#[derive(Serialize)]
struct Line {
    reason: &'static str,
    file: String,
    events: u64,
    trace_events: u64,
    threads: u32,
    bytes: u64,
    outcome: String,
    /// Everything that happened is in the trace.
    whole: bool,
}

impl Line {
    fn text(&self) -> String {
        let mut text = format!(
            "   Recorded {} of {} in `{}`: {} of the trace, {:.1} bytes each\n   Outcome  the execution {}\n",
            count(self.events, "event"),
            count(self.threads.into(), "thread"),
            self.file,
            count(self.trace_events, "event"),
            self.bytes as f64 / self.trace_events.max(1) as f64,
            self.outcome,
        );
        if self.events == 0 && !self.whole {
            text += "   Nothing  to predict: nothing was recorded\n";
        } else if self.threads < 2 {
            text += "   Nothing  to predict: there is only one thread\n";
        } else {
            text += &format!("   Next     racehunter predict {}\n", self.file);
        }
        text
    }
}

/// Names from debug information.
struct SourceNames<'a> {
    symbols: &'a Symbols,
    load_address: u64,
    /// Names of memory that were given out, with their addresses: two pieces of one variable are two locations.
    given: RefCell<HashMap<String, u64>>,
}

/// Locations that get names: looking one up takes its time.
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
            // The first field of a mutex is the C library's business.
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
