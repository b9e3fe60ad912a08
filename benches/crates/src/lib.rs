//! Correct uses of crates that others build on, each a test: nothing may be reported.
#![cfg(test)]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[test]
fn parking_lot_locks() {
    use parking_lot::{Condvar, Mutex, RwLock};
    let state = Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(vec![0])));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || {
        *other.0.lock() += 1;
        other.1.notify_one();
        other.2.write().push(1);
    });
    let mut count = state.0.lock();
    while *count == 0 {
        state.1.wait(&mut count);
    }
    drop(count);
    assert!(!state.2.read().is_empty());
    thread.join().unwrap();
}

#[test]
fn crossbeam_channel() {
    let (sender, receiver) = crossbeam::channel::bounded(1);
    let thread = thread::spawn(move || (0..3).for_each(|number| sender.send(vec![number]).unwrap()));
    assert_eq!(receiver.iter().map(|item| item[0]).sum::<i32>(), 3);
    thread.join().unwrap();
}

#[test]
fn crossbeam_deque() {
    use crossbeam::deque::{Steal, Worker};
    let worker = Worker::new_lifo();
    let stealer = worker.stealer();
    worker.push(Box::new(1));
    worker.push(Box::new(2));
    let thread = thread::spawn(move || {
        let mut sum = 0;
        while let Steal::Success(item) = stealer.steal() {
            sum += *item;
        }
        sum
    });
    let mut sum = 0;
    while let Some(item) = worker.pop() {
        sum += *item;
    }
    assert!(sum + thread.join().unwrap() <= 3);
}

#[test]
fn crossbeam_queue() {
    let queue = crossbeam::queue::SegQueue::new();
    thread::scope(|scope| {
        scope.spawn(|| queue.push(Box::new(1)));
        scope.spawn(|| queue.push(Box::new(2)));
        queue.pop();
    });
    assert!((1..=2).contains(&queue.len()));
}

#[test]
fn rayon_join() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (left, right) = pool.install(|| rayon::join(|| [1].len(), || [1, 2].len()));
    assert_eq!(left + right, 3);
}

#[test]
fn tokio_current_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let thread = thread::spawn(move || sender.send(5).unwrap());
        assert_eq!(receiver.await.unwrap(), 5);
        thread.join().unwrap();
    });
}

#[test]
fn tokio_multi_thread() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let count = Arc::new(tokio::sync::Mutex::new(0));
        let other = Arc::clone(&count);
        let task = tokio::spawn(async move { *other.lock().await += 1 });
        *count.lock().await += 1;
        task.await.unwrap();
        assert_eq!(*count.lock().await, 2);
    });
}

#[test]
fn tokio_time() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    runtime.block_on(async {
        let task = tokio::spawn(async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            7
        });
        assert_eq!(task.await.unwrap(), 7);
    });
}

#[test]
fn flume_channel() {
    let (sender, receiver) = flume::bounded(1);
    let thread = thread::spawn(move || ["a", "b"].map(|item| sender.send(item.to_owned()).unwrap()));
    assert_eq!(receiver.iter().collect::<String>(), "ab");
    thread.join().unwrap();
}

#[test]
fn dashmap_inserts() {
    let map = Arc::new(dashmap::DashMap::new());
    let other = Arc::clone(&map);
    let thread = thread::spawn(move || other.insert(1, "a".to_owned()));
    map.insert(2, "b".to_owned());
    assert!(thread.join().unwrap().is_none());
    assert_eq!(map.len(), 2);
}

#[test]
fn arc_swap_store() {
    let value = Arc::new(arc_swap::ArcSwap::from_pointee(1));
    let other = Arc::clone(&value);
    let thread = thread::spawn(move || other.store(Arc::new(2)));
    assert!(matches!(**value.load(), 1 | 2));
    thread.join().unwrap();
}

#[test]
fn once_cell_value() {
    static CELL: once_cell::sync::OnceCell<String> = once_cell::sync::OnceCell::new();
    let thread = thread::spawn(|| CELL.get_or_init(|| "value".to_owned()).len());
    assert_eq!(CELL.get_or_init(|| "value".to_owned()), "value");
    assert_eq!(thread.join().unwrap(), 5);
}
