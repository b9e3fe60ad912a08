//! Checks whether a witness is a correct reordering, by running it, from the definition alone.
//!
//! Soundness rests on this file and on [`Demands`], not on how a witness was found. With the stages that find witnesses
//! it shares only the position of each event in its thread, and which write each read saw. It goes through the trace,
//! keeps the state of every object, and rejects everything that could not happen.
//!
//! A *correct reordering* of a trace is a sequence of its events such that
//!
//! * a prefix of each thread happens, in its order;
//! * a thread acts after its fork, and is joined after all its events have happened;
//! * locks are held by one thread, or shared by readers; a failed attempt happens while the thread that made it fail in
//!   the trace (the last of several readers) is within the same critical section;
//! * events on one condition variable, semaphore or other ordered object happen in the order of the trace, without
//!   gaps; so do arrivals at a barrier, and a departure happens after all arrivals that preceded it in the trace;
//! * each *necessary* read takes its value from the same write as in the trace. By the policy, these are the reads
//!   whose thread has continued to their boundary (events that are about to happen count), and the reads that flow
//!   into the write that a necessary read sees.
//!
//! What stands for events before the trace comes first, unchanged.
//!
//! The frozen part of a witness is the start of the trace itself, which did happen: every read in it sees what it saw,
//! and so does every read that flows into what these see. So the run starts after it, with the state of each object
//! looked up on demand.

use crate::index::{Index, NONE};
use crate::policy::{Demands, Flow};
use crate::{Question, Witness};
use racehunter_trace::{EventId, Op, Subject, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a witness is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// There is no such event.
    #[error("event {0} is not in the trace")]
    Unknown(EventId),
    /// What happened before the trace does not come first.
    #[error("the first {0} events happened before the trace, and the reordering does not begin with them")]
    Opening(EventId),
    /// A thread skips or repeats something.
    #[error("event {0} is not the next of its thread")]
    Order(EventId),
    /// A thread acts before its fork.
    #[error("the thread of event {0} does not exist yet")]
    NotStarted(EventId),
    /// A join of a thread that has not ended.
    #[error("event {0} joins a thread that has not done all it did")]
    NotOver(EventId),
    /// Another thread holds the lock, no thread holds what is released, or an attempt could not have failed.
    #[error("event {0} contradicts who holds its lock")]
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

/// Checks a witness for a trace that did happen.
///
/// # Errors
/// If an event breaks a rule; the error says which.
pub fn validate(index: &Index<'_>, demands: &Demands, question: &Question, witness: &Witness) -> Result<(), Invalid> {
    Validator::new(index).validate(demands, question, witness)
}

/// Checks witnesses for one trace that did happen.
pub struct Validator<'i, 't> {
    trace: &'t Trace,
    /// Position of each event in its thread, and the events of each thread.
    position: &'i [u32],
    events: &'i [Vec<EventId>],
    index: &'i Index<'t>,
    /// The fork of each thread.
    forker: Vec<Option<EventId>>,
    /// The history of each object besides memory: events that have turns, or changes of a lock.
    history: FxHashMap<u32, Vec<EventId>>,
    /// Inner acquisitions and releases of recursive locks, which change nothing.
    inner: FxHashSet<EventId>,
    /// The event that made each attempt fail.
    obstacle: FxHashMap<EventId, EventId>,
}

/// Returns true for events that keep their order, without gaps, with the others on their object.
fn has_turn(op: Op) -> bool {
    matches!(op.subject(), Subject::Condition | Subject::Semaphore | Subject::Barrier | Subject::Order)
        && op != Op::Depart
}

impl<'i, 't> Validator<'i, 't> {
    /// Reads the trace once.
    #[must_use]
    pub fn new(index: &'i Index<'t>) -> Self {
        let trace = index.trace;
        let mut validator = Self {
            trace,
            position: &index.position,
            events: &index.events,
            index,
            forker: vec![None; trace.threads().len()],
            history: FxHashMap::default(),
            inner: FxHashSet::default(),
            obstacle: FxHashMap::default(),
        };
        let mut depth: FxHashMap<(u16, u32), u32> = FxHashMap::default();
        for (id, event) in (0..).zip(trace.events()) {
            match event.op {
                Op::Fork => validator.forker[event.object as usize] = Some(id),
                Op::TryFailed => {
                    let holders = validator.holders_at(event.object, id);
                    if let Some(&other) = holders.iter().find(|&&acquire| trace.thread(acquire) != event.thread) {
                        validator.obstacle.insert(id, other);
                    }
                }
                op if op.acquires() || op.releases() => {
                    let depth = depth.entry((event.thread, event.object)).or_default();
                    *depth = if op.acquires() { *depth + 1 } else { depth.saturating_sub(1) };
                    if *depth > u32::from(op.acquires()) {
                        validator.inner.insert(id);
                    } else {
                        validator.history.entry(event.object).or_default().push(id);
                    }
                }
                op if has_turn(op) => validator.history.entry(event.object).or_default().push(id),
                _ => {}
            }
        }
        validator
    }

    /// Checks a witness.
    ///
    /// # Errors
    /// If an event breaks a rule; the error says which.
    pub fn validate(&self, demands: &Demands, question: &Question, witness: &Witness) -> Result<(), Invalid> {
        if witness.frozen as usize > self.trace.len() {
            return Err(Invalid::Unknown(witness.frozen));
        }
        if witness.frozen < self.trace.opening() {
            return Err(Invalid::Opening(self.trace.opening()));
        }
        let mut run = Run {
            original: self,
            frozen: witness.frozen,
            done: self.done_at(witness.frozen),
            written: FxHashMap::default(),
            held: FxHashMap::default(),
            turns: FxHashMap::default(),
            astray: Marks::new(witness.frozen),
        };
        for event in witness.tail.iter() {
            run.step(event)?;
        }
        run.ends_as_asked(question, witness)?;
        run.sees_what_matters(demands, question)
    }

    /// Returns how many events of each thread come before an event of the trace.
    fn done_at(&self, frozen: EventId) -> Vec<u32> {
        self.events.iter().map(|events| events.partition_point(|&event| event < frozen) as u32).collect()
    }

    /// Returns the history of an object before an event of the trace.
    fn history_at(&self, object: u32, before: EventId) -> &[EventId] {
        let history = self.history.get(&object).map_or(&[][..], Vec::as_slice);
        &history[..history.partition_point(|&event| event < before)]
    }

    /// Returns the acquisitions of a lock's holders just before an event of the trace.
    fn holders_at(&self, lock: u32, before: EventId) -> Vec<EventId> {
        let mut holders: Vec<EventId> = Vec::new();
        let mut gone: Vec<u16> = Vec::new();
        // Back to the last moment at which one thread held it exclusively, or released it: no thread can have kept it
        // since before then.
        for &id in self.history_at(lock, before).iter().rev() {
            let thread = self.trace.thread(id);
            match self.trace.op(id) {
                Op::Release => break,
                Op::Acquire | Op::TryAcquire => {
                    if !gone.contains(&thread) {
                        holders.push(id);
                    }
                    break;
                }
                op if op.shares() && gone.contains(&thread) => gone.retain(|&other| other != thread),
                op if op.shares() => holders.push(id),
                _ => gone.push(thread),
            }
        }
        holders
    }

    /// Returns the write that a read saw in the trace.
    fn saw(&self, read: EventId) -> Option<EventId> {
        Some(self.index.read_from(read)).filter(|&write| write != NONE)
    }
}

/// A reordering while it runs.
struct Run<'o, 'i, 't> {
    original: &'o Validator<'i, 't>,
    frozen: EventId,
    /// Number of events that each thread has done.
    done: Vec<u32>,
    /// Since the frozen part: the last write to each location, the acquisitions of held locks, and the number of turns
    /// of each ordered object.
    written: FxHashMap<u32, EventId>,
    held: FxHashMap<u32, Vec<EventId>>,
    turns: FxHashMap<u32, usize>,
    /// Reads that saw a different write.
    astray: Marks,
}

