//! From an order to a sequence: the events of a cut, one after the other, such that locks exclude and necessary reads
//! see their old writes.
//!
//! The next event is the first possible one in the order of the trace. That usually succeeds; otherwise the search
//! backtracks to the last choice. Failed states are not entered again, so with enough steps the search is exhaustive
//! for its cut.

use crate::cut::Cut;
use crate::index::{Index, NONE};
use crate::order::Order;
use racehunter_trace::EventId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The result of the search.
pub(crate) enum Outcome {
    /// A sequence, and whether backtracking was necessary.
    Found(Vec<EventId>, bool),
    /// There is no sequence for this cut.
    Impossible,
    /// There may be one, but it took too long.
    GaveUp,
}

/// Looks for a sequence, backtracking at most `retries` times.
pub(crate) fn linearise(index: &Index<'_>, cut: &Cut, order: &Order, retries: usize) -> Outcome {
    let mut search = Search::new(index, cut, order);
    let size = cut.size();
    let mut failed: FxHashSet<u64> = FxHashSet::default();
    let mut left = retries;
    // The event that was tried last at each step: everything before it in the trace has been tried too.
    let mut tried: Vec<Option<EventId>> = vec![None];
    while search.path.len() < size {
        let last = tried.last_mut().and_then(|tried| {
            let thread = search.enabled_after(*tried)?;
            *tried = Some(search.next[thread]);
            Some(thread)
        });
        match last {
            Some(thread) => {
                search.step(thread);
                // Only after backtracking can a state have been seen before.
                if left < retries && failed.contains(&search.state()) {
                    search.back();
                } else {
                    tried.push(None);
                }
            }
            None => {
                failed.insert(search.state());
                tried.pop();
                if tried.is_empty() {
                    return Outcome::Impossible;
                }
                if left == 0 {
                    return Outcome::GaveUp;
                }
                left -= 1;
                search.back();
            }
        }
    }
    Outcome::Found(search.path.into_iter().map(|step| step.event).collect(), left < retries)
}

struct Search<'a, 't> {
    index: &'a Index<'t>,
    cut: &'a Cut,
    order: &'a Order,
    /// The position of each thread, and its event there, [`NONE`] at its end.
    at: Vec<u32>,
    next: Vec<EventId>,
    /// The position up to which everything that must precede a thread's events is known to have happened; backtracking
    /// undoes this.
    ordered: Vec<u32>,
    /// The last write to each object since the frozen part.
    written: FxHashMap<u32, EventId>,
    /// The number of necessary reads that are still to come, by the write that they see; by object for earlier values.
    waiting: FxHashMap<Source, u32>,
    /// The holders of each lock: readers and writers.
    held: FxHashMap<u32, (u32, u32)>,
    path: Vec<Step>,
    /// A hash of the relevant part of `written`.
    hash: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Write(EventId),
    Before(u32),
}

struct Step {
    event: EventId,
    /// The previous write to its object.
    overwritten: EventId,
}

impl<'a, 't> Search<'a, 't> {
    fn new(index: &'a Index<'t>, cut: &'a Cut, order: &'a Order) -> Self {
        let mut search = Self {
            index,
            cut,
            order,
            at: cut.low.clone(),
            next: vec![NONE; cut.low.len()],
            ordered: cut.low.clone(),
            written: FxHashMap::default(),
            waiting: FxHashMap::default(),
            held: FxHashMap::default(),
            path: Vec::with_capacity(cut.size()),
            hash: 0,
        };
        for &read in &cut.necessary {
            *search.waiting.entry(search.source(read)).or_default() += 1;
        }
        for thread in 0..index.threads() {
            search.look(thread);
            for acquire in index.held_at(thread, cut.low[thread]) {
                search.hold(acquire, true);
            }
        }
        search
    }

    /// Looks up the next event of a thread that has moved.
    fn look(&mut self, thread: usize) {
        let at = self.at[thread];
        let goes_on = at < self.cut.high[thread];
        self.next[thread] = if goes_on { self.index.events[thread][at as usize] } else { NONE };
    }

    /// Returns the source of a necessary read's value.
    fn source(&self, read: EventId) -> Source {
        let write = self.index.read_from(read);
        if write != NONE && write >= self.cut.frozen {
            Source::Write(write)
        } else {
            Source::Before(self.index.trace.object(read))
        }
    }

    /// Returns what a read of an object would see now.
    fn current(&self, object: u32) -> Source {
        self.written.get(&object).map_or(Source::Before(object), |&write| Source::Write(write))
    }

    fn is_necessary(&self, event: EventId) -> bool {
        let (thread, position) = self.index.place(event);
        self.index.trace.op(event).reads()
            && self.index.is_shared(self.index.trace.object(event))
            && self.cut.is_necessary(thread, position)
    }

