//! Tests of the in-memory model and of what is derived from its executions.

mod conflicts;
mod dependence;
mod model;
