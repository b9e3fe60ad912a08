//! The codes in a [`Slot`](super::Slot): flags, strategies, outcomes.

/// Threads are fibers on one kernel thread.
pub const BACKEND_FIBERS: u32 = 0;
/// Threads are kernel threads.
pub const BACKEND_THREADS: u32 = 1;

/// Run the happens-before detector.
pub const FLAG_DETECT: u32 = 1;
/// Record call stacks and locks at every logged event.
pub const FLAG_STACKS: u32 = 2;
/// Stop the execution at the first data race.
pub const FLAG_STOP_AT_RACE: u32 = 4;
/// Wake-ups are choices: a wait on a condition variable may end without a signal, and a signal may wake any waiter.
pub const FLAG_SPURIOUS: u32 = 8;

/// Log every allocation of the program, with its stack.
pub const FLAG_ALLOCATIONS: u32 = 16;
/// A debugger is attached: every event checks whether to stop there, and nothing depends on wall-clock time.
pub const FLAG_DEBUG: u32 = 32;

/// Log the values that every logged access reads and writes, as [`crate::Kind::Value`]s after it: one for each eight bytes, up to
/// [`VALUE_BYTES`].
pub const FLAG_VALUES: u32 = 64;

/// Default number of consecutive events after which a thread gives way to others: enough for loops that spin for a while.
pub const TURN: u64 = 100_000;

/// Bytes of an access that are logged as its value.
pub const VALUE_BYTES: u64 = 64;
/// Bit of [`crate::Record::detail`] of a [`crate::Kind::Value`]: the value before the access is known.
pub const VALUE_BEFORE: u8 = 1;
/// Bit of it: the value after the access is known.
pub const VALUE_AFTER: u8 = 2;
/// Run freely: threads are those of the C library, in parallel, and nothing is decided.
pub const FLAG_FREE: u32 = 128;
/// Only plain accesses at the selected sites are points; all others are just counted. Not with `FLAG_DETECT`, nor if everything
/// is logged or memory is watched.
pub const FLAG_SELECTIVE: u32 = 256;
/// With `FLAG_DETECT`: the detector reports shared memory, and uses of memory after its lifetime, but does not infer races from
/// the order of synchronisation.
pub const FLAG_INFER_NOTHING: u32 = 512;
/// Of the accesses at each place in the code only the first need be in the log; the others are counted, see
/// [`crate::Kind::Passed`]. Not with `FLAG_STACKS`, `FLAG_VALUES` or `FLAG_SELECTIVE`.
pub const FLAG_BRIEF: u32 = 1024;

/// [`crate::Record::detail`] of a plain access that the program has asked race detectors to ignore, by an annotation.
pub const EXCUSED: u8 = 1;
/// [`crate::Record::detail`] of a [`crate::Kind::Allocated`] for the stack of a thread.
pub const ALLOCATED_STACK: u8 = 1;

/// Continue the running thread as long as possible.
pub const TAIL_MIN_SWITCHES: u32 = 0;
/// Choose at random among the threads that can run, at every point.
pub const TAIL_RANDOM: u32 = 1;
/// Choose the thread with the highest priority, which changes at few points.
pub const TAIL_PCT: u32 = 2;
/// Choose the next operation with the highest priority, which is drawn for every operation.
pub const TAIL_POS: u32 = 3;
/// As `TAIL_PCT`, but priorities change only at accesses of the tracked variables.
pub const TAIL_PCT_VARIABLES: u32 = 4;
/// Choose the thread that is first in an order given by the seed.
pub const TAIL_ORDER: u32 = 5;
/// Uniform over the orders of accesses of the tracked variables.
pub const TAIL_UNIFORM: u32 = 6;
/// As `TAIL_POS`, but threads are held back so that reads see the intended writes.
pub const TAIL_GUIDED: u32 = 7;

/// Log synchronisation and the sites with [`SITE_POINT`].
pub const OBSERVE_POINTS: u32 = 0;
/// Log every event; every event is a point.
pub const OBSERVE_ALL: u32 = 1;
/// As [`OBSERVE_ALL`], and log the control flow of each thread.
pub const OBSERVE_CODE: u32 = 2;

/// The slot was not run.
pub const STATE_EMPTY: u32 = 0;
/// It is running, or died while running.
pub const STATE_RUNNING: u32 = 1;
/// The result is complete.
pub const STATE_DONE: u32 = 2;
/// There was no room left in the log; run it again in the next request.
pub const STATE_NO_ROOM: u32 = 3;

/// The process ended without a reason: killed, or `_exit` past the runtime.
pub const OUTCOME_UNKNOWN: u32 = 0;
/// The program ended; see `status`.
pub const OUTCOME_EXITED: u32 = 1;
/// No thread can run, and none ever will.
pub const OUTCOME_DEADLOCK: u32 = 2;
/// A fatal signal; see `signal`, `fault`.
pub const OUTCOME_CRASH: u32 = 3;
/// An assertion failed; see `message`, `file`, `line`.
pub const OUTCOME_ASSERTION: u32 = 4;
/// The plan could not be followed; see `diverged_at`.
pub const OUTCOME_DIVERGED: u32 = 5;
/// `max_events` was reached.
pub const OUTCOME_LIMIT: u32 = 6;
/// Stopped because of `FLAG_STOP_AT_RACE`.
pub const OUTCOME_RACE: u32 = 7;
/// The slot was the prefix of a snapshot; its continuations have the results.
pub const OUTCOME_SNAPSHOT: u32 = 8;
/// The target asked for more threads than [`MAX_THREADS`], or than the plan allows.
pub const OUTCOME_TOO_MANY_THREADS: u32 = 9;
/// The target has more timers, named semaphores or processes to read from than the runtime has room for.
pub const OUTCOME_TOO_MANY_OBJECTS: u32 = 11;
/// The target has used a futex operation that has no model.
pub const OUTCOME_UNMODELLED: u32 = 12;
/// The program cannot run freely; `message` says why.
pub const OUTCOME_NOT_FREE: u32 = 10;

/// The log did not fit.
pub const NOTE_LOG_FULL: u32 = 1;
/// The program used something that the runtime does not control.
pub const NOTE_UNCONTROLLED: u32 = 2;
/// A thread waited for real time or input.
pub const NOTE_REAL_IO: u32 = 4;
/// Locks were held when the program ended.
pub const NOTE_LOCK_HELD: u32 = 8;
/// An annotation of the program had an effect, see [`crate::Kind::Annotated`].
pub const NOTE_ANNOTATED: u32 = 16;
/// The execution has changed files in its own view, or has open pipes or connections, which no copy of the process may share.
pub const NOTE_FILES: u32 = 32;
