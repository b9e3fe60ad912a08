//! The typed events of a log.

use crate::access::{Access, RaceSide};
use crate::operands::{
    Attempt, Blockage, JoinOutcome, LockMode, OncePhase, SemaphoreAttempt, SignalWaitPhase, ThreadSet, WaitEndReason,
};
use racehunter_abi::{Address, Cause, CodeAddress, Escape, File, Misuse, ThreadId, ThreadPath, Touched};

/// What happened. The [`crate::Entry`] has the thread, the number and the place.
///
/// The first group are *operations*: what the program did, each with its own number ([`crate::Entry::is_operation`]). The
/// second group describes how the scheduler got from one operation to the next. The rest are observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An access to memory.
    Access(Access),
    /// A fence; or, with an address, an annotation that orders events.
    Fence {
        /// The address of the annotation, 0 for a fence.
        annotation: Address,
    },
    /// The thread created another one.
    Create {
        /// The new thread.
        child: ThreadId,
        /// Its start routine.
        start: CodeAddress,
        /// Whether it is the thread of a timer, which belongs to the runtime.
        is_timer: bool,
    },
    /// The thread joined another one, or tried to.
    Join {
        /// The joined thread.
        target: ThreadId,
        /// The result.
        outcome: JoinOutcome,
    },
    /// The thread has ended, including its destructors.
    Exit,
    /// `pthread_detach`.
    Detach {
        /// The detached thread.
        target: ThreadId,
    },
    /// A mutex or reader-writer lock is acquired, or the attempt fails.
    Acquire {
        /// The lock.
        lock: Address,
        /// The kind of lock.
        mode: LockMode,
        /// Whether the operation could fail, and did.
        attempt: Attempt,
    },
    /// A mutex or reader-writer lock is released, or the attempt is refused.
    Release {
        /// The lock.
        lock: Address,
        /// Whether it is a reader-writer lock.
        is_rwlock: bool,
        /// Whether the thread may not release the lock, and so has not: a mutex that checks its owner.
        is_refused: bool,
    },
    /// A wait on a condition variable begins, and its mutex is released.
    Wait {
        /// The condition variable.
        condition: Address,
        /// The mutex.
        mutex: Address,
        /// Whether the thread waits again after a spurious wake-up, since which no other thread has run and it has changed
        /// nothing.
        is_repeated: bool,
    },
    /// A wait on a condition variable ends. An [`Event::Acquire`] of the mutex follows.
    WaitEnd {
        /// The condition variable.
        condition: Address,
        /// The mutex.
        mutex: Address,
        /// The reason.
        reason: WaitEndReason,
    },
    /// `pthread_cond_signal`.
    Signal {
        /// The condition variable.
        condition: Address,
    },
    /// `pthread_cond_broadcast`.
    Broadcast {
        /// The condition variable.
        condition: Address,
    },
    /// A semaphore is decremented, or its value read.
    SemaphoreWait {
        /// The semaphore.
        semaphore: Address,
        /// Whether the operation could fail, and did.
        attempt: SemaphoreAttempt,
    },
    /// A semaphore is incremented.
    SemaphorePost {
        /// The semaphore.
        semaphore: Address,
    },
    /// The thread has arrived at a barrier.
    BarrierArrive {
        /// The barrier.
        barrier: Address,
    },
    /// The thread has passed a barrier.
    BarrierPass {
        /// The barrier.
        barrier: Address,
    },
    /// A once-only initialisation.
    Once {
        /// The object that is initialised.
        object: Address,
        /// The phase.
        phase: OncePhase,
    },
    /// A wait on a futex.
    FutexWait {
        /// The futex.
        futex: Address,
        /// As in [`Event::Wait`].
        is_repeated: bool,
    },
    /// `futex` wake.
    FutexWake {
        /// The futex.
        futex: Address,
    },
    /// The thread yields.
    Yield,
    /// The thread begins to sleep.
    Sleep,
    /// A synchronisation object was initialised or destroyed.
    Lifetime {
        /// The object.
        object: Address,
        /// Whether it was destroyed.
        is_destroyed: bool,
    },
    /// Input or output that other threads may wait for.
    Io {
        /// A packed [`File`]; see [`Event::file`].
        file: u64,
        /// The object behind the descriptor, the same for both ends of a pipe; 0 if unknown.
        channel: Address,
        /// Whether it was done, and did not fail.
        is_done: bool,
    },
    /// A signal was sent.
    Kill {
        /// Its number.
        signal: u64,
        /// The thread that gets it; `None` if the process does.
        receiver: Option<ThreadId>,
    },
    /// `pthread_cancel`, or `pthread_testcancel`.
    Cancel {
        /// The cancelled thread.
        target: ThreadId,
        /// Whether the thread checks for its own cancellation.
        is_test: bool,
    },
    /// A wait for signals.
    SignalWait {
        /// The signal that was taken.
        signal: u64,
        /// The phase of the wait.
        phase: SignalWaitPhase,
    },
    /// A timer was set, or has expired.
    Timer {
        /// The thread of the timer.
        timer: ThreadId,
        /// Time until it expires; 0 for never.
        nanoseconds: u64,
        /// Whether it has expired.
        is_expired: bool,
    },
    /// The program changed a signal action, or the signal mask of the thread.
    SignalSetup {
        /// The signal; 0 for the mask.
        signal: u64,
    },
    /// The program ends while other threads are left.
    End {
        /// Whether the process ends now. Otherwise `main` has returned or `exit` was called, and others should run first.
        is_final: bool,
    },
    /// State outside the program's memory is read or changed: a file, a name in a directory, the working directory.
    State {
        /// The affected state.
        touched: Touched,
        /// Its first part.
        cell: u16,
        /// Whether something is changed.
        is_change: bool,
    },

    /// An operation of which only its place is known.
    Other,
    /// The thread cannot perform its next operation.
    Blocked {
        /// What it waits for.
        on: Blockage,
        /// Whether a spurious wake-up is possible.
        may_wake: bool,
    },
    /// As `Blocked`, but the thread can also continue by a time-out, so it is always a possible choice.
    Suspended {
        /// What it waits for.
        on: Blockage,
    },
    /// A blocked thread can continue.
    Woken,
    /// Many threads become blocked at once.
    BlockedSet(ThreadSet),
    /// Many threads can continue at once.
    WokenSet(ThreadSet),
    /// A decision: the thread of the entry gives way to another one.
    Switch {
        /// The thread that runs next.
        to: ThreadId,
        /// The reason.
        cause: Cause,
        /// Whether the running thread had run for so long that it had to give way.
        is_exhausted: bool,
    },
    /// The deadline of the sleep or wait of the thread, for which a `Suspended` follows.
    Deadline {
        /// In virtual time.
        time: u64,
    },

    /// The earlier access of a race; an [`Event::RaceSecond`] follows.
    RaceFirst(RaceSide),
    /// The later access of a race. The number is that of its event.
    RaceSecond(RaceSide),
    /// An access that is not a scheduling point touched shared memory.
    Shared,
    /// Memory was allocated.
    Allocated {
        /// First address.
        block: Address,
        /// Number of bytes.
        size: u64,
        /// Whether it is the stack of the thread.
        is_stack: bool,
    },
    /// The C library reads memory: the contents of a block that moves, or what a call turns out to have read.
    Taken {
        /// First address.
        block: Address,
        /// Number of bytes.
        size: u64,
    },
    /// Memory was mapped.
    Mapped {
        /// First address.
        block: Address,
        /// Number of bytes.
        size: u64,
    },
    /// The final state of the thread in an execution that failed; what it waits for, if it waits.
    ThreadState {
        /// What it waits for.
        on: Option<Blockage>,
    },
    /// A synchronisation object or thread is misused.
    Misuse {
        /// The kind. An invalid byte decodes as [`Misuse::None`].
        what: Misuse,
        /// The object, or the number of a thread.
        object: u64,
        /// Another thread involved.
        other: Option<ThreadId>,
    },
    /// The thread enters or leaves its handler of a signal.
    Handler {
        /// The signal.
        signal: u64,
        /// Whether it enters.
        is_entry: bool,
    },
    /// Something happened that is not under control.
    Escape {
        /// The kind. An invalid byte decodes as [`Escape::None`].
        what: Escape,
        /// The object; see [`Escape`].
        object: u64,
    },
    /// The thread acts upon its cancellation.
    Cancelled,
    /// The program ordered events by an annotation that is not itself an event.
    Annotated,
    /// The value of the memory that the preceding access touched.
    Value {
        /// Before the access, if known.
        before: Option<u64>,
        /// After it, if known.
        after: Option<u64>,
        /// Number of bytes, at most 8.
        size: u8,
    },
    /// Where an object was initialised, before the `Misuse` that follows.
    Initialised {
        /// The object.
        object: Address,
    },
    /// The thread waited for a once-only initialisation, which is now done.
    Found {
        /// The initialised object.
        object: Address,
    },
    /// The thread enters a block that is meant to be atomic.
    BlockBegin,
    /// The thread leaves the innermost such block.
    BlockEnd,
    /// The thread enters the function whose entry is the site.
    Enter {
        /// Whether the function will return into the executable.
        returns_here: bool,
    },
    /// The thread is about to leave its function at the site.
    Leave,
    /// The thread takes the branch at the site.
    Branch {
        /// The value that it depends on.
        value: u64,
    },
    /// The thread calls code, at the site, that is not instrumented or not known.
    Call {
        /// The address of that code.
        callee: CodeAddress,
    },
    /// The end of an execution that observed few variables.
    Counted {
        /// Number of accesses of these variables, plus threads that began.
        accesses: u64,
    },
    /// Accesses of the thread at points were left out here.
    Passed {
        /// Those of them whose number no other entry has.
        accesses: u64,
    },
    /// The program has numbered the thread.
    Numbered {
        /// The path of the thread from now on.
        path: ThreadPath,
    },
    /// The thread unwinds because of a Rust panic.
    Panic {
        /// Its number in the message of the panic: that of `gettid`.
        printed_as: u64,
    },
    /// The program has named the thread.
    Named {
        /// Its bytes, up to the first 0.
        name: [u8; 16],
    },
    /// An entry without a meaning.
    Unknown,
}

