//! The reads on which the events of a recording depend, as far as the program's code shows them.

use crate::{Error, Via};
use racehunter_log::{AccessMode, Entry, Event, SiteId};
use rustc_hash::FxHashMap;

/// An operation of a thread, for a [`Knowledge`] of the code.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of the instruction, from 0, if it has one.
    pub site: Option<u32>,
    /// It reads memory.
    pub reads: bool,
    /// It writes memory.
    pub writes: bool,
    /// Size of a simple access.
    pub bytes: Option<u64>,
}

/// The dependences of an operation. Reads are named by their first event, counted in their thread from 0, and their
/// number of events.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Reads that have influenced what the thread does, since its last operation or in this one. Each is named once.
    pub decisions: Vec<(u32, u32)>,
    /// Other reads that the written values depend on.
    pub values: Vec<(u32, u32)>,
    /// The thread has branched since its last operation.
    pub chose: bool,
}

/// Follows the threads of an execution through the code of the program. Instructions are named by their numbers, from
/// 0.
pub trait Knowledge {
    /// Handles a thread that enters a function, whose entry has this number. Only with `returns_here` can code of the
    /// program have called it, unless it calls nothing and touches no memory; then nothing is known about that.
    fn enter(&mut self, thread: u32, site: u32, returns_here: bool);
    /// Handles a thread that is about to leave it.
    fn leave(&mut self, thread: u32, site: u32);
    /// Handles a branch, which depends on a value.
    fn branch(&mut self, thread: u32, site: u32, value: u64);
    /// Handles a call of possibly unknown code.
    fn call(&mut self, thread: u32, site: u32);
    /// Handles an operation that is about to happen, and sets its dependences in `needs`, replacing what is there.
    fn before(&mut self, thread: u32, step: Step, needs: &mut Needs);
    /// Handles an operation that has happened, as these events.
    fn after(&mut self, thread: u32, step: Step, first: u32, count: u32);
    /// Notes that unknown code may run at any time from now on.
    fn interrupts(&mut self);
}

/// Dependences of an event: how many events of its thread the read lies back, and in which way it matters.
pub(super) type Backs = Vec<(u32, Via)>;

/// Counts the events of each thread, for a [`Knowledge`] of the code.
pub(super) struct Dependences<'n> {
    knowledge: &'n mut dyn Knowledge,
    /// Numbers of events of the threads that are not running.
    events: FxHashMap<u32, u32>,
    /// The running thread, and its events so far.
    running: (u32, u32),
    /// The dependences of the current operation.
    needs: Needs,
}

impl<'n> Dependences<'n> {
    pub(super) fn new(knowledge: &'n mut dyn Knowledge) -> Self {
        Self { knowledge, events: FxHashMap::default(), running: (0, 0), needs: Needs::default() }
    }

    /// Returns the number of events of a thread so far.
    fn count(&mut self, thread: u32) -> &mut u32 {
        if self.running.0 != thread {
            let count = self.events.remove(&thread).unwrap_or(0);
            let (before, events) = std::mem::replace(&mut self.running, (thread, count));
            self.events.insert(before, events);
        }
        &mut self.running.1
    }

    /// Handles a place in the code that is not an event.
    pub(super) fn pass(&mut self, entry: Entry<'_>, event: &Event) {
        let Some(SiteId(site)) = entry.site() else { return };
        let thread = entry.thread().0;
        match *event {
            Event::Enter { returns_here } => self.knowledge.enter(thread, site, returns_here),
            Event::Leave => self.knowledge.leave(thread, site),
            Event::Branch { value } => self.knowledge.branch(thread, site, value),
            Event::Call { .. } => self.knowledge.call(thread, site),
            _ => {}
        }
    }

    /// Starts an operation: adds its dependences, and returns whether its thread has branched before. For an access
    /// these decide its address; see [`Self::values`] for the rest.
    pub(super) fn begin(&mut self, entry: Entry<'_>, event: &Event, backs: &mut Backs) -> bool {
        if matches!(event, Event::SignalSetup { signal } if *signal != 0) {
            self.knowledge.interrupts();
        }
        let thread = entry.thread().0;
        self.knowledge.before(thread, step(entry, event), &mut self.needs);
        let now = *self.count(thread);
        let begin = backs.len();
        add(backs, now, &self.needs.decisions, Via::Decision);
        backs[begin..].sort_unstable_by_key(|&(back, _)| back);
        self.needs.chose
    }

    /// Adds the reads that flow into what an access writes, for the next event.
    pub(super) fn values(&mut self, thread: u32, backs: &mut Backs) {
        let now = *self.count(thread);
        add(backs, now, &self.needs.values, Via::Value);
    }

    /// Counts an event.
    pub(super) fn happened(&mut self, thread: u32) -> Result<(), Error> {
        let count = self.count(thread);
        *count = count.checked_add(1).ok_or(Error::TooMany("events of one thread"))?;
        Ok(())
    }

    /// Ends an operation with this many events.
    pub(super) fn end(&mut self, entry: Entry<'_>, event: &Event, count: u32) {
        let thread = entry.thread().0;
        let now = *self.count(thread);
        self.knowledge.after(thread, step(entry, event), now - count, count);
    }
}

/// Adds reads, by how far they lie back from now.
fn add(backs: &mut Backs, now: u32, reads: &[(u32, u32)], via: Via) {
    let events = reads.iter().flat_map(|&(first, count)| first..first + count);
    backs.extend(events.map(|event| (now - event, via)));
}

fn step(entry: Entry<'_>, event: &Event) -> Step {
    let site = entry.site().map(|site| site.0);
    match event {
        Event::Access(access) => {
            let is_simple = !access.mode.is_range() && access.mode != AccessMode::Free;
            let bytes = is_simple.then_some(access.size);
            Step { site, reads: access.mode.reads(), writes: access.mode.writes(), bytes }
        }
        _ => Step { site, reads: false, writes: false, bytes: Some(0) },
    }
}
