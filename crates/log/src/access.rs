//! Accesses to memory, and the races between them.

use racehunter_abi::Address;

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The kind of access.
    pub mode: AccessMode,
    /// First byte.
    pub address: Address,
    /// Number of bytes; for [`AccessMode::Free`] that of the block.
    pub size: u64,
    /// Whether the program has asked race detectors to ignore this plain access.
    pub is_excused: bool,
}

impl Access {
    /// Returns the first byte, and the first byte after the access, which covers at least one.
    #[must_use]
    pub const fn range(&self) -> (u64, u64) {
        let size = if self.size == 0 { 1 } else { self.size };
        (self.address.0, self.address.0.saturating_add(size))
    }

    /// Returns whether two accesses have a byte in common.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        let (one, other) = (self.range(), other.range());
        one.0 < other.1 && other.0 < one.1
    }

    /// Returns the bytes of the access, as numbers of eight-byte granules and masks of the bytes in each.
    pub fn granules(&self) -> impl Iterator<Item = (u64, u8)> + use<> {
        /// Maximum number of granules of one access: a program that overwrites its log can make an access as long as it
        /// likes. The runtime reports sharing beyond them.
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

/// The kind of an access.
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
    /// A block is freed, which counts as a write to it.
    Free,
}

impl AccessMode {
    /// Returns whether it changes memory.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::AtomicUpdate | Self::WriteRange | Self::Free)
    }

    /// Returns whether it reads memory.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::AtomicRead | Self::AtomicUpdate | Self::ReadRange)
    }

    /// Returns whether it is atomic.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::AtomicUpdate)
    }

    /// Returns whether it can have any number of bytes.
    #[must_use]
    pub const fn is_range(self) -> bool {
        matches!(self, Self::ReadRange | Self::WriteRange)
    }
}

/// One side of a race, as the detector saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// What the thread did.
    pub access: RaceAccess,
    /// The first byte common to both sides, on the later side.
    pub address: Address,
    /// Number of bytes, as far as the detector knows.
    pub size: u8,
    /// For [`AccessMode::Free`]: number of bytes of the block.
    pub block_size: u64,
}

/// What one side of a race did to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaceAccess {
    /// An access.
    Access(AccessMode),
    /// The thread has ended, and with it the lifetime of its memory.
    ThreadEnd,
    /// The log does not say.
    Unknown,
}

impl RaceAccess {
    /// Returns whether the lifetime of memory ended here: of a block, or of a thread's memory.
    #[must_use]
    pub const fn ends_memory(self) -> bool {
        self.is_free() || matches!(self, Self::ThreadEnd)
    }

    /// Returns whether a block was freed.
    #[must_use]
    pub const fn is_free(self) -> bool {
        matches!(self, Self::Access(AccessMode::Free))
    }
}
