//! The locks that a thread holds.

/// Maximum number of locks of one thread that a report can name. Further locks are only counted.
pub const MAX_HELD: usize = 24;

/// A lock, and the code that took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Address of the lock.
    pub lock: usize,
    /// Code address of the operation that took it.
    pub code: usize,
}

/// The locks that a thread holds, the oldest first. Zeroed memory holds none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HeldLocks {
    named: u32,
    /// The number of locks without a name.
    unnamed: u32,
    locks: [usize; MAX_HELD],
    codes: [usize; MAX_HELD],
}

impl HeldLocks {
    /// No locks.
    pub const NONE: Self = Self { named: 0, unnamed: 0, locks: [0; MAX_HELD], codes: [0; MAX_HELD] };

    /// Removes all locks.
    #[inline]
    pub fn clear(&mut self) {
        self.named = 0;
        self.unnamed = 0;
    }

    /// Returns true if no lock is held, named or not.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.named == 0 && self.unnamed == 0
    }

    /// Returns the named locks, the oldest first.
    #[inline]
    #[must_use]
    pub fn named(&self) -> &[usize] {
        &self.locks[..(self.named as usize).min(MAX_HELD)]
    }

    /// Returns the lock at this position of [`Self::named`], with the code that took it.
    #[inline]
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Held> {
        let lock = *self.named().get(at)?;
        Some(Held { lock, code: self.codes[at] })
    }

    /// The thread has taken a lock.
    #[inline]
    pub fn add(&mut self, lock: usize, code: usize) {
        let at = self.named as usize;
        if at < MAX_HELD {
            self.locks[at] = lock;
            self.codes[at] = code;
            self.named += 1;
        } else {
            self.unnamed += 1;
        }
    }

    /// Removes a lock that the thread has released: the newest entry with this address.
    #[inline]
    pub fn remove(&mut self, lock: usize) {
        match self.named().iter().rposition(|&held| held == lock) {
            Some(at) => {
                self.named -= 1;
                // Most locks are released in reverse order: then nothing moves.
                for at in at..self.named().len() {
                    self.locks[at] = self.locks[at + 1];
                    self.codes[at] = self.codes[at + 1];
                }
            }
            None => self.unnamed = self.unnamed.saturating_sub(1),
        }
    }

    /// Returns true if the lock is held; `None` if that is unknown, because some locks have no name.
    #[must_use]
    pub fn holds(&self, lock: usize) -> Option<bool> {
        let is_known = self.named().contains(&lock);
        (is_known || self.unnamed == 0).then_some(is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn with(locks: &[usize]) -> HeldLocks {
        let mut held = HeldLocks::NONE;
        locks.iter().for_each(|&lock| held.add(lock, lock + 1));
        held
    }

    #[test]
    fn none_at_first() {
        assert!(HeldLocks::NONE.is_empty());
        assert_eq!(HeldLocks::NONE.named(), []);
        assert_eq!(HeldLocks::NONE.holds(8), Some(false));
        assert_eq!(HeldLocks::NONE.get(0), None);
    }

    #[test]
    fn in_the_order_of_taking() {
        let held = with(&[8, 16, 24]);
        assert_eq!(held.named(), [8, 16, 24]);
        assert_eq!(held.get(1), Some(Held { lock: 16, code: 17 }));
    }

    #[test]
    fn given_up_out_of_order() {
        let mut held = with(&[8, 16, 24]);
        held.remove(16);
        assert_eq!(held.named(), [8, 24]);
        assert_eq!(held.get(1), Some(Held { lock: 24, code: 25 }));
    }

    #[test]
    fn the_youngest_of_two_equal_ones_goes() {
        let mut held = HeldLocks::NONE;
        held.add(8, 1);
        held.add(16, 2);
        held.add(8, 3);
        held.remove(8);
        assert_eq!(held.get(0), Some(Held { lock: 8, code: 1 }));
        assert_eq!(held.get(1), Some(Held { lock: 16, code: 2 }));
        assert_eq!(held.get(2), None);
    }

    #[test]
    fn giving_up_what_is_not_held_takes_nothing_else_away() {
        let mut held = with(&[8]);
        held.remove(16);
        assert_eq!(held.named(), [8]);
    }

    #[test]
    fn more_than_can_be_named_are_counted() {
        let locks: Vec<usize> = (1..=MAX_HELD + 1).map(|number| number * 8).collect();
        let held = with(&locks);
        assert_eq!(held.named(), &locks[..MAX_HELD]);
        assert_eq!(held.holds(8), Some(true));
        assert_eq!(held.holds(locks[MAX_HELD]), None);
    }

    #[test]
    fn a_lock_without_a_name_stays_held_when_a_named_one_is_given_up() {
        let locks: Vec<usize> = (1..=MAX_HELD + 1).map(|number| number * 8).collect();
        let mut held = with(&locks);
        held.remove(8);
        assert_eq!(held.holds(locks[MAX_HELD]), None);
        assert_eq!(held.holds(8), None);
        held.remove(locks[MAX_HELD]);
        assert_eq!(held.holds(8), Some(false));
    }

    #[test]
    fn clearing_forgets_those_without_a_name_too() {
        let mut held = with(&[8; MAX_HELD + 3]);
        held.clear();
        assert!(held.is_empty());
        assert_eq!(held.holds(8), Some(false));
    }

    proptest! {
        /// As long as all locks have names, it behaves like a list.
        #[test]
        fn is_a_list(steps in vec((any::<bool>(), 1_usize..6), 0..60)) {
            let (mut held, mut model) = (HeldLocks::NONE, Vec::new());
            for (adds, lock) in steps {
                if adds && model.len() < MAX_HELD {
                    held.add(lock, lock * 2);
                    model.push(lock);
                } else if !adds {
                    held.remove(lock);
                    if let Some(at) = model.iter().rposition(|&other| other == lock) {
                        model.remove(at);
                    }
                }
                prop_assert_eq!(held.named(), &model[..]);
                prop_assert!((0..model.len()).all(|at| held.get(at).is_some_and(|held| held.code == held.lock * 2)));
                prop_assert_eq!(held.is_empty(), model.is_empty());
            }
        }

        /// However many there are, a definite answer is never wrong. A thread releases only locks that it holds.
        #[test]
        fn never_wrong_about_a_lock(steps in vec((0_u32..3, 1_usize..60), 0..120), asked in 1_usize..60) {
            let (mut held, mut model) = (HeldLocks::NONE, Vec::new());
            for (what, lock) in steps {
                if what > 0 {
                    held.add(lock, 0);
                    model.push(lock);
                } else if let Some(at) = model.iter().rposition(|&other| other == lock) {
                    held.remove(lock);
                    model.remove(at);
                }
                if let Some(answer) = held.holds(asked) {
                    prop_assert_eq!(answer, model.contains(&asked));
                }
                prop_assert_eq!(held.is_empty(), model.is_empty());
            }
        }
    }
}
