//! May-happen-in-parallel: which threads may run at the same time.
//!
//! [`ThreadTree`] knows which thread creates which. While the solver runs, it learns which threads may be active where
//! a thread is created, and which are left behind at its end. Two accesses may happen in parallel unless one thread is
//! definitely not active at the other's access, by the tree and by the sets of active threads of both states.
//!
//! Start at [`ThreadTree::may_happen_in_parallel`].

use crate::index::IndexVec;
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::solver::{Solution, State};
use std::collections::BTreeSet;

/// Which thread creates which, and which threads may therefore run in parallel.
#[derive(Clone, Debug)]
pub struct ThreadTree {
    parents: IndexVec<ThreadId, Option<ThreadId>>,
    descendants: IndexVec<ThreadId, BTreeSet<ThreadId>>,
    self_parallel: IndexVec<ThreadId, bool>,
    /// Descendants of earlier threads of the same place that may be running when one starts.
    inherited: IndexVec<ThreadId, BTreeSet<ThreadId>>,
    left: IndexVec<ThreadId, BTreeSet<ThreadId>>,
    before_create: IndexVec<ThreadId, BTreeSet<ThreadId>>,
    /// Threads that must be running when one starts.
    running: IndexVec<ThreadId, BTreeSet<ThreadId>>,
    /// For each instance, the threads that a call of it creates, and their descendants.
    made: IndexVec<InstanceId, BTreeSet<ThreadId>>,
}

