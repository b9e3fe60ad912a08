//! The [`Executor`](racehunter_explore::Executor) over real processes.
//!
//! A [`Worker`](worker::Worker) is one fork server: the program, stopped just before `main`, that forks a child per
//! execution. [`Processes`] drives several of them side by side. Whatever the program does (crash, hang, exhaust
//! memory, kill its parent) is an outcome; a server that dies is started again.
//!
//! This crate knows nothing about analyses or findings. Start at [`Processes`].

mod batch;
mod debug;
mod family;
mod memory;
mod orphans;
mod output;
mod processes;
mod record;
mod region;
mod results;
mod rounds;
mod scarcity;
mod stop;
mod stopwatch;
mod stream;
mod wire;
mod worker;

pub use debug::debug;
pub use processes::{Backend, PREPARATORY, Processes, Shared};
pub use scarcity::why_no_threads;
pub use stop::StopSign;
pub use worker::{LaunchError, Limits, Mapping, Program};
