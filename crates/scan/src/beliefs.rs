//! What is taken to be true of the whole program until control is seen to do otherwise.
//!
//! All of it only ever becomes weaker: sets of values grow, sets of locks shrink. Control is followed again until nothing
//! changes, and then each step of each thread keeps to what was believed in the steps before it, so that it is true.

use crate::cells::{CellId, Cells};
use crate::flow::{Event, Key};
use crate::points_to::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// Values that are told apart; more are any.
const MOST_VALUES: usize = 4;

/// A set of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// These.
    Some(BTreeSet<i64>),
    /// Any.
    Any,
}

impl Default for Values {
    fn default() -> Self {
        Self::Some(BTreeSet::new())
    }
}

impl Values {
    /// Adds a number, or any; whether that is new.
    pub fn add(&mut self, value: Option<i64>) -> bool {
        let Self::Some(known) = self else { return false };
        match value {
            Some(value) if known.contains(&value) => return false,
            Some(value) if known.len() < MOST_VALUES => {
                known.insert(value);
            }
            _ => *self = Self::Any,
        }
        true
    }
}

/// What keeps the writers of a cell apart while several threads are running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is not written then.
    Settled,
    /// Each writer holds all of these.
    Locks(BTreeSet<Key>),
}

/// What is believed of one cell.
#[derive(Clone, Debug)]
pub struct Belief {
    /// All values that it ever has.
    pub values: Values,
    /// Values that it has when there begins to be more than one thread.
    pub start: Values,
    /// Values that it has when a lock of its guard is given back.
    pub rest: BTreeMap<Key, Values>,
    /// What keeps its writers apart.
    pub guard: Guard,
    /// Once it is not zero it stays so, while several threads are running.
    pub is_flag: bool,
    /// Whoever makes it something else than zero shows all that was done before to those who see it.
    pub is_released: bool,
    /// The smallest number by which it is increased while several threads run; zero if it is also changed otherwise.
    pub step: u64,
    /// Whoever changes it from zero is alone until they change it back.
    pub is_lock: bool,
    /// While several threads are running each of them adds one, once, and nothing else changes it.
    pub counts: bool,
    /// They do so in one step that shows all that was done before.
    pub is_added_in_one_step: bool,
}

/// What is believed of a semaphore.
#[derive(Clone, Debug, Default)]
pub struct Semaphore {
    /// Places that set its first value, and that value.
    pub begins: BTreeMap<(u32, u32), Option<i64>>,
    /// Something was done with it that the rest does not cover.
    pub is_odd: bool,
    /// It was raised by someone who did not hold it.
    pub is_no_lock: bool,
}

impl Semaphore {
    /// Whether its first value is, or may still turn out to be, this one.
    pub fn begins_with(&self, value: i64) -> bool {
        !self.is_odd && self.begins.len() < 2 && self.begins.values().all(|begin| *begin == Some(value))
    }
}

/// What is believed of a barrier.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    /// Places that say how many threads it is for, and what they say.
    pub begins: BTreeMap<(u32, u32), Option<i64>>,
    /// It may be made anew while it is in use.
    pub is_odd: bool,
    /// Who waits at it.
    pub threads: BTreeSet<ThreadId>,
}

impl Barrier {
    /// How many threads it is for.
    pub fn count(&self) -> Option<u64> {
        let mut begins = self.begins.values();
        let count = begins.next().copied().flatten().filter(|_| !self.is_odd && begins.next().is_none())?;
        u64::try_from(count).ok()
    }
}

/// All beliefs.
#[derive(Clone, Debug, Default)]
pub struct Beliefs {
    cells: Vec<Belief>,
    keys: Vec<Key>,
    /// Semaphores, by their addresses.
    pub semaphores: BTreeMap<Key, Semaphore>,
    /// A semaphore whose address is not known was raised.
    pub any_semaphore: bool,
    /// Barriers, by their addresses.
    pub barriers: BTreeMap<Key, Barrier>,
    /// Somebody waits at a barrier whose address is not known.
    pub any_barrier: bool,
    /// Threads that make an event happen.
    pub makers: BTreeMap<Event, BTreeSet<ThreadId>>,
    changed: bool,
}

