//! Traces in memory.

use crate::{Error, Op, Subject};
use rustc_hash::FxHashMap;

/// Number of an event: its position in the trace, from 0.
pub type EventId = u32;

/// The object of an event that has none.
pub const NO_OBJECT: u32 = u32::MAX;

/// One event, taken out of the columns of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Its thread.
    pub thread: u16,
    /// Its operation.
    pub op: Op,
    /// True if it belongs to the previous event of the same thread: one operation of the program can be several events
    /// (an access to memory that others access in parts, a wait that first releases a mutex).
    pub part: bool,
    /// True if the thread took a branch between its previous event and this one: the same as an [`Op::Branch`] between
    /// the two, without a separate event.
    pub chose: bool,
    /// Its object: an index into the objects, the number of another thread, or [`NO_OBJECT`], depending on
    /// [`Op::subject`].
    pub object: u32,
    /// Its place in the program: an index into the sites.
    pub site: u32,
}

/// Something that events operate on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its kind.
    pub subject: Subject,
    /// Its name, for people.
    pub name: String,
}

/// How a read matters to a later event of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Via {
    /// The value that the event writes depends on it.
    Value,
    /// Its value decides what the event is or whether the thread reaches it: the condition of a branch, the address
    /// of an access, the lock that is taken, a divisor, an argument of code that cannot be seen.
    Decision,
}

/// An event depends on an earlier read of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dependence {
    /// The read.
    pub read: EventId,
    /// In which way.
    pub via: Via,
}

/// The reads that events depend on, for a trace whose origin knows them.
///
/// An event that is not listed depends on no read. Dependence is direct: it runs through registers and temporary values
/// of the thread, not through memory, because a value that passes through memory is read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependences {
    /// Events with dependences, ascending.
    events: Vec<EventId>,
    /// The start of each event's entries in `entries`; one more than `events`.
    starts: Vec<u32>,
    entries: Vec<Dependence>,
}

impl Dependences {
    /// Returns the dependences of an event.
    #[must_use]
    pub fn of(&self, event: EventId) -> &[Dependence] {
        match self.events.binary_search(&event) {
            Ok(at) => {
                let end = self.starts.get(at + 1).map_or(self.entries.len(), |&start| start as usize);
                &self.entries[self.starts[at] as usize..end]
            }
            Err(_) => &[],
        }
    }

    /// Returns all events with dependences, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, &[Dependence])> {
        self.events.iter().enumerate().map(|(at, &event)| {
            let end = self.starts.get(at + 1).map_or(self.entries.len(), |&start| start as usize);
            (event, &self.entries[self.starts[at] as usize..end])
        })
    }

    /// Adds a dependence of the last event so far; `event` is at least as large as all before.
    fn push(&mut self, event: EventId, dependence: Dependence) {
        if self.events.last() != Some(&event) {
            self.events.push(event);
            self.starts.push(self.entries.len() as u32);
        }
        self.entries.push(dependence);
    }
}

/// What a trace was recorded from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The program.
    pub program: String,
    /// Its identity: a rebuilt program is a different one.
    pub identity: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The file that was its standard input, if any.
    pub input: Option<String>,
}

/// How the recorded execution ended, and what the recording does not have of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// How it ended, as the predicate of a sentence about it.
    pub outcome: String,
    /// It failed by itself.
    pub is_failure: bool,
    /// The trace has all of it, not only its start.
    pub is_whole: bool,
    /// What it reached that is not in the trace, and where. Threads may be ordered by it, or depend on it, so a reordering of the
    /// trace may be none of the program.
    pub unseen: Vec<String>,
}

/// The events of one execution, in order, as columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    threads: Vec<String>,
    objects: Vec<Object>,
    sites: Vec<String>,
    thread: Vec<u16>,
    /// [`Op`] and, in the highest bits, whether the event is a part, and whether its thread branched before it.
    op: Vec<u8>,
    object: Vec<u32>,
    site: Vec<u32>,
    branches: bool,
    dependences: Option<Dependences>,
    origin: Option<Origin>,
    ending: Option<Ending>,
    /// The number of events at the start that stand for what happened before the trace.
    opening: EventId,
}

/// A bit of [`Event::shape`].
pub(crate) const PART: u8 = 0x80;
/// See [`PART`].
pub(crate) const CHOSE: u8 = 0x40;

