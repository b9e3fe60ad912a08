//! A trace: what the threads of one execution did, as data.
//!
//! A [`Trace`] is a sequence of events in the order in which they happened. Each has a thread, an [`Op`], the object
//! that it operates on and its site in the program. If the origin of the trace provides them, events also say which
//! earlier reads of their thread they depend on ([`Dependences`]). Everything is numbered densely; names are kept
//! separately, for people.
//!
//! Traces come from three places: files in the `.rht` format ([`mod@file`]), the `.std` text form that other tools of the
//! field use ([`text`]), and the log of an execution ([`recording`]). They are written to the first two.
//!
//! The crate knows nothing about analyses. It promises that no input, however broken or hostile, makes it panic or
//! allocate memory out of proportion to the input: errors are values of [`Error`] that name the place. It does not
//! judge what a trace says: a release without an acquire is a valid sequence of events, and code that draws conclusions
//! checks its own premises.
//!
//! Start reading at [`Op`], then [`Trace`].
#![deny(unsafe_code)]

mod error;
pub mod file;
mod op;
pub mod recording;
mod summary;
pub mod text;
mod trace;
mod varint;

pub use error::Error;
pub use op::{Op, Subject};
pub use summary::Summary;
pub use trace::{Dependence, Dependences, Ending, Event, EventId, NO_OBJECT, Object, Origin, Trace, TraceBuilder, Via};
