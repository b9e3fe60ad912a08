//! Whether two accesses are an optimistic sync-reversal race, by the definition of Shi, Mathur and Pavlogiannis (2024), in
//! time that is linear in the trace for each pair. It decides about races that RAPID reports and RaceHunter does not.

use racehunter_trace::{EventId, Op, Trace};
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// A trace of reads, writes, locks, forks and joins.
pub struct Definition<'t> {
    trace: &'t Trace,
    /// Events that each event needs: the previous one of its thread or its fork, the write that it reads, the last event
    /// of the thread that it joins.
    needs: Vec<[Option<EventId>; 2]>,
    /// The release of each acquisition.
    release: HashMap<EventId, EventId>,
    /// The accesses to each location.
    accesses: HashMap<u32, Vec<EventId>>,
}

impl<'t> Definition<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let (mut last, mut fork, mut written) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut held, mut release) = (HashMap::new(), HashMap::new());
        let mut needs = Vec::with_capacity(trace.len());
        let mut accesses: HashMap<u32, Vec<EventId>> = HashMap::new();
        for (id, event) in (0..).zip(trace.events()) {
            let previous = last.insert(event.thread, id).or_else(|| fork.get(&event.thread).copied());
            let mut other = None;
            if event.op.is_access() {
                accesses.entry(event.object).or_default().push(id);
            }
            match event.op {
                Op::Read => other = written.get(&event.object).copied(),
                Op::Write => drop(written.insert(event.object, id)),
                Op::Acquire => drop(held.insert((event.thread, event.object), id)),
                Op::Release => release.extend(held.remove(&(event.thread, event.object)).map(|acquire| (acquire, id))),
                Op::Fork => drop(fork.insert(event.object as u16, id)),
                Op::Join => other = last.get(&(event.object as u16)).copied(),
                _ => {}
            }
            needs.push([previous, other]);
        }
        Self { trace, needs, release, accesses }
    }

    /// Returns true if an access races with an earlier one.
    pub fn is_racy(&self, event: EventId) -> bool {
        let (op, thread) = (self.trace.op(event), self.trace.thread(event));
        let others = self.accesses.get(&self.trace.object(event)).map_or(&[][..], Vec::as_slice);
        let conflicts = |&&other: &&EventId| {
            other < event && self.trace.thread(other) != thread && (op.writes() || self.trace.op(other).writes())
        };
        others.iter().filter(conflicts).any(|&other| self.race(other, event))
    }

    fn close(&self, set: &mut BTreeSet<EventId>, from: impl IntoIterator<Item = EventId>) {
        let mut left: Vec<EventId> = from.into_iter().collect();
        while let Some(event) = left.pop() {
            if set.insert(event) {
                left.extend(self.needs[event as usize].into_iter().flatten());
            }
        }
    }

    fn race(&self, first: EventId, second: EventId) -> bool {
        let mut set = BTreeSet::new();
        self.close(&mut set, [first, second].into_iter().filter_map(|event| self.needs[event as usize][0]));
        let mut stays_open: HashMap<EventId, bool> = HashMap::new();
        loop {
            let mut ends = Vec::new();
            for &acquire in set.iter().filter(|&&event| self.trace.op(event) == Op::Acquire) {
                let Some(&end) = self.release.get(&acquire).filter(|&&end| end < second && !set.contains(&end)) else {
                    continue;
                };
                let stays = *stays_open.entry(acquire).or_insert_with(|| {
                    let mut needed = BTreeSet::new();
                    self.close(&mut needed, [end]);
                    needed.contains(&first) || needed.contains(&second)
                });
                if !stays {
                    ends.push(end);
                }
            }
            if ends.is_empty() {
                break;
            }
            self.close(&mut set, ends);
        }
        !set.contains(&first) && !set.contains(&second) && self.can_be_sorted(&set)
    }

    /// Returns true if the events have an order that keeps that of threads, of conflicting accesses and of critical
    /// sections, except that open ones are the last of their lock.
    fn can_be_sorted(&self, set: &BTreeSet<EventId>) -> bool {
        let trace = self.trace;
        let is_open = |event: &EventId| {
            trace.op(*event) == Op::Acquire && self.release.get(event).is_none_or(|end| !set.contains(end))
        };
        let open: Vec<EventId> = set.iter().copied().filter(is_open).collect();
        let locks: BTreeSet<u32> = open.iter().map(|&acquire| trace.object(acquire)).collect();
        if locks.len() < open.len() {
            return false;
        }
        let mut edges: HashMap<EventId, Vec<EventId>> = HashMap::new();
        let mut before: HashMap<EventId, u32> = HashMap::new();
        let mut order = |first: EventId, second: EventId| {
            edges.entry(first).or_default().push(second);
            *before.entry(second).or_default() += 1;
        };
        let (mut written, mut read, mut released) =
            (HashMap::new(), HashMap::<u32, Vec<EventId>>::new(), HashMap::new());
        for &event in set {
            self.needs[event as usize].into_iter().flatten().for_each(|needed| order(needed, event));
            let object = trace.object(event);
            match trace.op(event) {
                Op::Read => {
                    written.get(&object).into_iter().for_each(|&write| order(write, event));
                    read.entry(object).or_default().push(event);
                }
                Op::Write => {
                    written.insert(object, event).into_iter().for_each(|write| order(write, event));
                    read.remove(&object).unwrap_or_default().into_iter().for_each(|read| order(read, event));
                }
                Op::Acquire if !open.contains(&event) => {
                    released.get(&object).into_iter().for_each(|&release| order(release, event));
                }
                Op::Release => drop(released.insert(object, event)),
                _ => {}
            }
        }
        for &acquire in &open {
            released.get(&trace.object(acquire)).into_iter().for_each(|&release| order(release, acquire));
        }
        let mut ready: BinaryHeap<EventId> = set.iter().copied().filter(|event| !before.contains_key(event)).collect();
        let mut sorted = 0;
        while let Some(event) = ready.pop() {
            sorted += 1;
            for next in edges.remove(&event).unwrap_or_default() {
                if let Some(count) = before.get_mut(&next) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(next);
                    }
                }
            }
        }
        sorted == set.len()
    }
}
