//! What programs in Rust have by chance elsewhere.
#![cfg(test)]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Instant, SystemTime};

#[test]
fn says_what_it_has() {
    let numbers: HashSet<u32> = (0..20).collect();
    let words: HashMap<&str, u32> = [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)].into();
    let order = (numbers.into_iter().collect::<Vec<_>>(), words.into_keys().collect::<Vec<_>>());
    let key = || RandomState::new().hash_one(1);
    let thread = thread::spawn(move || (thread::current().id(), key()));
    let of_thread = thread.join().unwrap();
    let place = format!("{:p}", Box::leak(Box::new(1)));
    panic!("{order:?} {} {of_thread:?} {place} {:?} {:?}", key(), Instant::now(), SystemTime::now());
}
