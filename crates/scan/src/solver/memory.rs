//! Values in memory: what a thread knows about cells that no other thread can change now, and what it finds in the
//! others.
//!
//! A fact about a cell is kept only while it is valid: the thread is the only one, the cell is not written while
//! several threads run, or the thread holds a lock that all writers hold. When such a lock is released, the value at
//! that moment is one that other threads may find when they take it.

use super::constants::fits;
use super::{Solver, State};
use crate::domain::constants::ConstantSet;
use crate::locks::lockset::{HeldLock, LockId, held};
use crate::order::SyncEvent;
use crate::pointer::{InstanceId, MAIN, ThreadId};
use crate::solver::cells::CellId;
use crate::solver::invariants::Guard;
use racehunter_ir::{Instruction, Order, UpdateOperator};
use racehunter_ir::{Operand, Operation};
use std::collections::BTreeSet;

/// Maximum number of paths that are distinguished by the values found when a lock is taken.
const MOST_FOUND: usize = 4;

/// How a cell is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind {
    /// By a store.
    Store,
    /// By an exchange, which returns the old value.
    Exchange,
    /// Only if it was zero.
    IfZero,
    /// Only if it was nonzero.
    IfSet,
    /// In any other way.
    Other,
}

impl Solver<'_, '_> {
    /// Returns true if no other thread can be running.
    pub(crate) fn is_alone(&self, thread: ThreadId, state: &State) -> bool {
        thread == MAIN && state.active.is_empty()
    }

    fn thread(&self, id: InstanceId) -> ThreadId {
        self.points_to.instances[id].thread
    }

    /// Initialises what a thread knows about memory when it starts.
    pub(super) fn begin(&self, thread: ThreadId, state: &mut State) {
        state.may_be_alone = thread == MAIN && !self.cells.all.is_empty();
        for cell in self.cells.ids() {
            let described = self.cells.get(cell);
            if (thread == MAIN || described.thread_local)
                && let Some(value) = described.initial
            {
                state.cells.insert(cell, value);
            }
        }
    }

    /// Returns true if no other thread can change a cell now.
    fn is_mine(&self, thread: ThreadId, cell: CellId, state: &State) -> bool {
        self.cells.get(cell).thread_local
            || self.is_alone(thread, state)
            || self.invariants.cell(cell).guard == Guard::Settled
            || self.is_guarded(cell, state)
    }

    /// Returns true if a lock is held that all writers of a cell hold.
    pub(crate) fn is_guarded(&self, cell: CellId, state: &State) -> bool {
        match &self.invariants.cell(cell).guard {
            Guard::Settled => false,
            Guard::Locks(locks) => held(state).any(|lock| locks.contains(&lock.id)),
        }
    }

    /// Drops facts that may no longer be true.
    pub(super) fn refresh(&self, id: InstanceId, state: &mut State) {
        let thread = self.thread(id);
        state.may_be_alone |= !self.cells.all.is_empty() && self.is_alone(thread, state);
        if !state.cells.is_empty() {
            let mine: BTreeSet<CellId> =
                state.cells.keys().copied().filter(|&cell| self.is_mine(thread, cell, state)).collect();
            state.cells.retain(|cell, _| mine.contains(cell));
        }
        {
            let mine: BTreeSet<CellId> =
                state.current.cells().filter(|&cell| self.is_mine(thread, cell, state)).collect();
            state.current.retain(|cell| mine.contains(&cell));
        }
    }

    /// Handles a load, with a path for each value that it can find.
    pub(super) fn load(&mut self, id: InstanceId, at: u32, load: &Instruction, mut state: State) -> Vec<State> {
        self.know(id, at, load, &mut state);
        self.name_unique_value(id, at, load, &mut state);
        let (Operation::Load { order, .. }, [address]) = (&load.operation, &load.operands[..]) else {
            return vec![state];
        };
        let Some(cell) = self.cells.find(self.points_to, id, address).filter(|_| self.can_know(id)) else {
            return vec![state];
        };
        let thread = self.thread(id);
        if self.is_mine(thread, cell, &state) && !self.cells.get(cell).thread_local {
            self.read_counter((id, at), cell, &mut state);
        }
        let invariant = self.invariants.cell(cell);
        let values = match state.cells.get(&cell) {
            Some(&value) => ConstantSet::Some(BTreeSet::from([value])),
            None if self.cells.get(cell).thread_local => ConstantSet::Any,
            None if invariant.guard == Guard::Settled && !self.is_alone(thread, &state) => invariant.start.clone(),
            None => invariant.values.clone(),
        };
        let ConstantSet::Some(values) = values else { return vec![state] };
        if !values.iter().all(|&value| fits(value, load.ty)) {
            return vec![state];
        }
        let sees_all = self.is_guarded(cell, &state) || (invariant.is_released && order.is_some_and(acquires));
        let is_mine = self.is_mine(thread, cell, &state);
        let one = |value: i64| {
            let mut found = state.clone();
            found.constants.insert((id, at), value);
            if is_mine {
                found.cells.insert(cell, value);
            }
            if value != 0 && invariant.is_flag && sees_all {
                found.seen.insert(SyncEvent::Set(cell));
            }
            found
        };
        values.into_iter().map(one).collect()
    }

