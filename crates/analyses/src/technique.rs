//! The table of techniques. A technique is one file of its own and one row here.
//!
//! Everything that depends on the list of techniques reads this table: the values and the help of `--analysis`, the help of
//! each option, whether a campaign can be divided, the default limit of a hunt, and the test that compares the table with
//! the user guide.

use crate::{
    Bounds, ContextBound, Coverage, FreeRunning, Options, Predict, ReadsFrom, Sampling, ThreadBound, VariableBound,
    Walks, Watchpoint, WatchpointBound,
};
use racehunter_explore::Portfolio;
use std::str::FromStr;

/// One row: what the rest of the tool needs to know about a technique.
pub struct Row {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What a finished hunt claims.
    pub claims: Claims,
    /// Whether the work can be divided by `--partition`.
    pub divides: bool,
    /// Whether it supports `--free-running`.
    pub runs_freely: bool,
    /// How it finds data races unless the user says otherwise.
    pub races: Races,
    /// The options that concern it, besides those that concern every technique.
    pub options: &'static [Setting],
    /// Builds the analyses of the technique.
    pub portfolio: fn(&Options) -> Portfolio,
}

/// What a technique claims when it has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claims {
    /// It ends, having covered everything within its bounds. Such a hunt needs no limit.
    Coverage,
    /// It covers something, and then continues with other analyses.
    CoverageOnTheWay,
    /// Nothing, or a probability. Without a limit it never ends.
    Nothing,
}

/// How a technique finds data races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Races {
    /// It infers them from the order of synchronisation (happens-before).
    Inferred,
    /// It provokes them: two threads stand before conflicting accesses at the same time.
    Met,
    /// As `Met`, for pairs of accesses seen in a monitored execution.
    MetInPairs,
}

/// An option that concerns some of the techniques.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `--bound` and `--bound-kind`.
    Bound,
    /// `--no-iterate`.
    Iterate,
    /// `--variables`.
    Variables,
    /// `--threads`.
    Threads,
    /// `--confidence`.
    Confidence,
    /// `--iterations`.
    Iterations,
    /// `--whole-objects`.
    WholeObjects,
    /// `--depth`.
    Depth,
    /// `--selective`.
    Selective,
    /// `--reduction`.
    Reduction,
}

impl Setting {
    /// Returns the names of the techniques that the option concerns, in the order of the table.
    #[must_use]
    pub fn techniques(self) -> Vec<&'static str> {
        let rows = Technique::ALL.iter().map(|technique| technique.row());
        rows.filter(|row| row.options.contains(&self)).map(|row| row.name).collect()
    }
}

