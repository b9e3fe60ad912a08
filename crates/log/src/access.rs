//! Accesses to memory, and the races between them.

use racehunter_abi::Address;

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// What is done.
    pub mode: AccessMode,
    /// First byte.
    pub address: Address,
    /// Bytes; for [`AccessMode::Free`] those of the block.
    pub size: u64,
    /// A plain access that the program has asked race detectors to ignore.
    pub is_excused: bool,
}

impl Access {
    /// The first byte, and the first one behind the access, which touches at least one.
    #[must_use]
    pub const fn range(&self) -> (u64, u64) {
        let size = if self.size == 0 { 1 } else { self.size };
        (self.address.0, self.address.0.saturating_add(size))
    }

    /// Whether two accesses touch a byte in common.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        let (one, other) = (self.range(), other.range());
        one.0 < other.1 && other.0 < one.1
    }

    /// The bytes of the access, as numbers of granules of eight bytes and masks of the bytes in each.
    pub fn granules(&self) -> impl Iterator<Item = (u64, u8)> + use<> {
        /// Granules of one access, at most: a program that overwrites its log can make an access as long as it likes. What
        /// threads share beyond them, the runtime reports.
        const MOST: u64 = 1 << 20;
        let start = self.address.0;
        let end = start.saturating_add(self.size);
        let first = start / 8;
        let granules = if end <= start { 0..0 } else { first..((end - 1) / 8 + 1).min(first.saturating_add(MOST)) };
        granules.map(move |granule| {
            let first = start.max(granule * 8) - granule * 8;
            let last = end.min((granule * 8).saturating_add(8)) - granule * 8;
            // Bits `first` to `last - 1`; computed in 16 bits because `last` can be 8.
            let mask = ((1_u16 << last) - (1_u16 << first)) as u8;
            (granule, mask)
        })
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessMode {
    /// Plain read.
    Read,
    /// Plain write.
    Write,
    /// Atomic load.
    AtomicRead,
    /// Atomic store.
    AtomicWrite,
    /// Atomic read-modify-write.
    AtomicUpdate,
    /// Plain read of any number of bytes.
    ReadRange,
    /// Plain write of any number of bytes.
    WriteRange,
    /// A block is given back to the allocator, which counts as a write of it.
    Free,
}

impl AccessMode {
    /// Whether it changes memory.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::AtomicUpdate | Self::WriteRange | Self::Free)
    }

    /// Whether it takes values from memory.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::AtomicRead | Self::AtomicUpdate | Self::ReadRange)
    }

    /// Whether it is atomic.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::AtomicUpdate)
    }

    /// Whether it has any number of bytes.
    #[must_use]
    pub const fn is_range(self) -> bool {
        matches!(self, Self::ReadRange | Self::WriteRange)
    }
}

/// One side of a race, as the detector has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// What the thread did there.
    pub access: RaceAccess,
    /// The first byte that both sides touch, for the later side.
    pub address: Address,
    /// Bytes, as far as the detector knows.
    pub size: u8,
    /// For [`AccessMode::Free`]: bytes of the block.
    pub block_size: u64,
}

/// What one side of a race did to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaceAccess {
    /// An access.
    Access(AccessMode),
    /// The thread has ended, and its memory with it.
    ThreadEnd,
    /// The log does not say.
    Unknown,
}

impl RaceAccess {
    /// Whether memory has ended here: a block, or what a thread had.
    #[must_use]
    pub const fn ends_memory(self) -> bool {
        self.is_free() || matches!(self, Self::ThreadEnd)
    }

    /// Whether a block was freed.
    #[must_use]
    pub const fn is_free(self) -> bool {
        matches!(self, Self::Access(AccessMode::Free))
    }
}
