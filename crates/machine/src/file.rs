//! Files: which of them may be the same, how a call uses one, and where socket addresses point.

/// A file, as far as it can be recognised: the last part of its path, and its identity in the file system. Zero means
/// unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// Hash of its name.
    pub name: u64,
    /// Hash of device and inode.
    pub node: u64,
}

impl FileId {
    /// Every file.
    pub const ANY: Self = Self { name: u64::MAX, node: u64::MAX };

    /// Returns true if it may be the same file.
    #[must_use]
    pub fn may_be(self, other: Self) -> bool {
        self == Self::ANY
            || other == Self::ANY
            || self.name != 0 && self.name == other.name
            || self.node != 0 && self.node == other.node
    }
}

/// Returns a hash of a name that is never zero.
#[must_use]
pub fn name_hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step) | 1
}

/// Returns one nonzero word for the identity of something: device and inode, the two ends of a connection.
#[must_use]
pub fn key(words: &[u64]) -> u64 {
    let mix = |sum: u64, word: &u64| (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    words.iter().fold(0xA076_1D64_78BD_642F, mix) | 1
}

/// The place of a call: code address and description.
pub type CallPlace = (usize, usize);

/// Files with the places where they were first used. If there are more than `N`, the last entry stands for every file.
#[derive(Debug)]
pub struct UsedFiles<const N: usize> {
    files: [(FileId, CallPlace); N],
    count: usize,
}

impl<const N: usize> UsedFiles<N> {
    /// No files.
    pub const NONE: Self = Self { files: [(FileId { name: 0, node: 0 }, (0, 0)); N], count: 0 };

    /// Returns true if no file was used.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a file that is used.
    pub fn add(&mut self, file: FileId, place: CallPlace) {
        if self.files[..self.count].iter().any(|(known, _)| *known == file || *known == FileId::ANY) {
            return;
        }
        let is_last = self.count == N - 1;
        self.files[self.count] = (if is_last { FileId::ANY } else { file }, place);
        self.count += 1;
    }

    /// Returns where a file, or one that may be the same, was first used.
    #[must_use]
    pub fn find(&self, file: FileId) -> Option<CallPlace> {
        self.files[..self.count].iter().find(|(known, _)| known.may_be(file)).map(|(_, place)| *place)
    }
}

/// Files that were seen, by their identity in the file system, with the names under which they were first seen. A file
/// that is reached by another name later is known by both.
#[derive(Debug)]
pub struct FirstNames<const N: usize>([(u64, u64); N]);

impl<const N: usize> FirstNames<N> {
    /// No files.
    pub const NONE: Self = Self([(0, 0); N]);

    fn places(node: u64) -> impl Iterator<Item = usize> {
        let start = node as usize % N;
        (0..N).map(move |step| (start + step) % N)
    }

    /// Returns the name under which a file was first seen: this one, if it is new. `None` if there are too many files.
    pub fn first(&mut self, node: u64, name: u64) -> Option<u64> {
        if node == 0 {
            return Some(name);
        }
        let place =
            Self::places(node).find(|&place| matches!(self.0[place].0, known if known == node || known == 0))?;
        if self.0[place].0 == 0 {
            self.0[place] = (node, name);
        }
        Some(self.0[place].1)
    }

    /// Returns the name under which a file was first seen, if it was.
    #[must_use]
    pub fn find(&self, node: u64) -> Option<u64> {
        let mut entries = Self::places(node).map(|place| self.0[place]).take_while(|&(known, _)| known != 0);
        entries.find(|&(known, _)| known == node).map(|(_, name)| name)
    }
}

/// What a call does to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Its result depends on the file.
    pub looks: bool,
    /// It changes the file.
    pub changes: bool,
}

impl FileUse {
    /// Returns the effect of `open` with these flags.
    #[must_use]
    pub const fn of_flags(flags: usize) -> Self {
        const ACCESS: usize = 3;
        const READ_ONLY: usize = 0;
        const WRITE_ONLY: usize = 1;
        const CREATE: usize = 0o100;
        const EXCLUSIVE: usize = 0o200;
        const TRUNCATE: usize = 0o1000;
        let (access, creates) = (flags & ACCESS, flags & CREATE != 0);
        Self {
            // A file that is not created must exist.
            looks: access != WRITE_ONLY || !creates || flags & EXCLUSIVE != 0,
            changes: access != READ_ONLY || creates || flags & TRUNCATE != 0,
        }
    }

    /// Returns the effect of `fopen` with this mode.
    #[must_use]
    pub fn of_mode(mode: &[u8]) -> Self {
        let has = |letter: u8| mode.contains(&letter);
        Self { looks: has(b'r') || has(b'+') || has(b'x'), changes: !has(b'r') || has(b'+') }
    }
}

/// Returns true if a file has different contents each time it is read.
#[must_use]
pub fn is_varying(path: &[u8]) -> bool {
    let varying: [&[u8]; 5] = [b"/dev/urandom", b"/dev/random", b"/dev/hwrng", b"/proc/", b"/sys/"];
    varying.iter().any(|beginning| path.starts_with(beginning))
}

/// Where a socket address points, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A port of this machine.
    Port(u16),
    /// A name that only sockets of this machine have, and that is not a file.
    Name,
    /// Another machine, or a file.
    Elsewhere,
}

impl Reach {
    /// Returns what the bytes of a `sockaddr` mean.
    #[must_use]
    pub fn of(address: &[u8]) -> Self {
        const UNIX: u16 = 1;
        const INET: u16 = 2;
        const INET6: u16 = 10;
        const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
        const LOOPBACK6: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let Some((family, rest)) = address.split_first_chunk() else { return Self::Elsewhere };
        let is_local = |host: &[u8]| host[0] == 127 || host[..4] == [0; 4];
        let port = |rest: &[u8]| Self::Port(u16::from_be_bytes([rest[0], rest[1]]));
        match (u16::from_le_bytes(*family), rest) {
            (UNIX, [0, _, ..]) => Self::Name,
            (INET, rest) if rest.len() >= 6 && is_local(&rest[2..6]) => port(rest),
            (INET6, rest) if rest.len() >= 22 => {
                let host = &rest[6..22];
                let is_loopback = *host == LOOPBACK6 || *host == [0; 16];
                let is_mapped = host[..12] == MAPPED && is_local(&host[12..]);
                if is_loopback || is_mapped { port(rest) } else { Self::Elsewhere }
            }
            _ => Self::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests;
