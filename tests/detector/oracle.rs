//! Computes from a complete log which accesses of an execution race, by the definition.
//!
//! Every event has a vector clock, every byte keeps all of its accesses, and each access is compared with all of them.
//! Freed memory must not be accessed at all, so any access races with the `free`. The rules are those of C11 and C++17
//! for an interleaving in which every load reads the last store: a release sequence is a store, the read-modify-writes
//! that follow it, and the stores of threads that have released to it. A counting semaphore carries what all earlier posts have released.

use racehunter_abi::CodeAddress;
use racehunter_abi::Kind;
use racehunter_explore::{Execution, Record};
use std::collections::{BTreeMap, HashMap};

/// For each thread, the number of its known events.
type Clock = [u32; THREADS];
const THREADS: usize = 8;

/// An access to memory, or the end of a block.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub index: u64,
    pub thread: u32,
    pub kind: Kind,
    /// 0 for the start and the end of a block, which are not in the log.
    pub code: u64,
    pub site: u32,
    pub start: u64,
    pub len: u64,
    /// Its number among the events of the thread.
    own: u32,
}

/// An access, and the earlier ones with which it races, as positions in [`Judgement::accesses`].
#[derive(Clone, Debug)]
pub struct Racing {
    pub second: usize,
    /// The byte and the earlier access.
    pub firsts: Vec<(u64, usize)>,
}

/// All accesses of an execution, and which of them race.
#[derive(Default)]
pub struct Judgement {
    pub accesses: Vec<Access>,
    /// In the order of the second access.
    pub races: Vec<Racing>,
    /// Whether a plain store has ended the release sequences of some threads, but not of all. The detector notes that, and may
    /// then miss races.
    pub ends_parts: bool,
}

impl Access {
    pub fn touches(&self, byte: u64) -> bool {
        (self.start..self.start + self.len).contains(&byte)
    }
}

impl Judgement {
    /// Returns whether this code address is that of the access. The two halves of a copy are one site, and the detector
    /// remembers sites.
    pub fn is_at(&self, access: &Access, code: u64) -> bool {
        access.code == code || self.accesses.iter().any(|other| other.site == access.site && other.code == code)
    }
}

/// What the program printed about its blocks, in the order of its markers.
#[derive(Debug)]
enum Said {
    Allocated(u64, u64),
    Freed(u64, u64),
    FreedAgain(u64, u64),
    Forgotten,
    Nothing,
}

fn read_output(output: &[u8]) -> (std::ops::Range<u64>, Vec<Said>) {
    let (mut markers, mut said) = (0..0, Vec::new());
    for line in String::from_utf8_lossy(output).lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, address, size] = words[..] else { panic!("the program says {line:?}") };
        let address = u64::from_str_radix(address, 16).expect("an address");
        let size: u64 = size.parse().expect("a size");
        match what {
            "M" => markers = address..address + size,
            "m" => said.push(Said::Allocated(address, size)),
            "f" => said.push(Said::Freed(address, size)),
            "d" => said.push(Said::FreedAgain(address, size)),
            "q" => said.push(Said::Forgotten),
            _ => said.push(Said::Nothing),
        }
    }
    (markers, said)
}

fn join(into: &mut Clock, from: &Clock) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = (*into).max(*from));
}

const fn acquires(order: u8) -> bool {
    matches!(order, 1 | 2 | 4 | 5)
}

const fn releases(order: u8) -> bool {
    matches!(order, 3..=5)
}

#[derive(Default)]
struct Rwlock {
    writer: Option<u32>,
    written: Clock,
    read: Clock,
}

/// The release sequences that an atomic's value belongs to: what each thread has released to those that it heads.
#[derive(Default)]
struct Sequence(BTreeMap<usize, Clock>);

impl Sequence {
    fn carries(&self) -> Clock {
        self.0.values().fold(Clock::default(), |mut all, released| {
            join(&mut all, released);
            all
        })
    }
}

