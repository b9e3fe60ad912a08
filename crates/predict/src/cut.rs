//! How far each thread must advance: the least set of events that a question needs.
//!
//! The set is closed under the order within threads, under what events require (forks before children, the order on
//! semaphores), under the writes that necessary reads see, and under the ends of critical sections that block others. A
//! question fails here if it needs an event that it wants to be only about to happen, or if two threads must both stay
//! within critical sections of one lock.

use crate::Question;
use crate::index::{Index, NONE};
use crate::policy::{Demands, Flow};
use racehunter_trace::EventId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which critical sections are completed without the question asking for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// All that can be completed.
    All,
    /// Of two sections that cannot both stay open, the one that began first in the trace.
    Earlier,
    /// Of two sections that cannot both stay open, the one that began last in the trace.
    Later,
    /// Only those that every reordering completes. The result need not be the events of any reordering, but they are
    /// part of every one.
    Forced,
}

/// A set of events: for each thread, those before a position.
#[derive(Debug)]
pub(crate) struct Cut {
    /// The events of the trace before this one happen as they did.
    pub(crate) frozen: EventId,
    /// The number of these events of each thread.
    pub(crate) low: Vec<u32>,
    /// The total number of events of each thread.
    pub(crate) high: Vec<u32>,
    /// The reads of shared locations after the frozen ones that must see their old writes.
    pub(crate) necessary: Vec<EventId>,
    /// All such reads as bits, by thread and position from `low` on.
    marked: Vec<Vec<u64>>,
    /// Acquisitions of the locks that each thread holds at the end.
    pub(crate) open: Vec<Vec<EventId>>,
    /// True if critical sections were completed without the question asking for it, or could be.
    pub(crate) closed: bool,
}

impl Cut {
    /// Returns true if the event is in the set, and not frozen.
    pub(crate) fn moves(&self, index: &Index<'_>, event: EventId) -> bool {
        let (thread, position) = index.place(event);
        self.low[thread] <= position && position < self.high[thread]
    }

