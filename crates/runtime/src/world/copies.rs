//! What a process shares with the processes that it forks: open files, and shared memory.
//!
//! A fork copies memory, and nothing else: a position in a file, what is in a pipe, the value of an event file and shared
//! memory are the same for all copies. Executions are copies, so a process with any of that must not be copied.

use super::paths::{HERE, OPENAT};
use crate::{Global, server, sys};
use core::ffi::CStr;
use racehunter_abi::control::{ANSWER_FD, REGION_FD, REQUEST_FD};

/// Descriptors below this number are distinguished; those above are assumed to be open.
const DESCRIPTORS: usize = 1024;

/// Bit per descriptor: it was open when the process began.
#[unsafe(link_section = ".data.racehunter")]
static FROM_BEGINNING: Global<[u64; DESCRIPTORS / 64]> = Global::new([0; DESCRIPTORS / 64]);

/// Records what the process has inherited: it shares that with its parent in any case.
pub(crate) unsafe fn begin() {
    let open = &mut *FROM_BEGINNING.ptr();
    each_descriptor(|fd| {
        if let Some(word) = open.get_mut(fd / 64) {
            *word |= 1 << (fd % 64);
        }
        true
    });
}

/// The program has asked for its process id, or for something else that differs in copies of the process.
#[unsafe(link_section = ".data.racehunter")]
static HAS_ASKED: Global<bool> = Global::new(false);

/// The program asks for that.
pub(crate) fn ask() {
    HAS_ASKED.set(true);
}

/// Whether copies of this process would have something in common.
pub(crate) unsafe fn have_something() -> bool {
    if HAS_ASKED.get() {
        return true;
    }
    let known = &*FROM_BEGINNING.ptr();
    let is_known = |fd: usize| known.get(fd / 64).is_some_and(|word| word >> (fd % 64) & 1 != 0);
    let is_own = |fd: usize| [REQUEST_FD, ANSWER_FD, REGION_FD].contains(&(fd as i32));
    let mut are_known = true;
    let are_listed = each_descriptor(|fd| {
        are_known = fd < 3 || is_own(fd) || is_known(fd);
        are_known
    });
    !are_listed || !are_known || has_shared_memory()
}

/// Goes through open descriptors until `go_on` says no. False if they are not known.
unsafe fn each_descriptor(mut go_on: impl FnMut(usize) -> bool) -> bool {
    const DIRECTORY: usize = 0o20_0000;
    const GETDENTS64: usize = 217;
    /// Where a record has its length.
    const LENGTH: usize = 16;
    /// Where it has its name.
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
            let number = name
                .iter()
                .try_fold(0_usize, |sum, &digit| digit.is_ascii_digit().then(|| sum * 10 + usize::from(digit - b'0')));
            if let Some(fd) = number
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

/// Whether memory is mapped that copies of the process could change for each other. If that is not known, it is.
unsafe fn has_shared_memory() -> bool {
    let mut found = false;
    let are_listed = each_mapping(|line| {
        found |= is_shared(line);
        !found
    });
    !are_listed || found
}

/// Looks at the lines of `/proc/self/maps` until `go_on` says no. False if not all of them are known.
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

/// What a line of `/proc/self/maps` begins with: the first address, the one behind the last, and the rights.
pub(crate) fn mapping(line: &[u8]) -> (usize, usize, &[u8]) {
    let mut words = line.split(|&byte| byte == b' ');
    let (range, rights) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let number = |digits: &[u8]| {
        digits.iter().fold(0_usize, |sum, &digit| sum << 4 | char::from(digit).to_digit(16).unwrap_or(0) as usize)
    };
    let mut ends = range.split(|&byte| byte == b'-').map(number);
    (ends.next().unwrap_or(0), ends.next().unwrap_or(0), rights)
}

/// Whether a line of `/proc/self/maps` describes writable shared memory of the program.
fn is_shared(line: &[u8]) -> bool {
    let (start, _, rights) = mapping(line);
    rights.get(1) == Some(&b'w') && rights.get(3) == Some(&b's') && !server::is_own_memory(start)
}

#[cfg(test)]
mod tests {
    use super::is_shared;

    #[test]
    fn memory_that_copies_have_in_common() {
        assert!(is_shared(b"7f0000000000-7f0000001000 rw-s 00000000 00:01 1024 /dev/zero (deleted)"));
        assert!(!is_shared(b"7f0000000000-7f0000001000 rw-p 00000000 00:00 0"));
        assert!(!is_shared(b"7f0000000000-7f0000001000 r--s 00000000 08:01 77 /usr/lib/cache"));
        assert!(!is_shared(b""));
    }

    #[test]
    fn descriptors_that_were_opened_later() {
        // SAFETY: the test opens and closes a descriptor of its own.
        unsafe {
            super::begin();
            let mut new = false;
            let file = std::fs::File::open("/dev/null").expect("a device that is always there");
            let number = std::os::fd::AsRawFd::as_raw_fd(&file) as usize;
            super::each_descriptor(|fd| {
                new |= fd == number;
                true
            });
            assert!(new);
        }
    }
}
