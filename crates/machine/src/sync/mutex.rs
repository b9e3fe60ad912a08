//! Mutexes of every type, and spin locks.

use crate::{Owner, ThreadId};

/// The kind of a mutex, from the C library's structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct MutexKind(u32);

impl MutexKind {
    const TYPE: u32 = 3;
    const ROBUST_BIT: u32 = 16;
    /// Kinds whose lock word contains the number of a kernel thread: robust ones, and those with a priority protocol.
    const OWNED_WORD: u32 = 16 | 32 | 64;
    const CEILING: u32 = 64;
    const SHARED_BIT: u32 = 128;
    /// Bits that initialisers may set.
    const KNOWN: u32 = 0x3ff;

    /// `PTHREAD_MUTEX_NORMAL`
    pub const NORMAL: Self = Self(0);
    /// `PTHREAD_MUTEX_RECURSIVE`
    pub const RECURSIVE: Self = Self(1);
    /// `PTHREAD_MUTEX_ERRORCHECK`
    pub const ERROR_CHECK: Self = Self(2);
    /// `PTHREAD_MUTEX_ADAPTIVE_NP`: a normal one, for a model.
    pub const ADAPTIVE: Self = Self(3);

    /// Creates a kind from the word in the C library's structure.
    #[inline]
    #[must_use]
    pub const fn from_word(word: u32) -> Self {
        if word & Self::OWNED_WORD == 0 {
            Self(word & (Self::TYPE | Self::SHARED_BIT))
        } else {
            Self(word & (Self::TYPE | Self::ROBUST_BIT))
        }
    }

    /// Returns true if no initialiser leaves such a word. The C library refuses it, and so do the models.
    #[inline]
    #[must_use]
    pub const fn is_garbage(word: u32) -> bool {
        word & !Self::KNOWN != 0
    }

    /// Returns true if it has the protocol `PTHREAD_PRIO_PROTECT`.
    #[inline]
    #[must_use]
    pub const fn has_ceiling(word: u32) -> bool {
        word & Self::CEILING != 0
    }

    /// Returns true if the lock word contains the number of the owner: the C library then reads it even for an attempt.
    #[must_use]
    pub const fn has_owner(word: u32) -> bool {
        word & Self::OWNED_WORD != 0
    }

    /// Returns true if the owner can lock it again.
    #[inline]
    #[must_use]
    pub const fn is_recursive(self) -> bool {
        self.0 & Self::TYPE == Self::RECURSIVE.0
    }

    /// Returns true if locking it again is an error.
    #[inline]
    #[must_use]
    pub const fn is_error_checking(self) -> bool {
        self.0 & Self::TYPE == Self::ERROR_CHECK.0
    }

    /// Returns true if the next owner is notified when an owner ends without unlocking it.
    #[inline]
    #[must_use]
    pub const fn is_robust(self) -> bool {
        self.0 & Self::ROBUST_BIT != 0
    }

    /// Returns true if other processes may share it, with a lock word that the models understand.
    #[inline]
    #[must_use]
    pub const fn is_shared(self) -> bool {
        self.0 & Self::SHARED_BIT != 0
    }

    /// Returns true for the most common kind.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        matches!(self, Self::NORMAL | Self::ADAPTIVE)
    }

    /// Returns true if every incorrect use has a defined error.
    #[must_use]
    pub const fn is_checked(self) -> bool {
        self.is_robust() || self.is_recursive() || self.is_error_checking()
    }
}

/// The type that the program uses as a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum LockForm {
    /// It was not taken yet.
    #[default]
    None,
    /// `pthread_mutex_t`
    Mutex,
    /// `pthread_spinlock_t`
    Spin,
    /// `FILE`
    File,
}

/// The effect of an owner's end on a robust mutex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Health {
    /// Nothing.
    #[default]
    Sound,
    /// Its owner ended: the next one is notified.
    Abandoned,
    /// The owner was notified, and has to declare the protected state consistent again.
    Inconsistent,
    /// It did not do so: no thread can lock the mutex again.
    Lost,
}

/// The result of an attempt to take a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The thread holds it, and did not hold it before.
    Newly,
    /// The same; the previous owner ended while holding it.
    FromDead,
    /// The thread holds it once more.
    Again,
    /// The thread already holds it too often.
    TooDeep,
    /// No thread can lock it again.
    Lost,
}

/// The result of an unlock by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlocked {
    /// The owner still holds it.
    Still,
    /// It is to be released, by [`Mutex::release`].
    Last,
}

