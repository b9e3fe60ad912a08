//! Tests that end in every way that a test can end.
#![cfg(test)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn loses_an_update() {
    let count = Arc::new(AtomicUsize::new(0));
    let add = |count: Arc<AtomicUsize>| {
        move || {
            let old = count.load(Ordering::SeqCst);
            count.store(old + 1, Ordering::SeqCst);
        }
    };
    let threads = [thread::spawn(add(Arc::clone(&count))), thread::spawn(add(Arc::clone(&count)))];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(count.load(Ordering::SeqCst), 2, "an update was lost");
}

#[test]
fn keeps_updates() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = thread::spawn(move || *other.lock().unwrap() += 1);
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

static mut SHARED: u32 = 0;

#[test]
fn races() {
    let thread = thread::spawn(|| unsafe { SHARED += 1 });
    unsafe { SHARED += 1 };
    thread.join().unwrap();
}

#[test]
fn locks_in_both_orders() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (first, second) = (Arc::clone(&a), Arc::clone(&b));
    let thread = thread::spawn(move || {
        let _first = first.lock().unwrap();
        let _second = second.lock().unwrap();
    });
    {
        let _second = b.lock().unwrap();
        let _first = a.lock().unwrap();
    }
    thread.join().unwrap();
}

/// The panic of the other thread is reported, not that of the thread that asks for its result.
#[test]
fn panics_in_another_thread() {
    let flag = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&flag);
    let thread = thread::spawn(move || assert_eq!(other.load(Ordering::SeqCst), 0, "too late"));
    flag.store(1, Ordering::SeqCst);
    thread.join().unwrap();
}

#[test]
#[should_panic]
fn should_panic() {
    thread::spawn(|| panic!("as expected")).join().unwrap();
}

#[test]
fn catches_a_panic() {
    assert!(thread::spawn(|| panic!("as expected")).join().is_err());
    assert!(std::panic::catch_unwind(|| panic!("this one too")).is_err());
}

#[test]
fn has_no_threads() {
    assert_eq!(1 + 1, 2);
}

#[test]
fn has_no_threads_and_fails() {
    assert_eq!(1 + 1, 3);
}

#[test]
#[ignore]
fn is_ignored() {
    thread::spawn(|| {}).join().unwrap();
}
