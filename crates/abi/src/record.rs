//! One entry of an execution's log.

use crate::{CodeAddress, EventNumber, ThreadId};

/// One entry of the log of an execution.
///
/// Event kinds (`kind.is_event()`) are operations of the program; the others describe how the scheduler got from one event to the
/// next. Fields that a kind does not use are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// Number of the event, or of the event that is decided about. See the crate documentation.
    pub index: EventNumber,
    /// Return address of the instrumentation hook or library call. Addresses inside the executable are relative to
    /// its load address, so that they mean the same in every run.
    pub code: CodeAddress,
    /// Address of the memory or synchronisation object; for [`Kind::Create`], [`Kind::Join`] and [`Kind::Switch`]
    /// the other thread's number.
    pub object: u64,
    /// A second value: the condition variable's mutex, the pieces of a range, the size of an allocation.
    pub extra: u64,
    /// The thread: its number in order of creation, 0 is `main`.
    pub thread: ThreadId,
    /// Word offset of the call stack and held locks in the stack area, 0 if none was recorded.
    pub stack: u32,
    /// Site number + 1 of the instrumented instruction, 0 if the event did not come from instrumentation.
    pub site: u32,
    /// What happened.
    pub kind: Kind,
    /// Size of an access in bytes, at most 255 (ranges: see `extra`). For [`Kind::Blocked`] 1 if the thread can also continue by
    /// a spurious wake-up. For [`Kind::Switch`] 1 if the running thread's turn was so long that it had to give way.
    pub size: u8,
    /// For [`Kind::Blocked`] and [`Kind::Suspended`] a [`Wait`], for [`Kind::Switch`] a [`Cause`], for atomics the memory order,
    /// for `Try*` and timed operations 1 if they succeeded.
    pub detail: u8,
    /// Not used; zero.
    pub reserved: u8,
}

impl Record {
    /// Returns whether the record can be valid: a target that overwrites its log can leave anything there, and no reader can make
    /// room for the four-billionth thread.
    #[must_use]
    pub const fn is_plausible(&self) -> bool {
        const MOST: u64 = crate::control::MAX_THREADS as u64;
        let about_thread =
            matches!(self.kind, Kind::Create | Kind::Join | Kind::Switch | Kind::BlockedSet | Kind::WokenSet);
        // An access can have any address and length, just before it crashes.
        let is_block = matches!(self.kind, Kind::Allocated);
        (self.thread.0 as u64) < MOST
            && !(about_thread && self.object >= MOST)
            && !(is_block && self.object.checked_add(self.extra).is_none())
    }

    /// Returns the object of the event: the address of memory or of a synchronisation object, or the object behind a descriptor.
    /// `None` for events on threads, time and signals.
    #[must_use]
    pub const fn variable(&self) -> Option<u64> {
        match self.kind {
            Kind::Io if self.extra != 0 => Some(self.extra),
            Kind::State => Some(crate::state_object(self.object as u16)),
            kind if kind.is_access() || kind.is_synchronisation() || matches!(kind, Kind::Io) => Some(self.object),
            _ => None,
        }
    }
}

/// A record as it is in shared memory, before its kind is checked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawRecord {
    words: [u64; 4],
    halves: [u32; 3],
    bytes: [u8; 4],
}

const _: () = assert!(size_of::<RawRecord>() == size_of::<Record>());

impl RawRecord {
    /// Returns whether the target has written a record here: unwritten memory is zero.
    #[must_use]
    pub const fn is_written(self) -> bool {
        self.bytes[0] != Kind::None as u8
    }

    /// Returns the record, if it can be valid ([`Record::is_plausible`]).
    #[must_use]
    #[inline]
    pub const fn checked(self) -> Option<Record> {
        let [index, code, object, extra] = self.words;
        let [thread, stack, site] = self.halves;
        let [kind, size, detail, reserved] = self.bytes;
        let Some(kind) = Kind::from_byte(kind) else { return None };
        let record = Record {
            index: EventNumber(index),
            code: CodeAddress(code),
            object,
            extra,
            thread: ThreadId(thread),
            stack,
            site,
            kind,
            size,
            detail,
            reserved,
        };
        if record.is_plausible() { Some(record) } else { None }
    }
}

