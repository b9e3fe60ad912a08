//! Traces from which nothing can be predicted.

use racehunter_trace::EventId;

/// The trace does not come from an execution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {event} of the trace cannot have happened: {reason}")]
pub struct Error {
    /// The event, from 0.
    pub event: EventId,
    /// What is wrong.
    pub reason: &'static str,
}
