//! What can be wrong with a trace.

use std::io;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system reported an error.
    #[error("cannot read or write the trace")]
    Io(#[from] io::Error),
    /// The file does not begin like a trace.
    #[error("not a RaceHunter trace: the file does not begin with `RHTRACE`")]
    NotATrace,
    /// The file is of another version of the format.
    #[error("the trace has format version {found}, this program reads version {expected}; record it again")]
    Version {
        /// Version in the file.
        found: u32,
        /// Version that is understood.
        expected: u32,
    },
    /// The file ends too early.
    #[error("the trace ends within block {block}: it is truncated")]
    Truncated {
        /// Number of the block, from 0.
        block: usize,
    },
    /// The content of a block is damaged.
    #[error("block {block} of the trace is corrupted: {reason}")]
    Corrupted {
        /// Number of the block, from 0.
        block: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A line of text is not an event.
    #[error("line {line}: {reason}")]
    Text {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The log of an execution is not in the order of its events.
    #[error("the log of the execution is out of order at event {0}")]
    Disordered(u64),
    /// More than a trace can have.
    #[error("the trace has too many {0}")]
    TooMany(&'static str),
}
