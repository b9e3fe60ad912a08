//! The state of a campaign as bytes: saved while it runs, loaded when it is resumed.
//!
//! Numbers have variable length, since most are small and there can be millions of targets. A checksum at the end detects
//! damage. The input is not trusted: any bytes give a state or an error, and allocations never exceed what the input can
//! fill.

use crate::{Bug, Descriptor, Misuse, Pair, Switch, Tracked, Variable};
use racehunter_log::{Address, CodeAddress, ThreadPath};
use std::io::{self, Read, Write};

/// Why a state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is incomplete, or not a state at all.
    #[error("it is damaged")]
    Damaged,
    /// It is the state of a campaign with other analyses.
    #[error("it belongs to a campaign with other analyses")]
    Other,
}

/// Number of bytes buffered before they are written.
const BLOCK: usize = 1 << 16;

/// Writes a state.
pub struct Saver<'a> {
    out: &'a mut dyn Write,
    block: Vec<u8>,
    checksum: crc32fast::Hasher,
    /// The first error; nothing is written after it.
    trouble: Option<io::Error>,
}

impl<'a> Saver<'a> {
    /// Creates a saver that writes to `out`, in large pieces.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out, block: Vec::with_capacity(BLOCK + 16), checksum: crc32fast::Hasher::new(), trouble: None }
    }

    /// Writes a number.
    pub fn number(&mut self, number: impl Into<u64>) {
        let mut left = number.into();
        while left >= 0x80 {
            self.block.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.block.push(left as u8);
        if self.block.len() >= BLOCK {
            self.pass_on();
        }
    }

    /// Writes the number of items that follow.
    pub fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.block.extend_from_slice(text.as_bytes());
    }

    /// Writes numbers, preceded by their count.
    pub fn numbers<N: Into<u64>>(&mut self, numbers: impl ExactSizeIterator<Item = N>) {
        self.count(numbers.len());
        numbers.for_each(|number| self.number(number));
    }

    fn pass_on(&mut self) {
        self.checksum.update(&self.block);
        if self.trouble.is_none() {
            self.trouble = self.out.write_all(&self.block).err();
        }
        self.block.clear();
    }

    /// Ends the state with its checksum.
    ///
    /// # Errors
    ///
    /// If anything could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.pass_on();
        let sum = std::mem::take(&mut self.checksum).finalize();
        match self.trouble {
            Some(error) => Err(error),
            None => self.out.write_all(&sum.to_le_bytes()),
        }
    }

    /// Writes an optional number.
    pub fn optional(&mut self, number: Option<u64>) {
        self.numbers(number.into_iter());
    }

    /// Writes the switches of a schedule.
    pub fn switches(&mut self, switches: &[Switch]) {
        self.count(switches.len());
        for &Switch { at, to, from, code } in switches {
            [at.into(), to.into(), from.into(), code.into()].into_iter().for_each(|number: u64| self.number(number));
        }
    }

    /// Writes a pair of conflicting accesses.
    pub fn pair(&mut self, pair: &Pair) {
        for Descriptor { code, path, callers, nth } in pair {
            self.number(*code);
            self.optional(path.map(u64::from));
            self.numbers(callers.iter().copied());
            self.number(*nth);
        }
    }

    /// Writes a variable.
    pub fn variable(&mut self, variable: Variable) {
        match variable {
            Variable::Fixed(address) => self.numbers([0, address.0].into_iter()),
            Variable::Heap { code, caller, iteration, offset } => {
                self.numbers([1, code.0, caller, u64::from(iteration), offset].into_iter());
            }
            Variable::Stack { path, offset } => self.numbers([2, path.0, offset].into_iter()),
            Variable::File(file) => self.numbers([3, file].into_iter()),
        }
    }

    /// Writes a tracked variable.
    pub fn tracked(&mut self, variable: Tracked) {
        match variable {
            Tracked::At(address) => self.numbers([0, address.0].into_iter()),
            Tracked::AllocatedAt(code) => self.numbers([1, code.0].into_iter()),
        }
    }

    pub(crate) fn bug(&mut self, bug: &Bug) {
        match bug {
            Bug::Race(a, b) => self.numbers([0, a.0, b.0].into_iter()),
            Bug::DoubleFree(a, b) => self.numbers([1, a.0, b.0].into_iter()),
            Bug::Misuse(what, code) => self.numbers([2, u64::from(*what as u8), code.0].into_iter()),
            Bug::Deadlock(places) => self
                .numbers(std::iter::once(3).chain(places.iter().map(|place| place.0)).collect::<Vec<_>>().into_iter()),
            Bug::Crash(signal, code) => self.numbers([4, u64::from(*signal), code.0].into_iter()),
            Bug::ExitStatus(status) => self.numbers([6, u64::from(*status as u32)].into_iter()),
            Bug::Output(hash) => self.numbers([7, *hash].into_iter()),
            Bug::Panic(file, line) => {
                self.numbers([8, u64::from(*line)].into_iter());
                self.text(file);
            }
            Bug::Assertion(message, file, line) => {
                self.numbers([5, u64::from(*line)].into_iter());
                self.text(message);
                self.text(file);
            }
        }
    }
}

/// Reads a state.
pub struct Loader<'a> {
    input: &'a mut dyn Read,
    block: Vec<u8>,
    next: usize,
    checksum: crc32fast::Hasher,
}

impl<'a> Loader<'a> {
    /// Creates a loader that reads from `input`, in large pieces: it may read more than the state.
    pub fn new(input: &'a mut dyn Read) -> Self {
        Self { input, block: Vec::new(), next: 0, checksum: crc32fast::Hasher::new() }
    }

