//! Control flow of single functions: blocks and cycles ([`blocks`]), natural loops and their counters ([`loops`]), the
//! conditions that hold at a block ([`conditions`]), and the ways in which a function is left without returning
//! ([`unwinding`]).
//!
//! Nothing here knows of threads. Start at [`blocks::Blocks`].

pub mod blocks;
pub mod conditions;
pub mod loops;
pub(crate) mod unwinding;
