//! What an event does.

/// What an event does to its object.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Plain read of memory.
    Read = 0,
    /// Plain write of memory.
    Write = 1,
    /// Atomic load.
    AtomicRead = 2,
    /// Atomic store.
    AtomicWrite = 3,
    /// Atomic read-modify-write.
    Update = 4,
    /// A lock is acquired exclusively.
    Acquire = 5,
    /// A lock that was held exclusively is released.
    Release = 6,
    /// A reader-writer lock is acquired as a reader.
    AcquireShared = 7,
    /// A reader releases a reader-writer lock.
    ReleaseShared = 8,
    /// An attempt to acquire a lock that failed because others held it.
    TryFailed = 9,
    /// The thread named by the object is created.
    Fork = 10,
    /// The thread named by the object has ended, and this one knows it.
    Join = 11,
    /// The thread takes a branch. The dependences say which reads decided it, if that is known.
    Branch = 12,
    /// A function begins.
    Enter = 13,
    /// A function ends.
    Exit = 14,
    /// A block begins that is meant to be atomic.
    Begin = 15,
    /// The innermost such block ends.
    End = 16,
    /// A wait on a condition variable begins; its mutex was released just before.
    Wait = 17,
    /// The wait has ended; the mutex is acquired next.
    Wake = 18,
    /// One waiter of a condition variable is woken.
    Signal = 19,
    /// All waiters of a condition variable are woken.
    Broadcast = 20,
    /// A semaphore is incremented.
    Post = 21,
    /// A semaphore is decremented, or an attempt at it failed.
    Down = 22,
    /// The thread has arrived at a barrier.
    Arrive = 23,
    /// The thread has passed a barrier.
    Depart = 24,
    /// Something that must stay in the order of the trace with everything else on the same object.
    Order = 25,
    /// Something that concerns no other thread.
    Local = 26,
    /// As [`Op::Acquire`], by an attempt that would not have waited for ever.
    TryAcquire = 27,
    /// As [`Op::AcquireShared`], by an attempt that would not have waited for ever.
    TryAcquireShared = 28,
    /// As [`Op::Join`], by an attempt that would not have waited for ever.
    TryJoin = 29,
}

/// The kind of object that an event concerns. Objects of different kinds are different, even if they have the same
/// name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A location in memory.
    Memory,
    /// A mutex or reader-writer lock.
    Lock,
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A barrier.
    Barrier,
    /// Anything else that is kept in order.
    Order,
    /// Another thread: the object of the event is its number.
    Thread,
    /// Nothing.
    Nothing,
}

impl Op {
    /// All operations, by their number.
    pub const ALL: [Self; 30] = [
        Self::Read,
        Self::Write,
        Self::AtomicRead,
        Self::AtomicWrite,
        Self::Update,
        Self::Acquire,
        Self::Release,
        Self::AcquireShared,
        Self::ReleaseShared,
        Self::TryFailed,
        Self::Fork,
        Self::Join,
        Self::Branch,
        Self::Enter,
        Self::Exit,
        Self::Begin,
        Self::End,
        Self::Wait,
        Self::Wake,
        Self::Signal,
        Self::Broadcast,
        Self::Post,
        Self::Down,
        Self::Arrive,
        Self::Depart,
        Self::Order,
        Self::Local,
        Self::TryAcquire,
        Self::TryAcquireShared,
        Self::TryJoin,
    ];

