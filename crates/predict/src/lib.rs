//! From one trace to the bugs of other schedules.
//!
//! A trace is one of many orders in which the same events can happen. This crate finds *correct reorderings* of it,
//! sequences that the same program with the same input can perform, which end with two conflicting accesses about to
//! happen together (a data race), with threads that wait for each other's locks (a deadlock), or with another thread's
//! access within a block that is meant to be atomic. Each [`Prediction`] comes with such a reordering as a witness.
//!
//! Three published techniques are one algorithm here with different policies ([`Policy`]), which differ only in which
//! reads must see their old values. The stages, in the order in which they are tried:
//!
//! | module | |
//! |---|---|
//! | [`index`](Index) | one pass: what is where; refuses traces that cannot have happened |
//! | `cones` | one pass: what each event needs |
//! | `candidates`, `location` | pairs of accesses that are worth a question, without enumerating all |
//! | `sync_preserving` | accepts cheaply when critical sections can keep their order |
//! | `reversal` | accepts cheaply when open critical sections can come last; refutes cheaply |
//! | `cut`, `closure`, `writes` | how far each thread must come, and what must come before what |
//! | `search` | a sequence for that order |
//! | [`validate`](validate()) | an independent judge of witnesses: nothing is reported that it does not accept |
//!
//! The crate reads no clock and does no input or output; the same trace gives the same predictions, for any number of
//! workers. It knows nothing about programs: others try whether the real program can execute a witness.
//!
//! Start reading at [`Policy`], then [`predict()`].
#![forbid(unsafe_code)]

mod atomicity;
mod candidates;
mod check;
mod closure;
mod cones;
mod cut;
mod deadlocks;
mod error;
mod happens_before;
mod ideal;
mod index;
mod location;
mod order;
mod policy;
mod predict;
mod question;
mod reversal;
mod search;
mod sync_preserving;
mod validate;
mod writes;

pub use check::{Answer, Checker, Effort, Gap, Stage};
pub use error::Error;
pub use happens_before::happens_before;
pub use index::Index;
pub use policy::{Demands, Policy};
pub use predict::{Each, Kind, Options, Prediction, Reason, Report, Unfinished, predict};
pub use question::{Question, Tail, Witness};
pub use validate::{Invalid, Validator, validate};
