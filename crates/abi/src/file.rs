//! An operation on a file descriptor, in one word of a [`crate::Record`].

use crate::record::byte_enum;

byte_enum! {
    /// The kind of file behind a descriptor.
    FileKind {
        /// Anything not listed here.
        #[default] Other = 0,
        /// A pipe or FIFO.
        Pipe = 1,
        /// A socket of any kind.
        Socket = 2,
        /// A counter of events (`eventfd`, timers).
        Event = 3,
        /// A set of other descriptors (`epoll`).
        Set = 4,
        /// A terminal.
        Terminal = 5,
        /// A file that is locked.
        Lock = 6,
        /// Several descriptors at once (`poll`, `select`).
        Several = 7,
    }
}

byte_enum! {
    /// The operation on it.
    FileOperation {
        /// Nothing.
        #[default] None = 0,
        /// Input.
        Read = 1,
        /// Output.
        Write = 2,
        /// Accepts a connection from a listening socket.
        Accept = 3,
        /// Makes a connection.
        Connect = 4,
        /// Closes the descriptor.
        Close = 5,
        /// Shuts down one direction of a socket.
        Shutdown = 6,
        /// Waits for one of several descriptors.
        Poll = 7,
        /// Locks a file.
        Lock = 8,
        /// Unlocks a file.
        Unlock = 9,
        /// Opens a FIFO, which waits until its other end is open too.
        Open = 10,
        /// Waits for a child process.
        Child = 11,
        /// Adds or removes a member of a descriptor set.
        Change = 12,
    }
}

/// The object of a [`crate::Kind::Io`] record, and of a wait for [`crate::Wait::File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// The file descriptor; the first of them for [`FileKind::Several`].
    pub descriptor: i32,
    /// The kind of file.
    pub kind: FileKind,
    /// The operation.
    pub operation: FileOperation,
}

/// Above every address of a program, so that the word cannot be mistaken for one.
const KIND_SHIFT: u32 = 40;
const OPERATION_SHIFT: u32 = 48;

impl File {
    /// Packs it into one word, which is never 0 and never an address.
    #[must_use]
    pub const fn pack(self) -> u64 {
        self.descriptor as u32 as u64 | (self.kind as u64) << KIND_SHIFT | (self.operation as u64) << OPERATION_SHIFT
    }

    /// Unpacks a word, if it is a packed file.
    #[must_use]
    pub const fn unpack(word: u64) -> Option<Self> {
        let kind = FileKind::from_byte((word >> KIND_SHIFT) as u8);
        let operation = FileOperation::from_byte((word >> OPERATION_SHIFT) as u8);
        match (kind, operation) {
            (Some(kind), Some(operation)) if word >> (OPERATION_SHIFT + 8) == 0 && operation as u8 != 0 => {
                Some(Self { descriptor: word as i32, kind, operation })
            }
            _ => None,
        }
    }
}

/// Nothing can be mapped here: the kernel leaves out the first 64 KiB of the address space.
const FIRST_CELL: u64 = 0x8000;
const CELLS: u64 = 4096;

/// Returns the cell of a descriptor: an address that is never mapped. Using the descriptor counts as a read of it, and
/// closing as a write. Only the first few thousand descriptors have one.
#[must_use]
pub const fn descriptor_cell(descriptor: i32) -> Option<u64> {
    if descriptor >= 0 && (descriptor as u64) < CELLS { Some(FIRST_CELL + 8 * descriptor as u64) } else { None }
}

/// Returns the file descriptor whose cell is at this address.
#[must_use]
pub const fn descriptor_at(address: u64) -> Option<i32> {
    let offset = address.wrapping_sub(FIRST_CELL);
    if offset < 8 * CELLS { Some((offset / 8) as i32) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_and_unpacking_a_file_are_inverse() {
        for descriptor in [0, 3, 1023, -1, i32::MAX] {
            let file = File { descriptor, kind: FileKind::Several, operation: FileOperation::Poll };
            assert_eq!(File::unpack(file.pack()), Some(file));
        }
    }

    #[test]
    fn each_descriptor_has_its_own_cell() {
        for descriptor in [0, 3, 4095] {
            let cell = descriptor_cell(descriptor).unwrap();
            assert_eq!(descriptor_at(cell), Some(descriptor));
            assert_eq!(descriptor_at(cell + 7), Some(descriptor));
            assert!(cell + 8 <= 0x1_0000, "could be mapped");
        }
        assert_eq!((descriptor_cell(-1), descriptor_cell(4096)), (None, None));
        assert_eq!([0, 0x7fff, 0x1_0000, u64::MAX].map(descriptor_at), [None; 4]);
    }

    #[test]
    fn addresses_are_not_packed_files() {
        for word in [0, 7, 0x7fff_ffff_f000, 0x5555_5555_4000, u64::MAX] {
            assert_eq!(File::unpack(word), None);
        }
    }
}
