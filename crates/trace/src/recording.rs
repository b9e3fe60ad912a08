//! From the log of an execution to a trace.
//!
//! The log must have every event (`Observe::Everything` of the engine). Every event of the execution becomes one event of
//! the trace, or several of which all but the first are [parts](Event::part); so the events of the trace that are not
//! parts are the events 1, 2, 3, ... of the execution, and a schedule over the one is a schedule over the other.
//!
//! * **Memory.** Accesses overlap in any way, but locations of a trace are equal or different. So memory is cut wherever
//!   any access begins or ends, and an access to several pieces is several events. Memory that was freed and is used
//!   again is other memory: in another order the allocator would have given out another address.
//! * **Conditions.** A wait is the release of the mutex and the begin of the wait, in one operation; waking up and the
//!   acquisition that follows are events of their own.
//! * **The rest.** What the predictor has no finer model of (once-only initialisation, futexes, input and output,
//!   signals) is [`Op::Order`]: it stays in order with all else on the same object.

use crate::{Error, Event, EventId, NO_OBJECT, Object, Op, Subject, Trace, TraceBuilder};
use racehunter_event::{Kind, Record};
use rustc_hash::FxHashMap;

/// The trace of an execution, from its log.
///
/// # Errors
/// When events are missing from the log, or there is more than a trace can hold.
pub fn trace(records: &[Record]) -> Result<Trace, Error> {
    let events = || records.iter().filter(|record| record.kind.is_event());
    for (expected, record) in (1..).zip(events()) {
        if record.index != expected {
            return Err(Error::Unobserved(expected));
        }
    }
    let mut converter = Converter {
        builder: TraceBuilder::new(),
        memory: Memory::new(events()),
        sites: FxHashMap::default(),
        objects: FxHashMap::default(),
        readers: FxHashMap::default(),
    };
    let others = events().filter(|record| matches!(record.kind, Kind::Create | Kind::Join)).map(|record| record.object);
    let threads = events().map(|record| u64::from(record.thread)).chain(others).max().unwrap_or(0);
    for thread in 0..=threads {
        converter.builder.thread(&format!("T{thread}"))?;
    }
    for record in events() {
        converter.convert(record)?;
    }
    Ok(converter.builder.finish_sorted())
}

/// The schedule that a reordering of a trace stands for: the thread that performs each event of the execution, the first
/// event first.
///
/// An operation of several parts happens as a whole where its first part does. When not all of its parts are there, as at
/// the end of a reordering that leads up to one of them, it does not happen.
#[must_use]
pub fn schedule(trace: &Trace, reordering: impl IntoIterator<Item = EventId>) -> Vec<u32> {
    let mut done = vec![0; trace.threads().len()];
    let mut schedule: Vec<Option<u32>> = Vec::new();
    // Where the last operation of each thread is in the schedule.
    let mut last = vec![None; trace.threads().len()];
    for event in reordering {
        let Event { thread, part, .. } = trace.event(event);
        done[usize::from(thread)] += 1;
        if !part {
            last[usize::from(thread)] = Some(schedule.len());
            schedule.push(Some(thread.into()));
        }
    }
    // A thread that has done so many events stands within an operation if its next event is a part.
    let mut seen = vec![0; trace.threads().len()];
    for event in trace.events() {
        let thread = usize::from(event.thread);
        if seen[thread] == done[thread]
            && event.part
            && let Some(at) = last[thread]
        {
            schedule[at] = None;
        }
        seen[thread] += 1;
    }
    schedule.into_iter().flatten().collect()
}

/// The memory that an event touches: first address and first address after it.
fn range(record: &Record) -> (u64, u64) {
    let len = match record.kind {
        Kind::ReadRange | Kind::WriteRange | Kind::Free => record.extra,
        _ => record.size.into(),
    };
    (record.object, record.object.saturating_add(len.max(1)))
}

/// Memory, cut into pieces that every access touches as a whole or not at all.
struct Memory {
    /// Where pieces begin, ascending. The last entry is only an end.
    cuts: Vec<u64>,
    /// The location that each piece is now.
    location: Vec<Option<u32>>,
    /// How often each piece has been freed.
    freed: Vec<u32>,
}

impl Memory {
    fn new<'a>(events: impl Iterator<Item = &'a Record>) -> Self {
        let mut cuts: Vec<u64> = events
            .filter(|record| record.kind.is_access())
            .flat_map(|record| {
                let (begin, end) = range(record);
                [begin, end]
            })
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        Self { location: vec![None; cuts.len()], freed: vec![0; cuts.len()], cuts }
    }

    /// The pieces of a range: all its ends are cuts.
    fn pieces(&self, (begin, end): (u64, u64)) -> std::ops::Range<usize> {
        self.cuts.partition_point(|&cut| cut < begin)..self.cuts.partition_point(|&cut| cut < end)
    }
}

