//! The index of a trace that every stage uses: one linear pass, which also checks that the trace can have happened.

use crate::Error;
use racehunter_trace::{EventId, Op, Subject, Trace};
use rustc_hash::FxHashMap;

/// No event, position or node.
pub(crate) const NONE: u32 = u32::MAX;

/// A trace and its index.
///
/// Events are named in two ways: by their number in the trace, and by thread and *position*, the number of earlier
/// events of the thread.
pub struct Index<'t> {
    pub(crate) trace: &'t Trace,
    /// Position of each event in its thread.
    pub(crate) position: Vec<u32>,
    /// The events of each thread.
    pub(crate) events: Vec<Vec<EventId>>,
    /// One event that each event depends on. Its meaning depends on the operation; see [`Index::required`] and
    /// [`Index::read_from`].
    link: Vec<u32>,
    /// The fork of each thread, or [`NONE`].
    pub(crate) forker: Vec<EventId>,
    /// All critical sections, ascending by thread and position within each lock.
    sections: Vec<Section>,
    /// For each object that is a lock the number of its row in `sections_start`, otherwise [`NONE`].
    sections_row: Vec<u32>,
    /// Rows of one more than there are threads: where the sections of each thread begin.
    sections_start: Vec<u32>,
    /// For each thread, ascending: from which position on it holds which locks.
    held: Vec<Vec<(u32, u32)>>,
    nodes: Vec<Node>,
    /// For each object, true if it is a location that several threads touch and at least one writes.
    shared: Vec<bool>,
}

/// A lock from its acquisition to its release; for a recursive lock, the outermost pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) thread: u16,
    /// Position of the acquisition.
    pub(crate) acquire: u32,
    /// Position of the release, or [`NONE`] when it was not released.
    pub(crate) release: u32,
    pub(crate) shared: bool,
}

/// A held lock, and the rest of them.
#[derive(Clone, Copy)]
struct Node {
    acquire: EventId,
    rest: u32,
}

#[derive(Default)]
struct Lock {
    /// Threads that hold it: thread, count, the outermost acquisition.
    holders: Vec<(u16, u32, EventId)>,
    shared: bool,
}

impl<'t> Index<'t> {
    /// Reads the whole trace once.
    ///
    /// # Errors
    /// If the trace cannot come from an execution: another thread acquires a held lock, or a thread acts before it was
    /// forked.
    pub fn new(trace: &'t Trace) -> Result<Self, Error> {
        let threads = trace.threads().len();
        let mut pass = Pass {
            index: Self {
                trace,
                position: Vec::with_capacity(trace.len()),
                events: trace.events_by_thread().into_iter().map(Vec::with_capacity).collect(),
                link: Vec::with_capacity(trace.len()),
                forker: vec![NONE; threads],
                sections: Vec::new(),
                sections_row: Vec::new(),
                sections_start: Vec::new(),
                held: vec![Vec::new(); threads],
                nodes: Vec::new(),
                shared: Vec::new(),
            },
            last: vec![NONE; trace.objects().len()],
            locks: FxHashMap::default(),
            joined: vec![false; threads],
        };
        for event in 0..trace.len() as EventId {
            pass.event(event).map_err(|reason| Error { event, reason })?;
        }
        let mut index = pass.index;
        index.shared = shared_locations(trace);
        index.collect_sections();
        Ok(index)
    }

