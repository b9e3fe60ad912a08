//! Values of options.

use clap::ValueEnum;
use racehunter_explore::{Allowed, Points};
use racehunter_launch::Backend;
use racehunter_report::{ColorChoice, Format};

/// Exit statuses that are not failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statuses {
    /// Any.
    Any,
    /// These, besides 0.
    These(Vec<u8>),
}

impl Statuses {
    /// Converts them for the campaign.
    pub fn allowed(&self) -> Allowed {
        match self {
            Self::Any => Allowed::ANY,
            Self::These(statuses) => statuses.iter().fold(Allowed::default(), |all, &status| all.with(status)),
        }
    }
}

impl std::str::FromStr for Statuses {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        if words == "any" {
            return Ok(Self::Any);
        }
        let statuses = words.split(',').map(|word| word.trim().parse::<u8>());
        let statuses: Result<Vec<u8>, _> = statuses.collect();
        statuses.map(Self::These).map_err(|_| "numbers from 0 to 255, with commas between them, or `any`".to_owned())
    }
}

impl std::fmt::Display for Statuses {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => out.write_str("any"),
            Self::These(statuses) => {
                let mut statuses = statuses.clone();
                statuses.push(0);
                statuses.sort_unstable();
                statuses.dedup();
                let words: Vec<String> = statuses.iter().map(u8::to_string).collect();
                out.write_str(&words.join(","))
            }
        }
    }
}

/// How the threads of the program run.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Threads {
    /// Fibers on one kernel thread
    Fibers,
    /// Kernel threads, one of which runs at a time
    Threads,
}

impl From<Threads> for Backend {
    fn from(threads: Threads) -> Self {
        match threads {
            Threads::Fibers => Self::Fibers,
            Threads::Threads => Self::Threads,
        }
    }
}

/// What counts as a data race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Detector {
    /// Accesses that nothing orders, and what the analysis provokes
    HappensBefore,
    /// Two threads that stand before conflicting accesses at the same time, however the program synchronises
    Meeting,
    /// The same, without learning which memory turns out to be shared: faster
    None,
}

/// What a bound counts.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Counted {
    /// Switches away from a thread that could have continued
    Preemptions,
    /// All switches
    Switches,
}

/// Where a switch can happen.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Where {
    /// At synchronisation and atomics
    Sync,
    /// Also at accesses to memory that threads share
    Shared,
    /// At every access
    All,
}

impl From<Where> for Points {
    fn from(points: Where) -> Self {
        match points {
            Where::Sync => Self::Sync,
            Where::Shared => Self::Shared,
            Where::All => Self::All,
        }
    }
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Reports with source, stacks and the interleaving
    Human,
    /// One line per finding
    Short,
    /// One JSON object per line
    Json,
    /// Workflow commands for GitHub
    Github,
    /// One SARIF log, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
}

impl From<MessageFormat> for Format {
    fn from(format: MessageFormat) -> Self {
        match format {
            MessageFormat::Human => Self::Human,
            MessageFormat::Short => Self::Short,
            MessageFormat::Json => Self::Json,
            MessageFormat::Github => Self::Github,
            MessageFormat::Sarif => Self::Sarif,
            MessageFormat::Junit => Self::Junit,
        }
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// Which approximation a scan uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approximation {
    /// Under-approximation: executions, which show races
    Under,
    /// Over-approximation: the code, which proves that there are none
    Over,
    /// Both
    Both,
}