#[derive(Default)]
struct Oracle {
    clocks: [Clock; THREADS],
    /// The clock at the last release fence.
    release_fences: [Option<Clock>; THREADS],
    /// What relaxed loads have read, for the next acquire fence.
    relaxed: [Clock; THREADS],
    mutexes: HashMap<u64, Clock>,
    rwlocks: HashMap<u64, Rwlock>,
    semaphores: HashMap<u64, Clock>,
    arrived: HashMap<u64, Vec<u32>>,
    /// What the release sequence that ends in an atomic's value carries.
    sequences: HashMap<u64, Sequence>,
    history: HashMap<u64, Vec<usize>>,
    /// Bytes of freed blocks that were not allocated again, and where they were freed.
    freed: HashMap<u64, usize>,
    judgement: Judgement,
}

/// Judges a fully logged execution of `script.c`.
pub fn judge(execution: &Execution) -> Judgement {
    let (markers, said) = read_output(&execution.output);
    let mut said = said.into_iter();
    let mut oracle = Oracle::default();
    for record in execution.records.iter().filter(|record| record.kind.is_event()) {
        oracle.event(record);
        if record.kind == Kind::Write && markers.contains(&record.object) {
            match said.next() {
                Some(Said::Allocated(start, len)) => {
                    oracle.new_life(start, len);
                    oracle.allocate(record, start, len);
                }
                Some(Said::Freed(start, len)) => {
                    let free = oracle.judgement.accesses.len();
                    oracle.free(record, start, len);
                    oracle.freed.extend((start..start + len).map(|byte| (byte, free)));
                    oracle.forget_atomics(start, len);
                }
                Some(Said::FreedAgain(start, len)) => oracle.free(record, start, len),
                Some(Said::Forgotten) => {
                    for (byte, _) in oracle.freed.drain() {
                        oracle.history.remove(&byte);
                    }
                }
                Some(Said::Nothing) | None => {}
            }
        }
    }
    oracle.judgement
}

impl Oracle {
    fn acquire(&mut self, thread: u32, from: Clock) {
        join(&mut self.clocks[thread as usize], &from);
    }

    fn event(&mut self, record: &Record) {
        let (thread, object) = (record.thread, record.object);
        let me = thread.index();
        self.clocks[me][me] += 1;
        let now = self.clocks[me];
        let succeeded = record.detail == 1;
        match record.kind {
            Kind::Create => {
                let other = object as usize;
                let own = self.clocks[other][other];
                self.clocks[other] = now;
                self.clocks[other][other] = own;
            }
            Kind::Join => self.acquire(thread.0, self.clocks[object as usize]),
            Kind::Lock | Kind::TryLock if succeeded => {
                self.acquire(thread.0, self.mutexes.get(&object).copied().unwrap_or_default());
            }
            Kind::Unlock => _ = self.mutexes.insert(object, now),
            Kind::Wait => _ = self.mutexes.insert(record.extra, now),
            Kind::ReadLock | Kind::TryReadLock if succeeded => {
                let written = self.rwlocks.entry(object).or_default().written;
                self.acquire(thread.0, written);
            }
            Kind::WriteLock | Kind::TryWriteLock if succeeded => {
                let lock = self.rwlocks.entry(object).or_default();
                lock.writer = Some(thread.0);
                let mut both = lock.written;
                join(&mut both, &lock.read);
                self.acquire(thread.0, both);
            }
            Kind::RwUnlock => {
                let lock = self.rwlocks.entry(object).or_default();
                if lock.writer.take().is_some() {
                    lock.written = now;
                } else {
                    join(&mut lock.read, &now);
                }
            }
            Kind::SemPost => join(self.semaphores.entry(object).or_default(), &now),
            Kind::SemWait | Kind::SemTryWait if succeeded => {
                self.acquire(thread.0, self.semaphores.get(&object).copied().unwrap_or_default());
            }
            Kind::BarrierWait => self.arrive(object, thread.0),
            Kind::Fence => {
                if acquires(record.detail) {
                    self.acquire(thread.0, self.relaxed[me]);
                }
                if releases(record.detail) {
                    self.release_fences[me] = Some(self.clocks[me]);
                }
            }
            kind if kind.is_atomic() => {
                if kind != Kind::AtomicWrite {
                    let read = self.sequences.get(&object).map_or_else(Clock::default, Sequence::carries);
                    // The store that is read happens before this access.
                    let into = if acquires(record.detail) { &mut self.clocks[me] } else { &mut self.relaxed[me] };
                    join(into, &read);
                }
                self.access(record);
                if kind != Kind::AtomicRead {
                    self.store(record);
                }
            }
            kind if kind.is_access() => self.access(record),
            _ => {}
        }
    }

