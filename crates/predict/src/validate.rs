//! Is a witness really a correct reordering? Decided by running it, from the definition alone.
//!
//! Soundness rests on this file and on [`Demands`](crate::Demands), not on how a witness was found. It shares no code
//! with the stages that find witnesses: it goes through the raw trace, keeps the state of every object, and lets nothing
//! happen that could not.
//!
//! A *correct reordering* of a trace is a sequence of its events such that
//!
//! * of each thread a prefix happens, in its order;
//! * a thread acts after its fork, and is joined when all it ever did has happened;
//! * locks are held by one thread, or shared by readers; a failed attempt happens while the same thread as in the trace
//!   has the lock;
//! * events on one condition variable, semaphore or other ordered object happen in the order of the trace, without
//!   gaps; so do arrivals at a barrier, and a departure happens after all arrivals that were before it in the trace;
//! * each *necessary* read takes its value from the same write as in the trace. These are, by the policy, the reads
//!   whose thread has gone on to their boundary (events that are about to happen count), and the reads that flow into
//!   the write that a necessary read sees.

use crate::policy::{Demands, Flow};
use crate::{Question, Witness};
use racehunter_trace::{EventId, Op, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a witness is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// There is no such event.
    #[error("event {0} is not in the trace")]
    Unknown(EventId),
    /// A thread skips or repeats something.
    #[error("event {0} is not the next of its thread")]
    Order(EventId),
    /// A thread acts before it is forked.
    #[error("the thread of event {0} does not exist yet")]
    NotStarted(EventId),
    /// A join of a thread that is not over.
    #[error("event {0} joins a thread that has not done all it did")]
    NotOver(EventId),
    /// Somebody else has the lock, or nobody has what is released, or an attempt could not have failed.
    #[error("event {0} does not fit to who holds its lock")]
    Lock(EventId),
    /// An event on an ordered object before its turn.
    #[error("event {0} is not the next on its object")]
    Turn(EventId),
    /// A necessary read sees another write.
    #[error("the read {0} matters, and sees another write")]
    Read(EventId),
    /// The end is not what was asked for.
    #[error("event {0} is not where the question wants it")]
    Question(EventId),
}

/// Checks a witness.
///
/// # Errors
/// Says which event breaks which rule.
pub fn validate(trace: &Trace, demands: &Demands, question: &Question, witness: &Witness) -> Result<(), Invalid> {
    let original = Original::new(trace);
    let mut run = Run::new(&original);
    for event in witness.events() {
        run.step(event)?;
    }
    run.finish(demands, question)
}

/// The trace as it was: what every event saw.
struct Original<'t> {
    trace: &'t Trace,
    position: Vec<u32>,
    events: Vec<Vec<EventId>>,
    forker: FxHashMap<u16, EventId>,
    /// For each read the write that it saw; for each event on an ordered object how many there were before; for a
    /// failed attempt the thread that had the lock and when it got it.
    saw: FxHashMap<EventId, Saw>,
    /// Inner acquisitions and releases of recursive locks.
    inner: FxHashSet<EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Saw {
    Write(Option<EventId>),
    Turns(u32),
    Holder(Option<EventId>),
}

impl<'t> Original<'t> {
    fn new(trace: &'t Trace) -> Self {
        let mut original = Self {
            trace,
            position: Vec::new(),
            events: vec![Vec::new(); trace.threads().len()],
            forker: FxHashMap::default(),
            saw: FxHashMap::default(),
            inner: FxHashSet::default(),
        };
        let mut state = State::default();
        let mut depth: FxHashMap<(u16, u32), u32> = FxHashMap::default();
        for (id, event) in (0..).zip(trace.events()) {
            let own = &mut original.events[usize::from(event.thread)];
            original.position.push(own.len() as u32);
            own.push(id);
            if event.op == Op::Fork {
                original.forker.insert(event.object as u16, id);
            }
            if event.op.acquires() || event.op.releases() {
                let depth = depth.entry((event.thread, event.object)).or_default();
                *depth = if event.op.acquires() { *depth + 1 } else { depth.saturating_sub(1) };
                if *depth > u32::from(event.op.acquires()) {
                    original.inner.insert(id);
                    continue;
                }
            }
            if let Some(saw) = state.look(trace, id, None) {
                original.saw.insert(id, saw);
            }
            state.apply(trace, id);
        }
        original
    }
}

