//! What formats make functions read and write: `printf`, `scanf` and similar functions.

use super::{Call, strlen, strnlen, wide_len};
use crate::log;
use racehunter_abi::{Escape, UNMODELLED_FORMAT, UNMODELLED_FUNCTION};

/// The arguments behind a format.
enum Arguments<'a> {
    /// Those of the call, from a position on.
    Listed(&'a Call, u8),
    /// A `va_list`.
    Passed { general: u32, float: u32, overflow: usize, registers: usize },
}

impl<'a> Arguments<'a> {
    unsafe fn passed(list: usize) -> Self {
        let word = |at: usize| *((list + at) as *const u32);
        let pointer = |at: usize| *((list + at) as *const usize);
        Self::Passed { general: word(0), float: word(4), overflow: pointer(8), registers: pointer(16) }
    }

    /// The next one, if it is a number or a pointer.
    unsafe fn next(&mut self) -> usize {
        match self {
            Self::Listed(call, at) => {
                *at += 1;
                call.argument(*at - 1)
            }
            Self::Passed { general, registers, .. } if *general < 48 => {
                *general += 8;
                *((*registers + *general as usize - 8) as *const usize)
            }
            Self::Passed { overflow, .. } => {
                *overflow += 8;
                *((*overflow - 8) as *const usize)
            }
        }
    }

    /// Passes over a number with a fraction.
    fn skip_float(&mut self, is_long: bool) {
        match self {
            Self::Listed(_, at) => *at += 1,
            Self::Passed { overflow, .. } if is_long => *overflow = overflow.next_multiple_of(16) + 16,
            Self::Passed { float, .. } if *float < 176 => *float += 16,
            Self::Passed { overflow, .. } => *overflow += 8,
        }
    }
}

/// How long a number is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Plain,
    Char,
    Short,
    Long,
    LongDouble,
}

impl Size {
    const fn bytes(self) -> usize {
        match self {
            Self::Char => 1,
            Self::Short => 2,
            Self::Plain => 4,
            Self::Long | Self::LongDouble => 8,
        }
    }
}

impl Call {
    /// Whether the name is one of a routine for formats.
    pub(super) unsafe fn formats(&self, name: &str, format: u8) -> bool {
        let is_passed = name.starts_with('v');
        let text = self.argument(format);
        if !matches!(name, "printf" | "vprintf" | "scanf" | "vscanf") || text == 0 {
            return matches!(name, "printf" | "vprintf" | "scanf" | "vscanf");
        }
        let arguments = match (is_passed, self.argument(format.wrapping_add(1))) {
            (true, 0) => return true,
            (true, list) => Arguments::passed(list),
            _ => Arguments::Listed(self, format + 1),
        };
        if name.ends_with("printf") {
            if !self.has_returned {
                self.reads(text, strlen(text as *const u8) + 1);
                self.prints(text as *const u8, arguments);
            }
        } else {
            self.scans(text as *const u8, arguments);
        }
        true
    }

    /// The format says something that is not looked into.
    unsafe fn is_not_followed(&self) {
        log::escape(Escape::Unmodelled, self.code, (UNMODELLED_FUNCTION + UNMODELLED_FORMAT) as usize, 0);
    }