impl Event {
    /// Returns the access, if it is one.
    #[must_use]
    pub const fn access(&self) -> Option<&Access> {
        match self {
            Self::Access(access) => Some(access),
            _ => None,
        }
    }

    /// Returns the lock that the thread holds from now on, if any.
    #[must_use]
    pub const fn acquired(&self) -> Option<Address> {
        match self {
            Self::Acquire { lock, attempt, .. } if attempt.succeeds() => Some(*lock),
            _ => None,
        }
    }

    /// Returns the lock that the thread releases, if any, including the mutex of a wait.
    #[must_use]
    pub const fn released(&self) -> Option<Address> {
        match self {
            Self::Release { lock, is_refused: false, .. } | Self::Wait { mutex: lock, .. } => Some(*lock),
            _ => None,
        }
    }

    /// Returns the synchronisation object of the operation, if it has one.
    #[must_use]
    pub const fn synchronisation(&self) -> Option<Address> {
        match *self {
            Self::Acquire { lock: object, .. }
            | Self::Release { lock: object, .. }
            | Self::Wait { condition: object, .. }
            | Self::WaitEnd { condition: object, .. }
            | Self::Signal { condition: object }
            | Self::Broadcast { condition: object }
            | Self::SemaphoreWait { semaphore: object, .. }
            | Self::SemaphorePost { semaphore: object }
            | Self::BarrierArrive { barrier: object }
            | Self::BarrierPass { barrier: object }
            | Self::Once { object, .. }
            | Self::FutexWait { futex: object, .. }
            | Self::FutexWake { futex: object }
            | Self::Lifetime { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Returns the object of the operation: memory, a synchronisation object, or the object behind a descriptor. `None` for
    /// operations on threads, time and signals.
    #[must_use]
    pub const fn variable(&self) -> Option<Address> {
        match self {
            Self::Access(access) => Some(access.address),
            Self::Io { channel, .. } if channel.0 != 0 => Some(*channel),
            Self::Io { file, .. } => Some(Address(*file)),
            Self::State { cell, .. } => Some(Address(racehunter_abi::state_object(*cell))),
            _ => self.synchronisation(),
        }
    }

    /// Returns the file of an [`Event::Io`].
    #[must_use]
    pub const fn file(&self) -> Option<File> {
        match self {
            Self::Io { file, .. } => File::unpack(*file),
            _ => None,
        }
    }
}
