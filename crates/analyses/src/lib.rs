//! The techniques of exploration, one file each.
//!
//! Each is an [`Analysis`](racehunter_explore::Analysis) and knows nothing of the others, of processes, or of the
//! command line; this file gives them their names. A new technique is a new file and a line in [`Technique`].
//!
//! Start at [`Technique::portfolio`], or with the simplest one, [`Walks`].
#![forbid(unsafe_code)]

mod context_bound;
mod past;
mod reduction;
mod simplify;
mod trie;
mod visited;
mod walks;
mod watchpoint;

pub use context_bound::{BoundKind, ContextBound, Strategy, UnknownWord};
pub use simplify::simplify;
pub use walks::Walks;
pub use watchpoint::Watchpoint;

use racehunter_explore::Portfolio;
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
    /// Probabilistic concurrency testing.
    Pct,
    /// Partial order sampling.
    Pos,
}

/// What the techniques can be told. Each takes what concerns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The last bound to explore.
    pub bound: u32,
    /// What it counts.
    pub bound_kind: BoundKind,
    /// Who runs where a target leaves it open.
    pub strategy: Strategy,
    /// Ordering constraints of the bugs that PCT looks for.
    pub depth: u32,
    /// Source of all random choices.
    pub seed: u64,
    /// Leave out schedules that show nothing new. Only for executors that log every access to shared memory.
    pub reduce: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (bound_kind, strategy) = (BoundKind::Preemptions, Strategy::MinSwitches);
        Self { bound: 2, bound_kind, strategy, depth: 3, seed: 1, reduce: true }
    }
}

impl Technique {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("auto", Self::Auto),
        ("context-bound", Self::ContextBound),
        ("watchpoint", Self::Watchpoint),
        ("dfs", Self::Dfs),
        ("random", Self::Random),
        ("pct", Self::Pct),
        ("pos", Self::Pos),
    ];

    /// The analyses that make up the technique.
    #[must_use]
    pub fn portfolio(self, options: &Options) -> Portfolio {
        let Options { bound, bound_kind, strategy, depth, seed, reduce } = *options;
        let context_bound = ContextBound::iterative(bound, bound_kind, strategy, seed).reduced(reduce);
        match self {
            Self::ContextBound => Portfolio::of(context_bound),
            Self::Dfs => Portfolio::of(ContextBound::unbounded(strategy, seed).reduced(reduce)),
            Self::Random => Portfolio::of(Walks::random(seed)),
            Self::Watchpoint => Portfolio::of(Watchpoint::new()),
            Self::Pct => Portfolio::of(Walks::pct(depth, seed)),
            Self::Pos => Portfolio::of(Walks::pos(seed)),
            // Most bugs need few preemptions, and bounding proves that there are no others. The rest are a matter of
            // luck, which should not have to wait: the two kinds of walks are lucky with different programs.
            Self::Auto => {
                let walks = [Walks::pos(seed), Walks::pct(depth, seed)];
                walks.into_iter().fold(Portfolio::of(context_bound), |portfolio, walk| portfolio.with(1, walk))
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
            expected: "auto, context-bound, watchpoint, dfs, random, pct, pos",
        };
        named.map(|&(_, technique)| technique).ok_or_else(unknown)
    }
}
