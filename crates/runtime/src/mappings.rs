//! `mmap` and its like: memory that is mapped has no past, and what is unmapped is used for the last time.
//!
//! The C library's own calls (for blocks, and for the stacks of threads) do not come here.

use crate::memory::{detects, last_access};
use crate::sync::{fail, interpose, objects};
use crate::thread::CURRENT;
use crate::{log, schedule, shadow, sys, values};
use racehunter_event::control::FLAG_ALLOCATIONS;
use racehunter_event::{Kind, Record};

pub(crate) const MREMAP: usize = 25;
/// What is larger ends without being looked at: its shadow is larger still.
const CHECKED: usize = 1 << 20;

interpose! {
    munmap => unmap, "rdx";
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mmap(
    at: usize,
    len: usize,
    protection: usize,
    flags: usize,
    fd: i32,
    offset: usize,
) -> usize {
    let mapped = sys::call6(sys::MMAP, at, len, protection, flags, fd as usize, offset);
    if mapped < 0 {
        return fail(-mapped as i32) as usize;
    }
    begins(mapped as usize, len);
    mapped as usize
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

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(at: usize, len: usize, protection: usize, flags: usize, fd: i32, offset: usize) -> usize {
    mmap(at, len, protection, flags, fd, offset)
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
