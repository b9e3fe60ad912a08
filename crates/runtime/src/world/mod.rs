//! State that is not memory of the program: files, their names, what the kernel keeps for the process.
//!
//! Whatever the program looks at or changes there has a [cell](cells); calls that touch the same one are ordered by the
//! schedule like accesses to the same memory. [`files`] knows which call touches what, [`changes`] are those
//! that libraries make too, and [`view`] sees to it that what an
//! execution changes is gone with it; [`network`] does the same for ports, and [`ipc`] for queues and the like. [`random`] numbers and the names of [`temporary`] files are the same in every execution.

pub(crate) mod cells;
pub(crate) mod changes;
pub(crate) mod copies;
pub(crate) mod early;
pub(crate) mod files;
mod ipc;
mod namespace;
pub(crate) mod network;
pub(crate) mod paths;
pub(crate) mod random;
mod temporary;
mod times;
pub(crate) mod view;
