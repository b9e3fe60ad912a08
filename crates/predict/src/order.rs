//! A partial order on the events of some threads that can only grow.
//!
//! Within a thread, events are ordered anyway. For each pair of threads the order is a staircase: pairs of positions,
//! ascending in both, each saying that everything up to the first position in one thread comes before everything from
//! the second position on in the other. The order is always transitively closed, so a query is one binary search, and a
//! new edge takes as many insertions as there are pairs of threads.

/// No event comes after.
pub(crate) const NEVER: u32 = u32::MAX;

/// Both orders would hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cycle;

/// The order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    threads: usize,
    stairs: Vec<Vec<(u32, u32)>>,
}

impl Order {
    /// Creates an order without any edge between threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, stairs: vec![Vec::new(); threads * threads] }
    }

    fn stair(&self, from: usize, to: usize) -> &[(u32, u32)] {
        &self.stairs[from * self.threads + to]
    }

    /// Returns the first position in another thread that comes after an event, or [`NEVER`].
    pub(crate) fn after(&self, thread: usize, position: u32, other: usize) -> u32 {
        let stair = self.stair(thread, other);
        let at = stair.partition_point(|&(from, _)| from < position);
        stair.get(at).map_or(NEVER, |&(_, to)| to)
    }

    /// Returns the last position in another thread that comes before an event.
    pub(crate) fn before(&self, thread: usize, position: u32, other: usize) -> Option<u32> {
        self.before_until(thread, position, other).0
    }

    /// As `before`, and also returns the position of the thread from which the answer changes, or [`NEVER`].
    pub(crate) fn before_until(&self, thread: usize, position: u32, other: usize) -> (Option<u32>, u32) {
        let stair = self.stair(other, thread);
        let at = stair.partition_point(|&(_, to)| to <= position);
        (at.checked_sub(1).map(|at| stair[at].0), stair.get(at).map_or(NEVER, |&(_, to)| to))
    }

    /// Orders an event before another one. Returns true if that is new.
    pub(crate) fn add(&mut self, first: (usize, u32), second: (usize, u32)) -> Result<bool, Cycle> {
        if first.0 == second.0 {
            return if first.1 < second.1 { Ok(false) } else { Err(Cycle) };
        }
        if self.after(first.0, first.1, second.0) <= second.1 {
            return Ok(false);
        }
        if self.after(second.0, second.1, first.0) <= first.1 {
            return Err(Cycle);
        }
        for before in 0..self.threads {
            let from = if before == first.0 { Some(first.1) } else { self.before(first.0, first.1, before) };
            let Some(from) = from else { continue };
            for after in 0..self.threads {
                if before == after {
                    continue;
                }
                let to = if after == second.0 { second.1 } else { self.after(second.0, second.1, after) };
                if to != NEVER {
                    self.insert(before, from, after, to);
                }
            }
        }
        Ok(true)
    }

    fn insert(&mut self, thread: usize, from: u32, other: usize, to: u32) {
        let stair = &mut self.stairs[thread * self.threads + other];
        let at = stair.partition_point(|&(position, _)| position < from);
        if stair.get(at).is_some_and(|&(_, position)| position <= to) {
            return;
        }
        // Steps that the new one implies.
        let end = if stair.get(at).is_some_and(|&(position, _)| position == from) { at + 1 } else { at };
        let begin = stair.partition_point(|&(_, position)| position < to).min(end);
        stair.splice(begin..end, [(from, to)]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cycle, NEVER, Order};
    use proptest::prelude::*;

    const THREADS: usize = 4;
    const LEN: usize = 5;

    type Place = (usize, u32);

    /// Computes reachability by brute force.
    fn reaches(edges: &[(Place, Place)]) -> Vec<bool> {
        let number = |(thread, position): Place| thread * LEN + position as usize;
        let size = THREADS * LEN;
        let mut reach = vec![false; size * size];
        for thread in 0..THREADS {
            for position in 1..LEN {
                reach[(thread * LEN + position - 1) * size + thread * LEN + position] = true;
            }
        }
        for &(first, second) in edges {
            reach[number(first) * size + number(second)] = true;
        }
        for via in 0..size {
            for from in 0..size {
                for to in 0..size {
                    reach[from * size + to] |= reach[from * size + via] && reach[via * size + to];
                }
            }
        }
        reach
    }

    proptest! {
        #[test]
        fn agrees_with_brute_force(
            edges in prop::collection::vec(((0..THREADS, 0..LEN as u32), (0..THREADS, 0..LEN as u32)), 0..14)
        ) {
            let size = THREADS * LEN;
            let mut order = Order::new(THREADS);
            let mut added = Vec::new();
            for (first, second) in edges {
                added.push((first, second));
                let reach = reaches(&added);
                let cyclic = (0..size).any(|event| reach[event * size + event]);
                prop_assert_eq!(order.add(first, second) == Err(Cycle), cyclic);
                if cyclic {
                    added.pop();
                }
            }
            let reach = reaches(&added);
            for thread in 0..THREADS {
                for position in 0..LEN {
                    for other in (0..THREADS).filter(|&other| other != thread) {
                        let to = |at: &usize| reach[(thread * LEN + position) * size + other * LEN + at];
                        let from = |at: &usize| reach[(other * LEN + at) * size + thread * LEN + position];
                        let after = (0..LEN).find(to).map_or(NEVER, |at| at as u32);
                        prop_assert_eq!(order.after(thread, position as u32, other), after);
                        let before = (0..LEN).rev().find(from).map(|at| at as u32);
                        prop_assert_eq!(order.before(thread, position as u32, other), before);
                    }
                }
            }
        }
    }
}