    /// Returns true if a read must see its old write.
    pub(crate) fn is_necessary(&self, thread: usize, position: u32) -> bool {
        let at = (position - self.low[thread]) as usize;
        self.marked[thread].get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Returns the number of events that are not frozen.
    pub(crate) fn size(&self) -> usize {
        self.low.iter().zip(&self.high).map(|(low, high)| (high - low) as usize).sum()
    }
}

/// There is no cut, or it has too many events.
pub(crate) struct NoCut {
    /// True if completing other critical sections would not help either.
    pub(crate) at_all: bool,
    /// True if there may be one with more events than allowed.
    pub(crate) too_large: bool,
}

/// Returns the least cut for a question, with the events before `frozen` as they were, and at most `limit` others.
pub(crate) fn cut(
    index: &Index<'_>,
    demands: &Demands,
    question: &Question,
    frozen: EventId,
    closing: Closing,
    limit: usize,
) -> Result<Cut, NoCut> {
    let mut closure = Closure::new(index, demands, frozen, limit);
    for &event in &question.next {
        let (thread, position) = index.place(event);
        closure.last[thread] = position;
    }
    let found = closure.ask(question).and_then(|()| closure.settle());
    found.ok_or_else(|| closure.none(true))?;
    loop {
        let closed = closure.close_sections(question, closing);
        if !closed.ok_or_else(|| closure.none(closing == Closing::Forced))? {
            if closing == Closing::Forced {
                let before: usize = closure.cut.open.iter().map(Vec::len).sum();
                let stays = |acquire: &EventId| stays_open(index, question, *acquire);
                closure.cut.open.iter_mut().for_each(|open| open.retain(stays));
                // The others may be completed.
                closure.cut.closed = closure.cut.open.iter().map(Vec::len).sum::<usize>() < before;
            }
            return Ok(closure.cut);
        }
        closure.cut.closed |= closing != Closing::Forced;
        let settled = closure.settle();
        settled.ok_or_else(|| closure.none(closing == Closing::Forced))?;
    }
}

/// Returns the necessary reads of a question, even if they contradict something else, and without the ends of critical
/// sections.
pub(crate) fn necessary(index: &Index<'_>, demands: &Demands, question: &Question) -> Vec<EventId> {
    let mut closure = Closure::new(index, demands, index.trace.opening(), usize::MAX);
    // Nothing lies beyond the last event of a thread, so this terminates.
    let _ = closure.ask(question).and_then(|()| closure.settle());
    closure.cut.necessary
}

/// Returns true if a critical section that has begun is open at the end of every reordering.
pub(crate) fn stays_open(index: &Index<'_>, question: &Question, acquire: EventId) -> bool {
    let (thread, _) = index.place(acquire);
    index.other_end(acquire) == NONE || question.next.iter().any(|&next| index.place(next).0 == thread)
}

struct Closure<'a, 't> {
    index: &'a Index<'t>,
    demands: &'a Demands,
    /// The maximum position of each thread.
    last: Vec<u32>,
    /// The position of each thread, including what is about to happen.
    reach: Vec<u32>,
    /// How far each thread has been processed.
    scanned: Vec<u32>,
    /// The position up to which all reads of a thread are necessary because their values flow on.
    passed_on: Vec<u32>,
    /// Reads that become necessary when their thread reaches a position.
    pending: Vec<BinaryHeap<Reverse<(u32, EventId)>>>,
    /// Threads to process.
    work: Vec<usize>,
    /// Reads to be made necessary.
    reads: Vec<EventId>,
    size: usize,
    limit: usize,
    cut: Cut,
}

impl<'a, 't> Closure<'a, 't> {
    fn new(index: &'a Index<'t>, demands: &'a Demands, frozen: EventId, limit: usize) -> Self {
        let threads = index.threads();
        let low: Vec<u32> =
            index.events.iter().map(|events| events.partition_point(|&event| event < frozen) as u32).collect();
        Self {
            index,
            demands,
            last: index.events.iter().map(|events| events.len() as u32).collect(),
            reach: low.clone(),
            scanned: low.clone(),
            passed_on: low.clone(),
            pending: vec![BinaryHeap::new(); threads],
            work: Vec::new(),
            reads: Vec::new(),
            size: 0,
            limit,
            cut: Cut {
                frozen,
                high: low.clone(),
                necessary: Vec::new(),
                marked: vec![Vec::new(); threads],
                open: (0..threads).map(|thread| index.held_at(thread, low[thread]).collect()).collect(),
                closed: false,
                low,
            },
        }
    }

    /// Returns the result if there is no cut.
    fn none(&self, at_all: bool) -> NoCut {
        NoCut { at_all, too_large: self.size > self.limit }
    }

    /// Adds what the question names.
    fn ask(&mut self, question: &Question) -> Option<()> {
        for &event in &question.next {
            let (thread, position) = self.index.place(event);
            self.reach[thread] = position + 1;
            self.start(thread)?;
            self.grow(thread, position)?;
            self.work.push(thread);
        }
        let pairs = question.before.iter().flat_map(|&(first, second)| [first, second]);
        for event in question.done.iter().copied().chain(pairs) {
            self.include(event)?;
        }
        Some(())
    }

    fn include(&mut self, event: EventId) -> Option<()> {
        if event == NONE || event < self.cut.frozen {
            return Some(());
        }
        let (thread, position) = self.index.place(event);
        self.grow(thread, position + 1)
    }

    fn start(&mut self, thread: usize) -> Option<()> {
        self.include(self.index.start_of(thread))
    }

    fn grow(&mut self, thread: usize, high: u32) -> Option<()> {
        let before = self.cut.high[thread];
        if high <= before {
            return Some(());
        }
        self.size += (high - before) as usize;
        if high > self.last[thread] || self.size > self.limit {
            return None;
        }
        self.cut.high[thread] = high;
        self.reach[thread] = self.reach[thread].max(high);
        self.work.push(thread);
        if before == 0 { self.start(thread) } else { Some(()) }
    }

    /// Processes everything new, until nothing new is left.
    fn settle(&mut self) -> Option<()> {
        loop {
            while let Some(read) = self.reads.pop() {
                self.necessary(read)?;
            }
            let Some(thread) = self.work.pop() else { return Some(()) };
            while self.scanned[thread] < self.cut.high[thread] {
                let position = self.scanned[thread];
                self.scanned[thread] += 1;
                self.look(thread, position)?;
            }
            while let Some(&Reverse((boundary, read))) = self.pending[thread].peek()
                && boundary < self.reach[thread]
            {
                self.pending[thread].pop();
                self.reads.push(read);
            }
        }
    }

