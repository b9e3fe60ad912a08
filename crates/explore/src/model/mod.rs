//! Tiny programs that run in memory, under the rules of the event crate.
//!
//! For tests, here and in the crates above. A [`Program`] is a few operations per thread, a [`ModelExecutor`] runs it
//! under plans and logs what the real runtime would log, and [`schedules`] is the oracle: it enumerates every schedule
//! by plain recursion, without plans, logs or campaigns. The code is written to be obviously correct, not fast.

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