impl Beliefs {
    /// What is believed at first.
    pub fn of(cells: &Cells) -> Self {
        let belief = |initial: Option<i64>| {
            let mut values = Values::default();
            values.add(initial);
            Belief {
                values,
                start: Values::default(),
                rest: BTreeMap::new(),
                guard: Guard::Settled,
                is_flag: initial == Some(0),
                is_released: true,
                is_lock: initial == Some(0),
                counts: true,
                is_added_in_one_step: true,
                step: u64::MAX,
            }
        };
        Self {
            cells: cells.all.iter().map(|cell| belief(cell.initial)).collect(),
            keys: cells.all.iter().map(|cell| Key::Flag(cell.base, cell.at)).collect(),
            ..Self::default()
        }
    }

    /// What is believed of a cell.
    pub fn cell(&self, cell: CellId) -> &Belief {
        &self.cells[cell.0 as usize]
    }

    /// The cell may have this value.
    pub fn may_be(&mut self, cell: CellId, value: Option<i64>) {
        self.changed |= self.cells[cell.0 as usize].values.add(value);
    }

    /// The cell may have this value when there begins to be more than one thread.
    pub fn may_start_at(&mut self, cell: CellId, value: Option<i64>) {
        self.changed |= self.cells[cell.0 as usize].start.add(value);
    }

    /// The cell may have this value when a lock is given back.
    pub fn may_rest_at(&mut self, cell: CellId, key: &Key, value: Option<i64>) {
        self.changed |= self.cells[cell.0 as usize].rest.entry(key.clone()).or_default().add(value);
    }

    /// What may be found in a cell by whoever takes a lock of its guard.
    pub fn found_under(&self, cell: CellId, key: &Key) -> Values {
        let belief = self.cell(cell);
        let mut all = belief.start.clone();
        match belief.rest.get(key) {
            Some(Values::Some(rest)) => rest.iter().for_each(|&value| {
                all.add(Some(value));
            }),
            Some(Values::Any) => all = Values::Any,
            None => {}
        }
        all
    }

    /// The cell as a lock.
    pub fn key(&self, cell: CellId) -> &Key {
        &self.keys[cell.0 as usize]
    }

    /// The cell is written by someone who holds these.
    pub fn written_under(&mut self, cell: CellId, locks: BTreeSet<Key>) {
        let guard = &mut self.cells[cell.0 as usize].guard;
        let next = match &*guard {
            Guard::Settled => locks,
            Guard::Locks(known) => known.intersection(&locks).cloned().collect(),
        };
        let next = Guard::Locks(next);
        self.changed |= *guard != next;
        *guard = next;
    }

    /// The cell is increased, or changed otherwise if that is zero.
    pub fn increased(&mut self, cell: CellId, step: u64) {
        let known = &mut self.cells[cell.0 as usize].step;
        self.changed |= step < *known;
        *known = step.min(*known);
    }

    /// The smallest number by which a cell is increased; zero if it is also changed otherwise.
    pub fn step(&self, cell: CellId) -> u64 {
        self.cell(cell).step
    }

    /// Changes one of the things that are believed of a cell.
    pub fn no_longer(&mut self, cell: CellId, which: impl Fn(&mut Belief) -> &mut bool) {
        self.changed |= std::mem::replace(which(&mut self.cells[cell.0 as usize]), false);
    }

    /// A thread makes an event happen.
    pub fn made(&mut self, event: Event, thread: ThreadId) {
        self.changed |= self.makers.entry(event).or_default().insert(thread);
    }

