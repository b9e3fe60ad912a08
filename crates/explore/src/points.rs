//! Which accesses are worth a decision.

use crate::{Execution, Kind, Record};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which accesses are points, besides synchronisation and atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Points {
    /// None.
    Sync,
    /// Those at sites that touch memory which two threads touch, one of them writing, in any execution so far.
    #[default]
    Shared,
    /// All.
    All,
}

/// The sites (as in `Record::site`) of plain accesses to bytes that two threads touch, at least one of them writing,
/// in an execution that was observed whole; sorted.
///
/// What the creation and the joining of threads order, such as filling in a structure before a thread gets it, is so in
/// every schedule: that alone does not make memory shared.
#[must_use]
pub fn shared_sites(execution: &Execution) -> Vec<u32> {
    let mut granules: FxHashMap<u64, Granule> = FxHashMap::default();
    let mut families = Families::default();
    let mut handlers = Handlers::default();
    // Buffers are written and printed again and again: the second time changes nothing unless threads began or ended.
    let mut ranges: FxHashSet<(u32, u64, u64, Kind)> = FxHashSet::default();
    let is_range = |record: &Record| matches!(record.kind, Kind::ReadRange | Kind::WriteRange);
    for record in &execution.records {
        families.note(record);
        handlers.note(record);
        if matches!(record.kind, Kind::Create | Kind::Join | Kind::Handler) {
            ranges.clear();
        }
        let again = is_range(record) && !ranges.insert((record.thread, record.object, record.extra, record.kind));
        if record.kind.is_access() && !again {
            for (granule, mask) in bytes(record) {
                granules.entry(granule).or_default().touch(record, mask, &families, handlers.of(record.thread));
            }
        }
    }
    let mut sites: FxHashSet<u32> = FxHashSet::default();
    let plain = |record: &&Record| record.kind.is_access() && record.site != 0 && !record.kind.is_atomic();
    ranges.clear();
    for record in execution.records.iter().filter(plain) {
        let shared = |(granule, mask)| granules.get(&granule).is_some_and(|granule| granule.shared & mask != 0);
        let again = is_range(record) && !ranges.insert((record.site, record.object, record.extra, record.kind));
        if !again && !sites.contains(&record.site) && bytes(record).any(shared) {
            sites.insert(record.site);
        }
    }
    sorted(sites)
}

/// The signal handlers that threads run.
#[derive(Default)]
struct Handlers(FxHashMap<u32, Vec<u64>>);

impl Handlers {
    fn note(&mut self, record: &Record) {
        if record.kind == Kind::Handler {
            let running = self.0.entry(record.thread).or_default();
            if record.detail == 0 {
                running.push(record.object);
            } else {
                running.pop();
            }
        }
    }

    /// The signal whose handler a thread runs, 0 when it runs none.
    fn of(&self, thread: u32) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.get(&thread).and_then(|running| running.last()).copied().unwrap_or(0) }
    }
}

/// Vector clocks that know creation and joining of threads only. A thread's own entry counts the threads it created.
#[derive(Default)]
pub(crate) struct Families {
    clocks: Vec<Vec<u32>>,
    /// Threads that were created and not joined, besides the first.
    running: Vec<u32>,
}

impl Families {
    pub(crate) fn entry(&self, of: u32, about: u32) -> u32 {
        self.clocks.get(of as usize).and_then(|clock| clock.get(about as usize)).copied().unwrap_or(0)
    }

    /// Whether whatever happens from now on comes after what a thread did in an epoch.
    fn is_past(&self, thread: u32, epoch: u32) -> bool {
        let knows = |of: u32| of != thread && self.entry(of, thread) >= epoch;
        knows(0) && self.running.iter().all(|&of| knows(of))
    }

    fn clock(&mut self, of: u32) -> &mut Vec<u32> {
        let index = of as usize;
        if self.clocks.len() <= index {
            self.clocks.resize(index + 1, Vec::new());
        }
        let clock = &mut self.clocks[index];
        if clock.len() <= index {
            clock.resize(index + 1, 0);
        }
        // An entry of 0 about another thread means that nothing of it is known, so its own count starts at 1.
        clock[index] = clock[index].max(1);
        clock
    }

