//! Correct uses of everything in the standard library that threads meet at: nothing may be reported.
#![cfg(test)]

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use std::thread;
use std::time::Duration;

/// Memory that threads share by what they agree on otherwise: the detector must see the agreement.
struct Shared<T>(UnsafeCell<T>);

unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    fn get(&self) -> T {
        unsafe { *self.0.get() }
    }

    fn set(&self, value: T) {
        unsafe { *self.0.get() = value }
    }
}

#[test]
fn mutex() {
    let counts = Arc::new((Mutex::new(0), Shared::new(0)));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let counts = Arc::clone(&counts);
            thread::spawn(move || {
                let mut count = counts.0.lock().unwrap();
                *count += 1;
                counts.1.set(counts.1.get() + 1);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!((*counts.0.lock().unwrap(), counts.1.get()), (3, 3));
}

#[test]
fn try_lock() {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if let Ok(mut count) = count.try_lock() {
                    *count += 1;
                }
            });
        }
    });
    assert!((1..=2).contains(&*count.lock().unwrap()));
}

#[test]
fn read_write_lock() {
    let lock = RwLock::new(vec![1]);
    thread::scope(|scope| {
        scope.spawn(|| lock.write().unwrap().push(2));
        scope.spawn(|| assert!(!lock.read().unwrap().is_empty()));
        assert!(lock.read().unwrap().len() <= 2);
    });
    assert_eq!(lock.into_inner().unwrap(), [1, 2]);
}

#[test]
fn condition_variable() {
    let pair = Arc::new((Mutex::new(false), Condvar::new(), Shared::new(0)));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        other.2.set(7);
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut ready = pair.0.lock().unwrap();
    while !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    drop(ready);
    assert_eq!(pair.2.get(), 7);
    thread.join().unwrap();
}

#[test]
fn condition_variable_with_time_out() {
    let pair = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *pair.0.lock().unwrap() += 1;
            pair.1.notify_all();
        });
        let ready = pair.0.lock().unwrap();
        let (count, result) = pair.1.wait_timeout_while(ready, Duration::from_secs(1), |count| *count == 0).unwrap();
        assert!(*count == 1 || result.timed_out());
    });
}

#[test]
fn once() {
    static ONCE: Once = Once::new();
    static VALUE: Shared<u32> = Shared::new(0);
    let threads = [(); 2].map(|()| {
        thread::spawn(|| {
            ONCE.call_once(|| VALUE.set(5));
            VALUE.get()
        })
    });
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [5, 5]);
}

#[test]
fn once_lock() {
    let cell: OnceLock<String> = OnceLock::new();
    thread::scope(|scope| {
        let cell = &cell;
        let threads = [1, 2].map(|number| scope.spawn(move || cell.get_or_init(|| format!("{number}")).len()));
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 1]);
    });
}

#[test]
fn lazy_lock() {
    static TABLE: LazyLock<Vec<u32>> = LazyLock::new(|| vec![1, 2, 3]);
    let thread = thread::spawn(|| TABLE.iter().sum::<u32>());
    assert_eq!(TABLE.len(), 3);
    assert_eq!(thread.join().unwrap(), 6);
}

#[test]
fn channel() {
    let (sender, receiver) = mpsc::channel();
    let threads = [1, 2].map(|number| {
        let sender = sender.clone();
        thread::spawn(move || sender.send(Box::new(number)).unwrap())
    });
    drop(sender);
    assert_eq!(receiver.into_iter().map(|number| *number).sum::<i32>(), 3);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn bounded_channel() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || (0..3).for_each(|number| sender.send(number.to_string()).unwrap()));
    assert_eq!(receiver.iter().collect::<String>(), "012");
    thread.join().unwrap();
}

#[test]
fn rendezvous_channel() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || sender.send(vec![1]).unwrap());
    assert_eq!(receiver.recv_timeout(Duration::from_secs(5)).unwrap_or(vec![1]), [1]);
    drop(receiver);
    let _ = thread.join();
}

