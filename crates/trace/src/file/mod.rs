//! The `.rht` trace file: columns in checksummed blocks, written as a stream, read in place.
//!
//! # Layout
//!
//! All numbers of fixed size are little-endian; *varint* is LEB128, *zigzag* a varint of `(n << 1) ^ (n >> 63)`.
//!
//! ```text
//! file    = "RHTRACE\0"  version: u32  flags: u32 (1 branches, 2 dependences)  [origin block]  block*  [ending block]  end block
//! block   = kind: u32 (1 events, 2 end, 3 origin, 4 ending)  length: u32  checksum: u32  payload: length bytes
//! ```
//!
//! The checksum is the CRC-32 of kind, length and payload. The payload of an events block holds up to 65,536 events that
//! follow each other in the trace:
//!
//! ```text
//! names of new threads, objects and sites: three lists
//!     list  = count: varint  entry*
//!     entry = [subject: u8, objects only]  shared and length  length bytes
//!             (the name is the first `shared` bytes, at most 255, of the name before it in the same list, then
//!              the bytes; the two numbers are shared * 16 + length in a byte, or, unless both are smaller than 15, a byte
//!              of 255 and two varints)
//! new shapes: count: varint, then for each  op: u8 (128 added for a part, 64 after a choice)  site: varint  and, when
//!          the flags say that there are dependences, entries: varint (at most 4), then for each an entry as below
//! events: varint
//! order:  runs: varint, then for each  thread: varint  events: varint
//! expected: a bit for each event, by thread, the lowest bit of a byte first: its shape is the one that came last after the
//!          shape of its thread's event before it, in this block, in the order of this column
//! shapes: for each thread that occurs, by number, for each of its events without that bit: the shape, varint
//! objects: in the same order, for the shapes that have one: zigzag difference to the last object of this shape in this
//!          block (at first to the last object of any shape)
//! dependences, when the flags say so: events that have some which are not in their shapes: varint, then for each
//!          distance to the event before it in this list: varint  entries: varint, then for each
//!          (how many events of its thread the read lies back) * 2 + (1 for a decision): varint
//! ```
//!
//! The payload of the origin block says what was recorded: program, identity, whether there was a file as standard
//! input (a byte, 0 or 1) and its name, the number of arguments (varint) and the arguments. Texts are their length, a
//! varint, and their bytes.
//!
//! The payload of the ending block says how the recorded execution ended: the outcome, a text; flags, a byte (1 it failed, 2
//! the trace has all of it); and what is not in the trace, a varint and that many texts.
//!
//! A *shape* is an operation at a site: together they describe an event completely except for its object, and a program
//! has few of them. An operation usually also depends on the same reads each time that a thread reaches it by the same
//! path: a few reads that do not lie far back are part of the shape. The last object of a shape is that of any shape
//! with the same operation and site. Differences start anew in each block, so a block can be read without the events
//! before it, given the names and shapes of the earlier ones. The payload of the end block is the flags and the number
//! of events, threads, objects, sites and shapes in the whole file, as varints: without it, the file is truncated.
//!
//! # Limits
//!
//! The [`Writer`] holds one block and the table of shapes; nothing grows with the number of events. The [`Reader`]
//! checks every number before it allocates or indexes anything, and the limit on shared bytes keeps names in proportion
//! to the file.

mod about;
mod reader;
mod segments;
mod successors;
mod writer;

pub use reader::Reader;
pub use segments::{Segment, Segments};
pub use writer::Writer;

/// A trace file that is mapped into memory.
pub type MappedReader = Reader<memmap2::Mmap>;

use crate::{Error, Event, EventId, Trace};
use rustc_hash::FxHashMap;
use std::io::Write;

/// Version of the format. Files of another version are refused.
pub const FORMAT_VERSION: u32 = 5;

const MAGIC: [u8; 8] = *b"RHTRACE\0";
const HEADER_LEN: usize = 16;
const BLOCK_HEADER_LEN: usize = 12;
const MAX_SHARED: usize = 255;
/// Two numbers below this share a byte in a name.
const SHORT: usize = 15;
const LONG_NAME: u8 = 255;
const BLOCK_EVENTS: usize = 1 << 16;
const EVENTS: u32 = 1;
const END: u32 = 2;
const ORIGIN: u32 = 3;
const ENDING: u32 = 4;
/// Flags of the ending block.
const FAILED: u8 = 1;
const WHOLE: u8 = 2;
const BRANCHES: u32 = 1;
const DEPENDENCES: u32 = 2;

/// Returns the checksum of a block.
fn checksum(kind: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&kind.to_le_bytes());
    hasher.update(&(payload.len() as u32).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Corrects the checksums of all blocks that can be found, for tests that change files and want to get past them.
pub fn mend_checksums(bytes: &mut [u8]) {
    let mut at = HEADER_LEN;
    while let Some(header) = bytes.get(at..at + BLOCK_HEADER_LEN) {
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (kind, begin) = (word(0), at + BLOCK_HEADER_LEN);
        let Some(payload) = bytes.get(begin..begin + word(4) as usize) else { return };
        let (sum, next) = (checksum(kind, payload), begin + payload.len());
        bytes[at + 8..begin].copy_from_slice(&sum.to_le_bytes());
        at = next;
    }
}

/// Writes a whole trace.
///
/// # Errors
/// If the output cannot be written.
pub fn write(trace: &Trace, out: impl Write) -> Result<(), Error> {
    write_in_blocks(trace, out, BLOCK_EVENTS)
}

/// As [`write()`], with at most this many events in a block.
///
/// # Errors
/// If the output cannot be written.
pub fn write_in_blocks(trace: &Trace, out: impl Write, events: usize) -> Result<(), Error> {
    let writer = Writer::new(out, trace.has_branches(), trace.dependences().is_some())?;
    let mut writer = writer.with_blocks_of(events);
    if let Some(origin) = trace.origin() {
        writer.set_origin(origin)?;
    }
    for name in trace.threads() {
        writer.add_thread(name)?;
    }
    for name in trace.sites() {
        writer.add_site(name)?;
    }
    for object in trace.objects() {
        writer.add_object(object.subject, &object.name)?;
    }
    let mut dependences = trace.dependences().into_iter().flat_map(|dependences| dependences.iter()).peekable();
    // Dependences count events of their thread.
    let mut events_of = vec![0_u32; trace.threads().len()];
    let mut position_of: FxHashMap<EventId, u32> = FxHashMap::default();
    for (_, reads) in trace.dependences().into_iter().flat_map(|dependences| dependences.iter()) {
        position_of.extend(reads.iter().map(|dependence| (dependence.read, 0)));
    }
    let mut back = Vec::new();
    for (id, event) in (0..).zip(trace.events()) {
        let position = &mut events_of[usize::from(event.thread)];
        back.clear();
        if let Some((_, reads)) = dependences.next_if(|(of, _)| *of == id) {
            back.extend(reads.iter().map(|dependence| (*position - position_of[&dependence.read], dependence.via)));
        }
        if let Some(entry) = position_of.get_mut(&id) {
            *entry = *position;
        }
        *position += 1;
        writer.push(event, &back)?;
    }
    if let Some(ending) = trace.ending() {
        writer.set_ending(ending)?;
    }
    writer.finish()?;
    Ok(())
}

/// Returns the operation and site of an event: all shapes with the same kind share their objects.
fn kind_of(event: Event) -> (u8, u32) {
    (event.shape(), event.site)
}

/// Maximum number of dependences in a shape.
const MOST_ENTRIES: usize = 4;
/// Upper bound of the numbers for them.
const FAR: u64 = 256;
