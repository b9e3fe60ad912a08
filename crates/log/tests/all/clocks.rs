//! The laws of vector clocks.

use proptest::prelude::*;
use racehunter_log::{ThreadId, VectorClock};
use std::cmp::Ordering;

fn clock() -> impl Strategy<Value = VectorClock> {
    prop::collection::vec(0_u32..4, 0..5).prop_map(|counts| {
        let mut clock = VectorClock::default();
        for (thread, &count) in counts.iter().enumerate() {
            clock.raise(ThreadId(thread as u32), count);
        }
        clock
    })
}

fn joined(a: &VectorClock, b: &VectorClock) -> VectorClock {
    let mut all = a.clone();
    all.join(b);
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn joining_is_the_least_upper_bound(a in clock(), b in clock(), c in clock()) {
        prop_assert_eq!(joined(&a, &b), joined(&b, &a));
        prop_assert_eq!(joined(&joined(&a, &b), &c), joined(&a, &joined(&b, &c)));
        prop_assert_eq!(joined(&a, &a), a.clone());
        prop_assert_eq!(joined(&a, &VectorClock::default()), a.clone());
        prop_assert!(a <= joined(&a, &b) && b <= joined(&a, &b));
        if a <= c && b <= c {
            prop_assert!(joined(&a, &b) <= c);
        }
    }

    #[test]
    fn the_order_is_a_partial_order(a in clock(), b in clock(), c in clock()) {
        prop_assert_eq!(a.partial_cmp(&b), b.partial_cmp(&a).map(Ordering::reverse));
        if a <= b && b <= a {
            prop_assert_eq!(&a, &b);
        }
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        let all_known = (0..6).map(ThreadId).all(|thread| b.includes(thread, a.get(thread)));
        prop_assert_eq!(a <= b, all_known);
    }

    #[test]
    fn a_step_comes_after_what_was_known(a in clock(), thread in 0_u32..6) {
        let thread = ThreadId(thread);
        let mut later = a.clone();
        let count = later.increment(thread);
        prop_assert_eq!(count, a.get(thread) + 1);
        prop_assert!(a < later && later.includes(thread, count) && !a.includes(thread, count));
    }
}

#[test]
fn threads_that_know_nothing_of_each_other_are_concurrent() {
    let (mut a, mut b) = (VectorClock::default(), VectorClock::default());
    assert_eq!(a, b);
    a.increment(ThreadId(0));
    b.increment(ThreadId(3));
    assert_eq!(a.partial_cmp(&b), None);
}
