//! A receiver was polled, and goes while the sender wakes it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

#[test]
fn a_receiver_that_was_polled_goes() {
    let (sender, mut receiver) = oneshot::channel();
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(Pin::new(&mut receiver).poll(&mut context), Poll::Pending);
    let thread = thread::spawn(move || drop(sender.send(Box::new(7))));
    drop(receiver);
    thread.join().unwrap();
}
