//! Finds out from a program's code where it may have data races, and proves that it has none.
//!
//! The input is the code of the whole program as the compiler plugin exports it ([`racehunter_ir`]), from before the
//! optimiser. The analysis is thread-modular: it looks at one thread at a time, and brings together what the threads do by
//! what each of them can reach, which locks it holds there, and which other threads can be running then.
//!
//! 1. [`program`] links the modules; [`models`] says what functions outside of the program do.
//! 2. [`points_to`] follows pointers through the program, each function once for every way to call it, each thread
//!    once for every place that creates it.
//! 3. [`flow`] follows control through the same instances: which locks are surely held, which threads may be running.
//!    In a second look it also follows the values of variables ([`cells`]), as far as nobody else can change them
//!    ([`beliefs`]).
//! 4. [`ranges`] bounds numbers: which elements of an array a thread touches, and which branches are never taken.
//! 5. [`races`] compares accesses that may touch the same memory, and lists pairs that nothing keeps apart, neither locks
//!    nor an order ([`order`]); [`ranking`] puts the most convincing first, and [`parallel`] says why they may happen at the
//!    same time.
//!
//! What cannot be modelled is a [`Gap`], and a program with gaps is never called free of races. The crate knows nothing
//! of executions and reads no files. Start at [`analyse`].
#![forbid(unsafe_code)]

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

pub use analysis::analyse;
pub use models::Models;
pub use program::Program;
pub use report::{Gap, Report};
