//! Which accesses are points.

use crate::Execution;
use racehunter_log::{Access, AccessMode, Entry, Event, ForkJoin, Record, SiteId, ThreadId, entries};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which accesses are points, besides synchronisation and atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Points {
    /// None.
    Sync,
    /// Those at sites that access memory which, in some execution so far, two threads accessed, one of them writing.
    #[default]
    Shared,
    /// All.
    All,
}

/// Returns the sites (as in `Record::site`) of plain accesses to bytes that two threads accessed, at least one of them
/// writing, in a fully observed execution; sorted.
///
/// The creation and joining of threads order events in every schedule, such as filling in a structure before a thread gets
/// it. Memory whose accesses are ordered in this way is not shared.
#[must_use]
pub fn shared_sites(execution: &Execution) -> Vec<u32> {
    let mut granules: FxHashMap<u64, Granule> = FxHashMap::default();
    let mut order = ForkJoin::default();
    let mut handlers = Handlers::default();
    // Buffers are written and printed repeatedly: the second time changes nothing unless threads began or ended.
    let mut ranges: FxHashSet<(u32, Access)> = FxHashSet::default();
    for entry in execution.entries() {
        let thread = entry.thread();
        let event = entry.event();
        if let Event::Access(access) = event {
            let is_repeated = access.mode.is_range() && !ranges.insert((thread.0, access));
            if !is_repeated {
                let by = Accessor { thread, handler: handlers.of(thread) };
                for (granule, mask) in access.granules() {
                    granules.entry(granule).or_default().touch(by, access.mode, mask, &order);
                }
            }
            continue;
        }
        order.note(thread, &event);
        handlers.note(thread, &event);
        if matches!(event, Event::Create { .. } | Event::Join { .. } | Event::Handler { .. }) {
            ranges.clear();
        }
    }
    let mut sites: FxHashSet<u32> = FxHashSet::default();
    ranges.clear();
    for entry in execution.entries() {
        let Some((access, site)) = entry.access().zip(entry.site().map(SiteId::logged)) else { continue };
        if access.mode.is_atomic() {
            continue;
        }
        let shared = |(granule, mask)| granules.get(&granule).is_some_and(|granule| granule.shared & mask != 0);
        let is_repeated = access.mode.is_range() && !ranges.insert((site, access));
        if !is_repeated && !sites.contains(&site) && access.granules().any(shared) {
            sites.insert(site);
        }
    }
    sorted(sites)
}

/// The signal handlers that threads are running.
#[derive(Default)]
struct Handlers(FxHashMap<ThreadId, Vec<u64>>);

impl Handlers {
    fn note(&mut self, thread: ThreadId, event: &Event) {
        if let Event::Handler { signal, is_entry } = *event {
            let running = self.0.entry(thread).or_default();
            if is_entry {
                running.push(signal);
            } else {
                running.pop();
            }
        }
    }

    /// Returns the signal whose handler a thread is running, 0 for none.
    fn of(&self, thread: ThreadId) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.get(&thread).and_then(|running| running.last()).copied().unwrap_or(0) }
    }
}

/// Returns the sites that the runtime itself reported as accessing shared memory without being points; sorted.
#[must_use]
pub fn reported_sites(execution: &Execution) -> Vec<u32> {
    sites_among(&execution.report_records())
}

/// The same, given [`Execution::report_records`].
pub(crate) fn sites_among(reports: &[Record]) -> Vec<u32> {
    let shared = |entry: Entry<'_>| match entry.event() {
        Event::Shared => entry.site().map(SiteId::logged),
        _ => None,
    };
    sorted(entries(reports).filter_map(shared).collect())
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
    /// The bytes that two threads access unordered by creation and joining, or a thread and its handler, one of them
    /// writing.
    shared: u8,
}

/// The accesses of a thread to the bytes between two thread creations.
struct Touch {
    by: Accessor,
    epoch: u32,
    touched: u8,
    written: u8,
}

/// The thread that makes an access.
#[derive(Clone, Copy)]
struct Accessor {
    thread: ThreadId,
    /// The signal whose handler it runs, 0 for none: a handler can interrupt its thread between any two steps.
    handler: u64,
}

impl Granule {
    fn touch(&mut self, by: Accessor, mode: AccessMode, mask: u8, order: &ForkJoin) {
        let Accessor { thread, handler } = by;
        let is_write = mode.writes();
        let epoch = order.epoch(thread);
        let written = if is_write { mask } else { 0 };
        let mut own = false;
        for touch in &mut self.touches {
            if touch.by.thread == thread && touch.by.handler != handler {
                self.shared |= mask & if is_write { touch.touched } else { touch.written };
            } else if touch.by.thread == thread {
                if touch.epoch == epoch {
                    touch.touched |= mask;
                    touch.written |= written;
                    own = true;
                }
            } else if touch.epoch > order.known(thread, touch.by.thread) {
                self.shared |= mask & if is_write { touch.touched } else { touch.written };
            }
        }
        if !own {
            // A program can have any number of threads one after the other.
            if self.touches.len() >= MANY_TOUCHES {
                self.touches.retain(|touch| !order.is_past(touch.by.thread, touch.epoch));
            }
            self.touches.push(Touch { by, epoch, touched: mask, written });
        }
    }
}

/// Number of touches of a granule above which those are dropped that no later access can be concurrent with.
const MANY_TOUCHES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use racehunter_abi::Kind;

    fn access(thread: u32, kind: Kind, object: u64, size: u8, site: u32) -> Record {
        Record { thread: ThreadId(thread), kind, object, size, site, ..Record::default() }
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
        let mut order = ForkJoin::default();
        let mut granule = Granule::default();
        for entry in entries(&records) {
            order.note(entry.thread(), &entry.event());
            if let Some(access) = entry.access() {
                let by = Accessor { thread: entry.thread(), handler: 0 };
                granule.touch(by, access.mode, 255, &order);
            }
        }
        assert!(granule.touches.len() <= MANY_TOUCHES, "{}", granule.touches.len());
        // A thread that began before all of them, and still runs, may come in between.
        records.insert(0, thread(Kind::Create, 100));
        records.push(access(100, Kind::Read, 64, 8, 2));
        assert_eq!(sites(records), [1, 2]);
    }

    #[test]
    fn memory_filled_in_before_a_thread_gets_it_is_not_shared() {
        let thread = |kind, object| Record { kind, object, ..Record::default() };
        let write = access(0, Kind::Write, 64, 8, 1);
        let read = access(1, Kind::Read, 64, 8, 2);
        assert_eq!(sites(vec![write, thread(Kind::Create, 1), read]), []);
        assert_eq!(sites(vec![thread(Kind::Create, 1), write, read]), [1, 2]);
        assert_eq!(sites(vec![write, thread(Kind::Create, 1), read, write]), [1, 2]);
        let (created, joined) = (thread(Kind::Create, 1), thread(Kind::Join, 1));
        assert_eq!(sites(vec![created, access(1, Kind::Write, 64, 8, 2), joined, write]), []);
        // A second thread is unordered with the first, which its creator has not joined.
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
    fn an_access_of_any_length_is_handled() {
        let endless = Record { extra: u64::MAX, ..access(0, Kind::WriteRange, 61, 0, 1) };
        let granules = |record: &Record| Entry::of(record).access().map(|access| access.granules().count());
        assert_eq!(granules(&endless), Some(1 << 20));
        let last = Record { extra: 0, ..access(0, Kind::Read, u64::MAX, 8, 1) };
        assert_eq!(granules(&last), Some(0));
    }
}
