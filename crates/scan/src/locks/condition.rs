//! Condition variables: a wait releases a mutex, and locks it again before it returns.

use super::lockset::may_be;
use crate::domain::linear::linear;
use crate::pointer::InstanceId;
use crate::solver::{Solver, State};
use racehunter_ir::Operand;

impl Solver<'_, '_> {
    /// Returns the effect of a wait: the states in which it returns.
    pub(crate) fn wait(&mut self, id: InstanceId, lock: Option<&Operand>, state: &State) -> Vec<State> {
        let Some(lock) = lock else { return vec![state.clone()] };
        let addresses = self.points_to.operand(id, lock);
        let mut without = state.clone();
        self.given_back(id, state, |key| may_be(self.points_to, &addresses, key));
        self.unlock(&linear(self.points_to, id, lock), &addresses, &mut without);
        let mut after = Vec::new();
        for waiting in self.after_change(id, state, without) {
            let mut back = waiting.clone();
            back.lockset.clone_from(&state.lockset);
            after.extend(self.after_change(id, &waiting, back));
        }
        after
    }
}
