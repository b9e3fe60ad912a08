//! Deadlocks among locks.

use crate::ThreadId;

/// Returns true if threads wait for each other in a cycle. `waits_for` returns the thread for which each of the first
/// `count` waits.
pub fn has_cycle(count: u32, waits_for: impl Fn(ThreadId) -> Option<ThreadId>) -> bool {
    let comes_back = |start: u32| {
        let mut at = ThreadId(start);
        for _ in 0..count {
            match waits_for(at) {
                Some(next) if next.0 == start => return true,
                Some(next) => at = next,
                None => return false,
            }
        }
        false
    };
    (0..count).any(comes_back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn cycle(waits: &[Option<u32>]) -> bool {
        has_cycle(waits.len() as u32, |thread| waits[thread.0 as usize].map(ThreadId))
    }

    #[test]
    fn no_threads() {
        assert!(!cycle(&[]));
    }

    #[test]
    fn no_thread_waits() {
        assert!(!cycle(&[None, None]));
    }

    #[test]
    fn a_thread_that_waits_for_itself() {
        assert!(cycle(&[None, Some(1)]));
    }

    #[test]
    fn two_that_wait_for_each_other() {
        assert!(cycle(&[Some(1), Some(0)]));
    }

    #[test]
    fn a_chain_is_none() {
        assert!(!cycle(&[Some(1), Some(2), None]));
    }

    #[test]
    fn a_chain_into_a_cycle() {
        assert!(cycle(&[Some(1), Some(2), Some(1)]));
    }

    #[test]
    fn a_cycle_of_all() {
        assert!(cycle(&[Some(3), Some(0), Some(1), Some(2)]));
    }

    proptest! {
        /// Removing threads that can continue, until none can, leaves the cycles and what leads to them.
        #[test]
        fn as_by_elimination(waits in vec(proptest::option::of(0_u32..8), 8)) {
            let mut left: Vec<usize> = (0..8).collect();
            loop {
                let before = left.len();
                let still = left.clone();
                left.retain(|&thread| waits[thread].is_some_and(|owner| still.contains(&(owner as usize))));
                if left.len() == before {
                    break;
                }
            }
            prop_assert_eq!(cycle(&waits), !left.is_empty());
        }
    }
}
