//! Models that the notation of the models cannot express.

use super::{Call, hidden, strlen, strnlen, wide_len};
use crate::thread::LIVE;
use crate::{Global, constructors, log};
use racehunter_abi::{Escape, UNMODELLED_FUNCTION, UNMODELLED_HALF};

/// Maximum length of the compared name of an environment variable.
const LONGEST_NAME: usize = 256;

/// Where `strtok` continues.
#[unsafe(link_section = ".data.racehunter")]
static SAVED: Global<usize> = Global::new(0);

impl Call {
    /// Returns whether fewer items were read than requested: a part of one more may have been written.
    unsafe fn ends_within_item(&self, numbers: u8) -> bool {
        let (size, count) = (self.argument(numbers / 10), self.argument(numbers % 10));
        size > 1 && (self.result as usize) < count
    }

    /// Notes a call whose effect is not known, by its index in [`racehunter_abi::UNMODELLED`].
    pub(super) unsafe fn note(&self, what: u64) {
        if LIVE.get() > 1 {
            log::escape(Escape::Unmodelled, self.code, (UNMODELLED_FUNCTION + what) as usize, 0);
        }
    }

    /// Handles a routine of a model, by its name. The meaning of `number` depends on the routine.
    pub(super) unsafe fn routine(&self, name: &str, number: u8) {
        if self.formats(name, number) || self.containers(name, number) {
            return;
        }
        let limit = if number == 2 { self.argument(2) } else { usize::MAX };
        let pair = [self.argument(0), self.argument(1)];
        match (name, self.has_returned) {
            ("vector", _) => self.vector(self.argument(1), self.argument(2), number != 0),
            ("message", _) => self.message(number != 0),
            ("poll", true) if self.result < 0 => {}
            ("poll", _) => self.poll(),
            ("locale", false) => {
                if let Some(locale) = hidden::address("locale") {
                    if pair[1] == 0 { self.reads(locale, 1) } else { self.writes(locale, 1) }
                }
            }
            ("sort", _) => self.sort(),
            ("environment", false) => self.environment(number != 0),
            ("address", _) => self.internet_address(number),
            ("halts", true) if number == 0 && self.result < 0 || number == 1 && self.result == 0 => {
                self.note(UNMODELLED_HALF);
            }
            ("short", true) if self.ends_within_item(number) => {
                self.note(UNMODELLED_HALF);
            }
            (_, true) => {}
            _ if pair[0] == 0 && name != "token" => {}
            ("int", _) => self.reads(pair[0], integer_len(pair[0], if number == 2 { self.argument(2) } else { 10 })),
            ("float", _) => self.reads(pair[0], float_len(pair[0])),
            ("token", _) => self.token(number),
            ("separate", _) => {
                let text = *(pair[0] as *const usize);
                if text != 0 {
                    self.cut(text, pair[1]);
                }
            }
            ("backwards", _) => self.backwards(),
            _ if pair[1] == 0 => {}
            ("mem", _) => self.both(difference(pair, limit, Text::BYTES)),
            ("cmp", _) => self.both(difference(pair, limit, Text::STRINGS)),
            ("case", _) => self.both(difference(pair, limit, Text { folds: true, ..Text::STRINGS })),
            ("wmem", _) => self.both(difference(pair, limit, Text { unit: 4, ..Text::BYTES })),
            ("wcmp", _) => self.both(difference(pair, limit, Text { unit: 4, ..Text::STRINGS })),
            ("wcase", _) => self.both(difference(pair, limit, Text { unit: 4, folds: true, ends: true })),
            ("cat", _) => {
                let (old, len) = (strlen(pair[0] as *const u8), strnlen(pair[1] as *const u8, limit));
                self.append(pair, [old, len, (len + 1).min(limit)], 1);
            }
            ("wcat", _) => {
                let (old, len) = (wide_len(pair[0], usize::MAX), wide_len(pair[1], limit));
                self.append(pair, [old, len, (len + 1).min(limit)], 4);
            }
            ("copyto", _) => {
                let (stop, most) = (self.argument(2) as u8, self.argument(3));
                let text = pair[1] as *const u8;
                let len = (0..most).find(|&at| *text.add(at) == stop).map_or(most, |at| at + 1);
                self.reads(pair[1], len);
                self.writes(pair[0], len);
            }
            _ => {}
        }
    }