    /// Returns the operation with this number, if there is one.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Returns the word for it in the text form.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "r",
            Self::Write => "w",
            Self::AtomicRead => "ar",
            Self::AtomicWrite => "aw",
            Self::Update => "au",
            Self::Acquire => "acq",
            Self::Release => "rel",
            Self::AcquireShared => "racq",
            Self::ReleaseShared => "rrel",
            Self::TryFailed => "tryfail",
            Self::Fork => "fork",
            Self::Join => "join",
            Self::Branch => "br",
            Self::Enter => "enter",
            Self::Exit => "exit",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Wait => "wait",
            Self::Wake => "wake",
            Self::Signal => "signal",
            Self::Broadcast => "broadcast",
            Self::Post => "post",
            Self::Down => "down",
            Self::Arrive => "arrive",
            Self::Depart => "depart",
            Self::Order => "order",
            Self::Local => "local",
            Self::TryAcquire => "tacq",
            Self::TryAcquireShared => "tracq",
            Self::TryJoin => "tjoin",
        }
    }

    /// Returns the operation for a word of the text form.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.word() == word)
    }

    /// Returns the kind of its object.
    #[must_use]
    pub const fn subject(self) -> Subject {
        match self {
            Self::Read | Self::Write | Self::AtomicRead | Self::AtomicWrite | Self::Update => Subject::Memory,
            Self::Acquire
            | Self::TryAcquire
            | Self::Release
            | Self::AcquireShared
            | Self::TryAcquireShared
            | Self::ReleaseShared
            | Self::TryFailed => Subject::Lock,
            Self::Fork | Self::Join | Self::TryJoin => Subject::Thread,
            Self::Branch | Self::Enter | Self::Exit | Self::Begin | Self::End | Self::Local => Subject::Nothing,
            Self::Wait | Self::Wake | Self::Signal | Self::Broadcast => Subject::Condition,
            Self::Post | Self::Down => Subject::Semaphore,
            Self::Arrive | Self::Depart => Subject::Barrier,
            Self::Order => Subject::Order,
        }
    }

    /// Returns true if it reads memory.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::AtomicRead | Self::Update)
    }

    /// Returns true if it writes memory.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::Update)
    }

    /// Returns true for accesses to memory.
    #[must_use]
    pub const fn is_access(self) -> bool {
        self.reads() || self.writes()
    }

    /// Returns true for atomic accesses, which do not race with each other.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::Update)
    }

    /// Returns true if it takes a lock.
    #[must_use]
    pub const fn acquires(self) -> bool {
        self.excludes() || self.shares()
    }

    /// Returns true if it takes a lock exclusively.
    #[must_use]
    pub const fn excludes(self) -> bool {
        matches!(self, Self::Acquire | Self::TryAcquire)
    }

    /// Returns true if it takes a lock as a reader.
    #[must_use]
    pub const fn shares(self) -> bool {
        matches!(self, Self::AcquireShared | Self::TryAcquireShared)
    }

    /// Returns true if it waits for a lock, if necessary for ever.
    #[must_use]
    pub const fn insists(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireShared)
    }

    /// Returns true if it waits for the end of a thread.
    #[must_use]
    pub const fn joins(self) -> bool {
        matches!(self, Self::Join | Self::TryJoin)
    }

    /// Returns true if it releases a lock.
    #[must_use]
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::ReleaseShared)
    }
}

impl Subject {
    /// All kinds, by their number.
    pub const ALL: [Self; 8] = [
        Self::Memory,
        Self::Lock,
        Self::Condition,
        Self::Semaphore,
        Self::Barrier,
        Self::Order,
        Self::Thread,
        Self::Nothing,
    ];

    /// Returns true if events about it have an entry in the table of objects.
    #[must_use]
    pub const fn has_object(self) -> bool {
        !matches!(self, Self::Thread | Self::Nothing)
    }

    /// Returns a word for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Lock => "lock",
            Self::Condition => "condition",
            Self::Semaphore => "semaphore",
            Self::Barrier => "barrier",
            Self::Order => "order",
            Self::Thread => "thread",
            Self::Nothing => "nothing",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Op, Subject};

    #[test]
    fn numbers_and_words_name_operations() {
        for (number, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, number);
            assert_eq!(Op::from_byte(number as u8), Some(op));
            assert_eq!(Op::from_word(op.word()), Some(op));
        }
        assert_eq!(Op::from_byte(Op::ALL.len() as u8), None);
        for (number, subject) in Subject::ALL.into_iter().enumerate() {
            assert_eq!(subject as usize, number);
        }
    }
}
