//! The last owner of an interned value goes while another becomes one.

use internment::ArcIntern;
use std::thread;

#[test]
fn the_last_goes_while_another_comes() {
    // What holds all values is there before the threads are: it comes from another crate, and is initialised when it is first used.
    let _first = ArcIntern::new("another value".to_owned());
    let threads = [1, 2].map(|_| thread::spawn(|| assert_eq!(*ArcIntern::new("value".to_owned()), "value")));
    threads.map(|thread| thread.join().unwrap());
}
