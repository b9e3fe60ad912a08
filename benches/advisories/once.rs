//! One thread fails to initialise a value while another waits for it.

use spin::Once;
use std::sync::Arc;
use std::thread;

#[test]
fn a_failure_and_a_success() {
    let once = Arc::new(Once::new());
    let other = Arc::clone(&once);
    let thread = thread::spawn(move || {
        assert!(matches!(other.try_call_once(|| Err(())), Ok(7) | Err(())));
    });
    assert_eq!(once.try_call_once(|| Ok::<u32, ()>(7)), Ok(&7));
    thread.join().unwrap();
}
