//! Values of options, with their names and help texts.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use racehunter_analyses::BoundKind;
use racehunter_explore::Points;
use racehunter_hunter::scan::Approximation;
use racehunter_hunter::suites::Framework;
use racehunter_launch::Backend;
use racehunter_predict::{Each, Policy};
use racehunter_report::{ColorChoice, Format};

/// The values of an option: name, help text, and what the value stands for. A value without a help text is not listed.
pub type Choices<T> = [(&'static str, &'static str, T)];

/// How the threads of the program run.
pub const BACKENDS: &Choices<Backend> = &[
    ("fibers", "Fibers on one kernel thread", Backend::Fibers),
    ("threads", "Kernel threads, one of which runs at a time", Backend::Threads),
];

/// What counts as a data race.
pub const DETECTORS: &Choices<Detector> = &[
    ("happens-before", "Accesses that nothing orders, and what the analysis provokes", Detector::HappensBefore),
    (
        "meeting",
        "Two threads that stand before conflicting accesses at the same time, however the program synchronises",
        Detector::Meeting,
    ),
    ("none", "As meeting, but without learning which memory turns out to be shared: faster", Detector::None),
];

/// What a bound counts.
pub const BOUND_KINDS: &Choices<BoundKind> = &[
    ("preemptions", "Switches away from a thread that could have continued", BoundKind::Preemptions),
    ("switches", "All switches", BoundKind::Switches),
];

/// Where a switch can happen.
pub const POINTS: &Choices<Points> = &[
    ("sync", "At synchronisation and atomics", Points::Sync),
    ("shared", "Also at accesses to memory that threads share", Points::Shared),
    ("all", "At every access", Points::All),
];

/// Output formats.
pub const FORMATS: &Choices<Format> = &[
    ("human", "Reports with source, stacks and the interleaving", Format::Human),
    ("short", "One line per finding", Format::Short),
    ("json", "One JSON object per line", Format::Json),
    ("github", "Workflow commands for GitHub", Format::Github),
    ("sarif", "One SARIF log, for code scanning", Format::Sarif),
    ("junit", "JUnit XML, for test reports", Format::Junit),
];

/// When to use colours.
pub const COLORS: &Choices<ColorChoice> = &[
    ("auto", "On a terminal, unless NO_COLOR is set", ColorChoice::Auto),
    ("always", "Always", ColorChoice::Always),
    ("never", "Never", ColorChoice::Never),
];

/// Which approximation a scan uses.
pub const APPROXIMATIONS: &Choices<Approximation> = &[
    ("under", "Under-approximation: executions, which show races", Approximation::Under),
    ("over", "Over-approximation: the code, which proves that there are none", Approximation::Over),
    ("both", "Both", Approximation::Both),
];

/// Test frameworks.
pub const FRAMEWORKS: &Choices<Framework> = &[
    ("auto", "Recognise it by the symbols of the program", Framework::Auto),
    ("gtest", "GoogleTest", Framework::Gtest),
    ("catch2", "Catch2", Framework::Catch2),
    ("plain", "The program is one test", Framework::Plain),
];

/// What a reordering must preserve.
pub const POLICIES: &Choices<Policy> = &[
    ("m2", "The write that every read sees", Policy::M2),
    ("seqcheck", "The writes seen by reads that a branch follows", Policy::SeqCheck),
    ("nre", "The writes seen by reads that decide something", Policy::Nre),
    // As SeqCheck was published, for comparison: its predictions can be false.
    ("published-seqcheck", "", Policy::PublishedSeqCheck),
];

/// How many races to report.
pub const EACH: &Choices<Each> = &[
    ("sites", "Each pair of sites", Each::Sites),
    ("event", "Each pair of sites and each later event", Each::Event),
    ("pair", "Each pair of events", Each::Pair),
];

/// What counts as a data race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detector {
    HappensBefore,
    Meeting,
    None,
}

/// Returns a parser for the values of a table.
pub fn one_of<T: Copy + Send + Sync + 'static>(choices: &'static Choices<T>) -> impl TypedValueParser<Value = T> {
    let value = |(name, help, _): &(&'static str, &'static str, T)| match *help {
        "" => PossibleValue::new(*name).hide(true),
        help => PossibleValue::new(*name).help(help),
    };
    let named = |name: String| choices.iter().find(|choice| choice.0 == name).map(|choice| choice.2).ok_or("unknown");
    PossibleValuesParser::new(choices.iter().map(value)).try_map(named)
}

/// Returns the name of a value.
pub fn name_of<T: PartialEq>(choices: &Choices<T>, value: &T) -> &'static str {
    choices.iter().find(|choice| choice.2 == *value).map_or("", |choice| choice.0)
}
