//! Reading in place.

use super::segments::Segments;
use super::successors::Successors;
use super::{
    BLOCK_EVENTS, BLOCK_HEADER_LEN, BRANCHES, DEPENDENCES, END, ENDING, EVENTS, FORMAT_VERSION, HEADER_LEN, LONG_NAME,
    MAGIC, MAX_SHARED, MOST_ENTRIES, ORIGIN, about, checksum,
};
use crate::trace::{CHOSE, PART};
use crate::varint::{Input, Short};
use crate::{Dependence, Error, Event, EventId, NO_OBJECT, Object, Op, Subject, Trace, TraceBuilder, Via};
use memmap2::Mmap;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// A trace file whose blocks were located; their contents are checked when they are read.
pub struct Reader<B> {
    bytes: B,
    blocks: Blocks,
    /// Gives the memory of what was read back to the system, if it can read it again.
    forget: fn(&B),
}

/// Where the blocks of a file are.
struct Blocks {
    flags: u32,
    /// Where each events block begins.
    events: Vec<usize>,
    /// Where the origin block begins, if there is one.
    origin: Option<usize>,
    /// Where the ending block begins, if there is one.
    ending: Option<usize>,
    end: usize,
}

impl Blocks {
    /// Goes from header to header of a file of some length. `word` returns the number at an offset.
    fn locate(length: usize, is_trace: bool, word: impl Fn(usize) -> Option<u32>) -> Result<Self, Error> {
        if !is_trace {
            return Err(Error::NotATrace);
        }
        let version = word(MAGIC.len()).ok_or(Error::Truncated { block: 0 })?;
        if version != FORMAT_VERSION {
            return Err(Error::Version { found: version, expected: FORMAT_VERSION });
        }
        let flags = word(MAGIC.len() + 4).ok_or(Error::Truncated { block: 0 })?;
        if flags & !(BRANCHES | DEPENDENCES) != 0 {
            return Err(Error::Corrupted { block: 0, reason: "unknown flags" });
        }
        let mut events = Vec::new();
        let (mut origin, mut ending) = (None, None);
        let mut at = HEADER_LEN;
        loop {
            let block = events.len();
            let truncated = || Error::Truncated { block };
            let kind = word(at).ok_or_else(truncated)?;
            let next = at + BLOCK_HEADER_LEN + word(at + 4).ok_or_else(truncated)? as usize;
            if next > length {
                return Err(truncated());
            }
            match kind {
                EVENTS if ending.is_none() => events.push(at),
                ORIGIN if at == HEADER_LEN => origin = Some(at),
                ENDING if ending.is_none() => ending = Some(at),
                END if next == length => return Ok(Self { flags, events, origin, ending, end: at }),
                END => return Err(Error::Corrupted { block, reason: "there is something after the end" }),
                _ => return Err(Error::Corrupted { block, reason: "unknown kind of block" }),
            }
            at = next;
        }
    }
}

impl Reader<Mmap> {
    /// Opens a file.
    ///
    /// The file is mapped into memory: it must not be shortened while it is read.
    ///
    /// # Errors
    /// If the file cannot be opened, or its blocks do not fit together.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path)?;
        #[allow(unsafe_code)]
        // SAFETY: the map is read only. If another process writes the file meanwhile, bytes change between two reads; every
        // number is checked when it is read, and not read again.
        let map = unsafe { Mmap::map(&file)? };
        // Headers are read from the file: to look at them in the map would take much of it into memory.
        let word = |at: usize| {
            let mut bytes = [0; 4];
            file.read_exact_at(&mut bytes, at as u64).ok().map(|()| u32::from_le_bytes(bytes))
        };
        let blocks = Blocks::locate(map.len(), map.starts_with(&MAGIC), word)?;
        Ok(Self { bytes: map, blocks, forget: drop_pages })
    }
}

/// Takes the pages of a mapped file out of this process.
fn drop_pages(map: &Mmap) {
    #[cfg(unix)]
    #[allow(unsafe_code)]
    // SAFETY: the map is of a file, and read only: pages are read again when they are needed. If the advice is not
    // taken, they only stay.
    let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
}

