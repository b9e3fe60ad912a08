//! Reader-writer locks. Readers and writers have equal chances: the thread that is chosen while the lock is free gets
//! it. Only a lock that prefers writers keeps readers out while a writer waits.

use crate::{Owner, ThreadId};

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Shared with other readers.
    Read,
    /// Exclusively.
    Write,
}

/// The result of an unlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RwUnlocked {
    /// The writer has released it.
    Writer,
    /// One of the readers has released it.
    Reader,
    /// No thread holds it, or another thread holds it for writing, so nothing was released.
    NotHeld,
}

/// The state of a reader-writer lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Rwlock {
    writer: Owner,
    readers: u32,
    /// Number of writers that had to wait.
    queued: u32,
}

impl Rwlock {
    /// Returns the writer.
    #[inline]
    #[must_use]
    pub const fn writer(&self) -> Owner {
        self.writer
    }

    /// Returns the number of readers.
    #[must_use]
    pub const fn readers(&self) -> u32 {
        self.readers
    }

    /// Returns true if it can be taken.
    #[inline]
    #[must_use]
    pub const fn is_available(&self, mode: Mode, prefers_writers: bool) -> bool {
        self.writer.is_none()
            && match mode {
                Mode::Read => self.queued == 0 || !prefers_writers,
                Mode::Write => self.readers == 0,
            }
    }

    /// Takes it, which must be possible.
    #[inline]
    pub fn take(&mut self, thread: ThreadId, mode: Mode) {
        match mode {
            Mode::Read => self.readers += 1,
            Mode::Write => self.writer = Owner::of(thread),
        }
    }

    /// Queues a writer that cannot take the lock at once; returns true if it was queued.
    pub fn queue(&mut self, mode: Mode) -> bool {
        let waits = mode == Mode::Write && !self.is_available(mode, false);
        self.queued += u32::from(waits);
        waits
    }

    /// Notes that the wait has ended.
    pub fn unqueue(&mut self) {
        self.queued = self.queued.saturating_sub(1);
    }

    /// Unlocks it for a thread. It is not known here which of the readers that is.
    pub fn unlock(&mut self, thread: ThreadId) -> RwUnlocked {
        if self.writer.is(thread) {
            self.writer = Owner::NONE;
            RwUnlocked::Writer
        } else if self.writer.is_none() && self.readers > 0 {
            self.readers -= 1;
            RwUnlocked::Reader
        } else {
            RwUnlocked::NotHeld
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    fn taken(modes: &[(ThreadId, Mode)]) -> Rwlock {
        let mut lock = Rwlock::default();
        modes.iter().for_each(|&(thread, mode)| lock.take(thread, mode));
        lock
    }

    #[test]
    fn a_free_lock_can_be_taken() {
        let lock = Rwlock::default();
        assert!(lock.is_available(Mode::Read, false) && lock.is_available(Mode::Write, false));
    }

    #[test]
    fn readers_share() {
        let lock = taken(&[(A, Mode::Read)]);
        assert!(lock.is_available(Mode::Read, false) && !lock.is_available(Mode::Write, false));
    }

    #[test]
    fn a_writer_is_alone() {
        let lock = taken(&[(A, Mode::Write)]);
        assert!(!lock.is_available(Mode::Read, false) && !lock.is_available(Mode::Write, false));
    }

    #[test]
    fn a_waiting_writer_does_not_keep_readers_out() {
        let mut lock = taken(&[(A, Mode::Read)]);
        assert!(lock.queue(Mode::Write));
        assert!(lock.is_available(Mode::Read, false));
    }

    #[test]
    fn unless_the_lock_prefers_writers() {
        let mut lock = taken(&[(A, Mode::Read)]);
        lock.queue(Mode::Write);
        assert!(!lock.is_available(Mode::Read, true));
        lock.unqueue();
        assert!(lock.is_available(Mode::Read, true));
    }

    #[test]
    fn a_writer_that_gets_it_at_once_does_not_wait() {
        assert!(!Rwlock::default().queue(Mode::Write));
    }

    #[test]
    fn readers_never_queue() {
        assert!(!taken(&[(A, Mode::Write)]).queue(Mode::Read));
    }

    #[test]
    fn the_writer_unlocks() {
        let mut lock = taken(&[(A, Mode::Write)]);
        assert_eq!(lock.unlock(A), RwUnlocked::Writer);
        assert_eq!(lock, Rwlock::default());
    }

    #[test]
    fn no_other_thread_can_unlock_for_the_writer() {
        let mut lock = taken(&[(A, Mode::Write)]);
        assert_eq!(lock.unlock(B), RwUnlocked::NotHeld);
        assert!(lock.writer().is(A));
    }

    #[test]
    fn readers_unlock_one_by_one() {
        let mut lock = taken(&[(A, Mode::Read), (B, Mode::Read)]);
        assert_eq!(lock.unlock(A), RwUnlocked::Reader);
        assert!(!lock.is_available(Mode::Write, false));
        assert_eq!(lock.unlock(B), RwUnlocked::Reader);
        assert!(lock.is_available(Mode::Write, false));
    }

    #[test]
    fn a_free_lock_cannot_be_unlocked() {
        assert_eq!(Rwlock::default().unlock(A), RwUnlocked::NotHeld);
    }

    proptest! {
        /// Compared with the definition: a set of readers, or one writer.
        #[test]
        fn excludes_as_defined(steps in vec((0_u32..4, any::<bool>(), any::<bool>()), 0..80)) {
            let (mut lock, mut readers, mut writer) = (Rwlock::default(), Vec::new(), None);
            for (thread, takes, writes) in steps {
                let mode = if writes { Mode::Write } else { Mode::Read };
                let holds = writer == Some(thread) || readers.contains(&thread);
                if takes {
                    let is_free = writer.is_none() && (mode == Mode::Read || readers.is_empty());
                    prop_assert_eq!(lock.is_available(mode, false), is_free);
                    if is_free && !holds {
                        lock.take(ThreadId(thread), mode);
                        match mode {
                            Mode::Read => readers.push(thread),
                            Mode::Write => writer = Some(thread),
                        }
                    }
                } else if holds {
                    let expected = if writer.take().is_some() { RwUnlocked::Writer } else { RwUnlocked::Reader };
                    readers.retain(|&reader| reader != thread);
                    prop_assert_eq!(lock.unlock(ThreadId(thread)), expected);
                }
                prop_assert_eq!(lock.readers() as usize, readers.len());
                prop_assert_eq!(lock.writer().thread(), writer.map(ThreadId));
                prop_assert!(lock.readers() == 0 || lock.writer().is_none());
            }
        }

        /// A lock that prefers writers lets no reader in while one waits.
        #[test]
        fn preferred_writers_are_not_overtaken(waiting in 0_u32..5, readers in 1_u32..5) {
            let mut lock = Rwlock::default();
            (0..readers).for_each(|reader| lock.take(ThreadId(reader), Mode::Read));
            (0..waiting).for_each(|_| { lock.queue(Mode::Write); });
            prop_assert_eq!(lock.is_available(Mode::Read, true), waiting == 0);
            (0..waiting).for_each(|_| lock.unqueue());
            prop_assert!(lock.is_available(Mode::Read, true));
        }
    }
}