/// The state of a mutex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Mutex {
    owner: Owner,
    /// How often the owner holds it.
    depth: u32,
    kind: MutexKind,
    /// The thread that would hold it but for an earlier misuse: its unlock is not another misuse.
    excused: Owner,
    health: Health,
    form: LockForm,
}

impl Mutex {
    /// Returns the owner.
    #[inline]
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// Returns how often the owner holds it.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns its kind.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> MutexKind {
        self.kind
    }

    /// Returns the type as which it was last taken.
    #[inline]
    #[must_use]
    pub const fn form(&self) -> LockForm {
        self.form
    }

    /// Returns the effect of an owner's end.
    #[must_use]
    pub const fn health(&self) -> Health {
        self.health
    }

    /// Notes the kind that an operation has read.
    #[inline]
    pub fn set_kind(&mut self, kind: MutexKind) {
        self.kind = kind;
    }

    /// Returns true if a thread can take it, as far as this process knows.
    #[inline]
    #[must_use]
    pub const fn is_available(&self, thread: ThreadId) -> bool {
        self.owner.is_none() || self.owner.is(thread) && self.kind.is_recursive()
    }

    /// Returns true if locking it is an error for this thread, because it already holds it.
    #[must_use]
    pub const fn refuses_again(&self, thread: ThreadId, kind: MutexKind) -> bool {
        self.owner.is(thread) && kind.is_error_checking()
    }

    /// Returns true if the lock word in the C library's structure follows the state: 0 while the mutex is free.
    #[inline]
    #[must_use]
    pub fn has_own_word(&self) -> bool {
        self.form == LockForm::Mutex && !self.kind.is_shared()
    }

    /// Returns true if it was last taken as a spin lock.
    #[inline]
    #[must_use]
    pub fn is_spin_lock(&self) -> bool {
        self.form == LockForm::Spin
    }

    /// Takes it, which must be possible.
    #[inline]
    pub fn take(&mut self, thread: ThreadId, form: LockForm) -> Taken {
        if self.health == Health::Lost {
            return Taken::Lost;
        }
        if self.owner.is(thread) {
            let Some(depth) = self.depth.checked_add(1) else { return Taken::TooDeep };
            self.depth = depth;
            return Taken::Again;
        }
        self.owner = Owner::of(thread);
        self.depth = 1;
        self.excused = Owner::NONE;
        self.form = form;
        if self.health == Health::Abandoned {
            self.health = Health::Inconsistent;
            return Taken::FromDead;
        }
        Taken::Newly
    }

    /// Returns true if the lock word in shared memory matters: the mutex is process-shared, not lost, and not held by
    /// this thread.
    #[inline]
    #[must_use]
    pub fn needs_word(&self, thread: ThreadId) -> bool {
        self.health != Health::Lost && !self.owner.is(thread) && self.kind.is_shared()
    }

    /// Unlocks it for its owner.
    #[inline]
    pub fn unlock(&mut self) -> Unlocked {
        if self.depth > 1 {
            self.depth -= 1;
            return Unlocked::Still;
        }
        if self.health == Health::Inconsistent {
            self.health = Health::Lost;
        }
        Unlocked::Last
    }

    /// Releases it for its owner, who waits on a condition variable. A recursive mutex is released only once, as in the
    /// C library: a thread that holds it twice keeps it.
    pub fn give_up(&mut self) -> Unlocked {
        if self.depth > 1 {
            self.depth -= 1;
            return Unlocked::Still;
        }
        Unlocked::Last
    }

    /// Frees the mutex. Returns its former owner, and how often that thread held it.
    #[inline]
    pub fn release(&mut self) -> (Owner, u32) {
        let had = (self.owner, self.depth);
        self.owner = Owner::NONE;
        self.depth = 0;
        had
    }

    /// Restores how often the owner held it before it waited.
    pub fn restore_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Excuses a thread that was not let in because of a misuse, which was reported: its unlock is not another misuse.
    pub fn excuse(&mut self, thread: Owner) {
        self.excused = thread;
    }

    /// Returns true if a thread is excused.
    #[must_use]
    pub const fn excuses(&self, thread: ThreadId) -> bool {
        self.excused.is(thread)
    }

    /// Notes that the owner of a robust mutex has ended.
    pub fn abandon(&mut self) {
        self.health = Health::Abandoned;
    }

    /// Declares the protected state consistent again; returns true if the thread may do so.
    pub fn make_consistent(&mut self, thread: ThreadId, kind: MutexKind) -> bool {
        let may = kind.is_robust() && self.health == Health::Inconsistent && self.owner.is(thread);
        if may {
            self.health = Health::Sound;
        }
        may
    }
}

#[cfg(test)]
mod tests;
