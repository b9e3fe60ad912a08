//! Which threads an atomic's release sequence belongs to.

use racehunter_abi::ThreadId;

/// The threads that have released to an atomic in the release sequence that its value is part of.
///
/// In C11 and up to C++17, a plain store continues the release sequence of its own thread; C++20 has dropped that rule. A program of
/// either kind must not be accused, so the older rule applies. Threads whose numbers are equal modulo 64 count as one: at worst
/// a sequence continues that has ended, and a race is missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Releasers(u64);

impl Releasers {
    const fn bit(thread: ThreadId) -> u64 {
        1 << (thread.0 % 64)
    }

    /// Returns whether a plain store of the thread continues the sequence.
    #[must_use]
    pub const fn are_continued_by(self, thread: ThreadId) -> bool {
        self.0 & Self::bit(thread) != 0
    }

    /// Returns whether threads other than this one have released to the sequence. A plain store of this thread ends their part
    /// of it.
    #[must_use]
    pub const fn are_others_than(self, thread: ThreadId) -> bool {
        self.0 & !Self::bit(thread) != 0
    }

    /// The thread releases to the sequence.
    pub const fn add(&mut self, thread: ThreadId) {
        self.0 |= Self::bit(thread);
    }

    /// The sequence ends.
    pub const fn clear(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_thread_continues_a_sequence_that_has_not_begun() {
        assert!((0..64).all(|thread| !Releasers::default().are_continued_by(ThreadId(thread))));
    }

    proptest! {
        /// Up to 64 threads are kept apart.
        #[test]
        fn threads_are_those_that_were_added(operations in prop::collection::vec(prop::option::of(0_u32..64), 0..40)) {
            let (mut releasers, mut model) = (Releasers::default(), BTreeSet::new());
            for operation in operations {
                match operation {
                    Some(thread) => {
                        releasers.add(ThreadId(thread));
                        model.insert(thread);
                    }
                    None => {
                        releasers.clear();
                        model.clear();
                    }
                }
            }
            for thread in 0..64 {
                prop_assert_eq!(releasers.are_continued_by(ThreadId(thread)), model.contains(&thread));
                prop_assert_eq!(releasers.are_others_than(ThreadId(thread)), model.iter().any(|&other| other != thread));
            }
        }

        /// A thread that has released is never forgotten, whatever its number.
        #[test]
        fn large_numbers_are_not_forgotten(thread in any::<u32>()) {
            let mut releasers = Releasers::default();
            releasers.add(ThreadId(thread));
            prop_assert!(releasers.are_continued_by(ThreadId(thread)));
        }
    }
}