impl Event {
    /// Returns the operation and the two flags as one byte.
    pub(crate) fn shape(self) -> u8 {
        self.op as u8 | if self.part { PART } else { 0 } | if self.chose { CHOSE } else { 0 }
    }
}

impl Trace {
    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.thread.len()
    }

    /// Returns true if there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.thread.is_empty()
    }

    /// Returns the event with this number.
    ///
    /// # Panics
    /// If the trace has no event with this number.
    #[must_use]
    pub fn event(&self, id: EventId) -> Event {
        let at = id as usize;
        Event {
            thread: self.thread[at],
            op: self.op(id),
            part: self.op[at] & PART != 0,
            chose: self.op[at] & CHOSE != 0,
            object: self.object[at],
            site: self.site[at],
        }
    }

    /// Returns what an event does.
    #[must_use]
    pub fn op(&self, id: EventId) -> Op {
        // Only numbers of operations get into the column.
        Op::ALL[usize::from(self.op[id as usize] & !(PART | CHOSE))]
    }

    /// Returns true if the thread of an event took a branch before it, or the event is that branch.
    #[must_use]
    pub fn follows_choice(&self, id: EventId) -> bool {
        self.op[id as usize] & CHOSE != 0 || self.op(id) == Op::Branch
    }

    /// Returns the thread of an event.
    #[must_use]
    pub fn thread(&self, id: EventId) -> u16 {
        self.thread[id as usize]
    }

    /// Returns the object of an event.
    #[must_use]
    pub fn object(&self, id: EventId) -> u32 {
        self.object[id as usize]
    }

    /// Returns the site of an event.
    #[must_use]
    pub fn site(&self, id: EventId) -> u32 {
        self.site[id as usize]
    }

    /// Returns all events, in order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        (0..self.len() as EventId).map(|id| self.event(id))
    }

    /// Returns the number of events of each thread.
    #[must_use]
    pub fn events_by_thread(&self) -> Vec<usize> {
        let mut counts = vec![0; self.threads.len()];
        for &thread in &self.thread {
            counts[usize::from(thread)] += 1;
        }
        counts
    }

    /// Returns the names of the threads, by number.
    #[must_use]
    pub fn threads(&self) -> &[String] {
        &self.threads
    }

    /// Returns the objects, by number.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Returns the names of the sites, by number.
    #[must_use]
    pub fn sites(&self) -> &[String] {
        &self.sites
    }

    /// Returns its origin, if that is known.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns how the recorded execution ended, if that is known.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Returns the number of events at the start that stand for what happened before the trace: acquisitions of locks
    /// that threads hold when it begins, and the starts of blocks that they are in. Nothing may come before them.
    #[must_use]
    pub fn opening(&self) -> EventId {
        self.opening
    }

    /// Returns true if every branch that a thread took is in it. Otherwise there may have been one before any event.
    #[must_use]
    pub fn has_branches(&self) -> bool {
        self.branches
    }

    /// Returns the dependences, if they are known. Otherwise every event may depend on every earlier read of its
    /// thread.
    #[must_use]
    pub fn dependences(&self) -> Option<&Dependences> {
        self.dependences.as_ref()
    }
}

/// Builds a [`Trace`], event by event.
///
/// Numbers are assigned in order of first use, so that frequently used objects mostly have small ones.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    trace: Trace,
    threads: FxHashMap<String, u16>,
    objects: [FxHashMap<String, u32>; Subject::ALL.len()],
    sites: FxHashMap<String, u32>,
}

impl From<Trace> for TraceBuilder {
    /// Continues a trace. Its names are not looked up again: an object that is requested by name is new.
    fn from(trace: Trace) -> Self {
        Self { trace, ..Self::default() }
    }
}

impl TraceBuilder {
    /// Returns an empty trace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of the thread with this name.
    ///
    /// # Errors
    /// If there are more than 65,535 threads.
    pub fn thread(&mut self, name: &str) -> Result<u16, Error> {
        if let Some(&number) = self.threads.get(name) {
            return Ok(number);
        }
        let number = u16::try_from(self.trace.threads.len())
            .ok()
            .filter(|&number| number != u16::MAX)
            .ok_or(Error::TooMany("threads"))?;
        self.threads.insert(name.to_owned(), number);
        self.trace.threads.push(name.to_owned());
        Ok(number)
    }

