//! One line of an execution's log.

use crate::{CodeAddress, EventNumber, ThreadId};

/// One entry of the log of an execution.
///
/// Event kinds (`kind.is_event()`) are operations of the program; the others tell how the scheduler got from one
/// event to the next. Fields that a kind does not use are 0.
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
    /// Word offset of the call stack and held locks in the stack area, 0 when none was taken.
    pub stack: u32,
    /// Site number + 1 of the instrumented instruction, 0 when the event did not come from our instrumentation.
    pub site: u32,
    /// What happened.
    pub kind: Kind,
    /// Size of an access in bytes, at most 255 (ranges: see `extra`). For [`Kind::Blocked`] 1 when the thread can also be
    /// chosen to go on by a spurious wake-up. For [`Kind::Switch`] 1 when the running thread had its turn for so long that
    /// it had to give way.
    pub size: u8,
    /// For [`Kind::Blocked`] and [`Kind::Suspended`] a [`Wait`], for [`Kind::Switch`] a [`Cause`], for atomics the
    /// memory order, for `Try*` and timed operations 1 when they succeeded.
    pub detail: u8,
    /// Not used; zero.
    pub reserved: u8,
}

impl Record {
    /// Whether it can be one: a target that overwrites its log can leave anything there, and no reader can make room for the
    /// four-billionth thread.
    #[must_use]
    pub const fn is_plausible(&self) -> bool {
        const MOST: u64 = crate::control::MAX_THREADS as u64;
        let about_thread =
            matches!(self.kind, Kind::Create | Kind::Join | Kind::Switch | Kind::BlockedSet | Kind::WokenSet);
        // Accesses can have any address and length, just before they crash.
        let is_block = matches!(self.kind, Kind::Allocated);
        (self.thread.0 as u64) < MOST
            && !(about_thread && self.object >= MOST)
            && !(is_block && self.object.checked_add(self.extra).is_none())
    }

    /// What the event is about: the address of memory or of an object of synchronisation, or what a file leads to.
    /// Events about threads, time and signals are about no variable.
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

/// A record as it is in shared memory, before its kind is known to be one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawRecord {
    words: [u64; 4],
    halves: [u32; 3],
    bytes: [u8; 4],
}

const _: () = assert!(size_of::<RawRecord>() == size_of::<Record>());

impl RawRecord {
    /// Whether the target has written one here: what was never written is zero.
    #[must_use]
    pub const fn is_written(self) -> bool {
        self.bytes[0] != Kind::None as u8
    }

