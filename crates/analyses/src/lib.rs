//! The techniques of exploration, one file each.
//!
//! Each is an [`Analysis`](racehunter_explore::Analysis) and knows nothing of the others, of processes, or of the
//! command line; this file gives them their names. A new technique is a new file and a line in [`Technique`].
//!
//! Start at [`Technique::portfolio`], or with the simplest one, [`Walks`].
#![forbid(unsafe_code)]

mod context_bound;
mod coverage;
mod free_running;
mod predict;
mod profile;
mod races;
mod reads_from;
mod reduction;
mod sampling;
mod simplify;
mod suspects;
mod thread_bound;
mod trie;
mod variable_bound;
mod visited;
mod wakeups;
mod walks;
mod watchpoint;
mod watchpoint_bound;
mod witness;

pub use context_bound::{BoundKind, ContextBound, Reduction, Strategy, UnknownWord};
pub use coverage::Coverage;
pub use free_running::FreeRunning;
pub use predict::Predict;
pub use reads_from::ReadsFrom;
pub use sampling::Sampling;
pub use simplify::simplify;
pub use suspects::Suspects;
pub use thread_bound::{ThreadBound, nth_order, orders_needed};
pub use variable_bound::{Bounds, VariableBound, rank_of};
pub use walks::Walks;
pub use watchpoint::Watchpoint;
pub use watchpoint_bound::WatchpointBound;
pub use witness::{codes, is_predicted, witness};

use racehunter_explore::{Objects, Portfolio};
use std::str::FromStr;

/// A technique as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Technique {
    /// A portfolio that does well on most programs.
    #[default]
    Auto,
    /// Iterative context bounding.
    ContextBound,
    /// All schedules, without a bound.
    Dfs,
    /// Random walk.
    Random,
    /// Watchpoints on conflicting accesses.
    Watchpoint,
    /// The same in all schedules with few preemptions.
    WatchpointBound,
    /// Context bounding, ranked by variables and threads.
    VariableBound,
    /// Strict priorities in as many orders as any few threads need.
    ThreadBound,
    /// Probabilistic concurrency testing.
    Pct,
    /// Probabilistic concurrency testing, with variable bounding.
    PctVb,
    /// Partial order sampling.
    Pos,
    /// Selectively uniform random walk.
    Surw,
    /// Walks that begin like others that showed something new.
    Coverage,
    /// Walks in which reads see what they have not seen yet.
    ReadsFrom,
    /// Predictions from the logs of executions.
    Predict,
    /// Watchpoints on accesses that are drawn at random.
    Sampling,
}

/// What the techniques can be told. Each takes what concerns it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The last bound to explore.
    pub bound: u32,
    /// Whether the bounds below it are stages of their own, each finished before the next.
    pub iterates: bool,
    /// What it counts.
    pub bound_kind: BoundKind,
    /// Who runs where a target leaves it open.
    pub strategy: Strategy,
    /// Ordering constraints of the bugs that PCT looks for.
    pub depth: u32,
    /// Variables at which threads are preempted, at most.
    pub variables: u32,
    /// Threads that take part in preemptions, at most.
    pub threads: u32,
    /// With what chance thread bounding has all orders of so many threads.
    pub confidence: f64,
    /// Iterations of a loop whose blocks of the heap are told apart, at most.
    pub iterations: Option<u32>,
    /// What counts as one variable; otherwise every part of it is one.
    pub objects: Option<Objects>,
    /// Source of all random choices.
    pub seed: u64,
    /// Let threads run freely, for the techniques that can: see [`Technique::runs_freely`].
    pub free_running: bool,
    /// Where a walk is about few variables, or a search can preempt no more, care for nothing else.
    pub selective: bool,
    /// Whether and how to leave out schedules that show nothing new. Only for executors that log every access to shared
    /// memory.
    pub reduction: Option<Reduction>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bound: 2,
            iterates: true,
            bound_kind: BoundKind::Preemptions,
            strategy: Strategy::MinSwitches,
            depth: 3,
            variables: 2,
            threads: 4,
            confidence: 0.99,
            iterations: None,
            objects: None,
            seed: 1,
            free_running: false,
            selective: false,
            reduction: Some(Reduction::Caching),
        }
    }
}

/// Executions of `auto` after which what is not found counts as rare.
const RARE: u64 = 1_000;

