//! The work behind the command: hunts a program, replays findings, records executions, tries predictions, and scans
//! code.
//!
//! A [`Hunter`] is a program under control, with everything needed to explain its bugs. An [`Observer`] gets progress
//! as typed [`Event`]s; results are returned as data. This crate writes nothing to a terminal, reads neither arguments
//! nor environment, and takes the time from a [`Clock`] that the caller passes in. The wording is in `report`.
//!
//! Start at [`Hunter::open`], then [`Hunter::hunt`].
#![forbid(unsafe_code)]

mod about;
mod archive;
mod blocks;
pub mod bundle;
pub mod campaign;
mod causes;
mod clock;
mod confirm;
mod debugger;
mod digest;
mod doubts;
mod error;
mod figures;
pub mod files;
mod findings;
pub mod fleet;
mod hunt;
pub mod installation;
mod interrupts;
pub mod locate;
pub mod merge;
mod observer;
mod pace;
mod page;
pub mod predict;
pub mod predictions;
mod record;
mod replay;
pub mod scan;
mod session;
pub mod settings;
pub mod shell;
pub mod sources;
pub mod store;
pub mod suites;
pub mod suppressions;
pub mod target;
pub mod traces;
mod world;

pub use about::about;
pub use clock::Clock;
pub use confirm::{Confirmer, Tried};
pub use debugger::{Debugging, debug_replay};
pub use error::Error;
pub use hunt::{Hunt, Hunted, NothingToExplore, Outcome};
pub use interrupts::{Interrupts, Signal};
pub use observer::{Event, Importance, Observer, Warning};
pub use page::page;
pub use record::{Recorded, Recording};
pub use replay::Replayed;
pub use session::{Hunter, Setup, Subject, jobs};
pub use store::Stored;
pub use suppressions::Suppressions;
pub use world::{Surroundings, World};