    /// Returns the number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.events.len()
    }

    /// Returns the trace.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// Returns the locks that a thread holds when an event is about to happen: objects of the trace, the latest first.
    pub fn locks_at(&self, event: EventId) -> impl Iterator<Item = u32> + '_ {
        let (thread, position) = self.place(event);
        self.held_at(thread, position).map(|acquire| self.trace.object(acquire))
    }

    /// Thread and position of an event.
    pub(crate) fn place(&self, event: EventId) -> (usize, u32) {
        (usize::from(self.trace.thread(event)), self.position[event as usize])
    }

    /// Returns the write whose value a read saw, or [`NONE`] for the initial value.
    pub(crate) fn read_from(&self, read: EventId) -> EventId {
        debug_assert!(self.trace.op(read).reads());
        self.link[read as usize]
    }

    /// Returns the other end of the critical section of an acquisition or release: [`NONE`] for an acquisition without
    /// release, the event itself for the inner part of a recursive lock, which has no effect.
    pub(crate) fn other_end(&self, event: EventId) -> EventId {
        debug_assert!(self.trace.op(event).acquires() || self.trace.op(event).releases());
        self.link[event as usize]
    }

    /// Returns true for acquisitions and releases that change the owner of a lock.
    pub(crate) fn is_outermost(&self, event: EventId) -> bool {
        self.link[event as usize] != event
    }

    /// Returns the event, besides the previous one in its thread, that must come before an event in any order, or
    /// [`NONE`].
    pub(crate) fn required(&self, event: EventId) -> EventId {
        match self.trace.op(event).subject() {
            Subject::Memory | Subject::Nothing => {}
            Subject::Lock if self.trace.op(event) != Op::TryFailed => {}
            _ => return self.link[event as usize],
        }
        NONE
    }

    /// Returns the fork that must come before the first event of a thread, or [`NONE`].
    pub(crate) fn start_of(&self, thread: usize) -> EventId {
        self.forker[thread]
    }

    /// Returns true for locations that several threads touch and at least one writes.
    pub(crate) fn is_shared(&self, object: u32) -> bool {
        self.shared[object as usize]
    }

    /// Returns the critical sections of a lock in one thread, ascending.
    pub(crate) fn sections_of(&self, lock: u32, thread: usize) -> &[Section] {
        let row = self.sections_row[lock as usize];
        if row == NONE {
            return &[];
        }
        let at = row as usize * (self.threads() + 1) + thread;
        &self.sections[self.sections_start[at] as usize..self.sections_start[at + 1] as usize]
    }

    /// Returns the critical sections whose acquisition is at or after a position.
    pub(crate) fn sections_from(&self, lock: u32, thread: usize, acquire: u32) -> &[Section] {
        let all = self.sections_of(lock, thread);
        &all[all.partition_point(|section| section.acquire < acquire)..]
    }

    /// Returns the last critical section of another thread that begins before a position there and excludes the one
    /// that an acquisition begins.
    pub(crate) fn last_section(&self, acquire: EventId, other: usize, before: u32) -> Option<Section> {
        let shared = self.trace.op(acquire).shares();
        let sections = self.sections_of(self.trace.object(acquire), other);
        let begun = sections.partition_point(|section| section.acquire < before);
        sections[..begun].iter().rev().find(|section| !(shared && section.shared)).copied()
    }

    /// Returns how many events of each thread come before an event of the trace.
    pub(crate) fn done_at(&self, event: EventId) -> Vec<u32> {
        self.events.iter().map(|events| events.partition_point(|&other| other < event) as u32).collect()
    }

    /// Returns the outermost acquisitions of the locks that a thread holds after the given number of events, the latest
    /// first.
    pub(crate) fn held_at(&self, thread: usize, position: u32) -> impl Iterator<Item = EventId> + '_ {
        let marks = &self.held[thread];
        let at = marks.partition_point(|&(from, _)| from <= position);
        let mut node = if at == 0 { NONE } else { marks[at - 1].1 };
        std::iter::from_fn(move || {
            let Node { acquire, rest } = *self.nodes.get(node as usize)?;
            node = rest;
            Some(acquire)
        })
    }

    fn collect_sections(&mut self) {
        let mut sections: Vec<(u32, Section)> = Vec::new();
        for (thread, events) in self.events.iter().enumerate() {
            for (acquire, &event) in (0..).zip(events) {
                let op = self.trace.op(event);
                if op.acquires() && self.is_outermost(event) {
                    let release = self.other_end(event);
                    let release = if release == NONE { NONE } else { self.position[release as usize] };
                    let section = Section { thread: thread as u16, acquire, release, shared: op.shares() };
                    sections.push((self.trace.object(event), section));
                }
            }
        }
        sections.sort_by_key(|&(lock, _)| lock);
        self.sections_row = vec![NONE; self.trace.objects().len()];
        let mut begin = 0;
        for (row, of_lock) in (0..).zip(sections.chunk_by(|(one, _), (other, _)| one == other)) {
            self.sections_row[of_lock[0].0 as usize] = row;
            let before = |thread: usize| of_lock.partition_point(|(_, section)| usize::from(section.thread) < thread);
            self.sections_start.extend((0..=self.events.len()).map(|thread| (begin + before(thread)) as u32));
            begin += of_lock.len();
        }
        self.sections = sections.into_iter().map(|(_, section)| section).collect();
    }
}

/// The linear pass.
struct Pass<'t> {
    index: Index<'t>,
    /// For each object, the last write, or the last event that others must follow.
    last: Vec<EventId>,
    locks: FxHashMap<u32, Lock>,
    joined: Vec<bool>,
}

