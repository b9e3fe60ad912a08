//! The order that every correct reordering of a cut has.
//!
//! It starts with what the trace and the question say directly, and grows by two rules until nothing changes:
//!
//! * *observation*: a write to the location of a necessary read, other than the write that it sees, comes before that
//!   write if it comes before the read, and after the read if it comes after that write;
//! * *locks*: of two critical sections that exclude each other, if one begins before the other ends, it ends before
//!   the other begins.
//!
//! A cycle means that there is no reordering. The absence of a cycle does not mean that there is one.

use crate::Question;
use crate::cut::Cut;
use crate::index::{Index, NONE, Section};
use crate::order::{Cycle, NEVER, Order};
use crate::writes::{Writes, first_from, last_before};
use racehunter_trace::{EventId, Op};

/// Returns the order of a cut.
pub(crate) fn order(index: &Index<'_>, cut: &Cut, question: &Question) -> Result<Order, Cycle> {
    let (order, writes) = (Order::new(index.threads()), Writes::new(index, cut));
    let mut closure = Closure { index, cut, order, writes, sections: Vec::new() };
    closure.given(question)?;
    loop {
        let changed = closure.observe()? | closure.exclude()?;
        if !changed {
            return Ok(closure.order);
        }
    }
}

struct Closure<'a, 't> {
    index: &'a Index<'t>,
    cut: &'a Cut,
    order: Order,
    writes: Writes,
    /// Locks with their critical sections that begin and end after the frozen part.
    sections: Vec<(u32, Section)>,
}

impl Closure<'_, '_> {
    /// Orders one event before another if both are in the cut.
    fn add(&mut self, first: EventId, second: EventId) -> Result<bool, Cycle> {
        let (first, second) = (self.index.place(first), self.index.place(second));
        if second.1 < self.cut.low[second.0] {
            // An event that moves would come before a frozen one.
            return if first.1 < self.cut.low[first.0] { Ok(false) } else { Err(Cycle) };
        }
        if first.1 < self.cut.low[first.0] {
            return Ok(false);
        }
        self.order.add(first, second)
    }

    /// Adds what is known from the start.
    fn given(&mut self, question: &Question) -> Result<(), Cycle> {
        let (index, cut) = (self.index, self.cut);
        for thread in 0..index.threads() {
            if cut.low[thread] == 0 && cut.high[thread] > 0 && index.start_of(thread) != NONE {
                self.add(index.start_of(thread), index.events[thread][0])?;
            }
            for position in cut.low[thread]..cut.high[thread] {
                let event = index.events[thread][position as usize];
                let op = index.trace.op(event);
                let required = index.required(event);
                if required != NONE {
                    self.add(required, event)?;
                }
                if op == Op::TryFailed && required != NONE {
                    let release = index.other_end(required);
                    if release != NONE && cut.moves(index, release) {
                        self.add(event, release)?;
                    } else if release != NONE && release < cut.frozen {
                        return Err(Cycle);
                    }
                }
                if op.acquires() && index.is_outermost(event) {
                    let release = index.other_end(event);
                    if release != NONE && cut.moves(index, release) {
                        let release = index.position[release as usize];
                        let shared = op.shares();
                        let section = Section { thread: thread as u16, acquire: position, release, shared };
                        self.sections.push((index.trace.object(event), section));
                    }
                }
            }
        }
        for &(first, second) in &question.before {
            self.add(first, second)?;
        }
        for &read in &cut.necessary {
            let write = index.read_from(read);
            if write != NONE && write >= cut.frozen {
                self.add(write, read)?;
            }
        }
        self.stay_open()?;
        self.were_open()
    }

