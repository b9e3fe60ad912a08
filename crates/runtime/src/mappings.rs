//! `mmap` and its like: memory that is mapped has no past, and what is unmapped is used for the last time.
//!
//! The C library's own calls (for blocks, and for the stacks of threads) do not come here.

use crate::io::channels;
use crate::memory::{detects, last_access};
use crate::sync::{fail, interpose, objects};
use crate::thread::CURRENT;
use crate::{Global, log, schedule, shadow, sys, values};
use racehunter_event::control::FLAG_ALLOCATIONS;
use racehunter_event::{Escape, Kind, Record};

pub(crate) const MREMAP: usize = 25;
/// What is larger ends without being looked at: its shadow is larger still.
const CHECKED: usize = 1 << 20;

interpose! {
    munmap => unmap, "rdx";
}

crate::io::interpose_six! {
    mmap => map_at_caller;
    mmap64 => map_at_caller;
}

unsafe extern "C" fn map_at_caller(
    at: usize,
    len: usize,
    protection: usize,
    flags: usize,
    fd: i32,
    offset: usize,
) -> usize {
    map([at, len, protection, flags, fd as usize, offset], crate::io::code_of_six())
}

/// Maps memory for a call at `code`.
pub(crate) unsafe fn map([at, len, protection, flags, fd, offset]: [usize; 6], code: usize) -> usize {
    let mapped = sys::call6(sys::MMAP, at, len, protection, flags, fd, offset);
    if mapped < 0 {
        return fail(-mapped as i32) as usize;
    }
    begins(mapped as usize, len);
    if flags & SHARED != 0 && flags & ANONYMOUS == 0 {
        is_shared(fd, protection & WRITABLE != 0, code);
    }
    mapped as usize
}

const SHARED: usize = 1;
const ANONYMOUS: usize = 0x20;
const WRITABLE: usize = 2;

/// Files that are mapped as shared memory, each by what the file system calls it.
const FILES: usize = 64;
static MAPPED: Global<[u64; FILES]> = Global::new([0; FILES]);

/// A file is mapped so that writing to the memory changes it. The detector knows memory by its address, and executions begin
/// with what is in files: neither must a file be mapped twice, nor must it outlive the execution.
unsafe fn is_shared(fd: usize, is_writable: bool, code: usize) {
    const FSTAT: usize = 5;
    let mut status = [0_u64; 18];
    if !schedule::running() || sys::call(FSTAT, fd, status.as_mut_ptr() as usize, 0, 0) != 0 {
        return;
    }
    let [device, node, links, ..] = status;
    let key = channels::key(&[device, node]);
    let known = &mut *MAPPED.ptr();
    let place = known.iter().position(|&other| other == key || other == 0);
    let is_twice = place.is_none_or(|place| known[place] == key);
    if let Some(place) = place {
        known[place] = key;
    }
    if is_twice || links > 0 && is_writable {
        log::escape(Escape::Alias, code, 0, 0);
    }
}

/// Memory has no past.
unsafe fn begins(at: usize, len: usize) {
    objects::forget_range(at, len);
    shadow::clear(at, len);
    if schedule::flags() & FLAG_ALLOCATIONS != 0 {
        let (index, thread) = (schedule::now(), CURRENT.get());
        let (object, extra) = (at as u64, len as u64);
        log::put(Record { index, object, extra, thread, kind: Kind::Mapped, ..Record::default() });
    }
}

pub(crate) unsafe extern "C" fn unmap(at: usize, len: usize, code: usize) -> i32 {
    values::settle();
    let result = sys::call(sys::MUNMAP, at, len, 0, 0);
    if result < 0 {
        return fail(-result as i32);
    }
    objects::forget_range(at, len);
    let access = if detects() && len <= CHECKED { last_access(code) } else { None };
    if let Some(access) = access {
        shadow::check(at, len, access);
    }
    shadow::clear(at, len);
    0
}

/// What moves is new where it comes to, and its old place has no past; what stays keeps the past that it has.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mremap(at: usize, old_len: usize, new_len: usize, flags: usize, to: usize) -> usize {
    values::settle();
    let mapped = sys::call6(MREMAP, at, old_len, new_len, flags, to, 0);
    if mapped < 0 {
        return fail(-mapped as i32) as usize;
    }
    let (now, kept) = (mapped as usize, if mapped as usize == at { old_len.min(new_len) } else { 0 });
    for (begin, len) in [(at + kept, old_len - kept), (now + kept, new_len - kept)] {
        begins(begin, len);
    }
    now
}