impl ThreadTree {
    /// Returns the tree of threads, before anything is known about parallelism.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let threads = &points_to.threads;
        let parents = threads.map(|thread| thread.creator.map(|(creator, _)| points_to.instances[creator].thread));
        let mut descendants: IndexVec<ThreadId, BTreeSet<ThreadId>> = threads.map(|_| BTreeSet::new());
        for id in threads.ids() {
            let mut ancestor = parents[id];
            while let Some(thread) = ancestor {
                if !descendants[thread].insert(id) {
                    break;
                }
                ancestor = parents[thread];
            }
        }
        // A thread that creates itself is its own descendant.
        for (id, thread) in threads.entries() {
            if thread.recursive {
                descendants[id].insert(id);
            }
        }
        let self_parallel = threads.map(|thread| thread.recursive);
        let empty = threads.map(|_| BTreeSet::new());
        Self {
            parents,
            descendants,
            self_parallel,
            inherited: empty.clone(),
            left: empty.clone(),
            before_create: empty.clone(),
            running: empty,
            made: points_to.instances.map(|_| BTreeSet::new()),
        }
        .with_made(points_to)
    }

    /// Propagates created threads from functions to their callers, until nothing changes.
    fn with_made(mut self, points_to: &PointsTo<'_>) -> Self {
        let mut work: Vec<InstanceId> = Vec::new();
        for (id, instance) in points_to.instances.entries() {
            for &thread in instance.creates.values().flatten() {
                self.made[id].insert(thread);
                self.made[id].extend(&self.descendants[thread]);
                work.push(id);
            }
        }
        while let Some(id) = work.pop() {
            for caller in points_to.callers(id) {
                let more: Vec<ThreadId> = self.made[id].difference(&self.made[caller]).copied().collect();
                if !more.is_empty() {
                    self.made[caller].extend(more);
                    work.push(caller);
                }
            }
        }
        self
    }

    /// Returns true if a call of an instance can create a thread, directly or through its callees.
    pub fn is_made_by(&self, thread: ThreadId, callee: InstanceId) -> bool {
        self.made[callee].contains(&thread)
    }

    /// Returns all threads that a thread creates, and that those create.
    pub fn descendants(&self, thread: ThreadId) -> &BTreeSet<ThreadId> {
        &self.descendants[thread]
    }

    /// Returns true if two threads of the same place may run at the same time.
    pub fn is_self_parallel(&self, thread: ThreadId) -> bool {
        self.self_parallel[thread]
    }

    /// Returns the descendants that may be running when a thread starts.
    pub fn inherited(&self, thread: ThreadId) -> &BTreeSet<ThreadId> {
        &self.inherited[thread]
    }

    /// Returns the descendants that may be running after the end of a thread.
    pub fn left_by(&self, thread: ThreadId) -> &BTreeSet<ThreadId> {
        &self.left[thread]
    }

    /// Adopts what a pass of the solver has shown; returns true if anything is new. The sets only grow: a thread counts
    /// as the only one of its place until it is seen to be created while another one may be running.
    pub fn learn(&mut self, points_to: &PointsTo<'_>, solution: &Solution) -> bool {
        let mut changed = false;
        for (id, thread) in points_to.threads.entries() {
            let mut add = |set: &mut BTreeSet<ThreadId>, more: BTreeSet<ThreadId>| {
                let before = set.len();
                set.extend(more);
                changed |= set.len() != before;
            };
            add(&mut self.left[id], solution.left_by(id));
            let Some((creator, _)) = thread.creator else { continue };
            let mut before = BTreeSet::new();
            let mut running: Option<BTreeSet<ThreadId>> = None;
            for (at, threads) in &points_to.instances[creator].creates {
                if threads.contains(&id)
                    && let Some(state) = solution.before_create.get(&(creator, *at))
                {
                    before.extend(state.active.iter());
                    running
                        .get_or_insert_with(|| state.running.0.clone())
                        .retain(|other| state.running.contains(other));
                }
            }
            // This decides nothing, so it need not be final before the last pass.
            self.running[id] = running.unwrap_or_default();
            add(&mut self.inherited[id], before.intersection(&self.descendants[id]).copied().collect());
            let parent = points_to.instances[creator].thread;
            let parallel = before.contains(&id) || self.self_parallel[parent];
            add(&mut self.before_create[id], before);
            if parallel && !std::mem::replace(&mut self.self_parallel[id], true) {
                changed = true;
            }
        }
        changed
    }

    fn ancestors(&self, thread: ThreadId) -> Vec<ThreadId> {
        std::iter::successors(Some(thread), |thread| self.parents[*thread]).collect()
    }

    /// Returns true if two threads must exist at the same time at some moment, if loops have iterations: one is created
    /// while the other is running, or one place creates several. The caller has established that they may.
    pub fn must_happen_in_parallel(&self, first: (ThreadId, &State), second: (ThreadId, &State)) -> bool {
        let ((first, first_state), (second, second_state)) = (first, second);
        first == second
            || first_state.running.contains(&second)
            || second_state.running.contains(&first)
            || (self.parents[first] == self.parents[second]
                && (self.running[first].contains(&second) || self.running[second].contains(&first)))
    }

    /// Returns true if two threads may be at these points at the same time.
    pub fn may_happen_in_parallel(&self, first: (ThreadId, &State), second: (ThreadId, &State)) -> bool {
        let ((first, first_state), (second, second_state)) = (first, second);
        if first == second {
            return self.is_self_parallel(first);
        }
        let (above_first, above_second) = (self.ancestors(first), self.ancestors(second));
        if above_second.contains(&first) {
            return self.is_self_parallel(first) || first_state.active.contains(&second);
        }
        if above_first.contains(&second) {
            return self.is_self_parallel(second) || second_state.active.contains(&first);
        }
        // The last common ancestor, and its children on the two branches.
        let Some(&common) = above_first.iter().find(|thread| above_second.contains(thread)) else { return true };
        if self.is_self_parallel(common) {
            return true;
        }
        let child = |list: &[ThreadId]| list.iter().copied().find(|thread| self.parents[*thread] == Some(common));
        let (Some(left), Some(right)) = (child(&above_first), child(&above_second)) else { return true };
        self.before_create[left].contains(&second) || self.before_create[right].contains(&first)
    }
}
