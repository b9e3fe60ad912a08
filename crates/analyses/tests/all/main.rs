//! Tests of what the analyses promise, on the in-memory model, with brute force as the oracle.
//!
//! All files form one program, because linking one per file takes longer than running it.

mod brief;
mod campaign;
mod common;
mod coverage;
mod divided;
mod exactness;
mod findings;
mod lent;
mod predict;
mod reads_from;
mod reduction;
mod selective;
mod thread_bound;
mod variable_bound;
mod waiting;
mod walks;
mod watchpoints;
