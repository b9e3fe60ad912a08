//! What is not under control, or not seen.

use crate::record::byte_enum;

byte_enum! {
    /// What is not under control, in a [`crate::Kind::Escape`] record. Each lowers what can be said about an execution.
    Escape {
        /// Nothing.
        #[default] None = 0,
        /// The program forked; the child is on its own.
        Fork = 1,
        /// The program started another one.
        Spawn = 2,
        /// The program replaced itself by another one.
        Exec = 3,
        /// A thread was blocked outside the runtime's knowledge; `extra` is for how many milliseconds.
        Blocked = 4,
        /// A thread ran for long without an event: it computes, or spins, in code that is not instrumented.
        Busy = 5,
        /// A thread waited for input from outside the process; `object` is the file descriptor.
        Input = 6,
        /// Signal `object` came from outside the process.
        Signal = 7,
        /// There are kernel threads that were not made by `pthread_create`.
        Threads = 8,
        /// A thread runs code that is not instrumented: its accesses are not seen. `object` is the start routine.
        Uninstrumented = 9,
        /// The program used something that the runtime has no model of; `object` is the number of a system call, or of one of
        /// [`crate::UNMODELLED`] from [`crate::UNMODELLED_FUNCTION`] on.
        Unmodelled = 10,
        /// A call or assembler was reached whose effects are not seen. `object` is the address of its description, in the
        /// section that the compiler plugin has made: an effect, then a name.
        Unseen = 11,
        /// A function that is not instrumented was called by its address, which is `object`.
        Foreign = 12,
        /// The system call with number `object` was made; what it does is not seen.
        SystemCall = 13,
        /// Memory was mapped at `object` that is mapped at another address too.
        Alias = 14,
        /// Memory was given back to the allocator while there were several threads.
        Freed = 15,
        /// A clock was read.
        Clock = 16,
        /// A thread was created after another one was over: its handle may be the same.
        Reused = 17,
        /// A thread uses a local variable of another one whose function has returned, or whose block has ended, or will do so
        /// without being ordered behind the use.
        Returned = 18,
        /// A file was both read and changed, and other executions see it; with [`TRACES_OF_PORTS`] in `object`, a port was
        /// bound.
        Traces = 19,
        /// The signal `object` was sent to the process while several threads could take it.
        Taker = 20,
        /// A wait on a condition variable has a deadline: it ends by a signal or by that, and not without reason.
        TimedWait = 21,
        /// A thread was given a stack that is smaller than usual; here it has more room.
        SmallStack = 22,
        /// Threads met in code that is taken as a whole, see [`crate::control::SITE_QUIET`].
        Whole = 23,
        /// Random numbers were drawn for the keys of Rust's hash maps.
        Keys = 24,
        /// Several threads opened or closed files: which numbers their descriptors get depends on the schedule.
        Descriptors = 25,
        /// A large block of memory was resized, and may have stayed where it was.
        Stays = 26,
        /// A thread took a reader-writer lock for reading that it had for reading already.
        ReadsAgain = 27,
        /// A thread waited on a futex with a deadline: it goes on when it is woken, or by that, and not without reason.
        FutexWait = 28,
        /// A weak compare-exchange was made: here it fails only where the value is another one.
        WeakExchange = 29,
        /// A race was left out because of an annotation, or because it is on a standard stream of C++.
        Excused = 30,
        /// A freed block was given back to the allocator, so that later uses of it are not noticed.
        LetGo = 31,
        /// The client that the user has named was started where the program listens; or has failed: `object` is its status then.
        Client = 32,
        /// A thread runs on a stack that the program has provided: what else happens to that memory is not seen.
        OwnStack = 33,
        /// An execution was an iteration of an in-process loop: what the program does after the loop is not a part of it.
        Iteration = 34,
    }
}

impl Escape {
    /// Whether schedules are under control all the same: something in them was not seen.
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

    /// Whether it takes nothing away from a claim, but is something that the claim rests on.
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
        )
    }
}

/// What [`Escape::Traces`] is about if not about a file: ports.
pub const TRACES_OF_PORTS: u64 = 1;
/// The same: a file that has several names, or gets another one elsewhere, which views do not show as one file system does.
pub const TRACES_OF_LINKS: u64 = 2;
/// The same: a port that something outside of the network of the execution may have bound.
pub const TRACES_OF_NETWORK: u64 = 3;
/// The same: a lock or barrier that another process may have too, and of which it does not see what this one does.
pub const TRACES_OF_PROCESSES: u64 = 4;
/// The same: a FIFO that was there before, and that other executions and other programs may have open.
pub const TRACES_OF_FIFOS: u64 = 5;
/// The same: messages of the kernel about what happens elsewhere.
pub const TRACES_OF_KERNEL: u64 = 6;
/// The same: the C library has no key for thread-specific data left, because the runtime has one.
pub const TRACES_OF_KEYS: u64 = 7;
