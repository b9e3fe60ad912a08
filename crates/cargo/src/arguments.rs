//! The command line: options of cargo, options of `racehunter hunt`, and a few of our own.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;

/// An option that is passed on: its name, the name of its value, and what it does.
type Passed = (&'static str, Option<&'static str>, &'static str);

/// Options that are passed on to `cargo test` and `cargo build`.
const CARGO: &[Passed] = &[
    ("package", Some("SPEC"), "Package to build"),
    ("workspace", None, "All packages of the workspace"),
    ("exclude", Some("SPEC"), "Packages to leave out"),
    ("lib", None, "Only the library"),
    ("bins", None, "All programs"),
    ("bin", Some("NAME"), "Only this program"),
    ("examples", None, "All examples"),
    ("example", Some("NAME"), "Only this example"),
    ("tests", None, "All targets that have tests"),
    ("test", Some("NAME"), "Only this integration test"),
    ("features", Some("FEATURES"), "Features to activate"),
    ("all-features", None, "All features"),
    ("no-default-features", None, "No default feature"),
    ("release", None, "With the release profile"),
    ("profile", Some("NAME"), "With this profile"),
    ("manifest-path", Some("PATH"), "Path to Cargo.toml"),
    ("locked", None, "Cargo.lock stays as it is"),
    ("offline", None, "Without the network"),
    ("frozen", None, "Both --locked and --offline"),
    ("config", Some("KEY=VALUE"), "Another setting of cargo"),
];

/// Options that are passed on to `racehunter hunt`.
const HUNT: &[Passed] = &[
    ("analysis", Some("NAME"), "How schedules are chosen [default: auto]"),
    ("bound", Some("N"), "Maximum number of preemptions, for bounded analyses [default: 2]"),
    ("bound-kind", Some("KIND"), "What the bound counts"),
    ("variables", Some("V"), "Maximum number of variables at which threads are preempted"),
    ("threads", Some("T"), "Maximum number of threads involved in a bug"),
    ("depth", Some("D"), "Number of ordering constraints of the bugs that pct looks for"),
    ("strategy", Some("S"), "Which thread runs where a schedule leaves it open"),
    ("points", Some("P"), "Where a switch can happen"),
    ("detector", Some("D"), "What looks for data races in every execution"),
    ("seed", Some("S"), "Seed of all random choices"),
    ("runs", Some("N"), "Maximum number of executions of a test"),
    ("time", Some("TIME"), "Time for a test, such as 60s or 5m"),
    ("timeout", Some("TIME"), "Time limit of one execution"),
    ("memory", Some("MIB"), "Memory limit of one execution"),
    ("backend", Some("KIND"), "How the threads of the program run"),
    ("no-spurious", None, "Waits on condition variables end only by a signal"),
    ("check-output", None, "Report an exit status or output that depends on the schedule"),
    ("free-running", None, "Let the threads run in parallel"),
    ("shared-files", None, "Let executions change the real files"),
    ("stop-on-first", None, "Stop at the first finding of a test"),
    ("require-complete", None, "Exit with 3 if not everything you asked for could be explored"),
];

const EXIT_CODES: &str = "Exit codes: 0 nothing found, 1 findings or a failed test, 2 usage or internal error, 3 nothing found \
                          and that means nothing, 4 nothing to explore";

/// Returns the whole command line.
pub fn command() -> Command {
    let setup = Command::new("setup")
        .about("Instrument the standard library of this toolchain; `test` does this when needed")
        .args(own());
    let jobs = Arg::new("jobs").long("jobs").short('j').value_name("N").value_parser(value_parser!(usize));
    let format = Arg::new("message-format").long("message-format").value_name("FORMAT").default_value("human");
    let test = common(Command::new("test"))
        .about("Hunt every test of a crate, each on its own")
        .after_help(EXIT_CODES)
        .arg(Arg::new("filter").value_name("FILTER").help("Only tests whose names contain this"))
        .arg(
            Arg::new("harness")
                .last(true)
                .num_args(0..)
                .help("More filters; --exact, --skip, --ignored, --include-ignored"),
        )
        .arg(jobs.help("Tests at the same time [default: number of processors]"))
        .arg(format.value_parser(["human", "short", "json"]).help("Output format"))
        .arg(
            Arg::new("junit")
                .long("junit")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Also write the results as JUnit XML"),
        )
        .arg(Arg::new("list").long("list").action(ArgAction::SetTrue).help("List the tests without hunting"));
    let jobs = Arg::new("jobs").long("jobs").short('j').value_name("N").value_parser(value_parser!(usize));
    let format = Arg::new("message-format").long("message-format").value_name("FORMAT").default_value("human");
    let run = common(Command::new("run"))
        .about("Hunt a program or an example of a crate")
        .after_help(EXIT_CODES)
        .arg(Arg::new("arguments").last(true).num_args(0..).help("Arguments of the program"))
        .arg(jobs.help("Executions at the same time [default: number of processors]"))
        .arg(format.help("Output format"));
    let build = Command::new("build")
        .about(
            "Build a crate, instrumented, and print the paths of its executables and of its libraries for other languages",
        )
        .args(own())
        .args(passed(CARGO, "Build, as cargo has it"))
        .args(places());
    let forwarded = |name: &'static str, about: &'static str| Command::new(name).about(about);
    Command::new("cargo-racehunter")
        .bin_name("cargo racehunter")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Finds concurrency bugs in unchanged Rust crates, and proves each one by a schedule that replays it")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([test, run, build, setup])
        .subcommand(forwarded("replay", "Replay a finding: as `racehunter replay`"))
        .subcommand(forwarded("report", "Write the findings: as `racehunter report`"))
        .subcommand(forwarded("explain", "Explain a kind of finding: as `racehunter explain`"))
}

fn own() -> [Arg; 2] {
    [
        Arg::new("sysroot-dir")
            .long("sysroot-dir")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Directory of instrumented standard libraries [default: $RACEHUNTER_SYSROOTS, or racehunter in the user's cache]"),
        Arg::new("quiet").long("quiet").short('q').action(ArgAction::SetTrue).help("Results only"),
    ]
}

fn common(command: Command) -> Command {
    let out = Arg::new("out").long("out").value_name("DIR").value_parser(value_parser!(PathBuf));
    command
        .args(own())
        .args(passed(CARGO, "Build, as cargo has it"))
        .args(passed(HUNT, "Hunt, as racehunter has it"))
        .args(places())
        .arg(out.help("Directory of the findings [default: .racehunter at the root of the workspace]"))
}

/// Returns the options for the target and the target directory.
fn places() -> [Arg; 2] {
    let directory = Arg::new("target-dir").long("target-dir").value_name("DIR").value_parser(value_parser!(PathBuf));
    [
        Arg::new("target").long("target").value_name("TRIPLE").hide(true),
        directory.help("Build directory of cargo [default: `racehunter` below its usual one]"),
    ]
}

fn passed(options: &'static [Passed], heading: &'static str) -> impl Iterator<Item = Arg> {
    options.iter().map(move |&(name, value, help)| {
        let arg = Arg::new(name).long(name).help(help).help_heading(heading);
        let arg = match name {
            "package" => arg.short('p'),
            "features" => arg.short('F'),
            "release" => arg.short('r'),
            _ => arg,
        };
        match value {
            Some(value) => arg.value_name(value).action(ArgAction::Append),
            None => arg.action(ArgAction::SetTrue),
        }
    })
}

/// Returns the options of cargo that were given, as words.
pub fn for_cargo(matches: &ArgMatches) -> Vec<String> {
    words(matches, CARGO)
}

/// Returns the options of `racehunter hunt` that were given, as words.
pub fn for_hunt(matches: &ArgMatches) -> Vec<String> {
    words(matches, HUNT)
}

fn words(matches: &ArgMatches, options: &[Passed]) -> Vec<String> {
    let mut words = Vec::new();
    for &(name, value, _) in options {
        match value {
            None if matches.get_flag(name) => words.push(format!("--{name}")),
            None => {}
            Some(_) => {
                for value in matches.get_many::<String>(name).into_iter().flatten() {
                    words.extend([format!("--{name}"), value.clone()]);
                }
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_passed_on_as_they_were_given() {
        let line = "cargo-racehunter test -p queue --release --runs 50 --seed 7 pop -- --skip slow";
        let matches = command().get_matches_from(line.split(' '));
        let (_, matches) = matches.subcommand().unwrap();
        assert_eq!(for_cargo(matches).join(" "), "--package queue --release");
        assert_eq!(for_hunt(matches).join(" "), "--seed 7 --runs 50");
        assert_eq!(matches.get_one::<String>("filter").map(String::as_str), Some("pop"));
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
