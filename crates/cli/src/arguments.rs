//! The command line. Help texts come from the comments here.

mod findings;
mod fleet;
mod values;

pub use findings::{Bundle, List, Suppress};
pub use fleet::{Entry, Status, Worker};
use values::{APPROXIMATIONS, BOUND_KINDS, DETECTORS, FRAMEWORKS, POINTS, name_of};
pub use values::{BACKENDS, COLORS, Choices, Detector, EACH, FORMATS, POLICIES, one_of};

use crate::voice::Voice;
use clap::{ArgAction, Args, Parser, Subcommand};
use racehunter_analyses::{BoundKind, Options, Reduction, Setting, Strategy, Technique};
use racehunter_explore::{Allowed, Part, Points};
use racehunter_hunter::scan::Approximation;
use racehunter_hunter::suites::Framework;
use racehunter_launch::{Backend, PREPARATORY, Shared};
use racehunter_report::{ColorChoice, Format};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Finds concurrency bugs in C and C++ programs, and proves each one by a schedule that replays it.
#[derive(Parser, Debug)]
#[command(name = "racehunter", version, after_help = FIRST_STEPS)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const FIRST_STEPS: &str = "\
First steps:
  racehunter hunt test.c              compile a file and hunt in it
  make CC=\"racehunter cc\"             build a project
  racehunter hunt ./test -- ARGUMENTS hunt the program that was built
  racehunter list                     what was found, one line each
  racehunter replay ID --gdb          go through the schedule of a finding in gdb
  racehunter report --html -o r.html  everything that was found, as one page
  racehunter doctor                   when something does not work

Exit codes: 0 nothing found, 1 findings, 2 usage or internal error, 3 unclear (or
incomplete, with --require-complete), 4 nothing to explore";

pub const EXIT_CODES: &str = "Exit codes: 0 nothing found, 1 findings, 2 usage or internal error, 3 unclear (or \
                          incomplete, with --require-complete), 4 nothing to explore";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Hunt for bugs in a program, or in a source file that is compiled first
    Hunt(Box<Hunt>),
    /// Hunt each case of a test suite on its own: GoogleTest, Catch2, CTest, or plain programs
    Test(Test),
    /// Replay a finding
    Replay(Replay),
    /// Write the findings as one page, or print them again in another format
    Report(Report),
    /// List the findings, one line each
    List(List),
    /// Report a finding without counting it, and record the reason
    Suppress(Suppress),
    /// Put a finding, its program and its sources into one file that replays on another machine
    Bundle(Bundle),
    /// Merge the parts of a divided hunt
    Merge(Merge),
    /// Explore parts of hunts that others have started with --engine: runs their programs on this machine
    Worker(Worker),
    /// Show the hunts and workers of an engine
    Status(Status),
    /// Run a program once and record what its threads do
    Record(crate::record::Arguments),
    /// Predict bugs of other schedules from one trace
    Predict(crate::predict::Arguments),
    /// Describe a trace, or convert it to another format
    Trace(crate::trace::Arguments),
    /// Compile C like clang, with instrumentation: CC="racehunter cc"
    #[command(disable_help_flag = true)]
    Cc {
        /// Arguments of the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compile C++ like clang++, with instrumentation: CXX="racehunter c++"
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        /// Arguments of the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Analyse the code for data races: prove that there are none, or show one by an execution
    Scan(Scan),
    /// Check the installation, or show which parts of a program are instrumented
    Doctor {
        /// A program that was built for RaceHunter: show which parts are instrumented
        program: Option<PathBuf>,
    },
    /// Explain what a kind of finding means and how to repair it
    Explain {
        /// The kind, such as data-race [default: list all]
        kind: Option<String>,
    },
    /// Write completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Directory for one page per command [default: the first page to standard output]
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

const SEARCH: &str = "Search";
const LIMITS: &str = "Limits";
const PROGRAM: &str = "Program";
const RESULTS: &str = "Results";
const LONG_HUNTS: &str = "Long hunts";

/// How results are printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct Output {
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS), default_value = "human")]
    pub message_format: Format,
    /// When to use colours
    #[arg(long, value_parser = one_of(COLORS), default_value = "auto")]
    pub color: ColorChoice,
}