    /// Accesses the list of variables, which a call reads, or may change anywhere.
    unsafe fn environment(&self, is_changed: bool) {
        let variable = hidden::variable("environ") as *const *const usize;
        let list = if variable.is_null() { core::ptr::null() } else { *variable };
        if list.is_null() {
            return;
        }
        let mut count = 0;
        while *list.add(count) != 0 {
            count += 1;
        }
        let len = (count + 1) * size_of::<usize>();
        if is_changed {
            self.writes(list as usize, len)
        } else {
            self.reads(list as usize, len)
        }
        // `putenv` puts memory of the program into the list, and names are compared. Variables from before the start are the same
        // for all threads, and their number must not matter.
        for text in (0..count).map(|at| *list.add(at) as *const u8).filter(|&text| !constructors::has_string(text)) {
            let name = strnlen(text, LONGEST_NAME);
            let len = (0..name).find(|&at| *text.add(at) == b'=').unwrap_or(name);
            self.reads(text as usize, len + 1);
        }
    }

    /// Accesses an internet address, which is read as the first argument, or was written as the second. Its size depends on its
    /// family.
    unsafe fn internet_address(&self, at: u8) {
        const INET6: u32 = 10;
        let address = self.argument(at);
        let len = if self.argument(0) as u32 == INET6 { 16 } else { 4 };
        match (at, self.has_returned) {
            (1, false) => self.reads(address, len),
            (2, false) => self.approach(address, true),
            (2, true) if self.result == 1 => self.writes(address, len),
            _ => {}
        }
    }

    unsafe fn both(&self, len: usize) {
        self.reads(self.argument(0), len);
        self.reads(self.argument(1), len);
    }

    unsafe fn append(&self, [to, from]: [usize; 2], [old, len, read]: [usize; 3], unit: usize) {
        self.reads(from, read * unit);
        self.reads(to, (old + 1) * unit);
        self.writes(to + old * unit, (len + 1) * unit);
    }

    unsafe fn backwards(&self) {
        let (text, wanted, len) = (self.argument(0), self.argument(1) as u8, self.argument(2));
        let found = (0..len).rev().find(|&at| *((text + at) as *const u8) == wanted).unwrap_or(0);
        self.reads(text + found, len - found);
    }

    /// `strtok` and `strtok_r`: skip delimiters, then cut off the word.
    unsafe fn token(&self, number: u8) {
        let saved = if number == 2 { self.argument(2) } else { SAVED.ptr() as usize };
        let mut text = self.argument(0);
        if text == 0 && saved != 0 {
            text = *(saved as *const usize);
        }
        if text == 0 {
            return;
        }
        let delimiters = self.argument(1);
        let mut start = text;
        while *(start as *const u8) != 0 && has(delimiters, *(start as *const u8)) {
            start += 1;
        }
        if start > text {
            self.reads(text, start - text);
        }
        let next = self.cut(start, delimiters);
        if number != 2 {
            SAVED.set(next);
        }
    }

    /// Writes a zero at the delimiter that ends a word. Returns where the next one begins.
    unsafe fn cut(&self, text: usize, delimiters: usize) -> usize {
        let mut end = text;
        while *(end as *const u8) != 0 && !has(delimiters, *(end as *const u8)) {
            end += 1;
        }
        let is_cut = *(end as *const u8) != 0;
        self.reads(text, end - text + 1);
        if is_cut {
            self.writes(end, 1);
        }
        end + usize::from(is_cut)
    }

    /// Sorting reads and writes the whole array. The comparison function belongs to the program.
    unsafe fn sort(&self) {
        let (count, size) = (self.argument(1), self.argument(2));
        if count > 1 {
            let (at, len) = (self.argument(0), count.wrapping_mul(size));
            if !self.has_returned {
                self.reads(at, len);
            }
            self.writes(at, len);
        }
    }

    /// Accesses pieces of memory that are read (`is_filled`: written) one after the other.
    unsafe fn vector(&self, pieces: usize, count: usize, is_filled: bool) {
        if pieces == 0 || count > 1024 {
            return;
        }
        let piece = |at: usize| {
            let piece = (pieces + at * 16) as *const usize;
            (*piece, *piece.add(1))
        };
        if !self.has_returned {
            self.reads(pieces, count * 16);
            for (start, len) in (0..count).map(piece).filter(|(_, len)| *len > 0) {
                if is_filled {
                    self.approach(start, true);
                } else {
                    self.reads(start, len);
                }
            }
            return;
        }
        let mut left = if is_filled { self.result.max(0) as usize } else { 0 };
        for (start, len) in (0..count).map(piece) {
            self.writes(start, len.min(left));
            left -= len.min(left);
        }
    }

