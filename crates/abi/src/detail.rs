//! The values of [`crate::Record::detail`], or of `extra` where stated, for kinds with more than two.

/// Of a [`crate::Kind::Join`], in `extra`: a `try` or timed join.
pub const JOIN_TRIED: u64 = 1;
/// Of a [`crate::Kind::Join`], in `extra`: the thread must not be joined, and was not.
pub const JOIN_REFUSED: u64 = 2;

/// Of a `try` or timed operation: it succeeded.
pub const SUCCEEDED: u8 = 1;

/// Of a [`crate::Kind::WaitEnd`]: a signal that other threads could have taken.
pub const WAIT_SIGNALLED: u8 = 0;
/// Of a [`crate::Kind::WaitEnd`]: a time-out.
pub const WAIT_TIMED_OUT: u8 = 1;
/// Of a [`crate::Kind::WaitEnd`]: a spurious wake-up.
pub const WAIT_SPURIOUS: u8 = 2;
/// Of a [`crate::Kind::WaitEnd`]: the thread was cancelled.
pub const WAIT_CANCELLED: u8 = 3;

/// Of a [`crate::Kind::SemTryWait`]: only the value of the semaphore was read.
pub const SEMAPHORE_INSPECTED: u8 = 2;

/// Of a [`crate::Kind::Once`]: it was already done.
pub const ONCE_FOUND: u8 = 0;
/// Of a [`crate::Kind::Once`]: this thread runs it.
pub const ONCE_BEGINS: u8 = 1;
/// Of a [`crate::Kind::Once`]: this thread has run it.
pub const ONCE_DONE: u8 = 2;

/// Of a [`crate::Kind::SignalWait`]: the wait begins.
pub const SIGNAL_WAIT_BEGINS: u8 = 0;
/// Of a [`crate::Kind::SignalWait`]: it ends by the signal `object`.
pub const SIGNAL_WAIT_TAKEN: u8 = 1;
/// Of a [`crate::Kind::SignalWait`]: it ends without one.
pub const SIGNAL_WAIT_ENDED: u8 = 2;

/// Of a [`crate::Kind::Create`]: it is the thread of a timer.
pub const CREATE_TIMER: u8 = 1;

/// Of a [`crate::Kind::Wait`] or [`crate::Kind::FutexWait`]: the thread waits again after a spurious wake-up, and has only read
/// since.
pub const WAIT_REPEATED: u8 = 1;
/// Of a [`crate::Kind::FutexWait`]: the futex had another value, so the thread did not wait.
pub const FUTEX_CHANGED: u8 = 2;

/// Of an [`crate::Kind::Unlock`]: the thread may not unlock it, and did not.
pub const UNLOCK_REFUSED: u8 = 1;

/// Of a [`crate::Kind::Lifetime`]: the object was destroyed.
pub const LIFETIME_DESTROYED: u8 = 1;

/// Of a [`crate::Kind::Cancel`]: a thread checks for its own cancellation.
pub const CANCEL_TESTED: u8 = 1;

/// Of a [`crate::Kind::Timer`]: it expires.
pub const TIMER_EXPIRED: u8 = 1;

/// Of a [`crate::Kind::Kill`]: the signal comes from a timer.
pub const KILL_FROM_TIMER: u8 = 1;

/// Of an [`crate::Kind::End`]: the program does nothing after it.
pub const END_FINAL: u8 = 1;

/// Of a [`crate::Kind::Handler`]: it begins.
pub const HANDLER_BEGINS: u8 = 0;
/// Of a [`crate::Kind::Handler`]: it ends.
pub const HANDLER_ENDS: u8 = 1;
