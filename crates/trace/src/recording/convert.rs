//! The second pass over a log: its events, one after the other.

use super::depend::{Backs, Dependences, Knowledge};
use super::locks::Locks;
use super::survey::{Layout, range};
use crate::{Error, Event, NO_OBJECT, Object, Op, Subject, Via};
use racehunter_event::control::EXCUSED;
use racehunter_event::{Kind, Record};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a trace goes. Threads, objects and sites get their numbers in the order in which they come, from 0, before the
/// first event that uses them.
pub trait Sink {
    /// The next thread.
    ///
    /// # Errors
    /// When it cannot be taken.
    fn thread(&mut self, name: String) -> Result<(), Error>;
    /// The next object.
    ///
    /// # Errors
    /// When it cannot be taken.
    fn object(&mut self, object: Object) -> Result<(), Error>;
    /// The next site.
    ///
    /// # Errors
    /// When it cannot be taken.
    fn site(&mut self, name: String) -> Result<(), Error>;
    /// The next event. The given number of events of its thread, directly before it, are not in the log. It depends
    /// on the reads of its thread that lie the given numbers of events back, in the given way.
    ///
    /// # Errors
    /// When it cannot be taken.
    fn event(&mut self, event: Event, skipped: u64, reads: &[(u32, Via)]) -> Result<(), Error>;
    /// Whether events that are not in the log are to be made up, as such that concern no other thread.
    fn fills_gaps(&self) -> bool {
        false
    }
}

/// What people call things.
pub trait Names {
    /// An object at an address, with its size if it is memory.
    fn object(&self, subject: Subject, address: u64, size: u64) -> String;
    /// A place in the code. Must end in the address, see [`super::code_of`].
    fn site(&self, code: u64) -> String;
}

/// Addresses as names.
pub struct PlainNames;

impl Names for PlainNames {
    fn object(&self, _subject: Subject, address: u64, _size: u64) -> String {
        format!("{address:#x}")
    }

    fn site(&self, code: u64) -> String {
        format!("{code:#x}")
    }
}

/// Turns the records of a log into events of a trace.
pub struct Converter<'n, S> {
    sink: S,
    names: &'n dyn Names,
    layout: Layout,
    /// How often pieces became other memory, and the object that each is now. Those that never did are what they were.
    renewed: FxHashMap<usize, (u32, Option<u32>)>,
    /// Pieces that were used as what they are now.
    used: Vec<bool>,
    object_count: u32,
    sites: FxHashMap<u64, u32>,
    objects: FxHashMap<(Subject, u64), u32>,
    locks: Locks,
    /// Locks that count as new ones from now on, because the old owner never released them.
    inherited: FxHashSet<u64>,
    /// What threads have left unsaid: it shows by what they do next.
    unsaid: FxHashMap<u32, Unsaid>,
    /// The thread that runs, the next event, and how many events of each thread were not in the log.
    running: u32,
    next: u64,
    missing: FxHashMap<u32, u64>,
    /// How many of each thread's events the log did not have where they belong.
    owed: FxHashMap<u32, u64>,
    dependences: Option<Dependences<'n>>,
    /// What the next event depends on, and whether its thread chose a branch before it.
    reads: Backs,
    chose: bool,
    /// What is converted comes behind operations that were part of it.
    is_late: bool,
}

/// Of a [`Kind::Join`] record: the thread would not have waited for ever.
const ATTEMPT: u64 = 1;

/// Detail of a [`Kind::Once`] record: the thread has run the initialisation.
const INITIALISED: u8 = 2;

/// What a thread has done when it continues.
#[derive(Clone, Copy)]
struct Unsaid {
    op: Op,
    object: u32,
    code: u64,
}

impl<'n, S: Sink> Converter<'n, S> {
    /// Begins a trace of a log that was surveyed.
    ///
    /// # Errors
    /// When the sink does not take it.
    pub fn new(layout: Layout, names: &'n dyn Names, sink: S) -> Result<Self, Error> {
        let mut converter = Self {
            sink,
            names,
            used: vec![false; layout.cuts.len()],
            layout,
            renewed: FxHashMap::default(),
            object_count: 0,
            sites: FxHashMap::default(),
            objects: FxHashMap::default(),
            locks: Locks::default(),
            inherited: FxHashSet::default(),
            unsaid: FxHashMap::default(),
            running: 0,
            next: 1,
            missing: FxHashMap::default(),
            owed: FxHashMap::default(),
            dependences: None,
            reads: Backs::new(),
            chose: false,
            is_late: false,
        };
        for name in std::mem::take(&mut converter.layout.threads) {
            converter.sink.thread(name)?;
        }
        // In the order of addresses: what lies together in memory has numbers that lie together.
        for piece in 0..converter.layout.cuts.len() {
            if converter.layout.numbers[piece].is_some() {
                let name = converter.piece_name(piece);
                converter.add_object(Object { subject: Subject::Memory, name })?;
            }
        }
        Ok(converter)
    }

