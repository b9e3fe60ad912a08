//! Threads that wait for others by reading repeatedly.
#![cfg(test)]

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

fn after(wait: impl Fn(&AtomicU8)) {
    let state = Arc::new(AtomicU8::new(0));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || other.store(1, Ordering::Release));
    wait(&state);
    thread.join().unwrap();
}

#[test]
fn in_a_loop_of_its_own() {
    after(|state| {
        while state.load(Ordering::Acquire) == 0 {
            spin_loop();
        }
    });
}

/// The loop is in a separate function: what hooks leave behind is below its frame.
fn poll(state: &AtomicU8) -> Option<u8> {
    loop {
        match state.load(Ordering::Acquire) {
            0 => spin_loop(),
            1 => return Some(1),
            _ => return None,
        }
    }
}

#[test]
fn in_a_function() {
    after(|state| assert_eq!(poll(state), Some(1)));
}

#[test]
fn by_an_exchange_that_fails() {
    after(|state| while state.compare_exchange(1, 2, Ordering::AcqRel, Ordering::Relaxed).is_err() {});
}
