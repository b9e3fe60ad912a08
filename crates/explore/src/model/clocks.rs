//! Happens-before by vector clocks, in the most direct form.

use super::state::Operation;
use racehunter_log::{Event, RaceAccess, RaceSide, Record, ThreadId, VectorClock};
use std::collections::{HashMap, HashSet};

/// Something that carries order from one thread to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Carrier {
    /// A synchronisation object or atomic variable, by its address.
    Object(u64),
    /// The end of a thread.
    End(u32),
    /// The signal to a thread.
    Signal(u32),
}

#[derive(Clone, Debug)]
struct PastAccess {
    operation: Operation,
    time: u32,
}

/// The order and the past accesses of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    threads: HashMap<u32, VectorClock>,
    carriers: HashMap<Carrier, VectorClock>,
    accesses: HashMap<u64, Vec<PastAccess>>,
    /// The races: the earlier and the later access, each pair of places once.
    pub races: Vec<(Operation, Operation)>,
    places: HashSet<(u64, u64)>,
}

impl Clocks {
    fn clock(&mut self, thread: u32) -> &mut VectorClock {
        self.threads.entry(thread).or_insert_with(|| {
            let mut clock = VectorClock::default();
            clock.increment(ThreadId(thread));
            clock
        })
    }

    /// Orders `child` after everything that `parent` did so far.
    pub fn create(&mut self, parent: u32, child: u32) {
        let known = self.clock(parent).clone();
        self.clock(child).join(&known);
        self.tick(parent);
    }

    /// Orders what `thread` did so far before what other threads do after they acquire from the carrier.
    pub fn release(&mut self, thread: u32, carrier: Carrier) {
        let known = self.clock(thread).clone();
        self.carriers.entry(carrier).or_default().join(&known);
        self.tick(thread);
    }

    /// Orders `thread` after everything released to the carrier.
    pub fn acquire(&mut self, thread: u32, carrier: Carrier) {
        let known = self.carriers.get(&carrier).cloned().unwrap_or_default();
        self.clock(thread).join(&known);
    }

    fn tick(&mut self, thread: u32) {
        self.clock(thread).increment(ThreadId(thread));
    }

    /// Compares an access with all earlier ones to the same variable.
    pub fn access(&mut self, operation: Operation) {
        let Some(access) = operation.event.access() else { return };
        let thread = operation.thread();
        let clock = self.clock(thread).clone();
        let earlier = self.accesses.entry(operation.object()).or_default();
        for past in earlier.iter() {
            let Some(past_access) = past.operation.event.access() else { continue };
            let conflict = past_access.mode.writes() || access.mode.writes();
            let both_atomic = past_access.mode.is_atomic() && access.mode.is_atomic();
            let ordered = clock.includes(past.operation.at.thread, past.time);
            if past.operation.thread() != thread && conflict && !both_atomic && !ordered {
                let (a, b) = (past.operation.code(), operation.code());
                if self.places.insert((a.min(b), a.max(b))) {
                    self.races.push((past.operation, operation));
                }
            }
        }
        let time = clock.get(ThreadId(thread)).max(1);
        // A later access from the same place by the same thread races with everything that the earlier one races with.
        earlier.retain(|past| (past.operation.thread(), past.operation.code()) != (thread, operation.code()));
        earlier.push(PastAccess { operation, time });
    }
}

/// Returns the two records that report a race.
pub(super) fn race_records(first: &Operation, second: &Operation) -> [Record; 2] {
    let side = |operation: &Operation| {
        let access = operation.event.access();
        RaceSide {
            access: access.map_or(RaceAccess::Unknown, |access| RaceAccess::Access(access.mode)),
            address: operation.event.variable().unwrap_or_default(),
            size: access.map_or(0, |access| access.size as u8),
            block_size: 0,
        }
    };
    [Event::RaceFirst(side(first)).record(first.at), Event::RaceSecond(side(second)).record(second.at)]
}
