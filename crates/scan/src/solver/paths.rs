//! Path sensitivity: the states of several paths to one point, distinguished by the values that are known on them.
//!
//! Joining states is always sound; keeping them apart is what proves `if (use_lock) lock(); ... if (use_lock)
//! unlock();`. The number of paths is bounded, so that the solver terminates.

use super::state::State;
use crate::domain::lattice::Lattice;

/// The states of the paths to a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    pub(super) states: Vec<State>,
    /// There were too many: from now on all paths are joined.
    joined: bool,
}

impl Paths {
    /// Adds a path; returns true if it is new.
    pub(super) fn add(&mut self, state: &State, most: usize) -> bool {
        if !self.joined {
            if let Some(known) = self.states.iter_mut().find(|known| known.is_same_path(state)) {
                return known.join(state);
            }
            if self.states.len() < most {
                self.states.push(state.clone());
                return true;
            }
            self.joined = true;
        }
        let mut all = std::mem::take(&mut self.states).into_iter();
        let Some(mut one) = all.next() else {
            self.states.push(state.clone());
            return true;
        };
        let was_one = all.len() == 0;
        for other in all {
            one.join(&other);
        }
        let changed = one.join(state);
        self.states.push(one);
        changed || !was_one
    }
}

/// Joins paths if there are too many.
pub(super) fn fewer(states: Vec<State>, most: usize) -> Vec<State> {
    if states.len() < 2 {
        return states;
    }
    let mut paths = Paths::default();
    for state in &states {
        paths.add(state, most);
    }
    paths.states
}