    /// Orders critical sections that stay open after all others of their lock.
    fn stay_open(&mut self) -> Result<(), Cycle> {
        let index = self.index;
        for acquire in self.cut.open.iter().flatten().copied() {
            let (thread, _) = index.place(acquire);
            let shared = index.trace.op(acquire).shares();
            for other in (0..index.threads()).filter(|&other| other != thread) {
                let (low, high) = (self.cut.low[other], self.cut.high[other]);
                // The last release of an excluded section within the cut; earlier ones come before it.
                let sections = index.sections_of(index.trace.object(acquire), other);
                let end = sections.partition_point(|section| section.release < high);
                let last = sections[..end].iter().rev().find(|section| !(shared && section.shared));
                if let Some(section) = last.filter(|section| section.release >= low) {
                    self.add(index.events[other][section.release as usize], acquire)?;
                }
            }
        }
        Ok(())
    }

    /// Orders critical sections that are open at the end of the frozen part before all others of their lock.
    fn were_open(&mut self) -> Result<(), Cycle> {
        let index = self.index;
        for thread in 0..index.threads() {
            for acquire in index.held_at(thread, self.cut.low[thread]) {
                let shared = index.trace.op(acquire).shares();
                let release = index.other_end(acquire);
                let ends = release != NONE && self.cut.moves(index, release);
                for other in (0..index.threads()).filter(|&other| other != thread) {
                    let sections = index.sections_from(index.trace.object(acquire), other, self.cut.low[other]);
                    let first = sections.iter().find(|section| !(shared && section.shared));
                    if let Some(section) = first.filter(|section| section.acquire < self.cut.high[other]) {
                        if !ends {
                            return Err(Cycle);
                        }
                        self.add(release, index.events[other][section.acquire as usize])?;
                    }
                }
            }
        }
        Ok(())
    }

    fn observe(&mut self) -> Result<bool, Cycle> {
        let (index, cut) = (self.index, self.cut);
        let mut changed = false;
        for (number, &read) in cut.necessary.iter().enumerate() {
            let (thread, position) = index.place(read);
            let write = index.read_from(read);
            let source = (write != NONE && write >= cut.frozen).then(|| index.place(write));
            for writes in self.writes.of(number) {
                let other = writes[0].0;
                let Some(source) = source else {
                    // It sees the value at the end of the frozen part: every write that moves comes after it.
                    let first =
                        writes.iter().map(|&(_, write)| write).find(|&write| (other, write) != (thread, position));
                    if let Some(first) = first {
                        changed |= self.order.add((thread, position), (other, first))?;
                    }
                    continue;
                };
                // The last write before the read.
                let until = if other == thread {
                    position
                } else {
                    self.order.before(thread, position, other).map_or(0, |last| last + 1)
                };
                if let Some(last) = last_before(writes, until)
                    && (other, last) != source
                {
                    changed |= self.order.add((other, last), source)?;
                }
                // The first write after the one that it sees.
                let from = if other == source.0 { source.1 + 1 } else { self.order.after(source.0, source.1, other) };
                if let Some(first) = first_from(writes, from)
                    && (other, first) != (thread, position)
                {
                    changed |= self.order.add((thread, position), (other, first))?;
                }
            }
        }
        Ok(changed)
    }

    fn exclude(&mut self) -> Result<bool, Cycle> {
        let (index, cut) = (self.index, self.cut);
        let mut changed = false;
        for at in 0..self.sections.len() {
            let (lock, section) = self.sections[at];
            let thread = usize::from(section.thread);
            for other in (0..index.threads()).filter(|&other| other != thread) {
                let after = self.order.after(thread, section.acquire, other);
                if after == NEVER {
                    continue;
                }
                // The first excluded section that ends at or after that position.
                let sections = index.sections_of(lock, other);
                let begin = sections.partition_point(|section| section.release < after);
                let next = sections[begin..]
                    .iter()
                    .find(|next| !(section.shared && next.shared))
                    .filter(|next| next.release < cut.high[other]);
                if let Some(next) = next {
                    if next.acquire < cut.low[other] {
                        return Err(Cycle);
                    }
                    changed |= self.order.add((thread, section.release), (other, next.acquire))?;
                }
            }
        }
        Ok(changed)
    }
}