/// What executions share with the rest of the machine.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct World {
    /// Let executions change the real files, instead of a private view
    #[arg(long)]
    pub shared_files: bool,
    /// Let executions bind ports of this machine, instead of ports in a private network
    #[arg(long)]
    pub shared_network: bool,
}

impl From<World> for Shared {
    fn from(world: World) -> Self {
        Self { files: world.shared_files, network: world.shared_network, output: false }
    }
}

/// Arguments of `hunt`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true, disable_help_flag = true)]
pub struct Hunt {
    /// How schedules are chosen
    #[arg(help_heading = SEARCH, long, value_parser = technique(), default_value = "auto")]
    pub analysis: Technique,
    #[arg(help_heading = SEARCH, long, value_name = "N", default_value_t = 2, help = concerning(Setting::Bound, "Maximum number of preemptions"))]
    pub bound: u32,
    #[arg(hide_short_help = true, help_heading = SEARCH, long, help = concerning(Setting::Iterate, "Explore everything within the bound in one stage, instead of bound 0 first, then 1, and so on"))]
    pub no_iterate: bool,
    /// What the bound counts
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "KIND", value_parser = one_of(BOUND_KINDS), default_value = "preemptions")]
    pub bound_kind: BoundKind,
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "V", default_value_t = 2, help = concerning(Setting::Variables, "Maximum number of variables at which threads are preempted"))]
    pub variables: u32,
    /// Maximum number of threads involved in a bug: those that take part in preemptions (variable-bound), or that must
    /// run in a certain order (thread-bound) [default: 4, thread-bound: 2]
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "T", value_parser = clap::value_parser!(u32).range(2..))]
    pub threads: Option<u32>,
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "P", default_value_t = 0.99, value_parser = chance, help = concerning(Setting::Confidence, "Probability that the sampled orders include every order of any T threads"))]
    pub confidence: f64,
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..), help = concerning(Setting::Iterations, "Ignore heap blocks that a loop allocates after its first L iterations"))]
    pub iterations: Option<u32>,
    #[arg(hide_short_help = true, help_heading = SEARCH, long, help = concerning(Setting::WholeObjects, "Count an array, a structure or a heap block as one variable, instead of each part of it"))]
    pub whole_objects: bool,
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16), help = concerning(Setting::Depth, "Number of ordering constraints of the bugs that are looked for"))]
    pub depth: u32,
    /// Track only the variables that a walk has drawn, and look for data races in one of 32 walks (pct-vb); skip
    /// accesses in executions without further preemptions, and look for data races in the others (variable-bound,
    /// thread-bound)
    #[arg(hide_short_help = true, help_heading = SEARCH, long)]
    pub selective: bool,
    /// Which thread runs where a schedule leaves it open: random, min-switches, or fair=N
    #[arg(hide_short_help = true, help_heading = SEARCH, long, default_value = "min-switches")]
    pub strategy: Strategy,
    /// Where a switch can happen
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_parser = one_of(POINTS), default_value = "shared")]
    pub points: Points,
    /// What counts as a data race [default: happens-before; meeting with watchpoint, watchpoint-bound, sampling and
    /// --free-running]
    #[arg(hide_short_help = true, long, value_parser = one_of(DETECTORS))]
    pub detector: Option<Detector>,
    #[arg(hide_short_help = true, long, help = free_running())]
    pub free_running: bool,
    /// Let waits on condition variables end without a signal, and let a signal wake any waiter (the default)
    #[arg(hide_short_help = true, help_heading = SEARCH, long, overrides_with = "no_spurious")]
    pub spurious: bool,
    /// Assume that waits on condition variables end only by a signal, which wakes the thread that has waited longest
    #[arg(hide_short_help = true, help_heading = SEARCH, long, overrides_with = "spurious")]
    pub no_spurious: bool,
    /// Report an exit status or output that depends on the schedule
    #[arg(help_heading = SEARCH, long)]
    pub check_output: bool,
    /// Exit statuses of the program that count as success, besides 0; without a list, all of them
    #[arg(help_heading = SEARCH, long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "any", default_value = "0", hide_default_value = true)]
    pub allow_exit_status: Allowed,
    /// Leave out schedules that differ from others only in the order of independent operations: `caching` stops at
    /// states that were explored before, `dynamic` branches only where executions show that the order matters
    #[arg(hide_short_help = true, help_heading = SEARCH, long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "caching")]
    pub reduction: Option<Reduction>,
    /// Seed of all random choices
    #[arg(help_heading = SEARCH, long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Maximum number of executions [default: 2000 where nothing else ends the hunt]
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    pub runs: Option<u64>,
    /// Time for the whole hunt, such as 60s or 5m
    #[arg(help_heading = LIMITS, long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// Stop at the first finding
    #[arg(help_heading = LIMITS, long)]
    pub stop_on_first: bool,
    /// Executions at the same time [default: number of processors]
    #[arg(help_heading = LIMITS, long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Time limit of one execution [default: 10s, or an eighth of --time if that is less]
    #[arg(help_heading = LIMITS, long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub timeout: Option<Duration>,
    /// Memory limit of one execution, in MiB
    #[arg(help_heading = LIMITS, long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// File for the program's standard input [default: nothing]
    #[arg(help_heading = PROGRAM, long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// A client of the program: a shell command that each execution starts when the program listens. It is not under control
    #[arg(help_heading = PROGRAM, long, value_name = "COMMAND", conflicts_with = "free_running")]
    pub with: Option<String>,
    /// Options for the compiler, when a source file is given
    #[arg(help_heading = PROGRAM, long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
    /// How the threads of the program run during the hunt
    #[arg(hide_short_help = true, help_heading = PROGRAM, long, value_name = "KIND", value_parser = one_of(BACKENDS), default_value = "fibers")]
    pub backend: Backend,
    /// Iterations between OnStart and OnRestart before the first one that is explored, so that lazy initialisation is
    /// done by then
    #[arg(hide_short_help = true, help_heading = PROGRAM, long, value_name = "N", default_value_t = PREPARATORY)]
    pub preparatory: u32,
    #[command(flatten, next_help_heading = PROGRAM)]
    pub world: World,
    /// Output format
    #[arg(help_heading = RESULTS, long, value_name = "FORMAT", value_parser = one_of(FORMATS), default_value = "human")]
    pub message_format: Format,
    /// Directory of the findings
    #[arg(help_heading = RESULTS, long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
    /// Exit with 3 if not everything you asked for could be explored
    #[arg(help_heading = RESULTS, long)]
    pub require_complete: bool,
    /// When to use colours
    #[arg(help_heading = RESULTS, long, value_parser = one_of(COLORS), default_value = "auto")]
    pub color: ColorChoice,
    /// Print no progress
    #[arg(help_heading = RESULTS, long, short)]
    pub quiet: bool,
    /// Report each step on standard error, not only progress
    #[arg(help_heading = RESULTS, long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Continue a hunt that ended early: the one with these options, or without a target the last one
    #[arg(help_heading = LONG_HUNTS, long)]
    pub resume: bool,
    /// Do only part K of N of the work; `racehunter merge` joins the parts
    #[arg(help_heading = LONG_HUNTS, long, value_name = "K/N", default_value_t = Part::WHOLE, hide_default_value = true)]
    pub partition: Part,
    /// Hunt with the workers of an engine, a NATS server with JetStream: nats://HOST:PORT, or tls://HOST:PORT
    #[arg(help_heading = LONG_HUNTS, long, value_name = "URL", conflicts_with_all = ["partition", "free_running", "with", "shared_files"])]
    pub engine: Option<String>,
    #[command(flatten)]
    pub entry: Entry,
    /// Maximum number of executions of a part that a worker gets [default: as many as take about 4 seconds]
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "N", requires = "engine", value_parser = clap::value_parser!(u64).range(1..))]
    pub part_runs: Option<u64>,
    /// Print the options that most hunts need
    #[arg(help_heading = RESULTS, long, short = 'h', action = ArgAction::HelpShort)]
    help: Option<bool>,
    /// Print all options
    #[arg(help_heading = RESULTS, long, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
    /// The program, or a C or C++ file
    #[arg(required_unless_present = "resume")]
    pub target: Option<PathBuf>,
    /// Arguments of the program
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

