//! Rust that calls C and C++, which call it back.
#![cfg(test)]

use std::ffi::c_void;
use std::sync::Mutex;
use std::thread;

unsafe extern "C" {
    safe fn counter_add() -> i64;
    safe fn counter_add_locked() -> i64;
    fn in_two_threads(call: extern "C" fn(*mut c_void), data: *mut c_void);
}

fn by_two(add: extern "C" fn() -> i64) -> i64 {
    let thread = thread::spawn(move || add());
    add().max(thread.join().unwrap())
}

extern "C" fn add() -> i64 {
    counter_add()
}

extern "C" fn add_locked() -> i64 {
    counter_add_locked()
}

#[test]
fn c_without_a_lock() {
    assert!(by_two(add) > 0);
}

#[test]
fn c_with_a_lock() {
    assert_eq!(by_two(add_locked), 2);
}

#[test]
fn called_back_without_a_lock() {
    extern "C" fn add(data: *mut c_void) {
        unsafe { *data.cast::<i32>() += 1 };
    }
    let mut count = Box::new(0);
    unsafe { in_two_threads(add, (&raw mut *count).cast()) };
    assert!(*count > 0);
}

#[test]
fn called_back_with_a_lock() {
    extern "C" fn add(data: *mut c_void) {
        *unsafe { &*data.cast::<Mutex<i32>>() }.lock().unwrap() += 1;
    }
    let count = Mutex::new(0);
    unsafe { in_two_threads(add, (&raw const count).cast_mut().cast()) };
    assert_eq!(count.into_inner().unwrap(), 2);
}