/// A set of events from one on.
struct Marks {
    from: EventId,
    words: Vec<u64>,
}

impl Marks {
    fn new(from: EventId) -> Self {
        Self { from, words: Vec::new() }
    }

    /// Adds an event. Returns true if it is new.
    fn insert(&mut self, event: EventId) -> bool {
        let at = (event - self.from) as usize;
        if self.words.len() <= at / 64 {
            self.words.resize(at / 64 + 1, 0);
        }
        let word = &mut self.words[at / 64];
        let was = *word;
        *word |= 1 << (at % 64);
        was != *word
    }

    fn contains(&self, event: EventId) -> bool {
        let at = (event - self.from) as usize;
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

impl Run<'_, '_, '_> {
    /// Fails unless an event is the next of its thread, and the thread exists.
    fn is_next(&self, id: EventId) -> Result<(), Invalid> {
        let original = self.original;
        if id as usize >= original.position.len() {
            return Err(Invalid::Unknown(id));
        }
        let thread = usize::from(original.trace.thread(id));
        if self.done[thread] != original.position[id as usize] {
            return Err(Invalid::Order(id));
        }
        match original.forker[thread] {
            Some(fork) if !self.has_happened(fork) => Err(Invalid::NotStarted(id)),
            _ => Ok(()),
        }
    }

    fn has_happened(&self, id: EventId) -> bool {
        self.done[usize::from(self.original.trace.thread(id))] > self.original.position[id as usize]
    }

    fn holders(&mut self, lock: u32) -> &mut Vec<EventId> {
        self.held.entry(lock).or_insert_with(|| self.original.holders_at(lock, self.frozen))
    }

    fn turns(&mut self, object: u32) -> &mut usize {
        self.turns.entry(object).or_insert_with(|| self.original.history_at(object, self.frozen).len())
    }

    fn step(&mut self, id: EventId) -> Result<(), Invalid> {
        self.is_next(id)?;
        let original = self.original;
        let trace = original.trace;
        let event = trace.event(id);
        match event.op {
            op if op.is_access() => self.access(id, event.object),
            op if (op.acquires() || op.releases()) && original.inner.contains(&id) => {}
            op if op.acquires() => {
                let shared = op.shares();
                let holders = self.holders(event.object);
                if !holders.iter().all(|&acquire| shared && trace.op(acquire).shares()) {
                    return Err(Invalid::Lock(id));
                }
                holders.push(id);
            }
            op if op.releases() => {
                let holders = self.holders(event.object);
                let own = holders.iter().position(|&acquire| trace.thread(acquire) == event.thread);
                holders.swap_remove(own.ok_or(Invalid::Lock(id))?);
            }
            Op::TryFailed => {
                if let Some(obstacle) = original.obstacle.get(&id)
                    && !self.holders(event.object).contains(obstacle)
                {
                    return Err(Invalid::Lock(id));
                }
            }
            Op::Join | Op::TryJoin => {
                let child = event.object as usize;
                let forked = original.forker[child].is_none_or(|fork| self.has_happened(fork));
                if !forked || (self.done[child] as usize) < original.events[child].len() {
                    return Err(Invalid::NotOver(id));
                }
            }
            Op::Depart => {
                let arrived = *self.turns(event.object);
                if arrived < original.history_at(event.object, id).len() {
                    return Err(Invalid::Turn(id));
                }
            }
            op if has_turn(op) => {
                let turns = self.turns(event.object);
                if *turns != original.history_at(event.object, id).len() {
                    return Err(Invalid::Turn(id));
                }
                *turns += 1;
            }
            _ => {}
        }
        self.done[usize::from(event.thread)] += 1;
        Ok(())
    }

    fn access(&mut self, id: EventId, object: u32) {
        let original = self.original;
        let op = original.trace.op(id);
        if op.reads() {
            let same = match (self.written.get(&object), original.saw(id)) {
                (Some(&sees), saw) => saw == Some(sees),
                // It sees the last write of the frozen part. If the write that it saw is in there, it is the same one:
                // no thread wrote between that write and the read.
                (None, saw) => saw.is_none_or(|write| write < self.frozen),
            };
            if !same {
                self.astray.insert(id);
            }
        }
        if op.writes() {
            self.written.insert(object, id);
        }
    }

    /// Fails unless the end is what the question asks for.
    fn ends_as_asked(&self, question: &Question, witness: &Witness) -> Result<(), Invalid> {
        for &id in &question.next {
            self.is_next(id).map_err(|invalid| match invalid {
                Invalid::Order(id) => Invalid::Question(id),
                other => other,
            })?;
        }
        let known = |id: EventId| (id as usize) < self.original.position.len() && self.has_happened(id);
        if let Some(&missing) = question.done.iter().find(|&&id| !known(id)) {
            return Err(Invalid::Question(missing));
        }
        let time = |id: EventId| {
            if id < witness.frozen {
                Some(id as usize)
            } else {
                witness.tail.iter().position(|other| other == id).map(|at| witness.frozen as usize + at)
            }
        };
        for &(first, second) in &question.before {
            match (time(first), time(second)) {
                (Some(first), Some(second)) if first < second => {}
                _ => return Err(Invalid::Question(second)),
            }
        }
        Ok(())
    }

    /// Fails if a necessary read saw a different write.
    fn sees_what_matters(&self, demands: &Demands, question: &Question) -> Result<(), Invalid> {
        let original = self.original;
        let trace = original.trace;
        // The position of each thread, including what is about to happen.
        let mut reach = self.done.clone();
        for &id in &question.next {
            let thread = usize::from(trace.thread(id));
            reach[thread] = reach[thread].max(original.position[id as usize] + 1);
        }
        let frozen = original.done_at(self.frozen);
        let mut left: Vec<EventId> = Vec::new();
        for (thread, events) in original.events.iter().enumerate() {
            let moved = &events[frozen[thread] as usize..self.done[thread] as usize];
            left.extend(moved.iter().copied().filter(|&id| {
                trace.op(id).reads() && demands.boundary_at(original.position[id as usize], id) < reach[thread]
            }));
        }
        let mut seen = Marks::new(self.frozen);
        // The position up to which all reads of a thread were added.
        let mut flowed = frozen;
        while let Some(read) = left.pop() {
            if read < self.frozen || !seen.insert(read) {
                continue;
            }
            if self.astray.contains(read) {
                return Err(Invalid::Read(read));
            }
            let Some(write) = original.saw(read) else { continue };
            if trace.op(write).reads() {
                left.push(write);
            }
            left.extend_from_slice(demands.known_flow(write));
            if matches!(demands.flow(), Flow::Earlier) {
                let thread = usize::from(trace.thread(write));
                let until = original.position[write as usize].max(flowed[thread]);
                let earlier = &original.events[thread][flowed[thread] as usize..until as usize];
                left.extend(earlier.iter().copied().filter(|&id| trace.op(id).reads()));
                flowed[thread] = until;
            }
        }
        Ok(())
    }
}
