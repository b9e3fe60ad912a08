//! The variables of an execution, by names that mean the same in other executions.
//!
//! After S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs",
//! 2013: a global is named by its address, a heap block by its allocation site, the callers, and how often that had
//! happened before. Heap and stack addresses depend on the schedule; these names do not, as long as each thread does the
//! same.

use crate::{Execution, Objects};
use racehunter_log::{Address, CodeAddress, Entry, Event, EventNumber, FamilyTree, ThreadId, ThreadPath};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// The object of an event: memory, by the start of the access, or a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// At a fixed address: a global, or anything not known to be something else.
    Fixed(Address),
    /// In a heap block. Only if the log contains allocations, see [`crate::Plan::allocations`].
    Heap {
        /// The call of the allocator.
        code: CodeAddress,
        /// A hash of the thread and the callers.
        caller: u64,
        /// How often the same thread had called it from there before: the loop iteration.
        iteration: u32,
        /// The offset in the block.
        offset: u64,
    },
    /// On the stack of a thread. Only if the log contains allocations.
    Stack {
        /// The thread.
        path: ThreadPath,
        /// The offset from the start of the stack.
        offset: u64,
    },
    /// The object that a file descriptor refers to.
    File(u64),
}

/// A variable as recognised while a program runs: all blocks from the same allocation site are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tracked {
    /// An address, as in [`Event::variable`].
    At(Address),
    /// Heap blocks, by their allocation site.
    AllocatedAt(CodeAddress),
}

/// Reads a log from its start, and knows the variable of each event.
#[derive(Default)]
pub struct Variables {
    /// Blocks by their first address: their size, and the variable of their start.
    blocks: BTreeMap<Address, (u64, Variable)>,
    /// How often a thread has called the allocator from a place.
    calls: FxHashMap<u64, u32>,
    family: FamilyTree,
    recent: Recent,
}

/// A cache of recently used addresses: loops return to the same ones.
#[derive(Default)]
struct Recent(Vec<Option<(Address, Variable)>>);

impl Recent {
    /// Maximum number of cached addresses.
    const MOST: usize = 1024;

    /// Returns the slot of an address. Addresses in one word share a slot.
    fn place(address: Address) -> usize {
        (address.0 / 8) as usize % Self::MOST
    }

    fn get(&self, address: Address) -> Option<Variable> {
        let known = self.0.get(Self::place(address)).copied().flatten();
        known.filter(|(at, _)| *at == address).map(|(_, variable)| variable)
    }

    fn put(&mut self, address: Address, variable: Variable) {
        if self.0.is_empty() {
            self.0.resize(Self::MOST, None);
        }
        self.0[Self::place(address)] = Some((address, variable));
    }

    /// Drops a range whose contents may have changed.
    fn forget(&mut self, from: Address, to: Address) {
        let words = (to.0 / 8).saturating_sub(from.0 / 8).saturating_add(1);
        if words >= Self::MOST as u64 {
            self.0.clear();
        } else if !self.0.is_empty() {
            (0..words).for_each(|word| self.0[Self::place(Address(from.0.wrapping_add(8 * word)))] = None);
        }
    }
}

impl Variables {
    /// Returns the variable of an entry, if it is an operation on one. Must be called with every entry, in order. Threads,
    /// time and signals are not variables.
    pub fn note(&mut self, execution: &Execution, entry: Entry<'_>) -> Option<Variable> {
        if let Some(access) = entry.access() {
            return Some(self.at(access.address));
        }
        let event = entry.event();
        self.family.note_event(entry.thread(), &event);
        match event {
            Event::Allocated { block, size, is_stack } => {
                self.allocate(execution, entry, block, size, is_stack);
                None
            }
            Event::Io { .. } | Event::State { .. } => event.variable().map(|channel| Variable::File(channel.0)),
            _ => event.variable().map(|object| self.at(object)),
        }
    }

    fn at(&mut self, address: Address) -> Variable {
        if let Some(variable) = self.recent.get(address) {
            return variable;
        }
        let variable = self.find(address);
        self.recent.put(address, variable);
        variable
    }

    fn find(&self, address: Address) -> Variable {
        let block = self.blocks.range(..=address).next_back();
        let inside = block.filter(|&(&start, &(size, _))| address.0 - start.0 < size);
        match inside {
            Some((start, (_, Variable::Heap { code, caller, iteration, .. }))) => {
                Variable::Heap { code: *code, caller: *caller, iteration: *iteration, offset: address.0 - start.0 }
            }
            Some((start, (_, Variable::Stack { path, .. }))) => {
                Variable::Stack { path: *path, offset: address.0 - start.0 }
            }
            _ => Variable::Fixed(address),
        }
    }

