//! Vector clocks.

use racehunter_abi::ThreadId;
use std::cmp::Ordering;

/// For each thread, how many of its steps are known to have happened; 0 for threads that are not listed.
#[derive(Clone, Debug, Default)]
pub struct VectorClock(Vec<u32>);

impl VectorClock {
    /// Returns the count of a thread.
    #[must_use]
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// Adds a step of a thread. Returns its count.
    pub fn increment(&mut self, thread: ThreadId) -> u32 {
        let count = self.entry(thread);
        *count += 1;
        *count
    }

    /// Raises the count of a thread to at least `count`.
    pub fn raise(&mut self, thread: ThreadId, count: u32) {
        let known = self.entry(thread);
        *known = count.max(*known);
    }

    /// Returns whether a step of a thread, by its count, is known.
    #[must_use]
    pub fn includes(&self, thread: ThreadId, count: u32) -> bool {
        self.get(thread) >= count
    }

    /// Adds what the other clock knows.
    pub fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = theirs.max(*mine);
        }
    }

    fn entry(&mut self, thread: ThreadId) -> &mut u32 {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        &mut self.0[thread.index()]
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl Eq for VectorClock {}

/// `a <= b`: `b` knows everything that `a` knows. Clocks are not comparable, and so concurrent, if each knows something that
/// the other does not.
impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let threads = (0..self.0.len().max(other.0.len()) as u32).map(ThreadId);
        threads.map(|thread| self.get(thread).cmp(&other.get(thread))).try_fold(Ordering::Equal, |all, one| {
            match (all, one) {
                (Ordering::Equal, one) => Some(one),
                (all, Ordering::Equal) => Some(all),
                (all, one) => (all == one).then_some(all),
            }
        })
    }
}
