//! A batch is stolen from a stack while its owner replaces the buffer: the thief continues with the old one.

use crossbeam_deque::{Steal, Worker};
use std::collections::BTreeSet;
use std::thread;

#[test]
fn every_task_is_taken_once() {
    let worker = Worker::new_lifo();
    // One more than the buffer has at first: it grows, and shrinks again when most of it is taken.
    (0..65).for_each(|task| worker.push(task));
    let (stealer, stolen) = (worker.stealer(), Worker::new_fifo());
    let thief = thread::spawn(move || {
        let mut taken = Vec::new();
        if let Steal::Success(first) = stealer.steal_batch_and_pop(&stolen) {
            taken.push(first);
        }
        taken.extend(std::iter::from_fn(|| stolen.pop()));
        taken
    });
    let mut taken: Vec<i32> = (0..60).filter_map(|_| worker.pop()).collect();
    (65..70).for_each(|task| worker.push(task));
    taken.extend(thief.join().unwrap());
    taken.extend(std::iter::from_fn(|| worker.pop()));
    assert_eq!(taken.len(), 70);
    assert_eq!(taken.into_iter().collect::<BTreeSet<i32>>().len(), 70, "a task was taken twice");
}
