//! Features that programs use and the runtime does not model, by the numbers in the log.

/// The first number of unmodelled functions.
pub const UNMODELLED_FUNCTION: u64 = 1 << 32;

/// Index in [`UNMODELLED`] of formats with parts that are not followed.
pub const UNMODELLED_FORMAT: u64 = 16;
/// Index in [`UNMODELLED`] of stream functions in which a thread may be cancelled.
pub const UNMODELLED_CANCELLATION: u64 = 17;

/// Index in [`UNMODELLED`] of stream buffers that the program provides.
pub const UNMODELLED_BUFFER: u64 = 21;

/// Index in [`UNMODELLED`] of tests that end the program with success themselves.
pub const UNMODELLED_EXIT: u64 = 22;

/// Index in [`UNMODELLED`] of signals that interrupt the C library.
pub const UNMODELLED_REENTRY: u64 = 25;

/// Index in [`UNMODELLED`] of a second thread that ends the program.
pub const UNMODELLED_SECOND_EXIT: u64 = 26;

/// Index in [`UNMODELLED`] of locks that are held, or were never initialised, although no thread has taken them.
pub const UNMODELLED_COPY: u64 = 27;

/// Index in [`UNMODELLED`] of mutexes with the protocol `PTHREAD_PRIO_PROTECT`.
pub const UNMODELLED_CEILING: u64 = 28;

/// Index in [`UNMODELLED`] of threads that release more often than the detector can count.
pub const UNMODELLED_CLOCK: u64 = 32;

/// Index in [`UNMODELLED`] of locks whose memory the program has written while a thread held them.
pub const UNMODELLED_OVERWRITTEN: u64 = 33;

/// Index in [`UNMODELLED`] of calls that failed after they had written something.
pub const UNMODELLED_HALF: u64 = 34;

/// Index in [`UNMODELLED`] of release sequences of several threads that one of them continues by a plain store.
pub const UNMODELLED_SEQUENCE: u64 = 35;

/// Index in [`UNMODELLED`] of functions of the C++ library that access too many nodes, or nodes that are missing.
pub const UNMODELLED_NODES: u64 = 36;

/// Returns false if a feature, by its number in the log, cannot order threads. What the detector does not know of it may hide a
/// race, but cannot make ordered accesses look like one.
#[must_use]
pub const fn may_order(feature: u64) -> bool {
    !matches!(
        feature.wrapping_sub(UNMODELLED_FUNCTION),
        UNMODELLED_FORMAT
            | UNMODELLED_CLOCK
            | UNMODELLED_HALF
            | UNMODELLED_SEQUENCE
            | UNMODELLED_NODES
            | UNMODELLED_OUTSIDE
            | UNMODELLED_LEFT
    )
}

/// Index in [`UNMODELLED`] of threads that are not part of the in-process loop that is explored.
pub const UNMODELLED_OUTSIDE: u64 = 37;

/// Index in [`UNMODELLED`] of iterations that leave the in-process loop early, after which the program ends with success.
pub const UNMODELLED_LEFT: u64 = 38;

/// C library functions without a model.
pub const UNMODELLED: [&str; 39] = [
    "aio_read",
    "aio_write",
    "lio_listio",
    "aio_suspend",
    "swapcontext",
    "setcontext",
    "preadv2",
    "pwritev2",
    "semop",
    "semtimedop",
    "msgsnd",
    "msgrcv",
    "mq_send",
    "mq_receive",
    "mq_timedsend",
    "mq_timedreceive",
    "a format with numbered arguments",
    "cancellation in a function on a stream",
    "open_memstream",
    "open_wmemstream",
    "fmemopen",
    "a buffer that a stream was given",
    "exit(0) before the end of the test",
    "clone",
    "forkpty",
    "a signal inside of malloc, free or a function on a stream",
    "exit by two threads at once",
    "a copy of a lock",
    "a mutex with a priority ceiling",
    "pthread_attr_setaffinity_np",
    "pthread_attr_setguardsize",
    "pthread_setattr_default_np",
    "more than 8 million releases by one thread",
    "a lock overwritten while it was held",
    "a call that failed and may have written a part of its result",
    "a relaxed store in a release sequence of several threads",
    "a C++ container that is changed in too many places by one call",
    "threads outside of the loop, or another loop",
    "leaving the loop early",
];
