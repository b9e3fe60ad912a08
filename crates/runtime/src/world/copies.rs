//! What a process shares with its children: open files, and shared memory.
//!
//! A fork copies only memory: a file position, the contents of a pipe, the value of an event file and shared memory are
//! common to all copies. Executions are copies, so a process with any of these must not be copied.

use super::paths::{HERE, OPENAT};
use crate::{Global, server, sys};
use core::ffi::CStr;
use racehunter_abi::control::{ANSWER_FD, REGION_FD, REQUEST_FD};
use racehunter_machine::BitSet;
use racehunter_machine::text::{Mapping, decimal};

/// Descriptors below this number are distinguished; higher ones are assumed to be open.
const DESCRIPTORS: usize = 1024;

/// Descriptors that were open when the process began.
#[unsafe(link_section = ".data.racehunter")]
static FROM_BEGINNING: Global<BitSet<{ DESCRIPTORS / 64 }>> = Global::new(BitSet::EMPTY);

/// Records what the process has inherited: it shares that with its parent in any case.
pub(crate) unsafe fn begin() {
    let open = &mut *FROM_BEGINNING.ptr();
    each_descriptor(|fd| {
        open.insert(fd);
        true
    });
}

/// Whether the program has asked for its process id, or for something else that differs in copies of the process.
#[unsafe(link_section = ".data.racehunter")]
static HAS_ASKED: Global<bool> = Global::new(false);

/// Notes that the program asks for that.
pub(crate) fn ask() {
    HAS_ASKED.set(true);
}

/// Returns whether copies of this process would share something.
pub(crate) unsafe fn have_something() -> bool {
    if HAS_ASKED.get() {
        return true;
    }
    let known = &*FROM_BEGINNING.ptr();
    let is_own = |fd: usize| [REQUEST_FD, ANSWER_FD, REGION_FD].contains(&(fd as i32));
    let mut are_known = true;
    let are_listed = each_descriptor(|fd| {
        are_known = fd < 3 || is_own(fd) || known.contains(fd);
        are_known
    });
    !are_listed || !are_known || has_shared_memory()
}

/// Visits open descriptors until `go_on` returns false. Returns false if they are not known.
unsafe fn each_descriptor(mut go_on: impl FnMut(usize) -> bool) -> bool {
    const DIRECTORY: usize = 0o20_0000;
    const GETDENTS64: usize = 217;
    /// The offset of the length in a record.
    const LENGTH: usize = 16;
    /// The offset of the name.
    const NAME: usize = 19;
    let directory = sys::call(OPENAT, HERE as isize as usize, c"/proc/self/fd".as_ptr() as usize, DIRECTORY, 0);
    if directory < 0 {
        return false;
    }
    let mut records = [0_u64; 512];
    'all: loop {
        let start = records.as_mut_ptr() as *const u8;
        let bytes = sys::call(GETDENTS64, directory as usize, start as usize, size_of_val(&records), 0);
        if bytes <= 0 {
            break;
        }
        let mut at = 0;
        while at < bytes as usize {
            let name = CStr::from_ptr(start.add(at + NAME).cast()).to_bytes();
            if let Some(fd) = decimal(name)
                && fd != directory as usize
                && !go_on(fd)
            {
                break 'all;
            }
            at += usize::from(*(start.add(at + LENGTH) as *const u16));
        }
    }
    sys::call(sys::CLOSE, directory as usize, 0, 0, 0);
    true
}

/// Returns whether memory is mapped that copies of the process would share, or whether that is unknown.
unsafe fn has_shared_memory() -> bool {
    let mut found = false;
    let are_listed = each_mapping(|line| {
        // A line that is not understood could be anything.
        found |= Mapping::read(line).is_none_or(|mapping| is_shared(&mapping));
        !found
    });
    !are_listed || found
}

/// Visits the lines of `/proc/self/maps` until `go_on` returns false. Returns false if not all of them are known.
pub(crate) unsafe fn each_mapping(mut go_on: impl FnMut(&[u8]) -> bool) -> bool {
    const ROOM: usize = 4096;
    let file = sys::call(OPENAT, HERE as isize as usize, c"/proc/self/maps".as_ptr() as usize, 0, 0);
    if file < 0 {
        return false;
    }
    let mut text = [0_u8; ROOM];
    let (mut used, mut are_listed) = (0, true);
    loop {
        let room = &mut text[used..];
        let got = sys::call(sys::READ, file as usize, room.as_mut_ptr() as usize, room.len(), 0);
        if got <= 0 {
            break;
        }
        used += got as usize;
        // Whole lines; the rest is processed with the next part.
        let end = text[..used].iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        are_listed = end != 0 || used < ROOM;
        if !are_listed || !text[..end].split(|&byte| byte == b'\n').all(|line| line.is_empty() || go_on(line)) {
            break;
        }
        text.copy_within(end..used, 0);
        used -= end;
    }
    sys::call(sys::CLOSE, file as usize, 0, 0, 0);
    are_listed
}

/// Returns whether a mapping is writable shared memory of the program.
fn is_shared(mapping: &Mapping<'_>) -> bool {
    mapping.is_writable_and_shared() && !server::is_own_memory(mapping.start)
}
