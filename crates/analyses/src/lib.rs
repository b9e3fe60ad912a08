//! The techniques of exploration, one file each.
//!
//! Each is an [`Analysis`](racehunter_explore::Analysis) that knows nothing of processes or of the command line. A new
//! technique is a new file and a row of the table in `technique.rs`.
//!
//! Start at [`Technique::portfolio`], or with the simplest one, [`Walks`].
#![forbid(unsafe_code)]

mod aliases;
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
mod technique;
mod thread_bound;
mod trie;
mod variable_bound;
mod visited;
mod wakeups;
mod walks;
mod watchpoint;
mod watchpoint_bound;
mod witness;

pub use aliases::Aliases;
pub use context_bound::{BoundKind, ContextBound, Reduction, Strategy, UnknownWord};
pub use coverage::Coverage;
pub use free_running::FreeRunning;
pub use predict::Predict;
pub use reads_from::ReadsFrom;
pub use sampling::Sampling;
pub use simplify::simplify;
pub use suspects::Suspects;
pub use technique::{Claims, Races, Row, Setting, Technique, UnknownTechnique};
pub use thread_bound::{Portions, ThreadBound, nth_order, orders_needed};
pub use variable_bound::{Bounds, VariableBound, rank_of};
pub use walks::Walks;
pub use watchpoint::Watchpoint;
pub use watchpoint_bound::WatchpointBound;
pub use witness::{codes, is_predicted, witness};

use racehunter_explore::Objects;

/// Whether one of the next numbers after `count`, of which there are `next`, is a power of two.
pub(crate) fn meets_power_of_two(count: u64, next: u64) -> bool {
    (count + 1).checked_next_power_of_two().is_some_and(|power| power <= count.saturating_add(next))
}

/// The options of all techniques. Each takes those that concern it.
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
    /// Probability that the sampled orders of thread bounding include every ordering of any T threads.
    pub confidence: f64,
    /// Iterations of a loop whose heap blocks count as separate variables, at most.
    pub iterations: Option<u32>,
    /// What counts as one variable; otherwise every part of it is one.
    pub objects: Option<Objects>,
    /// Source of all random choices.
    pub seed: u64,
    /// Let threads run freely, for the techniques that can: see [`Technique::runs_freely`].
    pub free_running: bool,
    /// Observe only the variables of a walk, or only which threads can run once a search has no preemption left.
    pub selective: bool,
    /// Which places in the code may access the same memory, if that is known: more of them are observed then.
    pub aliases: Option<Aliases>,
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
            aliases: None,
            reduction: Some(Reduction::Caching),
        }
    }
}
