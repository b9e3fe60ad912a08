//! A value is sent into a closed channel while its receiver looks for one.

use std::thread;
use tokio::sync::oneshot;

#[test]
fn send_after_close() {
    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    let thread = thread::spawn(move || drop(sender.send(Box::new(7))));
    let _ = receiver.try_recv();
    thread.join().unwrap();
}
