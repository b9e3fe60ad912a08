//! Tiny programs that run in memory, under the rules of the event crate.
//!
//! For tests, here and in the crates above: a [`Program`] is a few lines of operations per thread, a [`ModelExecutor`]
//! runs it under plans and logs what the real runtime would log, and [`schedules`] is the oracle: it walks through
//! every schedule by plain recursion, without plans, logs or campaigns. Everything is written to be obviously right,
//! nothing to be fast.

mod clocks;
mod enumerate;
mod executor;
mod program;
mod random;
mod state;
mod watch;

pub use enumerate::{End, Path, Preempted, order, reachable, schedules};
pub use executor::ModelExecutor;
pub use program::{Body, Op, Program, Value};
pub use random::Shape;
