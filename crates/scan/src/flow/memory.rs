//! Values in memory: what a thread knows of the cells that nobody else can change just now, what it sees in the others,
//! and cells that are used as locks.
//!
//! A fact about a cell is kept only while it is valid: the thread is the only one there is, the cell is written by nobody
//! while threads run, or the thread holds a lock that all writers hold. When such a lock is given back, the value at that
//! moment is one that others may find when they get it.

use super::facts::fits;
use super::{Event, Follower, Held, Key, State};
use crate::beliefs::{Guard, Values};
use crate::cells::CellId;
use crate::points_to::{InstanceId, MAIN, ThreadId};
use racehunter_ir::{Instruction, Order, UpdateOperator};
use racehunter_ir::{Operand, Operation};
use std::collections::BTreeSet;

/// Ways that are told apart by the values that are found when a lock is taken.
const MOST_FOUND: usize = 4;

/// How a cell is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    /// By a store.
    Store,
    /// By an exchange, which tells what was there.
    Exchange,
    /// If it was zero.
    IfZero,
    /// If it was something else than zero.
    IfSet,
    /// By anything else.
    Other,
}

impl Follower<'_, '_> {
    /// Whether no other thread can be running.
    pub(super) fn is_alone(&self, thread: ThreadId, state: &State) -> bool {
        thread == MAIN && state.active.is_empty()
    }

    fn thread(&self, id: InstanceId) -> ThreadId {
        self.points_to.instances[id.0 as usize].thread
    }

    /// What is known of memory when a thread begins.
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

    /// Whether nobody else can change a cell now.
    fn is_mine(&self, thread: ThreadId, cell: CellId, state: &State) -> bool {
        self.cells.get(cell).thread_local
            || self.is_alone(thread, state)
            || self.beliefs.cell(cell).guard == Guard::Settled
            || self.is_guarded(cell, state)
    }

    /// Whether a lock is held that all who write a cell hold.
    pub(super) fn is_guarded(&self, cell: CellId, state: &State) -> bool {
        match &self.beliefs.cell(cell).guard {
            Guard::Settled => false,
            Guard::Locks(locks) => held(state).any(|lock| locks.contains(&lock.key)),
        }
    }

    /// Forgets what may not be true any more.
    pub(super) fn refresh(&self, id: InstanceId, state: &mut State) {
        let thread = self.thread(id);
        state.may_be_alone |= !self.cells.all.is_empty() && self.is_alone(thread, state);
        if !state.cells.is_empty() {
            let mine: BTreeSet<CellId> =
                state.cells.keys().copied().filter(|&cell| self.is_mine(thread, cell, state)).collect();
            state.cells.retain(|cell, _| mine.contains(cell));
        }
        if !state.current.is_empty() {
            let mine: BTreeSet<CellId> =
                state.current.keys().copied().filter(|&cell| self.is_mine(thread, cell, state)).collect();
            state.current.retain(|cell, _| mine.contains(cell));
        }
    }

    /// A load, with a way for each value that it can find.
    pub(super) fn load(&mut self, id: InstanceId, at: u32, load: &Instruction, mut state: State) -> Vec<State> {
        self.know(id, at, load, &mut state);
        self.name_ticket(id, at, load, &mut state);
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
        let belief = self.beliefs.cell(cell);
        let values = match state.cells.get(&cell) {
            Some(&value) => Values::Some(BTreeSet::from([value])),
            None if self.cells.get(cell).thread_local => Values::Any,
            None if belief.guard == Guard::Settled && !self.is_alone(thread, &state) => belief.start.clone(),
            None => belief.values.clone(),
        };
        let Values::Some(values) = values else { return vec![state] };
        if !values.iter().all(|&value| fits(value, load.ty)) {
            return vec![state];
        }
        let sees_all = self.is_guarded(cell, &state) || (belief.is_released && order.is_some_and(acquires));
        let is_mine = self.is_mine(thread, cell, &state);
        let one = |value: i64| {
            let mut found = state.clone();
            found.facts.insert((id, at), value);
            if is_mine {
                found.cells.insert(cell, value);
            }
            if value != 0 && belief.is_flag && sees_all {
                found.seen.insert(Event::Set(cell));
            }
            found
        };
        values.into_iter().map(one).collect()
    }