    /// Returns a path for each result of an exchange: what it has found, or whether a compare-exchange took place.
    pub(super) fn found(
        &self,
        id: InstanceId,
        at: u32,
        exchange: &Instruction,
        before: &State,
        after: State,
    ) -> Vec<State> {
        let path = |result: i64, takes: bool| {
            let mut path = after.clone();
            path.constants.insert((id, at), result);
            self.tried(id, at, takes, &mut path);
            path
        };
        if !self.can_know(id) {
            return vec![after];
        }
        match &exchange.operation {
            Operation::Update { operator: UpdateOperator::Exchange, .. } => {
                let cell = self.cells.find(self.points_to, id, &exchange.operands[0]);
                let values = cell.and_then(|cell| self.values(cell, before));
                match values.filter(|values| values.iter().all(|&value| fits(value, exchange.ty))) {
                    Some(values) => values.into_iter().map(|value| path(value, value == 0)).collect(),
                    None => vec![after],
                }
            }
            // Its result is a pair; whether it took place stands for it.
            Operation::CompareExchange { .. } if self.tries(id, at, &after) => vec![path(1, true), path(0, false)],
            _ => vec![after],
        }
    }

    /// Returns the values that a cell can have, if all are known.
    fn values(&self, cell: CellId, state: &State) -> Option<BTreeSet<i64>> {
        if let Some(&value) = state.cells.get(&cell) {
            return Some(BTreeSet::from([value]));
        }
        match &self.invariants.cell(cell).values {
            ConstantSet::Some(values) if !self.cells.get(cell).thread_local => Some(values.clone()),
            _ => None,
        }
    }

    /// Returns true if an instruction may write a variable that is used as a lock.
    pub(super) fn may_lock(&self, instruction: &Instruction) -> bool {
        let writes = matches!(
            instruction.operation,
            Operation::Store { .. } | Operation::Update { .. } | Operation::CompareExchange { .. }
        );
        writes && !self.cells.all.is_empty()
    }

    /// Handles a store, or another instruction that writes.
    pub(super) fn write(&mut self, id: InstanceId, at: u32, write: &Instruction, state: &mut State) {
        let value =
            |index: usize| write.operands.get(index).and_then(|operand: &Operand| self.known(id, operand, state));
        let (address, value, how, order) = match &write.operation {
            Operation::Store { order, .. } => (1, value(0), WriteKind::Store, *order),
            Operation::Update { operator: UpdateOperator::Exchange, order, .. } => {
                (0, value(1), WriteKind::Exchange, Some(*order))
            }
            Operation::Update { order, .. } => (0, None, WriteKind::Other, Some(*order)),
            Operation::CompareExchange { success, .. } => match value(1) {
                Some(0) => (0, value(2), WriteKind::IfZero, Some(*success)),
                Some(_) => (0, value(2), WriteKind::IfSet, Some(*success)),
                None => (0, value(2), WriteKind::Other, Some(*success)),
            },
            _ => return,
        };
        let Some(cell) = write.operands.get(address).and_then(|address| self.cells.find(self.points_to, id, address))
        else {
            return;
        };
        let thread = self.thread(id);
        self.invariants.may_be(cell, value);
        if !self.cells.get(cell).thread_local {
            self.write_counter(id, at, write, cell, state);
            let is_alone = self.is_alone(thread, state);
            if !is_alone {
                let guards = |lock: &&HeldLock| !lock.shared && !matches!(lock.id, LockId::Relative(_));
                let exclusive = held(state).filter(guards);
                self.invariants.written_under(cell, exclusive.map(|lock| lock.id.clone()).collect());
            }
            let is_released = is_alone || order.is_some_and(releases);
            let shows = is_released || self.is_guarded(cell, state);
            self.write_flag(thread, cell, value, how, (is_alone, is_released), state);
            self.write_lock((id, at), cell, value, how, (shows, order.is_some_and(acquires)), state);
        }
        match value {
            Some(value)
                if matches!(how, WriteKind::Store | WriteKind::Exchange) && self.is_mine(thread, cell, state) =>
            {
                state.cells.insert(cell, value);
            }
            _ => {
                state.cells.remove(&cell);
            }
        }
    }

