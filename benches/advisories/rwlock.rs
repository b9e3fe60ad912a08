//! A lock whose operations order less than the protected data needs.

use spin::RwLock;
use std::sync::Arc;
use std::thread;

#[test]
fn a_writer_and_a_reader() {
    let lock = Arc::new(RwLock::new(vec![0]));
    let other = Arc::clone(&lock);
    let thread = thread::spawn(move || other.write().push(1));
    assert!(!lock.read().is_empty());
    lock.write().push(2);
    thread.join().unwrap();
}
