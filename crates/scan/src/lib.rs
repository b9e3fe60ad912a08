//! Finds possible data races in a program's code, or proves that it has none.
//!
//! The input is the code of the whole program as the compiler plugin exports it ([`racehunter_ir`]), before the
//! optimiser runs. The analysis is thread-modular: it analyses one thread at a time, and combines the threads by what
//! each of them can reach, which locks it holds there (its *lockset*), and which threads *may happen in parallel*.
//!
//! 1. [`program`] links the modules; [`models`] describes functions outside the program; [`mod@cfg`] has control flow.
//! 2. [`mod@pointer`] is the points-to analysis, context-sensitive in calls and in the places that create threads.
//! 3. [`solver`] computes a state for each point of each thread, until a fixed point: locksets ([`locks`]), active threads
//!    ([`threads`]), events that order accesses ([`order`]), constants, and values of variables under global invariants.
//! 4. [`ranges`] bounds numbers, by intervals with widening: which elements of an array a thread touches, and which branches are never taken.
//! 5. [`race`] compares accesses that may touch the same memory, and lists candidates: pairs that nothing keeps apart.
//!
//! Apart from that, [`aliases`](mod@aliases) says which instructions may access the same memory, for executions that observe a part of it.
//!
//! The domains of all of these are lattices ([`domain`]). Anything that cannot be modelled is a [`Gap`], and a program
//! with gaps is never called race-free. The crate knows nothing about executions and reads no files. Start at
//! [`analyse`].
#![forbid(unsafe_code)]

pub mod aliases;
pub mod analysis;
pub mod cfg;
pub mod determinism;
pub mod domain;
pub mod index;
pub mod locks;
pub mod models;
pub mod order;
pub mod pointer;
pub mod program;
pub mod race;
pub mod ranges;
pub mod report;
pub mod solver;
pub mod threads;

pub use aliases::{Aliases, aliases};
pub use analysis::analyse;
pub use models::Models;
pub use program::Program;
pub use report::{Gap, Report};
