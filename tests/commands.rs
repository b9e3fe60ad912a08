//! Everything that a user can do, and its result. `targets.rs` is the other half: every program below `targets/`.
//!
//! All files form one program, because linking one per file takes longer than running it.

mod backends;
mod beginnings;
mod bounding;
mod brief;
mod campaigns;
mod chaos;
mod claims;
mod compilers;
mod crate_kinds;
mod crates;
mod detector;
mod determinism;
mod distrust;
mod documents;
mod experience;
mod files;
mod fleet;
mod free_running;
mod limits;
mod loops;
mod meeting;
mod messages;
mod options;
mod outside;
mod panics;
mod papers;
mod predict;
mod primitives;
mod probes;
mod real;
mod recipes;
mod recorded;
mod reports;
mod rounds;
mod scale;
mod selective;
mod servers;
mod signals;
mod survival;
mod travel;
mod uncontrolled;
mod wakeups;
mod watchpoints;
