//! Why a hunt that found nothing is inconclusive.

use std::time::Duration;

/// A reason why a hunt that found nothing has not shown that the program is correct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// No execution completed.
    NoneCompleted(Vec<Unfinished>),
    /// There was no time for a single execution.
    NoTime,
    /// No execution of one of the analyses completed.
    OneAnalysis(Vec<Unfinished>),
    /// Some executions did not end by themselves: the program may hang in their schedules.
    SomeStopped(Vec<Unfinished>),
    /// Executions were killed from outside.
    Lost {
        /// How many.
        executions: u64,
        /// How they were killed.
        why: String,
    },
    /// Failures were seen, but replays did not confirm them.
    NotConfirmed(u64),
    /// Failures were seen, but there was no time to replay them.
    NotReplayed(u64),
    /// The first execution failed, and no other one did.
    FailedAtFirst(Failure),
    /// No execution started the client, because the program never listened.
    NoClient,
}

/// Executions that did not complete for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// How many.
    pub number: u64,
    /// The total number of executions.
    pub of: u64,
    /// Why.
    pub limit: Limit,
}

/// Why an execution was stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The limit of time.
    Time(Duration),
    /// The limit of memory, in MiB.
    Memory(u64),
    /// The limit of events: the longest execution reached this many.
    Events(u64),
    /// It created threads without end.
    Threads,
    /// The user.
    Interrupted,
    /// Some other limit.
    Other(String),
    /// It was killed from outside.
    Lost(String),
    /// It could not follow its schedule.
    Diverged,
}

/// How an execution failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A fatal signal, and the address that could not be accessed.
    Crash {
        /// The signal.
        signal: u32,
        /// The address.
        fault: Option<u64>,
    },
    /// A failed assertion.
    Assertion(String),
    /// A deadlock.
    Deadlock,
    /// An exit status.
    Status(i32),
    /// A data race.
    Race,
}
