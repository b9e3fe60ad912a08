//! Signals of condition variables that any of several waiters can take.

/// The order of arrival in a queue of waiters, and of signals in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Ticket(pub u64);

impl Ticket {
    /// Returns true if a signal with this number came after a waiter with that one: only then can the waiter take it.
    #[must_use]
    pub fn is_after(self, waiter: Self) -> bool {
        self > waiter
    }
}

/// The effect of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// At most one thread could take it: it wakes that thread, in the ordinary way.
    Wake,
    /// Any of the waiters can take it.
    Permit,
    /// Every waiter already has a permit: it is lost.
    Nothing,
}

/// Decides about a signal, from the arrival numbers of the waiting threads and of the available permits.
pub fn grant(waiters: impl Iterator<Item = Ticket> + Clone, permits: impl Iterator<Item = Ticket>) -> Grant {
    let Some(first) = waiters.clone().min() else { return Grant::Wake };
    let granted = permits.filter(|permit| permit.is_after(first)).count();
    match waiters.count() {
        1 if granted == 0 => Grant::Wake,
        count if count > granted => Grant::Permit,
        _ => Grant::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn decide(waiters: &[u64], permits: &[u64]) -> Grant {
        grant(waiters.iter().copied().map(Ticket), permits.iter().copied().map(Ticket))
    }

    #[test]
    fn no_thread_waits() {
        assert_eq!(decide(&[], &[]), Grant::Wake);
        assert_eq!(decide(&[], &[9]), Grant::Wake);
    }

    #[test]
    fn one_waiter_is_woken() {
        assert_eq!(decide(&[3], &[]), Grant::Wake);
    }

    #[test]
    fn one_waiter_with_a_permit_needs_no_other() {
        assert_eq!(decide(&[3], &[5]), Grant::Nothing);
    }

    #[test]
    fn a_permit_from_before_a_waiter_came_does_not_count() {
        assert_eq!(decide(&[3], &[2]), Grant::Wake);
        assert_eq!(decide(&[3, 4], &[2]), Grant::Permit);
    }

    #[test]
    fn any_of_two_can_take_it() {
        assert_eq!(decide(&[3, 4], &[]), Grant::Permit);
        assert_eq!(decide(&[3, 4], &[5]), Grant::Permit);
    }

    #[test]
    fn as_many_permits_as_waiters_are_enough() {
        assert_eq!(decide(&[3, 4], &[5, 6]), Grant::Nothing);
    }

    #[test]
    fn a_ticket_is_not_after_itself() {
        assert!(!Ticket(3).is_after(Ticket(3)) && Ticket(4).is_after(Ticket(3)));
    }

    proptest! {
        /// There are never more permits than waiters, however many signals come.
        #[test]
        fn never_more_permits_than_waiters(waiters in 1_usize..6, signals in 0_usize..12) {
            let tickets: Vec<u64> = (0..waiters as u64).collect();
            let mut permits = Vec::new();
            for signal in 0..signals as u64 {
                match decide(&tickets, &permits) {
                    Grant::Permit => permits.push(100 + signal),
                    Grant::Wake => prop_assert!(waiters == 1 && permits.is_empty()),
                    Grant::Nothing => prop_assert_eq!(permits.len(), waiters),
                }
            }
            prop_assert!(permits.len() <= waiters);
        }

        /// A permit is given exactly if some waiter would otherwise be left without a signal.
        #[test]
        fn a_signal_is_lost_only_if_all_have_one(waiters in vec(0_u64..20, 2..6), permits in vec(0_u64..30, 0..8)) {
            let first = waiters.iter().min().copied().unwrap_or(0);
            let usable = permits.iter().filter(|&&permit| permit > first).count();
            let expected = if usable < waiters.len() { Grant::Permit } else { Grant::Nothing };
            prop_assert_eq!(decide(&waiters, &permits), expected);
        }
    }
}
