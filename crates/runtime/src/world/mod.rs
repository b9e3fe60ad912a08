//! State outside the program's memory: files, their names, kernel state of the process.
//!
//! Everything that the program reads or changes there has a [cell](cells); the schedule orders calls that touch the
//! same one like accesses to the same memory. [`files`] knows which call touches what, [`changes`] covers calls that
//! libraries make too, and [`view`] ensures that the changes of an execution disappear with it; [`network`] does the
//! same for ports, and [`ipc`] for queues and similar objects. [`random`] numbers and the names of [`temporary`] files
//! are the same in every execution.

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