impl Hunt {
    /// Returns the time limit of one execution.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(racehunter_hunter::Hunt::execution_time(self.time))
    }

    /// Returns what counts as a data race. Techniques that provoke races do not infer them, unless asked to.
    pub fn detector(&self) -> Detector {
        let infers = self.analysis.infers_races(self.free_running);
        self.detector.unwrap_or(if infers { Detector::HappensBefore } else { Detector::Meeting })
    }

    /// Returns the options of the analyses.
    pub fn options(&self) -> Options {
        Options {
            bound: self.bound,
            iterates: !self.no_iterate,
            bound_kind: self.bound_kind,
            strategy: self.strategy,
            depth: self.depth,
            variables: self.variables,
            threads: self.threads.unwrap_or(self.analysis.default_threads()),
            confidence: self.confidence,
            iterations: self.iterations,
            objects: None,
            seed: self.seed,
            free_running: self.free_running,
            // Where every access is a point, every access is seen.
            selective: self.selective && self.points != Points::All,
            // The hunter fills them in where they are of use.
            aliases: None,
            // Independence is unknown without the accesses to shared memory, and output is not an event.
            reduction: self.reduction.filter(|_| !self.check_output && self.points != Points::Sync),
        }
    }
}

impl Hunt {
    /// Returns the options that decide which schedules are run, as on the command line. Hunts that differ in one of
    /// them are different campaigns.
    pub fn settings(&self) -> Vec<String> {
        vec![
            format!("--analysis {:?}", self.analysis),
            format!("--bound {}", self.bound),
            format!("--bound-kind {:?}", self.bound_kind),
            format!("--variables {}", self.variables),
            format!("--threads {:?}", self.threads),
            format!("--confidence {}", self.confidence),
            format!("--iterations {:?}", self.iterations),
            format!("--whole-objects {}", self.whole_objects),
            format!("--depth {}", self.depth),
            format!("--strategy {:?}", self.strategy),
            format!("--points {:?}", self.points),
            format!("--no-spurious {}", self.no_spurious),
            format!("--seed {}", self.seed),
            format!("--selective {}", self.selective),
            format!("--reduction {:?}", self.reduction),
            format!("--check-output {}", self.check_output),
            format!("--allow-exit-status={}", self.allow_exit_status),
            format!("--free-running {}", self.free_running),
            format!("--detector {:?}", self.detector()),
            format!("--shared-files {}", self.world.shared_files),
            format!("--no-iterate {}", self.no_iterate),
            format!("--preparatory {}", self.preparatory),
            format!("--shared-network {}", self.world.shared_network),
        ]
    }
}