    /// Returns the thread that can continue with the first event of the trace after a given one.
    fn enabled_after(&mut self, tried: Option<EventId>) -> Option<usize> {
        let mut from = tried.map_or(0, |tried| tried + 1);
        loop {
            let mut first = (NONE, 0);
            for (thread, &event) in self.next.iter().enumerate() {
                if event >= from && event < first.0 {
                    first = (event, thread);
                }
            }
            let (event, thread) = first;
            if event == NONE {
                return None;
            }
            if self.can(thread) {
                return Some(thread);
            }
            from = event + 1;
        }
    }

    /// Returns true if everything that must precede the next event of a thread has happened.
    fn is_ordered(&mut self, thread: usize) -> bool {
        let position = self.at[thread];
        if position < self.ordered[thread] {
            return true;
        }
        let mut until = NONE;
        for other in (0..self.at.len()).filter(|&other| other != thread) {
            let (before, changes) = self.order.before_until(thread, position, other);
            if before.is_some_and(|last| last >= self.at[other]) {
                return false;
            }
            until = until.min(changes);
        }
        self.ordered[thread] = until;
        true
    }

    fn can(&mut self, thread: usize) -> bool {
        if !self.is_ordered(thread) {
            return false;
        }
        let event = self.next[thread];
        let op = self.index.trace.op(event);
        let object = self.index.trace.object(event);
        if op.is_access() {
            if !self.index.is_shared(object) {
                return true;
            }
            let current = self.current(object);
            let necessary = self.is_necessary(event);
            let sees = !necessary || current == self.source(event);
            // Other reads that must see the current value come first.
            let others = || self.waiting.get(&current).copied().unwrap_or(0) - u32::from(necessary);
            sees && (!op.writes() || others() == 0)
        } else if op.acquires() && self.index.is_outermost(event) {
            let (readers, writers) = self.held.get(&object).copied().unwrap_or_default();
            writers == 0 && (readers == 0 || op.shares())
        } else {
            true
        }
    }

    fn hold(&mut self, acquire: EventId, take: bool) {
        let (readers, writers) = self.held.entry(self.index.trace.object(acquire)).or_default();
        let count = if self.index.trace.op(acquire).shares() { readers } else { writers };
        *count = if take { *count + 1 } else { *count - 1 };
    }

    fn step(&mut self, thread: usize) {
        let event = self.next[thread];
        let overwritten = self.apply(event);
        self.at[thread] += 1;
        self.look(thread);
        self.path.push(Step { event, overwritten });
    }

    fn apply(&mut self, event: EventId) -> EventId {
        let op = self.index.trace.op(event);
        let object = self.index.trace.object(event);
        if self.is_necessary(event) {
            let source = self.source(event);
            *self.waiting.entry(source).or_default() -= 1;
        }
        if op.writes() && self.index.is_shared(object) {
            let before = self.written.insert(object, event).unwrap_or(NONE);
            self.hash ^= mixed(object, before) ^ mixed(object, event);
            return before;
        }
        if op.acquires() && self.index.is_outermost(event) {
            self.hold(event, true);
        } else if op.releases() && self.index.is_outermost(event) {
            self.hold(self.index.other_end(event), false);
        }
        NONE
    }

    /// Undoes the last step.
    fn back(&mut self) {
        let Some(Step { event, overwritten }) = self.path.pop() else { return };
        let (thread, _) = self.index.place(event);
        self.at[thread] -= 1;
        self.look(thread);
        self.ordered.copy_from_slice(&self.cut.low);
        let op = self.index.trace.op(event);
        let object = self.index.trace.object(event);
        if self.is_necessary(event) {
            let source = self.source(event);
            *self.waiting.entry(source).or_default() += 1;
        }
        if op.writes() && self.index.is_shared(object) {
            if overwritten == NONE {
                self.written.remove(&object);
            } else {
                self.written.insert(object, overwritten);
            }
            self.hash ^= mixed(object, overwritten) ^ mixed(object, event);
        } else if op.acquires() && self.index.is_outermost(event) {
            self.hold(event, false);
        } else if op.releases() && self.index.is_outermost(event) {
            self.hold(self.index.other_end(event), true);
        }
    }

    /// Returns a hash of the state.
    fn state(&self) -> u64 {
        self.at.iter().fold(self.hash, |hash, &at| mix(hash.rotate_left(5) ^ u64::from(at)))
    }
}

fn mixed(object: u32, write: EventId) -> u64 {
    // An object without a write contributes nothing.
    if write == NONE { 0 } else { mix(u64::from(object) << 32 | u64::from(write)) }
}

/// Spreads the bits of a number over the whole word.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ (number >> 32)
}
