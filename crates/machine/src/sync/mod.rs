//! One state per synchronisation primitive: who owns it, who may take it, and the effect of each operation.
//!
//! The states know nothing about waiting: the runtime asks whether an operation is possible now, and performs it only
//! then.

mod barrier;
mod cycle;
mod futex;
mod mutex;
mod permit;
mod releasers;
mod rwlock;

pub use barrier::{Arrival, Barrier, Round};
pub use cycle::has_cycle;
pub use futex::{FutexAddress, FutexOperation, FutexScope, FutexTimeout, futex_wake_count};
pub use mutex::{Health, LockForm, Mutex, MutexKind, Taken, Unlocked};
pub use permit::{Grant, Ticket, grant};
pub use releasers::Releasers;
pub use rwlock::{Mode, RwUnlocked, Rwlock};

use crate::Owner;

/// A once-only initialisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Once {
    /// The thread that runs it.
    pub runner: Owner,
}

/// A condition variable. Its waiters are not stored here, but with the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Condition {
    /// Number of the clock for timed waits.
    pub clock: u32,
    /// Number of signals and broadcasts so far, counted only while a thread waits.
    pub wakeups: u32,
}

/// The state of an object, by its last use. Zeroed memory has not been used yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// None of the following.
    #[default]
    Unused = 0,
    /// A mutex, a spin lock, or the lock of a `FILE`.
    Mutex(Mutex),
    /// A reader-writer lock.
    Rwlock(Rwlock),
    /// A barrier.
    Barrier(Barrier),
    /// A once-only initialisation.
    Once(Once),
    /// A condition variable.
    Condition(Condition),
}

impl State {
    /// Returns what the initialisation of an object has set and its memory does not contain, if anything: the state when no thread
    /// uses it.
    #[must_use]
    pub fn settings(&self) -> Option<Self> {
        match self {
            Self::Barrier(barrier) if barrier.is_initialised() => {
                Some(Self::Barrier(Barrier::default().again(barrier.size())))
            }
            Self::Condition(Condition { clock, .. }) if *clock != 0 => {
                Some(Self::Condition(Condition { clock: *clock, wakeups: 0 }))
            }
            _ => None,
        }
    }
}

macro_rules! views {
    ($($get:ident, $change:ident, $variant:ident, $what:literal;)*) => {
        impl State {
            $(
                #[doc = concat!("As ", $what, ", which is new if it was something else before.")]
                #[inline(always)]
                #[must_use]
                pub fn $get(&self) -> $variant {
                    if let Self::$variant(state) = self { *state } else { $variant::default() }
                }

                #[doc = concat!("The same, to be changed: from now on it is ", $what, ".")]
                #[inline(always)]
                pub fn $change(&mut self) -> &mut $variant {
                    if !matches!(self, Self::$variant(_)) {
                        *self = Self::$variant($variant::default());
                    }
                    match self {
                        Self::$variant(state) => state,
                        _ => unreachable!(),
                    }
                }
            )*
        }
    };
}

views! {
    mutex, as_mutex, Mutex, "a mutex";
    rwlock, as_rwlock, Rwlock, "a reader-writer lock";
    barrier, as_barrier, Barrier, "a barrier";
    once, as_once, Once, "a once-only initialisation";
    condition, as_condition, Condition, "a condition variable";
}

impl State {
    /// Returns the thread for which all waiters of the object wait, if there is one.
    #[inline]
    #[must_use]
    pub fn owner(&self) -> Owner {
        match self {
            Self::Mutex(mutex) => mutex.owner(),
            Self::Rwlock(lock) => lock.writer(),
            Self::Once(once) => once.runner,
            Self::Unused | Self::Barrier(_) | Self::Condition(_) => Owner::NONE,
        }
    }

    /// Returns true for a lock that a thread holds, for writing or for reading.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        match self {
            Self::Mutex(mutex) => !mutex.owner().is_none(),
            Self::Rwlock(lock) => !lock.is_available(Mode::Write, false),
            Self::Unused | Self::Barrier(_) | Self::Once(_) | Self::Condition(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadId;

    const ME: ThreadId = ThreadId(0);

    #[test]
    fn new_objects_have_no_owner() {
        assert!(State::default().owner().is_none());
        assert!(State::Barrier(Barrier::default()).owner().is_none());
        assert!(State::Condition(Condition::default()).owner().is_none());
    }

    #[test]
    fn settings_are_what_initialisation_has_set() {
        let mut state = State::Barrier(Barrier::default().again(2));
        assert_eq!(state.settings(), Some(state));
        let new = state;
        state.as_barrier().arrive();
        assert_eq!(state.settings(), Some(new));
        assert_eq!(State::Barrier(Barrier::default()).settings(), None);
        let condition = |clock, wakeups| State::Condition(Condition { clock, wakeups });
        assert_eq!((condition(1, 7).settings(), condition(0, 7).settings()), (Some(condition(1, 0)), None));
        state.as_mutex().take(ME, LockForm::Mutex);
        assert_eq!((state.settings(), State::default().settings()), (None, None));
    }

    #[test]
    fn the_holder_of_a_mutex_is_its_owner() {
        let mut state = State::default();
        state.as_mutex().take(ME, LockForm::Mutex);
        assert!(state.owner().is(ME));
    }

    #[test]
    fn the_writer_of_a_lock_is_its_owner() {
        let mut state = State::default();
        state.as_rwlock().take(ME, Mode::Write);
        assert!(state.owner().is(ME));
    }

    #[test]
    fn readers_are_no_owner() {
        let mut state = State::default();
        state.as_rwlock().take(ME, Mode::Read);
        assert!(state.owner().is_none());
    }

    #[test]
    fn locks_are_held_by_owners_and_by_readers() {
        let mut state = State::default();
        assert!(!state.is_held());
        state.as_mutex().take(ME, LockForm::Mutex);
        assert!(state.is_held());
        state.as_mutex().release();
        assert!(!state.is_held());
        state.as_rwlock().take(ME, Mode::Read);
        assert!(state.is_held());
        state.as_rwlock().unlock(ME);
        assert!(!state.is_held());
        state.as_once().runner = Owner::of(ME);
        assert!(!state.is_held());
    }

    #[test]
    fn who_initialises_once_is_the_owner() {
        let mut state = State::default();
        state.as_once().runner = Owner::of(ME);
        assert!(state.owner().is(ME));
    }

    #[test]
    fn a_look_changes_nothing() {
        let mut state = State::default();
        state.as_mutex().take(ME, LockForm::Mutex);
        assert!(state.rwlock().is_available(Mode::Write, false));
        assert!(state.mutex().owner().is(ME));
    }

    #[test]
    fn memory_that_is_used_for_something_else_begins_anew() {
        let mut state = State::default();
        state.as_mutex().set_kind(MutexKind::RECURSIVE);
        state.as_mutex().take(ME, LockForm::Mutex);
        assert_eq!(*state.as_rwlock(), Rwlock::default());
        assert_eq!(*state.as_mutex(), Mutex::default());
    }

    #[test]
    fn memory_that_is_used_again_in_the_same_way_does_not() {
        let mut state = State::default();
        state.as_condition().wakeups = 3;
        state.as_condition().clock = 1;
        assert_eq!(state.condition(), Condition { clock: 1, wakeups: 3 });
    }
}