    fn look(&mut self, thread: usize, position: u32) -> Option<()> {
        let index = self.index;
        let event = index.events[thread][position as usize];
        let op = index.trace.op(event);
        if op.reads() {
            let boundary = self.demands.boundary(index, event);
            if boundary < self.reach[thread] {
                self.reads.push(event);
            } else if boundary != NONE {
                self.pending[thread].push(Reverse((boundary, event)));
            }
        } else if op.acquires() && index.is_outermost(event) {
            self.cut.open[thread].push(event);
        } else if op.releases() && index.is_outermost(event) {
            let acquire = index.other_end(event);
            self.cut.open[thread].retain(|&open| open != acquire);
        } else {
            let required = index.required(event);
            self.include(required)?;
        }
        Some(())
    }

    fn necessary(&mut self, read: EventId) -> Option<()> {
        let (thread, position) = self.index.place(read);
        // Frozen reads see what they saw.
        let Some(at) = position.checked_sub(self.cut.low[thread]) else { return Some(()) };
        let words = &mut self.cut.marked[thread];
        let (word, bit) = (at as usize / 64, 1 << (at % 64));
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        if words[word] & bit != 0 {
            return Some(());
        }
        words[word] |= bit;
        // A location that only one thread touches has the same values in any order.
        if self.index.is_shared(self.index.trace.object(read)) {
            self.cut.necessary.push(read);
        }
        let write = self.index.read_from(read);
        if write == NONE || write < self.cut.frozen {
            return Some(());
        }
        self.include(write)?;
        self.pass_on(write);
        Some(())
    }

    /// Handles a write whose value matters: the reads that flow into it matter too.
    fn pass_on(&mut self, write: EventId) {
        let index = self.index;
        if index.trace.op(write).reads() {
            self.reads.push(write);
        }
        self.reads.extend_from_slice(self.demands.known_flow(write));
        if matches!(self.demands.flow(), Flow::Earlier) {
            let (thread, position) = index.place(write);
            while self.passed_on[thread] < position {
                let event = index.events[thread][self.passed_on[thread] as usize];
                self.passed_on[thread] += 1;
                if index.trace.op(event).reads() {
                    self.reads.push(event);
                }
            }
        }
    }

    /// Extends the cut to the ends of critical sections. Returns true if there was anything to do; `None` if two
    /// sections of one lock must both stay open.
    fn close_sections(&mut self, question: &Question, closing: Closing) -> Option<bool> {
        let index = self.index;
        let mut open: Vec<EventId> = self.cut.open.iter().flatten().copied().collect();
        open.sort_unstable_by_key(|&acquire| (index.trace.object(acquire), acquire));
        let stays = |acquire: EventId| stays_open(index, question, acquire);
        let mut ends = Vec::new();
        for of_lock in open.chunk_by(|&a, &b| index.trace.object(a) == index.trace.object(b)) {
            if closing == Closing::All {
                ends.extend(of_lock.iter().copied().filter(|&acquire| !stays(acquire)));
                continue;
            }
            for (at, &first) in of_lock.iter().enumerate() {
                for &second in &of_lock[at + 1..] {
                    if index.trace.op(first).shares() && index.trace.op(second).shares() {
                        continue;
                    }
                    match (stays(first), stays(second)) {
                        (true, true) => return None,
                        (true, false) => ends.push(second),
                        (false, true) => ends.push(first),
                        (false, false) if closing == Closing::Forced => {}
                        (false, false) if closing == Closing::Earlier => ends.push(first),
                        (false, false) => ends.push(second),
                    }
                }
            }
        }
        if closing == Closing::All {
            for of_lock in open.chunk_by(|&a, &b| index.trace.object(a) == index.trace.object(b)) {
                let staying = || of_lock.iter().copied().filter(|&acquire| stays(acquire));
                let exclusive = staying().any(|acquire| index.trace.op(acquire).excludes());
                if exclusive && staying().count() > 1 {
                    return None;
                }
            }
        }
        for &acquire in &ends {
            self.include(index.other_end(acquire))?;
        }
        Some(!ends.is_empty())
    }
}
