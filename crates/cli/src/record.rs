//! `racehunter record`

use crate::arguments::{BACKENDS, EXIT_CODES, FORMATS, World, one_of};
use crate::exit::Exit;
use crate::voice::Voice;
use crate::watch::Watch;
use anyhow::{Context as _, Result};
use clap::Args;
use racehunter_explore::Allowed;
use racehunter_hunter::{Clock, Error, Hunter, Recording, Setup, Subject, target};
use racehunter_launch::{Backend, Limits};
use racehunter_report::Format;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Arguments of `record`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true)]
pub struct Arguments {
    /// Where to write the trace [default: the name of the program, with the extension rht]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS), default_value = "human")]
    message_format: Format,
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
    /// Switch threads at random, with this seed [default: switch only where a thread cannot continue]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Maximum number of events
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    pub events: u64,
    /// File for the program's standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Shell command to start when the program listens; the execution ends when the command does
    #[arg(long, value_name = "COMMAND")]
    pub with: Option<String>,
    /// Exit statuses of the program that count as success, besides 0; without a list, all of them
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "any", default_value = "0", hide_default_value = true)]
    pub allow_exit_status: Allowed,
    /// Time limit of the execution
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// Memory limit of the execution, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// How the threads of the program run
    #[arg(long, value_name = "KIND", value_parser = one_of(BACKENDS), default_value = "fibers")]
    pub backend: Backend,
    #[command(flatten)]
    pub world: World,
    /// Options for the compiler, when a source file is given
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
    /// Directory for findings and compiled programs
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
}

impl How {
    /// Starts a program.
    pub fn start(
        &self,
        named: &Path,
        arguments: &[String],
        input: Option<PathBuf>,
        jobs: usize,
    ) -> Result<Hunter, Error> {
        let path = target::prepare(named, self.cflags.as_deref(), &self.out, false)?;
        let setup = Setup {
            limits: Limits { time: self.timeout, memory_kib: self.memory << 10, ..Limits::default() },
            jobs,
            backend: self.backend,
            shared: self.world.into(),
            ..Setup::new(Clock::new(Instant::now))
        };
        let (arguments, client) = (arguments.to_vec(), self.with.clone());
        Hunter::open(Subject { path, arguments, input, client, libraries: None }, setup)
    }

    /// Returns how to record the execution.
    pub fn recording(&self) -> Recording {
        Recording { seed: self.seed, events: self.events, allowed: self.allow_exit_status }
    }
}

/// Records a program.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let how = &arguments.how;
    let named = || PathBuf::from(arguments.target.file_name().unwrap_or_default()).with_extension("rht");
    let path = arguments.output.clone().unwrap_or_else(named);
    let mut hunter = how.start(&arguments.target, &arguments.arguments, how.input.clone(), 1)?;
    let mut watch = Watch::new(arguments.voice);
    let (recorded, bytes) = hunter.record_to(&path, how.recording(), &mut watch)?;
    let line = recorded.line(&path, bytes);
    let text = if arguments.message_format == Format::Json { line.json()? } else { line.text() };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write the results")?;
    if let Some(warning) = line.warning() {
        eprintln!("warning: {warning}");
    }
    Ok(match recorded.threads {
        _ if recorded.ending.is_failure => Exit::Incomplete,
        0 | 1 => Exit::Nothing,
        _ => Exit::Clean,
    })
}
