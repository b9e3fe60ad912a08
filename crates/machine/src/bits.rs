//! Sets of small numbers.

/// A set of numbers below 64 times the number of words. Zeroed memory is an empty set. Larger numbers are in no set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct BitSet<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> BitSet<WORDS> {
    /// The empty set.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Returns true if a number is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }
}

/// Sets of signals: bit `number - 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct SignalSet(pub u64);

impl SignalSet {
    /// Signals of the C library itself: programs cannot block them.
    pub const RESERVED: Self = Self::of(32).with(Self::of(33));
    /// `SIGKILL` and `SIGSTOP`, which cannot be caught or blocked.
    pub const STUBBORN: Self = Self::of(9).with(Self::of(19));

    /// Returns a set of one signal.
    #[must_use]
    pub const fn of(signal: u32) -> Self {
        Self(1 << (signal - 1))
    }

    /// Returns the union.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the difference.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns true if a signal is in the set.
    #[must_use]
    pub const fn contains(self, signal: u32) -> bool {
        self.0 & Self::of(signal).0 != 0
    }

    /// Returns the lowest signal, which is delivered first.
    #[must_use]
    pub const fn first(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() + 1) }
    }

    /// Returns it as a mask, without signals that cannot be blocked.
    #[must_use]
    pub const fn as_mask(self) -> Self {
        self.without(Self::STUBBORN.with(Self::RESERVED))
    }

    /// Returns the mask after `sigprocmask(how, given)`; `None` if there is no such operation.
    #[must_use]
    pub const fn changed(self, how: i32, given: Self) -> Option<Self> {
        match how {
            0 => Some(self.with(given)),
            1 => Some(self.without(given)),
            2 => Some(given),
            _ => None,
        }
    }
}

/// Threads among 64 neighbours whose state has changed: many of them are logged in one record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The first of the 64.
    pub first: u32,
    /// Those that were blocked: bit `number - first`.
    pub blocked: u64,
    /// Those that were woken.
    pub woken: u64,
}

impl Neighbours {
    /// Returns true if a thread is one of them. If not, these must be logged first, and [`Self::around`] returns the
    /// next ones.
    #[must_use]
    pub const fn include(&self, number: u32) -> bool {
        number >= self.first && number - self.first < u64::BITS
    }

    /// Returns the neighbours of a thread.
    #[must_use]
    pub const fn around(number: u32) -> Self {
        Self { first: number / u64::BITS * u64::BITS, blocked: 0, woken: 0 }
    }

    /// Notes that a thread was blocked.
    pub const fn block(&mut self, number: u32) {
        self.blocked |= 1 << (number - self.first);
    }

    /// Notes that a thread was woken.
    pub const fn wake(&mut self, number: u32) {
        self.woken |= 1 << (number - self.first);
    }

    /// Returns the threads of one of the sets.
    #[inline]
    pub fn numbers(self, mut set: u64) -> impl Iterator<Item = u32> {
        core::iter::from_fn(move || {
            let bit = set.trailing_zeros();
            // Clears the lowest bit. An empty set ends the iteration.
            set &= set.checked_sub(1)?;
            Some(self.first + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{hash_set, vec};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn sets_are_empty_at_first() {
        assert!((0..200).all(|number| !BitSet::<2>::EMPTY.contains(number)));
    }

    #[test]
    fn numbers_beyond_are_in_no_set() {
        let mut set = BitSet::<2>::EMPTY;
        set.insert(128);
        assert_eq!(set, BitSet::EMPTY);
        assert!(!set.contains(128));
    }

    #[test]
    fn the_last_number_of_a_word() {
        let mut set = BitSet::<2>::EMPTY;
        set.insert(63);
        assert!(set.contains(63) && !set.contains(64) && !set.contains(127));
    }

    #[test]
    fn signals_are_numbered_from_one() {
        assert_eq!(SignalSet::of(1), SignalSet(1));
        assert_eq!(SignalSet::of(64), SignalSet(1 << 63));
    }

    #[test]
    fn the_lowest_signal_comes_first() {
        assert_eq!(SignalSet::of(10).with(SignalSet::of(2)).first(), Some(2));
        assert_eq!(SignalSet::default().first(), None);
    }

    #[test]
    fn some_signals_cannot_be_blocked() {
        let mask = SignalSet(!0).as_mask();
        assert!([9, 19, 32, 33].iter().all(|&signal| !mask.contains(signal)));
        assert!([1, 2, 10, 15, 34, 64].iter().all(|&signal| mask.contains(signal)));
    }

    #[test]
    fn masks_are_extended_reduced_and_replaced() {
        let (old, given) = (SignalSet(0b0110), SignalSet(0b0011));
        assert_eq!(old.changed(0, given), Some(SignalSet(0b0111)));
        assert_eq!(old.changed(1, given), Some(SignalSet(0b0100)));
        assert_eq!(old.changed(2, given), Some(given));
        assert_eq!(old.changed(3, given), None);
    }

    #[test]
    fn neighbours_are_aligned() {
        assert_eq!(Neighbours::around(130).first, 128);
        assert!(Neighbours::around(130).include(191) && !Neighbours::around(130).include(192));
        assert!(!Neighbours::around(130).include(5));
    }

    proptest! {
        #[test]
        fn bits_are_a_set(numbers in hash_set(0_usize..192, 0..60)) {
            let mut set = BitSet::<3>::EMPTY;
            numbers.iter().for_each(|&number| set.insert(number));
            for number in 0..192 {
                prop_assert_eq!(set.contains(number), numbers.contains(&number));
            }
        }

        #[test]
        fn signals_are_a_set(a in any::<u64>(), b in any::<u64>(), signal in 1_u32..=64) {
            let (one, other) = (SignalSet(a), SignalSet(b));
            prop_assert_eq!(one.with(other).contains(signal), one.contains(signal) || other.contains(signal));
            prop_assert_eq!(one.without(other).contains(signal), one.contains(signal) && !other.contains(signal));
        }

        /// Logging in batches loses no thread, and records what happened to each.
        #[test]
        fn each_thread_is_logged_once(mut changes in vec((0_u32..400, any::<bool>()), 0..60)) {
            changes.sort_unstable();
            changes.dedup_by_key(|change| change.0);
            let mut batch = Neighbours::default();
            let mut logged = Vec::new();
            let mut log = |batch: Neighbours| {
                logged.extend(batch.numbers(batch.blocked).map(|number| (number, true)));
                logged.extend(batch.numbers(batch.woken).map(|number| (number, false)));
            };
            for &(number, blocks) in &changes {
                if !batch.include(number) {
                    log(batch);
                    batch = Neighbours::around(number);
                }
                if blocks { batch.block(number) } else { batch.wake(number) }
            }
            log(batch);
            logged.sort_unstable();
            prop_assert_eq!(logged, changes);
        }
    }
}
