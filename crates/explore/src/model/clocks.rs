//! Happens-before by vector clocks, in the most direct way.

use crate::{Kind, Record};
use std::collections::{HashMap, HashSet};

type Clock = HashMap<u32, u64>;

fn join(into: &mut Clock, from: &Clock) {
    for (&thread, &time) in from {
        let entry = into.entry(thread).or_insert(0);
        *entry = time.max(*entry);
    }
}

/// What carries order from one thread to another.
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
struct Access {
    record: Record,
    time: u64,
}

/// Order and past accesses of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    threads: HashMap<u32, Clock>,
    carriers: HashMap<Carrier, Clock>,
    accesses: HashMap<u64, Vec<Access>>,
    /// Races: the earlier and the later access, each pair of places once.
    pub races: Vec<(Record, Record)>,
    places: HashSet<(u64, u64)>,
}

impl Clocks {
    fn clock(&mut self, thread: u32) -> &mut Clock {
        self.threads.entry(thread).or_insert_with(|| Clock::from([(thread, 1)]))
    }

    /// `child` begins after everything that `parent` did so far.
    pub fn create(&mut self, parent: u32, child: u32) {
        let known = self.clock(parent).clone();
        join(self.clock(child), &known);
        self.tick(parent);
    }

    /// What `thread` did so far is before whoever acquires from the carrier later.
    pub fn release(&mut self, thread: u32, carrier: Carrier) {
        let known = self.clock(thread).clone();
        join(self.carriers.entry(carrier).or_default(), &known);
        self.tick(thread);
    }

    /// `thread` goes on after everything that was released to the carrier.
    pub fn acquire(&mut self, thread: u32, carrier: Carrier) {
        let known = self.carriers.get(&carrier).cloned().unwrap_or_default();
        join(self.clock(thread), &known);
    }

    fn tick(&mut self, thread: u32) {
        *self.clock(thread).entry(thread).or_insert(0) += 1;
    }

    /// An access happens: compares it with all earlier ones to the same variable.
    pub fn access(&mut self, record: Record) {
        let clock = self.clock(record.thread).clone();
        let earlier = self.accesses.entry(record.object).or_default();
        for past in earlier.iter() {
            let conflict = past.record.kind.is_write() || record.kind.is_write();
            let both_atomic = past.record.kind.is_atomic() && record.kind.is_atomic();
            let ordered = past.time <= clock.get(&past.record.thread).copied().unwrap_or(0);
            if past.record.thread != record.thread && conflict && !both_atomic && !ordered {
                let (a, b) = (past.record.code, record.code);
                if self.places.insert((a.min(b), a.max(b))) {
                    self.races.push((past.record, record));
                }
            }
        }
        let time = clock.get(&record.thread).copied().unwrap_or(1);
        // A later access from the same place by the same thread races with whatever the earlier one races with.
        earlier.retain(|past| (past.record.thread, past.record.code) != (record.thread, record.code));
        earlier.push(Access { record, time });
    }

    /// The two records by which the runtime tells of a race.
    pub fn race_records((first, second): (Record, Record)) -> [Record; 2] {
        let side = |access: Record, kind: Kind| Record { kind, detail: access.kind as u8, ..access };
        [side(first, Kind::RaceFirst), side(second, Kind::RaceSecond)]
    }
}
