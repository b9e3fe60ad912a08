//! Which reads the events of a recording depend on, as far as the code of the program tells.

use crate::Via;
use racehunter_event::{Kind, Record};
use rustc_hash::FxHashMap;

/// What the code says about an access. Others are named by their sites, and their latest execution by the same thread is
/// meant.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// It takes a value from memory, and puts one there.
    pub reads: bool,
    /// See `reads`.
    pub writes: bool,
    /// Its size.
    pub bytes: u64,
    /// What it reads may decide at once what the thread does.
    pub decisive: bool,
    /// Reads that decide its address.
    pub address: &'a [u32],
    /// Reads that flow into the value that it writes.
    pub value: &'a [u32],
}

/// Knows the code of a program.
pub trait Knowledge {
    /// What the code says about the access with this site number, if it is a simple one.
    fn of(&self, site: u32) -> Option<Known<'_>>;
}

/// Dependences of the next event: how many events of its thread the read lies back, and in which way it matters.
pub(super) type Backs = Vec<(u32, Via)>;

/// Follows each thread.
pub(super) struct Dependences<'n> {
    knowledge: &'n dyn Knowledge,
    threads: FxHashMap<u32, Thread>,
    /// A signal handler may run anywhere, and the code does not tell.
    opaque: bool,
}

#[derive(Default)]
struct Thread {
    /// Events so far.
    events: u32,
    /// The latest execution of each load: its first event, and how many there are.
    latest: FxHashMap<u32, (u32, u32)>,
    /// Reads that matter to whatever the thread does next.
    decisive: Vec<u32>,
}

impl<'n> Dependences<'n> {
    pub(super) fn new(knowledge: &'n dyn Knowledge) -> Self {
        Self { knowledge, threads: FxHashMap::default(), opaque: false }
    }

    /// An operation begins: what it depends on. For an access that is what decides its address; see [`Self::values`] for
    /// the rest.
    pub(super) fn begin(&mut self, record: &Record) -> Backs {
        self.opaque |= record.kind == Kind::SignalSetup && record.object != 0;
        let known = self.known(record);
        let thread = self.threads.entry(record.thread).or_default();
        let now = thread.events;
        let mut backs: Backs = thread.decisive.drain(..).map(|read| (now - read, Via::Decision)).collect();
        for load in known.iter().flat_map(|known| known.address) {
            backs.extend(thread.of(*load).map(|read| (now - read, Via::Decision)));
        }
        backs.sort_unstable_by_key(|&(back, _)| back);
        backs.dedup();
        backs
    }

    /// The reads that flow into what an access writes, for the event that is next.
    pub(super) fn values(&mut self, record: &Record) -> Backs {
        let known = self.known(record);
        let thread = self.threads.entry(record.thread).or_default();
        let now = thread.events;
        let loads = known.iter().flat_map(|known| known.value);
        loads.flat_map(|load| thread.of(*load)).map(|read| (now - read, Via::Value)).collect()
    }

    /// An event has happened.
    pub(super) fn happened(&mut self, thread: u32) {
        self.threads.entry(thread).or_default().events += 1;
    }

    /// An access of so many events is over.
    pub(super) fn end(&mut self, record: &Record, count: u32) {
        if !matches!(record.kind, Kind::Read | Kind::ReadRange | Kind::AtomicRead | Kind::AtomicUpdate) {
            return;
        }
        let followed = self.known(record).filter(|known| !known.decisive).is_some();
        let thread = self.threads.entry(record.thread).or_default();
        let first = thread.events - count;
        if followed {
            thread.latest.insert(record.site, (first, count));
        } else {
            thread.decisive.extend(first..thread.events);
        }
    }

    /// What the code says about an access, if it is about the same access.
    fn known(&self, record: &Record) -> Option<Known<'n>> {
        let site = record.site.checked_sub(1).filter(|_| !self.opaque)?;
        let (reads, writes) = match record.kind {
            Kind::Read | Kind::AtomicRead => (true, false),
            Kind::Write | Kind::AtomicWrite => (false, true),
            Kind::AtomicUpdate => (true, true),
            _ => return None,
        };
        let known = self.knowledge.of(site)?;
        ((known.reads, known.writes, known.bytes) == (reads, writes, record.size.into())).then_some(known)
    }
}

impl Thread {
    /// The events of the latest execution of a load, which is named without the 1 that records add.
    fn of(&self, load: u32) -> std::ops::Range<u32> {
        self.latest.get(&(load + 1)).map_or(0..0, |&(first, count)| first..first + count)
    }
}
