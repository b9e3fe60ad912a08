//! The state of a running program as the runtime keeps it, without effects: no pointers, no system calls, no globals.
//!
//! The runtime lives inside other people's programs, where nothing can be tested on its own. Its decisions are
//! therefore made here, by types that own their data or borrow slices: vector clocks, the state of each synchronisation
//! primitive, virtual time, turns and horizons, the search for waiting loops, tables, parsers. The runtime turns raw
//! memory into these types, and does what they say.
//!
//! The tests compare each type with a simple model of it.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod bits;
mod clock;
pub mod file;
pub mod format;
mod held;
mod id;
pub mod memory;
pub mod nodes;
pub mod plan;
pub mod ready;
pub mod scope;
pub mod socket;
pub mod spin;
pub mod sync;
pub mod text;
mod time;
mod timer;
pub mod wait;

pub use bits::{BitSet, Neighbours, SignalSet};
pub use clock::{ClockValue, ThreadClocks, join};
pub use held::{Held, HeldLocks, MAX_HELD};
pub use id::Owner;
pub use racehunter_abi::{Address, CodeAddress, EventNumber, ThreadId};
pub use time::{Clock, Deadline, SECOND, Timespec, VirtualTime};
pub use timer::{Timer, TimerSetting, seconds_left};
