//! Owners of objects.

use racehunter_abi::ThreadId;

/// The thread that owns something, or no thread. Zeroed memory means "no thread"; records contain 0, or the number of
/// the thread + 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Owner(u32);

impl Owner {
    /// No thread.
    pub const NONE: Self = Self(0);

    /// Returns this thread as owner.
    #[inline]
    #[must_use]
    pub const fn of(thread: ThreadId) -> Self {
        Self(thread.0 + 1)
    }

    /// Returns the thread, if there is one.
    #[inline]
    #[must_use]
    pub const fn thread(self) -> Option<ThreadId> {
        match self.0.checked_sub(1) {
            Some(number) => Some(ThreadId(number)),
            None => None,
        }
    }

    /// Returns true if it is this thread.
    #[inline]
    #[must_use]
    pub const fn is(self, thread: ThreadId) -> bool {
        self.0 == thread.0 + 1
    }

    /// Returns true if no thread is the owner.
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the form that records use.
    #[inline]
    #[must_use]
    pub const fn logged(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_are_no_thread() {
        assert_eq!(Owner::default(), Owner::NONE);
        assert!(Owner::NONE.is_none());
        assert_eq!(Owner::NONE.thread(), None);
        assert_eq!(Owner::NONE.logged(), 0);
    }

    #[test]
    fn main_is_a_thread() {
        let owner = Owner::of(ThreadId(0));
        assert!(!owner.is_none() && owner.is(ThreadId(0)) && !owner.is(ThreadId(1)));
        assert_eq!(owner.thread(), Some(ThreadId(0)));
    }

    #[test]
    fn records_have_the_number_plus_one() {
        assert_eq!(Owner::of(ThreadId(41)).logged(), 42);
        assert_eq!(Owner::of(ThreadId(41)).thread(), Some(ThreadId(41)));
    }

    #[test]
    fn no_owner_is_no_thread() {
        assert!((0..100).all(|number| !Owner::NONE.is(ThreadId(number))));
    }
}
