//! Panics that follow from others, and panics that end the program.
#![cfg(test)]

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// The panic of a thread drops its sender, so the receiver fails too.
#[test]
fn drops_the_sender() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let count = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *count.lock().unwrap() += 1);
        let count = &count;
        scope.spawn(move || {
            let seen = *count.lock().unwrap();
            assert_eq!(seen, 0, "root");
            sender.send(1).unwrap();
        });
        receiver.recv().unwrap();
    });
}

/// The panic of the test drops the receiver, so threads that are not joined fail too.
#[test]
fn drops_the_receiver() {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let first = thread::spawn(move || sender.send(1).unwrap());
    let second = thread::spawn(move || other.send(2).unwrap());
    assert_eq!(receiver.recv(), Ok(1), "root");
    first.join().unwrap();
    second.join().unwrap();
}

/// The panic of a thread poisons the lock.
#[test]
fn poisons_a_lock() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = thread::spawn(move || {
        let count = other.lock().unwrap();
        assert_eq!(*count, 1, "root");
    });
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
}

/// The only panic is caught, and the test should have had one.
#[test]
#[should_panic]
fn lacks_its_panic() {
    assert!(thread::spawn(|| panic!("caught")).join().is_err());
}

/// The first panic is expected; what fails is the test itself.
#[test]
fn fails_after_an_expected_panic() {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    assert!(thread::spawn(|| panic!("expected")).join().is_err());
    let thread = thread::spawn(move || other.store(1, SeqCst));
    let seen = count.load(SeqCst);
    thread.join().unwrap();
    assert_eq!(seen, 0, "its own");
}

/// No thread waits for the one that panics, and nothing follows from it.
#[test]
fn does_not_look_at_a_thread() {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    thread::spawn(move || assert_eq!(other.load(SeqCst), 0, "not joined"));
    count.store(1, SeqCst);
}

/// Runs a function in a thread, which in some schedules sees that it is late.
fn late(run: fn(bool)) {
    let flag = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&flag);
    let thread = thread::spawn(move || run(other.load(SeqCst) == 1));
    flag.store(1, SeqCst);
    let _ = thread.join();
}

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

#[test]
fn panics_while_it_unwinds() {
    late(|is_late| {
        if is_late {
            let _panics = Panics;
            panic!("the first");
        }
    });
}

extern "C" fn cannot_unwind(is_late: bool) {
    assert!(!is_late, "too late");
}

#[test]
fn panics_in_a_function_that_cannot_unwind() {
    late(|is_late| cannot_unwind(is_late));
}

/// Its destructor ends the program, whether the thread unwinds or not.
struct PanicsInside;

impl Drop for PanicsInside {
    fn drop(&mut self) {
        cannot_unwind(true);
    }
}

#[test]
fn panics_in_such_a_function_while_it_unwinds() {
    late(|is_late| {
        if is_late {
            let _panics = PanicsInside;
            panic!("the first");
        }
    });
}

#[test]
fn panics_at_the_end_of_a_thread() {
    thread_local!(static LAST: Panics = const { Panics });
    late(|is_late| {
        if is_late {
            LAST.with(|_| ());
        }
    });
}