impl Pass<'_> {
    fn event(&mut self, event: EventId) -> Result<(), &'static str> {
        let trace = self.index.trace;
        let (thread, object) = (trace.thread(event), trace.object(event));
        let own = usize::from(thread);
        if self.joined[own] {
            return Err("its thread was joined before");
        }
        let op = trace.op(event);
        self.index.position.push(self.index.events[own].len() as u32);
        self.index.events[own].push(event);
        let link = match op {
            Op::Read | Op::AtomicRead => self.last[object as usize],
            Op::Write | Op::AtomicWrite => {
                self.last[object as usize] = event;
                NONE
            }
            Op::Update => std::mem::replace(&mut self.last[object as usize], event),
            Op::Acquire | Op::AcquireShared | Op::TryAcquire | Op::TryAcquireShared => {
                self.acquire(event, thread, object, op.shares())?
            }
            Op::Release | Op::ReleaseShared => self.release(event, thread, object, op == Op::ReleaseShared)?,
            Op::TryFailed => {
                let lock = self.locks.entry(object).or_default();
                // Of several readers, the last one will do.
                let others = lock.holders.iter().filter(|&&(holder, ..)| holder != thread);
                others.map(|&(.., acquire)| acquire).max().unwrap_or(NONE)
            }
            Op::Fork => {
                let child = object as usize;
                if child == own || self.index.forker[child] != NONE || !self.index.events[child].is_empty() {
                    return Err("the thread that it forks exists already");
                }
                self.index.forker[child] = event;
                NONE
            }
            Op::Join | Op::TryJoin => {
                let child = object as usize;
                if child == own {
                    return Err("a thread cannot join itself");
                }
                self.joined[child] = true;
                self.index.events[child].last().copied().unwrap_or(self.index.forker[child])
            }
            Op::Depart => self.last[object as usize],
            Op::Wait | Op::Wake | Op::Signal | Op::Broadcast | Op::Post | Op::Down | Op::Arrive | Op::Order => {
                std::mem::replace(&mut self.last[object as usize], event)
            }
            Op::Branch | Op::Enter | Op::Exit | Op::Begin | Op::End | Op::Local => NONE,
        };
        self.index.link.push(link);
        Ok(())
    }

    fn acquire(&mut self, event: EventId, thread: u16, object: u32, shared: bool) -> Result<EventId, &'static str> {
        let lock = self.locks.entry(object).or_default();
        if let Some((_, depth, _)) = lock.holders.iter_mut().find(|(holder, ..)| *holder == thread) {
            if lock.shared && !shared {
                return Err("it acquires for itself a lock that its thread shares");
            }
            *depth += 1;
            return Ok(event);
        }
        let compatible = lock.holders.is_empty() || (lock.shared && shared);
        if !compatible {
            return Err("it acquires a lock that another thread holds");
        }
        lock.shared = shared;
        lock.holders.push((thread, 1, event));
        let rest = self.index.held[usize::from(thread)].last().map_or(NONE, |&(_, node)| node);
        self.hold(thread, Node { acquire: event, rest });
        // The release will set it.
        Ok(NONE)
    }

    fn release(&mut self, event: EventId, thread: u16, object: u32, shared: bool) -> Result<EventId, &'static str> {
        let lock = self.locks.entry(object).or_default();
        let at = lock.holders.iter().position(|&(holder, ..)| holder == thread);
        let at = at.ok_or("it releases a lock that its thread does not hold")?;
        if lock.shared != shared {
            return Err("it releases a lock in another way than it was acquired");
        }
        lock.holders[at].1 -= 1;
        if lock.holders[at].1 > 0 {
            return Ok(event);
        }
        let (.., acquire) = lock.holders.swap_remove(at);
        self.index.link[acquire as usize] = event;
        // Locks are usually released in reverse order; everything above is put back.
        let own = usize::from(thread);
        let mut above = Vec::new();
        let mut node = self.index.held[own].last().map_or(NONE, |&(_, node)| node);
        while let Some(&Node { acquire: held, rest }) = self.index.nodes.get(node as usize) {
            node = rest;
            if held == acquire {
                break;
            }
            above.push(held);
        }
        if above.is_empty() {
            self.index.held[own].push((self.index.position[event as usize] + 1, node));
        }
        while let Some(acquire) = above.pop() {
            node = self.hold(thread, Node { acquire, rest: node });
        }
        Ok(acquire)
    }

    /// Notes what a thread holds from its next event on.
    fn hold(&mut self, thread: u16, node: Node) -> u32 {
        let own = usize::from(thread);
        let number = self.index.nodes.len() as u32;
        self.index.nodes.push(node);
        let from = self.index.events[own].len() as u32;
        match self.index.held[own].last_mut() {
            Some(last) if last.0 == from => last.1 = number,
            _ => self.index.held[own].push((from, number)),
        }
        number
    }
}

/// Returns for each object whether it is a location that several threads touch and at least one writes.
fn shared_locations(trace: &Trace) -> Vec<bool> {
    const SEVERAL: u32 = NONE - 1;
    let mut users = vec![(NONE, false); trace.objects().len()];
    for event in trace.events().filter(|event| event.op.is_access()) {
        let (user, written) = &mut users[event.object as usize];
        let thread = u32::from(event.thread);
        *user = if *user == NONE || *user == thread { thread } else { SEVERAL };
        *written |= event.op.writes();
    }
    users.into_iter().map(|(user, written)| user == SEVERAL && written).collect()
}
