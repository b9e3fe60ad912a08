//! Text without an allocator: paths, numbers, and lines of `/proc/self/maps`.

/// Maximum length of a path, including its terminator.
pub const LONGEST: usize = 1024;

/// Text with a terminating zero. Text that does not fit is cut off, and is then not a valid path.
#[derive(Clone, Copy, Debug)]
pub struct PathText {
    bytes: [u8; LONGEST],
    length: usize,
}

impl PathText {
    /// Empty text.
    pub const NEW: Self = Self { bytes: [0; LONGEST], length: 0 };

    /// Concatenates some parts.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut path = Self::NEW;
        parts.iter().for_each(|part| path.push(part));
        path
    }

    /// Adds text.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(LONGEST - 1 - self.length)];
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Adds a number.
    pub fn push_number(&mut self, mut number: usize) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    /// Returns the text, without the zero.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns its address, for system calls.
    #[must_use]
    pub fn pointer(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    /// Returns the text, with the zero, and spare room after it.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; LONGEST] {
        &self.bytes
    }

    /// Replaces the text by what `fill` writes; `fill` returns the length. `None` if it fails, or if the text may have
    /// been cut off.
    #[must_use]
    pub fn filled(mut self, fill: impl FnOnce(&mut [u8; LONGEST]) -> Option<usize>) -> Option<Self> {
        self.length = fill(&mut self.bytes).filter(|&length| length < LONGEST - 1)?;
        self.bytes[self.length..].fill(0);
        Some(self)
    }

    /// Returns true if it starts at the root.
    #[must_use]
    pub const fn is_absolute(&self) -> bool {
        self.bytes[0] == b'/'
    }

    /// Returns true if it is this directory, or below it.
    #[must_use]
    pub fn is_in(&self, directory: &[u8]) -> bool {
        self.text().strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    /// Returns the directory of a path.
    #[must_use]
    pub fn parent(mut self) -> Option<Self> {
        let last = self.text().iter().rposition(|&byte| byte == b'/')?.max(1);
        self.bytes[last..].fill(0);
        self.length = last;
        Some(self)
    }
}

/// Returns the last part of a path.
#[must_use]
pub fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').find(|part| !part.is_empty()).unwrap_or(b"/")
}

/// Parses decimal digits; returns nothing if there is anything else.
#[must_use]
pub fn decimal(digits: &[u8]) -> Option<usize> {
    let step = |sum: usize, &digit: &u8| {
        let digit = char::from(digit).to_digit(10)? as usize;
        sum.checked_mul(10)?.checked_add(digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, step) }
}

/// Parses hexadecimal digits; returns nothing if there is anything else.
#[must_use]
pub fn hexadecimal(digits: &[u8]) -> Option<usize> {
    let step = |sum: usize, &digit: &u8| {
        let digit = char::from(digit).to_digit(16)? as usize;
        (sum >> (usize::BITS - 4) == 0).then_some(sum << 4 | digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, step) }
}

/// A line of `/proc/self/maps`: `start-end rights offset device inode path`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// First address.
    pub start: usize,
    /// The address after the last.
    pub end: usize,
    rights: &'a [u8],
    inode: &'a [u8],
    name: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// Parses a line; returns nothing if it is not one.
    #[must_use]
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
        let range = fields.next()?;
        let dash = range.iter().position(|&byte| byte == b'-')?;
        let (start, end) = (hexadecimal(&range[..dash])?, hexadecimal(&range[dash + 1..])?);
        let rights = fields.next().filter(|rights| rights.len() == 4)?;
        let inode = fields.nth(2)?;
        let name = fields.next().unwrap_or_default();
        (start <= end).then_some(Self { start, end, rights, inode, name })
    }

    /// Returns true if the memory is writable, and shared with other processes.
    #[must_use]
    pub fn is_writable_and_shared(&self) -> bool {
        self.rights[1] == b'w' && self.rights[3] == b's'
    }

    /// Returns true for a private, read-only mapping of a file.
    #[must_use]
    pub fn is_constant_file(&self) -> bool {
        self.rights[..2] == *b"r-" && self.rights[3] == b'p' && self.name.first() == Some(&b'/')
    }

    /// Returns true if it is private, writable memory without a file.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.rights == b"rw-p" && self.inode == b"0" && matches!(self.name, b"" | b"[heap]")
    }
}

/// The name of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreName<'a> {
    /// A name, without leading slashes, as in the C library.
    Valid(&'a [u8]),
    /// Not a valid name.
    Invalid,
    /// A name that is too long.
    TooLong,
}

/// Maximum length of a semaphore's name, without the slash: the C library puts `sem.` in front to make a file name.
pub const LONGEST_SEMAPHORE: usize = 251;

impl<'a> SemaphoreName<'a> {
    /// Parses a name.
    #[must_use]
    pub fn read(name: &'a [u8]) -> Self {
        const PREFIX: usize = 4;
        let slashes = name.iter().take_while(|&&byte| byte == b'/').count();
        match &name[slashes..] {
            [] => Self::Invalid,
            name if name.contains(&b'/') || name.len() > LONGEST_SEMAPHORE + PREFIX => Self::Invalid,
            name if name.len() > LONGEST_SEMAPHORE => Self::TooLong,
            name => Self::Valid(name),
        }
    }
}

#[cfg(test)]
mod tests;
