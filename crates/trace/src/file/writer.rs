//! Writing, one block at a time.

use super::successors::Successors;
use super::{
    BLOCK_EVENTS, BRANCHES, DEPENDENCES, END, ENDING, EVENTS, FAR, FORMAT_VERSION, LONG_NAME, MAGIC, MOST_ENTRIES,
    ORIGIN, SHORT, about, checksum, kind_of,
};
use crate::recording::Sink;
use crate::varint;
use crate::{Ending, Error, Event, Object, Origin, Subject, Via};
use rustc_hash::FxHashMap;
use std::io::Write;

/// Writes a trace as a stream, holding only the table of shapes and the current block.
///
/// Threads, objects and sites get their numbers in the order in which they are added, from 0, before the first event
/// that uses them.
pub struct Writer<W: Write> {
    out: W,
    flags: u32,
    names: [Names; 3],
    /// Numbers of shapes.
    shapes: FxHashMap<Shape, u32>,
    new_shapes: Vec<Shape>,
    block: Vec<Event>,
    shape: Vec<u32>,
    successors: Successors,
    /// Of the current block: events that have dependences, with their number in the block.
    depending: Vec<(u32, Vec<u64>)>,
    events: u64,
    block_events: usize,
}

/// Operation and site, and its dependences: entries, then zeros.
type Shape = ((u8, u32), [u8; MOST_ENTRIES]);

/// Names that were added since the last block.
#[derive(Default)]
struct Names {
    total: u64,
    new: u64,
    /// The last name.
    last: Vec<u8>,
    encoded: Vec<u8>,
}

impl Names {
    fn add(&mut self, subject: Option<Subject>, name: &str) {
        if self.new == 0 {
            self.last.clear();
        }
        let shared = self.last.iter().zip(name.as_bytes()).take_while(|(a, b)| a == b).count().min(super::MAX_SHARED);
        let rest = &name.as_bytes()[shared..];
        self.encoded.extend(subject.map(|subject| subject as u8));
        if shared < SHORT && rest.len() < SHORT {
            self.encoded.push((shared << 4 | rest.len()) as u8);
        } else {
            self.encoded.push(LONG_NAME);
            varint::put(&mut self.encoded, shared as u64);
            varint::put(&mut self.encoded, rest.len() as u64);
        }
        self.encoded.extend_from_slice(rest);
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        self.new += 1;
        self.total += 1;
    }

    fn put(&mut self, payload: &mut Vec<u8>) {
        varint::put(payload, self.new);
        payload.append(&mut self.encoded);
        self.new = 0;
    }
}

const THREADS: usize = 0;
const OBJECTS: usize = 1;
const SITES: usize = 2;

