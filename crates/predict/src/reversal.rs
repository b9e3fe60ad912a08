//! The second cheap stage: critical sections that stay open at the end move behind all others of their lock.
//!
//! As in optimistic sync-reversal (Shi, Mathur and Pavlogiannis, 2024), every critical section that begins also ends,
//! unless its end needs one of the events that are only about to happen. An open section must come last of its lock.
//! Where the trace has others after it, its acquisition is *delayed*, and with it everything that comes after it in its
//! thread, that accesses the same memory as a delayed event, or that acquires what a delayed event releases. If this
//! delays a section that an open one must come after, the latter is delayed once more, and so on. The events that were
//! never delayed, then those that were delayed once, and so on, each in the order of the trace, are a witness.
//!
//! Only delayed events are examined one by one. There is no window: the cost of a question does not depend on how far
//! apart its events are.

use crate::cones::Cones;
use crate::ideal::Ideal;
use crate::index::{Index, NONE};
use crate::{Question, Witness};
use racehunter_trace::{EventId, Op, Trace};

/// What follows each event in other threads, as far as cones do not say it. Created once for a trace.
pub(crate) struct Successors {
    reads: Accesses,
    writes: Accesses,
    /// Events that another event requires, with the latter, ascending.
    required: Vec<(EventId, EventId)>,
}

/// Accesses to shared locations, by location and thread, each in order.
struct Accesses {
    events: Vec<EventId>,
    /// Where those of each object begin.
    starts: Vec<u32>,
}

impl Accesses {
    fn new(index: &Index<'_>, wanted: impl Fn(Op) -> bool) -> Self {
        let trace = index.trace;
        let mut starts = vec![0_u32; trace.objects().len() + 1];
        let is_wanted = |event: EventId| wanted(trace.op(event)) && index.is_shared(trace.object(event));
        let ids = || (0..trace.len() as EventId).filter(|&event| is_wanted(event));
        for event in ids() {
            starts[trace.object(event) as usize + 1] += 1;
        }
        for object in 1..starts.len() {
            starts[object] += starts[object - 1];
        }
        let mut next = starts.clone();
        let mut events = vec![NONE; starts.last().copied().unwrap_or(0) as usize];
        // Thread by thread, so that each location's accesses are in the order of threads.
        for event in index.events.iter().flatten().copied().filter(|&event| is_wanted(event)) {
            let slot = &mut next[trace.object(event) as usize];
            events[*slot as usize] = event;
            *slot += 1;
        }
        Self { events, starts }
    }

    /// Returns the first access of a thread to an object after an event.
    fn after(&self, trace: &Trace, object: u32, thread: usize, event: EventId) -> Option<EventId> {
        let all = &self.events[self.starts[object as usize] as usize..self.starts[object as usize + 1] as usize];
        let key = |other: EventId| (usize::from(trace.thread(other)), other);
        let at = all.partition_point(|&other| key(other) <= (thread, event));
        all.get(at).copied().filter(|&other| usize::from(trace.thread(other)) == thread)
    }
}

impl Successors {
    pub(crate) fn new(index: &Index<'_>) -> Self {
        let mut required = Vec::new();
        for event in 0..index.trace.len() as EventId {
            let before = index.required(event);
            if before == NONE {
                continue;
            }
            required.push((before, event));
            if index.trace.op(event) == Op::TryFailed && index.other_end(before) != NONE {
                required.push((event, index.other_end(before)));
            }
        }
        let first = |thread: usize| index.events[thread].first().copied();
        let forks = (0..index.threads()).filter_map(|thread| Some((index.start_of(thread), first(thread)?)));
        required.extend(forks.filter(|&(fork, _)| fork != NONE));
        required.sort_unstable();
        let is_access = |op: Op| op.is_access();
        Self {
            reads: Accesses::new(index, move |op| is_access(op) && !op.writes()),
            writes: Accesses::new(index, move |op| is_access(op) && op.writes()),
            required,
        }
    }
}

/// Returns a witness in which open critical sections come last, if there is one with at most this many events after its
/// common prefix with the trace.
pub(crate) fn witness(
    index: &Index<'_>,
    cones: &Cones,
    successors: &Successors,
    question: &Question,
    limit: usize,
) -> Option<Witness> {
    let search = |from| witness_from(index, cones, successors, question, from, limit);
    let anchor = anchor(index, question);
    search(anchor).or_else(|| if anchor > 0 { search(0) } else { None })
}

