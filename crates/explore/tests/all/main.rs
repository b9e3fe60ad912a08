//! The in-memory model, and what is derived from its executions.

mod conflicts;
mod dependence;
mod model;