    /// Computes on which reads events depend, from the code of the program.
    #[must_use]
    pub fn knowing(mut self, knowledge: &'n mut dyn Knowledge) -> Self {
        self.dependences = Some(Dependences::new(knowledge));
        self
    }

    /// Converts the next records of the log.
    ///
    /// # Errors
    /// When the log is not in order, or the sink does not take what comes.
    pub fn add(&mut self, records: &[Record]) -> Result<(), Error> {
        for record in records {
            match record.kind {
                Kind::Switch => {
                    self.miss(record.index);
                    self.running = record.object as u32;
                }
                // What static constructors did is not part of the execution.
                kind if kind.is_event() && record.index > 0 => self.event(record)?,
                Kind::Allocated | Kind::Mapped => {
                    let range = (record.object, record.object.saturating_add(record.extra));
                    self.layout.pieces(range).for_each(|piece| self.renew(piece));
                }
                Kind::Found => {
                    let object = self.object(Subject::Order, record.object)?;
                    self.push(record.thread, record.code, Op::Order, object, Some(0))?;
                }
                Kind::Began => self.push(record.thread, record.code, Op::Begin, NO_OBJECT, Some(0))?,
                Kind::Ended => self.push(record.thread, record.code, Op::End, NO_OBJECT, Some(0))?,
                Kind::Entered | Kind::Left | Kind::Branched | Kind::Called => {
                    if let Some(dependences) = &mut self.dependences {
                        dependences.pass(record);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The sink, with everything that was converted.
    pub fn finish(self) -> S {
        self.sink
    }

    /// The sink.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Events before this one that are not in the log belong to the running thread.
    fn miss(&mut self, index: u64) {
        if index > self.next {
            *self.missing.entry(self.running).or_default() += index - self.next;
            *self.owed.entry(self.running).or_default() += index - self.next;
            self.next = index;
        }
    }

    fn event(&mut self, record: &Record) -> Result<(), Error> {
        if record.index < self.next {
            if record.kind == Kind::Exit {
                // In programs that are drawn without it, the end of a thread is not an event.
                return self.leave_locks(record);
            }
            return self.late(record);
        }
        self.running = record.thread;
        self.miss(record.index);
        self.next = record.index + 1;
        if let Some(unsaid) = self.unsaid.remove(&record.thread) {
            // The log has a separate event if a wait did not end by a signal.
            if record.kind != Kind::WaitEnd {
                self.push(record.thread, unsaid.code, unsaid.op, unsaid.object, Some(0))?;
            }
        }
        if self.sink.fills_gaps() {
            for _ in 0..self.missing.remove(&record.thread).unwrap_or(0) {
                self.push(record.thread, record.code, Op::Local, NO_OBJECT, None)?;
            }
        }
        if let Some(dependences) = &mut self.dependences {
            self.reads.clear();
            self.chose = dependences.begin(record, &mut self.reads);
        }
        self.convert(record)
    }

    /// An operation within which its thread did others, as where the C library calls an allocator of the program's own: it
    /// has happened when the log has it, behind them. Its number was taken to be that of an event that is not in the log.
    fn late(&mut self, record: &Record) -> Result<(), Error> {
        let owed = self.owed.get_mut(&record.thread).filter(|owed| **owed > 0 && !record.kind.is_access());
        *owed.ok_or(Error::Disordered(record.index))? -= 1;
        self.is_late = true;
        let result = self.convert(record);
        self.is_late = false;
        result
    }

    fn convert(&mut self, record: &Record) -> Result<(), Error> {
        let tried = |op| if record.detail == 1 { op } else { Op::TryFailed };
        let is_excused = record.detail == EXCUSED;
        let op = match record.kind {
            // An access that must not be checked races as little as an atomic one.
            Kind::Read | Kind::ReadRange if is_excused => return self.access(record, Op::AtomicRead),
            Kind::Write | Kind::WriteRange if is_excused => return self.access(record, Op::AtomicWrite),
            Kind::Read | Kind::ReadRange => return self.access(record, Op::Read),
            Kind::Write | Kind::WriteRange | Kind::Free => return self.access(record, Op::Write),
            Kind::AtomicRead => return self.access(record, Op::AtomicRead),
            Kind::AtomicWrite => return self.access(record, Op::AtomicWrite),
            Kind::AtomicUpdate => return self.access(record, Op::Update),
            Kind::Create => Op::Fork,
            Kind::Join => match record.extra {
                0 => Op::Join,
                ATTEMPT => Op::TryJoin,
                _ => Op::Local,
            },
            Kind::Lock | Kind::WriteLock => Op::Acquire,
            Kind::Unlock => Op::Release,
            Kind::TryLock | Kind::TryWriteLock => tried(Op::TryAcquire),
            Kind::ReadLock => Op::AcquireShared,
            Kind::TryReadLock => tried(Op::TryAcquireShared),
            Kind::RwUnlock => Op::Release,
            Kind::Wait => {
                let mutex = self.object(Subject::Lock, record.extra)?;
                let (op, mutex) = match self.locks.release(record.extra, record.thread) {
                    Some(op) => (op, mutex),
                    None => (Op::Local, NO_OBJECT),
                };
                self.operation(record, op, mutex)?;
                let object = self.object(Subject::Condition, record.object)?;
                self.unsaid.insert(record.thread, Unsaid { op: Op::Wake, object, code: record.code });
                return self.push(record.thread, record.code, Op::Wait, object, Some(0));
            }
            Kind::BarrierWait => {
                let object = self.object(Subject::Barrier, record.object)?;
                self.unsaid.insert(record.thread, Unsaid { op: Op::Depart, object, code: record.code });
                return self.operation(record, Op::Arrive, object);
            }
            Kind::BarrierPass => Op::Depart,
            Kind::WaitEnd => Op::Wake,
            Kind::Signal => Op::Signal,
            Kind::Broadcast => Op::Broadcast,
            Kind::SemWait | Kind::SemTryWait => Op::Down,
            Kind::SemPost => Op::Post,
            Kind::Once if record.detail == INITIALISED => {
                let object = self.object(Subject::Order, record.object)?;
                self.operation(record, Op::Order, object)?;
                // Compiled code reads the first byte of a guard before it calls the library.
                return match self.layout.pieces((record.object, record.object + 1)) {
                    pieces if self.layout.is_touched(pieces.start) && !pieces.is_empty() => {
                        let location = self.location(pieces.start)?;
                        self.push(record.thread, record.code, Op::AtomicWrite, location, Some(0))
                    }
                    _ => Ok(()),
                };
            }
            Kind::Once | Kind::FutexWait | Kind::FutexWake | Kind::Io | Kind::State => Op::Order,
            Kind::Kill | Kind::Cancel | Kind::SignalWait | Kind::SignalSetup | Kind::Timer => Op::Order,
            // An annotation that passes something on.
            Kind::Fence if record.object != 0 => Op::Order,
            Kind::Exit => {
                self.operation(record, Op::Local, NO_OBJECT)?;
                return self.leave_locks(record);
            }
            _ => Op::Local,
        };
        let op = if op.acquires() {
            let (op, is_new) = self.locks.acquire(record.object, record.thread, op);
            if is_new {
                self.objects.remove(&(Subject::Lock, record.object));
                self.inherited.insert(record.object);
            }
            if self.inherited.contains(&record.object) {
                return self.inherit_lock(record, op);
            }
            op
        } else if op == Op::Release {
            self.locks.release(record.object, record.thread).unwrap_or(Op::Local)
        } else {
            op
        };
        let object = match (op.subject(), record.kind) {
            (Subject::Nothing, _) => NO_OBJECT,
            (Subject::Thread, _) => record.object as u32,
            (subject, Kind::Io) => self.object(subject, record.extra)?,
            // Everything that is not memory is one thing: an event can concern several parts of it.
            (subject, Kind::State) => self.object(subject, u64::MAX)?,
            // Everything that concerns signals, timers and cancellation is one thing.
            (subject, Kind::Kill | Kind::Cancel | Kind::SignalWait | Kind::SignalSetup | Kind::Timer) => {
                self.object(subject, 0)?
            }
            (subject, _) => self.object(subject, record.object)?,
        };
        self.operation(record, op, object)
    }

    /// A thread has ended. A thread that gets a lock it has kept comes after it: such a lock reports that its owner
    /// is dead.
    fn leave_locks(&mut self, record: &Record) -> Result<(), Error> {
        for lock in self.locks.left_by(record.thread) {
            let object = self.object(Subject::Order, lock)?;
            self.push(record.thread, record.code, Op::Order, object, Some(0))?;
        }
        Ok(())
    }

    /// A thread gets a lock that another one kept until its end. The first thread to get it learns that, so the order
    /// of these threads must stay.
    fn inherit_lock(&mut self, record: &Record, op: Op) -> Result<(), Error> {
        let left = self.object(Subject::Order, record.object)?;
        self.operation(record, Op::Order, left)?;
        let lock = self.object(Subject::Lock, record.object)?;
        self.push(record.thread, record.code, op, lock, Some(0))
    }

    fn access(&mut self, record: &Record, op: Op) -> Result<(), Error> {
        let pieces = self.layout.pieces(range(record));
        for piece in pieces.clone() {
            let location = self.location(piece)?;
            if let Some(dependences) = self.dependences.as_mut().filter(|_| op.writes()) {
                dependences.values(record, &mut self.reads);
            }
            if piece == pieces.start {
                self.operation(record, op, location)?;
            } else {
                self.push(record.thread, record.code, op, location, Some(0))?;
            }
            if record.kind == Kind::Free {
                self.renew(piece);
            }
        }
        if let Some(dependences) = &mut self.dependences {
            dependences.end(record, pieces.len() as u32);
        }
        Ok(())
    }

    /// A piece of memory is other memory from now on.
    fn renew(&mut self, piece: usize) {
        if std::mem::take(&mut self.used[piece]) {
            let (times, now) = self.renewed.entry(piece).or_default();
            *times += 1;
            *now = None;
        }
    }

    fn location(&mut self, piece: usize) -> Result<u32, Error> {
        self.used[piece] = true;
        let Some(&(times, now)) = self.renewed.get(&piece) else {
            return self.layout.numbers[piece].ok_or(Error::Disordered(self.next - 1));
        };
        if let Some(location) = now {
            return Ok(location);
        }
        let name = format!("{}'{times}", self.piece_name(piece));
        let location = self.add_object(Object { subject: Subject::Memory, name })?;
        self.renewed.insert(piece, (times, Some(location)));
        Ok(location)
    }

    fn piece_name(&self, piece: usize) -> String {
        let begin = self.layout.cuts[piece];
        let end = self.layout.cuts.get(piece + 1).copied().unwrap_or(begin);
        self.names.object(Subject::Memory, begin, end - begin)
    }

    fn object(&mut self, subject: Subject, address: u64) -> Result<u32, Error> {
        if let Some(&object) = self.objects.get(&(subject, address)) {
            return Ok(object);
        }
        let object = self.add_object(Object { subject, name: self.names.object(subject, address, 0) })?;
        self.objects.insert((subject, address), object);
        Ok(object)
    }

    fn add_object(&mut self, object: Object) -> Result<u32, Error> {
        let number = self.object_count;
        self.object_count = number.checked_add(1).filter(|&next| next < NO_OBJECT).ok_or(Error::TooMany("objects"))?;
        self.sink.object(object)?;
        Ok(number)
    }

    /// An operation of the program, or its first part.
    fn operation(&mut self, record: &Record, op: Op, object: u32) -> Result<(), Error> {
        let part = self.is_late.then_some(0);
        self.push(record.thread, record.code, op, object, part)
    }

    /// An event; with `Some` a part that was not missed by anybody.
    fn push(&mut self, thread: u32, code: u64, op: Op, object: u32, part: Option<u64>) -> Result<(), Error> {
        let site = match self.sites.get(&code) {
            Some(&site) => site,
            None => {
                let site = u32::try_from(self.sites.len()).map_err(|_| Error::TooMany("sites"))?;
                self.sink.site(self.names.site(code))?;
                self.sites.insert(code, site);
                site
            }
        };
        let skipped = part.unwrap_or_else(|| self.missing.remove(&thread).unwrap_or(0));
        if let Some(dependences) = &mut self.dependences {
            dependences.happened(thread);
        }
        let thread = u16::try_from(thread).map_err(|_| Error::TooMany("threads"))?;
        let chose = std::mem::take(&mut self.chose);
        let event = Event { thread, op, part: part.is_some(), chose, object, site };
        self.sink.event(event, skipped, &self.reads)?;
        self.reads.clear();
        Ok(())
    }
}