    /// Handles a write for threads that wait until a cell is nonzero.
    fn write_flag(
        &mut self,
        thread: ThreadId,
        cell: CellId,
        value: Option<i64>,
        how: WriteKind,
        (is_alone, is_released): (bool, bool),
        state: &mut State,
    ) {
        let event = SyncEvent::Set(cell);
        if value != Some(0) {
            self.invariants.made(event.clone(), thread);
            state.done.insert(event.clone());
            if !is_released {
                self.invariants.refute(cell, |invariant| &mut invariant.is_released);
            }
        }
        match value {
            Some(0) if state.cells.get(&cell) == Some(&0) => {}
            Some(0) | None if is_alone => {
                state.seen.remove(&event);
            }
            Some(0) | None => self.invariants.refute(cell, |invariant| &mut invariant.is_flag),
            Some(_) if matches!(how, WriteKind::Store | WriteKind::Exchange) => {
                state.seen.insert(event);
            }
            Some(_) => {}
        }
    }

    /// Handles locks that may be released without being definitely held: the next owner may find any value.
    pub(crate) fn given_back(&mut self, id: InstanceId, state: &State, is_it: impl Fn(&LockId) -> bool) {
        if self.is_alone(self.thread(id), state) {
            return;
        }
        for cell in self.cells.ids() {
            let Guard::Locks(locks) = self.invariants.cell(cell).guard.clone() else { continue };
            for key in locks.0 {
                if is_it(&key) && !held(state).any(|lock| lock.id == key) {
                    self.invariants.may_rest_at(cell, &key, None);
                }
            }
        }
    }

    /// Returns the effect on memory of a change in held locks or running threads.
    pub(crate) fn after_change(&mut self, id: InstanceId, before: &State, mut state: State) -> Vec<State> {
        if self.cells.all.is_empty() {
            return vec![state];
        }
        let thread = self.thread(id);
        let keys = |state: &State| held(state).map(|lock| lock.id.clone()).collect::<BTreeSet<LockId>>();
        let (old, new) = (keys(before), keys(&state));
        let is_alone = self.is_alone(thread, &state);
        let others_begin = before.may_be_alone && !state.may_be_alone;
        if !others_begin && old == new {
            self.refresh(id, &mut state);
            return vec![state];
        }
        let shared: Vec<CellId> = self.cells.ids().filter(|&cell| !self.cells.get(cell).thread_local).collect();
        for &cell in &shared {
            let value = before.cells.get(&cell).copied();
            if others_begin {
                self.invariants.may_start_at(cell, value);
            }
            if let Guard::Locks(locks) = &self.invariants.cell(cell).guard
                && !is_alone
            {
                let given_back: Vec<LockId> =
                    locks.iter().filter(|key| old.contains(key) && !new.contains(key)).cloned().collect();
                given_back.iter().for_each(|key| self.invariants.may_rest_at(cell, key, value));
            }
        }
        let mut paths = vec![state];
        if !is_alone {
            for &cell in &shared {
                let Guard::Locks(locks) = &self.invariants.cell(cell).guard else { continue };
                let Some(taken) = locks.iter().find(|key| new.contains(key) && !old.contains(key)) else { continue };
                if self.is_mine(thread, cell, before) {
                    continue;
                }
                match &self.invariants.found_under(cell, taken) {
                    ConstantSet::Some(rest) if paths.len() * rest.len() <= MOST_FOUND => {
                        let find = |path: State| {
                            rest.iter().map(move |&value| {
                                let mut found = path.clone();
                                found.cells.insert(cell, value);
                                found
                            })
                        };
                        paths = paths.into_iter().flat_map(find).collect();
                    }
                    _ => paths.iter_mut().for_each(|path| {
                        path.cells.remove(&cell);
                    }),
                }
            }
        }
        for path in &mut paths {
            self.refresh(id, path);
        }
        paths
    }
}

pub(crate) fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
}

pub(crate) fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
}