fn chance(word: &str) -> Result<f64, String> {
    let chance = word.parse::<f64>().ok().filter(|chance| (0.0..1.0).contains(chance));
    chance.ok_or_else(|| "a number from 0 to less than 1".to_owned())
}

/// Returns the help text of an option, with the techniques that it applies to.
fn concerning(setting: Setting, help: &str) -> String {
    format!("{help} ({})", setting.techniques().join(", "))
}

fn free_running() -> String {
    let free = Technique::ALL.into_iter().filter(|technique| technique.runs_freely()).map(Technique::name);
    let names = free.collect::<Vec<_>>().join(", ");
    format!(
        "Let the threads run in parallel, and provoke races by delaying threads: for programs that cannot be controlled ({names})"
    )
}

fn technique() -> impl clap::builder::TypedValueParser<Value = Technique> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
    let names = Technique::ALL.map(|technique| PossibleValue::new(technique.name()).help(technique.row().help));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Technique>())
}

/// Arguments of `scan`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct Scan {
    /// Time for the whole scan, executions included [default: 20s]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// How pointers are followed
    #[arg(long, value_name = "NAME", default_value = "value", value_parser = ["value", "syntactic", "alias"])]
    pub backend: String,
    /// Which verdicts to look for: a race (under), a proof that the program has no race (over), or both
    #[arg(long, value_parser = one_of(APPROXIMATIONS), default_value = "both")]
    pub approx: Approximation,
    /// Descriptions of functions that are not part of the program (TOML), or `linux` for those of the Linux kernel
    #[arg(long, value_name = "FILE")]
    pub models: Vec<PathBuf>,
    /// For tasks of the competition on software verification: their options, and a verdict as the last line
    #[arg(long)]
    pub svcomp: bool,
    /// File for a witness of the verdict, in the competition's format (YAML)
    #[arg(long, value_name = "FILE", requires = "svcomp")]
    pub witness: Option<PathBuf>,
    /// Exit with 3 if the verdict is `unknown`
    #[arg(long)]
    pub require_complete: bool,
    /// Executions at the same time [default: number of processors]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS), default_value = "human")]
    pub message_format: Format,
    /// Directory for findings and compiled programs
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
    /// Options for the compiler
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
    /// When to use colours
    #[arg(long, value_parser = one_of(COLORS), default_value = "auto")]
    pub color: ColorChoice,
    #[command(flatten)]
    pub voice: Voice,
    /// C and C++ files of one program, or the program
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[arg(last = true, help = "Arguments of the program, which are tried first when it is executed")]
    pub arguments: Vec<String>,
}

