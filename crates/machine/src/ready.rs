//! Which threads can run, and in which order they are considered.

use crate::{Deadline, ThreadId};

/// The threads that can run, in an arbitrary but deterministic order. Each thread remembers its place.
#[derive(Debug)]
pub struct ReadySet<const N: usize> {
    count: u32,
    threads: [ThreadId; N],
}

/// A thread's place in a [`ReadySet`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Place(pub u32);

impl<const N: usize> ReadySet<N> {
    /// The empty set.
    pub const EMPTY: Self = Self { count: 0, threads: [ThreadId(0); N] };

    /// Returns the number of threads.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the thread at a place.
    #[inline]
    #[must_use]
    pub const fn get(&self, place: Place) -> ThreadId {
        self.threads[place.0 as usize]
    }

    /// Adds a thread, which is not in the set. Returns its place.
    #[inline]
    pub fn add(&mut self, thread: ThreadId) -> Place {
        let place = Place(self.count);
        self.threads[place.0 as usize] = thread;
        self.count += 1;
        place
    }

    /// Removes the thread at a place. Returns the thread that now has this place, which may be the removed one.
    #[inline]
    pub fn remove(&mut self, place: Place) -> ThreadId {
        self.count -= 1;
        let moved = self.threads[self.count as usize];
        self.threads[place.0 as usize] = moved;
        moved
    }

    /// Removes all threads.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

/// Returns all of `count` threads, in cyclic order of creation, starting after `thread`, which comes last.
pub fn cyclic_after(thread: ThreadId, count: u32) -> impl Iterator<Item = ThreadId> {
    (1..=count).map(move |step| ThreadId((thread.0 + step) % count))
}

/// Returns the thread with the earliest deadline; the first of equal ones.
pub fn earliest(waiting: impl Iterator<Item = (ThreadId, Deadline)>) -> Option<ThreadId> {
    waiting.min_by_key(|&(_, deadline)| deadline).map(|(thread, _)| thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    const MOST: usize = 8;

    /// A set together with the places that threads remember.
    struct Places {
        set: ReadySet<MOST>,
        places: [Option<Place>; MOST],
    }

    impl Places {
        fn new() -> Self {
            Self { set: ReadySet::EMPTY, places: [None; MOST] }
        }

        fn add(&mut self, thread: usize) {
            self.places[thread] = Some(self.set.add(ThreadId(thread as u32)));
        }

        fn remove(&mut self, thread: usize) {
            let place = self.places[thread].take().expect("it is in the set");
            let moved = self.set.remove(place).0 as usize;
            if moved != thread {
                self.places[moved] = Some(place);
            }
        }

        fn all(&self) -> Vec<u32> {
            (0..self.set.count()).map(|place| self.set.get(Place(place)).0).collect()
        }
    }

    #[test]
    fn no_thread_at_first() {
        assert_eq!(ReadySet::<MOST>::EMPTY.count(), 0);
    }

    #[test]
    fn the_last_one_takes_the_place_of_a_removed_one() {
        let mut set = Places::new();
        (0..4).for_each(|thread| set.add(thread));
        set.remove(1);
        assert_eq!(set.all(), [0, 3, 2]);
    }

    #[test]
    fn the_last_one_is_removed_without_a_trace() {
        let mut set = Places::new();
        (0..3).for_each(|thread| set.add(thread));
        set.remove(2);
        assert_eq!(set.all(), [0, 1]);
    }

    #[test]
    fn it_can_be_filled_and_emptied() {
        let mut set = Places::new();
        (0..MOST).for_each(|thread| set.add(thread));
        assert_eq!(set.set.count() as usize, MOST);
        (0..MOST).for_each(|thread| set.remove(thread));
        assert_eq!(set.set.count(), 0);
    }

    #[test]
    fn clearing_makes_room() {
        let mut set = ReadySet::<2>::EMPTY;
        set.add(ThreadId(1));
        set.add(ThreadId(2));
        set.clear();
        assert_eq!(set.add(ThreadId(3)), Place(0));
    }

    #[test]
    fn the_next_one_in_a_circle() {
        let order: Vec<u32> = cyclic_after(ThreadId(1), 4).map(|thread| thread.0).collect();
        assert_eq!(order, [2, 3, 0, 1]);
    }

    #[test]
    fn a_circle_of_one() {
        assert_eq!(cyclic_after(ThreadId(0), 1).collect::<Vec<_>>(), [ThreadId(0)]);
    }

    #[test]
    fn the_first_of_equal_deadlines() {
        let waiting = [(ThreadId(1), 9), (ThreadId(2), 5), (ThreadId(3), 5)];
        let waiting = waiting.into_iter().map(|(thread, at)| (thread, Deadline::at(at)));
        assert_eq!(earliest(waiting), Some(ThreadId(2)));
    }

    #[test]
    fn no_thread_waits_for_time() {
        assert_eq!(earliest(core::iter::empty()), None);
    }

    proptest! {
        #[test]
        fn is_a_set(steps in vec(0..MOST, 0..100)) {
            let (mut set, mut model) = (Places::new(), Vec::new());
            for thread in steps {
                if model.contains(&(thread as u32)) {
                    set.remove(thread);
                    model.retain(|&other| other != thread as u32);
                } else {
                    set.add(thread);
                    model.push(thread as u32);
                }
                let mut all = set.all();
                all.sort_unstable();
                let mut expected = model.clone();
                expected.sort_unstable();
                prop_assert_eq!(all, expected);
                for (thread, place) in set.places.iter().enumerate() {
                    prop_assert!(place.is_none_or(|place| set.set.get(place).0 as usize == thread));
                }
            }
        }

        #[test]
        fn a_circle_has_each_thread_once(count in 1_u32..20, start in 0_u32..20) {
            let mut order: Vec<u32> = cyclic_after(ThreadId(start % count), count).map(|thread| thread.0).collect();
            prop_assert_eq!(order.last().copied(), Some(start % count));
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }

        #[test]
        fn none_is_earlier(deadlines in vec(0_u64..9, 1..9)) {
            let waiting = deadlines.iter().enumerate().map(|(at, &time)| (ThreadId(at as u32), Deadline::at(time)));
            let first = earliest(waiting).expect("there are some").0 as usize;
            prop_assert!(deadlines.iter().all(|&other| deadlines[first] <= other));
            prop_assert!(deadlines[..first].iter().all(|&other| deadlines[first] < other));
        }
    }
}
