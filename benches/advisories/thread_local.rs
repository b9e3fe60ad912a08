//! The values of threads are read while another thread adds one.

use std::sync::Arc;
use std::thread;
use thread_local::ThreadLocal;

#[test]
fn iterate_while_another_thread_begins() {
    // Memory for the values is allocated by the thread that has the first one.
    let values = Arc::new(ThreadLocal::with_capacity(0));
    let other = Arc::clone(&values);
    let thread = thread::spawn(move || other.get_or(|| Box::new(7)).clone());
    assert!(values.iter().all(|value| **value == 7));
    assert_eq!(*thread.join().unwrap(), 7);
}