impl Technique {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Self); 16] = [
        ("auto", Self::Auto),
        ("context-bound", Self::ContextBound),
        ("watchpoint", Self::Watchpoint),
        ("watchpoint-bound", Self::WatchpointBound),
        ("variable-bound", Self::VariableBound),
        ("thread-bound", Self::ThreadBound),
        ("dfs", Self::Dfs),
        ("random", Self::Random),
        ("pct", Self::Pct),
        ("pct-vb", Self::PctVb),
        ("pos", Self::Pos),
        ("surw", Self::Surw),
        ("coverage", Self::Coverage),
        ("reads-from", Self::ReadsFrom),
        ("predict", Self::Predict),
        ("sampling", Self::Sampling),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, technique)| *technique == self).map_or("auto", |(name, _)| name)
    }

    /// Whether its work can be divided. Which pairs of accesses there are is known only on the way.
    #[must_use]
    pub const fn divides(self) -> bool {
        !matches!(self, Self::WatchpointBound)
    }

    /// Whether it can do without control over the threads.
    #[must_use]
    pub const fn runs_freely(self) -> bool {
        matches!(self, Self::Auto | Self::Watchpoint | Self::Sampling)
    }

    /// The analyses that make up the technique.
    #[must_use]
    pub fn portfolio(self, options: &Options) -> Portfolio {
        let Options { bound, bound_kind, strategy, depth, variables, threads, .. } = *options;
        let Options { confidence, iterations, seed, selective, reduction, .. } = *options;
        let bounds = Bounds { variables, threads, preemptions: bound, iterations };
        let first_bound = if options.iterates { 0 } else { bound };
        let context_bound = ContextBound::iterative(bound, bound_kind, strategy, seed).starting_at(first_bound);
        let context_bound = context_bound.reduced(reduction);
        match self {
            Self::Sampling if options.free_running => Portfolio::of(Sampling::new(seed).free_running()),
            Self::Sampling => Portfolio::of(Sampling::new(seed)),
            Self::Auto | Self::Watchpoint if options.free_running => Portfolio::of(FreeRunning::new()),
            Self::ContextBound => Portfolio::of(context_bound),
            Self::Dfs => Portfolio::of(ContextBound::unbounded(strategy, seed).reduced(reduction)),
            Self::Random => Portfolio::of(Walks::random(seed)),
            Self::Watchpoint => Portfolio::of(Watchpoint::new()),
            Self::WatchpointBound => Portfolio::of(WatchpointBound::new(bound, bound_kind, strategy, seed)),
            Self::VariableBound => {
                let analysis = VariableBound::new(bounds, strategy, seed).of(options.objects.clone());
                Portfolio::of(analysis.reduced(reduction.is_some()).selective(selective))
            }
            Self::ThreadBound => {
                let analysis = ThreadBound::new(bounds, confidence, strategy, seed);
                Portfolio::of(analysis.of(options.objects.clone()).selective(selective))
            }
            Self::Pct => Portfolio::of(Walks::pct(depth, seed)),
            Self::PctVb => Portfolio::of(Walks::pct_variables(depth, variables, seed).selective(selective)),
            Self::Pos => Portfolio::of(Walks::pos(seed)),
            Self::Surw => Portfolio::of(Walks::uniform(seed)),
            Self::Coverage => Portfolio::of(Coverage::new(seed)),
            Self::ReadsFrom => Portfolio::of(ReadsFrom::new(seed)),
            Self::Predict => Portfolio::of(Predict::new(seed)),
            // Most bugs need few preemptions, and bounding proves that there are no others. The rest are a matter of
            // luck, which should not have to wait: the kinds of walks are lucky with different programs.
            Self::Auto => {
                let walks = [Walks::uniform(seed), Walks::pct(depth, seed)];
                let guided = Portfolio::of(context_bound).with(1, ReadsFrom::after_others(seed));
                let others = walks.into_iter().fold(guided, |all, walk| all.with(1, walk));
                // What any of them runs may tell more than it shows; and what all of them do not find is rare.
                others.with(1, Predict::from_others()).with(1, Coverage::after_others(seed, RARE))
            }
        }
    }
}

impl FromStr for Technique {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let named = Self::NAMES.iter().find(|(name, _)| *name == word);
        let unknown = || UnknownWord {
            word: word.to_owned(),
            expected: "auto, context-bound, watchpoint, watchpoint-bound, variable-bound, thread-bound, dfs, random, pct, pct-vb, pos, surw, coverage, reads-from, predict, sampling",
        };
        named.map(|&(_, technique)| technique).ok_or_else(unknown)
    }
}