    /// Returns the identity of a thread, which does not depend on the schedule.
    #[must_use]
    pub fn path(&self, thread: ThreadId) -> ThreadPath {
        self.family.path(thread)
    }

    fn allocate(&mut self, execution: &Execution, entry: Entry<'_>, block: Address, size: u64, is_stack: bool) {
        let size = size.max(1);
        let path = self.path(entry.thread());
        let code = entry.code();
        let beginning = if is_stack {
            Variable::Stack { path, offset: 0 }
        } else {
            let mut hasher = FxHasher::default();
            (path, code, execution.callers(entry)).hash(&mut hasher);
            let caller = hasher.finish();
            let calls = self.calls.entry(caller).or_default();
            let iteration = *calls;
            *calls += 1;
            Variable::Heap { code, caller, iteration, offset: 0 }
        };
        // This block replaces all that it overlaps.
        let overlapping: Vec<Address> = self
            .blocks
            .range(..Address(block.0 + size))
            .rev()
            .take_while(|&(&other, &(length, _))| other.0 + length > block.0)
            .map(|(&other, _)| other)
            .collect();
        let (mut from, mut to) = (block, Address(block.0.saturating_add(size)));
        for other in overlapping {
            let length = self.blocks.remove(&other).map_or(0, |(length, _)| length);
            (from, to) = (from.min(other), to.max(Address(other.0.saturating_add(length))));
        }
        self.recent.forget(from, to);
        self.blocks.insert(block, (size, beginning));
    }
}

/// The variable of each thread's last operation, queried in the order of the events.
pub struct LastVariables<'e> {
    execution: &'e Execution,
    variables: Variables,
    /// The first record not read.
    next: usize,
    last: Vec<Option<Variable>>,
    /// The objects that count as one variable each.
    objects: Option<&'e Objects>,
}

impl<'e> LastVariables<'e> {
    /// Starts at the beginning of an execution.
    #[must_use]
    pub fn new(execution: &'e Execution) -> Self {
        Self { execution, variables: Variables::default(), next: 0, last: Vec::new(), objects: None }
    }

    /// The same, counting each of these objects, if any, as one variable.
    #[must_use]
    pub fn of(execution: &'e Execution, objects: Option<&'e Objects>) -> Self {
        Self { objects, ..Self::new(execution) }
    }

    /// Returns the identity of a thread that existed before the last event queried. It does not depend on the schedule.
    #[must_use]
    pub fn path(&self, thread: ThreadId) -> ThreadPath {
        self.variables.path(thread)
    }

