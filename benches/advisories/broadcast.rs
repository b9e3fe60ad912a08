//! A value that threads may have, but not share, is cloned by two receivers at a time.

use std::cell::Cell;
use std::thread;
use tokio::sync::broadcast;

struct Counted(Cell<u32>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        Self(Cell::new(0))
    }
}

#[test]
fn two_receivers_of_one_value() {
    let (sender, receiver) = broadcast::channel(2);
    let receivers = [receiver, sender.subscribe()];
    assert!(sender.send(Counted(Cell::new(0))).is_ok());
    let threads = receivers.map(|mut receiver| thread::spawn(move || drop(receiver.try_recv())));
    threads.map(|thread| thread.join().unwrap());
}