    /// `struct msghdr`: a name, pieces, and control data.
    unsafe fn message(&self, is_filled: bool) {
        let header = self.argument(1);
        if header == 0 {
            return;
        }
        let field = |at: usize| *((header + at) as *const usize);
        if !self.has_returned {
            self.reads(header, 56);
        }
        let (name, name_len) = (field(0), field(8) as u32 as usize);
        let (control, control_len) = (field(32), field(40));
        if is_filled {
            if self.has_returned && self.result >= 0 {
                self.writes(name, name_len);
                self.writes(control, control_len);
                // Lengths and flags.
                self.writes(header + 8, 4);
                self.writes(header + 40, 12);
            }
        } else if !self.has_returned {
            self.reads(name, name_len);
            self.reads(control, control_len);
        }
        self.vector(field(16), field(24), is_filled);
    }

    /// Reads the descriptor and the events of each `struct pollfd`, and writes the answer.
    unsafe fn poll(&self) {
        let (at, count) = (self.argument(0), self.argument(1));
        for one in (0..count.min(4096)).map(|index| at + index * 8) {
            if self.has_returned {
                self.writes(one + 6, 2);
            } else {
                self.reads(one, 6);
                self.approach(one + 6, true);
            }
        }
    }
}

unsafe fn has(delimiters: usize, byte: u8) -> bool {
    let mut at = delimiters as *const u8;
    while *at != 0 {
        if *at == byte {
            return true;
        }
        at = at.add(1);
    }
    false
}

/// How two pieces of memory are compared.
#[derive(Clone, Copy)]
struct Text {
    unit: usize,
    folds: bool,
    ends: bool,
}

impl Text {
    const BYTES: Self = Self { unit: 1, folds: false, ends: false };
    const STRINGS: Self = Self { unit: 1, folds: false, ends: true };

    unsafe fn character(self, text: usize, at: usize) -> u32 {
        let value = match self.unit {
            1 => u32::from(*((text + at) as *const u8)),
            _ => *((text + at * 4) as *const u32),
        };
        match u8::try_from(value) {
            Ok(byte) if self.folds => u32::from(byte.to_ascii_lowercase()),
            _ => value,
        }
    }
}

/// Returns the number of bytes up to and including the first character that differs, or ends the strings.
unsafe fn difference([a, b]: [usize; 2], most: usize, text: Text) -> usize {
    let mut at = 0;
    while at < most {
        let (one, other) = (text.character(a, at), text.character(b, at));
        at += 1;
        if one != other || text.ends && one == 0 {
            break;
        }
    }
    at * text.unit
}

unsafe fn blanks(text: *const u8) -> usize {
    let mut at = 0;
    while matches!(*text.add(at), b' ' | b'\t'..=b'\r') {
        at += 1;
    }
    if matches!(*text.add(at), b'+' | b'-') {
        at += 1;
    }
    at
}

/// Returns the number of bytes of an integer with what precedes it, plus one.
unsafe fn integer_len(text: usize, base: usize) -> usize {
    let text = text as *const u8;
    let mut at = blanks(text);
    let mut base = base as u32;
    let is_hexadecimal = *text.add(at) == b'0' && matches!(*text.add(at + 1), b'x' | b'X');
    if is_hexadecimal && matches!(base, 0 | 16) {
        (at, base) = (at + 2, 16);
    }
    if base == 0 {
        base = if *text.add(at) == b'0' { 8 } else { 10 };
    }
    while char::from(*text.add(at)).is_digit(base.clamp(2, 36)) {
        at += 1;
    }
    at + 1
}

/// The same for a number with a fraction; a lower bound for numbers that are not decimal.
unsafe fn float_len(text: usize) -> usize {
    let text = text as *const u8;
    let mut at = blanks(text);
    while (*text.add(at)).is_ascii_digit() || *text.add(at) == b'.' {
        at += 1;
    }
    if at > 0 && matches!(*text.add(at), b'e' | b'E') && (*text.add(at - 1)).is_ascii_digit() {
        let sign = usize::from(matches!(*text.add(at + 1), b'+' | b'-'));
        let mut end = at + 1 + sign;
        while (*text.add(end)).is_ascii_digit() {
            end += 1;
        }
        at = end;
    }
    at + 1
}