impl<B: Deref<Target = [u8]>> Reader<B> {
    /// Opens a file that is in memory.
    ///
    /// # Errors
    /// If its blocks do not fit together.
    pub fn new(bytes: B) -> Result<Self, Error> {
        let word =
            |at: usize| bytes.get(at..at + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let blocks = Blocks::locate(bytes.len(), bytes.starts_with(&MAGIC), word)?;
        Ok(Self { bytes, blocks, forget: |_| {} })
    }

    pub(super) fn forget_pages(&self) {
        (self.forget)(&self.bytes);
    }

    /// Returns the number of blocks of events.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.events.len()
    }

    /// Reads the whole trace.
    ///
    /// # Errors
    /// If a block is damaged; the error names it.
    pub fn read(&self) -> Result<Trace, Error> {
        let mut decoder = self.decoder()?;
        // Reserve memory for all events; each takes at least a bit of the file, usually bytes.
        if let Ok(events) = self.events() {
            decoder.builder.reserve(usize::try_from(events).unwrap_or(usize::MAX).min(self.bytes.len()));
        }
        for block in 0..self.blocks.events.len() {
            self.decode(&mut decoder, block)?;
        }
        self.check_end(&decoder)?;
        Ok(decoder.builder.finish())
    }

    /// Reads the trace in segments of some number of events, each of which repeats the last events of the previous one.
    /// Whatever the length of the trace, only one of them is in memory. Numbers are rounded up to whole blocks.
    ///
    /// # Errors
    /// If the origin is damaged.
    pub fn segments(&self, length: usize, overlap: usize) -> Result<Segments<'_, B>, Error> {
        Ok(Segments::new(self, self.decoder()?, length, overlap))
    }

    /// Returns the number of events, as the end of the file says it.
    ///
    /// # Errors
    /// If the end is damaged.
    pub fn events(&self) -> Result<u64, Error> {
        let block = self.blocks.events.len();
        let mut counts = Input(self.payload(block, self.blocks.end)?);
        let events = counts.number().and_then(|_| counts.number());
        events.map_err(|short| Error::Corrupted { block, reason: short.into() })
    }

    /// Decodes the events of a block.
    pub(super) fn decode(&self, decoder: &mut Decoder, block: usize) -> Result<(), Error> {
        let payload = self.payload(block, self.blocks.events[block])?;
        decoder.block(payload).map_err(|reason| Error::Corrupted { block, reason })
    }

    /// Checks the end of the file, once all blocks were decoded.
    pub(super) fn check_end(&self, decoder: &Decoder) -> Result<(), Error> {
        let block = self.blocks.events.len();
        let end = self.payload(block, self.blocks.end)?;
        decoder.end(end, self.blocks.flags).map_err(|reason| Error::Corrupted { block, reason })
    }

    fn decoder(&self) -> Result<Decoder, Error> {
        let mut decoder = Decoder {
            builder: TraceBuilder::new(),
            shapes: Vec::new(),
            kinds: FxHashMap::default(),
            last: Vec::new(),
            successors: Successors::default(),
            dependences: self.blocks.flags & DEPENDENCES != 0,
            positions: Vec::new(),
            forgotten: Vec::new(),
            events: 0,
        };
        if self.blocks.flags & BRANCHES != 0 {
            decoder.builder.set_branches();
        }
        if decoder.dependences {
            decoder.builder.set_dependences();
        }
        if let Some(at) = self.blocks.origin {
            let origin =
                about::read_origin(self.payload(0, at)?).map_err(|reason| Error::Corrupted { block: 0, reason })?;
            decoder.builder.set_origin(origin);
        }
        if let Some(at) = self.blocks.ending {
            let block = self.blocks.events.len();
            let ending =
                about::read_ending(self.payload(block, at)?).map_err(|reason| Error::Corrupted { block, reason })?;
            decoder.builder.set_ending(ending);
        }
        Ok(decoder)
    }

    /// Returns the payload of the block at an offset, if its checksum is right.
    fn payload(&self, block: usize, at: usize) -> Result<&[u8], Error> {
        let header = self.bytes.get(at..at + BLOCK_HEADER_LEN).ok_or(Error::Truncated { block })?;
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let begin = at + BLOCK_HEADER_LEN;
        let payload = self.bytes.get(begin..begin + word(4) as usize).ok_or(Error::Truncated { block })?;
        if checksum(word(0), payload) != word(8) {
            return Err(Error::Corrupted { block, reason: "the checksum is wrong" });
        }
        Ok(payload)
    }
}

