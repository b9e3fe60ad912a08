//! Details of events besides their objects: outcomes, modes, phases, reasons for waiting.

use racehunter_abi::{File, ThreadId, Wait};

/// The result of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinOutcome {
    /// The thread waited for the end of the other.
    Joined,
    /// A `try` or timed join succeeded.
    Tried,
    /// The thread must not be joined, or had not ended in time, and was not joined.
    Refused,
}

/// The kind of lock that is acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// A mutex.
    Mutex,
    /// The reader side of a reader-writer lock.
    Read,
    /// The writer side.
    Write,
}

/// Whether an acquisition could fail, and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The operation waits until it succeeds.
    Blocking,
    /// A `try` or timed form succeeded.
    Succeeded,
    /// A `try` or timed form failed.
    Failed,
}

impl Attempt {
    /// Returns whether the lock was acquired.
    #[must_use]
    pub const fn succeeds(self) -> bool {
        !matches!(self, Self::Failed)
    }
}

/// The same for semaphores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreAttempt {
    /// The operation waits until it succeeds.
    Blocking,
    /// A `try` or timed form succeeded.
    Succeeded,
    /// A `try` or timed form failed.
    Failed,
    /// `sem_getvalue`.
    Inspected,
}

/// Why a wait on a condition variable ended. Unknown details decode as `TimedOut`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEndReason {
    /// A signal that other threads could have taken.
    Signalled,
    /// A time-out.
    TimedOut,
    /// A spurious wake-up.
    Spurious,
    /// The thread was cancelled.
    Cancelled,
}

/// A phase of a once-only initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OncePhase {
    /// It was already done.
    Found,
    /// This thread runs it.
    Begins,
    /// This thread has run it.
    Done,
}

/// A phase of a wait for signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalWaitPhase {
    /// It begins.
    Begins,
    /// It ends by a signal.
    Taken,
    /// It ends without one.
    Ended,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blockage {
    /// The kind of wait. An invalid byte decodes as [`Wait::Nothing`].
    pub wait: Wait,
    /// The object: an address; for [`Wait::Join`] a thread; for [`Wait::File`] a packed [`File`].
    pub object: u64,
    /// The thread that holds the object.
    pub owner: Option<ThreadId>,
}

impl Blockage {
    /// For [`Wait::Join`]: returns the thread whose end is awaited.
    #[must_use]
    pub const fn target(&self) -> ThreadId {
        ThreadId(self.object as u32)
    }

    /// For [`Wait::File`]: returns the file.
    #[must_use]
    pub const fn file(&self) -> Option<File> {
        File::unpack(self.object)
    }
}

/// Up to 64 threads with neighbouring numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSet {
    /// The thread of bit 0.
    pub first: ThreadId,
    /// One bit per thread.
    pub members: u64,
}

impl ThreadSet {
    /// Returns the threads, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut left = self.members;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(ThreadId(self.first.0.saturating_add(bit)))
        })
    }
}
