//! The log of an execution in a file, between the two passes over it.
//!
//! Records differ from earlier ones in few fields. The fields that an instruction always sets to the same values are its
//! [`Shape`]; a record is a byte that says which of its fields are as expected, and the others. The usual record of a
//! loop takes one or two bytes instead of 48.

use crate::Error;
use crate::varint::{self, Input};
use racehunter_abi::{CodeAddress, EventNumber, Kind, Record, ThreadId};
use rustc_hash::FxHashMap;
use std::io::{Read, Write};

/// The shape is the one that came after the previous shape the last time. Otherwise its number follows, and a new shape
/// after its number.
const EXPECTED: u8 = 1;
/// The number of the event is the same as that of the previous record, or the next one ([`NEXT`]); otherwise the
/// difference follows.
const SAME: u8 = 2;
/// See [`SAME`].
const NEXT: u8 = 4;
/// The object is that of the last record of this shape, or as far from it as that one from its predecessor
/// ([`STRIDE`]); otherwise the difference follows.
const STAYS: u8 = 8;
/// See [`STAYS`].
const STRIDE: u8 = 16;
/// The second value is not that of the last record of this shape. The difference follows.
const EXTRA: u8 = 32;
/// The thread is not that of the previous record. Its number follows.
const THREAD: u8 = 64;

/// Maximum number of records in a piece.
const PIECE: usize = 1 << 16;
/// Maximum length of a record, with its shape: eight numbers of at most ten bytes, and six single bytes.
const LONGEST: usize = 96;

/// The fields of a record that depend on the instruction alone, as a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    code: CodeAddress,
    site: u32,
    stack: u32,
    kind: Kind,
    size: u8,
    detail: u8,
    reserved: u8,
}

impl Shape {
    fn of(record: &Record) -> Self {
        let Record { code, site, stack, kind, size, detail, reserved, .. } = *record;
        Self { code, site, stack, kind, size, detail, reserved }
    }
}

/// A shape, with what its last record had and what came after it.
#[derive(Clone, Copy)]
struct Known {
    shape: Shape,
    object: u64,
    stride: u64,
    extra: u64,
    successor: u32,
}

/// The state that writer and reader have in common.
struct State {
    shapes: Vec<Known>,
    /// The previous shape, index and thread.
    shape: u32,
    index: EventNumber,
    thread: ThreadId,
}

impl Default for State {
    fn default() -> Self {
        // Shape 0 precedes the first record.
        let nothing = Shape::of(&Record::default());
        let known = Known { shape: nothing, object: 0, stride: 0, extra: 0, successor: 0 };
        Self { shapes: vec![known], shape: 0, index: EventNumber::START, thread: ThreadId::MAIN }
    }
}

impl State {
    fn add(&mut self, shape: Shape) {
        self.shapes.push(Known { shape, object: 0, stride: 0, extra: 0, successor: 0 });
    }

    /// Returns the shape that is expected next.
    fn expected(&self) -> u32 {
        self.shapes[self.shape as usize].successor
    }

    /// Continues with a record of this shape.
    fn pass(&mut self, number: u32, record: &Record) {
        self.shapes[self.shape as usize].successor = number;
        let known = &mut self.shapes[number as usize];
        known.stride = record.object.wrapping_sub(known.object);
        known.object = record.object;
        known.extra = record.extra;
        self.shape = number;
        self.index = record.index;
        self.thread = record.thread;
    }
}

/// Writes a log.
pub struct LogWriter<W> {
    out: W,
    state: State,
    numbers: FxHashMap<Shape, u32>,
    buffer: Vec<u8>,
    bytes: u64,
}

impl<W: Write> LogWriter<W> {
    /// Starts a log.
    pub fn new(out: W) -> Self {
        Self { out, state: State::default(), numbers: FxHashMap::default(), buffer: Vec::new(), bytes: 0 }
    }

    /// Appends records.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn add(&mut self, records: &[Record]) -> Result<(), Error> {
        for piece in records.chunks(PIECE) {
            self.buffer.clear();
            self.buffer.extend([0; 8]);
            for record in piece {
                self.put(record)?;
            }
            let length = (self.buffer.len() - 8) as u32;
            self.buffer[..4].copy_from_slice(&(piece.len() as u32).to_le_bytes());
            self.buffer[4..8].copy_from_slice(&length.to_le_bytes());
            self.out.write_all(&self.buffer)?;
            self.bytes += self.buffer.len() as u64;
        }
        Ok(())
    }

    /// Returns the output, with everything written, and the number of bytes.
    ///
    /// # Errors
    /// If the rest cannot be written.
    pub fn finish(mut self) -> Result<(W, u64), Error> {
        self.out.flush()?;
        Ok((self.out, self.bytes))
    }

    fn put(&mut self, record: &Record) -> Result<(), Error> {
        let Self { state, numbers, buffer, .. } = self;
        let shape = Shape::of(record);
        let expected = state.expected();
        let flags_at = buffer.len();
        let mut flags = 0;
        buffer.push(0);
        let mut number = expected;
        if state.shapes[expected as usize].shape == shape {
            flags |= EXPECTED;
        } else {
            let new = state.shapes.len() as u32;
            number = *numbers.entry(shape).or_insert(new);
            varint::put(buffer, number.into());
            if number == new {
                put_shape(buffer, &shape);
                if new == u32::MAX {
                    return Err(Error::TooMany("instructions"));
                }
                state.add(shape);
            }
        }
        let known = state.shapes[number as usize];
        match record.index.0.wrapping_sub(state.index.0) {
            0 => flags |= SAME,
            1 => flags |= NEXT,
            difference => varint::put_signed(buffer, difference as i64),
        }
        match record.object.wrapping_sub(known.object) {
            0 => flags |= STAYS,
            stride if stride == known.stride => flags |= STRIDE,
            difference => varint::put_signed(buffer, difference as i64),
        }
        if record.extra != known.extra {
            flags |= EXTRA;
            varint::put_signed(buffer, record.extra.wrapping_sub(known.extra) as i64);
        }
        if record.thread != state.thread {
            flags |= THREAD;
            varint::put(buffer, record.thread.0.into());
        }
        buffer[flags_at] = flags;
        state.pass(number, record);
        Ok(())
    }
}

