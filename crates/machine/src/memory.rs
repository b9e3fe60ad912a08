//! Blocks and ranges of memory, by their addresses.

/// Up to `N` ranges of memory. If there are more, all memory counts.
#[derive(Debug)]
pub struct Ranges<const N: usize>([(usize, usize); N]);

impl<const N: usize> Ranges<N> {
    /// No memory.
    pub const NONE: Self = Self([(0, 0); N]);

    /// Adds the memory from `start` on.
    pub fn add(&mut self, start: usize, len: usize) {
        match self.0.iter_mut().find(|range| **range == (0, 0)) {
            Some(free) => *free = (start, start.saturating_add(len)),
            None => self.0[0] = (0, usize::MAX),
        }
    }

    /// Returns true if an address is in one of them.
    #[must_use]
    pub fn contains(&self, address: usize) -> bool {
        self.0.iter().any(|&(start, end)| (start..end).contains(&address))
    }
}

/// A block of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Block {
    /// First byte.
    pub start: usize,
    /// Bytes.
    pub size: usize,
}

/// Returns the position of a new block, among blocks sorted by address.
#[must_use]
pub fn position(blocks: &[Block], start: usize) -> usize {
    blocks.partition_point(|block| block.start < start)
}

/// Returns the position of the block that starts there.
#[must_use]
pub fn find(blocks: &[Block], start: usize) -> Option<usize> {
    blocks.binary_search_by_key(&start, |block| block.start).ok()
}

/// Returns true if an address is in one of the blocks, which are sorted by address and do not overlap.
#[must_use]
pub fn contains(blocks: &[Block], address: usize) -> bool {
    let after = blocks.partition_point(|block| block.start <= address);
    after > 0 && address - blocks[after - 1].start < blocks[after - 1].size
}

/// Returns the smallest range that contains another one too; an empty range has no position.
#[must_use]
pub fn extended(Block { start, size }: Block, from: usize, to: usize) -> Block {
    let (first, last) = if size == 0 { (from, to) } else { (start.min(from), (start + size).max(to)) };
    Block { start: first, size: last - first }
}

/// Freed blocks that have not been returned to the allocator yet, the oldest first: a ring.
#[derive(Debug)]
#[repr(C)]
pub struct Quarantine<T, const N: usize> {
    oldest: usize,
    count: usize,
    weight: usize,
    ring: [T; N],
}

impl<T: Copy, const N: usize> Quarantine<T, N> {
    /// Maximum number of bytes in quarantine. The last block stays whatever its size.
    pub const MOST: usize = 1 << 20;
    /// Blocks from this size on count as this size.
    pub const LARGE: usize = 256 << 10;

    /// Creates an empty quarantine.
    pub const fn new(nothing: T) -> Self {
        Self { oldest: 0, count: 0, weight: 0, ring: [nothing; N] }
    }

    /// Returns true if the quarantine is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the block that has or had this place.
    #[must_use]
    pub const fn at(&self, place: usize) -> &T {
        &self.ring[place % N]
    }

    fn weight_of(size: usize) -> usize {
        size.min(Self::LARGE)
    }

    /// Returns true if the oldest block must be removed before a block of this size is added.
    #[must_use]
    pub fn is_full_for(&self, size: usize) -> bool {
        self.count > 0 && (self.count == N || self.weight + Self::weight_of(size) > Self::MOST)
    }

    /// Adds a block. Returns its place, which identifies it as long as it is here.
    pub fn add(&mut self, block: T, size: usize) -> usize {
        let place = (self.oldest + self.count) % N;
        self.ring[place] = block;
        self.count += 1;
        self.weight += Self::weight_of(size);
        place
    }

    /// Removes the oldest block.
    pub fn take_oldest(&mut self, size: impl FnOnce(&T) -> usize) -> Option<T> {
        if self.count == 0 {
            return None;
        }
        let block = self.ring[self.oldest];
        self.oldest = (self.oldest + 1) % N;
        self.count -= 1;
        self.weight -= Self::weight_of(size(&block));
        Some(block)
    }
}

/// Returns true if two accesses can touch the same byte.
#[must_use]
pub const fn overlap(a: Block, b: Block) -> bool {
    a.start < b.start.saturating_add(b.size) && b.start < a.start.saturating_add(a.size)
}

/// Splits a range into pieces of eight bytes, the unit of logging: the start and the length of each.
pub fn pieces(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).step_by(8).map(move |at| (at, (size - at).min(8)))
}

/// Returns the positions at which a key can be in a hash table with open addressing, in the order in which they are
/// tried. The capacity is a power of two.
#[inline]
pub fn probes(key: usize, capacity: usize) -> impl Iterator<Item = usize> {
    let mask = capacity - 1;
    let first = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) & mask;
    (0..capacity).map(move |step| (first + step) & mask)
}

#[cfg(test)]
mod tests;
