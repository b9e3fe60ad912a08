//! Common code of the end-to-end tests.
//!
//! The tests use the command as a user does: they start it, check its exit code and its output, and know nothing about
//! the crates behind it (`backends` and `detector` are exceptions). They find it through the environment variable
//! `RACEHUNTER`, which `cargo xtask test` sets.
//!
//! - [`tool`] runs commands, with a guard against those that would never end.
//! - [`results`] reads the JSON lines that a hunt writes.
//! - [`schema`] compares them with the schema in the documentation.
//! - [`workshop`] is a directory for one test: sources, programs, findings.
//! - [`annotations`] reads the annotations of programs below `targets/`.
//! - [`verdict`] compares that with what a hunt reported.
//! - [`mutants`] removes synchronisation from programs.
//! - [`real`] builds widely used libraries, with and without a planted bug.
//! - [`pair`] runs a program on both backends and compares.
//! - [`probes`] reads the annotations of programs below `probes/`.
//! - [`answers`] compares these with the command's answers.
//! - [`nats`] is the server of hunts on many machines.
//! - [`processes`] looks for processes that a hunt may have left running.
//!
//! The programs in `shows/` print as tables what the tests assert. Start at `targets.rs`.
#![forbid(unsafe_code)]

pub mod annotations;
pub mod answers;
pub mod mutants;
pub mod nats;
pub mod pair;
pub mod probes;
pub mod processes;
pub mod real;
pub mod results;
pub mod schema;
pub mod tool;
pub mod verdict;
pub mod workshop;

pub use results::{Figures, Finding, Hunted, Site, Summary};
pub use tool::{Ended, Started, racehunter, root, run};
pub use workshop::Workshop;