    /// Returns the number of the object of this kind with this name.
    ///
    /// # Errors
    /// If there are too many objects.
    pub fn object(&mut self, subject: Subject, name: &str) -> Result<u32, Error> {
        if let Some(&number) = self.objects[subject as usize].get(name) {
            return Ok(number);
        }
        let number = self.add_object(Object { subject, name: name.to_owned() })?;
        self.objects[subject as usize].insert(name.to_owned(), number);
        Ok(number)
    }

    /// Adds a new object, even if another one has its name.
    ///
    /// # Errors
    /// If there are too many objects.
    pub fn add_object(&mut self, object: Object) -> Result<u32, Error> {
        let number = small(self.trace.objects.len(), "objects")?;
        self.trace.objects.push(object);
        Ok(number)
    }

    /// Returns the number of the site with this name.
    ///
    /// # Errors
    /// If there are too many sites.
    pub fn site(&mut self, name: &str) -> Result<u32, Error> {
        if let Some(&number) = self.sites.get(name) {
            return Ok(number);
        }
        let number = self.add_site(name.to_owned())?;
        self.sites.insert(name.to_owned(), number);
        Ok(number)
    }

    /// Adds a new site, even if another one has its name.
    pub(crate) fn add_site(&mut self, name: String) -> Result<u32, Error> {
        let number = small(self.trace.sites.len(), "sites")?;
        self.trace.sites.push(name);
        Ok(number)
    }

    /// Adds a new thread, even if another one has its name.
    pub(crate) fn add_thread(&mut self, name: String) -> Result<u16, Error> {
        let number = u16::try_from(self.trace.threads.len())
            .ok()
            .filter(|&number| number != u16::MAX)
            .ok_or(Error::TooMany("threads"))?;
        self.trace.threads.push(name);
        Ok(number)
    }

    /// Reserves memory for this many more events.
    pub fn reserve(&mut self, events: usize) {
        self.trace.thread.reserve(events);
        self.trace.op.reserve(events);
        self.trace.object.reserve(events);
        self.trace.site.reserve(events);
    }

    /// Appends an event. This builder must have assigned its numbers.
    ///
    /// # Errors
    /// If there are too many events.
    ///
    /// # Panics
    /// If the thread, the object or the site does not exist, or the object is of another kind than the operation needs.
    pub fn push(&mut self, event: Event) -> Result<EventId, Error> {
        let id = small(self.trace.len(), "events")?;
        assert!(usize::from(event.thread) < self.trace.threads.len(), "no thread {}", event.thread);
        assert!((event.site as usize) < self.trace.sites.len(), "no site {}", event.site);
        match event.op.subject() {
            Subject::Nothing => assert_eq!(event.object, NO_OBJECT, "no object for {:?}", event.op),
            Subject::Thread => assert!((event.object as usize) < self.trace.threads.len(), "no other thread"),
            subject => assert_eq!(
                self.trace.objects.get(event.object as usize).map(|object| object.subject),
                Some(subject),
                "wrong object for {:?}",
                event.op
            ),
        }
        self.push_checked(event);
        Ok(id)
    }

    /// Appends an event whose numbers were checked.
    pub(crate) fn push_checked(&mut self, event: Event) {
        self.trace.thread.push(event.thread);
        self.trace.op.push(event.shape());
        self.trace.object.push(event.object);
        self.trace.site.push(event.site);
    }

    /// Adds a dependence of an event after later events were appended; in ascending order of events.
    pub(crate) fn depend_checked(&mut self, event: EventId, dependence: Dependence) {
        self.trace.dependences.get_or_insert_default().push(event, dependence);
    }

    /// Adds a dependence of the last event on an earlier read of its thread. The trace then has dependences.
    ///
    /// # Panics
    /// If there is no event, or `dependence.read` is not an earlier read of the same thread.
    pub fn depend(&mut self, dependence: Dependence) {
        let last = self.trace.len() as EventId - 1;
        assert!(dependence.read < last && self.trace.op(dependence.read).reads(), "not an earlier read");
        assert_eq!(self.trace.thread(dependence.read), self.trace.thread(last), "a read of another thread");
        self.trace.dependences.get_or_insert_default().push(last, dependence);
    }