/// Returns the first event that a question is about: one of those that it names, or the acquisition of a lock that is
/// held at one of them.
pub(crate) fn anchor(index: &Index<'_>, question: &Question) -> EventId {
    let held = question.next.iter().flat_map(|&event| {
        let (thread, position) = index.place(event);
        index.held_at(thread, position)
    });
    question.events().chain(held).min().unwrap_or(0)
}

fn witness_from(
    index: &Index<'_>,
    cones: &Cones,
    successors: &Successors,
    question: &Question,
    from: EventId,
    limit: usize,
) -> Option<Witness> {
    let mut ideal = Ideal::new(index, cones, question, from);
    let open = close(&mut ideal, question)?;
    // Open sections, with the thread and position of releases that the trace has after them and that must come first.
    let mut last: Vec<(EventId, usize, u32)> = Vec::new();
    for &acquire in &open {
        let (thread, _) = index.place(acquire);
        for other in (0..index.threads()).filter(|&other| other != thread) {
            let Some(section) = index.last_section(acquire, other, ideal.high[other]) else { continue };
            if index.events[other][section.acquire as usize] > acquire {
                last.push((acquire, other, section.release));
            }
        }
    }
    let mut turns: Vec<Vec<u32>> = Vec::new();
    let mut left = limit;
    loop {
        let delayed = |&&(_, thread, release): &&(EventId, usize, u32)| {
            turns.last().is_none_or(|begin: &Vec<u32>| release >= begin[thread])
        };
        let mut delay = Delay { index, successors, first: ideal.high.clone(), work: Vec::new(), left };
        for &(acquire, ..) in last.iter().filter(delayed) {
            // What happened before the trace stays first.
            if acquire < index.trace.opening() {
                return None;
            }
            delay.delay_event(acquire);
        }
        if delay.work.is_empty() {
            break;
        }
        // A section that is delayed more often than there are sections must come before itself.
        if turns.len() >= open.len() {
            return None;
        }
        delay.spread()?;
        left = delay.left;
        turns.push(delay.first);
    }
    let turn = |event: EventId| {
        let (thread, position) = index.place(event);
        turns.iter().filter(|begin| position >= begin[thread]).count()
    };
    let keeps = |&(one, other): &(EventId, EventId)| (turn(one), one) < (turn(other), other);
    if question.before.iter().all(keeps) { ideal.witness(&turns, limit) } else { None }
}

/// Completes critical sections, and returns the acquisitions of those that stay open; `None` if the question does not
/// allow it, or two of them exclude each other.
fn close(ideal: &mut Ideal<'_, '_>, question: &Question) -> Option<Vec<EventId>> {
    let index = ideal.index;
    let last = question.events().max()?;
    loop {
        if ideal.overtakes(question) {
            return None;
        }
        let held = |thread: usize| index.held_at(thread, ideal.high[thread]);
        let open: Vec<EventId> = (0..index.threads()).flat_map(held).collect();
        // What comes after the question in the trace is left out if possible.
        let mut ends: Vec<EventId> =
            open.iter().filter_map(|&acquire| end(ideal, question, acquire)).filter(|&end| end <= last).collect();
        if ends.is_empty() {
            for (at, &one) in open.iter().enumerate() {
                for &other in &open[at + 1..] {
                    let ops = [one, other].map(|acquire| index.trace.op(acquire));
                    if index.trace.object(one) == index.trace.object(other) && !ops.iter().all(|op| op.shares()) {
                        ends.push(end(ideal, question, one).or_else(|| end(ideal, question, other))?);
                    }
                }
            }
            if ends.is_empty() {
                return Some(open);
            }
        }
        ends.iter().for_each(|&end| ideal.include(end));
    }
}

/// Returns the end of a critical section, unless it needs an event that is only about to happen.
fn end(ideal: &Ideal<'_, '_>, question: &Question, acquire: EventId) -> Option<EventId> {
    let index = ideal.index;
    let end = Some(index.other_end(acquire)).filter(|&end| end != NONE)?;
    let (thread, position) = index.place(end);
    let cone = ideal.cones.of(thread, position);
    let needs = |&event: &EventId| {
        let (of, at) = index.place(event);
        if of == thread { position >= at } else { cone[of] > at }
    };
    (!question.next.iter().any(needs)).then_some(end)
}

/// Delayed events.
struct Delay<'a, 't> {
    index: &'a Index<'t>,
    successors: &'a Successors,
    /// The position in each thread from which on events are delayed.
    first: Vec<u32>,
    /// Ranges of positions that were delayed and whose successors were not.
    work: Vec<(usize, u32, u32)>,
    /// How many more events may be delayed.
    left: usize,
}

