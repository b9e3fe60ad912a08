//! Which memory formats make functions read and write: `printf`, `scanf` and similar functions.

/// The size of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Returns the size after another modifier; `None` if the byte is not one.
    const fn modified(self, byte: u8) -> Option<Self> {
        match byte {
            b'h' if matches!(self, Self::Short) => Some(Self::Char),
            b'h' => Some(Self::Short),
            b'l' | b'j' | b'z' | b't' | b'q' => Some(Self::Long),
            b'L' => Some(Self::LongDouble),
            _ => None,
        }
    }
}

/// The arguments after a format.
pub trait Arguments {
    /// Returns the next argument, if it is a number or a pointer.
    fn next(&mut self) -> usize;
    /// Skips a floating-point number.
    fn skip_float(&mut self, is_long: bool);
}

/// The effect of a `printf` on the program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// Reads a string, up to a number of characters if there is a precision.
    Text {
        /// Its address.
        at: usize,
        /// Maximum number of characters that are printed.
        precision: Option<usize>,
        /// Characters of four bytes.
        is_wide: bool,
    },
    /// Writes the number of characters printed so far.
    Count {
        /// The address.
        at: usize,
        /// Bytes of the number.
        size: usize,
    },
    /// Something that is not understood; nothing follows it.
    Unknown,
}

/// Parses the format of a `printf`.
pub fn print(format: &[u8], arguments: &mut impl Arguments, mut effect: impl FnMut(Print)) {
    let mut format = format.iter().copied();
    while let Some(byte) = format.next() {
        if byte != b'%' {
            continue;
        }
        let (mut size, mut precision, mut in_precision) = (Size::Plain, None, false);
        for byte in format.by_ref() {
            if let Some(modified) = size.modified(byte) {
                size = modified;
                continue;
            }
            match byte {
                b'*' => {
                    let number = arguments.next() as i32;
                    if in_precision {
                        precision = usize::try_from(number).ok();
                    }
                    continue;
                }
                b'.' => {
                    in_precision = true;
                    precision = Some(0);
                    continue;
                }
                b'0'..=b'9' if in_precision => {
                    let digit = usize::from(byte - b'0');
                    precision = precision.map(|most: usize| most.saturating_mul(10).saturating_add(digit));
                    continue;
                }
                b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'\'' | b'I' => continue,
                b'$' => return effect(Print::Unknown),
                b'%' | b'm' => {}
                b's' | b'S' => {
                    let at = arguments.next();
                    if at != 0 {
                        effect(Print::Text { at, precision, is_wide: byte == b'S' || size == Size::Long });
                    }
                }
                b'n' => effect(Print::Count { at: arguments.next(), size: size.bytes() }),
                b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                    arguments.skip_float(size == Size::LongDouble);
                }
                _ => {
                    arguments.next();
                }
            }
            break;
        }
    }
}

/// Bytes that a `scanf` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// This many.
    Bytes(usize),
    /// A string, including its end.
    Text,
    /// A string of four-byte characters, including its end.
    WideText,
}

/// The effect of a `scanf` on the program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// It may write there.
    Approach(usize),
    /// It has written there.
    Write(usize, Scanned),
    /// Something that is not understood. If it is a part of the format, nothing follows it.
    Unknown,
}

/// Parses the format of a `scanf`. Before the call, each place may be written; afterwards, the result says how many
/// were written.
pub fn scan(format: &[u8], result: Option<isize>, arguments: &mut impl Arguments, mut effect: impl FnMut(Scan)) {
    let (mut assigned, mut must_match) = (0, false);
    let mut rest = format;
    while let [byte, behind @ ..] = rest {
        rest = behind;
        if *byte != b'%' {
            must_match |= !byte.is_ascii_whitespace();
            continue;
        }
        let (mut size, mut width, mut is_dropped, mut is_allocated) = (Size::Plain, None, false, false);
        let conversion = loop {
            let [byte, behind @ ..] = rest else { return };
            rest = behind;
            match *byte {
                b'*' => is_dropped = true,
                b'm' => is_allocated = true,
                b'0'..=b'9' => {
                    let digit = usize::from(*byte - b'0');
                    width = Some(width.unwrap_or(0_usize).saturating_mul(10).saturating_add(digit));
                }
                b'$' => return effect(Scan::Unknown),
                b'\'' | b'I' => {}
                byte => match size.modified(byte) {
                    Some(modified) => size = modified,
                    None => break byte,
                },
            }
        };
        if conversion == b'[' {
            rest = behind_set(rest);
        }
        if conversion == b'%' || is_dropped {
            continue;
        }
        let place = arguments.next();
        if place == 0 {
            continue;
        }
        let Some(result) = result else {
            effect(Scan::Approach(place));
            continue;
        };
        if conversion == b'n' {
            // Definitely reached if something after it was assigned, or if nothing could prevent it.
            if result > assigned || result == assigned && !must_match {
                effect(Scan::Write(place, Scanned::Bytes(size.bytes())));
            } else if result == assigned {
                effect(Scan::Unknown);
            }
            continue;
        }
        must_match = false;
        assigned += 1;
        if assigned > result {
            return;
        }
        let is_wide = size == Size::Long || matches!(conversion, b'S' | b'C');
        let unit = if is_wide { 4 } else { 1 };
        let length = match conversion {
            _ if is_allocated => Scanned::Bytes(8),
            b's' | b'S' | b'[' if is_wide => Scanned::WideText,
            b's' | b'[' => Scanned::Text,
            b'c' | b'C' => Scanned::Bytes(width.unwrap_or(1).saturating_mul(unit)),
            b'p' => Scanned::Bytes(8),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if size == Size::LongDouble => Scanned::Bytes(10),
            _ => Scanned::Bytes(size.bytes()),
        };
        effect(Scan::Write(place, length));
    }
}

/// Returns the rest of the format after the set of a `%[`.
fn behind_set(set: &[u8]) -> &[u8] {
    let inside = set.strip_prefix(b"^").unwrap_or(set);
    // A bracket that comes first belongs to the set.
    let from = usize::from(inside.first() == Some(&b']'));
    match inside[from..].iter().position(|&byte| byte == b']') {
        Some(end) => &inside[from + end + 1..],
        None => &[],
    }
}

/// The position of the next arguments in a `va_list` of the x86-64 calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaList {
    /// Bytes of the saved registers that general arguments have used.
    pub general: u32,
    /// The same for vector registers, which follow the general ones.
    pub float: u32,
    /// The next argument on the stack.
    pub overflow: usize,
    /// The saved registers.
    pub registers: usize,
}

impl VaList {
    const GENERAL: u32 = 48;
    const ALL: u32 = 176;

    /// Returns the address of the next number or pointer.
    pub fn next_address(&mut self) -> usize {
        if self.general < Self::GENERAL {
            self.general += 8;
            self.registers + self.general as usize - 8
        } else {
            self.overflow += 8;
            self.overflow - 8
        }
    }

    /// Skips a floating-point number. Long ones are on the stack, aligned.
    pub fn skip_float(&mut self, is_long: bool) {
        if is_long {
            self.overflow = self.overflow.next_multiple_of(16) + 16;
        } else if self.float < Self::ALL {
            self.float += 16;
        } else {
            self.overflow += 8;
        }
    }
}

#[cfg(test)]
mod tests;
