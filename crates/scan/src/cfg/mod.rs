//! Control flow of single functions: blocks and cycles ([`blocks`]), natural loops and their counters ([`loops`]), the
//! conditions that hold at a block ([`conditions`]), and exits other than returning ([`unwinding`]).
//!
//! Nothing here knows about threads. Start at [`blocks::Blocks`].

pub mod blocks;
pub mod conditions;
pub mod loops;
pub(crate) mod unwinding;
