//! Variables that are used as locks: zero while they are free.
//!
//! A cell is a lock as long as every write follows the protocol: only a thread that finds zero changes it to something
//! else, by an exchange or where no other thread can change it, and only its owner resets it, visibly to the next
//! owner. A single reachable write that violates this refutes it.

use super::lockset::{HeldLock, held};
use crate::pointer::InstanceId;
use crate::solver::cells::CellId;
use crate::solver::memory::WriteKind;
use crate::solver::{Solver, State};

impl Solver<'_, '_> {
    /// Handles a write to a cell that is used as a lock.
    pub(crate) fn write_lock(
        &mut self,
        name: (InstanceId, u32),
        cell: CellId,
        value: Option<i64>,
        how: WriteKind,
        (shows, sees): (bool, bool),
        state: &mut State,
    ) {
        let key = self.invariants.key(cell).clone();
        let was_zero = state.cells.get(&cell) == Some(&0);
        let has = held(state).any(|lock| lock.id == key);
        let take = |if_zero| HeldLock { id: key.clone(), shared: false, if_zero };
        let keeps_to_it = match (value, how) {
            (Some(0), _) if was_zero && !has => true,
            (Some(0), WriteKind::Store | WriteKind::Exchange) => {
                state.lockset.retain(|lock| lock.id != key);
                has && shows
            }
            (Some(_), WriteKind::Store) if was_zero => {
                state.lockset.insert(take(None));
                true
            }
            (Some(_), WriteKind::Store) => has,
            (Some(1..) | Some(..=-1), WriteKind::Exchange | WriteKind::IfZero) => {
                state.lockset.insert(take(Some(name)));
                sees
            }
            (Some(1..) | Some(..=-1), WriteKind::IfSet) => true,
            _ => false,
        };
        if !keeps_to_it {
            self.invariants.refute(cell, |invariant| &mut invariant.is_lock);
        }
        if !self.invariants.cell(cell).is_lock {
            state.lockset.retain(|lock| lock.id != key);
        }
    }
}
