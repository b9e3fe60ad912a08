//! The exploration techniques, one file each.
//!
//! Each is an [`Analysis`](racehunter_explore::Analysis) that knows nothing about processes or the command line. A new
//! technique is a new file and a row of the table in `technique.rs`.
//!
//! Start at [`Technique::portfolio`], or with the simplest technique, [`Walks`].
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

/// Number of records from which on a log is long: then techniques that can do without most accesses ask for brief logs
/// ([`racehunter_explore::Plan::brief`]), and learn from whole ones less often.
pub(crate) const LONG: usize = 50_000;

/// The options of all techniques. Each technique reads those that concern it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The last bound to explore.
    pub bound: u32,
    /// Whether each smaller bound is a stage of its own, finished before the next.
    pub iterates: bool,
    /// What the bound counts.
    pub bound_kind: BoundKind,
    /// Which thread runs where a target does not say.
    pub strategy: Strategy,
    /// Number of ordering constraints of the bugs that PCT looks for.
    pub depth: u32,
    /// Maximum number of variables at which threads are preempted.
    pub variables: u32,
    /// Maximum number of threads that take part in preemptions.
    pub threads: u32,
    /// Probability that the sampled orders of thread bounding include every ordering of any T threads.
    pub confidence: f64,
    /// Maximum number of loop iterations whose heap blocks count as separate variables.
    pub iterations: Option<u32>,
    /// The objects that count as one variable each. By default every part of an object is a variable.
    pub objects: Option<Objects>,
    /// Source of all random choices.
    pub seed: u64,
    /// Let threads run freely, in techniques that support it: see [`Technique::runs_freely`].
    pub free_running: bool,
    /// Observe only the variables of a walk or, once a search has no preemption left, only which threads can run.
    pub selective: bool,
    /// The sites that may access the same memory, if known. Walks then observe these sites too.
    pub aliases: Option<Aliases>,
    /// Whether and how to leave out redundant schedules. Requires an executor that logs every access to shared memory.
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
