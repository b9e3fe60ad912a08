//! The last owner of an interned value drops it while another thread acquires it.

use internment::ArcIntern;
use std::thread;

#[test]
fn the_last_goes_while_another_comes() {
    // The container of all values exists before the threads do: it comes from another crate, and is initialised when
    // it is first used.
    let _first = ArcIntern::new("another value".to_owned());
    let threads = [1, 2].map(|_| thread::spawn(|| assert_eq!(*ArcIntern::new("value".to_owned()), "value")));
    threads.map(|thread| thread.join().unwrap());
}
