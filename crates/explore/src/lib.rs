//! The exploration framework: [`Plan`] in, [`Execution`] out, [`Analysis`] between.
//!
//! An [`Executor`] runs a program under a plan and returns what happened. An [`Analysis`] turns its targets into plans
//! and executions into further targets. A [`Campaign`] connects the two: it owns the waitlist, the budget and the
//! findings. Nothing here knows whether the program is a real process or the in-memory [`model`], reads a clock, or
//! does I/O.
//!
//! Start at [`Plan`] and [`Execution`], then [`Analysis`], then [`Campaign`].
#![forbid(unsafe_code)]

mod analysis;
mod campaign;
mod conflicts;
mod decisions;
mod endings;
mod execution;
mod executor;
mod figures;
mod minimise;
pub mod model;
mod objects;
mod panic;
mod part;
mod patience;
mod plan;
mod points;
mod portfolio;
mod saved;
mod stable;
mod variables;

pub use analysis::{Analysis, Rank, Share};
pub use campaign::{
    Budget, Campaign, Claim, Counts, Escaped, Found, OnBug, Progress, Returned, Stop, Summary, Watcher,
};
pub use conflicts::{Conflict, Conflicts, Descriptor, Pair, Portion, all_conflicts, conflicts, conflicts_of};
pub use decisions::{Decision, Decisions, Going, Step, decisions};
pub use endings::{Allowed, Endings};
pub use execution::{Bug, Execution, LEFT_OUT, Outcome, Race, RacingAccess};
pub use executor::{Executor, ExecutorError, Flow};
pub use figures::figures;
pub use minimise::{Effort, Minimised, confirm, fewer_preemptions, minimise, room};
pub use objects::Objects;
pub use panic::Panic;
pub use part::{NoPart, Part};
pub use patience::THREADS;
pub use plan::{Observe, PATIENCE, Plan, Sample, Tail};
pub use points::{Points, reported_sites, shared_sites};
pub use portfolio::Portfolio;
pub use racehunter_abi::Switch;
pub use racehunter_abi::control::{MOST_CHANGED, MOST_TRACKED, MOST_WEIGHTS, TURN};
pub use racehunter_log::{Cause, Escape, Misuse, Record, Wait};
pub use racehunter_walk::{GatedPlace, MOST_CONSTRAINTS, MOST_RIVALS, ReadConstraint, Style};
pub use racehunter_walk::{PATIENCE_WITH_YIELDS, part_priority, path_priority};
pub use saved::{Loader, Saver, Unusable};
pub use stable::StableHasher;
pub use variables::{LastVariables, Tracked, Variable, Variables};