/// Defines [`Technique`] and its table.
macro_rules! techniques {
    ($($(#[$note:meta])* $name:ident { $($field:tt)* })*) => {
        /// A technique, as named on the command line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum Technique {
            $($(#[$note])* $name,)*
        }

        impl Technique {
            /// All techniques, in the order in which they are listed.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];
            /// All techniques, by name.
            pub const NAMES: [(&'static str, Self); Self::ALL.len()] = [$((Self::$name.row().name, Self::$name)),*];

            /// Returns its row of the table.
            #[must_use]
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Self::$name => {
                        const ROW: Row = Row { $($field)* };
                        &ROW
                    })*
                }
            }
        }
    };
}

techniques! {
    /// A portfolio that does well on most programs.
    #[default]
    Auto {
        name: "auto",
        help: "Several techniques that share the executions: does well on most programs",
        claims: Claims::CoverageOnTheWay,
        divides: true,
        runs_freely: true,
        races: Races::Inferred,
        options: &[Setting::Bound, Setting::Iterate, Setting::Depth, Setting::Reduction],
        portfolio: auto,
    }
    /// Iterative context bounding.
    ContextBound {
        name: "context-bound",
        help: "All schedules with few preemptions: 0 first, then 1, up to the bound",
        claims: Claims::Coverage,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[Setting::Bound, Setting::Iterate, Setting::Reduction],
        portfolio: |options| Portfolio::of(context_bound(options)),
    }
    /// Watchpoints on conflicting accesses.
    Watchpoint {
        name: "watchpoint",
        help: "Pairs of conflicting accesses, made to meet by holding one thread back",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: true,
        races: Races::MetInPairs,
        options: &[],
        portfolio: |options| {
            if options.free_running { Portfolio::of(FreeRunning::new()) } else { Portfolio::of(Watchpoint::new()) }
        },
    }
    /// Watchpoints in all schedules with few preemptions.
    WatchpointBound {
        name: "watchpoint-bound",
        help: "Pairs of conflicting accesses in all schedules with few preemptions",
        claims: Claims::Coverage,
        // The pairs of accesses are only discovered during the search.
        divides: false,
        runs_freely: false,
        races: Races::MetInPairs,
        options: &[Setting::Bound],
        portfolio: |options| {
            let Options { bound, bound_kind, strategy, seed, .. } = *options;
            Portfolio::of(WatchpointBound::new(bound, bound_kind, strategy, seed))
        },
    }
    /// Context bounding, ordered by variables and threads.
    VariableBound {
        name: "variable-bound",
        help: "Context bounding, few variables and threads first",
        claims: Claims::Coverage,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[
            Setting::Bound, Setting::Variables, Setting::Threads, Setting::Iterations, Setting::WholeObjects,
            Setting::Selective, Setting::Reduction,
        ],
        portfolio: |options| {
            let analysis = VariableBound::new(bounds(options), options.strategy, options.seed);
            let analysis = analysis.of(options.objects.clone()).reduced(options.reduction.is_some());
            Portfolio::of(analysis.selective(options.selective))
        },
    }
    /// Strict priorities, in enough orders for any few threads.
    ThreadBound {
        name: "thread-bound",
        help: "Strict priorities, in as many orders as any few threads need",
        claims: Claims::Coverage,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[
            Setting::Bound, Setting::Variables, Setting::Threads, Setting::Confidence, Setting::Iterations,
            Setting::WholeObjects, Setting::Selective,
        ],
        portfolio: |options| {
            let analysis = ThreadBound::new(bounds(options), options.confidence, options.strategy, options.seed);
            Portfolio::of(analysis.of(options.objects.clone()).selective(options.selective))
        },
    }
    /// All schedules, without a bound.
    Dfs {
        name: "dfs",
        help: "All schedules, depth first, without a bound",
        claims: Claims::Coverage,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[Setting::Reduction],
        portfolio: |options| {
            let analysis = ContextBound::unbounded(options.strategy, options.seed);
            Portfolio::of(analysis.reduced(options.reduction))
        },
    }
    /// Random walk.
    Random {
        name: "random",
        help: "Random walk: any thread, at every point",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[],
        portfolio: |options| Portfolio::of(Walks::random(options.seed)),
    }
    /// Probabilistic concurrency testing.
    Pct {
        name: "pct",
        help: "Probabilistic concurrency testing: random priorities with few changes",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[Setting::Depth],
        portfolio: |options| Portfolio::of(Walks::pct(options.depth, options.seed)),
    }
    /// Probabilistic concurrency testing, with variable bounding.
    PctVb {
        name: "pct-vb",
        help: "As pct, with the changes at few variables",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[Setting::Variables, Setting::Depth, Setting::Selective],
        portfolio: |options| {
            let walks = Walks::pct_variables(options.depth, options.variables, options.seed);
            Portfolio::of(walks.selective(options.selective).with_aliases(options.aliases.clone()))
        },
    }
    /// Partial order sampling.
    Pos {
        name: "pos",
        help: "Partial order sampling: random priorities of events",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[],
        portfolio: |options| Portfolio::of(Walks::pos(options.seed)),
    }
    /// Selectively uniform random walk.
    Surw {
        name: "surw",
        help: "Selectively uniform random walk: interleavings of one variable at equal chances",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[],
        portfolio: |options| Portfolio::of(Walks::uniform(options.seed)),
    }
    /// Walks that start from executions that covered something new.
    Coverage {
        name: "coverage",
        help: "Walks that begin like those that showed something new",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[],
        portfolio: |options| Portfolio::of(Coverage::new(options.seed)),
    }
    /// Walks in which reads see writes that they have not seen yet.
    ReadsFrom {
        name: "reads-from",
        help: "Executions in which reads see writes that they have not seen yet",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[],
        portfolio: |options| Portfolio::of(ReadsFrom::new(options.seed)),
    }
    /// Predictions from the logs of executions.
    Predict {
        name: "predict",
        help: "Schedules that are predicted from the logs of executions to show a bug",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: false,
        races: Races::Inferred,
        options: &[],
        portfolio: |options| Portfolio::of(Predict::new(options.seed)),
    }
    /// Watchpoints on randomly chosen accesses.
    Sampling {
        name: "sampling",
        help: "Watchpoints on accesses that are drawn at random",
        claims: Claims::Nothing,
        divides: true,
        runs_freely: true,
        races: Races::Met,
        options: &[],
        portfolio: |options| {
            let sampling = Sampling::new(options.seed);
            Portfolio::of(if options.free_running { sampling.free_running() } else { sampling })
        },
    }
}

/// Executions of `auto` after which a bug not found counts as rare.
const RARE: u64 = 1_000;

/// Most bugs need few preemptions, and bounding proves that no such bug exists. The rest take luck and should not have to
/// wait; each kind of walk suits different programs.
fn auto(options: &Options) -> Portfolio {
    if options.free_running {
        return Portfolio::of(FreeRunning::new());
    }
    let Options { seed, depth, .. } = *options;
    let guided = Portfolio::of(context_bound(options)).with(1, ReadsFrom::after_others(seed));
    let others = guided.with(1, Walks::uniform(seed)).with(1, Walks::pct(depth, seed));
    // Any log may predict more than its execution shows; and a bug that all of them miss is rare.
    others.with(1, Predict::from_others()).with(1, Coverage::after_others(seed, RARE))
}

fn context_bound(options: &Options) -> ContextBound {
    let Options { bound, bound_kind, strategy, seed, .. } = *options;
    let first_bound = if options.iterates { 0 } else { bound };
    ContextBound::iterative(bound, bound_kind, strategy, seed).starting_at(first_bound).reduced(options.reduction)
}

fn bounds(options: &Options) -> Bounds {
    let Options { bound, variables, threads, iterations, .. } = *options;
    Bounds { variables, threads, preemptions: bound, iterations }
}

impl Technique {
    /// Returns true if the technique looks for pairs of conflicting accesses in one execution and provokes them in
    /// others. Where threads run freely, `auto` stands for one that does.
    #[must_use]
    pub fn provokes_pairs(self, runs_freely: bool) -> bool {
        self.row().races == Races::MetInPairs || runs_freely && self == Self::Auto
    }

    /// Returns true if races are inferred from the order of events, unless the user says otherwise: techniques that provoke
    /// races do not need that, and threads that run freely have no such order.
    #[must_use]
    pub fn infers_races(self, runs_freely: bool) -> bool {
        self.row().races == Races::Inferred && !runs_freely
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns whether its work can be divided.
    #[must_use]
    pub const fn divides(self) -> bool {
        self.row().divides
    }

    /// Returns whether it supports `--free-running`.
    #[must_use]
    pub const fn runs_freely(self) -> bool {
        self.row().runs_freely
    }

    /// Returns the default of `--threads`. The orders of thread bounding grow fast with this number.
    #[must_use]
    pub const fn default_threads(self) -> u32 {
        if matches!(self, Self::ThreadBound) { 2 } else { 4 }
    }

    /// Builds the analyses of the technique.
    #[must_use]
    pub fn portfolio(self, options: &Options) -> Portfolio {
        (self.row().portfolio)(options)
    }
}

/// The name of no technique.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no analysis `{0}`; there are {names}", names = Technique::ALL.map(Technique::name).join(", "))]
pub struct UnknownTechnique(String);

impl FromStr for Technique {
    type Err = UnknownTechnique;

    fn from_str(word: &str) -> Result<Self, UnknownTechnique> {
        let named = Self::ALL.into_iter().find(|technique| technique.name() == word);
        named.ok_or_else(|| UnknownTechnique(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../docs/guide.md");

    #[test]
    fn the_guide_has_a_row_for_every_technique() {
        let listed: Vec<&str> = GUIDE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        for technique in Technique::ALL {
            assert!(listed.contains(&technique.name()), "docs/guide.md has no row for `{}`", technique.name());
        }
    }

    #[test]
    fn names_are_valid_option_values_and_unique() {
        for (at, technique) in Technique::ALL.into_iter().enumerate() {
            let name = technique.name();
            assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
            assert_eq!(Technique::from_str(name), Ok(technique), "{name}");
            assert!(Technique::ALL[..at].iter().all(|other| other.row().help != technique.row().help), "{name}");
        }
    }
}
