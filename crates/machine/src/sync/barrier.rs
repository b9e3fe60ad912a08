//! Barriers.

/// A round of a barrier: it ends when all threads have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Round(pub u32);

/// The effect of a thread's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It waits for the end of this round.
    Waits(Round),
    /// It is the last one, and ends this round.
    Ends(Round),
}

/// The state of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Barrier {
    /// Number of threads of a round; 0 if it was never initialised.
    size: u32,
    arrived: u32,
    round: Round,
}

impl Barrier {
    /// Returns true if a barrier can have this size.
    #[must_use]
    pub const fn is_size(size: u32) -> bool {
        const LIMIT: u32 = u32::MAX / 2;
        size > 0 && size < LIMIT
    }

    /// Initialises it again. Threads that have passed an earlier round may not have left it yet, so the round numbers
    /// continue.
    #[must_use]
    pub const fn again(self, size: u32) -> Self {
        Self { size, arrived: 0, round: self.round }
    }

    /// Returns true if it was initialised.
    #[must_use]
    pub const fn is_initialised(&self) -> bool {
        self.size != 0
    }

    /// Returns the number of threads that it waits for.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Returns true if threads wait for others.
    #[must_use]
    pub const fn is_awaited(&self) -> bool {
        self.arrived != 0
    }

    /// Returns how many have arrived in the current round.
    #[must_use]
    pub const fn arrived(&self) -> u32 {
        self.arrived
    }

    /// Returns the current round.
    #[must_use]
    pub const fn round(&self) -> Round {
        self.round
    }

    /// Adds the arrival of a thread. Returns how many have arrived, including this one.
    pub fn arrive(&mut self) -> u32 {
        self.arrived += 1;
        self.arrived
    }

    /// Returns the effect of the last arrival.
    pub fn settle(&mut self) -> Arrival {
        let round = self.round;
        if self.arrived < self.size {
            return Arrival::Waits(round);
        }
        self.arrived = 0;
        self.round = Round(round.0.wrapping_add(1));
        Arrival::Ends(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn barrier(size: u32) -> Barrier {
        Barrier::default().again(size)
    }

    fn arrive(barrier: &mut Barrier) -> Arrival {
        barrier.arrive();
        barrier.settle()
    }

    #[test]
    fn memory_of_zeroes_is_not_initialised() {
        assert!(!Barrier::default().is_initialised() && barrier(1).is_initialised());
    }

    #[test]
    fn a_barrier_needs_a_thread() {
        assert!(!Barrier::is_size(0));
    }

    #[test]
    fn the_largest_barrier() {
        assert!(Barrier::is_size(u32::MAX / 2 - 1) && !Barrier::is_size(u32::MAX / 2));
    }

    #[test]
    fn a_barrier_for_one_lets_it_pass() {
        let mut barrier = barrier(1);
        assert_eq!(arrive(&mut barrier), Arrival::Ends(Round(0)));
        assert_eq!(arrive(&mut barrier), Arrival::Ends(Round(1)));
    }

    #[test]
    fn the_last_one_ends_the_round() {
        let mut barrier = barrier(3);
        assert_eq!(arrive(&mut barrier), Arrival::Waits(Round(0)));
        assert_eq!(arrive(&mut barrier), Arrival::Waits(Round(0)));
        assert_eq!(arrive(&mut barrier), Arrival::Ends(Round(0)));
        assert_eq!(barrier.round(), Round(1));
    }

    #[test]
    fn it_is_awaited_in_the_middle_of_a_round() {
        let mut barrier = barrier(2);
        assert!(!barrier.is_awaited());
        arrive(&mut barrier);
        assert!(barrier.is_awaited());
        arrive(&mut barrier);
        assert!(!barrier.is_awaited());
    }

    #[test]
    fn arrivals_are_counted_from_one() {
        let mut barrier = barrier(2);
        assert_eq!(barrier.arrive(), 1);
        barrier.settle();
        assert_eq!(barrier.arrive(), 2);
    }

    #[test]
    fn initialising_it_again_does_not_bring_back_an_old_round() {
        let mut old = barrier(1);
        arrive(&mut old);
        let mut again = old.again(2);
        assert_eq!(arrive(&mut again), Arrival::Waits(Round(1)));
    }

    #[test]
    fn rounds_go_on_after_the_last_number() {
        let mut barrier = Barrier { size: 1, arrived: 0, round: Round(u32::MAX) };
        assert_eq!(arrive(&mut barrier), Arrival::Ends(Round(u32::MAX)));
        assert_eq!(barrier.round(), Round(0));
    }

    proptest! {
        /// The n-th arrival is in round n / size, and ends it if it is the last of it.
        #[test]
        fn rounds_by_division(size in 1_u32..9, arrivals in 0_u32..60) {
            let mut barrier = barrier(size);
            for number in 0..arrivals {
                let round = Round(number / size);
                let expected = if number % size == size - 1 { Arrival::Ends(round) } else { Arrival::Waits(round) };
                prop_assert_eq!(arrive(&mut barrier), expected);
                prop_assert_eq!(barrier.arrived(), (number + 1) % size);
            }
        }
    }
}
