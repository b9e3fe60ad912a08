//! The second pass over a log: its events, one after the other.

use super::depend::{Backs, Dependences, Knowledge};
use super::locks::Locks;
use super::survey::{Layout, Piece};
use crate::{Error, Event, NO_OBJECT, Object, Op, Subject, Via};
use racehunter_log::{
    Access, AccessMode, Address, Attempt, Entry, Event as Logged, JoinOutcome, LockMode, OncePhase, Record,
    descriptor_at, entries,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Receives a trace. Threads, objects and sites get their numbers in the order in which they arrive, from 0, before the
/// first event that uses them.
pub trait Sink {
    /// Receives the next thread.
    ///
    /// # Errors
    /// If it cannot be received.
    fn thread(&mut self, name: String) -> Result<(), Error>;
    /// Receives the next object.
    ///
    /// # Errors
    /// If it cannot be received.
    fn object(&mut self, object: Object) -> Result<(), Error>;
    /// Receives the next site.
    ///
    /// # Errors
    /// If it cannot be received.
    fn site(&mut self, name: String) -> Result<(), Error>;
    /// Receives the next event. `skipped` events of its thread, directly before it, are not in the log; `reads` says
    /// how many events back the reads lie that it depends on, and in which way.
    ///
    /// # Errors
    /// If it cannot be received.
    fn event(&mut self, event: Event, skipped: u64, reads: &[(u32, Via)]) -> Result<(), Error>;
    /// Returns true if events that are missing from the log are to be added, as events that concern no other thread.
    fn fills_gaps(&self) -> bool {
        false
    }
}

/// Names for people.
pub trait Names {
    /// Returns the name of an object at an address, with its size if it is memory.
    fn object(&self, subject: Subject, address: u64, size: u64) -> String;
    /// Returns the name of a place in the code. It must end in the address, see [`super::code_of`].
    fn site(&self, code: u64) -> String;
}

/// Uses addresses as names.
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
    /// How often pieces became different memory, and the current object of each. Pieces that never did are not listed.
    renewed: FxHashMap<u32, (u32, Option<u32>)>,
    /// Pieces that were used as what they are now.
    used: Vec<bool>,
    object_count: u32,
    sites: FxHashMap<u64, u32>,
    objects: FxHashMap<(Subject, u64), u32>,
    locks: Locks,
    /// Locks that were taken again although no thread had released them. From then on each counts as a new lock.
    inherited: FxHashSet<u64>,
    /// What threads have done but not logged: it shows by what they do next.
    unsaid: FxHashMap<u32, Unsaid>,
    /// The running thread, the next event, and how many events of each thread were not in the log.
    running: u32,
    next: u64,
    missing: FxHashMap<u32, u64>,
    /// How many of each thread's events the log did not have where they belong.
    owed: FxHashMap<u32, u64>,
    dependences: Option<Dependences<'n>>,
    /// The dependences of the next event, and whether its thread has branched before it.
    reads: Backs,
    chose: bool,
    /// The converted operation comes after operations that were part of it.
    is_late: bool,
    /// All input and output keeps its order.
    has_client: bool,
}

/// Stands for all channels. No channel has this number.
const CLIENT: Address = Address(u64::MAX - 1);

/// What a thread has done when it continues.
#[derive(Clone, Copy)]
struct Unsaid {
    op: Op,
    object: u32,
    code: u64,
}

impl<'n, S: Sink> Converter<'n, S> {
    /// Starts a trace of a log that was surveyed.
    ///
    /// # Errors
    /// If the sink does not accept it.
    pub fn new(layout: Layout, names: &'n dyn Names, sink: S) -> Result<Self, Error> {
        let mut converter = Self {
            sink,
            names,
            used: vec![false; layout.len()],
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
            has_client: false,
        };
        for name in std::mem::take(&mut converter.layout.threads) {
            converter.sink.thread(name)?;
        }
        // In the order of addresses, so that adjacent memory has adjacent numbers.
        let mut pieces = converter.layout.pieces((0, u64::MAX));
        while let Some(piece) = converter.layout.next(&mut pieces) {
            if piece.object.is_some() {
                let name = converter.piece_name(piece);
                converter.add_object(Object { subject: Subject::Memory, name })?;
            }
        }
        Ok(converter)
    }

