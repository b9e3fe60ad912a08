//! A long trace, one segment at a time.

use super::reader::{Decoder, Reader};
use crate::{Error, Event, EventId, Op, Trace};
use std::ops::Deref;

/// The segments of a trace file, in order.
pub struct Segments<'r, B> {
    reader: &'r Reader<B>,
    decoder: Decoder,
    length: usize,
    overlap: usize,
    /// The next block to read.
    block: usize,
    /// How many events of the trace precede the segment.
    before: u64,
    begun: bool,
}

/// A part of a trace, as a trace of its own. It begins with the locks that are held and the blocks that are open then.
pub struct Segment<'s> {
    /// Its events.
    pub trace: &'s Trace,
    /// How many events of the whole trace precede it.
    pub before: u64,
    /// True if it is the last one.
    pub is_last: bool,
}

impl Segment<'_> {
    /// Returns the number of one of its events in the whole trace, or `None` for one of its opening.
    #[must_use]
    pub fn number(&self, event: EventId) -> Option<u64> {
        Some(self.before + u64::from(event.checked_sub(self.trace.opening())?))
    }
}

impl<'r, B: Deref<Target = [u8]>> Segments<'r, B> {
    pub(super) fn new(reader: &'r Reader<B>, decoder: Decoder, length: usize, overlap: usize) -> Self {
        Self { reader, decoder, length: length.max(1), overlap, block: 0, before: 0, begun: false }
    }

    /// Reads the next segment, in place of the previous one.
    ///
    /// # Errors
    /// If a block is damaged; the error names it.
    pub fn next_segment(&mut self) -> Result<Option<Segment<'_>>, Error> {
        let blocks = self.reader.blocks();
        if self.begun && self.block == blocks {
            return Ok(None);
        }
        if self.begun {
            self.forget();
        }
        self.begun = true;
        // At least one block, so that there is progress.
        while self.block < blocks {
            self.reader.decode(&mut self.decoder, self.block)?;
            self.block += 1;
            if self.own_events() >= self.length {
                break;
            }
        }
        if self.block == blocks {
            self.reader.check_end(&self.decoder)?;
        }
        self.reader.forget_pages();
        let is_last = self.block == blocks;
        Ok(Some(Segment { trace: self.decoder.builder.so_far(), before: self.before, is_last }))
    }

    fn own_events(&self) -> usize {
        let trace = self.decoder.builder.so_far();
        trace.len() - trace.opening() as usize
    }

    /// Removes everything that the next segment does not repeat.
    fn forget(&mut self) {
        let trace = self.decoder.builder.so_far();
        let removed = trace.len() - self.overlap.min(self.own_events());
        let opening = left_behind(trace, removed);
        self.before += (removed - trace.opening() as usize) as u64;
        self.decoder.replace_start(removed, &opening);
    }
}

/// Returns events that have the same effect as the first ones of a trace: acquisitions of the locks that are held after
/// them, as often as they were acquired, and starts of blocks.
fn left_behind(trace: &Trace, events: usize) -> Vec<Event> {
    let mut left: Vec<Event> = Vec::new();
    for event in trace.events().take(events) {
        let ends = |other: &Event| {
            other.thread == event.thread
                && match event.op {
                    Op::End => other.op == Op::Begin,
                    op => op.releases() && other.op.acquires() && other.object == event.object,
                }
        };
        match event.op {
            Op::Begin => left.push(Event { part: false, chose: false, ..event }),
            op if op.acquires() => left.push(Event { part: false, chose: false, ..event }),
            op if op == Op::End || op.releases() => {
                if let Some(at) = left.iter().rposition(ends) {
                    left.remove(at);
                }
            }
            _ => {}
        }
    }
    left
}