pub(super) struct Decoder {
    pub(super) builder: TraceBuilder,
    shapes: Vec<Shape>,
    /// The kinds of shapes: operations at sites.
    kinds: FxHashMap<(u8, u32), u32>,
    /// The last object of each kind in this block; empty for those that did not occur in it.
    last: Vec<Option<i64>>,
    successors: Successors,
    dependences: bool,
    /// The events of each thread so far; only for dependences.
    positions: Vec<Vec<EventId>>,
    /// How many earlier events of each thread were removed.
    forgotten: Vec<usize>,
    /// The number of events so far, including those that were removed.
    events: u64,
}

#[derive(Clone, Copy)]
struct Shape {
    op: Op,
    part: bool,
    chose: bool,
    site: u32,
    kind: u32,
    /// Its dependences, terminated by 0.
    entries: [u8; MOST_ENTRIES],
}

impl From<Short> for &'static str {
    fn from(_: Short) -> Self {
        "it says less than it should"
    }
}

impl Decoder {
    /// Removes the first events that are in memory, and puts others before the rest.
    pub(super) fn replace_start(&mut self, removed: usize, opening: &[Event]) {
        self.forgotten.resize(self.positions.len(), 0);
        for (positions, forgotten) in self.positions.iter_mut().zip(&mut self.forgotten) {
            let gone = positions.partition_point(|&event| (event as usize) < removed);
            *forgotten += gone;
            positions.drain(..gone);
            positions.iter_mut().for_each(|event| *event = *event - removed as EventId + opening.len() as EventId);
        }
        self.builder.replace_start(removed, opening);
    }

    fn block(&mut self, payload: &[u8]) -> Result<(), &'static str> {
        let mut input = Input(payload);
        self.names(&mut input)?;
        for _ in 0..input.count()? {
            let byte = input.byte()?;
            let op = Op::from_byte(byte & !(PART | CHOSE)).ok_or("unknown operation")?;
            let site = u32::try_from(input.number()?).map_err(|_| "unknown site")?;
            if site as usize >= self.builder.so_far().sites().len() {
                return Err("unknown site");
            }
            let next = self.kinds.len() as u32;
            let kind = *self.kinds.entry((byte, site)).or_insert(next);
            let mut entries = [0; MOST_ENTRIES];
            if self.dependences {
                let count = input.count()?;
                for entry in entries.get_mut(..count).ok_or("a shape depends on too much")? {
                    let number = u8::try_from(input.number()?).ok().filter(|number| number >> 1 > 0);
                    *entry = number.ok_or("a dependence on what is not an earlier read")?;
                }
            }
            self.shapes.push(Shape { op, part: byte & PART != 0, chose: byte & CHOSE != 0, site, kind, entries });
        }
        let events = usize::try_from(input.number()?).map_err(|_| "too many events")?;
        let before = self.builder.so_far().len();
        // Each takes at least one bit.
        if events > BLOCK_EVENTS || events.div_ceil(8) > input.0.len() || before + events >= u32::MAX as usize {
            return Err("too many events");
        }
        self.events += events as u64;
        let (runs, threads) = self.order(&mut input, events)?;
        let by_thread = self.columns(&mut input, &threads, events)?;