impl<W: Write> Writer<W> {
    /// Starts a file. `branches` and `dependences` say what will be recorded.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn new(mut out: W, branches: bool, dependences: bool) -> Result<Self, Error> {
        let flags = if branches { BRANCHES } else { 0 } | if dependences { DEPENDENCES } else { 0 };
        out.write_all(&MAGIC)?;
        out.write_all(&FORMAT_VERSION.to_le_bytes())?;
        out.write_all(&flags.to_le_bytes())?;
        Ok(Self {
            out,
            flags,
            names: Default::default(),
            shapes: FxHashMap::default(),
            new_shapes: Vec::new(),
            block: Vec::with_capacity(BLOCK_EVENTS),
            shape: Vec::with_capacity(BLOCK_EVENTS),
            successors: Successors::default(),
            depending: Vec::new(),
            events: 0,
            block_events: BLOCK_EVENTS,
        })
    }

    /// Sets how many events a block has, at most. Segments of a trace consist of whole blocks.
    #[must_use]
    pub fn with_blocks_of(mut self, events: usize) -> Self {
        self.block_events = events.clamp(1, BLOCK_EVENTS);
        self
    }

    /// Sets what is recorded. Only at the start, before anything else.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn set_origin(&mut self, origin: &Origin) -> Result<(), Error> {
        self.write(ORIGIN, &about::origin(origin))
    }

    /// Sets how the recorded execution ended. Only at the end, after everything else.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn set_ending(&mut self, ending: &Ending) -> Result<(), Error> {
        self.end_last_block()?;
        self.write(ENDING, &about::ending(ending))
    }

    /// Adds a thread.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn add_thread(&mut self, name: &str) -> Result<(), Error> {
        self.names[THREADS].add(None, name);
        self.bound_names()
    }

    /// Adds an object.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn add_object(&mut self, subject: Subject, name: &str) -> Result<(), Error> {
        self.names[OBJECTS].add(Some(subject), name);
        self.bound_names()
    }

    /// Adds a site.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn add_site(&mut self, name: &str) -> Result<(), Error> {
        self.names[SITES].add(None, name);
        self.bound_names()
    }

    /// Appends an event and the reads that it depends on: how many events of its thread each lies back (1 is the
    /// previous event), and in which way it matters.
    ///
    /// # Errors
    /// If the output cannot be written.
    ///
    /// # Panics
    /// If the event uses a number that does not exist.
    pub fn push(&mut self, event: Event, dependences: &[(u32, Via)]) -> Result<(), Error> {
        assert!(u64::from(event.thread) < self.names[THREADS].total, "no thread {}", event.thread);
        assert!(u64::from(event.site) < self.names[SITES].total, "no site {}", event.site);
        match event.op.subject() {
            Subject::Nothing => {}
            Subject::Thread => assert!(u64::from(event.object) < self.names[THREADS].total, "no other thread"),
            _ => assert!(u64::from(event.object) < self.names[OBJECTS].total, "no object {}", event.object),
        }
        let mut entries = [0; MOST_ENTRIES];
        if !dependences.is_empty() && self.flags & DEPENDENCES != 0 {
            let number = |&(back, via): &(u32, Via)| u64::from(back) << 1 | u64::from(via == Via::Decision);
            if dependences.len() <= MOST_ENTRIES && dependences.iter().all(|entry| number(entry) < FAR) {
                entries.iter_mut().zip(dependences).for_each(|(to, entry)| *to = number(entry) as u8);
            } else {
                self.depending.push((self.block.len() as u32, dependences.iter().map(number).collect()));
            }
        }
        let next = self.shapes.len() as u32;
        let shape = *self.shapes.entry((kind_of(event), entries)).or_insert_with_key(|&key| {
            self.new_shapes.push(key);
            next
        });
        self.block.push(event);
        self.shape.push(shape);
        self.events += 1;
        if self.block.len() >= self.block_events { self.end_block() } else { Ok(()) }
    }

    /// Returns the number of events so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Ends the block if it has many names.
    fn bound_names(&mut self) -> Result<(), Error> {
        let waiting: usize = self.names.iter().map(|names| names.encoded.len()).sum();
        if waiting > 1 << 20 { self.end_block() } else { Ok(()) }
    }

    /// Writes the rest and the end block.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn finish(mut self) -> Result<W, Error> {
        self.end_last_block()?;
        let mut payload = Vec::new();
        varint::put(&mut payload, self.flags.into());
        varint::put(&mut payload, self.events);
        for names in &self.names {
            varint::put(&mut payload, names.total);
        }
        varint::put(&mut payload, self.shapes.len() as u64);
        self.write(END, &payload)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn end_last_block(&mut self) -> Result<(), Error> {
        let is_empty = self.block.is_empty() && self.names.iter().all(|names| names.new == 0);
        if is_empty { Ok(()) } else { self.end_block() }
    }

    fn end_block(&mut self) -> Result<(), Error> {
        let mut payload = Vec::with_capacity(self.block.len() * 4);
        for names in &mut self.names {
            names.put(&mut payload);
        }
        varint::put(&mut payload, self.new_shapes.len() as u64);
        for ((op, site), entries) in self.new_shapes.drain(..) {
            payload.push(op);
            varint::put(&mut payload, site.into());
            if self.flags & DEPENDENCES != 0 {
                let entries = || entries.into_iter().take_while(|&entry| entry > 0);
                varint::put(&mut payload, entries().count() as u64);
                entries().for_each(|entry| varint::put(&mut payload, entry.into()));
            }
        }
        varint::put(&mut payload, self.block.len() as u64);

        let runs: Vec<&[Event]> = self.block.chunk_by(|a, b| a.thread == b.thread).collect();
        varint::put(&mut payload, runs.len() as u64);
        for run in runs {
            varint::put(&mut payload, run[0].thread.into());
            varint::put(&mut payload, run.len() as u64);
        }

        let mut by_thread: Vec<u32> = (0..self.block.len() as u32).collect();
        by_thread.sort_by_key(|&at| self.block[at as usize].thread);
        self.put_shapes(&mut payload, &by_thread);
        let mut last_of: FxHashMap<(u8, u32), i64> = FxHashMap::default();
        let mut last = 0;
        for &at in &by_thread {
            let event = self.block[at as usize];
            if event.op.subject() == Subject::Nothing {
                continue;
            }
            let before = last_of.entry(kind_of(event)).or_insert(last);
            last = event.object.into();
            varint::put_signed(&mut payload, last - *before);
            *before = last;
        }
        if self.flags & DEPENDENCES != 0 {
            varint::put(&mut payload, self.depending.len() as u64);
            let mut before = 0;
            for (at, entries) in self.depending.drain(..) {
                varint::put(&mut payload, (at - before).into());
                before = at;
                varint::put(&mut payload, entries.len() as u64);
                for entry in entries {
                    varint::put(&mut payload, entry);
                }
            }
        }
        self.block.clear();
        self.shape.clear();
        self.write(EVENTS, &payload)
    }

    /// Writes the shapes of the block's events, in this order: which of them are as predicted, and the others.
    fn put_shapes(&mut self, payload: &mut Vec<u8>, by_thread: &[u32]) {
        self.successors.begin(self.shapes.len());
        let mut expected = vec![0_u8; by_thread.len().div_ceil(8)];
        let mut others = Vec::with_capacity(by_thread.len());
        let mut before: Option<(u16, u32)> = None;
        for (number, &at) in by_thread.iter().enumerate() {
            let (thread, shape) = (self.block[at as usize].thread, self.shape[at as usize]);
            let last = before.filter(|&(of, _)| of == thread).map(|(_, shape)| shape);
            if self.successors.after(last) == Some(shape) {
                expected[number / 8] |= 1 << (number % 8);
            } else {
                varint::put(&mut others, shape.into());
                self.successors.note(last, shape);
            }
            before = Some((thread, shape));
        }
        payload.append(&mut expected);
        payload.append(&mut others);
    }

    fn write(&mut self, kind: u32, payload: &[u8]) -> Result<(), Error> {
        let length = u32::try_from(payload.len()).map_err(|_| Error::TooMany("names in one block"))?;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&checksum(kind, payload).to_le_bytes())?;
        Ok(self.out.write_all(payload)?)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn thread(&mut self, name: String) -> Result<(), Error> {
        self.add_thread(&name)
    }

    fn object(&mut self, object: Object) -> Result<(), Error> {
        self.add_object(object.subject, &object.name)
    }

    fn site(&mut self, name: String) -> Result<(), Error> {
        self.add_site(&name)
    }

    fn fills_gaps(&self) -> bool {
        true
    }

    fn event(&mut self, event: Event, _skipped: u64, reads: &[(u32, Via)]) -> Result<(), Error> {
        self.push(event, reads)
    }
}