    /// Whether an instruction may write a variable that is used as a lock.
    pub(super) fn may_lock(&self, instruction: &Instruction) -> bool {
        let writes = matches!(
            instruction.operation,
            Operation::Store { .. } | Operation::Update { .. } | Operation::CompareExchange { .. }
        );
        writes && !self.cells.all.is_empty()
    }

    /// A store, or another instruction that writes.
    pub(super) fn write(&mut self, id: InstanceId, at: u32, write: &Instruction, state: &mut State) {
        let value =
            |index: usize| write.operands.get(index).and_then(|operand: &Operand| self.known(id, operand, state));
        let (address, value, how, order) = match &write.operation {
            Operation::Store { order, .. } => (1, value(0), Write::Store, *order),
            Operation::Update { operator: UpdateOperator::Exchange, order, .. } => {
                (0, value(1), Write::Exchange, Some(*order))
            }
            Operation::Update { order, .. } => (0, None, Write::Other, Some(*order)),
            Operation::CompareExchange { success, .. } => match value(1) {
                Some(0) => (0, value(2), Write::IfZero, Some(*success)),
                Some(_) => (0, value(2), Write::IfSet, Some(*success)),
                None => (0, value(2), Write::Other, Some(*success)),
            },
            _ => return,
        };
        let Some(cell) = write.operands.get(address).and_then(|address| self.cells.find(self.points_to, id, address))
        else {
            return;
        };
        let thread = self.thread(id);
        self.beliefs.may_be(cell, value);
        if !self.cells.get(cell).thread_local {
            self.write_counter(id, at, write, cell, state);
            let is_alone = self.is_alone(thread, state);
            if !is_alone {
                let guards = |lock: &&Held| !lock.shared && !matches!(lock.key, Key::Relative(_));
                let exclusive = held(state).filter(guards);
                self.beliefs.written_under(cell, exclusive.map(|lock| lock.key.clone()).collect());
            }
            let is_released = is_alone || order.is_some_and(releases);
            let shows = is_released || self.is_guarded(cell, state);
            self.write_flag(thread, cell, value, how, (is_alone, is_released), state);
            self.write_lock((id, at), cell, value, how, (shows, order.is_some_and(acquires)), state);
        }
        match value {
            Some(value) if matches!(how, Write::Store | Write::Exchange) && self.is_mine(thread, cell, state) => {
                state.cells.insert(cell, value);
            }
            _ => {
                state.cells.remove(&cell);
            }
        }
    }

    /// What a write means for those who wait until a cell is not zero.
    fn write_flag(
        &mut self,
        thread: ThreadId,
        cell: CellId,
        value: Option<i64>,
        how: Write,
        (is_alone, is_released): (bool, bool),
        state: &mut State,
    ) {
        let event = Event::Set(cell);
        if value != Some(0) {
            self.beliefs.made(event.clone(), thread);
            state.done.insert(event.clone());
            if !is_released {
                self.beliefs.no_longer(cell, |belief| &mut belief.is_released);
            }
        }
        match value {
            Some(0) if state.cells.get(&cell) == Some(&0) => {}
            Some(0) | None if is_alone => {
                state.seen.remove(&event);
            }
            Some(0) | None => self.beliefs.no_longer(cell, |belief| &mut belief.is_flag),
            Some(_) if matches!(how, Write::Store | Write::Exchange) => {
                state.seen.insert(event);
            }
            Some(_) => {}
        }
    }

