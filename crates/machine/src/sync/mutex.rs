//! Mutexes of every type, and spin locks.

use crate::{Owner, ThreadId};

/// What kind of mutex the C library's structure says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct MutexKind(u32);

impl MutexKind {
    const TYPE: u32 = 3;
    const ROBUST_BIT: u32 = 16;
    /// The lock word has the number of a kernel thread: robust, or with a protocol for priorities.
    const OWNED_WORD: u32 = 16 | 32 | 64;
    const CEILING: u32 = 64;
    const SHARED_BIT: u32 = 128;
    /// What initialisers may leave there.
    const KNOWN: u32 = 0x3ff;

    /// `PTHREAD_MUTEX_NORMAL`
    pub const NORMAL: Self = Self(0);
    /// `PTHREAD_MUTEX_RECURSIVE`
    pub const RECURSIVE: Self = Self(1);
    /// `PTHREAD_MUTEX_ERRORCHECK`
    pub const ERROR_CHECK: Self = Self(2);
    /// `PTHREAD_MUTEX_ADAPTIVE_NP`: a normal one, for a model.
    pub const ADAPTIVE: Self = Self(3);

    /// From the word in the C library's structure.
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

    /// Returns true if the lock word that belongs to this one has the number of its owner: the C library then looks at
    /// it even when it only tries.
    #[must_use]
    pub const fn has_owner(word: u32) -> bool {
        word & Self::OWNED_WORD != 0
    }

    /// Returns true if the owner can take it again.
    #[inline]
    #[must_use]
    pub const fn is_recursive(self) -> bool {
        self.0 & Self::TYPE == Self::RECURSIVE.0
    }

    /// Returns true if taking it again is an error.
    #[inline]
    #[must_use]
    pub const fn is_error_checking(self) -> bool {
        self.0 & Self::TYPE == Self::ERROR_CHECK.0
    }

    /// Returns true if the next owner is notified if one has ended with it.
    #[inline]
    #[must_use]
    pub const fn is_robust(self) -> bool {
        self.0 & Self::ROBUST_BIT != 0
    }

    /// Returns true if other processes may have it too, with a lock word that models understand.
    #[inline]
    #[must_use]
    pub const fn is_shared(self) -> bool {
        self.0 & Self::SHARED_BIT != 0
    }

    /// Returns true if it is of the kind that most mutexes are.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        matches!(self, Self::NORMAL | Self::ADAPTIVE)
    }

    /// Returns true if every wrong use has a defined error.
    #[must_use]
    pub const fn is_checked(self) -> bool {
        self.is_robust() || self.is_recursive() || self.is_error_checking()
    }
}

/// What a lock of this model is to the program.
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

/// What the end of an owner has done to a robust mutex.
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
    /// It did not say so: the mutex is of no use any more.
    Lost,
}

/// How an attempt to take a mutex went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The thread has it, and did not have it before.
    Newly,
    /// The same; the owner before has ended with it.
    FromDead,
    /// The thread has it once more.
    Again,
    /// It has it too often already.
    TooDeep,
    /// No thread can lock it again.
    Lost,
}

/// How an unlock by its owner went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlocked {
    /// The owner has it less often now.
    Still,
    /// It is to be given up altogether, by [`Mutex::release`].
    Last,
}

/// The state of a mutex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Mutex {
    owner: Owner,
    /// How often the owner has it.
    depth: u32,
    kind: MutexKind,
    /// The thread that could have it by now but for an earlier misuse: that it unlocks is not another one.
    excused: Owner,
    health: Health,
    form: LockForm,
}

impl Mutex {
    /// Returns the thread that has it.
    #[inline]
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// Returns how often the owner has it.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns what it is.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> MutexKind {
        self.kind
    }

    /// Returns what it was last taken as.
    #[inline]
    #[must_use]
    pub const fn form(&self) -> LockForm {
        self.form
    }

    /// Returns what the end of an owner has done to it.
    #[must_use]
    pub const fn health(&self) -> Health {
        self.health
    }

    /// An operation has read what it is.
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

    /// Returns true if a thread that locks it is told so, because it has it already.
    #[must_use]
    pub const fn refuses_again(&self, thread: ThreadId, kind: MutexKind) -> bool {
        self.owner.is(thread) && kind.is_error_checking()
    }

    /// Returns true if the memory word of the C library's structure follows the state: 0 while the mutex is free.
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

    /// Takes it, which is possible.
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

    /// Returns true if it cannot be taken by anybody any more, or was taken already: then the words of other processes
    /// do not matter.
    #[inline]
    #[must_use]
    pub fn needs_word(&self, thread: ThreadId) -> bool {
        self.health != Health::Lost && !self.owner.is(thread) && self.kind.is_shared()
    }

    /// Returns the owner unlocks it.
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

    /// The owner gives it up to wait on a condition variable. A recursive mutex is given up only once, as in the C
    /// library: the thread that holds it twice keeps it.
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

    /// The owner has it as often as before it waited.
    pub fn restore_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// This thread was not let in because of a misuse, which was reported: that it unlocks is not another one.
    pub fn excuse(&mut self, thread: Owner) {
        self.excused = thread;
    }

    /// Returns true if it was.
    #[must_use]
    pub const fn excuses(&self, thread: ThreadId) -> bool {
        self.excused.is(thread)
    }

    /// The owner of a robust one has ended.
    pub fn abandon(&mut self) {
        self.health = Health::Abandoned;
    }

    /// A thread declares the protected state consistent again. Whether it may.
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