struct Converter {
    builder: TraceBuilder,
    memory: Memory,
    sites: FxHashMap<u64, u32>,
    objects: FxHashMap<(Subject, u64), u32>,
    /// How often a thread holds a reader-writer lock as a reader.
    readers: FxHashMap<(u32, u64), u32>,
}

impl Converter {
    fn convert(&mut self, record: &Record) -> Result<(), Error> {
        let tried = |op| if record.detail == 1 { op } else { Op::TryFailed };
        let op = match record.kind {
            Kind::Read | Kind::ReadRange => return self.access(record, Op::Read),
            Kind::Write | Kind::WriteRange | Kind::Free => return self.access(record, Op::Write),
            Kind::AtomicRead => return self.access(record, Op::AtomicRead),
            Kind::AtomicWrite => return self.access(record, Op::AtomicWrite),
            Kind::AtomicUpdate => return self.access(record, Op::Update),
            Kind::Create => Op::Fork,
            Kind::Join => Op::Join,
            Kind::Lock | Kind::WriteLock => Op::Acquire,
            Kind::Unlock => Op::Release,
            Kind::TryLock | Kind::TryWriteLock => tried(Op::Acquire),
            Kind::ReadLock => Op::AcquireShared,
            Kind::TryReadLock => tried(Op::AcquireShared),
            Kind::RwUnlock => self.reader_leaves(record),
            Kind::Wait => {
                let mutex = self.object(Subject::Lock, record.extra)?;
                self.push(record, Op::Release, mutex, false)?;
                let condition = self.object(Subject::Condition, record.object)?;
                return self.push(record, Op::Wait, condition, true);
            }
            Kind::WaitEnd => Op::Wake,
            Kind::Signal => Op::Signal,
            Kind::Broadcast => Op::Broadcast,
            Kind::SemWait | Kind::SemTryWait => Op::Down,
            Kind::SemPost => Op::Post,
            Kind::BarrierWait => Op::Arrive,
            Kind::BarrierPass => Op::Depart,
            Kind::Once | Kind::FutexWait | Kind::FutexWake | Kind::Io | Kind::Kill | Kind::Cancel => Op::Order,
            _ => Op::Local,
        };
        if op == Op::AcquireShared {
            *self.readers.entry((record.thread, record.object)).or_default() += 1;
        }
        let object = match (op.subject(), record.kind) {
            (Subject::Nothing, _) => NO_OBJECT,
            (Subject::Thread, _) => record.object as u32,
            (subject, Kind::Io) => self.object(subject, record.extra)?,
            // All that concerns signals and cancellation is one thing.
            (subject, Kind::Kill | Kind::Cancel) => self.object(subject, 0)?,
            (subject, _) => self.object(subject, record.object)?,
        };
        self.push(record, op, object, false)
    }

    /// What an unlock of a reader-writer lock releases.
    fn reader_leaves(&mut self, record: &Record) -> Op {
        match self.readers.get_mut(&(record.thread, record.object)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                Op::ReleaseShared
            }
            _ => Op::Release,
        }
    }

    fn access(&mut self, record: &Record, op: Op) -> Result<(), Error> {
        let pieces = self.memory.pieces(range(record));
        for piece in pieces.clone() {
            let location = match self.memory.location[piece] {
                Some(location) => location,
                None => {
                    let mut name = format!("{:#x}", self.memory.cuts[piece]);
                    if self.memory.freed[piece] > 0 {
                        name += &format!("'{}", self.memory.freed[piece]);
                    }
                    let location = self.builder.add_object(Object { subject: Subject::Memory, name })?;
                    self.memory.location[piece] = Some(location);
                    location
                }
            };
            self.push(record, op, location, piece != pieces.start)?;
            if record.kind == Kind::Free {
                self.memory.location[piece] = None;
                self.memory.freed[piece] += 1;
            }
        }
        Ok(())
    }

    fn object(&mut self, subject: Subject, address: u64) -> Result<u32, Error> {
        if let Some(&object) = self.objects.get(&(subject, address)) {
            return Ok(object);
        }
        let object = self.builder.object(subject, &format!("{address:#x}"))?;
        self.objects.insert((subject, address), object);
        Ok(object)
    }

    fn push(&mut self, record: &Record, op: Op, object: u32, part: bool) -> Result<(), Error> {
        let site = match self.sites.get(&record.code) {
            Some(&site) => site,
            None => {
                let site = self.builder.site(&format!("{:#x}", record.code))?;
                self.sites.insert(record.code, site);
                site
            }
        };
        let thread = u16::try_from(record.thread).map_err(|_| Error::TooMany("threads"))?;
        self.builder.push(Event { thread, op, part, object, site }).map(drop)
    }
}