    /// What a write means for a cell that is used as a lock.
    fn write_lock(
        &mut self,
        name: (InstanceId, u32),
        cell: CellId,
        value: Option<i64>,
        how: Write,
        (shows, sees): (bool, bool),
        state: &mut State,
    ) {
        let key = self.beliefs.key(cell).clone();
        let was_zero = state.cells.get(&cell) == Some(&0);
        let has = held(state).any(|lock| lock.key == key);
        let take = |if_zero| Held { key: key.clone(), shared: false, if_zero };
        let keeps_to_it = match (value, how) {
            (Some(0), _) if was_zero && !has => true,
            (Some(0), Write::Store | Write::Exchange) => {
                state.locks.retain(|lock| lock.key != key);
                has && shows
            }
            (Some(_), Write::Store) if was_zero => {
                state.locks.insert(take(None));
                true
            }
            (Some(_), Write::Store) => has,
            (Some(1..) | Some(..=-1), Write::Exchange | Write::IfZero) => {
                state.locks.insert(take(Some(name)));
                sees
            }
            (Some(1..) | Some(..=-1), Write::IfSet) => true,
            _ => false,
        };
        if !keeps_to_it {
            self.beliefs.no_longer(cell, |belief| &mut belief.is_lock);
        }
        if !self.beliefs.cell(cell).is_lock {
            state.locks.retain(|lock| lock.key != key);
        }
    }

    /// Locks may be given back that are not surely held: whoever gets them may find anything.
    pub(super) fn given_back(&mut self, id: InstanceId, state: &State, is_it: impl Fn(&Key) -> bool) {
        if self.is_alone(self.thread(id), state) {
            return;
        }
        for cell in self.cells.ids() {
            let Guard::Locks(locks) = self.beliefs.cell(cell).guard.clone() else { continue };
            for key in locks {
                if is_it(&key) && !held(state).any(|lock| lock.key == key) {
                    self.beliefs.may_rest_at(cell, &key, None);
                }
            }
        }
    }

    /// What follows for memory from a change of the locks that are held, or of the threads that are running.
    pub(super) fn after_change(&mut self, id: InstanceId, before: &State, mut state: State) -> Vec<State> {
        if self.cells.all.is_empty() {
            return vec![state];
        }
        let thread = self.thread(id);
        let keys = |state: &State| held(state).map(|lock| lock.key.clone()).collect::<BTreeSet<Key>>();
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
                self.beliefs.may_start_at(cell, value);
            }
            if let Guard::Locks(locks) = &self.beliefs.cell(cell).guard
                && !is_alone
            {
                let given_back: Vec<Key> =
                    locks.iter().filter(|key| old.contains(key) && !new.contains(key)).cloned().collect();
                given_back.iter().for_each(|key| self.beliefs.may_rest_at(cell, key, value));
            }
        }
        let mut ways = vec![state];
        if !is_alone {
            for &cell in &shared {
                let Guard::Locks(locks) = &self.beliefs.cell(cell).guard else { continue };
                let Some(taken) = locks.iter().find(|key| new.contains(key) && !old.contains(key)) else { continue };
                if self.is_mine(thread, cell, before) {
                    continue;
                }
                match &self.beliefs.found_under(cell, taken) {
                    Values::Some(rest) if ways.len() * rest.len() <= MOST_FOUND => {
                        let find = |way: State| {
                            rest.iter().map(move |&value| {
                                let mut found = way.clone();
                                found.cells.insert(cell, value);
                                found
                            })
                        };
                        ways = ways.into_iter().flat_map(find).collect();
                    }
                    _ => ways.iter_mut().for_each(|way| {
                        way.cells.remove(&cell);
                    }),
                }
            }
        }
        for way in &mut ways {
            self.refresh(id, way);
        }
        ways
    }
}

/// Locks that are surely held.
pub fn held(state: &State) -> impl Iterator<Item = &Held> {
    state.locks.iter().filter(|lock| lock.if_zero.is_none())
}

pub(super) fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
}

pub(super) fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
}