macro_rules! byte_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[repr(u8)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub enum $name { $($(#[$vdoc])* $variant = $value,)* }
        impl $name {
            /// Returns the value of a byte of shared memory, if valid.
            #[must_use]
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte { $($value => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
pub(crate) use byte_enum;

byte_enum! {
    /// The kind of a [`Record`].
    Kind {
        /// Nothing: an unused entry.
        #[default] None = 0,
        /// Plain read of `size` bytes. For all plain accesses `detail` is [`crate::control::EXCUSED`] if the program has asked
        /// race detectors to ignore them.
        Read = 1,
        /// Plain write.
        Write = 2,
        /// Atomic load.
        AtomicRead = 3,
        /// Atomic store.
        AtomicWrite = 4,
        /// Atomic read-modify-write, including a compare-exchange that succeeds.
        AtomicUpdate = 5,
        /// Fence.
        Fence = 6,
        /// Read of `extra` bytes from `object` on.
        ReadRange = 7,
        /// Write of `extra` bytes from `object` on.
        WriteRange = 8,
        /// The block of `extra` bytes at `object` was freed. Counts as a write to it.
        Free = 9,
        /// `thread` created thread number `object`; `detail` 1: the thread of a timer, which belongs to the runtime.
        Create = 16,
        /// `thread` joined thread number `object`. `extra` 1: by a `try` or timed join; 2: it was not joined.
        Join = 17,
        /// `thread` has ended, including its destructors. It performs nothing after this.
        Exit = 18,
        /// `pthread_detach`.
        Detach = 19,
        /// Mutex acquired (also the acquisition after waiting on a condition variable).
        Lock = 20,
        /// Mutex released.
        Unlock = 21,
        /// `trylock` and timed forms on a mutex; `detail` 1 = acquired.
        TryLock = 22,
        /// Reader side of a reader-writer lock acquired.
        ReadLock = 23,
        /// Writer side acquired.
        WriteLock = 24,
        /// `try` and timed forms on the reader side; `detail` 1 = acquired.
        TryReadLock = 25,
        /// `try` and timed forms on the writer side; `detail` 1 = acquired.
        TryWriteLock = 26,
        /// Reader-writer lock released.
        RwUnlock = 27,
        /// Condition variable `object`: mutex `extra` released, waiting begins. `detail` 1: repeated after a spurious wake-up,
        /// since which no other thread has run, and the thread has changed neither memory nor its own state.
        Wait = 28,
        /// The wait ends; a [`Kind::Lock`] of the mutex follows. `detail` 0 = by a signal that others could have taken, 1 = timed
        /// out, 2 = a spurious wake-up, 3 = cancelled.
        WaitEnd = 29,
        /// `pthread_cond_signal`.
        Signal = 30,
        /// `pthread_cond_broadcast`.
        Broadcast = 31,
        /// Semaphore decremented.
        SemWait = 32,
        /// Semaphore incremented.
        SemPost = 33,
        /// `sem_trywait` and timed forms; `detail` 1 = decremented, 2 = `sem_getvalue`.
        SemTryWait = 34,
        /// Arrived at a barrier.
        BarrierWait = 35,
        /// Passed a barrier.
        BarrierPass = 36,
        /// A once-only initialisation: `detail` 1 = this thread runs it, 2 = it has run it, 0 = it was already done.
        Once = 37,
        /// `futex` wait: `detail` 0 = the wait begins, 1 = it is repeated as in [`Kind::Wait`], 2 = the value has already
        /// changed, and the thread does not wait.
        FutexWait = 38,
        /// `futex` wake.
        FutexWake = 39,
        /// `sched_yield`.
        Yield = 40,
        /// A sleep begins.
        Sleep = 41,
        /// A mutex or other object was initialised or destroyed (`detail` 1 = destroyed).
        Lifetime = 42,
        /// Input or output that other threads may wait for. `object` is a packed [`crate::File`], `extra` the object behind the
        /// descriptor (the same for both ends of a pipe), `detail` 1 if it was done.
        Io = 43,
        /// A signal was sent: `object` is its number, `extra` the receiving thread + 1, 0 for the process.
        Kill = 44,
        /// `pthread_cancel` of thread number `object`; `detail` 1: `pthread_testcancel`.
        Cancel = 45,
        /// A wait for signals: begins with `detail` 0 (`pause`, `sigsuspend`), ends with 1 and the number of the signal as
        /// `object` (`sigwait` and similar calls), or with 2 and without one.
        SignalWait = 46,
        /// Timer `object` (the number of its thread) was set to expire in `extra` nanoseconds, 0 for never; `detail` 1: it has
        /// expired.
        Timer = 47,
        /// The program changed the action of signal `object`, or, if that is 0, the signal mask of the thread.
        SignalSetup = 48,
        /// The program ends. `detail` 0: `main` has returned or `exit` was called, and others should run first, because they may
        /// not run any more after it; 1: the process ends. Only if other threads are left.
        End = 49,
        /// State outside the program's memory is read or changed: a file, a name in a directory, the working directory. `extra`
        /// is a [`crate::Touched`], `object` its first part, `detail` 1 if something is changed.
        State = 50,
        /// An operation at `code` that no other record describes.
        Other = 51,

        /// `thread` cannot perform its next operation: it waits for `object` (`detail` is the [`Wait`]). `extra` is the owner's
        /// thread number + 1, if there is one.
        Blocked = 64,
        /// As `Blocked`, but the thread can also continue by a time-out, so it is always a possible choice.
        Suspended = 65,
        /// A blocked thread can continue.
        Woken = 66,
        /// Decision for event `index`: from `thread` to thread number `object`. `detail` is a [`Cause`].
        Switch = 67,

        /// As `Blocked`, for many threads at once: bit `i` of `extra` is thread number `object + i`.
        BlockedSet = 68,
        /// As `Woken`, for many threads at once.
        WokenSet = 69,
        /// The deadline of the sleep or wait of `thread`, for which a `Suspended` follows: `object`, in virtual time.
        Deadline = 70,

        /// The earlier of two accesses that are a bug, of the kind `detail`. Followed by a `RaceSecond`. After a [`Kind::Free`]
        /// of `extra` bytes, or the [`Kind::Exit`] of the thread that owned the memory, the second is a bug even if ordered;
        /// anything else is a data race.
        RaceFirst = 80,
        /// The later access of the race; `index` is its event number.
        RaceSecond = 81,
        /// An access that is not a scheduling point touched memory that two threads touch, at least one of them writing.
        Shared = 82,
        /// Memory was allocated: a block of `extra` bytes at `object`. `detail` 1: it is the stack of `thread`.
        Allocated = 83,
        /// The final state of a thread in a deadlocked, failed or crashed execution: `object` is what it waits for, `detail` the
        /// [`Wait`], `extra` the owner + 1.
        ThreadState = 84,
        /// A misuse of an object or thread: `detail` is a [`Misuse`], which defines `object` and `extra`.
        Misuse = 85,
        /// `thread` runs its handler of signal `object`; `detail` 1: it has left the handler.
        Handler = 86,
        /// Something happened that is not under control: `detail` is an [`Escape`].
        Escape = 87,
        /// `thread` acts upon its cancellation.
        Cancelled = 88,
        /// The program ordered events by an annotation that is not itself an event: the log does not contain everything that
        /// threads do to each other. Once per execution.
        Annotated = 89,
        /// The value of the memory touched by the access before this record (same `index`): `object` is the value before it,
        /// `extra` the one after it, each of `size` bytes; the bits of `detail` say which are known. Only if the plan asks for
        /// it.
        Value = 90,
        /// Where `object` was initialised, before the `Misuse` that follows: by `thread`, at `index`.
        Initialised = 91,
        /// `thread` waited for the once-only initialisation of `object`, which is now done. Not an event.
        Found = 92,
        /// Memory was mapped: `extra` new bytes at `object`. Only if allocations are logged.
        Mapped = 93,
        /// `thread` begins a block that the program declares atomic. Not an event: no other thread notices.
        Began = 94,
        /// The innermost such block of `thread` ends.
        Ended = 95,

        /// `thread` enters the function whose entry has the number `site`; `detail` 1: the function, if it has a frame on the
        /// shadow call stack, will return into the executable. This kind and the next ones exist only if control flow is logged.
        Entered = 96,
        /// `thread` is about to leave its function by the return, or the exception, at `site`.
        Left = 97,
        /// `thread` takes the branch at `site`: `object` is the value that it depends on.
        Branched = 98,
        /// `thread` calls, at `site`, code that is not instrumented or not known, at the address `object`.
        Called = 99,
        /// The end of an execution that observed few variables. `object`: the number of their accesses, plus threads that began,
        /// that its walk counted. Most of these accesses are not in the log.
        Counted = 100,
        /// The program has numbered `thread`: `object` is its [`crate::path_of_id`] from now on.
        Numbered = 101,
        /// `thread` unwinds because of a Rust panic; `object` is its number in the panic's message.
        Panic = 102,
        /// The program has named `thread`: the bytes of the name are in `object` and then in `extra`, from the lowest one, up to
        /// the first zero. Only if stacks are recorded.
        Named = 103,
        /// Accesses of `thread` at points were left out here: `object` is how many of them no other record has the number of. The last of
        /// them is event `index`. Only where the plan asks for a brief log.
        Passed = 104,
        /// The C library reads `extra` bytes at `object` for `thread`: the contents of a block that moves, or what a call turns out to
        /// have read. Not an event. Only if allocations are logged.
        Taken = 105,
    }
}

impl Kind {
    /// Returns whether it is an operation of the program, which has its own number.
    #[must_use]
    pub const fn is_event(self) -> bool {
        (self as u8) != 0 && (self as u8) < 64
    }

    /// True for operations and for what tells which threads can run, or which one does: these are logged in the order of their numbers.
    #[must_use]
    pub const fn is_in_order(self) -> bool {
        (self as u8) != 0 && (self as u8) < 80
    }

    /// Returns whether it is a plain or atomic access to memory.
    #[must_use]
    pub const fn is_access(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Write
                | Self::AtomicRead
                | Self::AtomicWrite
                | Self::AtomicUpdate
                | Self::ReadRange
                | Self::WriteRange
                | Self::Free
        )
    }

    /// Returns whether it is an access that changes memory.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::AtomicUpdate | Self::WriteRange | Self::Free)
    }

    /// Returns whether it is an operation on a synchronisation object, which has an address.
    #[must_use]
    pub const fn is_synchronisation(self) -> bool {
        matches!(
            self,
            Self::Lock
                | Self::Unlock
                | Self::TryLock
                | Self::ReadLock
                | Self::WriteLock
                | Self::TryReadLock
                | Self::TryWriteLock
                | Self::RwUnlock
                | Self::Wait
                | Self::WaitEnd
                | Self::Signal
                | Self::Broadcast
                | Self::SemWait
                | Self::SemPost
                | Self::SemTryWait
                | Self::BarrierWait
                | Self::BarrierPass
                | Self::Once
                | Self::FutexWait
                | Self::FutexWake
                | Self::Lifetime
        )
    }

    /// Returns whether it is an atomic access.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::AtomicUpdate)
    }
}

byte_enum! {
    /// What a thread waits for.
    Wait {
        /// Nothing.
        #[default] Nothing = 0,
        /// A mutex.
        Mutex = 1,
        /// A condition variable.
        Condition = 2,
        /// The end of another thread.
        Join = 3,
        /// A semaphore.
        Semaphore = 4,
        /// The reader side of a reader-writer lock.
        ReadLock = 5,
        /// The writer side of a reader-writer lock.
        WriteLock = 6,
        /// A futex.
        Futex = 7,
        /// Time.
        Sleep = 8,
        /// A file descriptor: the object is a packed [`crate::File`].
        File = 9,
        /// The end of another thread's once-only initialisation.
        Once = 10,
        /// A barrier.
        Barrier = 11,
        /// A signal.
        Signal = 12,
        /// The end of a child process.
        Child = 13,
        /// Something unknown to the runtime: the thread is blocked, or busy, outside its control.
        Outside = 14,
        /// A timer's own thread: the next time the timer is set.
        Timer = 15,
        /// An access that conflicts with its own next one.
        Partner = 16,
        /// A change of the memory that it reads in a loop: it has returned to an earlier state, and nothing that it has read
        /// since has changed. It can continue at any time, but to no effect.
        Change = 17,
    }
}

byte_enum! {
    /// The kind of a [`Kind::Misuse`]; each is undefined behaviour. `object` is the lock, unless stated otherwise.
    Misuse {
        /// Nothing.
        #[default] None = 0,
        /// Releases a lock that no thread holds.
        UnlockFree = 1,
        /// Releases a lock that another thread holds: `extra` is its number + 1, 0 if there may be several.
        UnlockOther = 2,
        /// Destroys a lock that a thread holds: `extra` is its number + 1, 0 if there may be several.
        DestroyHeld = 3,
        /// Destroys a condition variable, semaphore or barrier that thread number `extra` - 1 waits for.
        DestroyAwaited = 4,
        /// Ends while still holding the lock. `code` is where it was taken.
        EndHolding = 5,
        /// Uses a destroyed object.
        Destroyed = 6,
        /// Waits on a condition variable with a mutex that the thread does not hold.
        WaitUnlocked = 7,
        /// Waits on the condition variable `object` while thread number `extra` - 1 waits on it with another mutex.
        TwoMutexes = 8,
        /// Joins thread number `object`, which is detached.
        JoinDetached = 9,
        /// Joins thread number `object`, which was already joined.
        JoinTwice = 10,
        /// Detaches thread number `object`, which was already detached or joined.
        DetachTwice = 11,
        /// Uses an object that thread number `extra` - 1 initialised, with nothing to order the two.
        NotInitialised = 12,
        /// Uses a spin lock or barrier that was never initialised.
        NeverInitialised = 13,
        /// Uses the handle of thread number `object`, which was joined, or has ended detached.
        HandleOver = 14,
        /// Thread number `object` is joined, or ends detached, and thread number `extra` - 1 used its handle without being
        /// ordered before that.
        HandleUsed = 15,
    }
}

byte_enum! {
    /// Why a [`Kind::Switch`] happened.
    Cause {
        /// The plan said so.
        #[default] Plan = 0,
        /// The running thread was blocked or suspended.
        Blocked = 1,
        /// The running thread has ended.
        Exit = 2,
        /// The running thread yielded or went to sleep.
        Yield = 3,
        /// The tail strategy chose it.
        Strategy = 4,
        /// The running thread's turn was too long.
        Fair = 5,
        /// The running thread did nothing for too long, in wall-clock time.
        Watchdog = 6,
    }
}
