//! What one entry of a log says.

use crate::access::{Access, RaceSide};
use crate::operands::{
    Attempt, Blockage, JoinOutcome, LockMode, OncePhase, SemaphoreAttempt, SignalWaitPhase, ThreadSet, WaitEndReason,
};
use racehunter_abi::{Address, Cause, CodeAddress, Escape, File, Misuse, ThreadId, ThreadPath, Touched};

/// What happened. The thread, the number and the place are in the [`crate::Entry`].
///
/// The first group are *operations*: what the program did, each with a number of its own ([`crate::Entry::is_operation`]). The
/// second group tells how the scheduler got from one operation to the next. The rest are observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An access to memory.
    Access(Access),
    /// A fence; or, with an address, an annotation of the program that passes order on.
    Fence {
        /// The address of the annotation, 0 for a fence.
        annotation: Address,
    },
    /// The thread has created another one.
    Create {
        /// The new thread.
        child: ThreadId,
        /// Its start routine.
        start: CodeAddress,
        /// It is the thread of a timer, which belongs to the runtime.
        is_timer: bool,
    },
    /// The thread has joined another one, or tried to.
    Join {
        /// The thread that was joined.
        target: ThreadId,
        /// How that went.
        outcome: JoinOutcome,
    },
    /// The thread has ended, including its destructors.
    Exit,
    /// `pthread_detach`.
    Detach {
        /// The thread that is detached.
        target: ThreadId,
    },
    /// A mutex or reader-writer lock is acquired, or was not.
    Acquire {
        /// The lock.
        lock: Address,
        /// As what.
        mode: LockMode,
        /// Whether the operation could fail, and did.
        attempt: Attempt,
    },
    /// A mutex or reader-writer lock is released.
    Release {
        /// The lock.
        lock: Address,
        /// It is a reader-writer lock.
        is_rwlock: bool,
    },
    /// A wait on a condition variable begins, and its mutex is released.
    Wait {
        /// The condition variable.
        condition: Address,
        /// The mutex.
        mutex: Address,
        /// The thread was woken spuriously and waits again; no other thread has run since, and it has changed nothing.
        is_repeated: bool,
    },
    /// A wait on a condition variable is over. The mutex is acquired by an [`Event::Acquire`] that follows.
    WaitEnd {
        /// The condition variable.
        condition: Address,
        /// The mutex.
        mutex: Address,
        /// Why.
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
    /// A semaphore is decremented, or looked at.
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
        /// What is initialised.
        object: Address,
        /// Which part of it.
        phase: OncePhase,
    },
    /// A wait on a futex.
    FutexWait {
        /// The futex.
        futex: Address,
        /// As [`Event::Wait`]'s field.
        is_repeated: bool,
    },
    /// `futex` wake.
    FutexWake {
        /// The futex.
        futex: Address,
    },
    /// The thread lets others run first.
    Yield,
    /// The thread begins to sleep.
    Sleep,
    /// A synchronisation object was initialised or destroyed.
    Lifetime {
        /// The object.
        object: Address,
        /// It was destroyed.
        is_destroyed: bool,
    },
    /// Input or output that other threads may wait for.
    Io {
        /// A packed [`File`]; see [`Event::file`].
        file: u64,
        /// What the file leads to, the same for both ends of a pipe; 0 when not known.
        channel: Address,
        /// It was done, and did not fail.
        is_done: bool,
    },
    /// A signal was sent.
    Kill {
        /// Its number.
        signal: u64,
        /// The thread that gets it; nothing when the process does.
        receiver: Option<ThreadId>,
    },
    /// `pthread_cancel`, or `pthread_testcancel`.
    Cancel {
        /// The thread that is cancelled.
        target: ThreadId,
        /// The thread asks whether it is cancelled itself.
        is_test: bool,
    },
    /// A wait for signals.
    SignalWait {
        /// The signal that was taken.
        signal: u64,
        /// Which part of the wait.
        phase: SignalWaitPhase,
    },
    /// A timer was set, or has expired.
    Timer {
        /// The thread of the timer.
        timer: ThreadId,
        /// When it expires, from now on; 0 for never.
        nanoseconds: u64,
        /// It has expired.
        is_expired: bool,
    },
    /// The program changed what is done about a signal, or which signals the thread blocks.
    SignalSetup {
        /// The signal; 0 for the mask.
        signal: u64,
    },
    /// The program ends while other threads are left.
    End {
        /// The process ends now. Otherwise `main` has returned or `exit` was called, and others should run first.
        is_final: bool,
    },
    /// State that is not memory of the program is read or changed: a file, a name in a directory, the working directory.
    State {
        /// All that is touched.
        touched: Touched,
        /// The first part of it.
        cell: u16,
        /// Something is changed.
        is_change: bool,
    },

    /// The thread cannot perform its next operation.
    Blocked {
        /// What it waits for.
        on: Blockage,
        /// A spurious wake-up is a choice.
        may_wake: bool,
    },
    /// As `Blocked`, but the thread can also go on by a time-out, so it is always a possible choice.
    Suspended {
        /// What it waits for.
        on: Blockage,
    },
    /// A blocked thread can go on.
    Woken,
    /// Many threads are blocked at once.
    BlockedSet(ThreadSet),
    /// Many threads can go on at once.
    WokenSet(ThreadSet),
    /// A decision: the thread of the entry gives way to another one.
    Switch {
        /// The thread that runs next.
        to: ThreadId,
        /// Why.
        cause: Cause,
        /// The running thread had run for so long that it had to give way.
        is_exhausted: bool,
    },
    /// Until when the thread, for which a `Suspended` follows, sleeps or waits at most.
    Deadline {
        /// In virtual time.
        time: u64,
    },

    /// The earlier access of a race; an [`Event::RaceSecond`] follows.
    RaceFirst(RaceSide),
    /// The later access of a race. The number is that of its event.
    RaceSecond(RaceSide),
    /// Shared memory was touched by an access that is not a scheduling point.
    Shared,
    /// Memory was allocated.
    Allocated {
        /// First address.
        block: Address,
        /// Bytes.
        size: u64,
        /// It is the stack of the thread.
        is_stack: bool,
    },
    /// Memory was mapped.
    Mapped {
        /// First address.
        block: Address,
        /// Bytes.
        size: u64,
    },
    /// The state of the thread at the end of an execution that failed; what it waits for, if it waits.
    ThreadState {
        /// What it waits for.
        on: Option<Blockage>,
    },
    /// A synchronisation object or thread is misused.
    Misuse {
        /// How. A byte that is not one of these decodes as [`Misuse::None`].
        what: Misuse,
        /// The object, or the number of a thread.
        object: u64,
        /// Another thread that is part of it.
        other: Option<ThreadId>,
    },
    /// The thread enters or leaves its handler of a signal.
    Handler {
        /// The signal.
        signal: u64,
        /// It enters.
        is_entry: bool,
    },
    /// Something happened that is not under control.
    Escape {
        /// What. A byte that is not one of these decodes as [`Escape::None`].
        what: Escape,
        /// What it is about; see [`Escape`].
        object: u64,
    },
    /// The thread acts upon its cancellation.
    Cancelled,
    /// The program passed order on by an annotation that is no event.
    Annotated,
    /// What was in the memory of the access before this entry.
    Value {
        /// Before the access, if known.
        before: Option<u64>,
        /// After it, if known.
        after: Option<u64>,
        /// Bytes, at most 8.
        size: u8,
    },
    /// Where an object was initialised, before the `Misuse` that follows.
    Initialised {
        /// The object.
        object: Address,
    },
    /// The thread has waited for a once-only initialisation, and finds it done.
    Found {
        /// What was initialised.
        object: Address,
    },
    /// The thread enters a block that is meant to be atomic.
    BlockBegin,
    /// The thread leaves the innermost such block.
    BlockEnd,
    /// The thread enters the function whose entry is the site.
    Enter {
        /// The function will return into the executable.
        returns_here: bool,
    },
    /// The thread is about to leave its function at the site.
    Leave,
    /// The thread chooses by the branch at the site.
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
        /// Accesses of these variables, and threads that began.
        accesses: u64,
    },
    /// Accesses of the thread at points were left out here.
    Passed {
        /// Those of them whose number no other entry has.
        accesses: u64,
    },
    /// The program has given the thread a number of its own.
    Numbered {
        /// The path of the thread from now on.
        path: ThreadPath,
    },
    /// The thread unwinds because of a panic.
    Panic,
    /// The program has given the thread a name.
    Named {
        /// Its bytes, up to the first 0.
        name: [u8; 16],
    },
    /// An entry without a meaning.
    Unknown,
}

impl Event {
    /// The access, if it is one.
    #[must_use]
    pub const fn access(&self) -> Option<&Access> {
        match self {
            Self::Access(access) => Some(access),
            _ => None,
        }
    }

    /// The lock that the thread holds from now on, if any.
    #[must_use]
    pub const fn acquired(&self) -> Option<Address> {
        match self {
            Self::Acquire { lock, attempt, .. } if attempt.succeeds() => Some(*lock),
            _ => None,
        }
    }

    /// The lock that the thread gives back, if any: also the mutex of a wait.
    #[must_use]
    pub const fn released(&self) -> Option<Address> {
        match self {
            Self::Release { lock, .. } | Self::Wait { mutex: lock, .. } => Some(*lock),
            _ => None,
        }
    }

    /// The synchronisation object that an operation is about, if it is about one.
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

    /// What an operation is about: memory, a synchronisation object, or what a file leads to. Operations about threads, time
    /// and signals are about no variable.
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

    /// For [`Event::Io`]: the file.
    #[must_use]
    pub const fn file(&self) -> Option<File> {
        match self {
            Self::Io { file, .. } => File::unpack(*file),
            _ => None,
        }
    }
}