    /// The record, if it can be one ([`Record::is_plausible`]).
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
            /// The value for a byte of shared memory, if it is one.
            #[must_use]
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte { $($value => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
pub(crate) use byte_enum;

byte_enum! {
    /// What a [`Record`] is about.
    Kind {
        /// Nothing: an unused entry.
        #[default] None = 0,
        /// Plain read of `size` bytes. For all plain accesses `detail` is [`crate::control::EXCUSED`] where the program has
        /// asked race detectors to ignore them.
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
        /// Read of the `extra` bytes from `object` on.
        ReadRange = 7,
        /// Write of the `extra` bytes from `object` on.
        WriteRange = 8,
        /// The block of `extra` bytes at `object` was given back to the allocator. Counts as a write of it.
        Free = 9,
        /// `thread` made thread number `object`; `detail` 1: the thread of a timer, which is the runtime's own.
        Create = 16,
        /// `thread` has waited for the end of thread number `object`. `extra` 1: by an attempt that would not have waited for
        /// ever; 2: it must not be waited for, and was not.
        Join = 17,
        /// `thread` is over, including its destructors. It performs nothing after this.
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
        /// Condition variable `object`: mutex `extra` released, waiting begins. `detail` 1: as before a spurious wake-up, since
        /// which no other thread has run, and the thread has changed neither memory nor its own state.
        Wait = 28,
        /// The wait is over; the mutex is acquired by a [`Kind::Lock`] that follows. `detail` 0 = by a signal that others
        /// could have taken, 1 = timed out, 2 = a spurious wake-up, 3 = cancelled.
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
        /// A once-only initialisation: `detail` 1 = this thread runs it, 2 = it has run it, 0 = it was done before.
        Once = 37,
        /// `futex` wait: `detail` 0 = the wait begins, 1 = it begins again as [`Kind::Wait`] does with 1, 2 = the value has changed
        /// already, and the thread does not wait.
        FutexWait = 38,
        /// `futex` wake.
        FutexWake = 39,
        /// `sched_yield`: others should run first.
        Yield = 40,
        /// A sleep begins.
        Sleep = 41,
        /// A mutex or other object was initialised or destroyed (`detail` 1 = destroyed).
        Lifetime = 42,
        /// Input or output that other threads may wait for. `object` is a packed [`crate::File`], `extra` what it leads
        /// to (the same for both ends of a pipe), `detail` 1 when it was done.
        Io = 43,
        /// A signal was sent: `object` is its number, `extra` the receiving thread + 1, 0 for the process.
        Kill = 44,
        /// `pthread_cancel` of thread number `object`; `detail` 1: `pthread_testcancel`.
        Cancel = 45,
        /// A wait for signals: begins with `detail` 0 (`pause`, `sigsuspend`), ends with 1 and the number of the signal as
        /// `object` (`sigwait` and similar calls), or with 2 and without one.
        SignalWait = 46,
        /// Timer `object` (the number of its thread) was set to expire in `extra` nanoseconds, 0 for never; `detail` 1:
        /// it has expired.
        Timer = 47,
        /// The program changed what is done about signal `object`, or, when that is 0, which signals the thread blocks.
        SignalSetup = 48,
        /// The program ends. `detail` 0: `main` has returned or `exit` was called, and others should run first, because
        /// after it they may not run any more; 1: the process ends. Only where other threads are left.
        End = 49,
        /// State that is not memory of the program is read or changed: a file, a name in a directory, the working
        /// directory. `extra` is a [`crate::Touched`], `object` its first part, `detail` 1 when something is changed.
        State = 50,

        /// `thread` cannot perform its next operation: it waits for `object` (why: `detail`, a [`Wait`]). `extra` is
        /// the owner's thread number + 1 where there is one.
        Blocked = 64,
        /// As `Blocked`, but the thread can also go on by a time-out, and is therefore always a possible choice.
        Suspended = 65,
        /// A blocked thread can go on.
        Woken = 66,
        /// Decision for event `index`: from `thread` to thread number `object`. `detail` is a [`Cause`].
        Switch = 67,

        /// As `Blocked`, for many threads at once: bit `i` of `extra` is thread number `object + i`.
        BlockedSet = 68,
        /// As `Woken`, for many threads at once.
        WokenSet = 69,
        /// Until when `thread`, of which a `Suspended` follows, sleeps or waits at most: `object`, as virtual time.
        Deadline = 70,

        /// Two accesses that are a bug: the earlier one, of the kind `detail`. Followed by a `RaceSecond`. A
        /// [`Kind::Free`] of `extra` bytes, or the [`Kind::Exit`] of the thread whose memory it was, need not be ordered
        /// before the second; anything else is a data race.
        RaceFirst = 80,
        /// The later access of the race; `index` is its event number.
        RaceSecond = 81,
        /// Memory that two threads touch, at least one of them writing, was touched by an access that is not a
        /// scheduling point.
        Shared = 82,
        /// Memory was allocated: block at `object` of `extra` bytes. `detail` 1: it is the stack of `thread`.
        Allocated = 83,
        /// State of a thread at the end of a deadlocked, failed or crashed execution: `object` is what it waits for,
        /// `detail` the [`Wait`], `extra` the owner + 1.
        ThreadState = 84,
        /// A misuse of an object or thread, see [`Misuse`] (`detail`): what `object` and `extra` are is said there.
        Misuse = 85,
        /// `thread` runs its handler of signal `object`; `detail` 1: it has left the handler.
        Handler = 86,
        /// Something happened that is not under control: `detail` is an [`Escape`].
        Escape = 87,
        /// `thread` acts upon its cancellation.
        Cancelled = 88,
        /// The program passed order on by an annotation, which is no event: the log does not have all that threads do to
        /// each other. Once in an execution.
        Annotated = 89,
        /// What was at the place of the access before this record (same `index`): `object` is the value before it, `extra`
        /// the one after it, each of `size` bytes; which of them is known, the bits of `detail` tell. Only where the plan
        /// asks for it.
        Value = 90,
        /// Where `object` was initialised, before the `Misuse` that follows: by `thread`, at `index`.
        Initialised = 91,
        /// `thread` has waited for the once-only initialisation of `object`, and finds it done: no event of its own.
        Found = 92,
        /// Memory was mapped: `extra` bytes at `object`, which have no past. Only where allocations are logged.
        Mapped = 93,
        /// `thread` begins a block that the program says is meant to be atomic. No event: no other thread notices.
        Began = 94,
        /// The innermost such block of `thread` ends.
        Ended = 95,

        /// `thread` enters the function whose entry has the number `site`; `detail` 1: the function, if it has a frame on
        /// the shadow call stack, will return into the executable. This kind and the next ones are only there where the
        /// way through the code is logged.
        Entered = 96,
        /// `thread` is about to leave its function by the return, or the exception, at `site`.
        Left = 97,
        /// `thread` chooses by the branch at `site`: `object` is the value that it depends on.
        Branched = 98,
        /// `thread` calls, at `site`, code that is not instrumented or not known, at the address `object`.
        Called = 99,
        /// The end of an execution that observed few variables. `object`: how many accesses of them, and threads that began,
        /// its walk has counted. Most of these accesses are not in the log.
        Counted = 100,
        /// The program has given `thread` a number of its own: `object` is its [`crate::path_of_id`] from now on.
        Numbered = 101,
        /// `thread` unwinds because of a panic, in Rust. Only where stacks are taken.
        Panic = 102,
        /// The program has given `thread` a name: its bytes are in `object` and then in `extra`, from the lowest one, up to the first that is
        /// zero. Only where stacks are taken.
        Named = 103,
        /// Accesses of `thread` at points were left out here: `object` is how many of them no other record has the number of. The last of
        /// them is event `index`. Only where the plan asks for a brief log.
        Passed = 104,
    }
}

impl Kind {
    /// True for operations of the program, which have a number of their own.
    #[must_use]
    pub const fn is_event(self) -> bool {
        (self as u8) != 0 && (self as u8) < 64
    }

    /// True for operations and for what tells which threads can run, or which one does: these are logged in the order of their numbers.
    #[must_use]
    pub const fn is_in_order(self) -> bool {
        (self as u8) != 0 && (self as u8) < 80
    }

    /// True for plain and atomic accesses to memory.
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

    /// True for accesses that change memory.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::AtomicUpdate | Self::WriteRange | Self::Free)
    }

    /// True for operations on objects of synchronisation, which have an address.
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

    /// True for atomic accesses.
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
        /// Something that the runtime does not know: the thread is blocked, or busy, outside its control.
        Outside = 14,
        /// A timer's own thread: the next time the timer is set.
        Timer = 15,
        /// An access that conflicts with the one that it is about to make.
        Partner = 16,
        /// A change of the memory that it reads in a loop: it is where it was before, in the same state, and nothing of
        /// what it has read since is different. It can go on at any time, but nothing comes of it.
        Change = 17,
    }
}

byte_enum! {
    /// What a [`Kind::Misuse`] record is about: all of it is undefined behaviour. `object` is the lock, unless said
    /// otherwise.
    Misuse {
        /// Nothing.
        #[default] None = 0,
        /// A lock is released that no thread holds.
        UnlockFree = 1,
        /// A lock is released that another thread holds: `extra` is its number + 1, 0 when there may be several.
        UnlockOther = 2,
        /// A lock is destroyed that a thread holds: `extra` is its number + 1, 0 when there may be several.
        DestroyHeld = 3,
        /// A condition variable, semaphore or barrier is destroyed that thread number `extra` - 1 waits for.
        DestroyAwaited = 4,
        /// The thread is over and still holds the lock. `code` is where it was taken.
        EndHolding = 5,
        /// An object is used that was destroyed.
        Destroyed = 6,
        /// A wait on a condition variable with a mutex that the thread does not hold.
        WaitUnlocked = 7,
        /// A wait on the condition variable `object` while thread number `extra` - 1 waits on it with another mutex.
        TwoMutexes = 8,
        /// A join of thread number `object`, which is detached.
        JoinDetached = 9,
        /// A join of thread number `object`, which was joined already.
        JoinTwice = 10,
        /// Thread number `object` is detached, but it was detached or joined already.
        DetachTwice = 11,
        /// An object is used that thread number `extra` - 1 has initialised, and nothing orders the two.
        NotInitialised = 12,
        /// A spin lock or barrier is used that was never initialised.
        NeverInitialised = 13,
        /// The handle of thread number `object` is used, which was joined, or has ended detached.
        HandleOver = 14,
        /// Thread number `object` is joined, or ends detached, and thread number `extra` - 1 has used its handle without being
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
        /// The running thread is over.
        Exit = 2,
        /// The running thread yielded or went to sleep.
        Yield = 3,
        /// The strategy of the tail chose it.
        Strategy = 4,
        /// The running thread had its turn for too long.
        Fair = 5,
        /// The running thread did nothing for too long by the clock on the wall.
        Watchdog = 6,
    }
}