    pub(crate) fn note(&mut self, record: &Record) {
        let other = record.object as u32;
        match record.kind {
            Kind::Create => {
                let known = self.clock(record.thread).clone();
                self.clocks.resize(self.clocks.len().max(other as usize + 1), Vec::new());
                self.clocks[other as usize] = known;
                self.running.push(other);
                self.clock(record.thread)[record.thread as usize] += 1;
            }
            Kind::Join => {
                self.running.retain(|&thread| thread != other);
                let known = self.clock(other).clone();
                let clock = self.clock(record.thread);
                clock.resize(clock.len().max(known.len()), 0);
                for (mine, theirs) in clock.iter_mut().zip(known) {
                    *mine = (*mine).max(theirs);
                }
            }
            _ => {}
        }
    }
}

/// The sites that the runtime itself reported as touching shared memory without being points; sorted.
#[must_use]
pub fn reported_sites(execution: &Execution) -> Vec<u32> {
    let reports = execution.records.iter().filter(|record| record.kind == Kind::Shared && record.site != 0);
    sorted(reports.map(|record| record.site).collect())
}

fn sorted(sites: FxHashSet<u32>) -> Vec<u32> {
    let mut sites: Vec<u32> = sites.into_iter().collect();
    sites.sort_unstable();
    sites
}

/// Eight bytes of memory.
#[derive(Default)]
struct Granule {
    touches: Vec<Touch>,
    /// The bytes that two threads touch without order of creation and joining, or a thread and a handler that it runs, one
    /// of them writing.
    shared: u8,
}

/// What a thread did with the bytes between two creations of threads.
struct Touch {
    thread: u32,
    /// The signal whose handler it ran, 0 for none: a handler can come between any two steps of what it interrupts.
    handler: u64,
    epoch: u32,
    touched: u8,
    written: u8,
}

impl Granule {
    fn touch(&mut self, record: &Record, mask: u8, families: &Families, handler: u64) {
        let (thread, is_write) = (record.thread, record.kind.is_write());
        let epoch = families.entry(thread, thread).max(1);
        let written = if is_write { mask } else { 0 };
        let mut own = false;
        for touch in &mut self.touches {
            if touch.thread == thread && touch.handler != handler {
                self.shared |= mask & if is_write { touch.touched } else { touch.written };
            } else if touch.thread == thread {
                if touch.epoch == epoch {
                    touch.touched |= mask;
                    touch.written |= written;
                    own = true;
                }
            } else if touch.epoch > families.entry(thread, touch.thread) {
                self.shared |= mask & if is_write { touch.touched } else { touch.written };
            }
        }
        if !own {
            // Programs can have any number of threads one after the other.
            if self.touches.len() >= MANY_TOUCHES {
                self.touches.retain(|touch| !families.is_past(touch.thread, touch.epoch));
            }
            self.touches.push(Touch { thread, handler, epoch, touched: mask, written });
        }
    }
}

/// Touches of a granule from which on those are forgotten that no later access can be concurrent with.
const MANY_TOUCHES: usize = 8;

/// Granules of one access that are looked at: a program that writes over its log can make them as many as it likes. What
/// threads share beyond them, the runtime reports.
const MOST_GRANULES: u64 = 1 << 20;