/// The state of all objects.
#[derive(Default)]
struct State {
    written: FxHashMap<u32, EventId>,
    /// Holders of each lock: the acquisitions, of different threads.
    held: FxHashMap<u32, Vec<EventId>>,
    turns: FxHashMap<u32, u32>,
}

impl State {
    /// What an event sees, before it happens. A failed attempt that had somebody in its way looks for the same again.
    fn look(&self, trace: &Trace, id: EventId, before: Option<Saw>) -> Option<Saw> {
        let event = trace.event(id);
        match event.op {
            op if op.reads() => Some(Saw::Write(self.written.get(&event.object).copied())),
            Op::TryFailed => {
                let others = || {
                    self.held
                        .get(&event.object)
                        .into_iter()
                        .flatten()
                        .copied()
                        .filter(|&acquire| trace.thread(acquire) != event.thread)
                };
                Some(match before {
                    Some(Saw::Holder(None)) => Saw::Holder(None),
                    Some(Saw::Holder(Some(old))) => Saw::Holder(others().find(|&acquire| acquire == old)),
                    _ => Saw::Holder(others().next()),
                })
            }
            Op::Wait | Op::Wake | Op::Signal | Op::Broadcast | Op::Post | Op::Down | Op::Order | Op::Arrive => {
                Some(Saw::Turns(self.turns.get(&event.object).copied().unwrap_or(0)))
            }
            Op::Depart => Some(Saw::Turns(self.turns.get(&event.object).copied().unwrap_or(0))),
            _ => None,
        }
    }

    fn apply(&mut self, trace: &Trace, id: EventId) {
        let event = trace.event(id);
        match event.op {
            op if op.writes() => {
                self.written.insert(event.object, id);
            }
            op if op.acquires() => self.held.entry(event.object).or_default().push(id),
            op if op.releases() => {
                let held = self.held.entry(event.object).or_default();
                held.retain(|&acquire| trace.thread(acquire) != event.thread);
            }
            Op::Wait | Op::Wake | Op::Signal | Op::Broadcast | Op::Post | Op::Down | Op::Order | Op::Arrive => {
                *self.turns.entry(event.object).or_default() += 1;
            }
            _ => {}
        }
    }
}

/// A reordering while it happens.
struct Run<'o, 't> {
    original: &'o Original<'t>,
    /// Events that each thread has done.
    done: Vec<u32>,
    state: State,
    /// Reads that saw another write.
    astray: FxHashSet<EventId>,
    /// When each event happened; only for those that the question may ask about.
    time: FxHashMap<EventId, usize>,
    clock: usize,
}

impl<'o, 't> Run<'o, 't> {
    fn new(original: &'o Original<'t>) -> Self {
        Self {
            original,
            done: vec![0; original.events.len()],
            state: State::default(),
            astray: FxHashSet::default(),
            time: FxHashMap::default(),
            clock: 0,
        }
    }

    /// True when an event is the next of its thread, and the thread exists.
    fn is_next(&self, id: EventId) -> Result<(), Invalid> {
        let original = self.original;
        if id as usize >= original.position.len() {
            return Err(Invalid::Unknown(id));
        }
        let thread = original.trace.thread(id);
        if self.done[usize::from(thread)] != original.position[id as usize] {
            return Err(Invalid::Order(id));
        }
        match original.forker.get(&thread) {
            Some(&fork) if !self.has_happened(fork) => Err(Invalid::NotStarted(id)),
            _ => Ok(()),
        }
    }

    fn has_happened(&self, id: EventId) -> bool {
        self.done[usize::from(self.original.trace.thread(id))] > self.original.position[id as usize]
    }