    fn fill(&mut self) -> Result<(), Unusable> {
        self.checksum.update(&self.block[..self.next]);
        self.block.clear();
        self.next = 0;
        (&mut *self.input).take(BLOCK as u64).read_to_end(&mut self.block)?;
        if self.block.is_empty() { Err(Unusable::Damaged) } else { Ok(()) }
    }

    fn byte(&mut self) -> Result<u8, Unusable> {
        if self.next == self.block.len() {
            self.fill()?;
        }
        self.next += 1;
        Ok(self.block[self.next - 1])
    }

    /// Reads a number.
    ///
    /// # Errors
    ///
    /// If the input ends or is damaged, as in all methods.
    pub fn number(&mut self) -> Result<u64, Unusable> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Unusable::Damaged)
    }

    /// Reads a number that must fit its type.
    ///
    /// # Errors
    ///
    /// If it does not.
    pub fn small<N: TryFrom<u64>>(&mut self) -> Result<N, Unusable> {
        self.number()?.try_into().map_err(|_| Unusable::Damaged)
    }

    /// Reads a flag.
    ///
    /// # Errors
    ///
    /// If it is neither 0 nor 1.
    pub fn flag(&mut self) -> Result<bool, Unusable> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Unusable::Damaged),
        }
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// If the input is damaged.
    pub fn text(&mut self) -> Result<String, Unusable> {
        let length = self.number()?;
        let bytes = (0..length).map(|_| self.byte()).collect::<Result<Vec<u8>, _>>()?;
        String::from_utf8(bytes).map_err(|_| Unusable::Damaged)
    }

    /// Reads numbers, preceded by their count.
    ///
    /// # Errors
    ///
    /// If one is missing or too large.
    pub fn numbers<N: TryFrom<u64>>(&mut self) -> Result<Vec<N>, Unusable> {
        let count = self.number()?;
        (0..count).map(|_| self.small()).collect()
    }

    /// Reads an optional number.
    ///
    /// # Errors
    ///
    /// If there are several.
    pub fn optional(&mut self) -> Result<Option<u64>, Unusable> {
        match self.numbers()?[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            _ => Err(Unusable::Damaged),
        }
    }

    /// Reads the switches of a schedule.
    ///
    /// # Errors
    ///
    /// If the input is damaged.
    pub fn switches(&mut self) -> Result<Vec<Switch>, Unusable> {
        let count = self.number()?;
        let mut one = || Ok(Switch { at: self.small()?, to: self.small()?, from: self.small()?, code: self.small()? });
        (0..count).map(|_| one()).collect()
    }

    /// Reads a pair of conflicting accesses.
    ///
    /// # Errors
    ///
    /// If the input is damaged.
    pub fn pair(&mut self) -> Result<Pair, Unusable> {
        let mut one = || {
            let (code, path) = (self.small()?, self.optional()?.map(ThreadPath));
            Ok::<_, Unusable>(Descriptor { code, path, callers: self.numbers()?, nth: self.number()? })
        };
        Ok([one()?, one()?])
    }

    /// Reads a variable.
    ///
    /// # Errors
    ///
    /// If the input is damaged.
    pub fn variable(&mut self) -> Result<Variable, Unusable> {
        Ok(match self.numbers::<u64>()?[..] {
            [0, address] => Variable::Fixed(Address(address)),
            [1, code, caller, iteration, offset] => {
                let iteration = iteration.try_into().map_err(|_| Unusable::Damaged)?;
                Variable::Heap { code: CodeAddress(code), caller, iteration, offset }
            }
            [2, path, offset] => Variable::Stack { path: ThreadPath(path), offset },
            [3, file] => Variable::File(file),
            _ => return Err(Unusable::Damaged),
        })
    }

    /// Reads a tracked variable.
    ///
    /// # Errors
    ///
    /// If the input is damaged.
    pub fn tracked(&mut self) -> Result<Tracked, Unusable> {
        match self.numbers::<u64>()?[..] {
            [0, address] => Ok(Tracked::At(Address(address))),
            [1, code] => Ok(Tracked::AllocatedAt(CodeAddress(code))),
            _ => Err(Unusable::Damaged),
        }
    }

    pub(crate) fn bug(&mut self) -> Result<Bug, Unusable> {
        let misuse = |byte: u64| u8::try_from(byte).ok().and_then(Misuse::from_byte).ok_or(Unusable::Damaged);
        let small = |number: u64| u32::try_from(number).map_err(|_| Unusable::Damaged);
        Ok(match self.numbers::<u64>()?[..] {
            [0, a, b] => Bug::Race(CodeAddress(a), CodeAddress(b)),
            [1, a, b] => Bug::DoubleFree(CodeAddress(a), CodeAddress(b)),
            [2, what, code] => Bug::Misuse(misuse(what)?, CodeAddress(code)),
            [3, ref places @ ..] => Bug::Deadlock(places.iter().copied().map(CodeAddress).collect()),
            [4, signal, code] => Bug::Crash(small(signal)?, CodeAddress(code)),
            [5, line] => Bug::Assertion(self.text()?, self.text()?, small(line)?),
            [6, status] => Bug::ExitStatus(small(status)? as i32),
            [7, hash] => Bug::Output(hash),
            [8, line] => Bug::Panic(self.text()?, small(line)?),
            _ => return Err(Unusable::Damaged),
        })
    }

    /// Ends the state, and verifies its checksum.
    ///
    /// # Errors
    ///
    /// If the checksum does not match.
    pub fn finish(mut self) -> Result<(), Unusable> {
        let mut sum = std::mem::take(&mut self.checksum);
        sum.update(&self.block[..self.next]);
        // The checksum does not cover its own bytes.
        let bytes = [self.byte()?, self.byte()?, self.byte()?, self.byte()?];
        if sum.finalize() == u32::from_le_bytes(bytes) { Ok(()) } else { Err(Unusable::Damaged) }
    }
}
