//! Bugs of each kind: all must be found, minimised and replayed.
#![cfg(test)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;

static mut TOTAL: u64 = 0;

#[test]
fn static_mut() {
    let threads = [1, 2].map(|number| thread::spawn(move || unsafe { TOTAL += number }));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A queue for one producer and one consumer that publishes its slots by a relaxed store.
struct Queue {
    slots: [UnsafeCell<Option<String>>; 2],
    written: AtomicUsize,
}

unsafe impl Sync for Queue {}

impl Queue {
    fn push(&self, message: &str) {
        let next = self.written.load(Ordering::Relaxed);
        unsafe { *self.slots[next].get() = Some(message.to_owned()) };
        self.written.store(next + 1, Ordering::Relaxed);
    }

    fn pop(&self) -> Option<String> {
        (self.written.load(Ordering::Acquire) > 0).then(|| unsafe { (*self.slots[0].get()).take() })?
    }
}

#[test]
fn relaxed_publication() {
    let queue = Queue { slots: [const { UnsafeCell::new(None) }; 2], written: AtomicUsize::new(0) };
    thread::scope(|scope| {
        scope.spawn(|| queue.push("message"));
        assert!(queue.pop().is_none_or(|message| message == "message"));
    });
}

/// A stack whose `pop` reads a node that another `pop` may have freed.
struct Stack {
    head: AtomicPtr<Node>,
}

struct Node {
    value: u32,
    next: *mut Node,
}

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: std::ptr::null_mut() }));
        loop {
            let head = self.head.load(Ordering::Acquire);
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            if head.is_null() {
                return None;
            }
            let next = unsafe { (*head).next };
            if self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Some(unsafe { Box::from_raw(head) }.value);
            }
        }
    }
}

#[test]
fn freed_node() {
    let stack = Stack { head: AtomicPtr::new(std::ptr::null_mut()) };
    stack.push(1);
    stack.push(2);
    thread::scope(|scope| {
        scope.spawn(|| stack.pop());
        scope.spawn(|| stack.pop());
    });
}

/// The flag is set outside the lock: the wake-up can come before the wait.
#[test]
fn missed_wake_up() {
    let state = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || {
        other.0.store(true, Ordering::SeqCst);
        other.2.notify_one();
    });
    let mut guard = state.1.lock().unwrap();
    while !state.0.load(Ordering::SeqCst) {
        guard = state.2.wait(guard).unwrap();
    }
    drop(guard);
    thread.join().unwrap();
}

#[test]
fn two_locks() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = thread::spawn(move || {
        let mut first = other.0.lock().unwrap();
        *first += *other.1.lock().unwrap();
    });
    {
        let mut second = locks.1.lock().unwrap();
        *second += *locks.0.lock().unwrap();
    }
    thread.join().unwrap();
}

#[test]
fn order_of_atomics() {
    let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            second.store(1, Ordering::SeqCst);
            first.store(1, Ordering::SeqCst);
        });
        let seen = second.load(Ordering::SeqCst);
        assert!(first.load(Ordering::SeqCst) <= seen, "the second before the first");
    });
}

#[test]
fn check_then_act() {
    let value = Arc::new(RwLock::new(Some(5)));
    let take = |value: Arc<RwLock<Option<u32>>>| {
        move || {
            if value.read().unwrap().is_some() {
                value.write().unwrap().take().expect("it was there");
            }
        }
    };
    let thread = thread::spawn(take(Arc::clone(&value)));
    take(value)();
    thread.join().unwrap();
}