#[test]
fn barrier() {
    let (barrier, values) = (Barrier::new(2), [Shared::new(0), Shared::new(0)]);
    thread::scope(|scope| {
        for own in 0..2 {
            let (barrier, values) = (&barrier, &values);
            scope.spawn(move || {
                values[own].set(own + 1);
                barrier.wait();
                assert_eq!(values[1 - own].get(), 2 - own);
            });
        }
    });
}

#[test]
fn scoped_threads() {
    let mut numbers = [1, 2, 3, 4];
    let (left, right) = numbers.split_at_mut(2);
    thread::scope(|scope| {
        scope.spawn(|| left.iter_mut().for_each(|number| *number *= 2));
        right.iter_mut().for_each(|number| *number *= 3);
    });
    assert_eq!(numbers, [2, 4, 9, 12]);
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: RefCell<Option<Counted>> = const { RefCell::new(None) };
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn thread_locals_with_destructors() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let threads = [1, 2].map(|number| {
        let dropped = Arc::clone(&dropped);
        thread::spawn(move || {
            OWN.with(|own| *own.borrow_mut() = Some(Counted(dropped)));
            NUMBER.set(number);
            NUMBER.get()
        })
    });
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 2]);
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}

#[test]
fn park_and_unpark() {
    let state = Arc::new((AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || {
        while !other.0.load(Ordering::Acquire) {
            thread::park();
        }
        other.1.get()
    });
    state.1.set(9);
    state.0.store(true, Ordering::Release);
    thread.thread().unpark();
    assert_eq!(thread.join().unwrap(), 9);
}

/// The last owner frees what others have used: `Arc` orders that by a fence.
#[test]
fn last_owner() {
    let value = Arc::new(Mutex::new(String::from("value")));
    let threads = [(); 2].map(|()| {
        let value = Arc::clone(&value);
        thread::spawn(move || value.lock().unwrap().push('!'))
    });
    drop(value);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn weak_owner() {
    let strong = Arc::new(Box::new(3));
    let weak: Weak<Box<i32>> = Arc::downgrade(&strong);
    let thread = thread::spawn(move || weak.upgrade().map(|value| **value));
    drop(strong);
    assert!(matches!(thread.join().unwrap(), None | Some(3)));
}

#[test]
fn sole_owner() {
    let mut value = Arc::new(1);
    let other = Arc::clone(&value);
    let thread = thread::spawn(move || *other);
    // Either a copy, or the memory that the other thread has let go.
    *Arc::make_mut(&mut value) += 1;
    assert_eq!((thread.join().unwrap(), *value), (1, 2));
}

#[test]
fn publication_by_a_fence() {
    let (flag, value) = (AtomicBool::new(false), Shared::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(4);
            fence(Ordering::Release);
            flag.store(true, Ordering::Relaxed);
        });
        if flag.load(Ordering::Relaxed) {
            fence(Ordering::Acquire);
            assert_eq!(value.get(), 4);
        }
    });
}

#[test]
fn publication_by_a_pointer() {
    let pointer = AtomicPtr::new(std::ptr::null_mut());
    thread::scope(|scope| {
        scope.spawn(|| pointer.store(Box::into_raw(Box::new(11)), Ordering::Release));
        let read = pointer.load(Ordering::Acquire);
        assert!(read.is_null() || unsafe { *read } == 11);
    });
    drop(unsafe { Box::from_raw(pointer.into_inner()) });
}

#[test]
fn caught_panics_and_poison() {
    let lock = Arc::new(Mutex::new(0));
    let other = Arc::clone(&lock);
    let thread = thread::spawn(move || {
        let _guard = other.lock().unwrap();
        panic!("as expected");
    });
    assert!(thread.join().is_err());
    assert!(lock.is_poisoned());
    *lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
    assert!(std::panic::catch_unwind(|| panic!("here too")).is_err());
}

#[test]
fn hash_maps_and_printing() {
    let map = Arc::new(Mutex::new(HashMap::new()));
    let threads = [1, 2].map(|number| {
        let map = Arc::clone(&map);
        thread::spawn(move || {
            println!("thread {number}");
            map.lock().unwrap().insert(number, number * 2);
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut values: Vec<i32> = map.lock().unwrap().values().copied().collect();
    values.sort_unstable();
    assert_eq!(values, [2, 4]);
}