    /// All barriers are for two threads.
    fn arrive(&mut self, barrier: u64, thread: u32) {
        let arrived = self.arrived.entry(barrier).or_default();
        arrived.push(thread);
        if let [first, second] = arrived[..] {
            arrived.clear();
            let of_first = self.clocks[first as usize];
            self.acquire(second, of_first);
            self.acquire(first, self.clocks[second as usize]);
        }
    }

    fn store(&mut self, record: &Record) {
        let me = record.thread.index();
        let passed_on = if releases(record.detail) { Some(self.clocks[me]) } else { self.release_fences[me] };
        let sequence = self.sequences.entry(record.object).or_default();
        if record.kind == Kind::AtomicWrite {
            // A plain store continues the sequences of its own thread only, and one that releases begins another.
            let continues = !releases(record.detail) && sequence.0.contains_key(&me);
            self.judgement.ends_parts |= continues && sequence.0.len() > 1;
            sequence.0.retain(|&thread, _| continues && thread == me);
        }
        if let Some(passed_on) = passed_on {
            join(sequence.0.entry(me).or_default(), &passed_on);
        }
    }

    fn free(&mut self, marker: &Record, start: u64, len: u64) {
        self.access(&Record { kind: Kind::Free, object: start, extra: len, code: CodeAddress(0), site: 0, ..*marker });
    }

    /// Allocating a block writes to it.
    fn allocate(&mut self, marker: &Record, start: u64, len: u64) {
        let (kind, code) = (Kind::WriteRange, CodeAddress(0));
        self.access(&Record { kind, object: start, extra: len, code, site: 0, ..*marker });
    }

    fn new_life(&mut self, start: u64, len: u64) {
        for byte in start..start + len {
            self.history.remove(&byte);
        }
    }

    /// An atomic in a freed block orders nothing.
    fn forget_atomics(&mut self, start: u64, len: u64) {
        self.sequences.retain(|address, _| !(start..start + len).contains(address));
    }

    fn access(&mut self, record: &Record) {
        let clock = &self.clocks[record.thread.index()];
        let access = Access {
            index: record.index.0,
            thread: record.thread.0,
            kind: record.kind,
            code: record.code.0,
            site: record.site,
            start: record.object,
            len: record.extra,
            own: clock[record.thread.index()],
        };
        let accesses = &mut self.judgement.accesses;
        let second = accesses.len();
        let mut firsts = Vec::new();
        for byte in access.start..access.start + access.len {
            if let Some(&free) = self.freed.get(&byte) {
                // However it is ordered, and atomic or not.
                firsts.push((byte, free));
                continue;
            }
            let history = self.history.entry(byte).or_default();
            for &earlier in history.iter() {
                let first: &Access = &accesses[earlier];
                let conflict = first.kind.is_write() || access.kind.is_write();
                let both_atomic = first.kind.is_atomic() && access.kind.is_atomic();
                let ordered = first.thread == access.thread || first.own <= clock[first.thread as usize];
                if conflict && !both_atomic && !ordered {
                    firsts.push((byte, earlier));
                }
            }
            history.push(second);
        }
        accesses.push(access);
        if !firsts.is_empty() {
            self.judgement.races.push(Racing { second, firsts });
        }
    }
}