impl Delay<'_, '_> {
    fn delay(&mut self, thread: usize, position: u32) {
        if position < self.first[thread] {
            self.work.push((thread, position, self.first[thread]));
            self.first[thread] = position;
        }
    }

    fn delay_event(&mut self, event: EventId) {
        let (thread, position) = self.index.place(event);
        self.delay(thread, position);
    }

    /// Delays everything that comes after a delayed event. Returns `None` if that is too much.
    fn spread(&mut self) -> Option<()> {
        while let Some((thread, begin, end)) = self.work.pop() {
            self.left = self.left.checked_sub((end - begin) as usize)?;
            for position in begin..end {
                self.follow(thread, self.index.events[thread][position as usize]);
            }
        }
        Some(())
    }

    fn follow(&mut self, thread: usize, event: EventId) {
        let (index, successors) = (self.index, self.successors);
        let trace = index.trace;
        let (op, object) = (trace.op(event), trace.object(event));
        let from = successors.required.partition_point(|&(before, _)| before < event);
        for &(_, after) in successors.required[from..].iter().take_while(|&&(before, _)| before == event) {
            self.delay_event(after);
        }
        if op.is_access() && index.is_shared(object) {
            for other in (0..index.threads()).filter(|&other| other != thread) {
                let write = successors.writes.after(trace, object, other, event);
                let read = if op.writes() { successors.reads.after(trace, object, other, event) } else { None };
                write.into_iter().chain(read).for_each(|after| self.delay_event(after));
            }
        } else if op.releases() && index.is_outermost(event) {
            let shared = op == Op::ReleaseShared;
            for other in (0..index.threads()).filter(|&other| other != thread) {
                let sections = index.sections_of(object, other);
                let later = |acquire: u32| index.events[other][acquire as usize] > event;
                let begin = sections.partition_point(|section| !later(section.acquire));
                if let Some(section) = sections[begin..].iter().find(|section| !(shared && section.shared)) {
                    self.delay(other, section.acquire);
                }
            }
        }
    }
}

/// Returns true if no reordering of the whole trace can answer the question, by what locks that stay held demand.
///
/// A thread that stops within a critical section keeps others out: they end before it begins. So they end, with
/// everything that this needs; and none of them may need that the section has begun.
pub(crate) fn is_refuted(index: &Index<'_>, cones: &Cones, question: &Question) -> bool {
    let mut ideal = Ideal::new(index, cones, question, 0);
    let racing = |thread: usize| question.next.iter().any(|&event| index.place(event).0 == thread);
    loop {
        if ideal.overtakes(question) {
            return true;
        }
        let held = |thread: usize| index.held_at(thread, ideal.high[thread]).map(move |acquire| (thread, acquire));
        let stays = |&(thread, acquire): &(usize, EventId)| racing(thread) || index.other_end(acquire) == NONE;
        let open: Vec<(usize, EventId)> = (0..index.threads()).flat_map(held).filter(stays).collect();
        let mut ends: Vec<EventId> = Vec::new();
        // Which open section must begin before which other one.
        let mut order = vec![false; open.len() * open.len()];
        for (at, &(thread, acquire)) in open.iter().enumerate() {
            for other in (0..index.threads()).filter(|&other| other != thread) {
                let Some(section) = index.last_section(acquire, other, ideal.high[other]) else { continue };
                if section.release == NONE || (section.release >= ideal.high[other] && racing(other)) {
                    return true;
                }
                if section.release >= ideal.high[other] {
                    ends.push(index.events[other][section.release as usize]);
                    continue;
                }
                // What happened before the trace stays first.
                if acquire < index.trace.opening()
                    && index.events[other][section.release as usize] >= index.trace.opening()
                {
                    return true;
                }
                let cone = cones.of(other, section.release);
                for (one, &(holder, begins)) in open.iter().enumerate() {
                    let position = index.position[begins as usize];
                    let precedes = if holder == other { position < section.release } else { position < cone[holder] };
                    order[one * open.len() + at] |= precedes;
                }
            }
        }
        if has_cycle(&mut order, open.len()) {
            return true;
        }
        if ends.is_empty() {
            return false;
        }
        ends.iter().for_each(|&end| ideal.include(end));
    }
}

/// Returns true if a relation has a cycle.
fn has_cycle(order: &mut [bool], size: usize) -> bool {
    for via in 0..size {
        for from in 0..size {
            for to in 0..size {
                order[from * size + to] |= order[from * size + via] && order[via * size + to];
            }
        }
    }
    (0..size).any(|one| order[one * size + one])
}
