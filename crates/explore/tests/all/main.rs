//! The in-memory model, and what is derived from its executions.

mod causes;
mod conflicts;
mod model;