/// Arguments of `replay`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct Replay {
    /// The finding, or the beginning of its id; or a file of `racehunter bundle`
    pub id: String,
    /// The program, if it is not where it was [default: there, or a file with the same build id here or below]
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
    /// Number of replays
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub times: u32,
    /// Directory of the findings
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
    /// Run the program under gdb while it follows the schedule
    #[arg(long)]
    pub gdb: bool,
    /// How the threads of the program run [default: fibers, under gdb: threads]
    #[arg(long, value_name = "KIND", value_parser = one_of(BACKENDS))]
    pub backend: Option<Backend>,
    /// Iterations between OnStart and OnRestart before the one that is replayed: the number that the hunt had
    #[arg(long, value_name = "N", default_value_t = PREPARATORY)]
    pub preparatory: u32,
    #[command(flatten)]
    pub world: World,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub voice: Voice,
    /// Arguments of gdb, such as -batch -x FILE
    #[arg(last = true, requires = "gdb", value_name = "ARGUMENTS")]
    pub debugger: Vec<String>,
}

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct Report {
    /// One self-contained HTML page, with the timeline of each finding
    #[arg(long)]
    pub html: bool,
    /// The timeline of each finding as trace events, for ui.perfetto.dev
    #[arg(long, conflicts_with = "html")]
    pub perfetto: bool,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format, without --html
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS), default_value = "human")]
    pub message_format: Format,
    /// When to use colours
    #[arg(long, value_parser = one_of(COLORS), default_value = "auto")]
    pub color: ColorChoice,
    #[command(flatten)]
    pub voice: Voice,
    /// The --out directory of the hunt
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// The same directory, as an option
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
}

/// Arguments of `test`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true)]
pub struct Test {
    /// Test programs that were built for RaceHunter
    #[arg(value_name = "PROGRAM", required_unless_present = "ctest")]
    pub programs: Vec<PathBuf>,
    /// Test framework of the programs
    #[arg(long, value_name = "KIND", value_parser = one_of(FRAMEWORKS), default_value = "auto")]
    pub framework: Framework,
    /// Hunt the tests that CTest knows in this build directory
    #[arg(long, value_name = "DIR")]
    pub ctest: Option<PathBuf>,
    /// Only the cases with this text in their names
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Cases at the same time [default: number of processors]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Time for each case, such as 10s
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// Maximum number of executions of each case
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// Seed of all random choices
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// How schedules are chosen, as for `hunt`
    #[arg(long, value_name = "NAME")]
    pub analysis: Option<String>,
    /// Stop each case at its first finding
    #[arg(long)]
    pub stop_on_first: bool,
    /// Count a case that was not explored completely as unclear
    #[arg(long)]
    pub require_complete: bool,
    /// Directory of the findings
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
    /// Arguments of the programs, besides those that choose a case
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

/// Arguments of `merge`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, args_override_self = true)]
pub struct Merge {
    /// The --out directories of the hunts
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// Where the findings of all parts are kept
    #[arg(long, value_name = "DIR", default_value = ".racehunter")]
    pub out: PathBuf,
    /// Exit with 3 if not everything you asked for could be explored
    #[arg(long)]
    pub require_complete: bool,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub voice: Voice,
}