        let mut next: Vec<usize> = threads.iter().map(|&(_, start)| start).collect();
        let mut found: Vec<(EventId, Dependence)> = Vec::new();
        self.builder.reserve(events);
        for (thread, length) in runs {
            let slot = threads.binary_search_by_key(&thread, |&(thread, _)| thread).map_err(|_| "unknown thread")?;
            let start = next[slot];
            next[slot] += length;
            for &(mut event, entries) in &by_thread[start..start + length] {
                if self.dependences {
                    let id = self.builder.so_far().len() as EventId;
                    let thread = usize::from(thread);
                    if self.positions.len() <= thread {
                        self.positions.resize_with(thread + 1, Vec::new);
                    }
                    let positions = &mut self.positions[thread];
                    let forgotten = self.forgotten.get(thread).copied().unwrap_or(0);
                    for entry in entries.into_iter().take_while(|&entry| entry > 0) {
                        let place = Place { positions, forgotten, position: positions.len() };
                        match place.read_back(self.builder.so_far(), entry.into())? {
                            Back::Kept(read) => found.push((id, read)),
                            Back::Removed(via) => event.chose |= via == Via::Decision,
                        }
                    }
                    positions.push(id);
                }
                self.builder.push_checked(event);
            }
        }
        if self.dependences {
            self.depend(&mut input, before as EventId, events, &mut found)?;
            found.sort_by_key(|&(event, _)| event);
            found.into_iter().for_each(|(event, dependence)| self.builder.depend_checked(event, dependence));
        }
        if input.0.is_empty() { Ok(()) } else { Err("it says more than it should") }
    }

    /// Reads new threads, objects and sites.
    fn names(&mut self, input: &mut Input<'_>) -> Result<(), &'static str> {
        let mut name = Vec::new();
        for list in 0..3 {
            name.clear();
            for _ in 0..input.count()? {
                let subject = if list == 1 {
                    let byte = input.byte()?;
                    let subject = Subject::ALL.get(usize::from(byte)).copied();
                    Some(subject.filter(|subject| subject.has_object()).ok_or("unknown kind of object")?)
                } else {
                    None
                };
                let (shared, rest) = match input.byte()? {
                    LONG_NAME => (usize::try_from(input.number()?).unwrap_or(usize::MAX), input.count()?),
                    byte => (usize::from(byte >> 4), usize::from(byte & 15)),
                };
                if shared > MAX_SHARED.min(name.len()) {
                    return Err("a name shares more than there is");
                }
                name.truncate(shared);
                name.extend_from_slice(input.bytes(rest)?);
                let text = std::str::from_utf8(&name).map_err(|_| "a name is not UTF-8")?.to_owned();
                match (list, subject) {
                    (0, _) => self.builder.add_thread(text).map(drop),
                    (_, Some(subject)) => self.builder.add_object(Object { subject, name: text }).map(drop),
                    _ => self.builder.add_site(text).map(drop),
                }
                .map_err(|_| "too many names")?;
            }
        }
        Ok(())
    }

    /// Returns the runs of threads, and for each thread (ascending) where its events begin in the columns.
    #[allow(clippy::type_complexity)]
    fn order(
        &self,
        input: &mut Input<'_>,
        events: usize,
    ) -> Result<(Vec<(u16, usize)>, Vec<(u16, usize)>), &'static str> {
        let mut runs = Vec::new();
        let mut left = events;
        for _ in 0..input.count()? {
            let thread = u16::try_from(input.number()?).map_err(|_| "unknown thread")?;
            if usize::from(thread) >= self.builder.so_far().threads().len() {
                return Err("unknown thread");
            }
            let length = usize::try_from(input.number()?).map_err(|_| "a run is too long")?;
            left = left.checked_sub(length).ok_or("a run is too long")?;
            runs.push((thread, length));
        }
        if left > 0 {
            return Err("runs and events do not fit");
        }
        let mut threads = runs.clone();
        threads.sort_unstable();
        threads.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        let mut start = 0;
        for (_, length) in &mut threads {
            start += std::mem::replace(length, start);
        }
        Ok((runs, threads))
    }

    /// Returns the shapes of all events, by thread.
    fn shapes(
        &mut self,
        input: &mut Input<'_>,
        threads: &[(u16, usize)],
        events: usize,
    ) -> Result<Vec<u32>, &'static str> {
        let expected = input.bytes(events.div_ceil(8))?;
        self.successors.begin(self.shapes.len());
        let mut begins = threads.iter().map(|&(_, start)| start).peekable();
        let mut shapes = Vec::with_capacity(events);
        let mut before = None;
        for number in 0..events {
            while begins.next_if_eq(&number).is_some() {
                before = None;
            }
            let shape = if expected[number / 8] >> (number % 8) & 1 == 1 {
                self.successors.after(before).ok_or("nothing is expected there")?
            } else {
                let shape = u32::try_from(input.number()?).map_err(|_| "unknown shape")?;
                if shape as usize >= self.shapes.len() {
                    return Err("unknown shape");
                }
                self.successors.note(before, shape);
                shape
            };
            shapes.push(shape);
            before = Some(shape);
        }
        Ok(shapes)
    }

    /// Returns the events, thread by thread.
    fn columns(
        &mut self,
        input: &mut Input<'_>,
        threads: &[(u16, usize)],
        events: usize,
    ) -> Result<Vec<(Event, [u8; MOST_ENTRIES])>, &'static str> {
        let shapes = self.shapes(input, threads, events)?;
        self.last.clear();
        self.last.resize(self.kinds.len(), None);
        let mut last = 0;
        let mut columns = Vec::with_capacity(events);
        for (slot, &(thread, start)) in threads.iter().enumerate() {
            let end = threads.get(slot + 1).map_or(events, |&(_, start)| start);
            for &number in &shapes[start..end] {
                let shape = self.shapes[number as usize];
                let mut object = NO_OBJECT;
                let subject = shape.op.subject();
                if subject != Subject::Nothing {
                    let difference = input.signed()?;
                    last = self.last[shape.kind as usize]
                        .unwrap_or(last)
                        .checked_add(difference)
                        .ok_or("unknown object")?;
                    self.last[shape.kind as usize] = Some(last);
                    object = u32::try_from(last).map_err(|_| "unknown object")?;
                    let trace = self.builder.so_far();
                    let known = match subject {
                        Subject::Thread => (object as usize) < trace.threads().len(),
                        _ => trace.objects().get(object as usize).is_some_and(|object| object.subject == subject),
                    };
                    if !known {
                        return Err("unknown object");
                    }
                }
                let Shape { op, part, chose, site, entries, .. } = shape;
                columns.push((Event { thread, op, part, chose, object, site }, entries));
            }
        }
        Ok(columns)
    }

    /// Reads dependences that are not part of shapes.
    fn depend(
        &mut self,
        input: &mut Input<'_>,
        before: EventId,
        events: usize,
        found: &mut Vec<(EventId, Dependence)>,
    ) -> Result<(), &'static str> {
        let mut at = 0_u64;
        let mut decided = Vec::new();
        for number in 0..input.count()? {
            let distance = input.number()?;
            if number > 0 && distance == 0 {
                return Err("dependences are not in order");
            }
            at = at.checked_add(distance).filter(|&at| at < events as u64).ok_or("an event that is not there")?;
            let event = before + at as EventId;
            let thread = usize::from(self.builder.so_far().thread(event));
            let positions = &self.positions[thread];
            let position = positions.binary_search(&event).map_err(|_| "an event that is not there")?;
            let place = Place { positions, forgotten: self.forgotten.get(thread).copied().unwrap_or(0), position };
            for _ in 0..input.count()? {
                match place.read_back(self.builder.so_far(), input.number()?)? {
                    Back::Kept(read) => found.push((event, read)),
                    Back::Removed(Via::Decision) => decided.push(event),
                    Back::Removed(Via::Value) => {}
                }
            }
        }
        decided.into_iter().for_each(|event| self.builder.mark_choice(event));
        Ok(())
    }

    /// Checks the end block.
    fn end(&self, payload: &[u8], flags: u32) -> Result<(), &'static str> {
        let mut input = Input(payload);
        if input.number()? != flags.into() {
            return Err("the flags are wrong");
        }
        let trace = self.builder.so_far();
        let counts = [trace.threads().len(), trace.objects().len(), trace.sites().len(), self.shapes.len()];
        for count in std::iter::once(self.events).chain(counts.map(|count| count as u64)) {
            if input.number()? != count {
                return Err("the file has not all that was written");
            }
        }
        if input.0.is_empty() { Ok(()) } else { Err("it says more than it should") }
    }
}

/// The place of an event in its thread, whose events are given.
struct Place<'a> {
    positions: &'a [EventId],
    /// How many earlier events were removed.
    forgotten: usize,
    position: usize,
}

/// A dependence, if the read is still in memory.
enum Back {
    Kept(Dependence),
    Removed(Via),
}

impl Place<'_> {
    /// Returns the dependence that an entry stands for.
    fn read_back(&self, trace: &Trace, entry: u64) -> Result<Back, &'static str> {
        const WRONG: &str = "a dependence on what is not an earlier read";
        let back = usize::try_from(entry >> 1).ok().filter(|&back| back > 0).ok_or(WRONG)?;
        let via = if entry & 1 == 1 { Via::Decision } else { Via::Value };
        let Some(position) = self.position.checked_sub(back) else {
            return if back <= self.position + self.forgotten { Ok(Back::Removed(via)) } else { Err(WRONG) };
        };
        let read = self.positions.get(position).copied().filter(|&read| trace.op(read).reads()).ok_or(WRONG)?;
        Ok(Back::Kept(Dependence { read, via }))
    }
}