    /// Returns the variable of the last point of a thread before event `at`, against which a preemption there counts.
    /// `None` if the thread has only just begun, or its last point concerned threads or time.
    pub fn before(&mut self, at: EventNumber, thread: ThreadId) -> Option<Variable> {
        while let Some(entry) = self.execution.records.get(self.next).map(Entry::of) {
            if entry.is_operation() && entry.number() >= at {
                break;
            }
            self.next += 1;
            let variable = self.variables.note(self.execution, entry);
            if entry.is_operation() && entry.number() != EventNumber::START {
                let index = entry.thread().index();
                if self.last.len() <= index {
                    self.last.resize(index + 1, None);
                }
                self.last[index] = variable;
            }
        }
        let variable = self.last.get(thread.index()).copied().flatten()?;
        Some(self.objects.map_or(variable, |objects| objects.whole(variable)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use racehunter_abi::control::ALLOCATED_STACK;
    use racehunter_abi::{Kind, MAIN_PATH, Record, path_of};

    fn execution(records: Vec<Record>, stacks: Vec<u64>) -> Execution {
        let outcome = Outcome::Exited(0);
        Execution { records, stacks, outcome, events: 0, threads: 2, partial: false, output: Vec::new() }
    }

    fn event(index: u64, thread: u32, kind: Kind, object: u64) -> Record {
        Record { index: EventNumber(index), thread: ThreadId(thread), kind, object, ..Record::default() }
    }

    fn block(thread: u32, object: u64, extra: u64, code: u64, stack: u32) -> Record {
        Record {
            thread: ThreadId(thread),
            object,
            extra,
            code: CodeAddress(code),
            stack,
            kind: Kind::Allocated,
            ..Record::default()
        }
    }

    fn all(records: Vec<Record>, stacks: Vec<u64>) -> Vec<Option<Variable>> {
        let execution = execution(records, stacks);
        let mut variables = Variables::default();
        execution.entries().map(|entry| variables.note(&execution, entry)).collect()
    }

    #[test]
    fn blocks_are_identified_by_callers_and_count_not_by_address() {
        // Two stacks: the allocation, then one caller each.
        let stacks = vec![0, 2, 0, 7, 100, 2, 0, 7, 200];
        let read = |object| event(1, 0, Kind::Read, object);
        let names = |base: u64| {
            all(
                vec![
                    block(0, base, 16, 7, 1),
                    block(0, base + 64, 16, 7, 1),
                    block(0, base + 128, 16, 7, 5),
                    read(base + 4),
                    read(base + 68),
                    read(base + 132),
                    read(base + 16),
                ],
                stacks.clone(),
            )
        };
        let (here, there) = (names(0x1000), names(0x9000));
        assert_eq!(here[3..6], there[3..6]);
        let iteration = |name: &Option<Variable>| match name {
            Some(Variable::Heap { iteration, offset: 4, .. }) => *iteration,
            other => panic!("{other:?}"),
        };
        assert_eq!(here[3..6].iter().map(iteration).collect::<Vec<_>>(), [0, 1, 0]);
        assert_ne!(here[3], here[5], "another caller");
        assert_eq!(here[6], Some(Variable::Fixed(Address(0x1010))), "behind the block");
    }

    #[test]
    fn a_new_block_takes_the_place_of_what_was_there() {
        let read = event(1, 0, Kind::Read, 0x1008);
        let names = all(vec![block(0, 0x1000, 64, 7, 0), read, block(0, 0x1008, 8, 8, 0), read], Vec::new());
        assert!(matches!(names[1], Some(Variable::Heap { code: CodeAddress(7), offset: 8, .. })));
        assert!(matches!(names[3], Some(Variable::Heap { code: CodeAddress(8), offset: 0, .. })));
    }

    #[test]
    fn cached_addresses_are_looked_up_again_after_blocks_change() {
        let read = |object| event(1, 0, Kind::Read, object);
        // The new block replaces a much longer one, so its surroundings no longer belong to any block.
        let (old, new) = (block(0, 0x1000, 0x2000, 7, 0), block(0, 0x1800, 8, 8, 0));
        let places = [0x1000, 0x1804, 0x1808, 0x2ff8];
        let mut records = vec![old];
        records.extend(places.map(read));
        records.push(new);
        records.extend(places.map(read));
        let names = all(records, Vec::new());
        assert!(names[1..5].iter().all(|name| matches!(name, Some(Variable::Heap { code: CodeAddress(7), .. }))));
        let fixed = |object| Some(Variable::Fixed(Address(object)));
        assert!(matches!(names[7], Some(Variable::Heap { code: CodeAddress(8), offset: 4, .. })));
        assert_eq!([names[6], names[8], names[9]], [fixed(0x1000), fixed(0x1808), fixed(0x2ff8)]);
    }

    #[test]
    fn stacks_are_named_by_the_path_of_their_thread() {
        let create = Record { object: 1, kind: Kind::Create, ..Record::default() };
        let stack = Record { detail: ALLOCATED_STACK, thread: ThreadId(1), ..block(1, 0x1000, 64, 0, 0) };
        let names = all(vec![create, stack, event(1, 0, Kind::Write, 0x1010)], Vec::new());
        assert_eq!(names[2], Some(Variable::Stack { path: ThreadPath(path_of(MAIN_PATH, 1)), offset: 16 }));
    }

    #[test]
    fn threads_and_time_are_not_variables() {
        let execution = execution(
            vec![event(1, 0, Kind::Lock, 64), event(2, 0, Kind::Create, 1), event(3, 1, Kind::Read, 8)],
            Vec::new(),
        );
        let mut last = LastVariables::new(&execution);
        assert_eq!(last.before(EventNumber(1), ThreadId(0)), None);
        assert_eq!(last.before(EventNumber(2), ThreadId(0)), Some(Variable::Fixed(Address(64))));
        assert_eq!(last.before(EventNumber(3), ThreadId(0)), None);
        assert_eq!(last.before(EventNumber(3), ThreadId(1)), None);
        assert_eq!(last.before(EventNumber(4), ThreadId(1)), Some(Variable::Fixed(Address(8))));
    }
}
