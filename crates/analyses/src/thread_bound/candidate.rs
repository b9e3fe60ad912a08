//! A priority order with the preemptions chosen in it.

use crate::variable_bound::iteration_of;
use racehunter_explore::{MOST_CHANGED, Variable, part_priority, path_priority};
use racehunter_log::{ThreadId, ThreadPath};
use std::rc::Rc;

/// The rank of a candidate in the search order. The order of the fields is the search order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub variables: u32,
    /// The last loop iteration, from 1, that allocated one of the variables; 0 if none is on the heap.
    pub iterations: u32,
    pub preemptions: u32,
}

/// A priority order, and where threads are preempted in it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The seed that determines the order.
    pub seed: u64,
    /// The preempted threads in order; the first `count` entries are valid.
    pub preempted: [ThreadId; MOST_CHANGED],
    pub count: u32,
    /// The variables at which they were preempted.
    pub variables: Rc<Vec<Variable>>,
}

impl Candidate {
    pub fn place(&self) -> Place {
        let iterations = self.variables.iter().map(|&variable| iteration_of(variable)).max().unwrap_or(0);
        Place { variables: self.variables.len() as u32, iterations, preemptions: self.count }
    }

    pub fn preempted(&self) -> &[ThreadId] {
        &self.preempted[..self.count as usize]
    }

    pub fn priority(&self, thread: ThreadId, path: ThreadPath) -> u64 {
        match self.preempted().iter().rposition(|&preempted| preempted == thread) {
            Some(part) => part_priority(self.seed, part as u32),
            None => path_priority(self.seed, path.0),
        }
    }

    /// Returns the thread that continues among those that can; `last` are the threads with the lowest priorities,
    /// the lowest last.
    pub fn choose(&self, ready: &[(ThreadId, ThreadPath)], last: &[ThreadId]) -> Option<ThreadId> {
        let key = |&(thread, path): &(ThreadId, ThreadPath)| match last.iter().rposition(|&other| other == thread) {
            Some(position) => (0, u64::MAX - position as u64),
            None => (1, self.priority(thread, path)),
        };
        ready.iter().max_by_key(|&candidate| key(candidate)).map(|&(thread, _)| thread)
    }

    /// Returns this candidate with one more preemption.
    pub fn preempting(&self, thread: ThreadId, variable: Option<Variable>) -> Self {
        let mut candidate = self.clone();
        // There is room, see `ThreadBound::new`.
        candidate.preempted[candidate.count as usize] = thread;
        candidate.count += 1;
        if let Some(variable) = variable.filter(|variable| !candidate.variables.contains(variable)) {
            Rc::make_mut(&mut candidate.variables).push(variable);
        }
        candidate
    }
}