    /// Changes what is believed of a semaphore.
    pub fn semaphore(&mut self, key: &Key, change: impl FnOnce(&mut Semaphore)) {
        let known = self.semaphores.entry(key.clone()).or_default();
        let before = (known.begins.len(), known.is_odd, known.is_no_lock);
        change(known);
        self.changed |= before != (known.begins.len(), known.is_odd, known.is_no_lock);
    }

    /// Nothing is known about semaphores any more.
    pub fn raised_unknown(&mut self) {
        self.changed |= !std::mem::replace(&mut self.any_semaphore, true);
    }

    /// Changes what is believed of a barrier.
    pub fn barrier(&mut self, key: &Key, change: impl FnOnce(&mut Barrier)) {
        let known = self.barriers.entry(key.clone()).or_default();
        let before = (known.begins.len(), known.is_odd, known.threads.len());
        change(known);
        self.changed |= before != (known.begins.len(), known.is_odd, known.threads.len());
    }

    /// Nothing is known about barriers any more.
    pub fn unknown_barrier(&mut self) {
        self.changed |= !std::mem::replace(&mut self.any_barrier, true);
    }

    /// What was never given a first value has none; whether anything has changed since the last time.
    pub fn settle(&mut self) -> bool {
        for known in self.semaphores.values_mut() {
            if known.begins.is_empty() && !known.is_odd {
                known.is_odd = true;
                self.changed = true;
            }
        }
        std::mem::take(&mut self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::BaseId;
    use crate::cells::Cell;

    #[test]
    fn sets_of_values_grow_until_they_are_any() {
        let mut values = Values::default();
        assert!(values.add(Some(1)) && !values.add(Some(1)));
        for value in 2..=MOST_VALUES as i64 {
            assert!(values.add(Some(value)));
        }
        assert_ne!(values, Values::Any);
        assert!(values.add(Some(99)) && values == Values::Any && !values.add(None));
    }

    #[test]
    fn a_guard_is_what_all_writers_hold() {
        let cell = Cell { base: BaseId(1), at: 0, bytes: 4, initial: Some(0), thread_local: false };
        let mut cells = Cells::default();
        cells.all.push(cell);
        let mut beliefs = Beliefs::of(&cells);
        let key = |at| Key::At(BaseId(0), at);
        beliefs.written_under(CellId(0), BTreeSet::from([key(0), key(8)]));
        assert!(beliefs.settle());
        beliefs.written_under(CellId(0), BTreeSet::from([key(8)]));
        assert_eq!(beliefs.cell(CellId(0)).guard, Guard::Locks(BTreeSet::from([key(8)])));
        assert!(beliefs.settle() && !beliefs.settle());
    }

    #[test]
    fn what_is_found_under_a_lock_is_what_was_left_under_it() {
        let cell = Cell { base: BaseId(1), at: 0, bytes: 4, initial: Some(0), thread_local: false };
        let mut cells = Cells::default();
        cells.all.push(cell);
        let mut beliefs = Beliefs::of(&cells);
        let (one, other) = (Key::At(BaseId(0), 0), Key::At(BaseId(0), 8));
        beliefs.may_start_at(CellId(0), Some(5));
        beliefs.may_rest_at(CellId(0), &one, Some(6));
        assert_eq!(beliefs.found_under(CellId(0), &one), Values::Some(BTreeSet::from([5, 6])));
        assert_eq!(beliefs.found_under(CellId(0), &other), Values::Some(BTreeSet::from([5])));
        beliefs.may_rest_at(CellId(0), &one, None);
        assert_eq!(beliefs.found_under(CellId(0), &one), Values::Any);
    }

    #[test]
    fn a_semaphore_without_a_first_value_is_odd() {
        let mut beliefs = Beliefs::default();
        beliefs.semaphore(&Key::Atomic, |_| {});
        assert!(beliefs.semaphores[&Key::Atomic].begins_with(1));
        assert!(beliefs.settle() && !beliefs.semaphores[&Key::Atomic].begins_with(1));
    }
}
