//! Tests that run many times in one process.
#![cfg(test)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn count(add: impl Fn(&AtomicUsize) + Sync) -> usize {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| add(&count));
        add(&count);
    });
    count.into_inner()
}

#[test]
fn loses_an_update() {
    racehunter::check(|| {
        let sum = count(|count| {
            let old = count.load(Ordering::SeqCst);
            count.store(old + 1, Ordering::SeqCst);
        });
        assert_eq!(sum, 2);
    });
}

#[test]
fn keeps_updates() {
    racehunter::check(|| {
        let sum = count(|count| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(sum, 2);
    });
}

/// The race is in the first execution: each server replays it before it has run anything else.
#[test]
fn races() {
    struct Shared(UnsafeCell<u32>);
    // SAFETY: deliberately unsound.
    unsafe impl Sync for Shared {}
    racehunter::check(|| {
        let shared = Shared(UnsafeCell::new(0));
        let add = |shared: &Shared| unsafe { *shared.0.get() += 1 };
        thread::scope(|scope| {
            scope.spawn(|| add(&shared));
            add(&shared);
        });
    });
}

/// Fails as a whole if an execution ends without a panic, which the loop does not show.
#[test]
#[should_panic(expected = "early")]
fn panics_in_some_schedules() {
    racehunter::check(|| {
        let is_set = AtomicUsize::new(0);
        let early = thread::scope(|scope| {
            scope.spawn(|| is_set.store(1, Ordering::SeqCst));
            is_set.load(Ordering::SeqCst) == 0
        });
        assert!(!early, "early");
    });
}

#[test]
fn chooses() {
    let both = racehunter::nondet() && racehunter::nondet();
    assert!(!both, "both were chosen");
}
