//! A bounded queue without locks, for one producer and one consumer.
//!
//! The producer owns `tail`, the consumer owns `head`. A slot belongs to the producer until `tail` has passed it, and to the
//! consumer until `head` has. The planted bug: the producer publishes a slot before it has filled it.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The queue: `N` slots, of which all can be used.
pub struct Ring<T, const N: usize> {
    slots: [UnsafeCell<Option<T>>; N],
    /// Items that were taken.
    head: AtomicUsize,
    /// Items that were put.
    tail: AtomicUsize,
}

// SAFETY: a slot is used by one side at a time, if `push` and `pop` keep to the rules above.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Default for Ring<T, N> {
    fn default() -> Self {
        Self { slots: [const { UnsafeCell::new(None) }; N], head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }
}

impl<T, const N: usize> Ring<T, N> {
    /// Puts an item, if there is room. For the producer.
    ///
    /// # Errors
    /// Returns the item if there is no room.
    pub fn push(&self, item: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == N {
            return Err(item);
        }
        let slot = self.slots[tail % N].get();
        if cfg!(feature = "fixed") {
            // SAFETY: the slot is the producer's until the store below.
            unsafe { *slot = Some(item) };
            self.tail.store(tail + 1, Ordering::Release);
        } else {
            self.tail.store(tail + 1, Ordering::Release);
            // SAFETY: none, which is the bug: the consumer may be there by now.
            unsafe { *slot = Some(item) };
        }
        Ok(())
    }

    /// Takes the oldest item. For the consumer.
    pub fn pop(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the slot is the consumer's until the store below.
        let item = unsafe { (*self.slots[head % N].get()).take() };
        self.head.store(head + 1, Ordering::Release);
        Some(item.expect("a slot that was published has an item"))
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use std::thread;

    #[test]
    fn items_come_out_as_they_went_in() {
        let ring: Ring<u32, 2> = Ring::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                ring.push(1).unwrap();
                ring.push(2).unwrap();
            });
            let first = ring.pop();
            assert!(matches!(first, None | Some(1)));
        });
    }

    #[test]
    fn an_empty_queue_gives_nothing() {
        let ring: Ring<u32, 2> = Ring::default();
        assert_eq!(ring.pop(), None);
    }
}
