//! The log of an execution, as typed events.
//!
//! The target writes [`Record`]s: fixed words whose meaning depends on their kind. This crate is the only one in the
//! controller that knows that meaning. An [`Entry`] is a record read in place; [`Entry::event`] returns what happened, as
//! an [`Event`] with named fields. Reading a log copies nothing and allocates nothing.
//!
//! On top of that are the questions that every analysis asks about a log:
//!
//! - the identity of a thread, whatever the schedule: [`FamilyTree`];
//! - which event precedes which: [`VectorClock`], [`ForkJoin`];
//! - which operations depend on each other: [`Footprint`], the one dependence relation of the controller;
//! - what has happened so far, up to the order of independent operations: [`Past`], [`History`].
//!
//! The crate must not know plans, future schedules, analyses, findings or processes. Start at [`Event`], then [`Entry`].
#![forbid(unsafe_code)]

mod access;
mod clock;
mod decode;
mod encode;
mod entry;
mod event;
mod family;
mod footprint;
mod operands;
mod past;

pub use access::{Access, AccessMode, RaceAccess, RaceSide};
pub use clock::VectorClock;
pub use encode::Position;
pub use entry::{Entry, entries};
pub use event::Event;
pub use family::{FamilyTree, ForkJoin};
pub use footprint::{Footprint, Touch};
pub use operands::{
    Attempt, Blockage, JoinOutcome, LockMode, OncePhase, SemaphoreAttempt, SignalWaitPhase, ThreadSet, WaitEndReason,
};
pub use past::{History, ObjectHasher, Past, mix};
pub use racehunter_abi::{
    Address, Cause, CodeAddress, Escape, EventNumber, File, FileKind, FileOperation, Misuse, Record, SiteId,
    TRACES_OF_FIFOS, TRACES_OF_KERNEL, TRACES_OF_KEYS, TRACES_OF_LINKS, TRACES_OF_NETWORK, TRACES_OF_PORTS,
    TRACES_OF_PROCESSES, ThreadId, ThreadPath, Touched, UNMODELLED, UNMODELLED_FUNCTION, Wait, descriptor_at,
    may_order,
};
