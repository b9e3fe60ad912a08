//! What a thread does with a file descriptor, in one word of a [`crate::Record`].

use crate::record::byte_enum;

byte_enum! {
    /// What a file descriptor leads to.
    FileKind {
        /// Something without a name here.
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
    /// What is done with it.
    FileOperation {
        /// Nothing.
        #[default] None = 0,
        /// Input.
        Read = 1,
        /// Output.
        Write = 2,
        /// A connection is taken from a listening socket.
        Accept = 3,
        /// A connection is made.
        Connect = 4,
        /// The descriptor is closed.
        Close = 5,
        /// One direction of a socket is ended.
        Shutdown = 6,
        /// One of several descriptors is waited for.
        Poll = 7,
        /// A file is locked.
        Lock = 8,
        /// A lock of a file is given back.
        Unlock = 9,
        /// A FIFO is opened, which waits until its other end is open too.
        Open = 10,
        /// A child process is waited for.
        Child = 11,
        /// A set of descriptors gets or loses a member.
        Change = 12,
    }
}

/// The object of a [`crate::Kind::Io`] record, and of a wait for [`crate::Wait::File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// The file descriptor; the first of them for [`FileKind::Several`].
    pub descriptor: i32,
    /// What it leads to.
    pub kind: FileKind,
    /// What is done with it.
    pub operation: FileOperation,
}

/// Above every address of a program, so that the word can stand among addresses.
const KIND_SHIFT: u32 = 40;
const OPERATION_SHIFT: u32 = 48;

impl File {
    /// As one word. Never 0, and never the address of anything.
    #[must_use]
    pub const fn pack(self) -> u64 {
        self.descriptor as u32 as u64 | (self.kind as u64) << KIND_SHIFT | (self.operation as u64) << OPERATION_SHIFT
    }

    /// From one word, if it is one of these.
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

/// Nothing can be mapped here: the first 64 KiB of the address space are left out by the kernel.
const FIRST_CELL: u64 = 0x8000;
const CELLS: u64 = 4096;

/// Where the use of a file descriptor counts as a read of memory, and its end as a write: an address of its own that is never
/// mapped. Only the first few thousand descriptors have one.
#[must_use]
pub const fn descriptor_cell(descriptor: i32) -> Option<u64> {
    if descriptor >= 0 && (descriptor as u64) < CELLS { Some(FIRST_CELL + 8 * descriptor as u64) } else { None }
}

/// The file descriptor whose cell is at this address.
#[must_use]
pub const fn descriptor_at(address: u64) -> Option<i32> {
    let offset = address.wrapping_sub(FIRST_CELL);
    if offset < 8 * CELLS { Some((offset / 8) as i32) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_file_comes_back() {
        for descriptor in [0, 3, 1023, -1, i32::MAX] {
            let file = File { descriptor, kind: FileKind::Several, operation: FileOperation::Poll };
            assert_eq!(File::unpack(file.pack()), Some(file));
        }
    }

    #[test]
    fn descriptors_have_cells_of_their_own() {
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
    fn addresses_are_no_files() {
        for word in [0, 7, 0x7fff_ffff_f000, 0x5555_5555_4000, u64::MAX] {
            assert_eq!(File::unpack(word), None);
        }
    }
}