fn put_shape(buffer: &mut Vec<u8>, shape: &Shape) {
    varint::put(buffer, shape.code.0);
    varint::put(buffer, shape.site.into());
    varint::put(buffer, shape.stack.into());
    buffer.extend([shape.kind as u8, shape.size, shape.detail, shape.reserved]);
}

/// Reads a log.
pub struct LogReader<R> {
    from: R,
    state: State,
    buffer: Vec<u8>,
    pieces: usize,
}

impl<R: Read> LogReader<R> {
    /// Reads what a [`LogWriter`] has written.
    pub fn new(from: R) -> Self {
        Self { from, state: State::default(), buffer: Vec::new(), pieces: 0 }
    }

    /// Replaces `records` with the next piece of the log. At the end of the log, `records` is left empty.
    ///
    /// # Errors
    /// If the log cannot be read, or is damaged.
    pub fn next_piece(&mut self, records: &mut Vec<Record>) -> Result<(), Error> {
        records.clear();
        let mut header = [0; 8];
        let read = self.from.read(&mut header[..1])?;
        if read == 0 {
            return Ok(());
        }
        let block = self.pieces;
        self.pieces += 1;
        self.from.read_exact(&mut header[1..])?;
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
        let (count, length) = (number(0), number(4));
        if count > PIECE || length > count * LONGEST {
            return Err(Error::Corrupted { block, reason: "it is too long" });
        }
        self.buffer.resize(length, 0);
        self.from.read_exact(&mut self.buffer)?;
        records.reserve(count);
        let mut input = Input(&self.buffer);
        for _ in 0..count {
            let record = next(&mut self.state, &mut input).map_err(|reason| Error::Corrupted { block, reason })?;
            records.push(record);
        }
        Ok(())
    }
}

fn next(state: &mut State, input: &mut Input<'_>) -> Result<Record, &'static str> {
    let flags = input.byte()?;
    let number = if flags & EXPECTED != 0 {
        state.expected()
    } else {
        let number = u32::try_from(input.number()?).map_err(|_| "unknown instruction")?;
        if number as usize == state.shapes.len() {
            let shape = take_shape(input)?;
            state.add(shape);
        }
        number
    };
    let known = *state.shapes.get(number as usize).ok_or("unknown instruction")?;
    let index = match flags & (SAME | NEXT) {
        SAME => state.index.0,
        NEXT => state.index.0.wrapping_add(1),
        _ => state.index.0.wrapping_add(input.signed()? as u64),
    };
    let object = match flags & (STAYS | STRIDE) {
        STAYS => known.object,
        STRIDE => known.object.wrapping_add(known.stride),
        _ => known.object.wrapping_add(input.signed()? as u64),
    };
    let extra = if flags & EXTRA != 0 { known.extra.wrapping_add(input.signed()? as u64) } else { known.extra };
    let thread = match flags & THREAD {
        0 => state.thread,
        _ => ThreadId(u32::try_from(input.number()?).map_err(|_| "unknown thread")?),
    };
    let Shape { code, site, stack, kind, size, detail, reserved } = known.shape;
    let index = EventNumber(index);
    let record = Record { index, code, object, extra, thread, stack, site, kind, size, detail, reserved };
    if !record.is_plausible() {
        return Err("not a record");
    }
    state.pass(number, &record);
    Ok(record)
}

fn take_shape(input: &mut Input<'_>) -> Result<Shape, &'static str> {
    let code = CodeAddress(input.number()?);
    let site = u32::try_from(input.number()?).map_err(|_| "unknown instruction")?;
    let stack = u32::try_from(input.number()?).map_err(|_| "unknown stack")?;
    let kind = Kind::from_byte(input.byte()?).ok_or("unknown kind of record")?;
    let [size, detail, reserved] = [input.byte()?, input.byte()?, input.byte()?];
    Ok(Shape { code, site, stack, kind, size, detail, reserved })
}