    unsafe fn prints(&self, mut format: *const u8, mut arguments: Arguments<'_>) {
        while *format != 0 {
            format = format.add(1);
            if *format.sub(1) != b'%' {
                continue;
            }
            let (mut size, mut precision, mut in_precision) = (Size::Plain, None, false);
            loop {
                let byte = *format;
                if byte == 0 {
                    return;
                }
                format = format.add(1);
                match byte {
                    b'*' => {
                        let number = arguments.next() as i32;
                        if in_precision {
                            precision = usize::try_from(number).ok();
                        }
                    }
                    b'.' => (in_precision, precision) = (true, Some(0)),
                    b'0'..=b'9' if in_precision => {
                        precision = precision.map(|most: usize| most * 10 + usize::from(byte - b'0'));
                    }
                    b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'\'' | b'I' => {}
                    b'$' => return self.is_not_followed(),
                    b'h' => size = if size == Size::Short { Size::Char } else { Size::Short },
                    b'l' | b'j' | b'z' | b't' | b'q' => size = Size::Long,
                    b'L' => size = Size::LongDouble,
                    b'%' | b'm' => break,
                    b's' | b'S' => {
                        let text = arguments.next();
                        if text != 0 {
                            let is_wide = byte == b'S' || size == Size::Long;
                            self.reads(text, printed_len(text, precision, is_wide));
                        }
                        break;
                    }
                    b'n' => {
                        self.writes(arguments.next(), size.bytes());
                        break;
                    }
                    b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                        arguments.skip_float(size == Size::LongDouble);
                        break;
                    }
                    _ => {
                        arguments.next();
                        break;
                    }
                }
            }
        }
    }

    /// Before the call each place is a point; afterwards as many were written as the result says.
    unsafe fn scans(&self, mut format: *const u8, mut arguments: Arguments<'_>) {
        let (mut assigned, mut must_match) = (0, false);
        while *format != 0 {
            format = format.add(1);
            if *format.sub(1) != b'%' {
                must_match |= !(*format.sub(1)).is_ascii_whitespace();
                continue;
            }
            let (mut size, mut width, mut is_dropped, mut is_allocated) = (Size::Plain, None, false, false);
            let conversion = loop {
                let byte = *format;
                if byte == 0 {
                    return;
                }
                format = format.add(1);
                match byte {
                    b'*' => is_dropped = true,
                    b'm' => is_allocated = true,
                    b'0'..=b'9' => width = Some(width.unwrap_or(0) * 10 + usize::from(byte - b'0')),
                    b'$' => return self.is_not_followed(),
                    b'h' => size = if size == Size::Short { Size::Char } else { Size::Short },
                    b'l' | b'j' | b'z' | b't' | b'q' => size = Size::Long,
                    b'L' => size = Size::LongDouble,
                    b'\'' | b'I' => {}
                    byte => break byte,
                }
            };
            if conversion == b'[' {
                format = behind_set(format);
            }
            if conversion == b'%' || is_dropped {
                continue;
            }
            let place = arguments.next();
            if place == 0 {
                continue;
            }
            if !self.has_returned {
                self.approach(place, true);
                continue;
            }
            if conversion == b'n' {
                // Certainly reached when something behind it was assigned, or nothing could keep it from that.
                if self.result > assigned || self.result == assigned && !must_match {
                    self.writes(place, size.bytes());
                } else if self.result == assigned {
                    self.is_not_followed();
                }
                continue;
            }
            must_match = false;
            assigned += 1;
            if assigned > self.result {
                return;
            }
            let is_wide = size == Size::Long || matches!(conversion, b'S' | b'C');
            let unit = if is_wide { 4 } else { 1 };
            let len = match conversion {
                _ if is_allocated => 8,
                b's' | b'S' | b'[' if is_wide => (wide_len(place, usize::MAX) + 1) * 4,
                b's' | b'[' => strlen(place as *const u8) + 1,
                b'c' | b'C' => width.unwrap_or(1) * unit,
                b'p' => 8,
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if size == Size::LongDouble => 10,
                _ => size.bytes(),
            };
            self.writes(place, len);
        }
    }
}

/// Bytes that are read of a string which is printed.
unsafe fn printed_len(text: usize, precision: Option<usize>, is_wide: bool) -> usize {
    match precision {
        // How much of it depends on how its characters are written.
        Some(most) if is_wide => wide_len(text, most.min(1)) * 4,
        Some(most) => (strnlen(text as *const u8, most) + 1).min(most),
        None if is_wide => (wide_len(text, usize::MAX) + 1) * 4,
        None => strlen(text as *const u8) + 1,
    }
}

/// What follows the set of a `%[`.
unsafe fn behind_set(mut format: *const u8) -> *const u8 {
    if *format == b'^' {
        format = format.add(1);
    }
    // A bracket that comes first is one of the set.
    if *format == b']' {
        format = format.add(1);
    }
    while *format != 0 && *format != b']' {
        format = format.add(1);
    }
    if *format == 0 { format } else { format.add(1) }
}
