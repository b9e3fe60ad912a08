//! The receiver goes while the first message is being sent: the block of messages is freed twice.

use crossbeam_channel::unbounded;
use std::thread;

#[test]
fn the_receiver_goes_first() {
    let (sender, receiver) = unbounded();
    let other = sender.clone();
    let senders = [sender, other].map(|sender| thread::spawn(move || drop(sender.send(Box::new(1)))));
    thread::spawn(move || drop(receiver)).join().unwrap();
    senders.map(|thread| thread.join().unwrap());
}
