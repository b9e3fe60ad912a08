//! What is not under control, or not seen.

use crate::record::byte_enum;

byte_enum! {
    /// Something not under control, in a [`crate::Kind::Escape`] record. Each weakens what can be claimed about an execution.
    Escape {
        /// Nothing.
        #[default] None = 0,
        /// The program forked; the child is not controlled.
        Fork = 1,
        /// The program started another one.
        Spawn = 2,
        /// The program replaced itself with another one.
        Exec = 3,
        /// A thread was blocked outside the runtime's knowledge, for `extra` milliseconds.
        Blocked = 4,
        /// A thread ran for long without an event: it computes, or spins, in code that is not instrumented.
        Busy = 5,
        /// A thread waited for input from outside the process; `object` is the file descriptor.
        Input = 6,
        /// Signal `object` came from outside the process.
        Signal = 7,
        /// There are kernel threads that `pthread_create` did not create.
        Threads = 8,
        /// A thread runs code that is not instrumented: its accesses are not seen. `object` is the start routine.
        Uninstrumented = 9,
        /// The program used something that the runtime does not model; `object` is the number of a system call, or
        /// [`crate::UNMODELLED_FUNCTION`] plus an index into [`crate::UNMODELLED`].
        Unmodelled = 10,
        /// A call or inline assembler was reached whose effects are not seen. `object` is the address of its description, in the
        /// section that the compiler plugin made: an effect, then a name.
        Unseen = 11,
        /// A function that is not instrumented was called by its address, which is `object`.
        Foreign = 12,
        /// The system call with number `object` was made; its effects are not seen.
        SystemCall = 13,
        /// Memory was mapped at `object` that is also mapped at another address.
        Alias = 14,
        /// Memory was freed while there were several threads.
        Freed = 15,
        /// A clock was read.
        Clock = 16,
        /// A thread was created after another one ended: it may get the same handle.
        Reused = 17,
        /// A thread uses a local variable of another thread whose function has returned, or whose block has ended, or will do so
        /// without being ordered after the use.
        Returned = 18,
        /// A file was both read and changed, and other executions see it; with [`TRACES_OF_PORTS`] in `object`, a port was
        /// bound.
        Traces = 19,
        /// The signal `object` was sent to the process while several threads could take it.
        Taker = 20,
        /// A wait on a condition variable has a deadline: here it ends by a signal or at the deadline, never spuriously.
        TimedWait = 21,
        /// A thread was given a smaller stack than usual; here it has more room.
        SmallStack = 22,
        /// Threads met in library code that is not under test, see [`crate::control::SITE_QUIET`].
        Whole = 23,
        /// Random numbers were drawn for the keys of Rust's hash maps.
        Keys = 24,
        /// Several threads opened or closed files: the numbers of their descriptors depend on the schedule.
        Descriptors = 25,
        /// A large block of memory was resized, and may have stayed where it was.
        Stays = 26,
        /// A thread took a reader-writer lock for reading that it already held for reading.
        ReadsAgain = 27,
        /// A thread waited on a futex with a deadline: here it continues when woken or at the deadline, never spuriously.
        FutexWait = 28,
        /// A weak compare-exchange was made: here it fails only if the value differs.
        WeakExchange = 29,
        /// A race was left out because of an annotation, or because it is on a standard stream of C++.
        Excused = 30,
        /// A freed block was returned to the allocator, so later uses of it are not noticed.
        LetGo = 31,
        /// The user's client was started when the program listened; or it failed, and `object` is its status.
        Client = 32,
        /// A thread runs on a stack that the program provided: other uses of that memory are not seen.
        OwnStack = 33,
        /// The execution was an iteration of an in-process loop: what the program does after the loop is not part of it.
        Iteration = 34,
        /// A relaxed store continued the release sequence of its own thread, as C11 and C++11 to C++17 say, and C++20 does not.
        OwnSequence = 35,
    }
}

impl Escape {
    /// Returns whether schedules are still under control, and only something in them was not seen.
    #[must_use]
    pub const fn is_unseen(self) -> bool {
        matches!(
            self,
            Self::Unseen
                | Self::Foreign
                | Self::SystemCall
                | Self::Alias
                | Self::Returned
                | Self::Traces
                | Self::Taker
                | Self::OwnStack
        )
    }

    /// Returns whether it does not weaken a claim, but is an assumption of it.
    #[must_use]
    pub const fn is_assumption(self) -> bool {
        matches!(
            self,
            Self::Freed
                | Self::Clock
                | Self::Reused
                | Self::TimedWait
                | Self::SmallStack
                | Self::Whole
                | Self::Keys
                | Self::Descriptors
                | Self::Stays
                | Self::ReadsAgain
                | Self::FutexWait
                | Self::WeakExchange
                | Self::Excused
                | Self::LetGo
                | Self::Iteration
                | Self::OwnSequence
        )
    }
}

/// [`Escape::Traces`] of ports rather than a file.
pub const TRACES_OF_PORTS: u64 = 1;
/// A file with several names, or that gets another name elsewhere, which views do not show as one file system does.
pub const TRACES_OF_LINKS: u64 = 2;
/// A port that something outside the network of the execution may have bound.
pub const TRACES_OF_NETWORK: u64 = 3;
/// A lock or barrier that another process may share, without seeing what this one does.
pub const TRACES_OF_PROCESSES: u64 = 4;
/// A FIFO that existed before, and that other executions and programs may have open.
pub const TRACES_OF_FIFOS: u64 = 5;
/// Messages of the kernel about events elsewhere.
pub const TRACES_OF_KERNEL: u64 = 6;
/// The C library has no key for thread-specific data left, because the runtime uses one.
pub const TRACES_OF_KEYS: u64 = 7;
