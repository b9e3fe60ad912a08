//! On which reads the events of a recording depend, as far as the program's code shows.

use crate::Via;
use racehunter_event::{Kind, Record};
use rustc_hash::FxHashMap;

/// An operation of a thread, for an implementation that knows the code.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of the instruction, from 0, if it has one.
    pub site: Option<u32>,
    /// It takes values from memory.
    pub reads: bool,
    /// It puts values there.
    pub writes: bool,
    /// Size of a simple access.
    pub bytes: Option<u64>,
}

/// What an operation depends on. Reads are named by the first of their events, counted in their thread from 0, and how
/// many they have.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Reads that influenced what the thread does, since its last operation or in this one. Each is named once.
    pub decisions: Vec<(u32, u32)>,
    /// Other reads that the values that it writes are made of.
    pub values: Vec<(u32, u32)>,
    /// The thread has chosen a branch since its last operation.
    pub chose: bool,
}

/// Follows the threads of an execution through the code of the program. Instructions are named by their numbers, from 0.
pub trait Knowledge {
    /// A thread enters a function, whose entry has this number. It can have been called by code of the program only
    /// with `returns_here`, unless it calls nothing and touches no memory, in which case nothing is known about that.
    fn enter(&mut self, thread: u32, site: u32, returns_here: bool);
    /// It is about to leave the function.
    fn leave(&mut self, thread: u32, site: u32);
    /// It chooses a branch, by a value.
    fn branch(&mut self, thread: u32, site: u32, value: u64);
    /// It calls a function that may not be known.
    fn call(&mut self, thread: u32, site: u32);
    /// It is about to do something: what does that depend on? The previous content of `needs` is replaced.
    fn before(&mut self, thread: u32, step: Step, needs: &mut Needs);
    /// It has done that: these events.
    fn after(&mut self, thread: u32, step: Step, first: u32, count: u32);
    /// From now on, code that the program's code does not show may run at any time.
    fn interrupts(&mut self);
}

/// Dependences of an event: how many events of its thread the read lies back, and in which way it matters.
pub(super) type Backs = Vec<(u32, Via)>;

/// Counts the events of each thread, for an implementation that knows the code.
pub(super) struct Dependences<'n> {
    knowledge: &'n mut dyn Knowledge,
    /// Events of the threads that do not run.
    events: FxHashMap<u32, u32>,
    /// The thread that runs, and its events so far.
    running: (u32, u32),
    /// What the operation that happens now depends on.
    needs: Needs,
}

impl<'n> Dependences<'n> {
    pub(super) fn new(knowledge: &'n mut dyn Knowledge) -> Self {
        Self { knowledge, events: FxHashMap::default(), running: (0, 0), needs: Needs::default() }
    }

    /// The events of a thread so far.
    fn count(&mut self, thread: u32) -> &mut u32 {
        if self.running.0 != thread {
            let count = self.events.remove(&thread).unwrap_or(0);
            let (before, events) = std::mem::replace(&mut self.running, (thread, count));
            self.events.insert(before, events);
        }
        &mut self.running.1
    }

    /// A thread passes a place in the code that is not an event.
    pub(super) fn pass(&mut self, record: &Record) {
        let Some(site) = record.site.checked_sub(1) else { return };
        match record.kind {
            Kind::Entered => self.knowledge.enter(record.thread, site, record.detail == 1),
            Kind::Left => self.knowledge.leave(record.thread, site),
            Kind::Branched => self.knowledge.branch(record.thread, site, record.object),
            Kind::Called => self.knowledge.call(record.thread, site),
            _ => {}
        }
    }

    /// An operation begins: adds what it depends on, and says whether its thread has chosen before. For an access that is
    /// what decides its address; see [`Self::values`] for the rest.
    pub(super) fn begin(&mut self, record: &Record, backs: &mut Backs) -> bool {
        if record.kind == Kind::SignalSetup && record.object != 0 {
            self.knowledge.interrupts();
        }
        self.knowledge.before(record.thread, step(record), &mut self.needs);
        let now = *self.count(record.thread);
        let begin = backs.len();
        add(backs, now, &self.needs.decisions, Via::Decision);
        backs[begin..].sort_unstable_by_key(|&(back, _)| back);
        self.needs.chose
    }

    /// Adds the reads that flow into what an access writes, for the event that is next.
    pub(super) fn values(&mut self, record: &Record, backs: &mut Backs) {
        let now = *self.count(record.thread);
        add(backs, now, &self.needs.values, Via::Value);
    }

    /// An event has happened.
    pub(super) fn happened(&mut self, thread: u32) {
        *self.count(thread) += 1;
    }

    /// An operation of this many events has ended.
    pub(super) fn end(&mut self, record: &Record, count: u32) {
        let now = *self.count(record.thread);
        self.knowledge.after(record.thread, step(record), now - count, count);
    }
}

/// Adds reads, by how far they lie back from now.
fn add(backs: &mut Backs, now: u32, reads: &[(u32, u32)], via: Via) {
    let events = reads.iter().flat_map(|&(first, count)| first..first + count);
    backs.extend(events.map(|event| (now - event, via)));
}

fn step(record: &Record) -> Step {
    let (reads, writes) = match record.kind {
        Kind::Read | Kind::AtomicRead | Kind::ReadRange => (true, false),
        Kind::Write | Kind::AtomicWrite | Kind::WriteRange | Kind::Free => (false, true),
        Kind::AtomicUpdate => (true, true),
        _ => (false, false),
    };
    let is_simple = !matches!(record.kind, Kind::ReadRange | Kind::WriteRange | Kind::Free);
    Step { site: record.site.checked_sub(1), reads, writes, bytes: is_simple.then_some(record.size.into()) }
}