/// The bytes of an access, as granule numbers and masks.
pub(crate) fn bytes(record: &Record) -> impl Iterator<Item = (u64, u8)> + use<> {
    let length = match record.kind {
        Kind::ReadRange | Kind::WriteRange | Kind::Free => record.extra,
        _ => u64::from(record.size),
    };
    let (start, end) = (record.object, record.object.saturating_add(length));
    let first = start / 8;
    let granules =
        if end <= start { 0..0 } else { first..((end - 1) / 8 + 1).min(first.saturating_add(MOST_GRANULES)) };
    granules.map(move |granule| {
        let first = start.max(granule * 8) - granule * 8;
        let last = end.min((granule * 8).saturating_add(8)) - granule * 8;
        // Bits `first` to `last - 1`; computed in 16 bits because `last` can be 8.
        let mask = ((1_u16 << last) - (1_u16 << first)) as u8;
        (granule, mask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn access(thread: u32, kind: Kind, object: u64, size: u8, site: u32) -> Record {
        Record { thread, kind, object, size, site, ..Record::default() }
    }

    fn sites(records: Vec<Record>) -> Vec<u32> {
        shared_sites(&Execution {
            records,
            stacks: Vec::new(),
            outcome: Outcome::Exited(0),
            events: 0,
            threads: 2,
            partial: false,
            output: Vec::new(),
        })
    }

    #[test]
    fn neighbours_in_one_word_are_not_shared() {
        assert_eq!(sites(vec![access(0, Kind::Write, 64, 4, 1), access(1, Kind::Write, 68, 4, 2)]), []);
        assert_eq!(sites(vec![access(0, Kind::Write, 64, 4, 1), access(1, Kind::Read, 67, 2, 2)]), [1, 2]);
    }

    #[test]
    fn reading_alone_is_not_sharing() {
        assert_eq!(sites(vec![access(0, Kind::Read, 64, 8, 1), access(1, Kind::Read, 64, 8, 2)]), []);
    }

    #[test]
    fn ranges_and_atomics_count_but_only_plain_sites_are_named() {
        let range = Record { extra: 100, ..access(0, Kind::WriteRange, 61, 0, 1) };
        let atomic = access(1, Kind::AtomicUpdate, 156, 4, 2);
        let elsewhere = access(1, Kind::Read, 161, 1, 3);
        assert_eq!(sites(vec![range, atomic, elsewhere]), [1]);
    }

    #[test]
    fn threads_one_after_the_other_leave_nothing_behind() {
        let thread = |kind, object| Record { kind, object, ..Record::default() };
        let mut records = Vec::new();
        for number in 1..100 {
            let touch = access(number, Kind::Write, 64, 8, 1);
            records.extend([thread(Kind::Create, u64::from(number)), touch, thread(Kind::Join, u64::from(number))]);
        }
        assert_eq!(sites(records.clone()), []);
        let mut families = Families::default();
        let mut granule = Granule::default();
        for record in &records {
            families.note(record);
            if record.kind.is_access() {
                granule.touch(record, 255, &families, 0);
            }
        }
        assert!(granule.touches.len() <= MANY_TOUCHES, "{}", granule.touches.len());
        // Somebody who began before all of them, and is still there, may come in between.
        records.insert(0, thread(Kind::Create, 100));
        records.push(access(100, Kind::Read, 64, 8, 2));
        assert_eq!(sites(records), [1, 2]);
    }

    #[test]
    fn what_is_filled_in_before_a_thread_gets_it_is_not_shared() {
        let thread = |kind, object| Record { kind, object, ..Record::default() };
        let write = access(0, Kind::Write, 64, 8, 1);
        let read = access(1, Kind::Read, 64, 8, 2);
        assert_eq!(sites(vec![write, thread(Kind::Create, 1), read]), []);
        assert_eq!(sites(vec![thread(Kind::Create, 1), write, read]), [1, 2]);
        assert_eq!(sites(vec![write, thread(Kind::Create, 1), read, write]), [1, 2]);
        let (created, joined) = (thread(Kind::Create, 1), thread(Kind::Join, 1));
        assert_eq!(sites(vec![created, access(1, Kind::Write, 64, 8, 2), joined, write]), []);
        // A second thread knows nothing of the first, which its creator has not joined.
        let second = thread(Kind::Create, 2);
        assert_eq!(
            sites(vec![created, second, access(1, Kind::Write, 64, 8, 2), access(2, Kind::Read, 64, 8, 3)]),
            [2, 3]
        );
    }

    #[test]
    fn an_access_over_two_words_reaches_both() {
        assert_eq!(sites(vec![access(0, Kind::Write, 70, 8, 1), access(1, Kind::Read, 77, 1, 2)]), [1, 2]);
    }

    #[test]
    fn no_access_is_too_long() {
        let endless = Record { extra: u64::MAX, ..access(0, Kind::WriteRange, 61, 0, 1) };
        assert_eq!(bytes(&endless).count() as u64, MOST_GRANULES);
        let last = Record { extra: 0, ..access(0, Kind::Read, u64::MAX, 8, 1) };
        assert_eq!(bytes(&last).count(), 0);
    }
}
