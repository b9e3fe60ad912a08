//! The same tests for several tools. What loom and Shuttle need that the code alone does not have is marked, and counted by the bench.
#![cfg(test)]

#[cfg(feature = "loom")] // loom
use loom::{sync, thread}; // loom
#[cfg(feature = "shuttle")] // shuttle
use shuttle::{sync, thread}; // shuttle
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
use std::{sync, thread};

use sync::atomic::{AtomicBool, AtomicU32, Ordering};
use sync::{Arc, Condvar, Mutex};

#[cfg(feature = "loom")] // loom
use loom::cell::UnsafeCell; // loom
#[cfg(not(feature = "loom"))]
use std::cell::UnsafeCell;

/// Executions, for the bench.
static EXECUTIONS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

fn check(test: fn()) {
    let began = std::time::Instant::now();
    let counted = move || {
        EXECUTIONS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        test();
    };
    let executions = || EXECUTIONS.load(std::sync::atomic::Ordering::Relaxed);
    let said = std::panic::catch_unwind(|| run(counted));
    // RaceHunter counts them itself. What a test does after its executions must not depend on their number.
    if cfg!(any(feature = "loom", feature = "shuttle")) {
        eprintln!("peers: {} executions in {} us", executions(), began.elapsed().as_micros());
    }
    if let Err(panic) = said {
        std::panic::resume_unwind(panic);
    }
}

#[cfg(feature = "loom")] // loom
fn run(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new(); // loom
    builder.preemption_bound = Some(2); // loom
    builder.check(test); // loom
}

#[cfg(feature = "shuttle")] // shuttle
fn run(test: impl Fn() + Sync + Send + 'static) {
    shuttle::check_random(test, 10_000); // shuttle
}

#[cfg(feature = "in_process")]
fn run(test: impl Fn()) {
    racehunter::check(test);
}

#[cfg(not(any(feature = "loom", feature = "shuttle", feature = "in_process")))]
fn run(test: impl Fn()) {
    test();
}

/// Memory that threads share without a lock.
struct Shared(UnsafeCell<u32>);

// SAFETY: deliberately unsound. Some of the tests exist to show the races that this allows.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn get(&self) -> u32 {
        #[cfg(feature = "loom")] // loom
        return self.0.with(|value| unsafe { *value }); // loom
        #[cfg(not(feature = "loom"))]
        unsafe {
            *self.0.get()
        }
    }

    fn set(&self, to: u32) {
        #[cfg(feature = "loom")] // loom
        return self.0.with_mut(|value| unsafe { *value = to }); // loom
        #[cfg(not(feature = "loom"))]
        unsafe {
            *self.0.get() = to
        };
    }
}

/// Two threads add by a load and a store.
#[test]
fn bug_lost_update() {
    check(|| {
        let count = Arc::new(AtomicU32::new(0));
        let add = |count: Arc<AtomicU32>| move || count.store(count.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
        let thread = thread::spawn(add(Arc::clone(&count)));
        add(Arc::clone(&count))();
        thread.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

/// Two threads write without any order.
#[test]
fn bug_data_race() {
    check(|| {
        let shared = Arc::new(Shared::new());
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.set(1));
        shared.set(2);
        thread.join().unwrap();
    });
}

/// The flag that says that the value is ready does not order the value.
#[test]
fn bug_relaxed_publication() {
    check(|| {
        let state = Arc::new((Shared::new(), AtomicBool::new(false)));
        let other = Arc::clone(&state);
        let thread = thread::spawn(move || {
            other.0.set(1);
            other.1.store(true, Ordering::Relaxed);
        });
        if state.1.load(Ordering::Relaxed) {
            std::hint::black_box(state.0.get());
        }
        thread.join().unwrap();
    });
}

/// Two locks in two orders.
#[test]
fn bug_two_locks() {
    check(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _second = other.1.lock().unwrap();
            *other.0.lock().unwrap() += 1;
        });
        {
            let _first = locks.0.lock().unwrap();
            *locks.1.lock().unwrap() += 1;
        }
        thread.join().unwrap();
    });
}

/// The signal comes between the check of the flag and the wait.
#[test]
fn bug_missed_signal() {
    check(|| {
        let state = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&state);
        let thread = thread::spawn(move || {
            other.0.store(true, Ordering::SeqCst);
            other.2.notify_one();
        });
        if !state.0.load(Ordering::SeqCst) {
            let guard = state.1.lock().unwrap();
            drop(state.2.wait(guard).unwrap());
        }
        thread.join().unwrap();
    });
}

/// A queue of two, with the index published before the item is written.
#[test]
fn bug_ring() {
    check(|| {
        let ring = Arc::new((Shared::new(), AtomicU32::new(0)));
        let other = Arc::clone(&ring);
        let thread = thread::spawn(move || {
            other.1.store(1, Ordering::Release);
            other.0.set(7);
        });
        if ring.1.load(Ordering::Acquire) == 1 {
            assert_eq!(ring.0.get(), 7);
        }
        thread.join().unwrap();
    });
}

/// Correct: three threads, a lock and atomics. For the number of executions in a second.
#[test]
fn speed_counter() {
    check(|| {
        let state = Arc::new((Mutex::new(0), AtomicU32::new(0)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let state = Arc::clone(&state);
                thread::spawn(move || {
                    for _ in 0..3 {
                        *state.0.lock().unwrap() += 1;
                        state.1.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((*state.0.lock().unwrap(), state.1.load(Ordering::SeqCst)), (6, 6));
    });
}