    /// Returns the trace so far.
    #[must_use]
    pub fn so_far(&self) -> &Trace {
        &self.trace
    }

    /// Removes the first events of the trace, and puts others, which stand for what they have left behind, before the
    /// rest. Dependences on removed reads are removed too: these reads have happened.
    pub(crate) fn replace_start(&mut self, removed: usize, opening: &[Event]) {
        let trace = &mut self.trace;
        trace.thread.splice(..removed, opening.iter().map(|event| event.thread));
        trace.op.splice(..removed, opening.iter().map(|event| event.shape()));
        trace.object.splice(..removed, opening.iter().map(|event| event.object));
        trace.site.splice(..removed, opening.iter().map(|event| event.site));
        trace.opening = opening.len() as EventId;
        if let Some(dependences) = &mut trace.dependences {
            let moved = |event: EventId| Some(event.checked_sub(removed as EventId)? + opening.len() as EventId);
            let mut kept = Dependences::default();
            for (event, entries) in dependences.iter() {
                let Some(event) = moved(event) else { continue };
                for entry in entries {
                    match moved(entry.read) {
                        Some(read) => kept.push(event, Dependence { read, via: entry.via }),
                        // That something was decided there remains true.
                        None if entry.via == Via::Decision => trace.op[event as usize] |= CHOSE,
                        None => {}
                    }
                }
            }
            *dependences = kept;
        }
    }

    /// Notes that a thread decided something before an event.
    pub(crate) fn mark_choice(&mut self, event: EventId) {
        self.trace.op[event as usize] |= CHOSE;
    }

    /// Sets the origin of the trace.
    pub fn set_origin(&mut self, origin: Origin) {
        self.trace.origin = Some(origin);
    }

    /// Sets how the recorded execution ended.
    pub fn set_ending(&mut self, ending: Ending) {
        self.trace.ending = Some(ending);
    }

    /// Notes that every branch is in it.
    pub fn set_branches(&mut self) {
        self.trace.branches = true;
    }

    /// Notes that dependences are known: events without any have none.
    pub fn set_dependences(&mut self) {
        self.trace.dependences.get_or_insert_default();
    }

    /// Returns the trace, with its objects renumbered by kind and name, where numbers at the end of names are compared
    /// as numbers. Adjacent memory then has adjacent numbers, which takes less room in a file.
    #[must_use]
    pub fn finish_sorted(self) -> Trace {
        let mut trace = self.trace;
        let mut order: Vec<u32> = (0..trace.objects.len() as u32).collect();
        order.sort_by_cached_key(|&old| {
            let object = &trace.objects[old as usize];
            let (prefix, number) = natural(&object.name);
            (object.subject, prefix.to_owned(), number, object.name.clone())
        });
        let mut new_number = vec![0; order.len()];
        for (new, &old) in (0..).zip(&order) {
            new_number[old as usize] = new;
        }
        for (object, op) in trace.object.iter_mut().zip(&trace.op) {
            if Op::ALL[usize::from(op & !(PART | CHOSE))].subject().has_object() {
                *object = new_number[*object as usize];
            }
        }
        let mut objects = std::mem::take(&mut trace.objects);
        let blank = || Object { subject: Subject::Nothing, name: String::new() };
        trace.objects = order.iter().map(|&old| std::mem::replace(&mut objects[old as usize], blank())).collect();
        trace
    }

    /// Returns the trace.
    #[must_use]
    pub fn finish(self) -> Trace {
        self.trace
    }
}

/// Returns the next number of a table.
fn small(len: usize, what: &'static str) -> Result<u32, Error> {
    u32::try_from(len).ok().filter(|&number| number < u32::MAX - 1).ok_or(Error::TooMany(what))
}

/// Returns a name without the number at its end, and the number. Addresses are numbers.
fn natural(name: &str) -> (&str, u64) {
    if let Some(digits) = name.strip_prefix("0x") {
        let end = digits.find(|character: char| !character.is_ascii_hexdigit()).unwrap_or(digits.len());
        if let Ok(address) = u64::from_str_radix(&digits[..end], 16) {
            return ("0x", address);
        }
    }
    let prefix = name.trim_end_matches(|character: char| character.is_ascii_digit());
    (prefix, name[prefix.len()..].parse().unwrap_or(0))
}