    /// Adds the reads on which events depend, as far as the program's code shows them.
    #[must_use]
    pub fn knowing(mut self, knowledge: &'n mut dyn Knowledge) -> Self {
        self.dependences = Some(Dependences::new(knowledge));
        self
    }

    /// Keeps the order of all input and output. Another process, which is not in the log, may wait for an answer to one
    /// request before it makes the next one.
    #[must_use]
    pub fn with_client(mut self) -> Self {
        self.has_client = true;
        self
    }

    /// Converts the next records of the log.
    ///
    /// # Errors
    /// If the log is not in order, or the sink does not accept an event.
    pub fn add(&mut self, records: &[Record]) -> Result<(), Error> {
        for entry in entries(records) {
            let event = entry.event();
            match event {
                // What static constructors did is not part of the execution.
                _ if entry.is_operation() && entry.number().0 > 0 => self.event(entry, &event)?,
                Logged::Switch { to, .. } => {
                    self.miss(entry.number().0);
                    self.running = to.0;
                }
                Logged::Allocated { block, size, .. } | Logged::Mapped { block, size } => {
                    let mut pieces = self.layout.pieces((block.0, block.0.saturating_add(size)));
                    while let Some(piece) = self.layout.next(&mut pieces) {
                        self.renew(piece);
                    }
                }
                Logged::Taken { block, size } => self.take_in(entry, block, size)?,
                Logged::Found { object } => {
                    let object = self.object(Subject::Order, object)?;
                    self.part(entry, Op::Order, object)?;
                }
                Logged::BlockBegin => self.part(entry, Op::Begin, NO_OBJECT)?,
                Logged::BlockEnd => self.part(entry, Op::End, NO_OBJECT)?,
                Logged::Enter { .. } | Logged::Leave | Logged::Branch { .. } | Logged::Call { .. } => {
                    if let Some(dependences) = &mut self.dependences {
                        dependences.pass(entry, &event);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the sink, with everything that was converted.
    pub fn finish(self) -> S {
        self.sink
    }

    /// Returns the sink.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Attributes missing events before this one to the running thread.
    fn miss(&mut self, index: u64) {
        if index > self.next {
            *self.missing.entry(self.running).or_default() += index - self.next;
            *self.owed.entry(self.running).or_default() += index - self.next;
            self.next = index;
        }
    }

    fn event(&mut self, entry: Entry<'_>, event: &Logged) -> Result<(), Error> {
        let (number, thread) = (entry.number().0, entry.thread().0);
        if number < self.next {
            if *event == Logged::Exit {
                // Here the end of the thread has no event number of its own.
                return self.leave_locks(entry);
            }
            return self.late(entry, event);
        }
        self.running = thread;
        self.miss(number);
        self.next = number + 1;
        if let Some(unsaid) = self.unsaid.remove(&thread) {
            // The log has a separate event if a wait did not end by a signal.
            if !matches!(event, Logged::WaitEnd { .. }) {
                self.push(thread, unsaid.code, unsaid.op, unsaid.object, Some(0))?;
            }
        }
        if self.sink.fills_gaps() {
            for _ in 0..self.missing.remove(&thread).unwrap_or(0) {
                self.push(thread, entry.code().0, Op::Local, NO_OBJECT, None)?;
            }
        }
        if let Some(dependences) = &mut self.dependences {
            self.reads.clear();
            self.chose = dependences.begin(entry, event, &mut self.reads);
        }
        self.convert(entry, event)
    }

    /// Handles an operation within which its thread performed others, as when the C library calls the program's own
    /// allocator: it appears in the log after them. Its number was assumed to be that of a missing event.
    fn late(&mut self, entry: Entry<'_>, event: &Logged) -> Result<(), Error> {
        let owed = self.owed.get_mut(&entry.thread().0).filter(|owed| **owed > 0 && !entry.is_access());
        *owed.ok_or(Error::Disordered(entry.number().0))? -= 1;
        self.is_late = true;
        let result = self.convert(entry, event);
        self.is_late = false;
        result
    }

    fn convert(&mut self, entry: Entry<'_>, event: &Logged) -> Result<(), Error> {
        match *event {
            Logged::Access(access) => self.access(entry, event, access),
            Logged::Create { child, .. } => self.operation(entry, Op::Fork, child.0),
            Logged::Join { target, outcome } => match outcome {
                JoinOutcome::Joined => self.operation(entry, Op::Join, target.0),
                JoinOutcome::Tried => self.operation(entry, Op::TryJoin, target.0),
                JoinOutcome::Refused => self.operation(entry, Op::Local, NO_OBJECT),
            },
            Logged::Acquire { lock, mode, attempt } => self.acquire(entry, lock, mode, attempt),
            Logged::Release { is_refused: true, .. } => self.operation(entry, Op::Local, NO_OBJECT),
            Logged::Release { lock, .. } => {
                let op = self.locks.release(lock.0, entry.thread().0).unwrap_or(Op::Local);
                self.about(entry, op, lock)
            }
            Logged::Wait { condition, mutex, .. } => {
                let lock = self.object(Subject::Lock, mutex)?;
                match self.locks.release(mutex.0, entry.thread().0) {
                    Some(op) => self.operation(entry, op, lock)?,
                    None => self.operation(entry, Op::Local, NO_OBJECT)?,
                }
                let object = self.object(Subject::Condition, condition)?;
                self.unsaid(entry, Op::Wake, object);
                self.part(entry, Op::Wait, object)
            }
            Logged::BarrierArrive { barrier } => {
                let object = self.object(Subject::Barrier, barrier)?;
                self.unsaid(entry, Op::Depart, object);
                self.operation(entry, Op::Arrive, object)
            }
            Logged::BarrierPass { barrier } => self.about(entry, Op::Depart, barrier),
            Logged::WaitEnd { condition, .. } => self.about(entry, Op::Wake, condition),
            Logged::Signal { condition } => self.about(entry, Op::Signal, condition),
            Logged::Broadcast { condition } => self.about(entry, Op::Broadcast, condition),
            Logged::SemaphoreWait { semaphore, .. } => self.about(entry, Op::Down, semaphore),
            Logged::SemaphorePost { semaphore } => self.about(entry, Op::Post, semaphore),
            Logged::Once { object, phase } => {
                self.about(entry, Op::Order, object)?;
                if phase == OncePhase::Done { self.initialised(entry, object) } else { Ok(()) }
            }
            Logged::FutexWait { futex: object, .. } | Logged::FutexWake { futex: object } => {
                self.about(entry, Op::Order, object)
            }
            Logged::Io { .. } if self.has_client => self.about(entry, Op::Order, CLIENT),
            Logged::Io { channel, .. } => self.about(entry, Op::Order, channel),
            // All state other than memory is one object: an event can concern several parts of it.
            Logged::State { .. } => self.about(entry, Op::Order, Address(u64::MAX)),
            // Signals, timers, cancellation, and what is not known are one object.
            Logged::Kill { .. }
            | Logged::Cancel { .. }
            | Logged::SignalWait { .. }
            | Logged::SignalSetup { .. }
            | Logged::Other
            | Logged::Timer { .. } => self.about(entry, Op::Order, Address(0)),
            // A happens-before annotation.
            Logged::Fence { annotation } if annotation.0 != 0 => self.about(entry, Op::Order, annotation),
            Logged::Exit => {
                self.operation(entry, Op::Local, NO_OBJECT)?;
                self.leave_locks(entry)
            }
            _ => self.operation(entry, Op::Local, NO_OBJECT),
        }
    }

    /// Handles an operation on the object at an address, of the operation's kind.
    fn about(&mut self, entry: Entry<'_>, op: Op, address: Address) -> Result<(), Error> {
        let object = match op.subject() {
            Subject::Nothing => NO_OBJECT,
            subject => self.object(subject, address)?,
        };
        self.operation(entry, op, object)
    }

    fn acquire(&mut self, entry: Entry<'_>, lock: Address, mode: LockMode, attempt: Attempt) -> Result<(), Error> {
        let op = match (mode, attempt) {
            (_, Attempt::Failed) => return self.about(entry, Op::TryFailed, lock),
            (LockMode::Mutex | LockMode::Write, Attempt::Blocking) => Op::Acquire,
            (LockMode::Mutex | LockMode::Write, Attempt::Succeeded) => Op::TryAcquire,
            (LockMode::Read, Attempt::Blocking) => Op::AcquireShared,
            (LockMode::Read, Attempt::Succeeded) => Op::TryAcquireShared,
        };
        let (op, is_new) = self.locks.acquire(lock.0, entry.thread().0, op);
        if is_new {
            self.objects.remove(&(Subject::Lock, lock.0));
            self.inherited.insert(lock.0);
        }
        if self.inherited.contains(&lock.0) { self.inherit_lock(entry, lock, op) } else { self.about(entry, op, lock) }
    }

    /// Handles the end of a once-only initialisation. The compiler's code reads the first byte of a guard before it
    /// calls the library.
    fn initialised(&mut self, entry: Entry<'_>, guard: Address) -> Result<(), Error> {
        let mut first = self.layout.pieces((guard.0, guard.0.saturating_add(1)));
        let Some(piece) = self.layout.next(&mut first).filter(|piece| piece.object.is_some()) else { return Ok(()) };
        let location = self.location(piece)?;
        self.part(entry, Op::AtomicWrite, location)
    }

    /// Notes what a thread has done when it continues: it shows by what it does next.
    fn unsaid(&mut self, entry: Entry<'_>, op: Op, object: u32) {
        self.unsaid.insert(entry.thread().0, Unsaid { op, object, code: entry.code().0 });
    }

    /// Handles the end of a thread. A thread that acquires a lock that it kept comes after its end: the lock reports
    /// that its owner has died.
    fn leave_locks(&mut self, entry: Entry<'_>) -> Result<(), Error> {
        for lock in self.locks.left_by(entry.thread().0) {
            let object = self.object(Subject::Order, Address(lock))?;
            self.part(entry, Op::Order, object)?;
        }
        Ok(())
    }

    /// Handles the acquisition of a lock that another thread kept to its end. The first thread that acquires it learns
    /// this, so the order of these threads must stay.
    fn inherit_lock(&mut self, entry: Entry<'_>, lock: Address, op: Op) -> Result<(), Error> {
        let left = self.object(Subject::Order, lock)?;
        self.operation(entry, Op::Order, left)?;
        let lock = self.object(Subject::Lock, lock)?;
        self.part(entry, op, lock)
    }

    fn access(&mut self, entry: Entry<'_>, event: &Logged, access: Access) -> Result<(), Error> {
        // The kernel hands out descriptors: a number that one thread has closed may be that of another thread's next file.
        // So uses of a number keep their order.
        if descriptor_at(access.address.0).is_some() {
            return self.about(entry, Op::Order, access.address);
        }
        let op = match access.mode {
            // Accesses that annotations excuse race as little as atomic accesses do.
            AccessMode::Read | AccessMode::ReadRange if access.is_excused => Op::AtomicRead,
            AccessMode::Write | AccessMode::WriteRange if access.is_excused => Op::AtomicWrite,
            AccessMode::Read | AccessMode::ReadRange => Op::Read,
            AccessMode::Write | AccessMode::WriteRange | AccessMode::Free => Op::Write,
            AccessMode::AtomicRead => Op::AtomicRead,
            AccessMode::AtomicWrite => Op::AtomicWrite,
            AccessMode::AtomicUpdate => Op::Update,
        };
        let mut pieces = self.layout.pieces(access.range());
        let mut count = 0;
        while let Some(piece) = self.layout.next(&mut pieces) {
            let location = self.location(piece)?;
            if let Some(dependences) = self.dependences.as_mut().filter(|_| op.writes()) {
                dependences.values(entry.thread().0, &mut self.reads);
            }
            count += 1;
            if count == 1 {
                self.operation(entry, op, location)?;
            } else {
                self.part(entry, op, location)?;
            }
            if access.mode == AccessMode::Free {
                self.renew(piece);
            }
        }
        if let Some(dependences) = &mut self.dependences {
            dependences.end(entry, event, count);
        }
        Ok(())
    }

    /// Handles memory that the C library has read, or copies to memory of another name. What it does with it is not followed, so it
    /// counts as if it decided what the thread does next.
    fn take_in(&mut self, entry: Entry<'_>, block: Address, size: u64) -> Result<(), Error> {
        let mut pieces = self.layout.pieces((block.0, block.0.saturating_add(size)));
        let mut count = 0;
        while let Some(piece) = self.layout.next(&mut pieces) {
            if piece.object.is_some() && self.used[piece.number as usize] {
                let location = self.location(piece)?;
                self.part(entry, Op::Read, location)?;
                count += 1;
            }
        }
        if count > 0 {
            self.reads.extend((1..=count).map(|back| (back, Via::Decision)));
            self.part(entry, Op::Local, NO_OBJECT)?;
        }
        Ok(())
    }

    /// Makes a piece of memory different memory from now on.
    fn renew(&mut self, piece: Piece) {
        if std::mem::take(&mut self.used[piece.number as usize]) {
            let (times, now) = self.renewed.entry(piece.number).or_default();
            *times += 1;
            *now = None;
        }
    }

    fn location(&mut self, piece: Piece) -> Result<u32, Error> {
        self.used[piece.number as usize] = true;
        let Some(&(times, now)) = self.renewed.get(&piece.number) else {
            return piece.object.ok_or(Error::Disordered(self.next - 1));
        };
        if let Some(location) = now {
            return Ok(location);
        }
        let name = format!("{}'{times}", self.piece_name(piece));
        let location = self.add_object(Object { subject: Subject::Memory, name })?;
        self.renewed.insert(piece.number, (times, Some(location)));
        Ok(location)
    }

    fn piece_name(&self, piece: Piece) -> String {
        let end = self.layout.end_of(piece.begin);
        self.names.object(Subject::Memory, piece.begin, end - piece.begin)
    }

    fn object(&mut self, subject: Subject, address: Address) -> Result<u32, Error> {
        let Address(address) = address;
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

    /// Adds an operation of the program, or its first part.
    fn operation(&mut self, entry: Entry<'_>, op: Op, object: u32) -> Result<(), Error> {
        let part = self.is_late.then_some(0);
        self.push(entry.thread().0, entry.code().0, op, object, part)
    }

    /// Adds a further part of it, or something without a number of its own.
    fn part(&mut self, entry: Entry<'_>, op: Op, object: u32) -> Result<(), Error> {
        self.push(entry.thread().0, entry.code().0, op, object, Some(0))
    }

    /// Adds an event; with `Some`, a part that does not count as missing.
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
            dependences.happened(thread)?;
        }
        let thread = u16::try_from(thread).map_err(|_| Error::TooMany("threads"))?;
        let chose = std::mem::take(&mut self.chose);
        let event = Event { thread, op, part: part.is_some(), chose, object, site };
        self.sink.event(event, skipped, &self.reads)?;
        self.reads.clear();
        Ok(())
    }
}