    fn step(&mut self, id: EventId) -> Result<(), Invalid> {
        self.is_next(id)?;
        let trace = self.original.trace;
        let event = trace.event(id);
        if !self.original.inner.contains(&id) {
            let old = self.original.saw.get(&id).copied();
            let new = self.state.look(trace, id, old);
            match event.op {
                op if op.reads() => {
                    if new != old {
                        self.astray.insert(id);
                    }
                }
                Op::Depart => {
                    let (Some(Saw::Turns(new)), Some(Saw::Turns(old))) = (new, old) else {
                        return Err(Invalid::Turn(id));
                    };
                    if new < old {
                        return Err(Invalid::Turn(id));
                    }
                }
                Op::TryFailed if new != old => return Err(Invalid::Lock(id)),
                Op::Join => {
                    let child = event.object as usize;
                    let forked = self.original.forker.get(&(child as u16)).is_none_or(|&fork| self.has_happened(fork));
                    if !forked || (self.done[child] as usize) < self.original.events[child].len() {
                        return Err(Invalid::NotOver(id));
                    }
                }
                op if op.acquires() => {
                    let held = self.state.held.get(&event.object).map_or(&[][..], Vec::as_slice);
                    let free = op == Op::AcquireShared
                        && held.iter().all(|&acquire| trace.op(acquire) == Op::AcquireShared)
                        || held.is_empty();
                    if !free {
                        return Err(Invalid::Lock(id));
                    }
                }
                op if op.releases() => {
                    let held = self.state.held.get(&event.object).map_or(&[][..], Vec::as_slice);
                    if !held.iter().any(|&acquire| trace.thread(acquire) == event.thread) {
                        return Err(Invalid::Lock(id));
                    }
                }
                _ if new != old => return Err(Invalid::Turn(id)),
                _ => {}
            }
            self.state.apply(trace, id);
        }
        self.done[usize::from(event.thread)] += 1;
        self.time.insert(id, self.clock);
        self.clock += 1;
        Ok(())
    }

    fn finish(&self, demands: &Demands, question: &Question) -> Result<(), Invalid> {
        let original = self.original;
        for &id in &question.next {
            self.is_next(id).map_err(|invalid| match invalid {
                Invalid::Order(id) => Invalid::Question(id),
                other => other,
            })?;
        }
        if let Some(&missing) = question.done.iter().find(|&&id| !self.time.contains_key(&id)) {
            return Err(Invalid::Question(missing));
        }
        for (first, second) in &question.before {
            match (self.time.get(first), self.time.get(second)) {
                (Some(first), Some(second)) if first < second => {}
                _ => return Err(Invalid::Question(*second)),
            }
        }
        // How far each thread comes, with what is about to happen.
        let mut reach = self.done.clone();
        for &id in &question.next {
            let thread = usize::from(original.trace.thread(id));
            reach[thread] = reach[thread].max(original.position[id as usize] + 1);
        }
        let mut necessary: Vec<EventId> = Vec::new();
        for (thread, events) in original.events.iter().enumerate() {
            let done = &events[..self.done[thread] as usize];
            necessary.extend(done.iter().copied().filter(|&id| {
                original.trace.op(id).reads() && demands.boundary_at(original.position[id as usize], id) < reach[thread]
            }));
        }
        let mut seen: FxHashSet<EventId> = necessary.iter().copied().collect();
        while let Some(read) = necessary.pop() {
            if self.astray.contains(&read) {
                return Err(Invalid::Read(read));
            }
            let Some(Saw::Write(Some(write))) = original.saw.get(&read).copied() else { continue };
            let mut flowing: Vec<EventId> = demands.known_flow(write).to_vec();
            if original.trace.op(write).reads() {
                flowing.push(write);
            }
            if matches!(demands.flow(), Flow::Earlier) {
                let thread = usize::from(original.trace.thread(write));
                let earlier = &original.events[thread][..original.position[write as usize] as usize];
                flowing.extend(earlier.iter().copied().filter(|&id| original.trace.op(id).reads()));
            }
            necessary.extend(flowing.into_iter().filter(|&read| seen.insert(read)));
        }
        Ok(())
    }
}
